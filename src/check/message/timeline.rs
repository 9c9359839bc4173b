//! What becomes of one message and its row, from the delivery to what is left behind?

use crate::analysis::message::{MessageFault, MessageFaultKind};
use crate::finding::{
    Confidence, Effect, Moment, RowState, Schedule, ScheduleKind, StepRole, Worker,
};

/// The timeline of a fault that is proven; its last step is what is left, and becomes its end.
pub(super) fn of(fault: &MessageFault) -> Option<Schedule> {
    if fault.confidence < Confidence::High {
        return None;
    }
    let known =
        |it: &String| if it.is_empty() { RowState::Unknown } else { RowState::Is(it.clone()) };
    let unswept = fault.kind == MessageFaultKind::UnsweptState;
    // A row that is left on the way was not there before; any other is as it was all the time.
    let mut row = if unswept { RowState::Unknown } else { known(&fault.left) };
    let mut effect = if unswept { Effect::None } else { Effect::Held };
    let mut moments = Vec::new();
    for (role, span, _) in shown(fault) {
        if *role == StepRole::Ack {
            effect = Effect::Gone;
        }
        if unswept && *role == StepRole::Write {
            row = known(&fault.left);
        }
        moments.push(Moment {
            worker: Worker::A,
            role: *role,
            span: *span,
            row: row.clone(),
            effect,
        });
    }
    (!moments.is_empty()).then(|| Schedule {
        kind: ScheduleKind::Timeline,
        moments,
        end: end(fault),
    })
}

/// The steps that happen, in order of time.
fn shown(fault: &MessageFault) -> impl Iterator<Item = &(StepRole, crate::base::Span, String)> {
    let stays = fault.primary;
    let unswept = fault.kind == MessageFaultKind::UnsweptState;
    fault.steps.iter().filter(move |(role, span, _)| match role {
        StepRole::Note => false,
        // What would take the row on never runs.
        StepRole::Write if unswept => *span == stays,
        _ => true,
    })
}

/// What is left behind.
fn end(fault: &MessageFault) -> String {
    let row = match (&*fault.table, &*fault.left) {
        ("", _) => "the work is not done".to_owned(),
        (table, "") => format!("the row of `{table}` is as it was"),
        (table, left) => format!("the row of `{table}` stays `{left}`"),
    };
    let queue = match (fault.kind, &*fault.queue) {
        (MessageFaultKind::UnsweptState, _) => {
            return format!("the worker dies here: {row}, and no code looks for it");
        }
        (_, "") => "the queue is empty".to_owned(),
        (_, queue) => format!("the queue `{queue}` is empty"),
    };
    format!("left behind: {row}, {queue}")
}
