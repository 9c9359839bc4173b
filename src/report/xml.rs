//! The result as XML, for readers of test and style reports: Checkstyle and JUnit.

use super::{Places, Report, plain, plain_line, severity_word};
use crate::base::SourceId;
use crate::finding::{Finding, Severity};
use crate::triage::Triaged;
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;
use std::io::{self, Write};

/// The version of Checkstyle whose form this is.
const CHECKSTYLE: &str = "4.3";

pub(super) fn write_checkstyle<W: Write + ?Sized>(
    report: &Report<'_>,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    let mut writer = begin(&mut *out)?;
    let root = writer.create_element("checkstyle").with_attribute(("version", CHECKSTYLE));
    root.write_inner_content(|writer| {
        for findings in by_file(report.findings) {
            let path = line(places.path(findings[0].finding.primary.source));
            let file = writer.create_element("file").with_attribute(("name", &*path));
            file.write_inner_content(|writer| {
                findings.iter().try_for_each(|it| checkstyle_error(&it.finding, places, writer))
            })?;
        }
        Ok(())
    })?;
    writeln!(out)
}

fn checkstyle_error<W: Write>(
    finding: &Finding,
    places: &mut Places<'_>,
    writer: &mut Writer<W>,
) -> io::Result<()> {
    let at = places.start(finding.primary);
    let severity = match finding.severity {
        Severity::Note => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    writer
        .create_element("error")
        .with_attribute(("line", &*at.line.to_string()))
        .with_attribute(("column", &*at.column.to_string()))
        .with_attribute(("severity", severity))
        .with_attribute(("message", &*line(&finding.message)))
        .with_attribute(("source", &*format!("rowrace.{}", finding.rule)))
        .write_empty()?;
    Ok(())
}

pub(super) fn write_junit<W: Write + ?Sized>(
    report: &Report<'_>,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    let (tests, failures) = (report.findings.len(), number_of_failures(report.findings));
    let mut writer = begin(&mut *out)?;
    let root = writer
        .create_element("testsuites")
        .with_attribute(("name", "rowrace"))
        .with_attribute(("tests", &*tests.max(1).to_string()))
        .with_attribute(("failures", &*failures.to_string()));
    root.write_inner_content(|writer| {
        if report.findings.is_empty() {
            // A report without tests reads as a run that did not happen.
            let case = |writer: &mut Writer<_>| {
                let case = writer.create_element("testcase").with_attribute(("name", "rowrace"));
                case.write_empty().map(|_| ())
            };
            return suite("rowrace", (1, 0, 0), writer, case);
        }
        for findings in by_file(report.findings) {
            let path = line(places.path(findings[0].finding.primary.source));
            let failures = number_of_failures(findings);
            let counts = (findings.len(), failures, findings.len() - failures);
            suite(&path, counts, writer, |writer| {
                findings.iter().try_for_each(|it| junit_case(&it.finding, &path, places, writer))
            })?;
        }
        Ok(())
    })?;
    writeln!(out)
}

/// A suite with the numbers of its tests, failures and skipped tests.
fn suite<W: Write>(
    name: &str,
    (tests, failures, skipped): (usize, usize, usize),
    writer: &mut Writer<W>,
    cases: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
) -> io::Result<()> {
    let suite = writer
        .create_element("testsuite")
        .with_attribute(("name", name))
        .with_attribute(("tests", &*tests.to_string()))
        .with_attribute(("failures", &*failures.to_string()))
        .with_attribute(("errors", "0"))
        .with_attribute(("skipped", &*skipped.to_string()));
    suite.write_inner_content(cases)?;
    Ok(())
}

/// A note fails nothing: it is a test that was left out.
fn junit_case<W: Write>(
    finding: &Finding,
    path: &str,
    places: &mut Places<'_>,
    writer: &mut Writer<W>,
) -> io::Result<()> {
    let at = places.start(finding.primary);
    let name = format!("{} at {}:{}", finding.rule, at.line, at.column);
    let is_note = finding.severity == Severity::Note;
    let text = text(finding, path, places);
    let case = writer
        .create_element("testcase")
        .with_attribute(("name", &*name))
        .with_attribute(("classname", path));
    case.write_inner_content(|writer| {
        writer
            .create_element(if is_note { "skipped" } else { "failure" })
            .with_attribute(("type", severity_word(finding.severity)))
            .with_attribute(("message", &*line(&finding.message)))
            .write_text_content(BytesText::new(&text))?;
        Ok(())
    })?;
    Ok(())
}

/// What a reader of the log needs: place, reason, remedy, steps.
fn text(finding: &Finding, path: &str, places: &mut Places<'_>) -> String {
    let at = places.start(finding.primary);
    let mut lines = vec![format!("{path}:{}:{}", at.line, at.column)];
    for part in [&finding.why, &finding.help] {
        lines.extend((!part.trim().is_empty()).then(|| valid(&plain(part.trim()))));
    }
    for (idx, step) in finding.steps.iter().enumerate() {
        let path = line(places.path(step.span.source));
        let at = places.start(step.span).line;
        lines.push(format!("{}. {path}:{at} {}", idx + 1, line(&step.message)));
    }
    lines.join("\n")
}

fn begin<W: Write>(out: W) -> io::Result<Writer<W>> {
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    Ok(writer)
}

/// The findings of each file; they are sorted by path.
fn by_file(findings: &[Triaged]) -> impl Iterator<Item = &[Triaged]> {
    let source = |it: &Triaged| -> SourceId { it.finding.primary.source };
    findings.chunk_by(move |a, b| source(a) == source(b))
}

fn number_of_failures(findings: &[Triaged]) -> usize {
    findings.iter().filter(|it| it.finding.severity > Severity::Note).count()
}

/// `text` on one line, of characters that XML can hold.
fn line(text: &str) -> String {
    valid(&plain_line(text))
}

fn valid(text: &str) -> String {
    text.replace(['\u{FFFE}', '\u{FFFF}'], "\u{FFFD}")
}
