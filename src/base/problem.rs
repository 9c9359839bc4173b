//! Input that could not be read well. A problem never stops the run.

use super::Span;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The file could not be read.
    Unreadable,
    /// A region or the whole file did not parse.
    Syntax,
    /// A limit (size, depth, rounds) was reached; the rest was skipped.
    Limit,
    /// Our own fault: a stage panicked.
    Internal,
}

/// One thing that was not analysed, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// What kind of trouble.
    pub kind: ProblemKind,
    /// Path of the file, as in `Source::path`.
    pub path: String,
    /// The place, when there is a text to point into.
    pub span: Option<Span>,
    /// One sentence without full stop.
    pub message: String,
}
