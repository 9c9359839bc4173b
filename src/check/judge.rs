//! Decides for each write what is wrong with it, if anything.

use super::column::{Bearing, Target, acts_as_state, bearing, state_word, targets};
use super::guard::{Guard, same_state};
use super::index::Index;
use super::protect::{Protection, locks_in_vain, protection};
use super::{Fault, Input, guard, schedule, settle, witness};
use crate::analysis::fact::{CheckFact, CheckKind, LoadFact, Look, WriteFact, WriteKind};
use crate::analysis::store::MAX_TRACE;
use crate::analysis::{Value, sql_value};
use crate::base::Span;
use crate::finding::{Confidence, StepRole};
use crate::ir::{Condition, ConditionOp, Engine};
use crate::model::ColumnClass;
use crate::rule::FaultKind;
use std::collections::BTreeSet;

/// All faults of the program about rows, one for each place.
pub(super) fn faults(input: &Input<'_>) -> Vec<Fault> {
    let index = Index::of(input);
    let mut out = Vec::new();
    let facts = input.settled.facts.iter().filter(|it| !input.program.is_exempt(*it.0));
    for (at, facts) in facts {
        let root = !input.settled.imported.contains(at);
        let own = facts.writes.iter().filter(|it| root || it.trace.len() >= MAX_TRACE);
        let found: Vec<(Option<Span>, Fault)> = own
            .flat_map(|write| judge(input, &index, write).into_iter().map(|it| (write.run, it)))
            .collect();
        let optional = without_guard(&found);
        let told = |it: &(Option<Span>, Fault)| {
            it.1.kind != FaultKind::IgnoredClaim || !it.0.is_some_and(|it| optional.contains(&it))
        };
        out.extend(found.into_iter().filter(told).map(|it| it.1));
        if root {
            for load in &facts.loads {
                out.extend(lock_in_vain(input, &index, load, &facts.writes));
            }
        }
    }
    for write in super::script::writes(input) {
        // A statement by itself is no evidence unless it shows the check that it makes.
        let found = judge(input, &index, &write);
        out.extend(found.into_iter().filter(|it| it.confidence > Confidence::Low));
    }
    out.retain(|it| !input.program.is_exempt(it.symbol));
    settle(input, out)
}

/// Calls whose statement has no guard, or has one only on some paths: that it is ignored on the others
/// goes without saying.
fn without_guard(found: &[(Option<Span>, Fault)]) -> BTreeSet<Span> {
    let loose = found.iter().filter(|it| it.1.kind == FaultKind::UnguardedStatement);
    loose.filter_map(|it| it.0).collect()
}

/// A write with what was decided about it so far.
pub(super) struct Case<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) index: &'a Index,
    pub(super) write: &'a WriteFact,
    pub(super) target: Target,
    /// Checks that bear on the target, best first.
    pub(super) checks: Vec<(Bearing, &'a CheckFact)>,
}

impl Case<'_> {
    fn best(&self) -> Bearing {
        self.checks.iter().map(|it| it.0).max().unwrap_or(Bearing::None)
    }
}

fn judge(input: &Input<'_>, index: &Index, write: &WriteFact) -> Vec<Fault> {
    let input = &input.at(write.primary.source);
    let mut out = transition(input, index, write);
    if out.iter().all(|it| it.confidence == Confidence::Low) {
        out.extend(undone_claim(input, index, write));
    }
    out
}

/// A copy is written back whole while other code claims a column of the same table: the column goes
/// back to what it was when the copy was read.
fn undone_claim(input: &Input<'_>, index: &Index, write: &WriteFact) -> Option<Fault> {
    let copied = write.kind == WriteKind::Row
        && write.whole
        && !write.fresh
        && write.statement.is_none()
        && !write.loads.is_empty();
    if !copied || protection(write, &[]) == Protection::Safe {
        return None;
    }
    let own = |column: &str| {
        write.changes.iter().any(|it| super::column::same_column(&it.column, column))
    };
    let (column, claim) = index.claimed(write.table.word()?).find(|(column, _)| !own(column))?;
    let target = Target { column: column.clone(), ..whole_target(write) };
    let case = Case { input, index, write, target, checks: Vec::new() };
    let mut out = fault(&case, FaultKind::StaleWriteBack, Confidence::Medium);
    out.steps.push((StepRole::Claim, claim, "other code claims it here".to_owned()));
    Some(out)
}

fn transition(input: &Input<'_>, index: &Index, write: &WriteFact) -> Vec<Fault> {
    let Some(case) = case_of(input, index, write) else { return Vec::new() };
    let mut out = Vec::new();
    if case.target.class == ColumnClass::Counter {
        out.extend(counter(&case));
        return out;
    }
    let guard = guard::judge(input, write, &case.target.column);
    if let Some(fault) = ignored_claim(&case, &guard) {
        return vec![fault];
    }
    if matches!(guard, Guard::Holds | Guard::Fence | Guard::Sweep | Guard::Unknown) {
        return stale_fence(&case, &guard).into_iter().collect();
    }
    if write.claims.iter().any(|it| it.stale_copy) && write.kind == WriteKind::Row {
        if write.whole {
            return vec![fault(&case, FaultKind::StaleWriteBack, Confidence::High)];
        }
        return Vec::new();
    }
    if write.follows {
        return Vec::new();
    }
    let used: Vec<&CheckFact> = case.checks.iter().map(|it| it.1).collect();
    let (kind, mut confidence) = match protection(write, &used) {
        Protection::Safe => return Vec::new(),
        Protection::Late(held) => {
            if case.best() == Bearing::None {
                return Vec::new();
            }
            let mut fault = fault(&case, FaultKind::StaleCheck, Confidence::High);
            fault.steps.push((StepRole::Lock, held.span, "the lock is taken here".to_owned()));
            fault.schedule = schedule::behind_lock(&case, &held);
            return vec![fault];
        }
        Protection::None => (general_kind(write), confidence(&case, guard)),
        Protection::Process => {
            (general_kind(write), confidence(&case, guard).min(Confidence::Medium))
        }
    };
    let by_name = case.target.class != ColumnClass::Plain;
    if (write.weak || !by_name) && confidence == Confidence::High {
        confidence = Confidence::Medium;
    }
    if super::column::is_setting(input, &case.target) || is_reset(&case) {
        confidence = Confidence::Low;
    }
    if write.loads.iter().any(|it| locks_in_vain(it)) {
        // The lock that was meant to protect it is reported instead.
        return Vec::new();
    }
    out.push(fault(&case, kind, confidence));
    out.extend(loose_gate(&case, confidence));
    out
}

fn general_kind(write: &WriteFact) -> FaultKind {
    match write.kind {
        WriteKind::Row => FaultKind::UnguardedTransition,
        WriteKind::Statement => FaultKind::UnguardedStatement,
    }
}

/// The write with the column that makes it a transition.
pub(super) fn case_of<'a>(
    input: &'a Input<'a>,
    index: &'a Index,
    write: &'a WriteFact,
) -> Option<Case<'a>> {
    if write.fresh {
        return None;
    }
    let mut found: Option<Case<'a>> = None;
    for target in targets(input, write) {
        let mut checks: Vec<(Bearing, &CheckFact)> = write
            .checks
            .iter()
            .map(|it| (bearing(input, write, &target, it), it))
            .filter(|it| it.0 != Bearing::None)
            .collect();
        checks.sort_by_key(|it| std::cmp::Reverse((it.0, it.1.kind == CheckKind::Branch)));
        // A filter on such a column is a scope: all readers of the table have it.
        let exact = checks.iter().any(|(bearing, check)| {
            *bearing == Bearing::Exact
                && check.kind == CheckKind::Branch
                && super::column::same_column(&check.column, &target.column)
        });
        let admitted = match target.class {
            ColumnClass::Strong | ColumnClass::Claim | ColumnClass::Done => !target.relative,
            ColumnClass::Counter => true,
            ColumnClass::Weak => exact,
            ColumnClass::Plain => checks.iter().any(|it| acts_as_state(input, &target, it.1)),
            ColumnClass::Version | ColumnClass::Never => false,
        };
        if !admitted {
            continue;
        }
        let case = Case { input, index, write, target, checks };
        let better = found.as_ref().is_none_or(|it| case.best() > it.best());
        if better {
            found = Some(case);
        }
    }
    found.or_else(|| whole_row(input, index, write))
}

/// A whole row is written back after a claim: no changed column is needed.
fn whole_row<'a>(input: &'a Input<'a>, index: &'a Index, write: &'a WriteFact) -> Option<Case<'a>> {
    let stale =
        write.kind == WriteKind::Row && write.whole && write.claims.iter().any(|it| it.stale_copy);
    stale.then(|| Case { input, index, write, target: whole_target(write), checks: Vec::new() })
}

/// Every column at once.
fn whole_target(_write: &WriteFact) -> Target {
    Target {
        column: "".into(),
        class: ColumnClass::Plain,
        value: Value::Unknown,
        relative: false,
        now: false,
    }
}

fn confidence(case: &Case<'_>, guard: Guard) -> Confidence {
    let found = match case.best() {
        Bearing::Exact => Confidence::High,
        // The sub-select is the check; only some engines do not look at it again.
        _ if guard == Guard::Unlocked => match case.write.engine {
            Some(Engine::Postgres | Engine::Oracle) => return Confidence::High,
            _ => return Confidence::Medium,
        },
        Bearing::Vague if is_outcome(case) => Confidence::Low,
        Bearing::Vague => Confidence::Medium,
        Bearing::None => return unchecked(case),
    };
    // Work that hangs on a claim may stand in another function than its check.
    let is_here = |it: &(Bearing, &CheckFact)| {
        it.1.kind == CheckKind::Branch && it.1.symbol == case.write.symbol
    };
    let may_save = !is_claim(case) || case.checks.iter().all(is_here);
    if may_save && case.checks.iter().all(|it| only_saves_a_write(case, it)) {
        return Confidence::Low;
    }
    found
}

/// Whether the write says by itself that somebody works on the row from here on.
fn is_claim(case: &Case<'_>) -> bool {
    case.target.class == ColumnClass::Claim
        || case.input.words.transient.matches(&state_word(&case.target.value))
}

/// Whether the state says how a worker's own work came out, which is for that worker alone to say.
fn is_outcome(case: &Case<'_>) -> bool {
    let words = case.input.words;
    let set = state_word(&case.target.value);
    words.outcomes.matches(&set) && !words.transient.matches(&set)
}

/// How much a transition tells with no check in sight. The code must choose the state itself: a value
/// from elsewhere is a form's or a copy's.
fn unchecked(case: &Case<'_>) -> Confidence {
    let chosen = case.target.now || is_truthy(&case.target.value);
    // What was perhaps made here is perhaps nobody else's.
    let guessed = case.write.weak
        && !case.write.loads.is_empty()
        && case.write.loads.iter().all(|it| it.weak);
    if !case.write.workerlike || !chosen || is_outcome(case) || guessed {
        return Confidence::Low;
    }
    let words = case.input.words;
    let set = state_word(&case.target.value);
    let table = case.write.table.word().unwrap_or_default();
    let elsewhere = case.input.settled.tested.has(table, &case.target.column);
    if elsewhere && words.transient.matches(&set) { Confidence::Medium } else { Confidence::Low }
}

/// Whether the value is one known state, other than none.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Bool(it) => *it,
        Value::Int(it) => *it != 0,
        Value::Case(..) => true,
        value => value.as_str().is_some_and(|it| !it.is_empty() && &*it != "0"),
    }
}

/// Whether the check only asks if the row already is as the write makes it, and nothing else hangs on
/// the answer: two workers that both pass do no more than one.
fn only_saves_a_write(case: &Case<'_>, (bearing, check): &(Bearing, &CheckFact)) -> bool {
    if check.works || check.kind == CheckKind::Filter && case.write.followed {
        return false;
    }
    if *bearing == Bearing::Vague || !super::column::same_column(&check.column, &case.target.column)
    {
        return *bearing == Bearing::Vague;
    }
    let refuses = |them: &[Value]| {
        let set = case.target.value.alternatives();
        set.iter().all(|value| them.iter().any(|it| same_state(case.input, it, value)))
    };
    match &check.passes {
        Err(them) => refuses(them) || is_set_once(case, them),
        Ok(them) => !them.is_empty() && them.iter().all(is_unset) && !is_unset(&case.target.value),
    }
}

/// A check for something that is not set yet, whatever it is set to.
fn is_set_once(case: &Case<'_>, refused: &[Value]) -> bool {
    refused == [Value::Bool(true)] && is_truthy(&case.target.value)
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        value => value.as_str().is_some_and(|it| it.is_empty() || &*it == "0"),
    }
}

/// A guarded claim whose count nobody looks at.
fn ignored_claim(case: &Case<'_>, guard: &Guard) -> Option<Fault> {
    let write = case.write;
    let ignored = *guard == Guard::Holds
        && write.kind == WriteKind::Statement
        && matches!(write.look, Look::None | Look::Mistaken | Look::Passed)
        // A close at the very end that came too late is dropped, and that is right.
        && (write.followed || is_spent_late(case))
        && !protected(case);
    if !ignored {
        return None;
    }
    let confidence = match case.best() {
        Bearing::Exact => Confidence::High,
        Bearing::Vague => Confidence::Medium,
        Bearing::None if write.look != Look::None => Confidence::Medium,
        Bearing::None => Confidence::Low,
    };
    let plain = case.target.class == ColumnClass::Plain && !case.target.now;
    let confidence = if plain { Confidence::Low } else { confidence };
    let mut out = fault(case, FaultKind::IgnoredClaim, confidence);
    if let Some(answer) = write.answer.or(write.run) {
        out.steps.push((StepRole::Sql, out.primary, "the guarded statement".to_owned()));
        out.primary = answer;
        out.symbol = case.write.symbol;
    }
    Some(out)
}

/// Whether what the claim is for came before it, in the transaction that it ends: when it is lost, the
/// rest is committed all the same.
fn is_spent_late(case: &Case<'_>) -> bool {
    let Some((stmt, params)) = &case.write.statement else { return false };
    let unset = |it: &Condition| match it.op {
        ConditionOp::IsNull => true,
        ConditionOp::Eq => it.values.iter().all(|it| is_unset(&sql_value(it, params))),
        _ => false,
    };
    let own = |it: &&Condition| super::column::same_column(&it.column, &case.target.column);
    case.write.behind && !is_outcome(case) && stmt.conditions.iter().filter(own).any(unset)
}

fn protected(case: &Case<'_>) -> bool {
    let used: Vec<&CheckFact> = case.checks.iter().map(|it| it.1).collect();
    protection(case.write, &used) == Protection::Safe
}

/// A fence keeps others out from the claim on; a check from before the claim is stale all the same.
fn stale_fence(case: &Case<'_>, guard: &Guard) -> Option<Fault> {
    let write = case.write;
    let claimed = write.claims.iter().any(|it| it.won && !it.read_after);
    let stale = *guard == Guard::Fence && claimed && case.best() > Bearing::None;
    stale.then(|| fault(case, FaultKind::StaleCheck, Confidence::High))
}

/// A counter that is computed in the program and written back, or changed past its limit.
fn counter(case: &Case<'_>) -> Option<Fault> {
    let write = case.write;
    let used: Vec<&CheckFact> = case.checks.iter().map(|it| it.1).collect();
    if protection(write, &used) == Protection::Safe
        || matches!(
            guard::judge(case.input, write, &case.target.column),
            Guard::Holds | Guard::Fence | Guard::Unknown
        ) && write.kind == WriteKind::Statement
    {
        return None;
    }
    let column = &case.target.column;
    if case.target.relative {
        let limit = case.checks.iter().any(|(bearing, check)| {
            *bearing != Bearing::None && super::column::same_column(&check.column, column)
        });
        return limit.then(|| fault(case, FaultKind::UnguardedLimit, Confidence::High));
    }
    let computed = matches!(case.target.value, Value::Derived(_)) && {
        let mut found = false;
        case.target.value.walk(&mut |it| {
            found |= it.as_path().is_some_and(|(_, name)| super::column::same_column(name, column));
        });
        found
    };
    let confidence = if case.checks.is_empty() { Confidence::Medium } else { Confidence::High };
    computed.then(|| fault(case, FaultKind::LostUpdate, confidence))
}

/// The check accepts the state that the write sets.
fn loose_gate(case: &Case<'_>, confidence: Confidence) -> Option<Fault> {
    let (_, check) = case.checks.iter().find(|(bearing, check)| {
        let Ok(passes) = &check.passes else { return false };
        *bearing == Bearing::Exact
            && check.kind == CheckKind::Branch
            && super::column::same_column(&check.column, &case.target.column)
            && admits(case, passes)
    })?;
    let mut out = fault(case, FaultKind::LooseGate, confidence);
    out.primary = check.span;
    out.symbol = check.symbol;
    Some(out)
}

/// Whether what was done once is undone, for rows that were picked so: to do that twice is to do it once.
fn is_reset(case: &Case<'_>) -> bool {
    matches!(case.target.class, ColumnClass::Done | ColumnClass::Plain)
        && case.target.value.alternatives().iter().all(is_unset)
        && case.checks.iter().all(|it| it.1.kind == CheckKind::Filter)
}

/// Whether the states that pass have the new one among them. A check for what is unset, and a write that
/// unsets it, are on two ways.
fn admits(case: &Case<'_>, passes: &[Value]) -> bool {
    let set = case.target.value.alternatives();
    let is_new = |it: &&Value| set.iter().any(|value| same_state(case.input, it, value));
    let known = passes.iter().filter(|it| **it != Value::Null);
    let resets = set.iter().all(is_unset) && known.clone().all(|it| is_new(&it));
    passes.iter().any(|it| is_new(&it)) && !resets
}

/// A row lock that no transaction holds.
fn lock_in_vain(
    input: &Input<'_>,
    index: &Index,
    load: &LoadFact,
    writes: &[WriteFact],
) -> Option<Fault> {
    if !locks_in_vain(load) {
        return None;
    }
    let write = writes.iter().find(|it| it.loads.iter().any(|that| that.span == load.span))?;
    let case = case_of(input, index, write).unwrap_or(Case {
        input,
        index,
        write,
        target: targets(input, write).into_iter().next()?,
        checks: Vec::new(),
    });
    let mut out = fault(&case, FaultKind::LockWithoutTransaction, Confidence::High);
    out.primary = load.span;
    out.symbol = load.symbol;
    Some(out)
}

fn fault(case: &Case<'_>, kind: FaultKind, confidence: Confidence) -> Fault {
    Fault {
        kind,
        confidence,
        primary: case.write.primary,
        table: case.write.table.word().unwrap_or_default().to_owned(),
        column: case.target.column.to_string(),
        to: state_word(&case.target.value),
        values: witness::values(case),
        steps: witness::steps(case, kind),
        schedule: schedule::of(case, kind, confidence),
        symbol: case.write.symbol,
    }
}
