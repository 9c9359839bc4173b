//! Queue: what is the queue called that a function takes its messages from?

use super::MessageInput;
use super::roots::call_at;
use super::settings;
use crate::base::Name;
use crate::ir::{Call, Const, FuncRef, Function};
use crate::model::{Access, MessageRole, Role};
use std::collections::BTreeSet;

/// What attributes and properties call it.
const QUEUE: &str = "queue";

/// Names of the queues that somebody publishes to.
pub(super) fn published(input: &MessageInput<'_>) -> BTreeSet<Name> {
    let mut out = BTreeSet::new();
    for at in input.resolved.keys() {
        out.extend(names_in(input, *at, |role| match role {
            MessageRole::Publish { queue, .. } => queue.as_ref(),
            MessageRole::Receive { .. }
            | MessageRole::Register { .. }
            | MessageRole::Ack { .. }
            | MessageRole::Nack { .. }
            | MessageRole::AutoAck
            | MessageRole::Extend => None,
        }));
    }
    out
}

/// The constant that a call names its queue by.
pub(super) fn named_by(func: &Function, call: &Call, access: Option<&Access>) -> Option<Name> {
    settings::access_value(func, call, access?)
}

/// The queue that a function's own calls, its attributes or its class name; empty when unknown.
pub(super) fn of(input: &MessageInput<'_>, at: FuncRef) -> Name {
    let of_calls = || {
        names_in(input, at, |role| match role {
            MessageRole::Receive { queue, .. } | MessageRole::Register { queue, .. } => {
                queue.as_ref()
            }
            MessageRole::Publish { .. }
            | MessageRole::Ack { .. }
            | MessageRole::Nack { .. }
            | MessageRole::AutoAck
            | MessageRole::Extend => None,
        })
        .into_iter()
        .next()
    };
    of_calls().or_else(|| of_class(input, at)).unwrap_or_else(|| "".into())
}

fn names_in(
    input: &MessageInput<'_>,
    at: FuncRef,
    access: impl Fn(&MessageRole) -> Option<&Access>,
) -> Vec<Name> {
    let func = input.program.function(at);
    let mut out = Vec::new();
    for ((block, idx), site) in input.resolved.get(&at).into_iter().flat_map(|it| &it.calls) {
        for role in &site.roles {
            let Role::Message(role) = &**role else { continue };
            if let Some(access) = access(role)
                && let Some((call, _)) = call_at(func, *block, *idx)
            {
                out.extend(named_by(func, call, Some(access)));
            }
        }
    }
    out
}

/// `#[Consumer(queue: 'orders')]`, `$queue = 'orders'`.
fn of_class(input: &MessageInput<'_>, at: FuncRef) -> Option<Name> {
    let class = input.program.function(at).class.as_deref()?;
    let attrs = input.program.type_decl(class).map_or(&[][..], |it| &it.attrs);
    let by_attribute = attrs.iter().find_map(|it| {
        let value = it.args.split_once(&format!("{QUEUE}:"))?.1.trim_start();
        let quote = value.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
        value[1..].split(quote).next().map(Name::from)
    });
    let by_property = || match &input.program.property(class, QUEUE)?.default {
        Some(Const::Str(it)) => Some(it.clone()),
        _ => None,
    };
    by_attribute.or_else(by_property)
}
