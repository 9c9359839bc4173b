//! Which rules speak of what is said about findings, instead of code? No TOML file defines them.

use crate::finding::Severity;

/// A rule about suppressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnRule {
    /// Its id.
    pub id: &'static str,
    /// The fault in one line.
    pub title: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// Why it matters.
    pub why: &'static str,
    /// What to do.
    pub help: &'static str,
}

/// All of them, by id.
pub static OWN_RULES: [OwnRule; 3] = [DEAD_ENTRY, WITHOUT_REASON, UNUSED];

/// Id of the rule about entries of a baseline.
pub const DEAD_ENTRY_ID: &str = "dead-baseline-entry";

pub(super) const DEAD_ENTRY: OwnRule = OwnRule {
    id: DEAD_ENTRY_ID,
    title: "an entry of the baseline matches no finding",
    severity: Severity::Note,
    why: "The fault is gone, or looks different now; the entry would hide it if it came back.",
    help: "Remove the line, or run `rowrace baseline prune`.",
};

pub(super) const WITHOUT_REASON: OwnRule = OwnRule {
    id: "expect-without-reason",
    title: "an expect comment gives no reason",
    severity: Severity::Warning,
    why: "Whoever meets the comment later cannot tell whether the race is still harmless.",
    help: "Say behind the bracket why two workers cannot meet here.",
};

pub(super) const UNUSED: OwnRule = OwnRule {
    id: "unused-expect",
    title: "an expect comment matches no finding",
    severity: Severity::Warning,
    why: "The fault is gone, or the comment stands in the wrong place and hides the next one.",
    help: "Remove the comment, or the rule from its brackets; `rowrace check --fix` does it.",
};
