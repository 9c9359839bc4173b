//! Findings and problems as one line each: `path:line:column: severity[rule] headline`.

use super::plain::plain_line;
use super::{Places, Report, severity_word};
use crate::base::{Problem, ProblemKind};
use std::io::{self, Write};

pub(super) fn write<W: Write + ?Sized>(
    report: &Report<'_>,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    for triaged in report.findings {
        let finding = &triaged.finding;
        let at = places.start(finding.primary);
        writeln!(
            out,
            "{}:{}:{}: {}[{}] {}",
            plain_line(places.path(finding.primary.source)),
            at.line,
            at.column,
            severity_word(finding.severity),
            finding.rule,
            plain_line(&finding.message),
        )?;
    }
    Ok(())
}

pub(super) fn write_problem<W: Write + ?Sized>(
    problem: &Problem,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    write!(out, "{}:", plain_line(&problem.path))?;
    if let Some(span) = problem.span {
        let at = places.start(span);
        write!(out, "{}:{}:", at.line, at.column)?;
    }
    writeln!(out, " {}: {}", problem_word(problem.kind), plain_line(&problem.message))
}

/// The word for a kind of problem in every format.
pub(super) fn problem_word(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Unreadable => "unreadable",
        ProblemKind::Syntax => "syntax",
        ProblemKind::Limit => "limit",
        ProblemKind::Internal => "internal",
    }
}
