//! The result as SARIF 2.1.0, for code scanning: one run, its rules, results and notifications.
//!
//! Places are relative to `%SRCROOT%`, percent-encoded, with columns in characters. GitHub shows no more
//! than 5,000 results of a run: the heaviest ones are kept, and a notification counts the others.

mod result;

use super::markdown::rule_page;
use super::{Places, Report, RuleCard, plain, severity_word};
use crate::base::{Problem, ProblemKind};
use crate::finding::Severity;
use crate::triage::Triaged;
use result::Results;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Results that GitHub shows; it refuses a run with five times as many.
const MAX_RESULTS: usize = 5_000;

pub(super) fn write<'a, W: Write + ?Sized>(
    report: &Report<'a>,
    places: &mut Places<'a>,
    out: &mut W,
) -> io::Result<()> {
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run(report, places)] });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn run(report: &Report<'_>, places: &mut Places<'_>) -> Value {
    let kept = heaviest(report.findings);
    let left_out = report.findings.len() - kept.len();
    let room = MAX_RESULTS - kept.len();
    let suppressed = &report.suppressed[..report.suppressed.len().min(room)];
    let rule_index: BTreeMap<&str, usize> =
        report.rules.iter().enumerate().map(|(idx, it)| (it.id, idx)).collect();
    let mut results = Results { places, rule_index, suppresses: !suppressed.is_empty() };
    let mut shown: Vec<Value> = kept.into_iter().map(|it| results.open(it)).collect();
    shown.extend(suppressed.iter().map(|it| results.suppressed(it)));
    json!({
        "tool": { "driver": driver(report) },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            "%SRCROOT%": { "description": { "text": "The folder that rowrace ran in." } },
        },
        "invocations": [invocation(report, left_out, places)],
        "results": shown,
    })
}

/// At most as many findings as are shown: the heaviest, in the order of the report.
fn heaviest(findings: &[Triaged]) -> Vec<&Triaged> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    let weight = |idx: usize| (findings[idx].finding.severity, findings[idx].finding.confidence);
    order.sort_by_key(|&idx| Reverse(weight(idx)));
    order.truncate(MAX_RESULTS);
    order.sort_unstable();
    order.into_iter().map(|idx| &findings[idx]).collect()
}

fn driver(report: &Report<'_>) -> Value {
    json!({
        "name": "rowrace",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": report.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn rule(card: &RuleCard<'_>) -> Value {
    let strongest = card.severity.iter().flatten().max().copied();
    let why = if card.why.trim().is_empty() { card.title } else { card.why.trim() };
    let help = if card.help.trim().is_empty() { card.title } else { card.help.trim() };
    json!({
        "id": card.id,
        "name": pascal_case(card.id),
        "shortDescription": { "text": plain(card.title) },
        "fullDescription": { "text": plain(why) },
        "help": { "text": plain(help), "markdown": rule_page(card) },
        "defaultConfiguration": {
            "enabled": strongest.is_some(),
            "level": severity_word(strongest.unwrap_or(Severity::Note)),
        },
        "properties": {
            "tags": ["concurrency", "correctness"],
            "problem.severity": match strongest {
                Some(Severity::Error) => "error",
                Some(Severity::Warning) => "warning",
                Some(Severity::Note) | None => "recommendation",
            },
        },
    })
}

/// `loose-gate` as `LooseGate`.
fn pascal_case(id: &str) -> String {
    let mut out = String::new();
    for word in id.split('-') {
        let mut chars = word.chars();
        out.extend(chars.next().map(|it| it.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}

fn invocation(report: &Report<'_>, left_out: usize, places: &mut Places<'_>) -> Value {
    let mut notifications: Vec<Value> =
        report.problems.iter().map(|it| notification(it, places)).collect();
    if left_out > 0 {
        let text = format!("{left_out} more results are left out: {MAX_RESULTS} are shown");
        notifications.push(json!({ "level": "warning", "message": { "text": text } }));
    }
    json!({
        "executionSuccessful": !report.problems.iter().any(|it| it.kind == ProblemKind::Internal),
        "toolExecutionNotifications": notifications,
    })
}

fn notification(problem: &Problem, places: &mut Places<'_>) -> Value {
    let is_ours = problem.kind == ProblemKind::Internal;
    let mut physical = json!({ "artifactLocation": result::artifact(&problem.path) });
    if let Some(span) = problem.span {
        physical["region"] = result::region(span, places);
    }
    let mut out = json!({
        "level": if is_ours { "error" } else { "warning" },
        "message": { "text": plain(&problem.message) },
    });
    // A fault of ours may stand in no file.
    if !is_ours {
        out["locations"] = json!([{ "physicalLocation": physical }]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{SourceId, Span};
    use crate::finding::{Confidence, FindingBuilder, RuleId};

    #[test]
    fn of_too_many_results_the_heaviest_are_kept() {
        let finding = |idx: usize| {
            let severity = if idx.is_multiple_of(2) { Severity::Note } else { Severity::Error };
            let span = Span::new(SourceId(0), idx, idx + 1);
            let rule = RuleId("r".into());
            let finding = FindingBuilder::new(rule, severity, Confidence::Low, span).build();
            Triaged { finding, fingerprint: format!("{idx:016x}") }
        };
        let findings: Vec<Triaged> = (0..7_000).map(finding).collect();
        let report = Report { findings: &findings, ..Report::default() };
        let run = run(&report, &mut Places::new(&[]));
        let results = run["results"].as_array().expect("a list");
        assert_eq!(results.len(), MAX_RESULTS);
        assert_eq!(results.iter().filter(|it| it["level"] == "error").count(), 3_500);
        let told = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        assert_eq!(told, "2000 more results are left out: 5000 are shown");
    }
}
