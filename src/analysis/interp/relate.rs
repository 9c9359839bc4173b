//! Which checks, loads, claims and looks belong to which write.

use super::{Interp, Point};
use crate::analysis::fact::{
    CheckFact, CheckKind, ClaimFact, Filter, LoadFact, Look, WriteFact, WriteKind,
};
use crate::analysis::gate::{Gates, Side};
use crate::analysis::object::ObjectKind;
use crate::analysis::state::State;
use crate::analysis::summary::{CallSite, Effect};
use crate::analysis::value::{Identity, TestOp, Value};
use crate::base::{Name, Span, snake_case};
use crate::ir::{BlockId, Condition, ConditionOp, InstrKind, ParamRef, SqlExpr, Terminator};
use crate::model::{Role, Yield};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// How much evidence a write carries at most.
const MAX_EVIDENCE: usize = 8;

impl Interp<'_> {
    /// Gives each write the evidence that this function knows of.
    pub(super) fn relate(&mut self) {
        let mut gates = self.gates.borrow_mut();
        let tests: Vec<Tested> = self
            .resolved
            .tests
            .iter()
            .filter(|(_, value)| **value != Value::Unknown)
            .map(|(block, value)| Tested {
                block: *block,
                value: value.clone(),
                span: self.condition_span(*block),
                columns: columns_tested(value),
            })
            .collect();
        let mut writes = std::mem::take(&mut self.writes);
        let claims: Vec<(Point, Identity, Span, WriteFact)> = writes
            .iter()
            .filter(|(_, it)| may_claim(it))
            .map(|(point, it)| (*point, it.id, it.primary, it.clone()))
            .collect();
        for (point, write) in &mut writes {
            self.relate_loads(&mut gates, *point, write);
            self.relate_checks(&mut gates, &tests, *point, write);
            self.relate_claims(&mut gates, &tests, &claims, (*point, write));
        }
        self.relate_followers(&mut gates, &tests, &mut writes);
        for (point, write) in &mut writes {
            self.relate_looks(&mut gates, &tests, (*point, write));
        }
        let work = self.work_sites();
        for (point, write) in &mut writes {
            write.followed |= work.iter().any(|at| self.comes_after(&mut gates, *at, *point));
        }
        drop(gates);
        self.writes = writes;
    }

    /// Call sites that do more than tell.
    fn work_sites(&self) -> Vec<(BlockId, u32)> {
        let tells = |call: &CallSite| {
            call.roles.iter().any(|it| {
                matches!(
                    **it,
                    Role::Log
                        | Role::Same { .. }
                        | Role::Count { .. }
                        | Role::Fetch { .. }
                        | Role::Commit
                        | Role::Rollback
                        | Role::Release
                        | Role::Expect { .. }
                )
            })
        };
        self.resolved.calls.iter().filter(|(_, it)| !tells(it)).map(|(at, _)| *at).collect()
    }

    /// Whether a call site is reached after the point in the same round of any loop.
    fn comes_after(
        &self,
        gates: &mut Gates<'_>,
        (block, instr): (BlockId, u32),
        point: Point,
    ) -> bool {
        if block == point.block {
            return instr > point.instr;
        }
        let position =
            |it: BlockId| self.positions.get(it.0 as usize).copied().unwrap_or(usize::MAX);
        position(block) > position(point.block) && gates.leads(point.block, block)
    }

    pub(super) fn condition_span(&self, block: BlockId) -> Span {
        match &self.func.cfg.blocks[block].term {
            Terminator::Branch { span, .. } => *span,
            _ => self.func.span,
        }
    }

    fn relate_loads(&self, gates: &mut Gates<'_>, point: Point, write: &mut WriteFact) {
        for (at, load) in &self.loads {
            if !precedes(gates, *at, point) || write.loads.len() >= MAX_EVIDENCE {
                continue;
            }
            if !relates(write, &load.row, Some(load), &self.known) || write.loads.contains(load) {
                continue;
            }
            for filter in &load.filters {
                push_check(write, filter_check(load, filter));
            }
            write.loads.push(load.clone());
        }
    }

    fn relate_checks(
        &self,
        gates: &mut Gates<'_>,
        tests: &[Tested],
        point: Point,
        write: &mut WriteFact,
    ) {
        for tested in tests.iter().filter(|it| !it.columns.is_empty()) {
            if write.checks.len() >= MAX_EVIDENCE {
                break;
            }
            let touching: Vec<&ColumnTest> =
                tested.columns.iter().filter(|it| self.touches(write, &it.row)).collect();
            if touching.is_empty() {
                continue;
            }
            let Some(side) = gates.side(tested.block, point.block) else { continue };
            let works = self.works_behind(gates, (tested.block, side), point, write);
            for it in touching {
                let mut check = it.clone().into_fact(side == Side::Then, tested.span, self.at);
                check.works = works;
                push_check(write, check);
            }
        }
        for (at, effect) in &self.effects {
            if let Effect::Check(check) = effect
                && precedes(gates, *at, point)
                && self.touches(write, &check.row)
            {
                push_check(write, check.clone());
            }
        }
    }

    /// Whether something else than the write hangs on that side of a test.
    fn works_behind(
        &self,
        gates: &mut Gates<'_>,
        (block, side): (BlockId, Side),
        point: Point,
        write: &WriteFact,
    ) -> bool {
        let call_works = self.resolved.calls.iter().any(|((at, instr), call)| {
            let own = (*at, *instr) == (point.block, point.instr) || persists(call, write);
            let inner = || {
                let closures = self.nested_resolved.iter();
                closures
                    .filter(|it| call.callables.contains(&it.0))
                    .any(|(_, it)| it.calls.values().any(|it| it.works || !own && it.durable))
            };
            (call.works || !own && call.durable || inner()) && gates.side(block, *at) == Some(side)
        });
        call_works || self.answer_tells(gates, block, side)
    }

    /// Whether the function's answer, or an exception, tells which way the test went.
    fn answer_tells(&self, gates: &mut Gates<'_>, block: BlockId, side: Side) -> bool {
        let (mut here, mut there): (Vec<&Value>, Vec<&Value>) = (Vec::new(), Vec::new());
        for (at, value, _) in &self.returns {
            match gates.side(block, *at) {
                Some(it) if it == side => here.push(value),
                Some(_) => there.push(value),
                None => (),
            }
        }
        let throws = self.func.cfg.blocks.iter_ids().any(|(at, it)| {
            matches!(it.term, Terminator::Throw { .. })
                && gates.side(block, at).is_some_and(|it| it != side)
        });
        throws || here.iter().any(|it| there.iter().any(|that| it != that))
    }

    /// Whether a row that was tested is the one that is written.
    pub(super) fn touches(&self, write: &WriteFact, row: &Value) -> bool {
        let load = self.loads.iter().map(|(_, it)| it).find(|it| it.row == *row);
        relates(write, row, load, &self.known)
    }

    fn relate_claims(
        &self,
        gates: &mut Gates<'_>,
        tests: &[Tested],
        claims: &[(Point, Identity, Span, WriteFact)],
        (point, write): (Point, &mut WriteFact),
    ) {
        for (at, id, span, claim) in claims {
            if *id == write.id || !precedes(gates, *at, point) || !same_row(claim, write) {
                continue;
            }
            let gated = tests
                .iter()
                .any(|it| counts(&it.value, claim) && gates.side(it.block, point.block).is_some());
            let won = gated || self.looked.contains(id) && self.diverges_on_loss(*id);
            let stale_copy = self.is_stale_copy(gates, *at, point, write);
            let read_after = self.is_read_between(gates, *at, point, write);
            write.claims.push(ClaimFact { id: *id, span: *span, won, stale_copy, read_after });
        }
        for (at, effect) in &self.effects {
            if let Effect::Claim { id, span } = effect
                && precedes(gates, *at, point)
                && let Some((.., claim)) = claims.iter().find(|it| it.1 == *id)
                && same_row(claim, write)
            {
                let stale_copy = self.is_stale_copy(gates, *at, point, write);
                let read_after = self.is_read_between(gates, *at, point, write);
                write.claims.push(ClaimFact {
                    id: *id,
                    span: *span,
                    won: true,
                    stale_copy,
                    read_after,
                });
            }
        }
    }

    /// Whether the written object was read before the claim and not again until the write.
    fn is_stale_copy(
        &self,
        gates: &mut Gates<'_>,
        claim: Point,
        point: Point,
        write: &WriteFact,
    ) -> bool {
        let Some(row) = &write.row else { return false };
        let mut before = false;
        for (at, load) in self.loads.iter().filter(|(_, it)| it.row == *row) {
            if precedes(gates, claim, *at) && precedes(gates, *at, point) {
                return false;
            }
            before |= precedes(gates, *at, claim) && load.row == *row;
        }
        before
    }

    fn is_read_between(
        &self,
        gates: &mut Gates<'_>,
        claim: Point,
        point: Point,
        write: &WriteFact,
    ) -> bool {
        self.loads.iter().any(|(at, load)| {
            precedes(gates, claim, *at)
                && precedes(gates, *at, point)
                && relates(write, &load.row, Some(load), &self.known)
        })
    }

    /// A count that was looked at by something that throws when it is not as expected.
    fn diverges_on_loss(&self, id: Identity) -> bool {
        self.looked.contains(&id)
    }

    fn relate_looks(
        &self,
        gates: &mut Gates<'_>,
        tests: &[Tested],
        (point, write): (Point, &mut WriteFact),
    ) {
        if write.look == Look::Looked {
            return;
        }
        let id = write.id;
        let mut look = Look::None;
        if self.looked.contains(&id) || self.escaped.iter().any(|(_, it)| speaks_of(it, id)) {
            look = Look::Looked;
        }
        for tested in tests {
            if counts(&tested.value, write) {
                look = look.max(self.branch_look(gates, tested.block));
            } else if ran(&tested.value, write) {
                look = look.max(Look::Mistaken);
            }
        }
        for (at, value, state) in &self.returns {
            if counts(value, write) || leads_to(state, value, id) {
                look = look.max(Look::Returned);
            } else if ran(value, write)
                || *value == Value::Bool(true) && gates.leads(point.block, *at)
            {
                look = look.max(Look::Passed);
            }
            let kept = state.heap.iter().any(|(root, object)| {
                !matches!(root, Value::Object(_))
                    && object.fields.values().any(|it| speaks_of(&it.value, id))
            });
            if kept {
                look = Look::Looked;
            }
        }
        write.look = look.max(write.look);
    }

    /// A branch on a count is a look, unless all it decides is which constant is returned: then the
    /// caller has the answer.
    fn branch_look(&self, gates: &mut Gates<'_>, block: BlockId) -> Look {
        let works = self.resolved.calls.iter().any(|((at, _), call)| {
            let log = call.roles.iter().any(|it| matches!(**it, Role::Log));
            !log && gates.side(block, *at).is_some()
        });
        if works || self.changes_outside(gates, block) {
            return Look::Looked;
        }
        let gated: Vec<&Value> = self
            .returns
            .iter()
            .filter(|(at, ..)| gates.side(block, *at).is_some())
            .map(|(_, value, _)| value)
            .collect();
        let throws = self.func.cfg.blocks.iter_ids().any(|(at, it)| {
            matches!(it.term, Terminator::Throw { .. } | Terminator::Exit { .. })
                && gates.side(block, at).is_some()
        });
        let fails = gated.iter().any(|it| **it == Value::Failed);
        if throws || fails {
            return Look::Looked;
        }
        let differ =
            gated.windows(2).any(|it| it[0] != it[1]) || gated.len() == 1 && self.returns.len() > 1;
        if differ {
            return Look::Returned;
        }
        // Told, and nothing goes on behind it that would have to know.
        let goes_on =
            self.resolved.calls.iter().any(|((at, _), call)| {
                *at != block && does_something(call) && gates.leads(block, *at)
            });
        if goes_on { Look::None } else { Look::Looked }
    }

    /// Whether one side of a branch changes a variable that it did not make: a counter, a flag, a list.
    fn changes_outside(&self, gates: &mut Gates<'_>, block: BlockId) -> bool {
        let mut inside = Vec::new();
        let mut outside = FxHashSet::default();
        for (at, it) in self.func.cfg.blocks.iter_ids() {
            let is_gated = gates.side(block, at).is_some();
            for instr in &it.instrs {
                let InstrKind::Assign(place, _) = &instr.kind else { continue };
                match place.as_local() {
                    Some(local) if is_gated => inside.push(local),
                    Some(local) => {
                        outside.insert(local);
                    }
                    None if is_gated => return true,
                    None => (),
                }
            }
        }
        inside.iter().any(|it| outside.contains(it))
    }

    /// Checks in a tested value, for effects that carry one.
    pub(super) fn checks_in(&self, _state: &State, tested: &Value, holds: bool) -> Vec<CheckFact> {
        columns_tested(tested)
            .into_iter()
            .map(|it| it.into_fact(holds, self.span, self.at))
            .collect()
    }
}

/// A branch with what it tests.
#[derive(Debug)]
pub(super) struct Tested {
    pub(super) block: BlockId,
    value: Value,
    span: Span,
    pub(super) columns: Vec<ColumnTest>,
}

/// A column test found in a value.
#[derive(Clone, Debug)]
pub(super) struct ColumnTest {
    pub(super) row: Value,
    pub(super) column: Name,
    kind: CheckKind,
    /// Under a true test the column is one of these, or none of them.
    holds: Result<Vec<Value>, Vec<Value>>,
}

impl ColumnTest {
    pub(super) fn into_fact(
        self,
        holds: bool,
        span: Span,
        symbol: crate::ir::FuncRef,
    ) -> CheckFact {
        let passes = if holds {
            self.holds
        } else {
            match self.holds {
                Ok(them) if them.is_empty() => Ok(them),
                Ok(them) => Err(them),
                Err(them) => Ok(them),
            }
        };
        CheckFact {
            row: self.row,
            column: self.column,
            kind: self.kind,
            passes,
            span,
            symbol,
            works: true,
        }
    }
}

/// The columns that a value's truth depends on.
pub(super) fn columns_tested(tested: &Value) -> Vec<ColumnTest> {
    let mut out = Vec::new();
    collect_tests(tested, &mut out);
    out.truncate(MAX_EVIDENCE);
    out
}

fn collect_tests(tested: &Value, out: &mut Vec<ColumnTest>) {
    match tested {
        Value::Test(test) => {
            // `$seat?->taken_at === null` tests the column where there is a row.
            let left = super::row::non_null(test.left.clone());
            if let Some((row, column)) = left.as_path()
                && test.op != TestOp::Order
            {
                let mut right = test.right.clone();
                if right.contains(&Value::Unknown) {
                    right.clear();
                }
                let holds =
                    if test.op == TestOp::Eq || right.is_empty() { Ok(right) } else { Err(right) };
                push_test(out, row, column, CheckKind::Branch, holds);
            } else {
                collect_vague(&test.left, out);
            }
            for it in &test.right {
                collect_vague(it, out);
            }
        }
        Value::Truthy(inner) => collect_tests(inner, out),
        Value::Path(_) => {
            if let Some((row, column)) = tested.as_path() {
                let falsy = vec![Value::Bool(false), Value::Null];
                push_test(out, row, column, CheckKind::Branch, Err(falsy));
            }
        }
        Value::Any(them) => them.iter().for_each(|it| collect_tests(it, out)),
        it => collect_vague(it, out),
    }
}

fn collect_vague(value: &Value, out: &mut Vec<ColumnTest>) {
    match value {
        Value::Test(_) | Value::Truthy(_) => collect_tests(value, out),
        Value::Derived(them) | Value::Any(them) => {
            them.iter().for_each(|it| collect_vague(it, out));
        }
        Value::Path(_) => {
            if let Some((row, column)) = value.as_path() {
                push_test(out, row, column, CheckKind::Vague, Ok(Vec::new()));
            }
        }
        Value::Element(inner) => collect_vague(inner, out),
        _ => (),
    }
}

fn push_test(
    out: &mut Vec<ColumnTest>,
    row: &Value,
    column: &Name,
    kind: CheckKind,
    holds: Result<Vec<Value>, Vec<Value>>,
) {
    // `$status->value` tests the status.
    if matches!(&**column, "value" | "name")
        && let Some((row, column)) = row.as_path()
    {
        push_test(out, row, column, kind, holds);
        return;
    }
    for row in row.alternatives() {
        if !row.is_constant() && *row != Value::Unknown {
            let (row, column, holds) = (row.clone(), column.clone(), holds.clone());
            out.push(ColumnTest { row, column, kind, holds });
        }
    }
}

fn filter_check(load: &LoadFact, filter: &Filter) -> CheckFact {
    let values = filter.values.clone();
    let passes = if filter.negated { Err(values) } else { Ok(values) };
    CheckFact {
        row: load.row.clone(),
        column: filter.column.clone(),
        kind: CheckKind::Filter,
        passes: if filter.vague { Ok(Vec::new()) } else { passes },
        span: load.span,
        symbol: load.symbol,
        works: true,
    }
}

/// Whether the call does nothing but write the same row back.
fn persists(call: &CallSite, write: &WriteFact) -> bool {
    let mut own = false;
    let only = call.roles.iter().all(|role| match **role {
        Role::Flush | Role::Commit | Role::Rollback => {
            own = true;
            true
        }
        Role::Save { .. } => {
            let row = write.row.as_ref();
            own |= row.is_some_and(|row| call.receiver == *row || call.args.contains(row));
            true
        }
        _ => false,
    });
    only && own
}

pub(super) fn push_check(write: &mut WriteFact, check: CheckFact) {
    if write.checks.len() < MAX_EVIDENCE * 2 && !write.checks.contains(&check) {
        write.checks.push(check);
    }
}

/// Whether a call may do more than compute or tell: it runs code of the program, writes, or is given
/// something by a name that is no logger's.
fn does_something(call: &crate::analysis::summary::CallSite) -> bool {
    let log = call.roles.iter().any(|it| matches!(**it, crate::model::Role::Log));
    !log && (!call.targets.is_empty() || call.durable || call.unknown && !call.args.is_empty())
}

fn precedes(gates: &mut Gates<'_>, earlier: Point, later: Point) -> bool {
    if earlier.block == later.block {
        return earlier < later;
    }
    gates.leads(earlier.block, later.block)
}

/// Whether the value depends on how many rows a write affected, or on the row that it gave back.
pub(super) fn speaks_of(value: &Value, id: Identity) -> bool {
    value.mentions(&Value::Count(id)) || value.mentions(&Value::Object(id))
}

/// Whether the value depends on how many rows the write affected. An outcome by itself does not: the
/// number has to be read from it.
fn counts(value: &Value, write: &WriteFact) -> bool {
    let outcome = Value::Object(write.id);
    let mut found = false;
    value.walk(&mut |it| {
        found |= *it == Value::Count(write.id)
            || *it == outcome && !is_plain_outcome(write)
            || it.as_path().is_some_and(|(base, _)| *base == outcome);
    });
    found
}

/// Whether the value tells that the write ran, and nothing more.
fn ran(value: &Value, write: &WriteFact) -> bool {
    value.mentions(&Value::Ran(write.id))
        || value.mentions(&Value::Object(write.id)) && is_plain_outcome(write)
}

fn is_plain_outcome(write: &WriteFact) -> bool {
    let returning = write.statement.as_ref().is_some_and(|(stmt, _)| stmt.returning);
    write.gives == Yield::Outcome && !write.weak && !returning
}

/// Whether a returned object leads to a write's count.
fn leads_to(state: &State, value: &Value, id: Identity) -> bool {
    match state.object(value).map(|it| &it.kind) {
        Some(ObjectKind::Statement(stmt)) => stmt.ran == Some(id),
        Some(ObjectKind::Outcome(it)) => *it == id,
        Some(ObjectKind::List(row)) => speaks_of(row, id),
        Some(ObjectKind::Array(array)) => array.items.iter().any(|it| speaks_of(&it.value, id)),
        _ => state
            .object(value)
            .is_some_and(|it| it.fields.values().any(|it| speaks_of(&it.value, id))),
    }
}

/// Whether a statement has a condition besides its key: only then can it be a claim.
fn may_claim(write: &WriteFact) -> bool {
    let Some((stmt, _)) = &write.statement else { return false };
    write.kind == WriteKind::Statement
        && stmt.conditions.iter().any(|it| !is_key_column(&it.column) || !it.any.is_empty())
}

/// Whether two writes speak of the same row.
pub(super) fn same_row(a: &WriteFact, b: &WriteFact) -> bool {
    if a.table.same(&b.table) == Some(false) {
        return false;
    }
    let key = |it: &WriteFact| {
        it.statement.as_ref().and_then(|(stmt, params)| key_value(&stmt.conditions, params))
    };
    match (key(a), key(b)) {
        (Some(x), Some(y)) if x == y && x != Value::Unknown => true,
        (Some(x), _) if b.row.as_ref().is_some_and(|row| key_of_row(&x, row)) => true,
        _ => {
            let keys_of = |it: &WriteFact| -> Vec<Value> {
                it.loads
                    .iter()
                    .flat_map(|load| load.key.iter().cloned().chain([load.row.clone()]))
                    .collect()
            };
            let (mine, theirs) = (keys_of(a), keys_of(b));
            mine.iter().any(|it| *it != Value::Unknown && theirs.contains(it))
                || key(a).is_some_and(|x| theirs.iter().any(|row| key_of_row(&x, row) || *row == x))
        }
    }
}

/// Whether a key value names a row: a field of it, or something computed from one.
fn key_of_row(key: &Value, row: &Value) -> bool {
    if *row == Value::Unknown || row.is_constant() {
        return false;
    }
    match key.as_path() {
        Some((base, _)) => base == row || base.mentions(row) && !matches!(row, Value::This),
        None => key.mentions(row) && !matches!(row, Value::This),
    }
}

/// Whether a write is about `row`, which came from `load` when that is known.
/// `known` are loads around this function.
pub(super) fn relates(
    write: &WriteFact,
    row: &Value,
    load: Option<&LoadFact>,
    known: &[LoadFact],
) -> bool {
    if let Some(own) = &write.row {
        if own == row {
            return true;
        }
        let Some(load) = load else { return false };
        let own_load = write.loads.iter().chain(known).find(|it| it.row == *own);
        let same_key = own_load.is_some_and(|it| {
            let named =
                it.key.as_ref().is_some_and(|it| !it.is_constant() && *it != Value::Unknown);
            named && it.key == load.key && it.table.same(&load.table) != Some(false)
        });
        let by_key = load.key.as_ref().is_some_and(|it| key_of_row(it, own));
        let related = same_key || by_key && write.table.same(&load.table) == Some(true);
        if related || write.statement.is_none() {
            return related;
        }
    }
    let Some((stmt, params)) = &write.statement else { return false };
    let table = load.and_then(|it| write.table.same(&it.table));
    if table == Some(false) {
        return false;
    }
    let key = key_value(&stmt.conditions, params);
    if let Some(key) = &key
        && *key != Value::Unknown
    {
        if key_of_row(key, row) {
            return true;
        }
        if let Some(load) = load {
            if load.key.as_ref() == Some(key) {
                return true;
            }
            let shared = stmt.conditions.iter().any(|it| {
                let mine = it.values.first().map(|it| super::query::sql_value(it, params));
                mine.is_some_and(|mine| {
                    !mine.is_constant()
                        && mine != Value::Unknown
                        && load.filters.iter().any(|filter| {
                            same_column(&filter.column, &it.column) && filter.values.contains(&mine)
                        })
                })
            });
            return shared;
        }
        return false;
    }
    table == Some(true)
}

/// Whether two spellings mean one column.
pub(super) fn same_column(a: &str, b: &str) -> bool {
    a == b || column_key(a) == column_key(b)
}

/// The spelling by which columns, properties and getters are compared.
pub(crate) fn column_key(name: &str) -> String {
    let name = snake_case(name);
    let name = name.strip_prefix("get_").unwrap_or(&name);
    for prefix in ["is_", "has_", "was_"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return rest.to_owned();
        }
    }
    name.to_owned()
}

/// Conditions on other columns than the key, as what a load proves.
pub(super) fn filters_of(
    conditions: &[Condition],
    params: &BTreeMap<ParamRef, Value>,
) -> Vec<Filter> {
    let mut out = Vec::new();
    for it in conditions {
        if !it.any.is_empty() {
            for branch in &it.any {
                for mut filter in filters_of(branch, params) {
                    filter.vague = true;
                    out.push(filter);
                }
            }
            continue;
        }
        if it.foreign
            || it.column.is_empty()
            || is_key_column(&it.column) && it.op == ConditionOp::Eq
        {
            continue;
        }
        let values: Vec<Value> =
            it.values.iter().map(|it| super::query::sql_value(it, params)).collect();
        let (values, negated, vague) = match it.op {
            ConditionOp::Eq | ConditionOp::In => (values, false, false),
            ConditionOp::Ne | ConditionOp::NotIn => (values, true, false),
            ConditionOp::IsNull => (vec![Value::Null], false, false),
            ConditionOp::IsNotNull => (vec![Value::Null], true, false),
            ConditionOp::Less
            | ConditionOp::Greater
            | ConditionOp::Like
            | ConditionOp::InSelect
            | ConditionOp::Other => (values, false, true),
        };
        out.push(Filter { column: it.column.clone(), negated, values, vague });
    }
    out.truncate(MAX_EVIDENCE);
    out
}

/// The value of the condition that names the row.
pub(super) fn key_value(
    conditions: &[Condition],
    params: &BTreeMap<ParamRef, Value>,
) -> Option<Value> {
    let candidates = || {
        conditions.iter().filter(|it| {
            !it.foreign && it.any.is_empty() && matches!(it.op, ConditionOp::Eq | ConditionOp::In)
        })
    };
    let value = |it: &Condition| {
        let values: Vec<Value> =
            it.values.iter().map(|it| super::query::sql_value(it, params)).collect();
        match <[Value; 1]>::try_from(values) {
            Ok([one]) => one,
            Err(values) => Value::derived(values),
        }
    };
    candidates()
        .find(|it| is_key_column(&it.column))
        .or_else(|| {
            candidates().find(|it| {
                let given = matches!(it.values.first(), Some(SqlExpr::Param(_)));
                given && !value(it).is_constant() && is_name_column(&it.column)
            })
        })
        .map(value)
}

/// Columns that identify a row by convention.
pub(crate) fn is_key_column(column: &str) -> bool {
    let name = snake_case(column);
    matches!(
        &*name,
        "id" | "uuid" | "guid" | "rowid" | "pk" | "uid" | "oid" | "ctid" | "_id" | "entity_id"
    ) || name.ends_with("_uuid")
        || name.ends_with("_id") && !name.contains("status") && !name.contains("state")
        || name.ends_with("_pk")
}

/// Columns that may identify a row when no id is there.
fn is_name_column(column: &str) -> bool {
    let name = snake_case(column);
    let last = name.rsplit('_').next().unwrap_or(&name);
    matches!(
        last,
        "key"
            | "code"
            | "token"
            | "hash"
            | "number"
            | "no"
            | "ref"
            | "reference"
            | "slug"
            | "name"
            | "email"
            | "path"
            | "url"
            | "identifier"
            | "handle"
            | "serial"
            | "sku"
            | "login"
            | "digest"
    )
}
