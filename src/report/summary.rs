//! The result as a page of Markdown: the summary of a job.

use super::markdown::{block, code, inline};
use super::schedule::draw;
use super::{Places, Report, count, plain_line, severity_word};
use crate::finding::Severity;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Rows of the table, and findings that are shown with their schedule.
const MAX_ROWS: usize = 200;
const MAX_SCHEDULES: usize = 20;

/// Writes the summary of a run.
pub fn write_summary(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut places = Places::new(report.sources);
    out.write_all(page(report, &mut places).as_bytes())
}

fn page(report: &Report<'_>, places: &mut Places<'_>) -> String {
    let files = count(report.sources.len(), "file");
    let mut out = String::from("## rowrace\n\n");
    if report.findings.is_empty() {
        let _ = writeln!(out, "No findings in {files}.");
    } else {
        let findings = count(report.findings.len(), "finding");
        let _ = writeln!(out, "{findings} in {files}.\n");
        table(report, places, &mut out);
        schedules(report, places, &mut out);
    }
    if !report.problems.is_empty() {
        let problems = count(report.problems.len(), "problem");
        let _ = writeln!(out, "\n{problems}: not everything was analysed.");
    }
    out
}

fn table(report: &Report<'_>, places: &mut Places<'_>, out: &mut String) {
    out.push_str("| | Rule | Place | What |\n|---|---|---|---|\n");
    for triaged in report.findings.iter().take(MAX_ROWS) {
        let finding = &triaged.finding;
        let path = plain_line(places.path(finding.primary.source)).into_owned();
        let place = code(&format!("{path}:{}", places.start(finding.primary).line));
        let (severity, rule) = (severity_word(finding.severity), inline(&finding.rule.0));
        let _ = writeln!(out, "| {severity} | {rule} | {place} | {} |", inline(&finding.message));
    }
    if let Some(more) = report.findings.len().checked_sub(MAX_ROWS).filter(|it| *it > 0) {
        let _ = writeln!(out, "\nAnd {more} more.");
    }
}

fn schedules(report: &Report<'_>, places: &mut Places<'_>, out: &mut String) {
    let mut left = MAX_SCHEDULES;
    for triaged in report.findings.iter().filter(|it| it.finding.severity > Severity::Note) {
        let finding = &triaged.finding;
        let Some(schedule) = &finding.schedule else { continue };
        if left == 0 {
            return;
        }
        left -= 1;
        let path = plain_line(places.path(finding.primary.source)).into_owned();
        let place = code(&format!("{path}:{}", places.start(finding.primary).line));
        let drawn = draw(finding, schedule, places).join("\n");
        let title = inline(&finding.message);
        let _ = write!(
            out,
            "\n<details><summary>{place} {title}</summary>\n\n{}\n</details>\n",
            block("text", &drawn)
        );
    }
}
