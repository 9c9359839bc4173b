//! Where does an expect comment belong that answers for a finding, and how is it written there?
//!
//! On a line of its own above the statement, with its indentation and its end of line. Where something
//! else stands in front of the statement on its line, the comment goes between the two.

use super::Triaged;
use super::expect::MARK;
use super::own::OWN_RULES;
use super::page::Page;
use crate::base::{Language, Source, SourceId, Span};
use crate::finding::Edit;
use std::collections::{BTreeMap, BTreeSet};

/// Whether `reason` can stand in a comment of any language, on one line.
pub fn is_reason(reason: &str) -> bool {
    reason.chars().any(char::is_alphanumeric)
        && !reason.contains(|it: char| it.is_control())
        && !["*/", "/*", "?>"].iter().any(|it| reason.contains(it))
}

/// Edits that answer for all `findings` which comments can answer for, and how many those are.
pub fn expecting(findings: &[Triaged], sources: &[Source], reason: &str) -> (Vec<Edit>, usize) {
    let mut rules: BTreeMap<(SourceId, usize), BTreeSet<&str>> = BTreeMap::new();
    let mut pages: BTreeMap<SourceId, Page<'_>> = BTreeMap::new();
    let mut answered = 0;
    for triaged in findings {
        let finding = &triaged.finding;
        let source = sources.get(finding.primary.source.0 as usize);
        let is_own = OWN_RULES.iter().any(|it| *it.id == *finding.rule.0);
        let Some(source) = source.filter(|it| !it.exempt && !is_own) else { continue };
        let page = pages.entry(source.id).or_insert_with(|| Page::of(source));
        let primary = finding.primary.start as usize;
        let at = page.statement_at(primary).map_or(primary, |it| it.range.start);
        rules.entry((source.id, at)).or_default().insert(&finding.rule.0);
        answered += 1;
    }
    let edit = |((source, at), rules): ((SourceId, usize), BTreeSet<&str>)| {
        let rules: Vec<&str> = rules.into_iter().collect();
        insertion(&pages[&source], at, &format!("{MARK}{}] {reason}", rules.join(", ")))
    };
    (rules.into_iter().map(edit).collect(), answered)
}

fn insertion(page: &Page<'_>, at: usize, words: &str) -> Edit {
    let line = page.line_start(at);
    let indentation = &page.text[line..at];
    if !indentation.trim().is_empty() {
        let replacement = format!("/* {words} */ ");
        return Edit { span: Span::new(page.id, at, at), replacement };
    }
    let opener = match page.language {
        Language::Php | Language::Rust => "//",
        Language::Sql => "--",
    };
    let end = end_of_line(page, at);
    let replacement = format!("{indentation}{opener} {words}{end}");
    Edit { span: Span::new(page.id, line, line), replacement }
}

/// How the line ends, or the one above when it is the last.
fn end_of_line<'a>(page: &Page<'a>, at: usize) -> &'a str {
    let line = &page.text[page.line_start(at)..page.line_end(at)];
    let line = if line.ends_with('\n') { line } else { &page.text[..page.line_start(at)] };
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}
