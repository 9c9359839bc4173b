//! How does a finding look to an editor?

use super::position::{Encoding, LineTable};
use super::shift::Shift;
use super::workspace::Reports;
use crate::base::{SourceId, Span};
use crate::finding::{Edit, Finding, Severity};
use crate::triage::Triaged;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, Range, TextEdit, Url,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The findings of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FileReport {
    /// The editor's number of the text that was analysed, for open documents.
    pub(super) version: Option<i32>,
    /// The findings.
    pub(super) found: Vec<Shown>,
}

/// A finding as the editor sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// What is underlined and listed.
    pub(super) diagnostic: Diagnostic,
    /// The places of its steps.
    pub(super) steps: Vec<Location>,
    /// The witness as Markdown.
    pub(super) witness: String,
    /// What can be done about it in its file, at a key press.
    pub(super) remedies: Vec<Remedy>,
}

/// An edit of a file, and its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Remedy {
    pub(super) title: String,
    pub(super) edits: Vec<TextEdit>,
}

/// The text of a file that places of findings are looked up in.
#[derive(Debug)]
pub(super) struct Page {
    url: Option<Url>,
    text: String,
    lines: LineTable,
    shift: Shift,
    version: Option<i32>,
}

impl Page {
    /// The file at `path` that says `text` now, which `shift` made of what was analysed.
    pub(super) fn new(path: &Path, text: &str, shift: Shift, encoding: Encoding) -> Self {
        Self {
            url: Url::from_file_path(path).ok(),
            lines: LineTable::of(text, encoding),
            text: text.to_owned(),
            shift,
            version: None,
        }
    }

    pub(super) fn with_version(self, version: Option<i32>) -> Self {
        Self { version, ..self }
    }

    fn range(&self, span: Span) -> Range {
        let start = self.shift.offset(span.start as usize);
        let end = self.shift.offset(span.end as usize);
        self.lines.range(&self.text, start, end)
    }
}

/// Adds `found` to the report of its file. All files that it points into have a page.
/// `expect` is the comment that would answer for it.
pub(super) fn convert(
    found: &Triaged,
    expect: &[Edit],
    pages: &BTreeMap<SourceId, Page>,
    out: &mut Reports,
) {
    let finding = &found.finding;
    let Some(page) = pages.get(&finding.primary.source) else { return };
    let Some(url) = &page.url else { return };
    let steps: Vec<(Location, &str)> = finding
        .steps
        .iter()
        .filter_map(|step| {
            let page = pages.get(&step.span.source)?;
            Some((Location::new(page.url.clone()?, page.range(step.span)), &*step.message))
        })
        .collect();
    let diagnostic = Diagnostic {
        range: page.range(finding.primary),
        severity: Some(severity(finding.severity)),
        code: Some(NumberOrString::String(finding.rule.to_string())),
        code_description: None,
        source: Some("rowrace".to_owned()),
        message: message(finding),
        related_information: (!steps.is_empty()).then(|| related(&steps)),
        tags: (&*finding.rule.0 == "unused-expect").then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: Some(json!({ "rule": &*finding.rule.0, "fingerprint": found.fingerprint })),
    };
    let witness = witness(finding, &steps);
    let expecting = format!("Expect `{}` here, with a reason that you write", finding.rule);
    let remedies = [("Apply the edit".to_owned(), &*finding.edits), (expecting, expect)]
        .into_iter()
        .filter_map(|(title, edits)| remedy(title, edits, finding.primary.source, page))
        .collect();
    let steps = steps.into_iter().map(|it| it.0).collect();
    let report = out.entry(url.clone()).or_default();
    report.version = page.version;
    report.found.push(Shown { diagnostic, steps, witness, remedies });
}

/// The edits, when there are some and all are in one file.
fn remedy(title: String, edits: &[Edit], source: SourceId, page: &Page) -> Option<Remedy> {
    if edits.is_empty() || edits.iter().any(|it| it.span.source != source) {
        return None;
    }
    let edit = |it: &Edit| TextEdit::new(page.range(it.span), it.replacement.clone());
    Some(Remedy { title, edits: edits.iter().map(edit).collect() })
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    }
}

/// The headline, and below it what to do: editors show a diagnostic as plain text.
fn message(finding: &Finding) -> String {
    let mut out = finding.message.clone();
    for text in [&finding.why, &finding.help] {
        if !text.is_empty() {
            let _ = write!(out, "\n{text}");
        }
    }
    out
}

fn related(steps: &[(Location, &str)]) -> Vec<DiagnosticRelatedInformation> {
    let numbered = steps.iter().enumerate();
    numbered
        .map(|(idx, (location, message))| DiagnosticRelatedInformation {
            location: location.clone(),
            message: format!("{}. {message}", idx + 1),
        })
        .collect()
}

fn witness(finding: &Finding, steps: &[(Location, &str)]) -> String {
    let mut out = format!("**{}** `{}`\n\n", markdown(&finding.message), finding.rule);
    for (idx, (location, message)) in steps.iter().enumerate() {
        let name = location.uri.path_segments().and_then(|mut it| it.next_back()).unwrap_or("");
        let line = location.range.start.line + 1;
        let target = format!("{}#L{line}", location.uri);
        let _ = writeln!(out, "{}. [{name}:{line}]({target}) {}", idx + 1, markdown(message));
    }
    for text in [&finding.why, &finding.help] {
        if !text.is_empty() {
            let _ = write!(out, "\n{}\n", markdown(text));
        }
    }
    out
}

/// Text in which names stand in backquotes already; nothing else of Markdown may come through.
fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_code = false;
    for it in text.chars() {
        is_code ^= it == '`';
        if !is_code && matches!(it, '*' | '_' | '<' | '[' | ']' | '\\' | '#') {
            out.push('\\');
        }
        out.push(it);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn markdown_of_names_does_not_come_through() {
        assert_eq!(markdown("a_b <b> `c_d` [x](y)"), "a\\_b \\<b> `c_d` \\[x\\](y)");
    }
}
