//! What a rule is, in the few words that the command line shows of it.

use crate::base::Language;
use crate::finding::{RuleId, Severity};

/// A snippet that shows the fault, or its repair.
#[derive(Clone, Debug)]
pub struct Example {
    /// Language of the snippet.
    pub language: Language,
    /// The snippet.
    pub code: String,
}

/// A rule as the command line sees it.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// The fault in one line.
    pub title: String,
    /// The shape that runs it.
    pub shape: String,
    /// Severity at low, medium and high confidence.
    pub severity: [Severity; 3],
    /// How two workers both win.
    pub why: String,
    /// What to do.
    pub help: String,
    /// Snippets that it fires on.
    pub bad: Vec<Example>,
    /// Snippets that it is silent on.
    pub good: Vec<Example>,
}
