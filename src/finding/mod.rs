//! What a rule reports: one primary place, the steps that prove it, and a remedy.

mod builder;
mod edit;
mod gap;
mod schedule;

use crate::base::Span;
pub use builder::FindingBuilder;
pub use edit::Edit;
pub use gap::{Coverage, Gap, GapKind, Share};
pub use schedule::{Effect, Moment, RowState, Schedule, ScheduleKind, Worker};
use std::fmt;
use std::sync::Arc;

/// Kebab-case id of a rule, as written in `expect[...]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub Arc<str>);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; never fails a run.
    Note,
    /// Probably a fault.
    Warning,
    /// A fault that the witness proves.
    Error,
}

/// How strong the evidence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// A blind write, no check in sight.
    Low,
    /// A transition in worker-like code, or of a column that the program checks elsewhere.
    Medium,
    /// A check of the same row reaches the write.
    High,
}

/// What a step of the witness shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepRole {
    /// The row or message is loaded or delivered here.
    Load,
    /// Its state is tested here.
    Check,
    /// A lock is taken here.
    Lock,
    /// The copy is changed in memory here.
    Change,
    /// The write is issued here.
    Write,
    /// The SQL text of the write.
    Sql,
    /// A guarded claim of the same row.
    Claim,
    /// A call on the way from one function to the next.
    Call,
    /// An exception or `Err` leaves here.
    Throw,
    /// It is caught here.
    Catch,
    /// The handler is left here.
    Exit,
    /// The message is settled here.
    Ack,
    /// The same transition stands guarded here.
    Twin,
    /// A comment or declaration that matters.
    Note,
}

impl StepRole {
    /// The word used in every output format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Check => "check",
            Self::Lock => "lock",
            Self::Change => "change",
            Self::Write => "write",
            Self::Sql => "sql",
            Self::Claim => "claim",
            Self::Call => "call",
            Self::Throw => "throw",
            Self::Catch => "catch",
            Self::Exit => "exit",
            Self::Ack => "ack",
            Self::Twin => "twin",
            Self::Note => "note",
        }
    }
}

/// One numbered place of the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happens here.
    pub role: StepRole,
    /// Where.
    pub span: Span,
    /// A short sentence without full stop.
    pub message: String,
}

/// A fault, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that fired.
    pub rule: RuleId,
    /// Weight, after configuration.
    pub severity: Severity,
    /// Strength of the evidence.
    pub confidence: Confidence,
    /// The one place that the finding points at.
    pub primary: Span,
    /// Headline under 80 characters, without full stop.
    pub message: String,
    /// How two workers both win.
    pub why: String,
    /// The concrete remedy.
    pub help: String,
    /// The witness in order of time.
    pub steps: Vec<Step>,
    /// The order of statements that proves it, when the witness holds enough of them.
    pub schedule: Option<Schedule>,
    /// Table or model that the fault is about, empty when unknown.
    pub table: String,
    /// Column that the fault is about, empty when unknown.
    pub column: String,
    /// Qualified name of the function that holds the primary place.
    pub symbol: String,
    /// What repairs it for certain, as one change; empty when that takes thought.
    pub edits: Vec<Edit>,
}
