//! In which order of statements does the fault come about: two workers side by side, or one message
//! from its delivery to its end?

use super::StepRole;
use crate::base::Span;

/// An order of statements that ends badly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Who takes part.
    pub kind: ScheduleKind,
    /// What is done, in order of time.
    pub moments: Vec<Moment>,
    /// How it ends, without full stop.
    pub end: String,
}

/// Who takes part in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleKind {
    /// Two workers and one row.
    Race,
    /// One worker and one message.
    Timeline,
}

/// One statement of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Who.
    pub worker: Worker,
    /// What it does.
    pub role: StepRole,
    /// The statement.
    pub span: Span,
    /// The row in the database, once it is done.
    pub row: RowState,
    /// What else it does to row, lock or message.
    pub effect: Effect,
}

/// A worker of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// The first, or the only one.
    A,
    /// The second.
    B,
}

impl Worker {
    /// The letter used in every output format.
    pub fn word(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// What the state column holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowState {
    /// Not known.
    #[default]
    Unknown,
    /// This value.
    Is(String),
    /// Any value but these.
    IsNot(Vec<String>),
}

/// What a statement does besides setting a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// It finds that many rows.
    Matches(u32),
    /// It finds that many rows, and nobody looks at the number.
    Uncounted(u32),
    /// Its sub-select picks the row.
    Picks,
    /// It takes a row lock that ends with the statement.
    LocksInVain,
    /// It waits until the other worker's lock is gone.
    Waits,
    /// It runs when the other worker's transaction is over.
    Follows,
    /// The message is in the worker's hands.
    Held,
    /// The queue has forgotten the message.
    Gone,
}

impl Effect {
    /// A few words for the margin; empty for no effect.
    pub fn words(self) -> String {
        let rows = |it: u32| if it == 1 { "1 row".to_owned() } else { format!("{it} rows") };
        match self {
            Self::None => String::new(),
            Self::Matches(it) => rows(it),
            Self::Uncounted(it) => format!("{}, not looked at", rows(it)),
            Self::Picks => "picked by its sub-select".to_owned(),
            Self::LocksInVain => "its lock ends here".to_owned(),
            Self::Waits => "once A's lock is gone".to_owned(),
            Self::Follows => "once A has committed".to_owned(),
            Self::Held => "in hand".to_owned(),
            Self::Gone => "gone".to_owned(),
        }
    }

    /// The number of affected rows, for a write.
    pub fn rows(self) -> Option<u32> {
        match self {
            Self::Matches(it) | Self::Uncounted(it) => Some(it),
            Self::None
            | Self::Picks
            | Self::LocksInVain
            | Self::Waits
            | Self::Follows
            | Self::Held
            | Self::Gone => None,
        }
    }
}
