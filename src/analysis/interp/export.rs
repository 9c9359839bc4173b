//! What leaves a function: its summary for callers, its writes for the rules.

use super::decided::asks_for;
use super::fetch::ROWS;
use super::{Interp, Outcome};
use crate::analysis::fact::{Held, Look, WriteFact, WriteKind};
use crate::analysis::gate::Side;
use crate::analysis::object::{Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::summary::{Effect, Summary};
use crate::analysis::value::{Choice, Identity, Value};
use crate::base::Language;
use crate::ir::{Assign, BlockId, FuncRef, SqlExpr, Terminator};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many writes a function hands on.
pub(crate) const MAX_WRITES: usize = 48;

/// How many effects a function hands on.
pub(crate) const MAX_EFFECTS: usize = 64;

/// How many objects a function hands on.
const MAX_OBJECTS: usize = 48;

impl Interp<'_> {
    pub(super) fn export(mut self) -> Outcome {
        self.relate();
        self.finish().0
    }

    /// For a closure: the outcome, the state behind it, its value, and the closures that ran.
    pub(super) fn finish_nested(mut self) -> (Outcome, Option<State>, Value, FxHashSet<FuncRef>) {
        if !self.rehearsal {
            self.relate();
        }
        let ran = std::mem::take(&mut self.ran);
        let (outcome, after) = self.finish();
        let value = outcome.summary.ret.clone();
        (outcome, after, value, ran)
    }

    fn finish(mut self) -> (Outcome, Option<State>) {
        let arms = self.arms();
        let looks = self.looks();
        let ret = super::arms::renamed(&arms).unwrap_or_else(|| self.result());
        let after = self.final_state().map(|it| self.without_dropped(it, &ret));
        let diverges = self.returns.is_empty();
        let works = self.does_work();
        let heap = after.as_ref().map(|it| self.kept_objects(it, &ret)).unwrap_or_default();
        let outs = after.as_ref().map(|it| self.outs(it)).unwrap_or_default();
        let effects = self.exported_effects(after.as_ref(), &ret);
        self.find_workerlike();
        let mut looked: Vec<_> = self.looked.iter().copied().collect();
        looked.sort_unstable();
        let all: Vec<WriteFact> = self.writes.iter().map(|(_, it)| it.clone()).collect();
        let mut writes: Vec<WriteFact> =
            all.iter().filter(|it| self.matters(it)).take(MAX_WRITES).cloned().collect();
        writes.sort_by_key(|it| it.primary);
        let mut summary = Summary {
            ret,
            arms,
            looks,
            heap,
            effects,
            writes,
            outs,
            types: std::mem::take(&mut self.types),
            deferred: std::mem::take(&mut self.deferred),
            diverges,
            durable: self.durable,
            works,
        };
        if self.depth == 0 {
            forget_types(&mut summary);
        }
        let outcome = Outcome {
            summary,
            resolved: std::mem::take(&mut self.resolved),
            writes: all,
            loads: self.loads.iter().map(|(_, it)| Arc::clone(it)).collect(),
            nested: std::mem::take(&mut self.nested_resolved),
            looked,
            at: self.at,
        };
        (outcome, after)
    }

    fn does_work(&self) -> bool {
        let inner = self.nested_resolved.iter().map(|(_, it)| it);
        std::iter::once(&self.resolved).chain(inner).any(|it| it.calls.values().any(|it| it.works))
    }

    fn final_state(&self) -> Option<State> {
        let mut states = self.normal_returns().into_iter().map(|it| &it.2);
        let mut out = states.next()?.clone();
        for state in states {
            out.join(state);
        }
        Some(out)
    }

    /// Rust drops the guards that do not leave the function, and with them their locks.
    fn without_dropped(&self, mut state: State, ret: &Value) -> State {
        if self.language != Language::Rust || self.depth > 0 {
            return state;
        }
        let mut kept: Vec<Value> = Vec::new();
        let mut keep = |it: &Value| it.walk(&mut |it| kept.push(it.clone()));
        keep(ret);
        for (root, object) in state.heap.iter() {
            if !matches!(root, Value::Object(_)) || ret.mentions(root) {
                object.fields.values().for_each(|it| keep(&it.value));
            }
        }
        let dropped: Vec<_> = state
            .heap
            .iter()
            .filter(|(root, _)| matches!(root, Value::Object(_)) && !kept.contains(root))
            .filter_map(|(_, object)| match object.kind {
                ObjectKind::Lock(id) => Some(id),
                _ => None,
            })
            .collect();
        state.held.retain(|it| !dropped.contains(&it.id));
        state
    }

    /// The returns that give what was asked for; all of them, when there are only errors.
    pub(super) fn normal_returns(&self) -> Vec<&(BlockId, Value, State)> {
        let normal: Vec<_> = self.returns.iter().filter(|it| it.1 != Value::Failed).collect();
        if normal.is_empty() { self.returns.iter().collect() } else { normal }
    }

    /// What the function gives back: the join of its returns, and, where constants are returned on
    /// different sides of a test, the test itself.
    fn result(&mut self) -> Value {
        let mut values: Vec<Value> = Vec::new();
        for (_, value, _) in self.normal_returns() {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        let constants = values.iter().filter(|it| it.is_constant()).count();
        if values.len() >= 2
            && constants >= 1
            && values.len() <= 8
            && let Some(found) = self.decided_by_tests(&values)
        {
            return found;
        }
        values.into_iter().reduce(Value::join).unwrap_or_default()
    }

    fn decided_by_tests(&self, values: &[Value]) -> Option<Value> {
        let mut gates = self.gates.borrow_mut();
        let mut tests: Vec<(Value, Side, Value)> = Vec::new();
        for (block, tested) in &self.resolved.tests {
            for (at, value, _) in self.normal_returns() {
                if let Some(side) = gates.side(*block, *at) {
                    tests.push((tested.clone(), side, value.clone()));
                }
            }
        }
        let interesting = |it: &Value| {
            let mut found = false;
            it.walk(&mut |it| {
                found |= matches!(
                    it,
                    Value::Path(_) | Value::Count(_) | Value::Object(_) | Value::Got(_)
                );
            });
            found
        };
        // That nothing comes back where nothing was found says nothing that the result does not.
        tests.retain(|it| interesting(&it.0) && !values.iter().any(|value| asks_for(&it.0, value)));
        let (first, ..) = tests.first()?;
        let only = tests.iter().all(|it| it.0 == *first);
        let two = values.len() == 2 && values.iter().all(|it| matches!(it, Value::Bool(_)));
        if only && two {
            let (tested, side, value) = tests.first()?;
            let positive = (*side == Side::Then) == (*value == Value::Bool(true));
            let tested = match tested {
                Value::Test(_) | Value::Truthy(_) | Value::Got(_) => tested.clone(),
                it => Value::Truthy(Arc::new(it.clone())),
            };
            return Some(if positive { tested } else { super::eval::negate(tested) });
        }
        if let Some(choice) = choice_of(&tests, values) {
            return Some(values.iter().cloned().fold(choice, Value::join));
        }
        let decided = Value::derived(tests.into_iter().map(|it| it.0));
        let rest: Vec<Value> = values
            .iter()
            .filter(|it| !matches!(it, Value::Bool(_) | Value::Null))
            .cloned()
            .collect();
        Some(rest.into_iter().fold(decided, Value::join))
    }

    /// Objects that the result or the parameters lead to.
    fn kept_objects(&self, state: &State, ret: &Value) -> BTreeMap<Value, Arc<Object>> {
        let mut out = BTreeMap::new();
        let mut queue: Vec<Value> = Vec::new();
        ret.walk(&mut |it| queue.push(it.clone()));
        for (root, object) in state.heap.iter() {
            let outside = !matches!(root, Value::Object(_) | Value::Opaque(_));
            let changed = object.fields.values().any(|it| it.changed.is_some())
                || object.ty.is_some() && matches!(root, Value::Param(_))
                || matches!(object.kind, ObjectKind::Query(_) | ObjectKind::Array(_));
            if outside && changed {
                queue.push(root.clone());
            }
        }
        while let Some(root) = queue.pop() {
            if out.len() >= MAX_OBJECTS || out.contains_key(&root) {
                continue;
            }
            let Some(object) = state.heap.get(&root) else { continue };
            out.insert(root, Arc::clone(object));
            object.leads_to(&mut |it| it.walk(&mut |it| queue.push(it.clone())));
        }
        out
    }

    /// Final values of by-reference parameters.
    fn outs(&self, state: &State) -> Vec<(Value, Value)> {
        let mut out = Vec::new();
        for (idx, param) in self.func.params.iter().enumerate() {
            if !param.by_ref {
                continue;
            }
            let idx = u32::try_from(idx).unwrap_or(u32::MAX);
            let value = state.locals.get(param.local.0 as usize).cloned().unwrap_or_default();
            if value != Value::Param(idx) {
                out.push((Value::Param(idx), value));
            }
        }
        out
    }

    /// What callers see in order: reads, locks still held, transactions still open, checks that must
    /// have passed when the function returns.
    fn exported_effects(&mut self, after: Option<&State>, ret: &Value) -> Vec<Effect> {
        let mut out: Vec<(super::Point, Effect)> = Vec::new();
        let Some(after) = after else { return Vec::new() };
        for (point, effect) in &self.effects {
            match effect {
                Effect::Acquire(held) => {
                    if let Some(still) = after.held.iter().find(|it| it.id == held.id) {
                        out.push((*point, Effect::Acquire(still.clone())));
                    } else if self.tells_whether_held(*point, held.id, ret) {
                        out.push((*point, Effect::Acquire(Held { unsure: true, ..held.clone() })));
                    }
                }
                effect => out.push((*point, effect.clone())),
            }
        }
        for (point, load) in &self.loads {
            out.push((*point, Effect::Load(Arc::clone(load))));
        }
        out.extend(self.passed_checks());
        out.sort_by_key(|it| it.0);
        out.truncate(MAX_EFFECTS);
        out.into_iter().map(|it| it.1).collect()
    }

    /// Whether a lock that was tried is not let go of, and what is returned tells whether it was got.
    fn tells_whether_held(&self, taken: super::Point, id: Identity, ret: &Value) -> bool {
        let ends = |it: &Effect| matches!(it, Effect::Release | Effect::End);
        ret.mentions(&Value::Got(id))
            && !self.effects.iter().any(|(at, it)| *at > taken && ends(it))
    }

    /// Tests whose other side never returns, and how they came out when the call comes back.
    fn decisive_tests(&self) -> Vec<(BlockId, &Value, bool)> {
        let mut gates = self.gates.borrow_mut();
        let leaves: Vec<BlockId> = self.normal_returns().iter().map(|it| it.0).collect();
        let mut out = Vec::new();
        for (block, tested) in &self.resolved.tests {
            let Terminator::Branch { then, otherwise, .. } = &self.func.cfg.blocks[*block].term
            else {
                continue;
            };
            let mut returns = |from: BlockId| {
                leaves.iter().any(|it| *it == from || gates.reaches(from, *it, *block))
            };
            let holds = match (returns(*then), returns(*otherwise)) {
                (true, false) => true,
                (false, true) => false,
                _ => continue,
            };
            // One arm of several says nothing of the calls that took another.
            if leaves.iter().any(|it| gates.reaches(BlockId(0), *it, *block)) {
                continue;
            }
            out.push((*block, tested, holds));
        }
        out
    }

    /// Outcomes of the caller that are tested here: their rows are counted, or the call fails.
    fn looks(&self) -> Vec<Value> {
        let mut out = Vec::new();
        for (_, tested, _) in self.decisive_tests() {
            tested.walk(&mut |it| match it.as_path() {
                Some((base, name)) if &**name == ROWS && !out.contains(base) => {
                    out.push(base.clone());
                }
                _ => (),
            });
        }
        out
    }

    /// What the decisive tests tell a caller.
    fn passed_checks(&self) -> Vec<(super::Point, Effect)> {
        let mut out = Vec::new();
        for (block, tested, holds) in self.decisive_tests() {
            let point = super::Point { block, instr: u32::MAX, seq: 0 };
            let span = self.condition_span(block);
            for it in super::tested::columns_tested(tested) {
                out.push((point, Effect::Check(it.into_fact(holds, span, self.at))));
            }
            let mut ids = Vec::new();
            tested.walk(&mut |it| {
                if let Value::Count(id) | Value::Object(id) = it {
                    ids.push(*id);
                }
            });
            for id in ids {
                if self.writes.iter().any(|(_, it)| it.id == id) {
                    out.push((point, Effect::Claim { id, span }));
                }
            }
        }
        out
    }

    fn find_workerlike(&mut self) {
        let program = self.shared.program;
        let words = self.shared.words;
        let func = self.root;
        let class = func.class.as_deref().unwrap_or_default();
        let workerlike = words.worker_functions.matches(&func.short)
            || words.worker_classes.matches(crate::base::last_segment(class))
            || program.ancestry(class).iter().skip(1).any(|it| {
                self.shared.vocabulary.handlers.iter().any(|(_, handler)| {
                    handler.implements.iter().any(|name| name.eq_ignore_ascii_case(&it.name))
                })
            });
        if workerlike {
            for (_, write) in &mut self.writes {
                write.workerlike = true;
            }
        }
    }

    /// Whether a caller could learn anything from the write.
    fn matters(&self, write: &WriteFact) -> bool {
        let columns = self.shared.columns;
        let table = write.table.word().unwrap_or_default();
        let interesting = |column: &str| {
            let class = columns.classify(table, column);
            class.is_state()
                || matches!(
                    class,
                    crate::model::ColumnClass::Counter | crate::model::ColumnClass::Weak
                )
                || write.checks.iter().any(|it| super::same::same_column(&it.column, column))
        };
        if write.kind == WriteKind::Row {
            return write.changes.is_empty()
                || matches!(write.look, Look::Returned | Look::Passed)
                || write.changes.iter().any(|it| interesting(&it.column))
                || !matches!(write.row, Some(Value::Object(_)));
        }
        let Some((stmt, params)) = &write.statement else { return false };
        let upsert = stmt.upsert.iter().flat_map(|it| &it.sets);
        // A plain column that is set to something fixed may be a state for a caller that tests it.
        let fixed = |it: &Assign| {
            it.value == SqlExpr::Now || super::column::sql_value(&it.value, params).is_constant()
        };
        stmt.sets
            .iter()
            .chain(upsert)
            .any(|it| it.column_param.is_some() || interesting(&it.column) || fixed(it))
            || stmt.sets.is_empty()
            || write.is_claiming_insert()
    }
}

/// Two constants that are given back on the two sides of one test, which a `match` may ask twice.
pub(super) fn choice_of(tests: &[(Value, Side, Value)], values: &[Value]) -> Option<Value> {
    let constant = values.iter().all(Value::is_constant);
    let [(first, ..), ..] = tests else { return None };
    if !constant || values.len() != 2 {
        return None;
    }
    let opposite = super::eval::negate(first.clone());
    let mut sides: [Option<&Value>; 2] = [None, None];
    for (tested, side, value) in tests {
        if tested != first && *tested != opposite {
            return None;
        }
        let holds = (*side == Side::Then) == (tested == first);
        let slot = &mut sides[usize::from(holds)];
        if slot.is_some_and(|it| it != value) {
            return None;
        }
        *slot = Some(value);
    }
    let test = match first {
        Value::Test(_) | Value::Truthy(_) | Value::Got(_) => first.clone(),
        it => Value::Truthy(Arc::new(it.clone())),
    };
    let other = |it: &Value| values.iter().find(|that| *that != it);
    let then = sides[1].or_else(|| other(sides[0]?))?.clone();
    let otherwise = sides[0].or_else(|| other(&then))?.clone();
    (then != otherwise).then(|| Value::Choice(Arc::new(Choice { test, then, otherwise })))
}

/// Types of what no caller will ever see go: else each caller has those of all call paths below it.
fn forget_types(summary: &mut Summary) {
    let mut types = std::mem::take(&mut summary.types);
    let mut seen: FxHashSet<Identity> = FxHashSet::default();
    summary.walk(&mut |it| {
        if let Value::Opaque(id) | Value::Object(id) = it {
            seen.insert(*id);
        }
    });
    types.retain(|id, _| seen.contains(id));
    summary.types = types;
}
