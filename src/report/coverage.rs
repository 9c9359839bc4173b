//! What was understood and what was not: shares, and a list of gaps by kind.

use super::concise::{problem_word, write_problem};
use super::plain::plain_line;
use super::{Places, count};
use crate::base::{Problem, Source};
use crate::finding::{Coverage, Gap, GapKind, Share};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Raised when a field changes its meaning or goes away.
const VERSION: u32 = 1;

/// How many gaps of a kind are shown to people.
const SHOWN: usize = 20;

/// What the coverage of a run is shown with.
#[derive(Clone, Copy, Debug)]
pub struct CoverageReport<'a> {
    /// The sources that spans point into.
    pub sources: &'a [Source],
    /// What was understood, and what was not.
    pub coverage: &'a Coverage,
    /// What was not read.
    pub problems: &'a [Problem],
}

impl CoverageReport<'_> {
    /// Files without a problem.
    fn files(&self) -> Share {
        let mut paths: Vec<&str> = self.problems.iter().map(|it| &*it.path).collect();
        paths.sort_unstable();
        paths.dedup();
        let is_read = |it: &&Source| paths.binary_search(&&*it.path).is_err();
        let known = self.sources.iter().filter(is_read).count();
        let unread =
            paths.iter().filter(|it| !self.sources.iter().any(|source| source.path == **it));
        Share { known, all: self.sources.len() + unread.count() }
    }
}

/// Writes the shares, one line each.
pub fn write_shares(report: &CoverageReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Understood")?;
    write_share("files, read whole", report.files(), out)?;
    for (kind, share) in &report.coverage.shares {
        write_share(share_words(*kind), *share, out)?;
    }
    Ok(())
}

fn write_share(words: &str, share: Share, out: &mut dyn Write) -> io::Result<()> {
    let Share { known, all } = share;
    if all == 0 {
        return writeln!(out, "  {words:42}  none");
    }
    writeln!(out, "  {words:42}  {known} of {all} ({} %)", share.percent())
}

/// Writes the shares and what is behind them, for people.
pub fn write_coverage(report: &CoverageReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut places = Places::new(report.sources);
    write_shares(report, out)?;
    for kind in GapKind::ALL {
        let gaps: Vec<&Gap> = report.coverage.gaps.iter().filter(|it| it.kind == kind).collect();
        if !gaps.is_empty() {
            write_gaps(kind, &gaps, &mut places, out)?;
        }
    }
    if !report.problems.is_empty() {
        writeln!(out, "\nNot read")?;
    }
    for problem in report.problems.iter().take(SHOWN) {
        write!(out, "  ")?;
        write_problem(problem, &mut places, out)?;
    }
    write_more(report.problems.len(), "problem", out)
}

fn write_gaps(
    kind: GapKind,
    gaps: &[&Gap],
    places: &mut Places<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\n{}", gap_words(kind))?;
    for gap in gaps.iter().take(SHOWN) {
        let at = places.start(gap.first);
        let path = plain_line(places.path(gap.first.source));
        let (number, name) = (gap.count, plain_line(&gap.name));
        writeln!(out, "{number:6}  {name}  {path}:{}:{}", at.line, at.column)?;
    }
    write_more(gaps.len(), "name", out)
}

fn write_more(all: usize, noun: &str, out: &mut dyn Write) -> io::Result<()> {
    match all.checked_sub(SHOWN).filter(|it| *it > 0) {
        Some(more) => {
            writeln!(out, "  and {} more; `--format json` has them all", count(more, noun))
        }
        None => Ok(()),
    }
}

fn share_words(kind: GapKind) -> &'static str {
    match kind {
        GapKind::Write => "calls that look like writes",
        GapKind::Lock => "calls that look like locks",
        GapKind::Ack => "calls that look like acks",
        GapKind::Text => "calls that run SQL, its text",
        GapKind::Where => "UPDATE and DELETE, their WHERE",
        GapKind::Cut => "functions, without reaching a limit",
    }
}

fn gap_words(kind: GapKind) -> &'static str {
    match kind {
        GapKind::Write => "Look like writes, and are in no pack",
        GapKind::Lock => "Look like locks, and are in no pack",
        GapKind::Ack => "Look like acks, and are in no pack",
        GapKind::Text => "Run SQL whose text is not known",
        GapKind::Where => "Write to these tables with a WHERE that is not known",
        GapKind::Cut => "Reach a limit: too large, or too many writes to hand on",
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    shares: BTreeMap<&'static str, JsonShare>,
    gaps: Vec<JsonGap<'a>>,
    problems: Vec<JsonProblem<'a>>,
}

#[derive(Serialize)]
struct JsonShare {
    known: usize,
    all: usize,
}

#[derive(Serialize)]
struct JsonGap<'a> {
    kind: &'static str,
    name: &'a str,
    count: usize,
    path: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct JsonProblem<'a> {
    kind: &'static str,
    path: &'a str,
    line: Option<u32>,
    column: Option<u32>,
    message: &'a str,
}

/// Writes everything as one object.
pub fn write_coverage_json(report: &CoverageReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut places = Places::new(report.sources);
    let kinds = report.coverage.shares.iter().map(|(kind, share)| (kind.word(), *share));
    let shares = std::iter::once(("file", report.files())).chain(kinds);
    let document = Document {
        version: VERSION,
        shares: shares
            .map(|(word, it)| (word, JsonShare { known: it.known, all: it.all }))
            .collect(),
        gaps: report.coverage.gaps.iter().map(|it| json_gap(it, &mut places)).collect(),
        problems: report.problems.iter().map(|it| json_problem(it, &mut places)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn json_gap<'a>(gap: &'a Gap, places: &mut Places<'a>) -> JsonGap<'a> {
    let at = places.start(gap.first);
    JsonGap {
        kind: gap.kind.word(),
        name: &gap.name,
        count: gap.count,
        path: places.path(gap.first.source),
        line: at.line,
        column: at.column,
    }
}

fn json_problem<'a>(problem: &'a Problem, places: &mut Places<'_>) -> JsonProblem<'a> {
    let start = problem.span.map(|it| places.start(it));
    JsonProblem {
        kind: problem_word(problem.kind),
        path: &problem.path,
        line: start.map(|it| it.line),
        column: start.map(|it| it.column),
        message: &problem.message,
    }
}
