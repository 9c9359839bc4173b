//! Which checks, loads, claims and looks belong to which write.

use super::around::Around;
use super::same::relates;
use super::same::same_row;
use super::same::{is_latch, is_one_of_several, may_claim};
use super::tested::ColumnTest;
use super::tested::Tested;
use super::tested::columns_tested;
use super::tested::counts;
use super::tested::filter_check;
use super::tested::ids_in;
use super::tested::leads_to;
use super::tested::ran;
use super::{Interp, Point};
use crate::analysis::fact::{CheckFact, ClaimFact, Look, Transaction, WriteFact};
use crate::analysis::gate::{Gates, Side};
use crate::analysis::state::State;
use crate::analysis::summary::{CallSite, Effect};
use crate::analysis::value::{Identity, Value};
use crate::base::Span;
use crate::ir::{BlockId, InstrKind, Terminator};
use crate::model::Role;
use rustc_hash::FxHashSet;
use std::cell::OnceCell;
use std::sync::Arc;

/// How much evidence a write carries at most.
pub(super) const MAX_EVIDENCE: usize = 8;

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
                ids: ids_in([value]),
            })
            .collect();
        let mut writes = std::mem::take(&mut self.writes);
        let around = Around::of(self);
        let claims: Vec<(Point, Identity, Span, WriteFact)> = writes
            .iter()
            .filter(|(_, it)| may_claim(it))
            .map(|(point, it)| (*point, it.id, it.primary, it.clone()))
            .collect();
        for (point, write) in &mut writes {
            self.relate_loads(&mut gates, &around, *point, write);
            self.relate_checks(&mut gates, (&tests, &around), *point, write);
            let found = self.claims_of(&mut gates, (&tests, &around), &claims, (*point, write));
            write.claims.extend(found);
            write.only_if.extend(self.conditions_of(&mut gates, point.block));
        }
        self.relate_followers(&mut gates, (&tests, &around), &mut writes);
        for (point, write) in &mut writes {
            self.relate_looks(&mut gates, (&tests, &around), (*point, write));
        }
        drop(around);
        let work = self.work_sites();
        for (point, write) in &mut writes {
            write.followed |= work.iter().any(|at| self.comes_after(&mut gates, *at, *point));
            write.behind |= self.is_behind_writes(&mut gates, *point, write);
        }
        drop(gates);
        self.writes = writes;
    }

    /// Whether something else is written before it in the transaction that is open.
    fn is_behind_writes(&self, gates: &mut Gates<'_>, point: Point, write: &WriteFact) -> bool {
        let open = matches!(write.context.transaction, Transaction::Open | Transaction::Strict);
        open && self.resolved.calls.iter().any(|((block, instr), call)| {
            let at = Point { block: *block, instr: *instr, seq: u32::MAX };
            call.durable && call.works && precedes(gates, at, point)
        })
    }

    /// Call sites that do more than tell.
    pub(super) fn work_sites(&self) -> Vec<(BlockId, u32)> {
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
        let works = |it: &CallSite| !tells(it) && !turns_a_constant(it);
        self.resolved.calls.iter().filter(|(_, it)| works(it)).map(|(at, _)| *at).collect()
    }

    /// Whether a call site is reached after the point in the same round of any loop.
    pub(super) fn comes_after(
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

    pub(super) fn relate_loads(
        &self,
        gates: &mut Gates<'_>,
        around: &Around<'_>,
        point: Point,
        write: &mut WriteFact,
    ) {
        for idx in around.candidates(write) {
            let (at, load) = &self.loads[idx];
            if !precedes(gates, *at, point) || write.loads.len() >= MAX_EVIDENCE {
                continue;
            }
            if !relates(write, &load.row, Some(load), &self.known) || write.loads.contains(load) {
                continue;
            }
            let works = self.works_after(gates, *at, point, write);
            let filters = if is_one_of_several(write, &load.row) { &[][..] } else { &load.filters };
            for filter in filters {
                let mut check = filter_check(load, filter);
                check.works = works;
                push_check(write, check);
            }
            write.loads.push(Arc::clone(load));
        }
    }

    pub(super) fn relate_checks(
        &self,
        gates: &mut Gates<'_>,
        (tests, around): (&[Tested], &Around<'_>),
        point: Point,
        write: &mut WriteFact,
    ) {
        for tested in tests.iter().filter(|it| !it.columns.is_empty()) {
            if write.checks.len() >= MAX_EVIDENCE {
                break;
            }
            let touching: Vec<&ColumnTest> =
                tested.columns.iter().filter(|it| around.touches(write, &it.row)).collect();
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
                && around.touches(write, &check.row)
            {
                push_check(write, check.clone());
            }
        }
    }

    /// Whether something else than the write happens once the row was found.
    fn works_after(
        &self,
        gates: &mut Gates<'_>,
        load: Point,
        point: Point,
        write: &WriteFact,
    ) -> bool {
        self.resolved.calls.iter().any(|((block, instr), call)| {
            // The read itself is run by a call as well.
            let own = (*block, *instr) == (point.block, point.instr)
                || (*block, *instr) == (load.block, load.instr)
                || persists(call, write);
            let at = Point { block: *block, instr: *instr, seq: u32::MAX };
            (call.works || !own && call.durable) && precedes(gates, load, at)
        })
    }

    /// Whether something else than the write hangs on that side of a test.
    pub(super) fn works_behind(
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
    pub(super) fn answer_tells(&self, gates: &mut Gates<'_>, block: BlockId, side: Side) -> bool {
        let (mut here, mut there): (Vec<&Value>, Vec<&Value>) = (Vec::new(), Vec::new());
        for (at, value, _) in &self.returns {
            match gates.side(block, *at) {
                Some(it) if it == side => here.push(value),
                Some(_) => there.push(value),
                // The other side may come to it as well.
                None if gates.leads(block, *at) => there.push(value),
                None => (),
            }
        }
        let throws = self.func.cfg.blocks.iter_ids().any(|(at, it)| {
            (matches!(it.term, Terminator::Throw { .. }) || self.ended.contains(&at))
                && gates.side(block, at).is_some_and(|it| it != side)
        });
        throws || here.iter().any(|it| there.iter().any(|that| it != that))
    }

    /// The claims that come before a write.
    pub(super) fn claims_of(
        &self,
        gates: &mut Gates<'_>,
        (tests, around): (&[Tested], &Around<'_>),
        claims: &[(Point, Identity, Span, WriteFact)],
        (point, write): (Point, &WriteFact),
    ) -> Vec<ClaimFact> {
        let mut out = Vec::new();
        let loads = OnceCell::new();
        let mut claimed =
            |gates: &mut Gates<'_>, at: Point, id: Identity, span: Span, won: bool| {
                let loads: &Vec<usize> = loads.get_or_init(|| around.related(write));
                let mut between = loads.iter().map(|it| around.point(*it));
                out.push(ClaimFact {
                    id,
                    span,
                    won,
                    stale_copy: is_stale_copy(gates, around, at, (point, write)),
                    read_after: between
                        .any(|it| precedes(gates, at, it) && precedes(gates, it, point)),
                });
            };
        for (at, id, span, claim) in claims {
            if *id == write.id
                || !precedes(gates, *at, point)
                || !(same_row(claim, write) || is_latch(claim, write))
            {
                continue;
            }
            let gated = tests
                .iter()
                .filter(|it| it.ids.contains(id))
                .any(|it| counts(&it.value, claim) && gates.side(it.block, point.block).is_some());
            let won = gated || self.looked.contains(id) && self.diverges_on_loss(*id);
            claimed(gates, *at, *id, *span, won);
        }
        for (at, effect) in &self.effects {
            if let Effect::Claim { id, span } = effect
                && precedes(gates, *at, point)
                && let Some((.., claim)) = claims.iter().find(|it| it.1 == *id)
                && (same_row(claim, write) || is_latch(claim, write))
            {
                claimed(gates, *at, *id, *span, true);
            }
        }
        out
    }

    /// A count that was looked at by something that throws when it is not as expected.
    pub(super) fn diverges_on_loss(&self, id: Identity) -> bool {
        self.looked.contains(&id)
    }

    pub(super) fn relate_looks(
        &self,
        gates: &mut Gates<'_>,
        (tests, around): (&[Tested], &Around<'_>),
        (point, write): (Point, &mut WriteFact),
    ) {
        if write.look == Look::Looked {
            return;
        }
        let id = write.id;
        let mut look = Look::None;
        if self.looked.contains(&id) || around.escaped.contains(&id) {
            look = Look::Looked;
        }
        for tested in tests.iter().filter(|it| it.ids.contains(&id)) {
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
        }
        if around.kept.contains(&id) {
            look = Look::Looked;
        }
        write.look = look.max(write.look);
    }

    /// A branch on a count is a look, unless all it decides is which constant is returned: then the
    /// caller has the answer.
    pub(super) fn branch_look(&self, gates: &mut Gates<'_>, block: BlockId) -> Look {
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
            (matches!(it.term, Terminator::Throw { .. } | Terminator::Exit { .. })
                || self.ended.contains(&at))
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
    pub(super) fn changes_outside(&self, gates: &mut Gates<'_>, block: BlockId) -> bool {
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

/// Whether the written object was read before the claim and not again until the write.
fn is_stale_copy(
    gates: &mut Gates<'_>,
    around: &Around<'_>,
    claim: Point,
    (point, write): (Point, &WriteFact),
) -> bool {
    let Some(row) = &write.row else { return false };
    let mut before = false;
    for at in around.of_exactly(row) {
        if precedes(gates, claim, at) && precedes(gates, at, point) {
            return false;
        }
        before |= precedes(gates, at, claim);
    }
    before
}

/// `StatusCode::NO_CONTENT.into_response()`: an unknown method of a constant, given nothing.
fn turns_a_constant(call: &CallSite) -> bool {
    let fixed = call.receiver.is_constant() || matches!(call.receiver, Value::Static(_));
    call.unknown && call.args.is_empty() && fixed && !matches!(call.receiver, Value::Class(_))
}

/// Whether the call does nothing but write the same row back.
pub(super) fn persists(call: &CallSite, write: &WriteFact) -> bool {
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
pub(super) fn does_something(call: &CallSite) -> bool {
    let log = call.roles.iter().any(|it| matches!(**it, Role::Log));
    !log && (!call.targets.is_empty() || call.durable || call.unknown && !call.args.is_empty())
}

pub(super) fn precedes(gates: &mut Gates<'_>, earlier: Point, later: Point) -> bool {
    if earlier.block == later.block {
        return earlier < later;
    }
    gates.leads(earlier.block, later.block)
}
