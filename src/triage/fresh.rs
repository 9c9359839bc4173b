//! Which findings are new against an earlier state of the program, or touched by what changed since?
//!
//! A finding is *old* when the earlier state has one with its fingerprint, and no step of its witness
//! touches a changed line. So a change in one file shows what it does in another, and an edit of a line
//! shows the old faults that it is part of.
//!
//! Fingerprints hold no path, but the names of functions may: where a file was moved, a finding that the
//! earlier state had in the old file, and has no more, answers for one in the new file.

use super::Triaged;
use super::changes::{ChangedLines, Changes};
use crate::base::{Lines, Source, SourceId, Span, last_segment};
use crate::finding::Finding;
use std::collections::{BTreeMap, BTreeSet};

/// A state of the program and what is reported in it.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// Its files.
    pub sources: &'a [Source],
    /// Its findings.
    pub findings: &'a [Triaged],
}

/// Whether both lists hold the same files with the same texts.
pub fn is_same_program(head: &[Source], base: &[Source]) -> bool {
    let same = |(a, b): (&Source, &Source)| a.path == b.path && a.text == b.text;
    head.len() == base.len() && head.iter().zip(base).all(same)
}

/// The findings of `head` that are new against `base` or touch a changed line, in order.
pub fn fresh(head: State<'_>, base: State<'_>) -> Vec<Triaged> {
    let changes = Changes::between(base.sources, head.sources);
    let known: BTreeSet<&str> = base.findings.iter().map(|it| &*it.fingerprint).collect();
    let mut gone = Gone::new(head, base);
    let mut touches = Touches { sources: head.sources, changes: &changes, lines: BTreeMap::new() };
    let is_fresh = |it: &&Triaged| {
        let is_known = known.contains(&*it.fingerprint) || gone.answers(it, &changes);
        !is_known || touches.finding(&it.finding)
    };
    head.findings.iter().filter(is_fresh).cloned().collect()
}

/// Findings of the base that the head has no more.
struct Gone<'a> {
    head: &'a [Source],
    /// How often each stands at the base: path of the file, and what stays when the file is moved.
    left: BTreeMap<(&'a str, Moved<'a>), usize>,
}

/// What a finding keeps when its file is moved: rule, table, column, last name of the function.
type Moved<'a> = (&'a str, &'a str, &'a str, &'a str);

impl<'a> Gone<'a> {
    fn new(head: State<'a>, base: State<'a>) -> Self {
        let present: BTreeSet<&str> = head.findings.iter().map(|it| &*it.fingerprint).collect();
        let mut left = BTreeMap::new();
        for it in base.findings.iter().filter(|it| !present.contains(&*it.fingerprint)) {
            *left.entry((path(&it.finding, base.sources), moved(&it.finding))).or_default() += 1;
        }
        Self { head: head.sources, left }
    }

    /// Whether a finding in the file's old place answers for `triaged`; each answers once.
    fn answers(&mut self, triaged: &Triaged, changes: &Changes) -> bool {
        let path = path(&triaged.finding, self.head);
        let Some(old) = changes.old_path(path) else { return false };
        let key = (old, moved(&triaged.finding));
        let Some(left) = self.left.iter_mut().find(|it| *it.0 == key).map(|it| it.1) else {
            return false;
        };
        let has_one = *left > 0;
        *left = left.saturating_sub(1);
        has_one
    }
}

fn moved(finding: &Finding) -> Moved<'_> {
    (&finding.rule.0, &finding.table, &finding.column, last_segment(&finding.symbol))
}

fn path<'a>(finding: &Finding, sources: &'a [Source]) -> &'a str {
    sources.get(finding.primary.source.0 as usize).map_or("", |it| &it.path)
}

/// Whether findings touch changed lines.
struct Touches<'a> {
    sources: &'a [Source],
    changes: &'a Changes,
    lines: BTreeMap<SourceId, Lines>,
}

impl Touches<'_> {
    fn finding(&mut self, finding: &Finding) -> bool {
        let steps = finding.steps.iter().map(|it| it.span);
        std::iter::once(finding.primary).chain(steps).any(|it| self.span(it))
    }

    fn span(&mut self, span: Span) -> bool {
        let Some(source) = self.sources.get(span.source.0 as usize) else { return false };
        match self.changes.lines(&source.path) {
            ChangedLines::All => true,
            ChangedLines::Some(hunks) if hunks.is_empty() => false,
            ChangedLines::Some(hunks) => {
                let lines =
                    self.lines.entry(span.source).or_insert_with(|| Lines::of(&source.text));
                let first = lines.line_index(span.start);
                let last = lines.line_index(span.end.saturating_sub(1).max(span.start));
                // Where lines were taken out, a span is changed that stands on both sides.
                hunks.iter().any(|it| {
                    if it.is_empty() {
                        first < it.start && it.start <= last
                    } else {
                        first < it.end && it.start <= last
                    }
                })
            }
        }
    }
}
