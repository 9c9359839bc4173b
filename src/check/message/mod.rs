//! Message: the faults of queue messages, in the words that rules fill in.

mod timeline;

use super::{Fault, Input};
use crate::analysis::message::{MessageFault, MessageFaultKind, MessageInput, find_message_faults};
use crate::base::{Problem, ProblemKind};
use crate::ir::FuncRef;
use crate::model::MessageWords;
use crate::rule::{FaultKind, Placeholder, Values};

/// All faults of messages in the program, and what was too large to be followed to the end.
pub(super) fn faults(input: &Input<'_>) -> (Vec<Fault>, Vec<Problem>) {
    let words = MessageWords::new(input.words.clone());
    let settled = input.settled;
    let facts = || settled.facts.iter().filter(|(at, _)| !settled.imported.contains(at));
    let writes = facts().flat_map(|(_, it)| &it.writes).filter(|it| !it.is_claiming_insert());
    let writes: Vec<_> = writes.collect();
    let loads: Vec<_> = facts().flat_map(|(_, it)| it.loads.iter().map(|it| &**it)).collect();
    let (found, given_up) = find_message_faults(&MessageInput {
        program: input.program,
        resolved: &settled.resolved,
        summaries: &settled.summaries,
        vocabulary: input.vocabulary,
        words: &words,
        writes: &writes,
        loads: &loads,
        columns: input.columns,
    });
    let problems = given_up.into_iter().map(|at| given_up_at(input, at)).collect();
    (found.into_iter().map(fault).collect(), problems)
}

/// A handler with too many ways.
fn given_up_at(input: &Input<'_>, at: FuncRef) -> Problem {
    let func = input.program.function(at);
    let source = input.sources.iter().find(|it| it.id == at.source);
    Problem {
        kind: ProblemKind::Limit,
        path: source.map(|it| it.path.clone()).unwrap_or_default(),
        span: Some(func.name_span),
        message: format!(
            "`{}` has too many ways for the message rules; some were left out",
            func.name
        ),
    }
}

fn kind(kind: MessageFaultKind) -> FaultKind {
    match kind {
        MessageFaultKind::StrandOnThrow => FaultKind::StrandOnThrow,
        MessageFaultKind::SwallowedFailure => FaultKind::SwallowedFailure,
        MessageFaultKind::EarlyAck => FaultKind::EarlyAck,
        MessageFaultKind::UnsweptState => FaultKind::UnsweptState,
    }
}

fn fault(found: MessageFault) -> Fault {
    let mut values = Values::default()
        .with(Placeholder::Call, found.call.clone())
        .with(Placeholder::Message, found.message.clone())
        .with(Placeholder::Queue, found.queue.clone())
        .with(Placeholder::Table, found.table.clone())
        .with(Placeholder::Column, found.column.clone());
    let state = match found.kind {
        MessageFaultKind::UnsweptState => Placeholder::To,
        MessageFaultKind::StrandOnThrow
        | MessageFaultKind::SwallowedFailure
        | MessageFaultKind::EarlyAck => Placeholder::From,
    };
    values = values.with(state, found.left.clone());
    let schedule = timeline::of(&found);
    Fault {
        kind: kind(found.kind),
        confidence: found.confidence,
        primary: found.primary,
        table: found.table,
        column: found.column,
        to: if state == Placeholder::To { found.left } else { String::new() },
        values,
        steps: found.steps,
        schedule,
        symbol: found.function,
    }
}
