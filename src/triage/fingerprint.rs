//! Which finding is the same as one of an earlier run?
//!
//! A fingerprint is made of the rule, the table or model, the column, the enclosing function, and what
//! the check and the write say in *normal form*: without comments, line breaks, quotes of one kind or the
//! other and commas at the end of a list. None of it changes when code above moves, or the file does, or
//! a formatter goes over it. Findings that agree in all of it are numbered in the order of the report.

use super::Triaged;
use super::skip::{Kind, Skipper};
use crate::base::{Language, Source, Span};
use crate::finding::{Finding, StepRole};
use std::collections::{BTreeMap, BTreeSet};

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
    // Scripts are all called alike; the name of the file tells them apart.
    let is_named = !finding.symbol.is_empty() && !finding.symbol.contains("{script}");
    let file = source.map_or("", |it| it.path.rsplit('/').next().unwrap_or_default());
    let symbol = if is_named { &finding.symbol } else { file };
    let checks: BTreeSet<String> = finding
        .steps
        .iter()
        .filter(|it| it.role == StepRole::Check && it.span != finding.primary)
        .map(|it| said_at(it.span, sources))
        .collect();
    let write = said_at(finding.primary, sources);
    let parts = [&*finding.rule.0, &finding.table, &finding.column, symbol, &write];
    let parts = parts.into_iter().chain(checks.iter().map(|it| &**it));
    parts.fold(OFFSET, |hash, part| fold(fold(hash, part.as_bytes()), &[0]))
}

fn said_at(span: Span, sources: &[Source]) -> String {
    let Some(source) = sources.get(span.source.0 as usize) else { return String::new() };
    source.text.get(span.range()).map_or_else(String::new, |it| normal(it, source.language))
}

/// Code in normal form.
pub(super) fn normal(text: &str, language: Language) -> String {
    let mut skipper = Skipper::new(language, text);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = skipper.next(at);
        let end = next.end.max(at + 1);
        let piece = &text[at..end];
        match next.kind {
            Kind::Comment | Kind::Blank | Kind::End => (),
            Kind::String => {
                let words: Vec<&str> = piece.split_whitespace().collect();
                out.push_str(&words.join(" ").replace('"', "'"));
            }
            Kind::Word => {
                if out.ends_with(|it: char| it.is_alphanumeric() || it == '_') {
                    out.push(' ');
                }
                out.push_str(piece);
            }
            Kind::Sign => {
                if matches!(piece, ")" | "]" | "}") && out.ends_with(',') {
                    out.pop();
                }
                out.push_str(piece);
            }
        }
        at = end;
    }
    out
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
    use crate::base::SourceId;
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
            let check = text.find("if").map_or(span, |it| Span::new(id, it, it + 8));
            FindingBuilder::new(RuleId("r".into()), Severity::Error, Confidence::High, span)
                .subject("jobs", "status", "Worker::run")
                .step(StepRole::Check, check, "checked")
                .build()
        };
        let triaged = fingerprinted(starts.iter().map(finding).collect(), &[source]);
        triaged.into_iter().map(|it| it.fingerprint).collect()
    }

    #[test]
    fn moved_and_reflowed_code_keeps_its_fingerprint() {
        let before = prints("a.php", "save( $job, \"a b\" );", &[0]);
        assert_eq!(before, prints("src/b.php", "\n\n  save(\n $job, // x\n 'a b',\n);", &[4]));
        assert_ne!(before, prints("a.php", "save( $jobs, 'a b' );", &[0]));
        assert_eq!(before[0].len(), 16);
    }

    #[test]
    fn the_check_is_part_of_it() {
        let before = prints("a.php", "if ($a) { save($job); }", &[10]);
        assert_eq!(before, prints("a.php", "/**/if ($a)\n { save($job); }", &[15]));
        assert_ne!(before, prints("a.php", "if ($b) { save($job); }", &[10]));
    }

    #[test]
    fn equal_findings_are_numbered() {
        let both = prints("a.php", "save();save();", &[0, 7]);
        assert_ne!(both[0], both[1]);
        assert_eq!(both[0], prints("a.php", "save();", &[0])[0]);
    }

    #[test]
    fn words_stay_apart() {
        assert_eq!(normal("return  new\tA ( [1, 2, ] )", Language::Php), "return new A([1,2])");
        assert_eq!(normal("let x = & mut y;", Language::Rust), "let x=&mut y;");
    }

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(fold(OFFSET, b"rowrace"), 0x7fc2_a104_60f7_ccc6);
    }
}
