//! What a rule is, in the few words that the command line shows of it.

use crate::base::Language;
pub use crate::finding::{Confidence, RuleId, Severity};

/// A rule as the command line sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id. Several rules may share one.
    pub id: RuleId,
    /// The fault in one line.
    pub title: String,
    /// How loud it is.
    pub levels: Levels,
    /// Its words.
    pub texts: Texts,
    /// Snippets that it fires on.
    pub bad: Vec<Example>,
    /// Snippets that it is silent on.
    pub good: Vec<Example>,
}

/// Severity by confidence; none: off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// At high confidence.
    pub high: Option<Severity>,
    /// At medium confidence.
    pub medium: Option<Severity>,
    /// At low confidence.
    pub low: Option<Severity>,
}

/// What a finding says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// How two workers both win.
    pub why: Template,
    /// What to do.
    pub help: Template,
}

/// A text with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

/// What fills the holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values;

impl Template {
    /// The text with the values filled in.
    pub fn render(&self, _values: &Values) -> String {
        self.0.clone()
    }
}

/// A snippet that shows the fault, or its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Language of the snippet.
    pub language: Language,
    /// The snippet.
    pub code: String,
}
