//! Which names and values speak of workers, states on the way, or steps that do not matter: word
//! lists, compared word by word.
//!
//! Words are evidence only: they raise or lower a confidence and never prove a guard.

use crate::base::snake_case;

/// A list of words. A name matches when one of them stands in it as a whole word: `worker` matches
/// `JobWorker` and `worker_id`, not `coworkers`; `in_progress` needs both words side by side; `pay*`
/// matches every word that begins so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordSet {
    /// `_word_`, or `_stem` for `stem*`.
    needles: Vec<String>,
}

impl WordSet {
    /// Compiles the words.
    pub fn new<S: AsRef<str>>(words: &[S]) -> Self {
        let needle = |word: &S| match word.as_ref().strip_suffix('*') {
            Some(stem) => normalize(stem).trim_end_matches('_').to_owned(),
            None => normalize(word.as_ref()),
        };
        Self { needles: words.iter().map(needle).filter(|it| it.len() > 1).collect() }
    }

    /// Whether one of the words stands in `text`: an identifier in any spelling, a state's value, a
    /// path or a comment.
    pub fn matches(&self, text: &str) -> bool {
        let text = normalize(text);
        self.needles.iter().any(|it| text.contains(it))
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }
}

/// `JobWorker`, `job-worker` and `job worker` become `_job_worker_`.
fn normalize(text: &str) -> String {
    let mut out = String::from("_");
    for it in snake_case(text).chars() {
        let it = if it.is_alphanumeric() { it } else { '_' };
        if it != '_' || !out.ends_with('_') {
            out.push(it);
        }
    }
    if !out.ends_with('_') {
        out.push('_');
    }
    out
}

/// All word lists, by what a match means.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// State values that a row leaves again by the work of the one who set them (`running`).
    pub transient: WordSet,
    /// State values that end a row's life or wait for a person (`done`, `failed`).
    pub terminal: WordSet,
    /// State values that wait for a worker (`pending`, `queued`).
    pub waiting: WordSet,
    /// Class names of worker, claim or payment-like code.
    pub worker_classes: WordSet,
    /// Function names of worker, claim or payment-like code.
    pub worker_functions: WordSet,
    /// Folder and file names of worker code.
    pub worker_paths: WordSet,
    /// Exception and error type names that no retry can mend (`JsonException`, `NotFound`).
    pub permanent_errors: WordSet,
    /// Calls, receivers or functions that only tell (`log`, `metrics`): looking at nothing.
    pub log_calls: WordSet,
    /// Calls that are a courtesy behind the durable work (`notify`, `broadcast`, `cache`).
    pub courtesy_calls: WordSet,
    /// Calls that do something which two workers do twice (`send`, `charge`, `dispatch`).
    pub effect_calls: WordSet,
    /// First words of calls that look like a write of a row (`save`).
    pub write_calls: WordSet,
    /// Words of calls that look like a lock (`acquire`).
    pub lock_calls: WordSet,
    /// First words of calls that look like the settling of a message (`nack`).
    pub ack_calls: WordSet,
    /// State values with which a worker tells how its own work came out (`failed`, `done`).
    pub outcomes: WordSet,
    /// Comment phrases that accept the loss of a message (`at most once`).
    pub at_most_once: WordSet,
    /// Comment phrases that promise somebody will clean up (`stale recovery`).
    pub recovery_promises: WordSet,
    /// Names of lock modes that exclude (`PESSIMISTIC_WRITE`).
    pub exclusive_locks: WordSet,
    /// Names of lock modes that two may hold (`PESSIMISTIC_READ`).
    pub shared_locks: WordSet,
    /// Names of lock modes that lock nothing (`NONE`, `OPTIMISTIC`).
    pub no_locks: WordSet,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_whole_words_in_any_spelling() {
        let set = WordSet::new(&["worker", "in_progress", "pay*", "at most once"]);
        for name in ["JobWorker", "worker_id", "Status::IN_PROGRESS", "in-progress", "repayPayment"]
        {
            assert!(set.matches(name), "{name}");
        }
        assert!(set.matches("// delivered at most once."));
        for name in ["coworkers", "workers", "in", "repay", "progress", ""] {
            assert!(!set.matches(name), "{name}");
        }
    }

    #[test]
    fn an_empty_list_matches_nothing() {
        assert!(!WordSet::new::<&str>(&[]).matches("anything"));
        assert!(!WordSet::new(&["", "*"]).matches("anything"));
    }
}
