//! In which order do findings stand, and which are the same?

use super::Triaged;
use crate::base::{Source, SourceId};
use crate::finding::Finding;
use std::cmp::Reverse;

/// Sorted by path, span and rule; of findings with the same rule and place the most certain one.
pub(super) fn ordered(mut findings: Vec<Finding>, sources: &[Source]) -> Vec<Finding> {
    findings.sort_by(|a, b| key(a, sources).cmp(&key(b, sources)));
    findings.dedup_by(|later, kept| later.rule == kept.rule && later.primary == kept.primary);
    findings
}

/// The same order for findings that were already told apart.
pub(super) fn reordered(mut findings: Vec<Triaged>, sources: &[Source]) -> Vec<Triaged> {
    findings.sort_by(|a, b| key(&a.finding, sources).cmp(&key(&b.finding, sources)));
    findings
}

fn key<'a>(finding: &'a Finding, sources: &'a [Source]) -> impl Ord + use<'a> {
    let primary = finding.primary;
    (
        (path(primary.source, sources), primary.start, primary.end, &finding.rule),
        Reverse(finding.confidence),
        // The rest only makes the choice among equals the same in every run.
        (Reverse(finding.severity), &finding.symbol, &finding.message, finding.steps.len()),
    )
}

fn path(id: SourceId, sources: &[Source]) -> &str {
    sources.get(id.0 as usize).map_or("", |it| &it.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, Span};
    use crate::finding::{Confidence, FindingBuilder, RuleId, Severity};

    fn finding(source: u32, start: usize, confidence: Confidence) -> Finding {
        let span = Span::new(SourceId(source), start, start + 1);
        FindingBuilder::new(RuleId("r".into()), Severity::Warning, confidence, span).build()
    }

    #[test]
    fn path_then_place_and_the_most_certain_of_equals() {
        let source = |id, path: &str| Source {
            id: SourceId(id),
            path: path.to_owned(),
            language: Language::Php,
            text: String::new(),
            exempt: false,
        };
        let sources = [source(0, "b.php"), source(1, "a.php")];
        let low = finding(0, 4, Confidence::Low);
        let high = finding(0, 4, Confidence::High);
        let first = finding(1, 9, Confidence::Low);
        let given = vec![low, high.clone(), first.clone()];
        assert_eq!(ordered(given, &sources), [first, high]);
    }
}
