//! Unswept: rows that are put into a state which only their worker leaves, and nobody looks for them.
//!
//! ```text
//! UPDATE jobs SET status = 'running' WHERE id = ? AND status = 'pending'      a claim
//! … the worker dies …                                                        nobody claims 'running'
//! UPDATE jobs SET status = 'pending' WHERE status = 'running' AND … < …       a sweep: silent
//! ```
//!
//! A statement sweeps when it reaches rows in that state without naming one of them by its key, or by
//! their age, owner or heartbeat. A claim that also takes rows in that state is its own sweep, and so is
//! the hook that a framework calls when a job has failed for good.

use super::fault::{Found, enclosing};
use super::roots::Root;
use super::{MessageFault, MessageFaultKind, MessageInput};
use crate::analysis::fact::{LoadFact, Table, WriteFact};
use crate::analysis::{Value, is_key_column, sql_value};
use crate::base::{Name, Span, last_segment};
use crate::finding::{Confidence, StepRole};
use crate::ir::{
    Call, Callee, ClassRef, Condition, ConditionOp, Const, FuncRef, Function, InstrKind, LocalId,
    Operand, ParamRef, Rvalue, SqlExpr, Statement, StatementKind,
};
use crate::model::Role;
use std::collections::{BTreeMap, BTreeSet};

/// How deep the callees of a worker are followed.
const MAX_REACH: u32 = 5;

/// A write that puts a row into a state on the way.
#[derive(Clone, Debug)]
struct Entry {
    table: Table,
    column: String,
    state: String,
    primary: Span,
    function: FuncRef,
    /// Where the row was found waiting.
    found: Option<Span>,
}

/// Adds the faults, one for each table, column and state.
pub(super) fn find(input: &MessageInput<'_>, roots: &[Root], found: &mut Found) {
    let workers = reach(input, roots);
    let mut entries: BTreeMap<(String, String, String), Entry> = BTreeMap::new();
    let updates = input.writes.iter().copied().filter_map(|it| entry_of(input, it, &workers));
    let made = made(input, &workers);
    for entry in updates.chain(inserts(input, &workers)).chain(made) {
        let Some(stem) = entry.table.stem() else { continue };
        let key = (stem, entry.column.to_lowercase(), entry.state.clone());
        let first = entries.get(&key).is_none_or(|it| entry.primary < it.primary);
        if first {
            entries.insert(key, entry);
        }
    }
    for entry in entries.into_values() {
        let closed = input.writes.iter().copied().find(|it| closes(input, it, &entry));
        if let Some(closed) = closed
            && !is_swept(input, &entry)
        {
            found.put(fault_of(input, &entry, closed));
        }
    }
}

/// Functions that run when a message is handled, or that pick rows of a table as a queue.
fn reach(input: &MessageInput<'_>, roots: &[Root]) -> BTreeSet<FuncRef> {
    let mut out: BTreeSet<FuncRef> = BTreeSet::new();
    let mut next: Vec<FuncRef> = roots.iter().map(|it| it.func).collect();
    for _ in 0..MAX_REACH {
        let mut called = Vec::new();
        for at in next {
            if out.insert(at)
                && let Some(resolved) = input.resolved.get(&at)
            {
                let calls = resolved.calls.values();
                called.extend(calls.flat_map(|it| it.targets.iter().chain(&it.callables)).copied());
            }
        }
        next = called;
    }
    out
}

/// What a write sets, as texts.
fn sets_of(write: &WriteFact) -> Vec<(Name, Name)> {
    let mut out = Vec::new();
    if let Some((statement, params)) = &write.statement {
        for set in &statement.sets {
            if let Some(value) = text(&sql_value(&set.value, params)) {
                out.push((set.column.clone(), value));
            }
        }
    }
    for change in &write.changes {
        if let Some(value) = text(&change.value) {
            out.push((change.column.clone(), value));
        }
    }
    out
}

fn text(value: &Value) -> Option<Name> {
    match value {
        Value::Case(_, name) => Some(name.clone()),
        other => other.as_str(),
    }
}

fn entry_of(
    input: &MessageInput<'_>,
    write: &WriteFact,
    workers: &BTreeSet<FuncRef>,
) -> Option<Entry> {
    let at = enclosing(input, write.primary).unwrap_or(write.symbol);
    if write.weak || is_exempt(input, at) {
        return None;
    }
    let is_worker = workers.contains(&write.symbol) || workers.contains(&at);
    let makes = match &write.statement {
        Some((it, _)) if it.kind == StatementKind::Insert => true,
        Some((it, _)) if it.kind == StatementKind::Update => false,
        Some(_) => return None,
        None => write.fresh,
    };
    if makes && !is_worker {
        return None;
    }
    let table = write.table.word().unwrap_or_default();
    let (column, state) = sets_of(write).into_iter().find(|(column, state)| {
        input.columns.classify(table, column).is_state()
            && input.words.general.transient.matches(state)
    })?;
    let found =
        match makes.then_some(Waiting::Guard).or_else(|| waiting(input, write, &column, &state))? {
            Waiting::Guard => None,
            Waiting::Load(span) => Some(span),
        };
    // A table that is polled for waiting rows is a queue as well.
    let picks = write.statement.as_ref().is_some_and(|(it, _)| it.source.is_some());
    let polls = (found.is_some() || picks) && write.workerlike;
    (is_worker || polls).then(|| Entry {
        table: write.table.clone(),
        column: column.to_string(),
        state: state.to_string(),
        primary: write.sql.unwrap_or(write.primary),
        function: at,
        found,
    })
}

/// What says that a write takes only rows in another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// Its own WHERE.
    Guard,
    /// The load that chose them.
    Load(Span),
}

/// None: it would take the row again.
fn waiting(
    input: &MessageInput<'_>,
    write: &WriteFact,
    column: &str,
    state: &str,
) -> Option<Waiting> {
    let mut guard = None;
    if let Some((statement, params)) = &write.statement {
        let own = conditions(statement);
        // What is asked of age beside another state is a schedule, not a lease.
        let excluded = own.iter().any(|it| excludes(it, column, state, params));
        if own.iter().any(|it| admits(it, column, state, params))
            || !excluded && leases(input, &own)
        {
            return None;
        }
        let guards = |it: &&Condition| same_column(&it.column, column) && it.any.is_empty();
        guard = own.iter().any(guards).then_some(Waiting::Guard);
    }
    let filter = write.loads.iter().find(|it| {
        it.table.same(&write.table) == Some(true)
            && it.filters.iter().any(|filter| {
                let knows = filter.values.iter().filter_map(text).any(|it| *it != *state);
                same_column(&filter.column, column) && !filter.negated && knows
            })
            && !filter_admits(it, column, state)
    });
    filter.map(|it| Waiting::Load(it.span)).or(guard)
}

/// Whether a condition lets only rows in other states through, which it names.
fn excludes(
    condition: &Condition,
    column: &str,
    state: &str,
    params: &BTreeMap<ParamRef, Value>,
) -> bool {
    let other = |it: &SqlExpr| text(&sql_value(it, params)).is_some_and(|it| *it != *state);
    same_column(&condition.column, column)
        && condition.any.is_empty()
        && matches!(condition.op, ConditionOp::Eq | ConditionOp::In)
        && !condition.values.is_empty()
        && condition.values.iter().all(other)
}

fn same_column(a: &str, b: &str) -> bool {
    crate::base::snake_case(last_segment(a)) == crate::base::snake_case(last_segment(b))
}

/// The conditions of a statement and of the sub-select that picks its rows.
fn conditions(statement: &Statement) -> Vec<&Condition> {
    let inner = statement.source.iter().flat_map(|it| &it.conditions);
    statement.conditions.iter().chain(inner).collect()
}

/// Whether a condition lets rows in that state through, and says something of their state.
fn admits(
    condition: &Condition,
    column: &str,
    state: &str,
    params: &BTreeMap<ParamRef, Value>,
) -> bool {
    if !condition.any.is_empty() {
        let mut branches = condition.any.iter().flatten();
        return branches.any(|it| admits(it, column, state, params));
    }
    if !same_column(&condition.column, column) {
        return false;
    }
    let values: Vec<Option<Name>> =
        condition.values.iter().map(|it| text(&sql_value(it, params))).collect();
    // A value that is not known may be that state.
    let holds = values.iter().any(|it| it.as_deref().is_none_or(|it| it == state));
    match condition.op {
        ConditionOp::Eq | ConditionOp::In | ConditionOp::Like => holds,
        ConditionOp::Ne | ConditionOp::NotIn => !values.iter().flatten().any(|it| **it == *state),
        ConditionOp::InSelect | ConditionOp::IsNotNull | ConditionOp::Other => true,
        ConditionOp::IsNull | ConditionOp::Less | ConditionOp::Greater => false,
    }
}

/// Whether the conditions ask for age, owner or heartbeat.
fn leases(input: &MessageInput<'_>, conditions: &[&Condition]) -> bool {
    conditions.iter().any(|it| {
        let of_branch = it.any.iter().flatten().any(|it| is_lease(input, it));
        of_branch || is_lease(input, it)
    })
}

fn is_lease(input: &MessageInput<'_>, condition: &Condition) -> bool {
    let ordered = matches!(condition.op, ConditionOp::Less | ConditionOp::Greater);
    ordered && input.words.lease_columns.matches(&condition.column)
}

fn names_key(conditions: &[&Condition]) -> bool {
    conditions
        .iter()
        .any(|it| matches!(it.op, ConditionOp::Eq | ConditionOp::In) && is_key_column(&it.column))
}

fn filter_admits(load: &LoadFact, column: &str, state: &str) -> bool {
    load.filters.iter().any(|filter| {
        let has = filter.values.iter().any(|it| text(it).is_none_or(|it| *it == *state));
        same_column(&filter.column, column)
            && !filter.vague
            && (filter.values.is_empty() || has != filter.negated)
    })
}

/// Whether a write takes rows out of that state: what the worker does when it is done.
fn closes(input: &MessageInput<'_>, write: &WriteFact, entry: &Entry) -> bool {
    if write.table.same(&entry.table) != Some(true) {
        return false;
    }
    let sets_other = |(column, state): &(Name, Name)| {
        same_column(column, &entry.column)
            && **state != *entry.state
            && !input.words.general.transient.matches(state)
    };
    let sets = sets_of(write);
    let known = sets.iter().any(sets_other);
    // `SET status = :outcome WHERE … AND status = 'running'`
    let guarded = write.statement.as_ref().is_some_and(|(it, params)| {
        let sets_column = it.sets.iter().any(|set| same_column(&set.column, &entry.column));
        let from = |it: &&Condition| {
            it.any.is_empty()
                && it.op == ConditionOp::Eq
                && admits(it, &entry.column, &entry.state, params)
        };
        sets_column && conditions(it).iter().any(from)
    });
    known || guarded
}

fn is_swept(input: &MessageInput<'_>, entry: &Entry) -> bool {
    let same = |table: &Table| table.same(&entry.table) != Some(false);
    let by_write = input.writes.iter().copied().filter(|it| same(&it.table)).any(|it| {
        let Some((statement, params)) = &it.statement else { return false };
        sweeps(input, statement, params, entry)
    });
    let by_load = input
        .loads
        .iter()
        .copied()
        .filter(|it| same(&it.table))
        .any(|it| it.key.is_none() && filter_admits(it, &entry.column, &entry.state));
    let empty = BTreeMap::new();
    let stem = entry.table.stem().unwrap_or_default();
    let by_script = input.program.files().flat_map(|it| &it.statements).any(|it| {
        *crate::analysis::stem::stem(&it.table) == *stem && sweeps(input, it, &empty, entry)
    });
    by_write || by_load || by_script || has_hook(input, entry)
}

fn sweeps(
    input: &MessageInput<'_>,
    statement: &Statement,
    params: &BTreeMap<ParamRef, Value>,
    entry: &Entry,
) -> bool {
    let all = conditions(statement);
    let admitted = all.iter().any(|it| admits(it, &entry.column, &entry.state, params));
    let open = !statement.complete && !names_key(&all);
    (admitted || open) && (!names_key(&all) || leases(input, &all))
}

/// Whether the class has a hook for jobs that failed for good, and it writes that table.
fn has_hook(input: &MessageInput<'_>, entry: &Entry) -> bool {
    let class = &input.program.function(entry.function).class;
    input.writes.iter().copied().filter(|it| it.table.same(&entry.table) == Some(true)).any(|it| {
        let func = input.program.function(it.symbol);
        func.class == *class && class.is_some() && input.words.failure_hooks.has(&func.short)
    })
}

/// Rows that a worker makes in a state on the way, by what is known of their values.
fn made(input: &MessageInput<'_>, workers: &BTreeSet<FuncRef>) -> Vec<Entry> {
    let mut out = Vec::new();
    for at in workers.iter().filter(|it| !is_exempt(input, **it)) {
        for made in input.resolved.get(at).into_iter().flat_map(|it| &it.inserts) {
            let table = made.table.word().unwrap_or_default();
            let known = made.sets.iter().filter_map(|(column, value)| Some((column, text(value)?)));
            let found = known.into_iter().find(|(column, state)| {
                input.columns.classify(table, column).is_state()
                    && input.words.general.transient.matches(state)
            });
            let Some((column, state)) = found else { continue };
            out.push(Entry {
                table: made.table.clone(),
                column: column.to_string(),
                state: state.to_string(),
                primary: made.primary,
                function: *at,
                found: None,
            });
        }
    }
    out
}

/// Rows that are made in a state on the way.
fn inserts<'a>(
    input: &'a MessageInput<'_>,
    workers: &'a BTreeSet<FuncRef>,
) -> impl Iterator<Item = Entry> + 'a {
    workers.iter().filter(|it| !is_exempt(input, **it)).flat_map(move |at| {
        let func = input.program.function(*at);
        let calls = input.resolved.get(at).into_iter().flat_map(|it| &it.calls);
        calls.filter_map(move |((block, idx), site)| {
            let makes = site.roles.iter().any(|it| matches!(**it, Role::Insert { .. }));
            let instr = func.cfg.blocks.get(*block)?.instrs.get(*idx as usize)?;
            let InstrKind::Call(call) = &instr.kind else { return None };
            if !makes || site.weak {
                return None;
            }
            let (column, state) = pairs(func, call).into_iter().find(|(column, state)| {
                input.columns.classify("", column).is_state()
                    && input.words.general.transient.matches(state)
            })?;
            let model = model_of(func, &call.callee, 8)?;
            Some(Entry {
                table: Table { model: Some(model), ..Table::default() },
                column: column.to_string(),
                state: state.to_string(),
                primary: instr.span,
                function: *at,
                found: None,
            })
        })
    })
}

/// Constant entries of the arrays that a call is given.
fn pairs(func: &Function, call: &Call) -> Vec<(Name, Name)> {
    let mut out = Vec::new();
    for arg in &call.args {
        let Operand::Local(local) = arg.value else { continue };
        let Some(Rvalue::Array(items)) = definition(func, local) else { continue };
        for item in items {
            if let (Some(Operand::Const(Const::Str(key))), Some(value)) =
                (&item.key, constant_text(func, &item.value))
            {
                out.push((key.clone(), value));
            }
        }
    }
    out
}

fn definition(func: &Function, local: LocalId) -> Option<&Rvalue> {
    let instrs = func.cfg.blocks.iter().flat_map(|it| &it.instrs);
    instrs.into_iter().find_map(|it| match &it.kind {
        InstrKind::Assign(place, value) if place.as_local() == Some(local) => Some(value),
        _ => None,
    })
}

fn constant_text(func: &Function, operand: &Operand) -> Option<Name> {
    match operand {
        Operand::Const(Const::Str(it)) => Some(it.clone()),
        Operand::Const(Const::Named { name, .. }) => Some(name.clone()),
        Operand::Const(_) => None,
        Operand::Local(local) => match definition(func, *local)? {
            Rvalue::Text(text) => text.as_literal().map(Into::into),
            Rvalue::Use(operand @ Operand::Const(_)) => constant_text(func, operand),
            _ => None,
        },
    }
}

/// The class at the beginning of a chain: `PruneRun::query()->create()`.
fn model_of(func: &Function, callee: &Callee, depth: u32) -> Option<Name> {
    match callee {
        Callee::Static { class: ClassRef::Named(class), .. } => Some(class.clone()),
        Callee::Method { receiver: Operand::Local(local), .. } if depth > 0 => {
            let mut calls = func.cfg.blocks.iter().flat_map(|it| &it.instrs);
            let made = calls.find_map(|it| match &it.kind {
                InstrKind::Call(call) if call.dest == *local => Some(&call.callee),
                _ => None,
            })?;
            model_of(func, made, depth - 1)
        }
        _ => None,
    }
}

fn is_exempt(input: &MessageInput<'_>, at: FuncRef) -> bool {
    input.program.function(at).exempt || input.program.file(at.source).exempt
}

fn fault_of(input: &MessageInput<'_>, entry: &Entry, closed: &WriteFact) -> MessageFault {
    let table = entry.table.word().unwrap_or_default().to_owned();
    let (column, state) = (&entry.column, &entry.state);
    let mut steps = Vec::new();
    if let Some(span) = entry.found {
        let text = "rows are taken from here, and none in that state".to_owned();
        steps.push((StepRole::Load, span, text));
    }
    let text = format!("`{column}` of `{table}` becomes `{state}` here");
    steps.push((StepRole::Write, entry.primary, text));
    let text = format!("only this takes it out of `{state}` again, if the worker lives");
    steps.push((StepRole::Write, closed.sql.unwrap_or(closed.primary), text));
    let promise = promise(input, entry);
    if let Some((span, words)) = &promise {
        let text = format!("a comment promises it: \"{words}\"; no code does it");
        steps.push((StepRole::Note, *span, text));
    }
    MessageFault {
        kind: MessageFaultKind::UnsweptState,
        primary: entry.primary,
        confidence: if promise.is_some() { Confidence::High } else { Confidence::Medium },
        function: entry.function,
        steps,
        call: String::new(),
        message: String::new(),
        queue: String::new(),
        table,
        column: column.clone(),
        left: state.clone(),
    }
}

/// A comment of the same file that promises that somebody will clean up.
fn promise(input: &MessageInput<'_>, entry: &Entry) -> Option<(Span, String)> {
    const MAX_WORDS: usize = 16;
    let words = &input.words.general.recovery_promises;
    let comments = &input.program.file(entry.primary.source).comments;
    let found = comments.iter().find(|it| words.matches(&it.text))?;
    let quote: Vec<&str> = found.text.split_whitespace().take(MAX_WORDS).collect();
    Some((found.span, quote.join(" ")))
}
