//! The result as one JSON object. The structs here are the format: it does not move when others do.

use super::concise::problem_word;
use super::{Places, Report, severity_word};
use crate::base::{LineColumn, Problem, Span};
use crate::finding::{Confidence, Step};
use crate::triage::Triaged;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Raised when a field changes its meaning or goes away.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<JsonFinding<'a>>,
    problems: Vec<JsonProblem<'a>>,
    stats: BTreeMap<&'static str, usize>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    severity: &'static str,
    confidence: &'static str,
    message: &'a str,
    why: &'a str,
    help: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    fingerprint: &'a str,
    steps: Vec<JsonStep<'a>>,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    role: &'static str,
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize)]
struct Place<'a> {
    path: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct JsonProblem<'a> {
    kind: &'static str,
    path: &'a str,
    line: Option<u32>,
    column: Option<u32>,
    message: &'a str,
}

pub(super) fn write<'a, W: Write + ?Sized>(
    report: &Report<'a>,
    places: &mut Places<'a>,
    out: &mut W,
) -> io::Result<()> {
    let document = Document {
        version: VERSION,
        findings: report.findings.iter().map(|it| finding(it, places)).collect(),
        problems: report.problems.iter().map(|it| problem(it, places)).collect(),
        stats: report.stats.iter().copied().collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn finding<'a>(triaged: &'a Triaged, places: &mut Places<'a>) -> JsonFinding<'a> {
    let finding = &triaged.finding;
    JsonFinding {
        rule: &finding.rule.0,
        severity: severity_word(finding.severity),
        confidence: match finding.confidence {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        },
        message: &finding.message,
        why: &finding.why,
        help: &finding.help,
        place: place(finding.primary, places),
        fingerprint: &triaged.fingerprint,
        steps: finding.steps.iter().map(|it| step(it, places)).collect(),
    }
}

fn step<'a>(step: &'a Step, places: &mut Places<'a>) -> JsonStep<'a> {
    JsonStep { role: step.role.word(), message: &step.message, place: place(step.span, places) }
}

fn place<'a>(span: Span, places: &mut Places<'a>) -> Place<'a> {
    let LineColumn { line, column } = places.start(span);
    let LineColumn { line: end_line, column: end_column } = places.end(span);
    Place { path: places.path(span.source), line, column, end_line, end_column }
}

fn problem<'a>(problem: &'a Problem, places: &mut Places<'a>) -> JsonProblem<'a> {
    let start = problem.span.map(|it| places.start(it));
    JsonProblem {
        kind: problem_word(problem.kind),
        path: &problem.path,
        line: start.map(|it| it.line),
        column: start.map(|it| it.column),
        message: &problem.message,
    }
}
