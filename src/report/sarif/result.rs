//! One finding as a SARIF result: its place, the steps as related locations and as a code flow, the
//! schedule as a second flow with a thread for each worker.

use super::super::schedule::state_words;
use super::super::uri::{is_absolute, reference};
use super::super::{Places, confidence_word, plain, plain_line, severity_word};
use crate::base::Span;
use crate::finding::{Edit, Finding, Moment, Schedule, ScheduleKind, Step, Worker};
use crate::triage::{Suppressed, SuppressedBy, Triaged};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What all results share.
pub(super) struct Results<'p, 'a> {
    pub(super) places: &'p mut Places<'a>,
    pub(super) rule_index: BTreeMap<&'p str, usize>,
    /// Some results are suppressed: then all of them say whether they are.
    pub(super) suppresses: bool,
}

impl Results<'_, '_> {
    /// A finding that is shown.
    pub(super) fn open(&mut self, triaged: &Triaged) -> Value {
        let mut out = self.result(triaged);
        if self.suppresses {
            out["suppressions"] = json!([]);
        }
        out
    }

    /// A finding that somebody answered for.
    pub(super) fn suppressed(&mut self, suppressed: &Suppressed) -> Value {
        let mut out = self.result(&suppressed.triaged);
        let kind = match suppressed.by {
            SuppressedBy::Comment => "inSource",
            SuppressedBy::Baseline => "external",
        };
        let mut suppression = json!({ "kind": kind, "status": "accepted" });
        if !suppressed.reason.is_empty() {
            suppression["justification"] = json!(plain(&suppressed.reason));
        }
        out["suppressions"] = json!([suppression]);
        out
    }

    fn result(&mut self, triaged: &Triaged) -> Value {
        let finding = &triaged.finding;
        let places = &mut *self.places;
        let mut location = location(finding.primary, places);
        if !finding.symbol.is_empty() {
            let symbol = plain_line(&finding.symbol);
            location["logicalLocations"] =
                json!([{ "fullyQualifiedName": symbol, "kind": "function" }]);
        }
        let mut out = json!({ "ruleId": &*finding.rule.0 });
        if let Some(idx) = self.rule_index.get(&*finding.rule.0) {
            out["ruleIndex"] = json!(idx);
        }
        out["level"] = json!(severity_word(finding.severity));
        out["message"] = json!({ "text": text(finding) });
        out["locations"] = json!([location]);
        if !finding.steps.is_empty() {
            out["relatedLocations"] = related(&finding.steps, places);
            out["codeFlows"] = flows(finding, places);
        }
        if !finding.edits.is_empty() {
            out["fixes"] = json!([fix(finding, places)]);
        }
        out["partialFingerprints"] = json!({
            "primaryLocationLineHash": format!("{}:1", triaged.fingerprint),
            "rowrace/v1": triaged.fingerprint,
        });
        out["properties"] = json!({
            "confidence": confidence_word(finding.confidence),
            "table": finding.table,
            "column": finding.column,
        });
        out
    }
}

/// Headline, reason and remedy.
fn text(finding: &Finding) -> String {
    let mut out = plain_line(&finding.message).into_owned();
    for part in [&finding.why, &finding.help] {
        if !part.trim().is_empty() {
            out.push_str("\n\n");
            out.push_str(plain(part.trim()).as_ref());
        }
    }
    out
}

fn related(steps: &[Step], places: &mut Places<'_>) -> Value {
    let mut out = Vec::with_capacity(steps.len());
    for (idx, step) in steps.iter().enumerate() {
        let mut location = location(step.span, places);
        location["id"] = json!(idx + 1);
        location["message"] = json!({ "text": plain_line(&step.message) });
        out.push(location);
    }
    Value::Array(out)
}

/// The steps as one thread, then the race with a thread for each worker.
fn flows(finding: &Finding, places: &mut Places<'_>) -> Value {
    let mut steps = Vec::with_capacity(finding.steps.len());
    for (idx, step) in finding.steps.iter().enumerate() {
        let mut location = location(step.span, places);
        location["message"] = json!({ "text": plain_line(&step.message) });
        steps.push(json!({
            "executionOrder": idx + 1,
            "kinds": [step.role.word()],
            "location": location,
        }));
    }
    let mut out = vec![json!({ "threadFlows": [{ "locations": steps }] })];
    let race = finding.schedule.as_ref().filter(|it| it.kind == ScheduleKind::Race);
    out.extend(race.map(|it| race_flow(finding, it, places)));
    Value::Array(out)
}

fn race_flow(finding: &Finding, schedule: &Schedule, places: &mut Places<'_>) -> Value {
    let mut threads = Vec::new();
    for worker in [Worker::A, Worker::B] {
        let mut steps = Vec::new();
        let own = schedule.moments.iter().enumerate().filter(|it| it.1.worker == worker);
        for (idx, moment) in own {
            steps.push(thread_step(finding, idx, moment, places));
        }
        if !steps.is_empty() {
            let id = format!("worker {}", worker.word());
            threads.push(json!({ "id": id, "locations": steps }));
        }
    }
    json!({ "message": { "text": plain_line(&schedule.end) }, "threadFlows": threads })
}

fn thread_step(finding: &Finding, idx: usize, moment: &Moment, places: &mut Places<'_>) -> Value {
    let state = state_words(&moment.row);
    let effect = moment.effect.words();
    let said = [moment.role.word(), &state, &effect];
    let said: Vec<&str> = said.into_iter().filter(|it| !it.is_empty()).collect();
    let mut location = location(moment.span, places);
    location["message"] = json!({ "text": said.join(", ") });
    let mut out = json!({
        "executionOrder": idx + 1,
        "kinds": [moment.role.word()],
        "location": location,
    });
    if !state.is_empty() && !finding.column.is_empty() {
        out["state"] = json!({ (finding.column.as_str()): { "text": state } });
    }
    out
}

fn fix(finding: &Finding, places: &mut Places<'_>) -> Value {
    let mut by_source: BTreeMap<_, Vec<&Edit>> = BTreeMap::new();
    for edit in &finding.edits {
        by_source.entry(edit.span.source).or_default().push(edit);
    }
    let mut changes = Vec::new();
    for (source, edits) in by_source {
        let mut replacements = Vec::new();
        for edit in edits {
            replacements.push(json!({
                "deletedRegion": region(edit.span, places),
                "insertedContent": { "text": edit.replacement },
            }));
        }
        let artifact = artifact(places.path(source));
        changes.push(json!({ "artifactLocation": artifact, "replacements": replacements }));
    }
    json!({
        "description": { "text": plain_line(&finding.help) },
        "artifactChanges": changes,
    })
}

fn location(span: Span, places: &mut Places<'_>) -> Value {
    let artifact = artifact(places.path(span.source));
    json!({
        "physicalLocation": { "artifactLocation": artifact, "region": region(span, places) },
    })
}

/// A file: below the source root, or anywhere.
pub(super) fn artifact(path: &str) -> Value {
    if is_absolute(path) {
        json!({ "uri": reference(path) })
    } else {
        json!({ "uri": reference(path), "uriBaseId": "%SRCROOT%" })
    }
}

pub(super) fn region(span: Span, places: &mut Places<'_>) -> Value {
    let (start, end) = (places.start(span), places.end(span));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}
