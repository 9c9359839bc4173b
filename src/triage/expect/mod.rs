//! Which findings does the code itself answer for?
//!
//! ```text
//! // rowrace: expect[unguarded-update] only one cron process runs this
//! ```
//!
//! The comment stands on the line of the finding, in its statement, on a line of its own above the
//! statement, or above the function that holds it. The reason is required. A comment without one
//! silences nothing and is itself a finding; so is a comment that nothing answers to, with the edit that
//! removes it.

use super::own::{OwnRule, UNUSED, WITHOUT_REASON};
use super::page::Page;
use super::{Suppressed, SuppressedBy, Triaged};
use crate::base::{Language, Source, Span};
use crate::config::nearest;
use crate::finding::{Confidence, Edit, Finding, FindingBuilder, RuleId};
use std::ops::Range;

/// How a comment begins that expects findings.
pub(super) const MARK: &str = "rowrace: expect[";

/// One expect comment.
#[derive(Debug)]
struct Expect<'a> {
    /// From the mark to the end of the reason.
    range: Range<usize>,
    /// The whole comment; for a mark in a string the line.
    comment: Range<usize>,
    /// Between the brackets.
    list: Range<usize>,
    rules: Vec<&'a str>,
    reason: &'a str,
    /// Nothing but white space stands in front of it on its line.
    leads: bool,
}

/// Takes out what is expected, and adds what is wrong with the comments themselves.
/// Gives the remaining findings, in order, and those that were taken out.
pub(super) fn apply(findings: Vec<Triaged>, sources: &[Source]) -> (Vec<Triaged>, Vec<Suppressed>) {
    let commented: Vec<&Source> =
        sources.iter().filter(|it| !it.exempt && it.text.contains(MARK)).collect();
    if commented.is_empty() {
        return (findings, Vec::new());
    }
    let mut kept = findings;
    let mut suppressed = Vec::new();
    let mut complaints = Vec::new();
    for source in commented {
        let page = Page::of(source);
        suppressed.extend(apply_in(&page, &mut kept, &mut complaints));
    }
    kept.extend(super::fingerprint::fingerprinted(complaints, sources));
    (super::order::reordered(kept, sources), suppressed)
}

fn apply_in(
    page: &Page<'_>,
    findings: &mut Vec<Triaged>,
    complaints: &mut Vec<Finding>,
) -> Vec<Suppressed> {
    let mut suppressed = Vec::new();
    for expect in expects(page) {
        if !expect.reason.chars().any(char::is_alphanumeric) {
            let message = "an expect comment needs a reason";
            complaints.push(complaint(&WITHOUT_REASON, page, &expect, message).build());
            continue;
        }
        let (mut used, mut unused) = (Vec::new(), Vec::new());
        for rule in &expect.rules {
            let before = suppressed.len();
            let answers = |it: &Finding| *it.rule.0 == **rule && covers(page, &expect, it);
            let taken = findings.extract_if(.., |it| answers(&it.finding));
            suppressed.extend(taken.map(|triaged| {
                let reason = expect.reason.to_owned();
                Suppressed { triaged, by: SuppressedBy::Comment, reason }
            }));
            let list = if suppressed.len() > before { &mut used } else { &mut unused };
            list.push(*rule);
        }
        if !unused.is_empty() {
            let message = message(page, &expect, &unused, findings);
            let edit = removal(page, &expect, &used);
            complaints.push(complaint(&UNUSED, page, &expect, &message).edit(edit).build());
        }
    }
    suppressed
}

/// Says which rules are unused, and which of those that do fire here one of them may mean.
fn message(page: &Page<'_>, expect: &Expect<'_>, unused: &[&str], findings: &[Triaged]) -> String {
    let message = format!("no finding of `{}` for this expect comment", unused.join("`, `"));
    let here = findings.iter().filter(|it| covers(page, expect, &it.finding));
    let here: Vec<&str> = here.map(|it| &*it.finding.rule.0).collect();
    match unused.iter().find_map(|it| nearest(it, &here)) {
        Some(near) => format!("{message}, did you mean `{near}`?"),
        None => message,
    }
}

fn complaint(
    rule: &OwnRule,
    page: &Page<'_>,
    expect: &Expect<'_>,
    message: &str,
) -> FindingBuilder {
    let id = RuleId(rule.id.into());
    let span = Span::new(page.id, expect.range.start, expect.range.end);
    FindingBuilder::new(id, rule.severity, Confidence::High, span).text(
        message.to_owned(),
        rule.why.to_owned(),
        rule.help.to_owned(),
    )
}

/// All expect comments, in order.
fn expects<'a>(page: &Page<'a>) -> Vec<Expect<'a>> {
    let mut out = Vec::new();
    for comment in &page.comments {
        for line in lines_of(page.text, comment) {
            out.extend(expect_in(page, line, comment.clone()));
        }
    }
    // SQL that stands in a string has comments, too.
    for string in page.strings.iter().filter(|_| page.language != Language::Sql) {
        for line in lines_of(page.text, string) {
            if page.text[line.clone()].trim_start().starts_with("--") {
                out.extend(expect_in(page, line.clone(), line));
            }
        }
    }
    out.sort_by_key(|it| it.range.start);
    out
}

/// The lines of a part of the text, without their ends.
fn lines_of(text: &str, part: &Range<usize>) -> Vec<Range<usize>> {
    let mut start = part.start;
    let mut out = Vec::new();
    for line in text[part.clone()].split_inclusive('\n') {
        out.push(start..start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
    }
    out
}

/// The mark that a line of a comment begins with.
fn expect_in<'a>(page: &Page<'a>, line: Range<usize>, comment: Range<usize>) -> Option<Expect<'a>> {
    let text = &page.text[line.clone()];
    let words = text.trim_start_matches(['/', '*', '#', '-', '!', ' ', '\t']);
    let (list, reason) = words.strip_prefix(MARK)?.split_once(']')?;
    let reason = reason.split("*/").next().unwrap_or_default().trim_end();
    let start = line.end - words.len();
    let list_start = start + MARK.len();
    let before = &page.text[page.line_start(start)..line.start];
    Some(Expect {
        range: start..list_start + list.len() + 1 + reason.len(),
        comment,
        list: list_start..list_start + list.len(),
        rules: list.split(',').map(str::trim).collect(),
        reason: reason.trim(),
        leads: before.trim().is_empty(),
    })
}

/// Whether `expect` speaks of `finding`, apart from its rule.
fn covers(page: &Page<'_>, expect: &Expect<'_>, finding: &Finding) -> bool {
    let primary = finding.primary.range();
    if finding.primary.source != page.id {
        return false;
    }
    let lines = page.line_of(primary.start)
        ..=page.line_of(primary.end.saturating_sub(1).max(primary.start));
    let own = page.statement_at(primary.start);
    let is_inside = own.is_some() && page.statement_at(expect.range.start) == own;
    let line = page.line_of(expect.range.start);
    if is_inside || lines.contains(&line) {
        return true;
    }
    if !expect.leads {
        return own.is_some_and(|it| {
            let last = page.line_of(it.range.end.saturating_sub(1));
            line == page.line_of(it.range.start) || line == last
        });
    }
    let Some(below) = page.code_behind(expect.comment.end) else { return false };
    let is_own = own.is_some_and(|it| it.range.start == below);
    is_own || lines.contains(&page.line_of(below)) || is_in_function(page, below, primary.start)
}

/// Whether the function whose header begins at `header` holds `at`.
fn is_in_function(page: &Page<'_>, header: usize, at: usize) -> bool {
    let bodies = page.statements.iter().filter(|it| it.range.start == header);
    bodies.filter_map(|it| it.body.as_ref()).any(|it| it.contains(&at))
}

/// The edit that leaves `used` of the rules, or nothing of the comment when that is none.
fn removal(page: &Page<'_>, expect: &Expect<'_>, used: &[&str]) -> Edit {
    let edit = |range: Range<usize>, replacement: String| Edit {
        span: Span::new(page.id, range.start, range.end),
        replacement,
    };
    if !used.is_empty() {
        return edit(expect.list.clone(), used.join(", "));
    }
    let says_more = has_other_words(&page.text[expect.comment.clone()], expect, page);
    let gone = if says_more { line_of(page, expect) } else { expect.comment.clone() };
    let before = &page.text[page.line_start(gone.start)..gone.start];
    let behind = &page.text[gone.end..page.line_end(gone.end)];
    if before.trim().is_empty() && behind.trim().is_empty() {
        return edit(page.line_start(gone.start)..page.line_end(gone.end), String::new());
    }
    if before.trim().is_empty() {
        return edit(
            gone.start..gone.end + behind.len() - behind.trim_start().len(),
            String::new(),
        );
    }
    edit(gone.start - (before.len() - before.trim_end().len())..gone.end, String::new())
}

/// Whether the comment has words besides those of `expect`.
fn has_other_words(comment: &str, expect: &Expect<'_>, page: &Page<'_>) -> bool {
    let own = &page.text[expect.range.clone()];
    comment.replacen(own, "", 1).chars().any(char::is_alphanumeric)
}

/// Its own line of the comment, the delimiters of the whole left alone.
fn line_of(page: &Page<'_>, expect: &Expect<'_>) -> Range<usize> {
    let start = page.line_start(expect.range.start).max(expect.comment.start);
    let opens = start == expect.comment.start;
    let star = page.text[start..expect.range.start].find('*').filter(|_| !opens);
    let start = if opens { expect.range.start } else { star.map_or(start, |it| start + it) };
    start..expect.range.end
}

#[cfg(test)]
mod tests;
