//! What a rule is: the fault that it reports, where, how loud, and in which words.
//!
//! The checks know faults only; a user's rule can report the same fault for one table under another id
//! and another text.

mod fault;
mod text;

pub use crate::finding::{Confidence, RuleId, Severity};
pub use fault::FaultKind;
pub use text::{Placeholder, Template, TemplateError, Values};

use crate::base::Language;
use crate::model::Claim;

/// A rule, valid by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Id, as findings and expect comments name it. Two rules may share an id when their faults differ.
    pub id: RuleId,
    /// The fault that it reports.
    pub fault: FaultKind,
    /// The fault in a few words, for lists.
    pub title: String,
    /// Where it applies.
    pub filter: Filter,
    /// How loud it is.
    pub levels: Levels,
    /// Its words.
    pub texts: Texts,
    /// Programs in which it fires, on the marked lines.
    pub bad: Vec<Example>,
    /// Programs in which no rule fires.
    pub good: Vec<Example>,
}

impl Rule {
    /// The severity of a finding with that confidence; none: not reported.
    pub fn severity(&self, confidence: Confidence) -> Option<Severity> {
        (confidence >= self.filter.min_confidence).then(|| self.levels.of(confidence)).flatten()
    }
}

/// Narrows a rule; empty lists let everything through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Tables or models, compared without case.
    pub tables: Vec<String>,
    /// Columns, compared without case.
    pub columns: Vec<String>,
    /// Target states, compared without case.
    pub to: Vec<String>,
    /// Findings with less evidence are dropped.
    pub min_confidence: Confidence,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            tables: Vec::new(),
            columns: Vec::new(),
            to: Vec::new(),
            min_confidence: Confidence::Low,
        }
    }
}

impl Filter {
    /// Whether a fault of that table (or model), column and target state is the rule's business.
    /// What is not known (empty) passes no list.
    pub fn admits(&self, table: &str, column: &str, to: &str) -> bool {
        let passes = |list: &[String], value: &str| {
            list.is_empty() || list.iter().any(|it| it.eq_ignore_ascii_case(value))
        };
        passes(&self.tables, table) && passes(&self.columns, column) && passes(&self.to, to)
    }
}

/// Severity by confidence; none: off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// When a check of the same row reaches the write.
    pub high: Option<Severity>,
    /// When the code or another part of the program suggests it.
    pub medium: Option<Severity>,
    /// When there is nothing but the write.
    pub low: Option<Severity>,
}

impl Levels {
    /// The severity for that confidence.
    pub fn of(self, confidence: Confidence) -> Option<Severity> {
        match confidence {
            Confidence::High => self.high,
            Confidence::Medium => self.medium,
            Confidence::Low => self.low,
        }
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            high: Some(Severity::Error),
            medium: Some(Severity::Warning),
            low: Some(Severity::Note),
        }
    }
}

/// What a finding says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// Headline under 80 characters, without full stop.
    pub message: Template,
    /// How two workers both win.
    pub why: Template,
    /// What to do.
    pub help: Template,
}

/// A small program that shows the rule; run as a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Language of the code.
    pub language: Language,
    /// The program; bad ones mark their line with `//~ rule-id`.
    pub code: String,
    /// Contracts that it is shown with.
    pub claims: Vec<Claim>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(filter: Filter, levels: Levels) -> Rule {
        let text = || Template::parse("text").unwrap();
        Rule {
            id: RuleId("some-rule".into()),
            fault: FaultKind::StaleCheck,
            title: String::new(),
            filter,
            levels,
            texts: Texts { message: text(), why: text(), help: text() },
            bad: Vec::new(),
            good: Vec::new(),
        }
    }

    #[test]
    fn severity_follows_confidence() {
        let rule = rule(Filter::default(), Levels { low: None, ..Levels::default() });
        assert_eq!(rule.severity(Confidence::High), Some(Severity::Error));
        assert_eq!(rule.severity(Confidence::Medium), Some(Severity::Warning));
        assert_eq!(rule.severity(Confidence::Low), None);
    }

    #[test]
    fn less_evidence_than_asked_for_is_not_reported() {
        let filter = Filter { min_confidence: Confidence::High, ..Filter::default() };
        let rule = rule(filter, Levels::default());
        assert_eq!(rule.severity(Confidence::Medium), None);
        assert_eq!(rule.severity(Confidence::High), Some(Severity::Error));
    }

    #[test]
    fn a_filter_compares_without_case_and_refuses_the_unknown() {
        let filter = Filter { tables: vec!["jobs".into()], ..Filter::default() };
        assert!(filter.admits("Jobs", "status", ""));
        assert!(!filter.admits("orders", "status", ""));
        assert!(!filter.admits("", "status", ""));
        assert!(Filter::default().admits("", "", ""));
    }
}
