//! Findings for people: a headline, the steps in the source, why it matters and what to do.

use super::excerpt::Excerpts;
use super::plain::{plain, plain_line};
use super::schedule::draw;
use super::{Places, Report};
use crate::base::Span;
use crate::finding::{Finding, Severity};
use codespan_reporting::diagnostic::{self, Diagnostic, LabelStyle};
use codespan_reporting::term::termcolor::WriteColor;
use codespan_reporting::{files, term};
use std::io;

/// What stands beside one place of the source.
pub(super) struct Mark {
    pub(super) span: Span,
    pub(super) style: LabelStyle,
    pub(super) message: String,
}

pub(super) fn write(
    report: &Report<'_>,
    places: &mut Places<'_>,
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    for triaged in report.findings {
        let finding = &triaged.finding;
        let marks = marks(finding);
        let mut notes = Vec::new();
        notes.extend(note("why", &finding.why));
        notes.extend(note("help", &finding.help));
        notes.extend(finding.schedule.iter().map(|it| draw(finding, it, places).join("\n")));
        let excerpts = Excerpts::of(&marks, places);
        let diagnostic = Diagnostic::new(severity(finding.severity))
            .with_code(plain_line(&finding.rule.0))
            .with_message(plain_line(&finding.message))
            .with_labels(excerpts.labels(&marks))
            .with_notes(notes);
        emit(&diagnostic, &excerpts, out)?;
    }
    Ok(())
}

/// Writes one diagnostic.
pub(super) fn emit(
    diagnostic: &Diagnostic<usize>,
    excerpts: &Excerpts,
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    let config = term::Config { after_label_lines: 0, ..term::Config::default() };
    term::emit_to_write_style(out, &config, excerpts, diagnostic).map_err(|error| match error {
        files::Error::Io(error) => error,
        other => io::Error::other(other),
    })
}

/// The primary place first, so that its file leads; then the numbered steps in order.
fn marks(finding: &Finding) -> Vec<Mark> {
    let mut marks: Vec<Mark> = finding
        .steps
        .iter()
        .enumerate()
        .map(|(idx, step)| {
            let is_primary = step.span == finding.primary;
            let style = if is_primary { LabelStyle::Primary } else { LabelStyle::Secondary };
            let message = format!("{}. {}", idx + 1, plain_line(&step.message));
            Mark { span: step.span, style, message }
        })
        .collect();
    match marks.iter().position(|it| it.style == LabelStyle::Primary) {
        Some(idx) => marks[..=idx].rotate_right(1),
        None => marks.insert(
            0,
            Mark { span: finding.primary, style: LabelStyle::Primary, message: String::new() },
        ),
    }
    marks
}

fn note(word: &str, text: &str) -> Option<String> {
    // The further lines of a note stand under its first word.
    let indent = format!("\n{}", " ".repeat(word.len() + 2));
    let text = text.trim_end();
    (!text.is_empty()).then(|| format!("{word}: {}", plain(text).replace('\n', &indent)))
}

fn severity(severity: Severity) -> diagnostic::Severity {
    match severity {
        Severity::Note => diagnostic::Severity::Note,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Error => diagnostic::Severity::Error,
    }
}
