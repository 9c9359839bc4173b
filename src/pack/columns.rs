//! Column patterns and word lists as written in TOML (`[columns]`, `[words]`), and what they compile to.

use super::error::PackErrorKind;
use super::raw::{Complaints, Reader, Word};
use crate::model::{ColumnClass, ColumnRules, WordSet, Words};
use regex::Regex;
use std::collections::BTreeMap;

/// Column classes by their key, the ones that take precedence first: a version is no state whatever it
/// is called, and what is never a state is none.
const CLASSES: &[(&str, ColumnClass)] = &[
    ("version", ColumnClass::Version),
    ("never", ColumnClass::Never),
    ("claim", ColumnClass::Claim),
    ("done", ColumnClass::Done),
    ("strong", ColumnClass::Strong),
    ("counter", ColumnClass::Counter),
    ("weak", ColumnClass::Weak),
];

/// Puts a word set where it belongs.
type Setter = fn(&mut Words, WordSet);

const WORD_LISTS: &[(&str, Setter)] = &[
    ("transient", |words, set| words.transient = set),
    ("terminal", |words, set| words.terminal = set),
    ("waiting", |words, set| words.waiting = set),
    ("worker-classes", |words, set| words.worker_classes = set),
    ("worker-functions", |words, set| words.worker_functions = set),
    ("worker-paths", |words, set| words.worker_paths = set),
    ("permanent-errors", |words, set| words.permanent_errors = set),
    ("log-calls", |words, set| words.log_calls = set),
    ("courtesy-calls", |words, set| words.courtesy_calls = set),
    ("effect-calls", |words, set| words.effect_calls = set),
    ("write-calls", |words, set| words.write_calls = set),
    ("lock-calls", |words, set| words.lock_calls = set),
    ("ack-calls", |words, set| words.ack_calls = set),
    ("outcomes", |words, set| words.outcomes = set),
    ("at-most-once", |words, set| words.at_most_once = set),
    ("recovery-promises", |words, set| words.recovery_promises = set),
    ("exclusive-locks", |words, set| words.exclusive_locks = set),
    ("shared-locks", |words, set| words.shared_locks = set),
    ("no-locks", |words, set| words.no_locks = set),
];

/// Patterns and words of all files, each pattern known to compile.
#[derive(Clone, Debug, Default)]
pub(super) struct NameRules {
    /// By place in [`CLASSES`].
    patterns: BTreeMap<usize, Vec<String>>,
    address_tables: Vec<String>,
    /// By place in [`WORD_LISTS`].
    words: BTreeMap<usize, Vec<String>>,
}

impl NameRules {
    /// Adds what another file says.
    pub(super) fn extend(&mut self, other: Self) {
        for (idx, patterns) in other.patterns {
            self.patterns.entry(idx).or_default().extend(patterns);
        }
        self.address_tables.extend(other.address_tables);
        for (idx, words) in other.words {
            self.words.entry(idx).or_default().extend(words);
        }
    }

    pub(super) fn columns(&self) -> Result<ColumnRules, regex::Error> {
        let patterns = |idx: usize| self.patterns.get(&idx).cloned().unwrap_or_default();
        let classes: Vec<(ColumnClass, Vec<String>)> =
            CLASSES.iter().enumerate().map(|(idx, (_, class))| (*class, patterns(idx))).collect();
        ColumnRules::new(&classes, &self.address_tables)
    }

    pub(super) fn words(&self) -> Words {
        let mut words = Words::default();
        for (idx, list) in &self.words {
            (WORD_LISTS[*idx].1)(&mut words, WordSet::new(list));
        }
        words
    }
}

pub(super) fn read_columns(file: &mut Reader<'_>, out: &mut Complaints) -> NameRules {
    let mut rules = NameRules::default();
    if file.has("columns")
        && let Some(mut table) = file.table("columns", out)
    {
        for (idx, (key, _)) in CLASSES.iter().enumerate() {
            rules.patterns.insert(idx, read_regexes(&table.words(key, out), out));
        }
        let address = table.words("address-tables", out);
        rules.address_tables = read_regexes(&address, out);
        table.finish(out);
    }
    if file.has("words")
        && let Some(mut table) = file.table("words", out)
    {
        for (idx, (key, _)) in WORD_LISTS.iter().enumerate() {
            let words = table.words(key, out);
            rules.words.insert(idx, words.iter().map(|it| it.value.to_owned()).collect());
        }
        table.finish(out);
    }
    rules
}

fn read_regexes(words: &[Word<'_>], out: &mut Complaints) -> Vec<String> {
    let mut patterns = Vec::new();
    for word in words {
        match Regex::new(word.value) {
            Ok(_) => patterns.push(word.value.to_owned()),
            Err(error) => out.add(word.span.clone(), PackErrorKind::Regex(reason(&error))),
        }
    }
    patterns
}

/// The last line of the message: the others repeat the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}
