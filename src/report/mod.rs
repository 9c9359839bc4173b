//! How is a result shown? One file per format; lines and columns exist only here.

mod complaint;
mod concise;
mod coverage;
mod excerpt;
mod json;
mod places;
mod plain;
mod rules;
mod text;

use crate::base::{Problem, Source};
use crate::finding::Severity;
use crate::triage::Triaged;
pub use codespan_reporting::term::termcolor::WriteColor;
use codespan_reporting::term::termcolor::{Ansi, NoColor};
pub use complaint::{Complaint, write_complaints};
pub use coverage::{CoverageReport, write_coverage, write_coverage_json, write_shares};
use places::Places;
pub use plain::plain;
pub use rules::{RuleCard, write_card, write_rule_list};
use std::io::{self, Write};

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With source excerpts, for people.
    Text,
    /// One line each.
    Concise,
    /// One object, for programs.
    Json,
}

/// Everything that a format may show.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The sources that spans point into.
    pub sources: &'a [Source],
    /// The findings to show, in order.
    pub findings: &'a [Triaged],
    /// What was not analysed.
    pub problems: &'a [Problem],
    /// Names and sizes of what was analysed.
    pub stats: &'a [(&'static str, usize)],
}

/// Writes `report` in `format`.
pub fn write_report(
    report: &Report<'_>,
    format: Format,
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    let mut places = Places::new(report.sources);
    match format {
        Format::Text => text::write(report, &mut places, out),
        Format::Concise => concise::write(report, &mut places, out),
        Format::Json => json::write(report, &mut places, out),
    }
}

/// Writes one line per problem, at most `limit` of them.
pub fn write_problems(report: &Report<'_>, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut places = Places::new(report.sources);
    for problem in report.problems.iter().take(limit) {
        concise::write_problem(problem, &mut places, out)?;
    }
    if let Some(more) = report.problems.len().checked_sub(limit).filter(|&it| it > 0) {
        writeln!(out, "and {} more; `--format json` has them all", count(more, "problem"))?;
    }
    Ok(())
}

/// A writer that colours, or does not.
pub fn colored<'w>(out: impl Write + 'w, color: bool) -> Box<dyn WriteColor + 'w> {
    if color { Box::new(Ansi::new(out)) } else { Box::new(NoColor::new(out)) }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
