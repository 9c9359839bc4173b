//! Which faults the checks can tell apart; each rule reports one of them.

use std::fmt;

/// What is wrong. The checks find faults, rules say how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A loaded row is checked, changed in memory and written back by its key.
    UnguardedTransition,
    /// A statement sets a state and its WHERE does not test the old one.
    UnguardedStatement,
    /// A guarded claim runs and nobody looks whether it won.
    IgnoredClaim,
    /// A lock is taken, and the check still reads the copy from before.
    StaleCheck,
    /// A row lock outside of any transaction.
    LockWithoutTransaction,
    /// A copy from before somebody's claim is written back over it.
    StaleWriteBack,
    /// The check or guard lets the target state through.
    LooseGate,
    /// A counter is read, computed in the program and written back.
    LostUpdate,
    /// A counter changes in SQL, and the limit that was checked is not in the WHERE.
    UnguardedLimit,
    /// The claim throws, is caught, and the way out settles the message.
    StrandOnThrow,
    /// A handler swallows a failure, and its normal return settles the message.
    SwallowedFailure,
    /// A message is settled before its work is durable.
    EarlyAck,
    /// A row is left in a state on the way, and nothing ever looks for it.
    UnsweptState,
    /// The function that a contract names has lost its guard, its key or its count.
    BrokenClaim,
    /// Another place makes the transition that a contract gives to one function.
    RivalClaim,
}

impl FaultKind {
    /// All of them, in the order of their definition.
    pub const ALL: [Self; 15] = [
        Self::UnguardedTransition,
        Self::UnguardedStatement,
        Self::IgnoredClaim,
        Self::StaleCheck,
        Self::LockWithoutTransaction,
        Self::StaleWriteBack,
        Self::LooseGate,
        Self::LostUpdate,
        Self::UnguardedLimit,
        Self::StrandOnThrow,
        Self::SwallowedFailure,
        Self::EarlyAck,
        Self::UnsweptState,
        Self::BrokenClaim,
        Self::RivalClaim,
    ];

    /// Whether it speaks of a whole program: a fragment lacks what would answer it.
    pub fn is_of_program(self) -> bool {
        self == Self::UnsweptState
    }

    /// The kebab-case name used in rule files.
    pub fn word(self) -> &'static str {
        match self {
            Self::UnguardedTransition => "unguarded-transition",
            Self::UnguardedStatement => "unguarded-statement",
            Self::IgnoredClaim => "ignored-claim",
            Self::StaleCheck => "stale-check",
            Self::LockWithoutTransaction => "lock-without-transaction",
            Self::StaleWriteBack => "stale-write-back",
            Self::LooseGate => "loose-gate",
            Self::LostUpdate => "lost-update",
            Self::UnguardedLimit => "unguarded-limit",
            Self::StrandOnThrow => "strand-on-throw",
            Self::SwallowedFailure => "swallowed-failure",
            Self::EarlyAck => "early-ack",
            Self::UnsweptState => "unswept-state",
            Self::BrokenClaim => "broken-claim",
            Self::RivalClaim => "rival-claim",
        }
    }

    /// The fault of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for fault in FaultKind::ALL {
            assert_eq!(FaultKind::parse(fault.word()), Some(fault));
        }
        assert_eq!(FaultKind::parse("unguarded"), None);
    }
}
