//! Fault: from what happened on a path to a fault with its witness: a timeline from the delivery to what
//! is left.

use super::roots::Root;
use super::state::{CaughtBy, Delivery, Event, How, Settled};
use super::value::Work;
use super::{MessageFault, MessageFaultKind, MessageInput};
use crate::analysis::fact::WriteFact;
use crate::base::{Name, Span};
use crate::finding::{Confidence, StepRole};
use crate::ir::{ConditionOp, FuncRef, ParamRef, SqlExpr};
use std::collections::{BTreeMap, BTreeSet};

/// Faults by kind and place; of several at one place the best proven stays.
#[derive(Debug, Default)]
pub(super) struct Found {
    by_place: BTreeMap<(Span, MessageFaultKind), MessageFault>,
}

/// A delivery that came to a bad end.
pub(super) struct Report<'r> {
    pub(super) kind: MessageFaultKind,
    pub(super) root: &'r Root,
    pub(super) delivery: &'r Delivery,
    /// Some other path of the root gives the message back.
    pub(super) others_give_back: bool,
}

impl Found {
    /// Adds the fault of a delivery.
    pub(super) fn add(
        &mut self,
        input: &MessageInput<'_>,
        report: &Report<'_>,
        events: Vec<Event>,
    ) {
        let Some(primary) = primary(report) else { return };
        let Some(function) = enclosing(input, primary) else { return };
        if input.program.function(function).exempt || input.program.file(primary.source).exempt {
            return;
        }
        let failing = events.iter().rev().find(|it| it.role == StepRole::Throw);
        let left = failing.and_then(|it| left_state(input, it.span));
        let mut steps: Vec<_> = events.into_iter().map(|it| (it.role, it.span, it.text)).collect();
        let end = steps.iter().rev().find(|it| it.0 == StepRole::Ack).map_or(primary, |it| it.1);
        steps.push((StepRole::Note, end, what_is_left(report, left.as_ref())));
        let call = call_name(&steps);
        let (table, column, state) = left.unwrap_or_default();
        self.put(MessageFault {
            kind: report.kind,
            primary,
            confidence: confidence(input, report),
            function,
            steps,
            call,
            message: report.root.message.to_string(),
            queue: report.root.queue.to_string(),
            table,
            column,
            left: state,
        });
    }

    /// Adds a fault that is ready.
    pub(super) fn put(&mut self, fault: MessageFault) {
        let key = (fault.primary, fault.kind);
        let better = |old: &MessageFault| {
            (fault.confidence, std::cmp::Reverse(fault.steps.len()))
                > (old.confidence, std::cmp::Reverse(old.steps.len()))
        };
        if self.by_place.get(&key).is_none_or(better) {
            self.by_place.insert(key, fault);
        }
    }

    /// All faults in order of place. An ack that strands the work of a `catch` is told there, and not
    /// once more where a failure flies through it.
    pub(super) fn finish(self) -> Vec<MessageFault> {
        let told: BTreeSet<Span> = self
            .by_place
            .values()
            .filter(|it| it.kind == MessageFaultKind::StrandOnThrow)
            .flat_map(|it| it.steps.iter().filter(|step| step.1 != it.primary))
            .filter(|step| step.0 == StepRole::Ack)
            .map(|step| step.1)
            .collect();
        let early: BTreeSet<Span> = self
            .by_place
            .values()
            .filter(|it| it.kind == MessageFaultKind::EarlyAck && it.confidence > Confidence::Low)
            .map(|it| it.primary)
            .collect();
        // What is acknowledged before it is given back is told there.
        let gives_back_late = |it: &MessageFault| {
            it.steps.iter().any(|step| step.0 == StepRole::Ack && early.contains(&step.1))
        };
        let again = |it: &MessageFault| {
            it.kind == MessageFaultKind::StrandOnThrow
                && (told.contains(&it.primary) || gives_back_late(it))
        };
        self.by_place.into_values().filter(|it| !again(it)).collect()
    }
}

/// Where the finding points.
fn primary(report: &Report<'_>) -> Option<Span> {
    let delivery = report.delivery;
    match report.kind {
        MessageFaultKind::StrandOnThrow => {
            let strand = delivery.strand.as_ref()?;
            match delivery.caught() {
                Some(caught) if !strand.flying => Some(caught.exit.unwrap_or(caught.at)),
                _ => Some(strand.ack),
            }
        }
        MessageFaultKind::SwallowedFailure => delivery.caught().map(|it| it.at),
        MessageFaultKind::EarlyAck => delivery.settled.as_ref().map(|it| early(delivery, it)),
        MessageFaultKind::UnsweptState => None,
    }
}

/// The settling call, or, where a helper does nothing else, the call of the helper in the function that
/// goes on with the work.
fn early(delivery: &Delivery, settled: &Settled) -> Span {
    let failed = delivery.failure.as_ref().filter(|it| it.late);
    let depth = failed.map(|it| usize::from(it.depth.max(delivery.depth)));
    depth.and_then(|it| settled.calls.get(it)).copied().unwrap_or(settled.span)
}

fn confidence(input: &MessageInput<'_>, report: &Report<'_>) -> Confidence {
    let delivery = report.delivery;
    let work = delivery.failure.as_ref().map(|it| it.work);
    let settled = delivery.settled.as_ref();
    let weak = report.root.weak || settled.is_some_and(|it| it.weak);
    let mut out = match work {
        Some(Work::Read | Work::Courtesy) => Confidence::Medium,
        // None: handed out, or given back too late.
        Some(Work::Durable | Work::Thrown | Work::Unknown) | None => Confidence::High,
    };
    let root = &input.program.function(report.root.func).name;
    if report.kind == MessageFaultKind::EarlyAck && input.words.replies.matches(root) {
        // Who waits for an answer asks again.
        return Confidence::Low;
    }
    let meant = delivery.strand.as_ref().is_some_and(|it| it.in_arm);
    let popped = settled.is_some_and(|it| it.how != How::Ack);
    let flown = delivery.strand.as_ref().is_some_and(|it| it.flying);
    if flown && report.others_give_back {
        // Somebody thought of failures; this one comes from beside the code that may fail.
        return Confidence::Low;
    }
    if let Some(caught) = delivery.caught() {
        let durable = work == Some(Work::Durable);
        // A step that failed on the way, or a service that answers with a failure of its own.
        let aside = caught.aside || !is_own(input, report, caught.at);
        let swallowed = report.kind == MessageFaultKind::SwallowedFailure;
        if aside && swallowed && (!durable || caught.by == CaughtBy::Narrow) {
            return Confidence::Low;
        }
        if aside {
            out = out.min(Confidence::Medium);
        }
    }
    let typed = delivery.caught().is_some_and(|it| it.by == CaughtBy::Narrow);
    if weak || meant || popped || (typed && work != Some(Work::Durable)) {
        out = out.min(Confidence::Medium);
    }
    out
}

/// Whether a place belongs to the class of the root, or to one above or below it.
fn is_own(input: &MessageInput<'_>, report: &Report<'_>, place: Span) -> bool {
    let program = input.program;
    let Some(at) = enclosing(input, place) else { return false };
    let root = &program.function(report.root.func).class;
    match (root, &program.function(at).class) {
        (Some(root), Some(class)) => program.is_a(root, class) || program.is_a(class, root),
        (root, class) => root == class,
    }
}

/// The call that settled.
fn call_name(steps: &[(StepRole, Span, String)]) -> String {
    let quoted = |text: &String| text.split('`').nth(1).map(str::to_owned);
    let settled = steps.iter().rev().find(|it| it.0 == StepRole::Ack);
    settled.and_then(|it| quoted(&it.2)).unwrap_or_default()
}

fn what_is_left(report: &Report<'_>, left: Option<&(String, String, String)>) -> String {
    let row = match left {
        Some((table, column, state)) if !state.is_empty() && !column.is_empty() => {
            format!("the row of `{table}` still has `{column}` = `{state}`")
        }
        Some((table, ..)) => format!("`{table}` is as it was before"),
        None => "the work is not done".to_owned(),
    };
    match report.kind {
        MessageFaultKind::SwallowedFailure if report.root.throw_redelivers => {
            format!("left behind: {row}; the handler returned, so the queue drops the message")
        }
        MessageFaultKind::SwallowedFailure => format!(
            "left behind: {row}; the message is dropped, as it would be after an exception here: \
             ask for a retry or store the failure"
        ),
        MessageFaultKind::StrandOnThrow
        | MessageFaultKind::EarlyAck
        | MessageFaultKind::UnsweptState => {
            format!("left behind: {row}, and no message points at it any more")
        }
    }
}

/// Table, state column and old state of the row that a failing call would have written.
fn left_state(input: &MessageInput<'_>, failing: Span) -> Option<(String, String, String)> {
    let touches = |it: &&WriteFact| {
        let near = |span: Span| failing.contains(span) || span.contains(failing);
        near(it.primary) || it.sql.is_some_and(near) || it.trace.iter().any(|it| near(*it))
    };
    // The statement that the failing function prepares.
    let function = enclosing(input, failing);
    let beside = |it: &&WriteFact| {
        function.is_some() && it.sql.is_some_and(|sql| enclosing(input, sql) == function)
    };
    let writes = || input.writes.iter().copied();
    let write = writes().find(touches).or_else(|| writes().find(beside))?;
    let table = write.table.word().unwrap_or_default().to_owned();
    let (column, state) = guard_of(write).or_else(|| checked(write)).unwrap_or_default();
    (!table.is_empty()).then_some((table, column, state))
}

/// The state column that a write both tests and sets, and the state that it tests for.
pub(super) fn guard_of(write: &WriteFact) -> Option<(String, String)> {
    let (statement, params) = write.statement.as_ref()?;
    statement.conditions.iter().find_map(|it| {
        let is_set = statement.sets.iter().any(|set| set.column.eq_ignore_ascii_case(&it.column));
        if it.op != ConditionOp::Eq || !is_set {
            return None;
        }
        let value = it.values.first().and_then(|it| text_of(it, params))?;
        Some((it.column.to_string(), value.to_string()))
    })
}

/// The state column that the program tests before the write, and the state that it has then.
fn checked(write: &WriteFact) -> Option<(String, String)> {
    write.checks.iter().find_map(|it| {
        let passes = it.passes.as_ref().ok()?;
        let [state] = &passes[..] else { return None };
        let state = match state {
            crate::analysis::Value::Case(_, name) => name.clone(),
            other => other.as_str()?,
        };
        (!it.column.is_empty()).then(|| (it.column.to_string(), state.to_string()))
    })
}

/// The text of a value in a statement.
pub(super) fn text_of(
    value: &SqlExpr,
    params: &BTreeMap<ParamRef, crate::analysis::Value>,
) -> Option<Name> {
    use crate::analysis::Value;
    match value {
        SqlExpr::Str(it) => Some(it.clone()),
        SqlExpr::Param(param) => match params.get(param)? {
            Value::Str(it) => Some(it.clone()),
            Value::Case(_, name) => Some(name.clone()),
            other => other.as_str(),
        },
        _ => None,
    }
}

/// The innermost function that holds a place.
pub(super) fn enclosing(input: &MessageInput<'_>, span: Span) -> Option<FuncRef> {
    let functions = input.program.functions_of(span.source);
    let holds = functions.iter_ids().filter(|(_, it)| it.span.contains(span));
    let smallest = holds.min_by_key(|(_, it)| it.span.end - it.span.start);
    let script = || functions.iter_ids().next();
    smallest.or_else(script).map(|(func, _)| FuncRef { source: span.source, func })
}
