//! The result as the parameters of `textDocument/publishDiagnostics`, one object a line for each file
//! with findings: for editors that run a command. Characters are counted in UTF-16 units.

use super::json::{JsonSchedule, schedule};
use super::uri::file;
use super::{Places, Report, plain, plain_line};
use crate::base::{SourceId, Span};
use crate::finding::{Edit, Finding, Severity, Step};
use crate::triage::Triaged;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct Published<'a> {
    uri: String,
    diagnostics: Vec<Diagnostic<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Diagnostic<'a> {
    range: Range,
    severity: u8,
    code: &'a str,
    source: &'static str,
    message: String,
    related_information: Vec<Related>,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Related {
    location: Location,
    message: String,
}

#[derive(Serialize)]
struct Location {
    uri: String,
    range: Range,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

/// Both from 0.
#[derive(Serialize)]
struct Position {
    line: usize,
    character: usize,
}

#[derive(Serialize)]
struct Data<'a> {
    fingerprint: &'a str,
    schedule: Option<JsonSchedule<'a>>,
    edits: Vec<TextEdit<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit<'a> {
    uri: String,
    range: Range,
    new_text: &'a str,
}

pub(super) fn write<'a, W: Write + ?Sized>(
    report: &Report<'a>,
    places: &mut Places<'a>,
    out: &mut W,
) -> io::Result<()> {
    let mut by_source: BTreeMap<SourceId, Vec<&Triaged>> = BTreeMap::new();
    for it in report.findings {
        by_source.entry(it.finding.primary.source).or_default().push(it);
    }
    for (source, findings) in by_source {
        let diagnostics = findings.into_iter().map(|it| diagnostic(it, report, places)).collect();
        let uri = file(report.root, places.path(source));
        serde_json::to_writer(&mut *out, &Published { uri, diagnostics })?;
        writeln!(out)?;
    }
    Ok(())
}

fn diagnostic<'a>(
    triaged: &'a Triaged,
    report: &Report<'a>,
    places: &mut Places<'a>,
) -> Diagnostic<'a> {
    let finding = &triaged.finding;
    let edits = finding.edits.iter().map(|it| text_edit(it, report, places)).collect();
    Diagnostic {
        range: range(finding.primary, places),
        severity: match finding.severity {
            Severity::Error => 1,
            Severity::Warning => 2,
            Severity::Note => 3,
        },
        code: &finding.rule.0,
        source: "rowrace",
        message: message(finding),
        related_information: finding.steps.iter().map(|it| related(it, report, places)).collect(),
        data: Data {
            fingerprint: &triaged.fingerprint,
            schedule: finding.schedule.as_ref().map(|it| schedule(it, places)),
            edits,
        },
    }
}

fn message(finding: &Finding) -> String {
    let parts =
        [plain_line(&finding.message), plain(finding.why.trim()), plain(finding.help.trim())];
    let parts: Vec<_> = parts.iter().filter(|it| !it.is_empty()).map(|it| &**it).collect();
    parts.join("\n")
}

fn related(step: &Step, report: &Report<'_>, places: &mut Places<'_>) -> Related {
    let uri = file(report.root, places.path(step.span.source));
    let location = Location { uri, range: range(step.span, places) };
    Related { location, message: plain_line(&step.message).into_owned() }
}

fn text_edit<'a>(edit: &'a Edit, report: &Report<'_>, places: &mut Places<'_>) -> TextEdit<'a> {
    TextEdit {
        uri: file(report.root, places.path(edit.span.source)),
        range: range(edit.span, places),
        new_text: &edit.replacement,
    }
}

fn range(span: Span, places: &mut Places<'_>) -> Range {
    Range { start: position(span, span.start, places), end: position(span, span.end, places) }
}

fn position(span: Span, offset: u32, places: &mut Places<'_>) -> Position {
    let text = places.text(span.source);
    let lines = places.lines(span.source);
    let line = lines.line_index(offset);
    let end = text.floor_char_boundary(offset as usize);
    let start = (lines.line_start(line) as usize).min(end);
    Position { line, character: text[start..end].encode_utf16().count() }
}
