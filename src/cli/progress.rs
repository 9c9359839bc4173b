//! Is a run still alive? A spinner on standard error, when that is a terminal and the run is long.

use crate::base::Source;
use crate::report::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::time::Duration;

/// Smaller programs are done before anybody wonders.
const MIN_BYTES: usize = 400_000;
const TICK: Duration = Duration::from_millis(120);

/// A spinner that goes away when it is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// None for a short run, or where nobody would see it.
    pub(super) fn start(sources: &[Source], is_quiet: bool) -> Option<Self> {
        let is_seen = !is_quiet && io::stderr().is_terminal();
        is_long(sources).then_some(()).filter(|()| is_seen)?;
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}").ok()?;
        bar.set_style(style);
        bar.set_message(format!("Analysing {}", count(sources.len(), "file")));
        bar.enable_steady_tick(TICK);
        Some(Self(bar))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn is_long(sources: &[Source]) -> bool {
    sources.iter().map(|it| it.text.len()).sum::<usize>() >= MIN_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId};

    #[test]
    fn only_long_runs_show_progress() {
        let source = |length: usize| Source {
            id: SourceId(0),
            path: "a.php".to_owned(),
            language: Language::Php,
            text: " ".repeat(length),
            exempt: false,
        };
        assert!(!is_long(&[source(10), source(10)]));
        assert!(is_long(&[source(MIN_BYTES), source(10)]));
    }
}
