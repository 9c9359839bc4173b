//! Runs the stages in order, once: sources in, findings and problems out.

use crate::base::{Problem, Source};
use crate::finding::Finding;
use crate::pack::Packs;

/// What a run can be told besides its packs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Regular expressions for columns that are states besides the built-in ones.
    pub state_columns: Vec<String>,
    /// Regular expressions for columns that are never states.
    pub never_columns: Vec<String>,
}

/// A stage whose value can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The IR of each file.
    Lower,
    /// Events of each file.
    Bind,
    /// All files joined.
    Program,
    /// What each function does to its caller's rows.
    Summaries,
}

/// Sizes of what was analysed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Files.
    pub files: usize,
    /// Bytes of text.
    pub bytes: usize,
    /// Functions.
    pub functions: usize,
    /// SQL statements.
    pub statements: usize,
    /// Calls whose callee is not known.
    pub unresolved_calls: usize,
}

/// What a run gives: findings are not yet triaged.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Findings in no order.
    pub findings: Vec<Finding>,
    /// What was not analysed.
    pub problems: Vec<Problem>,
    /// Sizes.
    pub stats: Stats,
}

/// The analysis, ready to run.
#[derive(Debug)]
pub struct Engine {
    packs: Packs,
    options: Options,
}

impl Engine {
    /// An engine that speaks the words of `packs`.
    pub fn new(packs: Packs, options: Options) -> Self {
        Self { packs, options }
    }

    /// Analyses `sources` as one program.
    pub fn analyze(&self, sources: &[Source]) -> Outcome {
        let bytes = sources.iter().map(|it| it.text.len()).sum();
        let stats = Stats { files: sources.len(), bytes, ..Stats::default() };
        Outcome { stats, ..Outcome::default() }
    }

    /// The value of `stage` for `sources`, printed.
    pub fn dump(&self, stage: Stage, sources: &[Source]) -> String {
        format!("{stage:?} {} {} {:?}\n", sources.len(), self.packs.rules.len(), self.options)
    }
}
