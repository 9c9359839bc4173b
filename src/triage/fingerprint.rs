//! Which finding is the same as one of an earlier run?
//!
//! A fingerprint is made of the rule, the table, the column, the enclosing function and the primary text
//! with its white space folded: none of it changes when code above moves, or the file does.
//! Findings that agree in all of it are numbered in the order of the report.

use super::Triaged;
use crate::base::Source;
use crate::finding::Finding;
use std::collections::BTreeMap;

/// Gives each of the ordered `findings` its fingerprint.
pub(super) fn fingerprinted(findings: Vec<Finding>, sources: &[Source]) -> Vec<Triaged> {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    let mut out = Vec::with_capacity(findings.len());
    for finding in findings {
        let base = base(&finding, sources);
        let earlier = seen.entry(base).or_default();
        let hash = if *earlier == 0 { base } else { fold(base, &earlier.to_le_bytes()) };
        *earlier += 1;
        out.push(Triaged { finding, fingerprint: format!("{hash:016x}") });
    }
    out
}

fn base(finding: &Finding, sources: &[Source]) -> u64 {
    let source = sources.get(finding.primary.source.0 as usize);
    let text = source.and_then(|it| it.text.get(finding.primary.range())).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    // Scripts are all called alike; the name of the file tells them apart.
    let is_named = !finding.symbol.is_empty() && !finding.symbol.contains("{script}");
    let file = source.map_or("", |it| it.path.rsplit('/').next().unwrap_or_default());
    let symbol = if is_named { &finding.symbol } else { file };
    let parts = [&*finding.rule.0, &finding.table, &finding.column, symbol, &words.join(" ")];
    parts.iter().fold(OFFSET, |hash, part| fold(fold(hash, part.as_bytes()), &[0]))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a: baselines are kept for years, so the hash must never change with a dependency.
fn fold(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId, Span};
    use crate::finding::{Confidence, FindingBuilder, RuleId, Severity};

    fn prints(path: &str, text: &str, starts: &[usize]) -> Vec<String> {
        let id = SourceId(0);
        let source = Source {
            id,
            path: path.to_owned(),
            language: Language::Php,
            text: text.to_owned(),
            exempt: false,
        };
        let finding = |&start: &usize| {
            let end = start + text[start..].find(';').expect("a statement");
            let span = Span::new(id, start, end);
            FindingBuilder::new(RuleId("r".into()), Severity::Error, Confidence::High, span)
                .subject("jobs", "status", "Worker::run")
                .build()
        };
        let triaged = fingerprinted(starts.iter().map(finding).collect(), &[source]);
        triaged.into_iter().map(|it| it.fingerprint).collect()
    }

    #[test]
    fn moved_and_reflowed_code_keeps_its_fingerprint() {
        let before = prints("a.php", "save( $job );", &[0]);
        assert_eq!(before, prints("src/b.php", "\n\n  save(\n $job\n);", &[4]));
        assert_ne!(before, prints("a.php", "save( $jobs );", &[0]));
        assert_eq!(before[0].len(), 16);
    }

    #[test]
    fn equal_findings_are_numbered() {
        let both = prints("a.php", "save();save();", &[0, 7]);
        assert_ne!(both[0], both[1]);
        assert_eq!(both[0], prints("a.php", "save();", &[0])[0]);
    }

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(fold(OFFSET, b"rowrace"), 0x7fc2_a104_60f7_ccc6);
    }
}
