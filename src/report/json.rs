//! The result as one JSON object. The structs here are the format: it does not move when others do.

use super::concise::problem_word;
use super::schedule::state_words;
use super::statement::statement;
use super::{Places, Report, confidence_word, severity_word};
use crate::base::{LineColumn, Problem, Span};
use crate::finding::{Moment, Schedule, ScheduleKind, Step};
use crate::triage::Triaged;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Raised when a field changes its meaning or goes away.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<JsonFinding<'a>>,
    problems: Vec<JsonProblem<'a>>,
    stats: BTreeMap<&'static str, usize>,
}

#[derive(Serialize)]
pub(super) struct JsonFinding<'a> {
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
    schedule: Option<JsonSchedule<'a>>,
}

#[derive(Serialize)]
pub(super) struct JsonSchedule<'a> {
    kind: &'static str,
    moments: Vec<JsonMoment<'a>>,
    end: &'a str,
}

#[derive(Serialize)]
struct JsonMoment<'a> {
    worker: &'static str,
    role: &'static str,
    statement: String,
    #[serde(flatten)]
    place: Place<'a>,
    state: Option<String>,
    rows: Option<u32>,
    effect: String,
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
pub(super) struct JsonProblem<'a> {
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

pub(super) fn finding<'a>(triaged: &'a Triaged, places: &mut Places<'a>) -> JsonFinding<'a> {
    let finding = &triaged.finding;
    JsonFinding {
        rule: &finding.rule.0,
        severity: severity_word(finding.severity),
        confidence: confidence_word(finding.confidence),
        message: &finding.message,
        why: &finding.why,
        help: &finding.help,
        place: place(finding.primary, places),
        fingerprint: &triaged.fingerprint,
        steps: finding.steps.iter().map(|it| step(it, places)).collect(),
        schedule: finding.schedule.as_ref().map(|it| schedule(it, places)),
    }
}

pub(super) fn schedule<'a>(schedule: &'a Schedule, places: &mut Places<'a>) -> JsonSchedule<'a> {
    JsonSchedule {
        kind: match schedule.kind {
            ScheduleKind::Race => "race",
            ScheduleKind::Timeline => "timeline",
        },
        moments: schedule.moments.iter().map(|it| moment(it, places)).collect(),
        end: &schedule.end,
    }
}

fn moment<'a>(moment: &Moment, places: &mut Places<'a>) -> JsonMoment<'a> {
    let state = state_words(&moment.row);
    JsonMoment {
        worker: moment.worker.word(),
        role: moment.role.word(),
        statement: statement(moment.span, places),
        place: place(moment.span, places),
        state: (!state.is_empty()).then_some(state),
        rows: moment.effect.rows(),
        effect: moment.effect.words(),
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

pub(super) fn problem<'a>(problem: &'a Problem, places: &mut Places<'a>) -> JsonProblem<'a> {
    let start = problem.span.map(|it| places.start(it));
    JsonProblem {
        kind: problem_word(problem.kind),
        path: &problem.path,
        line: start.map(|it| it.line),
        column: start.map(|it| it.column),
        message: &problem.message,
    }
}
