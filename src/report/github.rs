//! The result as workflow commands of GitHub Actions, which become annotations at the lines of a change.
//!
//! A step shows ten annotations of each type: the heaviest findings become those, the others stay in
//! the log as plain lines. No text of the code can speak to the runner.

use super::{Places, Report, plain_line, severity_word};
use crate::finding::{Finding, Severity};
use crate::triage::Triaged;
use std::cmp::Reverse;
use std::io::{self, Write};

/// Annotations of one type that a step shows.
const MAX_OF_TYPE: usize = 10;

pub(super) fn write<W: Write + ?Sized>(
    report: &Report<'_>,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let mut found: Vec<&Triaged> =
            report.findings.iter().filter(|it| it.finding.severity == severity).collect();
        // Stable, so that the order of the report decides among equals.
        found.sort_by_key(|it| Reverse(it.finding.confidence));
        for (idx, triaged) in found.into_iter().enumerate() {
            if idx < MAX_OF_TYPE {
                annotation(&triaged.finding, places, out)?;
            } else {
                log_line(&triaged.finding, places, out)?;
            }
        }
    }
    Ok(())
}

fn annotation<W: Write + ?Sized>(
    finding: &Finding,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let (start, end) = (places.start(finding.primary), places.end(finding.primary));
    let path = plain_line(places.path(finding.primary.source));
    write!(out, "::{command} file={},line={}", property(&path), start.line)?;
    if start.line == end.line {
        write!(out, ",col={},endColumn={}", start.column, end.column)?;
    } else {
        // Columns are refused for more than one line.
        write!(out, ",endLine={}", end.line)?;
    }
    let title = format!("rowrace: {}", finding.rule);
    writeln!(out, ",title={}::{}", property(&title), data(&message(finding, places)))
}

/// Headline, reason, remedy, and where the steps are: an annotation stands alone.
fn message(finding: &Finding, places: &mut Places<'_>) -> String {
    let mut lines = vec![plain_line(&finding.message).into_owned()];
    lines.extend(
        [&finding.why, &finding.help]
            .into_iter()
            .filter(|it| !it.trim().is_empty())
            .map(|it| plain_line(it.trim()).into_owned()),
    );
    for (idx, step) in finding.steps.iter().enumerate() {
        let path = plain_line(places.path(step.span.source)).into_owned();
        let line = places.start(step.span).line;
        lines.push(format!("{}. {path}:{line} {}", idx + 1, plain_line(&step.message)));
    }
    lines.join("\n")
}

/// A finding that gets no annotation. The indent and the split marks keep the runner from reading a
/// command in it.
fn log_line<W: Write + ?Sized>(
    finding: &Finding,
    places: &mut Places<'_>,
    out: &mut W,
) -> io::Result<()> {
    let at = places.start(finding.primary);
    let path = plain_line(places.path(finding.primary.source));
    let (severity, rule) = (severity_word(finding.severity), &finding.rule);
    let text = plain_line(&finding.message);
    let line = format!("{path}:{}:{}: {severity}[{rule}] {text}", at.line, at.column);
    writeln!(out, "- {}", line.replace("##[", "## [").replace("::", ": :"))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, Source, SourceId, Span};
    use crate::finding::{Confidence, FindingBuilder, RuleId};

    fn written(path: &str, count: usize) -> String {
        let id = SourceId(0);
        let text = "save(\n);".repeat(count);
        let (language, path) = (Language::Php, path.to_owned());
        let sources = [Source { id, path, language, text, exempt: false }];
        let finding = |idx: usize| {
            let confidence = if idx == 11 { Confidence::High } else { Confidence::Low };
            let span = Span::new(id, idx * 8, idx * 8 + 4 + 4 * (idx % 2));
            FindingBuilder::new(RuleId("r".into()), Severity::Error, confidence, span)
                .text(format!("100% {idx}\n::error::x"), String::new(), "do, it:".to_owned())
                .build()
        };
        let triaged = |idx| Triaged { finding: finding(idx), fingerprint: String::new() };
        let findings: Vec<Triaged> = (0..count).map(triaged).collect();
        let report = Report { sources: &sources, findings: &findings, ..Report::default() };
        let mut out = Vec::new();
        write(&report, &mut Places::new(&sources), &mut out).expect("written to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn properties_and_data_are_escaped() {
        assert_eq!(
            written("a,b:c%.php", 1),
            "::error file=a%2Cb%3Ac%25.php,line=1,col=1,endColumn=5,title=rowrace%3A r\
             ::100%25 0 ::error::x%0Ado, it:\n"
        );
    }

    #[test]
    fn the_heaviest_ten_are_annotations_and_no_other_line_is_a_command() {
        let out = written("::set-env ##[x].php", 13);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 13);
        assert!(lines[0].contains("100%25 11 "), "{out}");
        assert!(lines[0].contains(",endLine=13,"), "{out}");
        assert!(lines[..10].iter().all(|it| it.starts_with("::error file=")), "{out}");
        for line in &lines[10..] {
            assert!(!line.contains("::") && !line.contains("##["), "{line}");
        }
    }
}
