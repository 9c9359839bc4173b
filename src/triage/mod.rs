//! Which findings are shown, as what, and in which order?
//!
//! In this order: sort and deduplicate, fingerprint, honour expect comments, apply levels and tables,
//! drop what is below the wanted confidence; a baseline comes last. Fingerprints come before anything is
//! left out, so that a finding keeps its own whatever the configuration says about its neighbours.

mod baseline;
mod changes;
mod expect;
mod fingerprint;
mod fresh;
mod insert;
mod levels;
mod order;
mod own;
mod page;
mod skip;

use crate::base::Source;
use crate::config::Configs;
use crate::finding::Finding;
pub use baseline::{Baseline, Entry, joined};
pub use fresh::{State, fresh, is_same_program};
pub use insert::{expecting, is_reason};
pub use own::{DEAD_ENTRY_ID, OWN_RULES, OwnRule};

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
    /// Those findings, and those that a baseline knows.
    pub suppressed: Vec<Suppressed>,
    /// Those that the configuration leaves out; a baseline may still know them.
    pub hidden: Vec<Triaged>,
}

/// Sorts out the findings of a run over `sources`.
pub fn triage(findings: Vec<Finding>, sources: &[Source], configs: &Configs) -> Triage {
    let findings = order::ordered(findings, sources);
    let findings = fingerprint::fingerprinted(findings, sources);
    let (findings, suppressed) = expect::apply(findings, sources);
    let leveled = |it: &Triaged| levels::leveled(it.clone(), configs.of(it.finding.primary.source));
    let mut out = Triage { expected: suppressed.len(), ..Triage::default() };
    for it in suppressed {
        out.suppressed.extend(leveled(&it.triaged).map(|triaged| Suppressed { triaged, ..it }));
    }
    for triaged in findings {
        match leveled(&triaged) {
            Some(shown) => out.findings.push(shown),
            None => out.hidden.push(triaged),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId, Span};
    use crate::config::Config;
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
                .subject("jobs", "status", "f")
                .build()
        };
        let findings = vec![finding(0), finding(source.text.len() - 2)];
        let sources = [source];
        for (config, left) in [
            ("", 1),
            ("[levels]\nrule = \"off\"", 0),
            ("min-confidence = \"high\"", 0),
            ("[tables]\nignore = [\"job\"]", 0),
            ("[tables]\nonly = [\"orders\"]", 0),
        ] {
            let config = Config::parse(config).expect("valid");
            let triage = triage(findings.clone(), &sources, &config.into());
            assert_eq!((triage.findings.len(), triage.expected), (left, 1));
            assert_eq!(triage.hidden.len(), 1 - left);
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
            let triage = triage(findings, &[source], &Config::default().into());
            triage.findings.into_iter().map(|it| it.fingerprint).collect::<Vec<_>>()
        };
        let both = prints("@;\n@;");
        assert_eq!(prints("@; // rowrace: expect[rule] one cron\n@;"), both[1..]);
    }
}
