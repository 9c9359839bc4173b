//! Which findings are shown, as what, and in which order?
//!
//! In this order: sort and deduplicate, fingerprint, honour expect comments, apply levels, drop what is
//! below the wanted confidence. Fingerprints come before anything is left out, so that a finding keeps
//! its own whatever the configuration says about its neighbours.

mod expect;
mod fingerprint;
mod levels;
mod order;

use crate::base::Source;
use crate::config::Config;
use crate::finding::Finding;
pub use expect::{EXPECT_RULES, ExpectRule};

/// A finding that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triaged {
    /// The finding; its severity is final.
    pub finding: Finding,
    /// Sixteen hex digits that stay the same when code moves.
    pub fingerprint: String,
}

/// A finding that somebody answered for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// The finding.
    pub triaged: Triaged,
    /// Where the answer stands.
    pub by: SuppressedBy,
    /// The reason that was given; empty when there is none.
    pub reason: String,
}

/// Where the answer to a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressedBy {
    /// In an expect comment.
    Comment,
    /// In a baseline.
    Baseline,
}

/// What triage leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triage {
    /// Findings in the order of the report.
    pub findings: Vec<Triaged>,
    /// How many findings an expect comment answers for.
    pub expected: usize,
    /// Those findings, in the order of the report.
    pub suppressed: Vec<Suppressed>,
}

/// Sorts out the findings of a run over `sources`.
pub fn triage(findings: Vec<Finding>, sources: &[Source], config: &Config) -> Triage {
    let findings = order::ordered(findings, sources);
    let findings = fingerprint::fingerprinted(findings, sources);
    let (findings, suppressed) = expect::apply(findings, sources);
    let expected = suppressed.len();
    let shown = |findings: Vec<Triaged>| {
        let mut findings = levels::leveled(findings, config);
        findings.retain(|it| it.finding.confidence >= config.min_confidence);
        findings
    };
    let findings = shown(findings);
    let suppressed = suppressed.into_iter().filter_map(|it| {
        let triaged = shown(vec![it.triaged]).pop()?;
        Some(Suppressed { triaged, ..it })
    });
    let suppressed = suppressed.collect();
    Triage { findings, expected, suppressed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId, Span};
    use crate::finding::{Confidence, FindingBuilder, RuleId, Severity};

    #[test]
    fn a_comment_for_a_rule_that_is_off_is_not_unused() {
        let id = SourceId(0);
        let text = "@; // rowrace: expect[rule] one cron\n@;".to_owned();
        let source =
            Source { id, path: "a.php".to_owned(), language: Language::Php, text, exempt: false };
        let finding = |start| {
            let span = Span::new(id, start, start + 1);
            FindingBuilder::new(RuleId("rule".into()), Severity::Error, Confidence::Low, span)
                .build()
        };
        let findings = vec![finding(0), finding(source.text.len() - 2)];
        let sources = [source];
        for (config, left) in
            [("", 1), ("[rules]\nrule = \"off\"", 0), ("min-confidence = \"high\"", 0)]
        {
            let config = Config::parse(config).expect("valid");
            let triage = triage(findings.clone(), &sources, &config);
            assert_eq!((triage.findings.len(), triage.expected), (left, 1));
        }
    }

    #[test]
    fn an_expected_finding_leaves_the_fingerprints_of_others_alone() {
        let id = SourceId(0);
        let prints = |text: &str| {
            let source = Source {
                id,
                path: "a.php".to_owned(),
                language: Language::Php,
                text: text.to_owned(),
                exempt: false,
            };
            let finding = |(start, _)| {
                let span = Span::new(id, start, start + 1);
                FindingBuilder::new(RuleId("rule".into()), Severity::Error, Confidence::Low, span)
                    .build()
            };
            let findings = source.text.match_indices('@').map(finding).collect();
            let triage = triage(findings, &[source], &Config::default());
            triage.findings.into_iter().map(|it| it.fingerprint).collect::<Vec<_>>()
        };
        let both = prints("@;\n@;");
        assert_eq!(prints("@; // rowrace: expect[rule] one cron\n@;"), both[1..]);
    }
}
