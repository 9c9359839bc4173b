//! In which order do two workers both win? Built from the witness of one write, and only where the
//! evidence proves that the order can happen.
//!
//! ```text
//! A  SELECT … WHERE id = 7      pending       both hold a copy from before the first write
//! B  SELECT … WHERE id = 7      pending
//! A  if (status === 'pending')  pending       both copies pass
//! B  if (status === 'pending')  pending
//! A  UPDATE … WHERE id = 7      running       1 row
//! B  UPDATE … WHERE id = 7      running       1 row: nothing in the WHERE fails
//! ```
//!
//! A statement that the witness does not hold is left out; no line stands for what was not seen.

use super::column::{same_column, state_word};
use super::guard::{self, Guard, same_state};
use super::judge::{Case, case_of};
use super::protect::{Protection, protection};
use super::witness::{load_of, shown_checks};
use crate::analysis::Value;
use crate::analysis::fact::{CheckFact, CheckKind, Held, HeldKind, LoadFact, WriteFact};
use crate::base::Span;
use crate::finding::{
    Confidence, Effect, Moment, RowState, Schedule, ScheduleKind, StepRole, Worker,
};
use crate::ir::{Condition, ConditionOp, Engine};
use crate::model::LockKind;
use crate::rule::FaultKind;

/// How most of the faults end.
const BOTH: &str = "both continue";

/// The order that proves a fault of that kind; none without high confidence, or where two workers
/// are not the point.
pub(super) fn of(case: &Case<'_>, kind: FaultKind, confidence: Confidence) -> Option<Schedule> {
    if confidence < Confidence::High {
        return None;
    }
    let counted = Effect::Matches(1);
    match kind {
        FaultKind::UnguardedTransition | FaultKind::UnguardedStatement => {
            let race = Race::of(case)?;
            if race.picks { race.sub_selects() } else { race.side_by_side([counted; 2], BOTH) }
        }
        FaultKind::LooseGate => Race::of(case)?.one_after_the_other(),
        FaultKind::UnguardedLimit => Race::of(case)?.side_by_side([counted; 2], BOTH),
        FaultKind::LostUpdate => {
            let end = "both continue, and one of the two changes is lost";
            Race::of(case)?.side_by_side([counted; 2], end)
        }
        FaultKind::LockWithoutTransaction => Race::parts(case).locked_in_vain(),
        FaultKind::StaleWriteBack => undone(case),
        // The guard makes the second write match nothing.
        FaultKind::IgnoredClaim => {
            Race::parts(case).side_by_side([Effect::Uncounted(1), Effect::Uncounted(0)], BOTH)
        }
        // The order of a stale check needs its lock; see `behind_lock`.
        FaultKind::StaleCheck => None,
        FaultKind::StrandOnThrow
        | FaultKind::SwallowedFailure
        | FaultKind::EarlyAck
        | FaultKind::UnsweptState
        // Contracts are about the code, whatever its workers do.
        | FaultKind::BrokenClaim
        | FaultKind::RivalClaim => None,
    }
}

/// Both copies are from before the first worker's lock, so that the second one, who waits for it,
/// goes on with a copy of the past.
pub(super) fn behind_lock(case: &Case<'_>, held: &Held) -> Option<Schedule> {
    let lock = held.span;
    let second = match held.kind {
        HeldKind::Lock(_) => Effect::Waits,
        HeldKind::Strict | HeldKind::Transaction => Effect::Follows,
    };
    let race = Race::parts(case);
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for check in &race.checks {
        match race.stands_before(check.span, lock) {
            Some(true) => before.push(check.span),
            Some(false) => behind.push(check.span),
            None => (),
        }
    }
    if race.load.is_none() && before.is_empty() && behind.is_empty() {
        return None;
    }
    let mut order = Order::new(race.from.clone());
    order.both(StepRole::Load, race.load.map(|it| it.span), Effect::None);
    before.iter().for_each(|it| order.both(StepRole::Check, Some(*it), Effect::None));
    for (worker, effect) in [(Worker::A, Effect::None), (Worker::B, second)] {
        order.push(worker, StepRole::Lock, lock, effect);
        behind.iter().for_each(|it| order.push(worker, StepRole::Check, *it, Effect::None));
        race.write(worker, Effect::Matches(1), &mut order);
    }
    order.end(BOTH)
}

/// The copy from before a claim is written back over it, and the row can be claimed again.
fn undone(case: &Case<'_>) -> Option<Schedule> {
    let write = case.write;
    let claim = write.claims.iter().find(|it| it.stale_copy)?;
    let mut facts = case.input.settled.facts.values().flat_map(|it| &it.writes);
    let claimed = case_of(case.input, case.index, facts.find(|it| it.id == claim.id)?)?;
    let column = &claimed.target.column;
    let changed = write.changes.iter().any(|it| same_column(&it.column, column));
    if changed || guard::judge(case.input, claimed.write, column) != Guard::Holds {
        return None;
    }
    let from = tested(claimed.write, column);
    let to = known(state_word(&claimed.target.value));
    let load = load_of(case)?.span;
    let mut order = Order::new(from.clone());
    order.push(Worker::A, StepRole::Load, load, Effect::None);
    order.row = to.clone();
    order.push(Worker::A, StepRole::Claim, claim.span, Effect::Matches(1));
    order.row = from;
    order.push(Worker::A, StepRole::Write, write.primary, Effect::Matches(1));
    order.push(Worker::B, StepRole::Load, load, Effect::None);
    order.row = to;
    order.push(Worker::B, StepRole::Claim, claim.span, Effect::Matches(1));
    order.end(BOTH)
}

/// The state that the WHERE of a claim asks for.
fn tested(write: &WriteFact, column: &str) -> RowState {
    let Some((stmt, params)) = &write.statement else { return RowState::Unknown };
    let asked = stmt.conditions.iter().find(|it| asks(it, column));
    let value = asked.and_then(|it| it.values.first());
    value.map_or(RowState::Unknown, |it| known(state_word(&crate::analysis::sql_value(it, params))))
}

fn asks(condition: &Condition, column: &str) -> bool {
    condition.op == ConditionOp::Eq
        && condition.any.is_empty()
        && same_column(&condition.column, column)
}

/// The statements of one worker, and what is known of the row.
struct Race<'a> {
    case: &'a Case<'a>,
    load: Option<&'a LoadFact>,
    /// Checks that are statements of their own; a filter is part of its load.
    checks: Vec<&'a CheckFact>,
    changes: Vec<Span>,
    from: RowState,
    to: RowState,
    /// The write picks its row in a sub-select that the engine does not repeat.
    picks: bool,
}

impl<'a> Race<'a> {
    /// None when the second write may match no row, or has to wait for the whole of the first.
    fn of(case: &'a Case<'a>) -> Option<Self> {
        let checks: Vec<&CheckFact> = case.checks.iter().map(|it| it.1).collect();
        if protection(case.write, &checks) != Protection::None {
            return None;
        }
        let mut race = Self::parts(case);
        match guard::judge(case.input, case.write, &case.target.column) {
            Guard::None => Some(race),
            // Others look at the sub-select once more before they write.
            Guard::Unlocked => {
                race.picks = race.checks.is_empty();
                let repeats = !matches!(case.write.engine, Some(Engine::Postgres | Engine::Oracle));
                (!repeats).then_some(race)
            }
            Guard::Holds | Guard::Fence | Guard::Sweep | Guard::Unknown => None,
        }
    }

    fn parts(case: &'a Case<'a>) -> Self {
        let changes = case.write.changes.iter();
        Self {
            case,
            load: load_of(case),
            checks: shown_checks(case).filter(|it| it.kind != CheckKind::Filter).collect(),
            changes: changes
                .filter(|it| it.column == case.target.column)
                .map(|it| it.span)
                .collect(),
            from: old_state(case),
            to: known(state_word(&case.target.value)),
            picks: false,
        }
    }

    /// Both read and check before either writes.
    fn side_by_side(&self, effects: [Effect; 2], end: &str) -> Option<Schedule> {
        if self.load.is_none() && self.checks.is_empty() {
            return None;
        }
        let mut order = Order::new(self.from.clone());
        self.read(Effect::None, &mut order);
        self.write(Worker::A, effects[0], &mut order);
        self.write(Worker::B, effects[1], &mut order);
        order.end(end)
    }

    fn read(&self, effect: Effect, order: &mut Order) {
        order.both(StepRole::Load, self.load.map(|it| it.span), effect);
        for check in &self.checks {
            order.both(StepRole::Check, Some(check.span), Effect::None);
        }
    }

    fn write(&self, worker: Worker, effect: Effect, order: &mut Order) {
        for change in &self.changes {
            order.push(worker, StepRole::Change, *change, Effect::None);
        }
        if !matches!(effect, Effect::Uncounted(0)) {
            order.row = self.to.clone();
        }
        order.push(worker, StepRole::Write, self.statement(), effect);
    }

    /// What reaches the database.
    fn statement(&self) -> Span {
        self.case.write.sql.unwrap_or(self.case.write.primary)
    }

    /// The sub-selects run before either update changes the row.
    fn sub_selects(&self) -> Option<Schedule> {
        let mut order = Order::new(self.from.clone());
        order.both(StepRole::Load, Some(self.statement()), Effect::Picks);
        self.write(Worker::A, Effect::Matches(1), &mut order);
        self.write(Worker::B, Effect::Matches(1), &mut order);
        order.end(BOTH)
    }

    /// The lock of the read is all that could keep the second worker out, and it is gone at once.
    fn locked_in_vain(&self) -> Option<Schedule> {
        let write = self.case.write;
        let row_lock = |it: &Held| {
            matches!(it.kind, HeldKind::Lock(LockKind::Row | LockKind::RowShared))
                || it.kind == HeldKind::Transaction
        };
        let other = write.fresh
            || write.versioned
            || write.claims.iter().any(|it| it.won)
            || !write.context.held.iter().all(row_lock)
            || guard::judge(self.case.input, write, &self.case.target.column) != Guard::None;
        if other || self.load.is_none() || self.case.checks.is_empty() {
            return None;
        }
        let mut order = Order::new(self.from.clone());
        self.read(Effect::LocksInVain, &mut order);
        self.write(Worker::A, Effect::Matches(1), &mut order);
        self.write(Worker::B, Effect::Matches(1), &mut order);
        order.end(BOTH)
    }

    /// The second worker comes when the first has written, and is let through all the same. Where
    /// another test may stop it, they have to meet.
    fn one_after_the_other(&self) -> Option<Schedule> {
        let admits = |check: &CheckFact| {
            let set = self.case.target.value.alternatives();
            let passes = check.passes.as_ref().ok();
            check.kind == CheckKind::Branch
                && same_column(&check.column, &self.case.target.column)
                && passes.is_some_and(|it| {
                    set.iter().all(|set| it.iter().any(|it| same_state(self.case.input, it, set)))
                })
        };
        let all_admit = self.case.checks.iter().all(|it| admits(it.1));
        if !all_admit || self.load.is_some_and(|it| !it.filters.is_empty()) {
            return self.side_by_side([Effect::Matches(1); 2], BOTH);
        }
        let mut order = Order::new(self.from.clone());
        for worker in [Worker::A, Worker::B] {
            if let Some(load) = self.load {
                order.push(worker, StepRole::Load, load.span, Effect::None);
            }
            for check in &self.checks {
                order.push(worker, StepRole::Check, check.span, Effect::None);
            }
            self.write(worker, Effect::Matches(1), &mut order);
        }
        order.end(BOTH)
    }

    /// Whether one statement comes before another; none when they are not seen in one function.
    fn stands_before(&self, one: Span, other: Span) -> Option<bool> {
        if one.source != other.source {
            return None;
        }
        let functions = self.case.input.program.functions_of(one.source);
        let holder = |span: Span| {
            let holds = functions.iter_ids().filter(|(_, it)| it.span.contains(span));
            holds.min_by_key(|(_, it)| it.span.end - it.span.start).map(|it| it.0)
        };
        (holder(one) == holder(other)).then_some(one.start < other.start)
    }
}

/// Moments as they are put in order, and the row at that time.
struct Order {
    moments: Vec<Moment>,
    row: RowState,
}

impl Order {
    fn new(row: RowState) -> Self {
        Self { moments: Vec::new(), row }
    }

    fn push(&mut self, worker: Worker, role: StepRole, span: Span, effect: Effect) {
        let row = self.row.clone();
        self.moments.push(Moment { worker, role, span, row, effect });
    }

    fn both(&mut self, role: StepRole, span: Option<Span>, effect: Effect) {
        if let Some(span) = span {
            self.push(Worker::A, role, span, effect);
            self.push(Worker::B, role, span, effect);
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "ends the orders that can be none")]
    fn end(self, end: &str) -> Option<Schedule> {
        let end = end.to_owned();
        Some(Schedule { kind: ScheduleKind::Race, moments: self.moments, end })
    }
}

/// A state of the row that passes the checks.
fn old_state(case: &Case<'_>) -> RowState {
    let of_column = |it: &&CheckFact| same_column(&it.column, &case.target.column);
    let vague = |it: &&CheckFact| it.kind != CheckKind::Vague;
    let Some(check) = case.checks.iter().map(|it| it.1).filter(vague).find(of_column) else {
        return picked_state(case);
    };
    let set = case.target.value.alternatives();
    let is_set = |it: &&Value| set.iter().any(|set| same_state(case.input, it, set));
    match &check.passes {
        Ok(them) => {
            let other = them.iter().find(|it| !is_set(it));
            other.or(them.first()).map(state_word).map_or(RowState::Unknown, known)
        }
        Err(them) => {
            let words: Vec<String> = them.iter().map(state_word).collect();
            let all_known = !words.is_empty() && words.iter().all(|it| !it.is_empty());
            if all_known { RowState::IsNot(words) } else { RowState::Unknown }
        }
    }
}

/// The state that the sub-select of a statement looks for.
fn picked_state(case: &Case<'_>) -> RowState {
    let Some((stmt, params)) = &case.write.statement else { return RowState::Unknown };
    let Some(source) = &stmt.source else { return RowState::Unknown };
    let condition = source.conditions.iter().find(|it| asks(it, &case.target.column));
    let value = condition.and_then(|it| it.values.first());
    value.map_or(RowState::Unknown, |it| known(state_word(&crate::analysis::sql_value(it, params))))
}

fn known(word: String) -> RowState {
    if word.is_empty() { RowState::Unknown } else { RowState::Is(word) }
}
