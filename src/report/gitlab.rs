//! The result as GitLab's code quality report: one array, one entry for each finding.

use super::{Places, Report, plain, plain_line};
use crate::finding::Severity;
use crate::triage::Triaged;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Entry<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'static str,
    location: Location<'a>,
    content: Content,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Range,
}

#[derive(Serialize)]
struct Range {
    begin: u32,
    end: u32,
}

#[derive(Serialize)]
struct Content {
    body: String,
}

pub(super) fn write<'a, W: Write + ?Sized>(
    report: &Report<'a>,
    places: &mut Places<'a>,
    out: &mut W,
) -> io::Result<()> {
    let entries: Vec<Entry<'_>> = report.findings.iter().map(|it| entry(it, places)).collect();
    serde_json::to_writer_pretty(&mut *out, &entries)?;
    writeln!(out)
}

fn entry<'a>(triaged: &'a Triaged, places: &mut Places<'a>) -> Entry<'a> {
    let finding = &triaged.finding;
    let (start, end) = (places.start(finding.primary), places.end(finding.primary));
    Entry {
        description: plain_line(&finding.message).into_owned(),
        check_name: &finding.rule.0,
        fingerprint: &triaged.fingerprint,
        severity: match finding.severity {
            Severity::Note => "info",
            Severity::Warning => "major",
            Severity::Error => "critical",
        },
        location: Location {
            path: places.path(finding.primary.source),
            lines: Range { begin: start.line, end: end.line },
        },
        content: Content {
            body: plain(&format!("{}\n\n{}", finding.why, finding.help)).into_owned(),
        },
    }
}
