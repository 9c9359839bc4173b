//! Does each function that a contract names still make its transition so that one worker wins, and does
//! nobody else make it?
//!
//! ```text
//! [[claim]] table = "jobs", column = "status", from = ["pending"], to = "running", at = "Jobs::claim"
//!
//! Jobs::claim   UPDATE jobs SET status = 'running' WHERE id = ?, status = 'pending'; count looked at   kept
//! Jobs::claim   UPDATE jobs SET status = 'running' WHERE id = ?                                        broken
//! Admin::force  UPDATE jobs SET status = 'running' WHERE id = ?                                        rival
//! ```
//!
//! What a statement says only at run time keeps the contract: what is not known breaks nothing.

use super::column::{Target, same_column, targets};
use super::guard::{self, Guard, same_state};
use super::protect::{Protection, protection};
use super::{Fault, Input};
use crate::analysis::fact::{CheckFact, Look, Table, WriteFact, WriteKind};
use crate::analysis::store::MAX_TRACE;
use crate::analysis::{Program, Value, sql_value};
use crate::base::Span;
use crate::finding::{Confidence, StepRole};
use crate::ir::{ConditionOp, FuncRef, FunctionKind};
use crate::model::Claim;
use crate::rule::{FaultKind, Placeholder, Values};

/// A contract with the functions that it names.
struct Contract<'a> {
    input: &'a Input<'a>,
    claim: &'a Claim,
    places: Vec<FuncRef>,
}

/// All faults about contracts whose functions are in the program.
pub(super) fn faults(input: &Input<'_>) -> Vec<Fault> {
    let mut out = Vec::new();
    for claim in input.claims {
        let contract = Contract { input, claim, places: places(input.program, claim) };
        out.extend(contract.places.iter().filter_map(|it| contract.broken(*it)));
        if !contract.places.is_empty() {
            out.extend(contract.rivals());
        }
    }
    super::settle(input, out)
}

/// The functions that a contract names; those without a body make no transition.
pub fn places(program: &Program<'_>, claim: &Claim) -> Vec<FuncRef> {
    let wanted = segments(&claim.at);
    let is_named = |at: &FuncRef| {
        let func = program.function(*at);
        let is_code = !matches!(func.kind, FunctionKind::Closure | FunctionKind::Script);
        is_code && !func.is_abstract && segments(&func.name).ends_with(&wanted)
    };
    let named = program.all_functions().filter(|it| !program.is_exempt(*it) && is_named(it));
    if wanted.is_empty() { Vec::new() } else { named.collect() }
}

/// `App\Jobs::claim` in small letters: `app`, `jobs`, `claim`.
fn segments(name: &str) -> Vec<String> {
    let parts = name.split(['\\', ':', '.']).filter(|it| !it.is_empty());
    parts.map(str::to_lowercase).collect()
}

impl Contract<'_> {
    /// What the function at `at` has lost, if it is known to have lost something.
    fn broken(&self, at: FuncRef) -> Option<Fault> {
        let settled = self.input.settled;
        let summary = settled.summaries.get(&at)?;
        let mut lost: Option<(String, &WriteFact)> = None;
        let mut is_vague = !summary.deferred.is_empty();
        for write in &summary.writes {
            let Some(target) = self.target(write, true) else { continue };
            if !self.sets(&target) {
                is_vague |= !target.value.is_constant();
                continue;
            }
            match self.loss(write, &target) {
                None => return None,
                Some(loss) => {
                    lost.get_or_insert((loss, write));
                }
            }
        }
        if lost.is_none() && is_vague {
            return None;
        }
        let is_seen =
            settled.resolved.get(&at).is_some_and(|it| it.calls.values().all(|call| !call.unknown));
        let confidence =
            if lost.is_some() || is_seen { Confidence::High } else { Confidence::Medium };
        Some(self.broken_fault(at, confidence, lost))
    }

    fn broken_fault(
        &self,
        at: FuncRef,
        confidence: Confidence,
        lost: Option<(String, &WriteFact)>,
    ) -> Fault {
        let func = self.input.program.function(at);
        let mut steps = Vec::new();
        if let Some((_, write)) = &lost {
            let words = "the contract names this function".to_owned();
            steps.push((StepRole::Note, func.name_span, words));
            steps.push((StepRole::Write, write.primary, "written here".to_owned()));
            steps.extend(write.sql.map(|it| (StepRole::Sql, it, "by this statement".to_owned())));
        }
        let primary = lost.as_ref().map_or(func.name_span, |(_, write)| write.primary);
        let symbol = lost.as_ref().map_or(at, |(_, write)| write.symbol);
        let lost = lost.map_or_else(|| "the change itself".to_owned(), |(lost, _)| lost);
        let fault = self.fault(FaultKind::BrokenClaim, confidence, (primary, symbol));
        Fault { values: self.values().with(Placeholder::Lost, lost), steps, ..fault }
    }

    /// What is missing at a write that makes the transition.
    fn loss(&self, write: &WriteFact, target: &Target) -> Option<String> {
        let input = &self.input.at(write.primary.source);
        let checks: Vec<&CheckFact> = write.checks.iter().collect();
        let is_safe = protection(write, &checks) == Protection::Safe;
        if write.kind == WriteKind::Row {
            return (!is_safe).then(|| "its guard".to_owned());
        }
        match guard::judge(input, write, &target.column) {
            Guard::Sweep => Some("its key".to_owned()),
            Guard::None | Guard::Unlocked if is_safe => None,
            Guard::None | Guard::Unlocked => Some("its guard".to_owned()),
            Guard::Fence | Guard::Unknown => None,
            Guard::Holds => {
                let foreign = self.old_states(write)?.into_iter();
                let mut foreign = foreign.filter(|it| !self.is_from(input, it));
                if let Some(state) = foreign.next() {
                    let word = super::column::state_word(&state);
                    return Some(format!("its guard, which lets `{word}` through"));
                }
                let is_seen = matches!(write.look, Look::Looked | Look::Returned);
                (!is_seen && !is_safe).then(|| "its count".to_owned())
            }
        }
    }

    /// Places besides those of the contract that make the transition.
    fn rivals(&self) -> Vec<Fault> {
        let Input { settled, program, .. } = *self.input;
        let mut out = Vec::new();
        for (at, facts) in settled.facts.iter().filter(|it| !program.is_exempt(*it.0)) {
            let root = !settled.imported.contains(at);
            let judged = facts.writes.iter().filter(|it| root || it.trace.len() >= MAX_TRACE);
            out.extend(judged.filter_map(|it| self.rival(it)));
        }
        out.retain(|it| !program.is_exempt(it.symbol));
        out
    }

    fn rival(&self, write: &WriteFact) -> Option<Fault> {
        let target = self.target(write, false)?;
        if write.fresh || !self.sets(&target) || self.is_own(write) {
            return None;
        }
        let input = &self.input.at(write.primary.source);
        let checks: Vec<&CheckFact> = write.checks.iter().collect();
        if self.starts_elsewhere(input, write, &target) {
            return None;
        }
        let found = guard::judge(input, write, &target.column);
        let holds = write.kind == WriteKind::Statement && found == Guard::Holds;
        let confidence = match found {
            _ if protection(write, &checks) == Protection::Safe => Confidence::Low,
            Guard::Unknown if write.kind == WriteKind::Statement => Confidence::Low,
            // It wins or loses like the contract's own place; two such places are one too many.
            _ if holds && write.look != Look::None => Confidence::Low,
            _ if write.weak => Confidence::Medium,
            _ => Confidence::High,
        };
        let own = self.input.program.function(*self.places.first()?);
        let steps = vec![
            (StepRole::Write, write.primary, "written here".to_owned()),
            (StepRole::Twin, own.name_span, "the contract gives it to this function".to_owned()),
        ];
        let at = (write.primary, write.symbol);
        Some(Fault { steps, ..self.fault(FaultKind::RivalClaim, confidence, at) })
    }

    /// Whether a write belongs to a function of the contract, or to what that calls.
    fn is_own(&self, write: &WriteFact) -> bool {
        let spans = self.places.iter().map(|it| self.input.program.function(*it).span);
        let places = || write.trace.iter().chain(&write.run).chain([&write.primary]);
        spans.into_iter().any(|span| places().any(|it| span.contains(*it)))
    }

    /// Whether the old states are known, and none is one of the contract's.
    fn starts_elsewhere(&self, input: &Input<'_>, write: &WriteFact, target: &Target) -> bool {
        let guarded = self.old_states(write);
        let checked = write.checks.iter().filter(|it| same_column(&it.column, &target.column));
        let mut known = checked
            .filter_map(|it| it.passes.clone().ok())
            .chain(guarded)
            .filter(|it| !it.is_empty() && it.iter().all(Value::is_constant));
        known.any(|states| !states.iter().any(|it| self.is_from(input, it)))
    }

    /// The states that the WHERE lets through, where it names them.
    fn old_states(&self, write: &WriteFact) -> Option<Vec<Value>> {
        let (stmt, params) = write.statement.as_ref()?;
        let tests = stmt.conditions.iter().filter(|it| {
            !it.foreign
                && same_column(&it.column, &self.claim.column)
                && matches!(it.op, ConditionOp::Eq | ConditionOp::In | ConditionOp::IsNull)
        });
        let mut states = Vec::new();
        for test in tests {
            if test.op == ConditionOp::IsNull {
                states.push(Value::Null);
            }
            for value in &test.values {
                let value = sql_value(value, params);
                states.extend(value.alternatives().iter().cloned());
            }
        }
        states.iter().all(Value::is_constant).then_some(states)
    }

    /// What the write sets of the contract's column; `lenient` when its table may be unknown.
    fn target(&self, write: &WriteFact, lenient: bool) -> Option<Target> {
        let name = &self.claim.table;
        let table = Table { table: Some(name.as_str().into()), ..Table::default() };
        let model = Table { model: Some(name.as_str().into()), ..Table::default() };
        let same = [&table, &model].map(|it| it.same(&write.table));
        let is_meant = same.contains(&Some(true)) || lenient && same == [None, None];
        let input = &self.input.at(write.primary.source);
        let mut found = targets(input, write).into_iter();
        found.find(|it| same_column(&it.column, &self.claim.column)).filter(|_| is_meant)
    }

    fn sets(&self, target: &Target) -> bool {
        let to = Value::Str(self.claim.to.as_str().into());
        let states = target.value.alternatives();
        states.iter().any(|it| same_state(self.input, it, &to))
    }

    fn is_from(&self, input: &Input<'_>, state: &Value) -> bool {
        let is_null = |word: &str| *state == Value::Null && word.eq_ignore_ascii_case("null");
        let same = |word: &str| same_state(input, state, &Value::Str(word.into()));
        self.claim.from.iter().any(|it| is_null(it) || same(it))
    }

    fn values(&self) -> Values {
        let Claim { table, column, from, to, at } = self.claim;
        let guard = super::witness::guard_of(column, from);
        Values::default()
            .with(Placeholder::Table, table.clone())
            .with(Placeholder::Column, column.clone())
            .with(Placeholder::From, from.join("`, `"))
            .with(Placeholder::To, to.clone())
            .with(Placeholder::Call, at.clone())
            .with(Placeholder::Guard, guard)
    }

    /// A fault without its witness.
    fn fault(&self, kind: FaultKind, confidence: Confidence, at: (Span, FuncRef)) -> Fault {
        Fault {
            kind,
            confidence,
            primary: at.0,
            table: self.claim.table.clone(),
            column: self.claim.column.clone(),
            to: self.claim.to.clone(),
            values: self.values(),
            steps: Vec::new(),
            schedule: None,
            symbol: at.1,
        }
    }
}
