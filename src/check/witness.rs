//! The steps that a reader can follow, and the words that the texts are filled with.

use super::column::state_word;
use super::judge::Case;
use crate::analysis::Value;
use crate::analysis::fact::{CheckFact, CheckKind, HeldKind, LoadFact, WriteFact, WriteKind};
use crate::base::Span;
use crate::finding::StepRole;
use crate::model::Yield;
use crate::rule::{FaultKind, Placeholder, Values};

/// The checks that a reader is shown: the two best.
pub(super) fn shown_checks<'a>(case: &'a Case<'_>) -> impl Iterator<Item = &'a CheckFact> {
    case.checks.iter().map(|it| it.1).take(2)
}

/// The read that the checked, else the written copy comes from.
pub(super) fn load_of<'a>(case: &'a Case<'_>) -> Option<&'a LoadFact> {
    let write = case.write;
    let row = shown_checks(case).next().map(|it| &it.row).or(write.row.as_ref());
    write.loads.iter().find(|it| Some(&it.row) == row).or(write.loads.first()).map(|it| &**it)
}

/// Loaded, checked, changed, written: in order of time.
pub(super) fn steps(case: &Case<'_>, kind: FaultKind) -> Vec<(StepRole, Span, String)> {
    let write = case.write;
    let mut out = Vec::new();
    let checks: Vec<_> = shown_checks(case).collect();
    if let Some(load) = load_of(case) {
        let filtered = checks.iter().any(|it| it.kind == CheckKind::Filter && it.span == load.span);
        let words =
            if filtered { "loaded here, while its state is as wanted" } else { "loaded here" };
        out.push((StepRole::Load, load.span, words.to_owned()));
    }
    for check in checks.iter().filter(|it| it.kind != CheckKind::Filter) {
        let words = match &check.passes {
            Ok(them) if !them.is_empty() => format!("goes on only for {}", list(them)),
            Err(them) if !them.is_empty() => format!("goes on unless it is {}", list(them)),
            _ => "checked here, on a copy".to_owned(),
        };
        out.push((StepRole::Check, check.span, words));
    }
    for claim in &write.claims {
        out.push((StepRole::Claim, claim.span, "claimed here".to_owned()));
    }
    for change in write.changes.iter().filter(|it| it.column == case.target.column) {
        let to = state_word(&change.value);
        let words = if to.is_empty() {
            format!("`{}` is changed in memory", change.column)
        } else {
            format!("`{}` becomes `{to}` in memory", change.column)
        };
        out.push((StepRole::Change, change.span, words));
    }
    let words = match write.kind {
        WriteKind::Row => "written back by its key alone",
        WriteKind::Statement => "written here",
    };
    out.push((StepRole::Write, write.primary, words.to_owned()));
    if let Some(sql) = write.sql {
        out.push((StepRole::Sql, sql, "by this statement".to_owned()));
    }
    for call in write.trace.iter().rev().filter(|it| **it != write.primary) {
        out.push((StepRole::Call, *call, "reached through this call".to_owned()));
    }
    if wants_twin(kind)
        && let Some((span, words)) = case.index.twins.of(case.input, write, &case.target)
    {
        out.push((StepRole::Twin, span, words.to_owned()));
    }
    out
}

/// Whether the fault is one that a guarded twin answers.
fn wants_twin(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::UnguardedTransition
            | FaultKind::UnguardedStatement
            | FaultKind::IgnoredClaim
            | FaultKind::StaleCheck
            | FaultKind::LockWithoutTransaction
    )
}

fn list(values: &[Value]) -> String {
    let words: Vec<String> = values
        .iter()
        .map(state_word)
        .map(|it| if it.is_empty() { "one state".to_owned() } else { format!("`{it}`") })
        .collect();
    words.join(", ")
}

/// What the templates can speak of.
pub(super) fn values(case: &Case<'_>) -> Values {
    let write = case.write;
    let column = case.target.column.to_string();
    let from = old_state(case);
    let mut out = Values::default()
        .with(Placeholder::Column, column.clone())
        .with(Placeholder::To, state_word(&case.target.value));
    if let Some(table) = write.table.word() {
        out = out.with(Placeholder::Table, table).with(Placeholder::Subject, format!("`{table}`"));
    }
    if let Some(from) = &from {
        out = out.with(Placeholder::From, from.clone());
        out = out.with(Placeholder::Guard, guard_text(&column, from));
    }
    if let Some(api) = api(write.gives) {
        out = out.with(Placeholder::Api, api);
    }
    if let Some(note) = engine_note(write) {
        out = out.with(Placeholder::EngineNote, note);
    }
    out
}

/// What would be different on another engine, where none is known.
fn engine_note(write: &WriteFact) -> Option<&'static str> {
    if write.engine.is_some() {
        return None;
    }
    let in_source = write.statement.as_ref().is_some_and(|(stmt, _)| stmt.source.is_some());
    let in_transaction = write.context.held.iter().any(|it| it.kind == HeldKind::Transaction);
    if in_source {
        Some(
            "Judged as on PostgreSQL: SQLite and MySQL look at the sub-select as they write, and one wins.",
        )
    } else if in_transaction {
        Some("Judged as on PostgreSQL: on SQLite the transaction makes the second one fail.")
    } else {
        None
    }
}

/// The state that the checks let through, when it is one.
fn old_state(case: &Case<'_>) -> Option<String> {
    case.checks.iter().find_map(|(_, check)| match &check.passes {
        Ok(them) if them.len() == 1 => {
            let word = state_word(&them[0]);
            (!word.is_empty()).then_some(word)
        }
        _ => None,
    })
}

/// The test of one or several old states, ready to be copied.
pub(super) fn guard_of(column: &str, from: &[String]) -> String {
    match from {
        [one] => guard_text(column, one),
        several => {
            let list: Vec<String> = several.iter().map(|it| format!("'{it}'")).collect();
            format!("AND {} IN ({})", crate::base::snake_case(column), list.join(", "))
        }
    }
}

fn guard_text(column: &str, from: &str) -> String {
    let column = crate::base::snake_case(column);
    if from == "null" {
        return format!("AND {column} IS NULL");
    }
    if from.parse::<i64>().is_ok() || from == "true" || from == "false" {
        return format!("AND {column} = {from}");
    }
    let from = crate::base::snake_case(crate::base::last_segment(from));
    format!("AND {column} = '{from}'")
}

fn api(gives: Yield) -> Option<&'static str> {
    match gives {
        Yield::Rows | Yield::Won => Some("the number that the call returns"),
        _ => None,
    }
}
