//! Which column of a write is a state, and what it is set to.

use super::Input;
use super::guard::same_state;
use crate::analysis::Value;
use crate::analysis::fact::{CheckFact, CheckKind, WriteFact, WriteKind};
use crate::base::{Name, snake_case};
use crate::ir::{Assign, SqlExpr};
use crate::model::ColumnClass;

/// A column that a write sets.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) column: Name,
    pub(super) class: ColumnClass,
    /// The new value, when known.
    pub(super) value: Value,
    /// A change relative to the old value.
    pub(super) relative: bool,
    /// Set to the current time.
    pub(super) now: bool,
}

/// Everything that a write sets, states first.
pub(super) fn targets(input: &Input<'_>, write: &WriteFact) -> Vec<Target> {
    let table = write.table.word().unwrap_or_default().to_owned();
    let mut out: Vec<Target> = Vec::new();
    for change in &write.changes {
        let class = input.columns.classify(&table, &change.column);
        out.push(Target {
            column: change.column.clone(),
            class,
            value: change.value.clone(),
            relative: false,
            now: false,
        });
    }
    if write.kind == WriteKind::Statement || write.changes.is_empty() {
        let all = sets(write).into_iter().map(|it| statement_target(input, write, &table, it));
        out.extend(all.filter(|it| !is_copy(write, it)));
    }
    out.sort_by_key(|it| match it.class {
        ColumnClass::Strong => 0,
        ColumnClass::Claim => 1,
        ColumnClass::Done => 2,
        ColumnClass::Counter => 3,
        ColumnClass::Weak => 4,
        ColumnClass::Plain => 5,
        ColumnClass::Version | ColumnClass::Never => 6,
    });
    out
}

/// Whether a column is written as the row that is written back came with it: nobody changed it.
fn is_copy(write: &WriteFact, target: &Target) -> bool {
    let Value::Path(path) = &target.value else { return false };
    write.kind == WriteKind::Row
        && write.row.as_ref().is_some_and(|it| it.alternatives().contains(&path.0))
        && same_column(&path.1, &target.column)
}

fn sets(write: &WriteFact) -> Vec<&Assign> {
    let Some((stmt, _)) = &write.statement else { return Vec::new() };
    match &stmt.upsert {
        Some(upsert) => upsert.sets.iter().collect(),
        None => stmt.sets.iter().collect(),
    }
}

fn statement_target(input: &Input<'_>, write: &WriteFact, table: &str, set: &Assign) -> Target {
    let value = write
        .statement
        .as_ref()
        .map_or(Value::Unknown, |(_, params)| crate::analysis::sql_value(&set.value, params));
    Target {
        class: input.columns.classify(table, &set.column),
        column: set.column.clone(),
        value,
        relative: matches!(set.value, SqlExpr::Relative(_)),
        now: set.value == SqlExpr::Now,
    }
}

/// Whether two spellings mean one column.
pub(super) fn same_column(a: &str, b: &str) -> bool {
    a == b || key(a) == key(b)
}

fn key(name: &str) -> String {
    let name = snake_case(name);
    let mut rest = name.as_str();
    for prefix in ["get_", "is_", "has_", "was_"] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    rest.to_owned()
}

/// How a check speaks of what the write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bearing {
    /// Not at all.
    None,
    /// Of a state by its name, or computed from it.
    Vague,
    /// Of the column that is set, or of another state of the row.
    Exact,
}

/// How a check bears on a write that sets `target`.
pub(super) fn bearing(
    input: &Input<'_>,
    write: &WriteFact,
    target: &Target,
    check: &CheckFact,
) -> Bearing {
    if check.column.starts_with('{') && &*check.column != "{first}" {
        return Bearing::None;
    }
    // A request that is validated before its state is written: the new value, not the old one.
    if target.value == Value::path(check.row.clone(), check.column.clone()) {
        return Bearing::None;
    }
    let table = write.table.word().unwrap_or_default();
    let same = same_column(&check.column, &target.column);
    // Rows that were picked because they are as the write makes them.
    let is_set = |it: &Value| {
        let them = target.value.alternatives();
        them.iter().any(|value| same_state(input, it, value))
    };
    if same
        && check.kind == CheckKind::Filter
        && matches!(&check.passes, Ok(them) if !them.is_empty() && them.iter().all(is_set))
    {
        return Bearing::None;
    }
    let class = input.columns.classify(table, &check.column);
    let state = class.is_state();
    let word = is_state_word(input, &check.column);
    let only_there = check.passes == Err(vec![Value::Null]);
    if same && only_there && matches!(target.class, ColumnClass::Strong | ColumnClass::Weak) {
        // That the row has a state says nothing of which.
        return Bearing::None;
    }
    // Another column is the row's own only where the row is known to be one.
    let known =
        write.row.as_ref() == Some(&check.row) || write.loads.iter().any(|it| it.row == check.row);
    if !known && (is_sent(write, check) || is_elsewhere(&check.row) && !same) {
        return Bearing::None;
    }
    let found = match (same, state, word) {
        (true, ..) => Bearing::Exact,
        (_, true, _) if known => Bearing::Exact,
        (_, true, _) => Bearing::Vague,
        (_, _, true) => Bearing::Vague,
        _ if &*check.column == "{first}" => Bearing::Vague,
        _ => Bearing::None,
    };
    if check.kind == CheckKind::Vague { found.min(Bearing::Vague) } else { found }
}

/// Whether the tested value itself goes into the statement: a request that is validated.
fn is_sent(write: &WriteFact, check: &CheckFact) -> bool {
    let tested = Value::path(check.row.clone(), check.column.clone());
    write.statement.iter().any(|(_, params)| params.values().any(|it| *it == tested))
}

/// Whether the value came from something that nothing is known of, which may be no row at all, or is
/// an object that the write has nothing to do with: another table's row.
fn is_elsewhere(row: &Value) -> bool {
    match row {
        Value::Opaque(_) | Value::Object(_) => true,
        Value::Path(it) => is_elsewhere(&it.0),
        Value::Element(it) => is_elsewhere(it),
        _ => false,
    }
}

/// Whether a column that no name speaks for is a state: it is tested, and the write makes the test
/// false for the next one (`redeemed_at IS NULL`, then `redeemed_at = now()`).
pub(super) fn acts_as_state(input: &Input<'_>, target: &Target, check: &CheckFact) -> bool {
    if target.relative
        || check.kind == CheckKind::Vague
        || crate::analysis::is_naming_column(&target.column)
        || !same_column(&check.column, &target.column)
    {
        return false;
    }
    // A filter on what is no flag names the rows: `WHERE title = ?`.
    let names = check.kind == CheckKind::Filter
        && !target.value.is_constant()
        && !target.now
        && !sets_a_time(target);
    if names {
        return false;
    }
    let has = |them: &[Value]| them.iter().any(|it| same_state(input, it, &target.value));
    let is_new = target.value.is_constant() && target.value != Value::Null;
    let flag = matches!(target.value, Value::Bool(_) | Value::Int(0 | 1));
    match &check.passes {
        Ok(them) if them.is_empty() => false,
        Ok(them) if target.now || sets_a_time(target) => them.iter().all(is_unset),
        Ok(them) => is_new && !has(them) && (flag || !them.iter().any(is_unset)),
        Err(them) => is_new && has(them),
    }
}

/// Whether a column is a flag that says how something is set up, not what was done with it:
/// `is_directory`, but not `reminder_sent`.
pub(super) fn is_setting(input: &Input<'_>, target: &Target) -> bool {
    if target.class != ColumnClass::Plain
        || !target
            .value
            .alternatives()
            .iter()
            .all(|it| matches!(it, Value::Bool(_) | Value::Int(0 | 1)))
    {
        return false;
    }
    let name = snake_case(&target.column);
    let last = name.rsplit('_').next().unwrap_or_default();
    let words = input.words;
    let is_event =
        last.ends_with("ed") || words.terminal.matches(last) || words.transient.matches(last);
    !is_event
}

/// A time that is not null, by the column's name.
fn sets_a_time(target: &Target) -> bool {
    let name = snake_case(&target.column);
    let named = ["_at", "_on", "_time", "_date"].iter().any(|it| name.ends_with(it));
    named && target.value != Value::Null
}

/// Null, false, zero or empty: as nobody has touched it.
fn is_unset(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false) | Value::Int(0))
        || value.as_str().is_some_and(|it| it.is_empty())
}

/// `isPending`, `pending`, `can_start`: a name that speaks of a state.
fn is_state_word(input: &Input<'_>, column: &str) -> bool {
    let name = snake_case(column);
    let rest = ["is_", "has_", "was_", "can_", "should_"]
        .iter()
        .find_map(|it| name.strip_prefix(it))
        .or_else(|| (!name.contains('_')).then_some(name.as_str()));
    let Some(rest) = rest else { return false };
    let words = input.words;
    // What has been done to it: `isSealed`.
    let participle =
        !rest.contains('_') && name.starts_with("is_") && rest.len() > 4 && rest.ends_with("ed");
    participle
        || words.transient.matches(rest)
        || words.terminal.matches(rest)
        || words.waiting.matches(rest)
        || name.starts_with("can_")
        || name.starts_with("may_")
}

/// A state as messages show it: `'pending'`, `1`, `Status::Running`; empty when not known.
pub(super) fn state_word(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Case(class, name) => {
            let class = crate::base::last_segment(class);
            if class.is_empty() { name.to_string() } else { format!("{class}::{name}") }
        }
        value => value.as_str().map(|it| it.to_string()).unwrap_or_default(),
    }
}
