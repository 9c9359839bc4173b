//! How is a result shown? One file per format; lines and columns exist only here.

mod complaint;
mod concise;
mod coverage;
mod excerpt;
mod github;
mod gitlab;
mod json;
mod jsonl;
mod lsp;
mod markdown;
mod places;
mod plain;
mod rule_docs;
mod rules;
mod sarif;
mod schedule;
mod statement;
mod statistics;
mod summary;
mod text;
mod uri;
mod xml;

use crate::base::{Problem, Source};
use crate::finding::{Confidence, Severity};
use crate::triage::{Suppressed, Triaged};
pub use codespan_reporting::term::termcolor::WriteColor;
use codespan_reporting::term::termcolor::{Ansi, NoColor};
pub use complaint::{Complaint, write_complaints};
pub use coverage::{CoverageReport, write_coverage, write_coverage_json, write_shares};
use places::Places;
pub use plain::plain;
use plain::plain_line;
pub use rule_docs::{write_rules_json, write_rules_markdown};
pub use rules::{RuleCard, write_card, write_rule_list};
pub use statistics::{write_statistics, write_statistics_json};
use std::io::{self, Write};
pub use summary::write_summary;

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With source excerpts, for people.
    Text,
    /// One line each.
    Concise,
    /// One object, for programs.
    Json,
    /// One object a line.
    Jsonl,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// Checkstyle's XML.
    Checkstyle,
    /// JUnit's XML.
    Junit,
    /// Parameters of the language server protocol.
    Lsp,
}

/// Everything that a format may show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report<'a> {
    /// The sources that spans point into.
    pub sources: &'a [Source],
    /// The findings to show, in order.
    pub findings: &'a [Triaged],
    /// What was not analysed.
    pub problems: &'a [Problem],
    /// Names and sizes of what was analysed.
    pub stats: &'a [(&'static str, usize)],
    /// Findings that somebody answered for.
    pub suppressed: &'a [Suppressed],
    /// The rules that could fire, sorted by id.
    pub rules: &'a [RuleCard<'a>],
    /// The folder that paths are relative to, as an absolute path with `/`.
    pub root: &'a str,
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
        Format::Jsonl => jsonl::write(report, &mut places, out),
        Format::Sarif => sarif::write(report, &mut places, out),
        Format::Github => github::write(report, &mut places, out),
        Format::Gitlab => gitlab::write(report, &mut places, out),
        Format::Checkstyle => xml::write_checkstyle(report, &mut places, out),
        Format::Junit => xml::write_junit(report, &mut places, out),
        Format::Lsp => lsp::write(report, &mut places, out),
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

fn confidence_word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
