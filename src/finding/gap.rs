//! What a run could not resolve, so that silence means something.

use crate::base::Span;

/// What kind of thing was left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GapKind {
    /// A call that looks like a write of a row, of a callee that is not known.
    Write,
    /// A call that looks like a lock.
    Lock,
    /// A call that looks like the settling of a message.
    Ack,
    /// SQL whose text is not known.
    Text,
    /// An UPDATE or DELETE whose WHERE is not known.
    Where,
    /// A function that was not read, or not handed on to its callers, as a whole.
    Cut,
}

impl GapKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Write, Self::Lock, Self::Ack, Self::Text, Self::Where, Self::Cut];

    /// The word used in every output format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Lock => "lock",
            Self::Ack => "ack",
            Self::Text => "text",
            Self::Where => "where",
            Self::Cut => "cut",
        }
    }
}

/// Things of one kind and name that were left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Which kind.
    pub kind: GapKind,
    /// Which call, table or function.
    pub name: String,
    /// How many.
    pub count: usize,
    /// The first place.
    pub first: Span,
}

/// How many things of a kind were understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Understood.
    pub known: usize,
    /// All.
    pub all: usize,
}

impl Share {
    /// One more thing, understood or not.
    pub fn add(&mut self, known: bool) {
        self.known += usize::from(known);
        self.all += 1;
    }

    /// The share in percent, rounded down: 100 is only reached by all. Nothing at all is all of it.
    pub fn percent(self) -> usize {
        (self.known * 100).checked_div(self.all).unwrap_or(100)
    }
}

/// What was understood of a program, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By kind, in the order of [`GapKind::ALL`].
    pub shares: Vec<(GapKind, Share)>,
    /// By kind, the most frequent first.
    pub gaps: Vec<Gap>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_full_only_when_nothing_is_missing() {
        assert_eq!(Share { known: 999, all: 1000 }.percent(), 99);
        assert_eq!(Share { known: 3, all: 3 }.percent(), 100);
        assert_eq!(Share::default().percent(), 100);
    }
}
