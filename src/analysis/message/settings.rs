//! Settings: where the broker is told to forget a message when it hands it over: `no_ack`, automatic
//! commits, options with such a field.

use super::fault::Found;
use super::roots::{Root, call_at, short_name, steps_of};
use super::{MessageFault, MessageFaultKind, MessageInput};
use crate::analysis::CallSite;
use crate::base::{Name, Span};
use crate::finding::{Confidence, StepRole};
use crate::ir::{Arg, Call, Const, FuncRef, Function, InstrKind, LocalId, Operand, Rvalue};
use crate::model::{Access, MessageRole, Role};

/// A call of a function, and where it stands.
pub(super) type At<'c> = (&'c Function, &'c Call, Span);

/// Where the call says so, if it does and nothing in the same function takes it back.
pub(super) fn hand_over(
    input: &MessageInput<'_>,
    (func, call, span): At<'_>,
    site: Option<&CallSite>,
) -> Option<Span> {
    let says = by_key(input, func, call)
        .or_else(|| by_role(input, (func, call, span), site))
        .or_else(|| by_option(input, (func, call, span), site))?;
    (!is_undone(input, func)).then_some(says)
}

/// `set("enable.auto.commit", "true")`, `auto_ack(true)`.
fn by_key(input: &MessageInput<'_>, func: &Function, call: &Call) -> Option<Span> {
    let words = input.words;
    let is_key = |it: &str| words.auto_ack.has(it);
    let values: Vec<Name> = call.args.iter().map_while(|it| constant(func, &it.value)).collect();
    let says = match &values[..] {
        [value] => is_key(short_name(call)) && is_true(input, value),
        [key, value, ..] => is_key(key) && is_true(input, value),
        [] => false,
    };
    let end = call.args.last().map_or(call.name_span, |it| it.span);
    says.then(|| call.name_span.cover(end))
}

/// What the vocabulary says of the call.
fn by_role(
    input: &MessageInput<'_>,
    (func, call, span): At<'_>,
    site: Option<&CallSite>,
) -> Option<Span> {
    let says = |role: &Role| match role {
        Role::Message(MessageRole::AutoAck) => {
            let value = call.args.first().and_then(|it| constant(func, &it.value));
            call.args.is_empty() || value.is_some_and(|it| is_true(input, &it))
        }
        Role::Message(MessageRole::Register { auto_ack: Some(access), .. }) => {
            access_value(func, call, access).is_some_and(|it| is_true(input, &it))
        }
        _ => false,
    };
    site?.roles.iter().any(|it| says(it)).then_some(span)
}

/// An option of a call that takes messages: `BasicGetOptions { no_ack: true }`.
fn by_option(
    input: &MessageInput<'_>,
    (func, call, span): At<'_>,
    site: Option<&CallSite>,
) -> Option<Span> {
    let takes = site?.roles.iter().any(|it| {
        matches!(**it, Role::Message(MessageRole::Receive { .. } | MessageRole::Register { .. }))
    });
    let named = |arg: &Arg| {
        let is_key = arg.name.as_ref().is_some_and(|it| input.words.auto_ack.has(it));
        is_key && constant(func, &arg.value).is_some_and(|it| is_true(input, &it))
    };
    let inside = |arg: &Arg| {
        entries(func, &arg.value).into_iter().any(|(key, value)| {
            input.words.auto_ack.has(&key)
                && constant(func, &value).is_some_and(|it| is_true(input, &it))
        })
    };
    let name = crate::base::snake_case(short_name(call));
    let by_position = input.words.auto_ack_args.iter().any(|(it, position)| {
        let arg = call.args.get(*position as usize).filter(|it| it.name.is_none());
        *it == name && arg.and_then(|it| constant(func, &it.value)).is_some_and(|it| &*it == "true")
    });
    let says = by_position || call.args.iter().any(|it| named(it) || inside(it));
    (takes && says).then_some(span)
}

fn is_true(input: &MessageInput<'_>, value: &str) -> bool {
    matches!(value, "true" | "1" | "yes") || input.words.auto_ack.has(value)
}

/// Whether the same function lets offsets be stored by hand.
fn is_undone(input: &MessageInput<'_>, func: &Function) -> bool {
    steps_of(func).filter_map(|it| it.0).any(|call| {
        let values: Vec<Name> =
            call.args.iter().map_while(|it| constant(func, &it.value)).collect();
        match &values[..] {
            [key, value, ..] => {
                input.words.late_offset.has(key) && matches!(&**value, "false" | "0" | "no")
            }
            _ => false,
        }
    })
}

/// The constant at an access path of a call.
pub(super) fn access_value(func: &Function, call: &Call, access: &Access) -> Option<Name> {
    match access {
        Access::Arg(at, name) => {
            let by_name = |it: &&Arg| it.name.is_some() && it.name == *name;
            let arg = call
                .args
                .iter()
                .find(by_name)
                .or_else(|| call.args.get(*at as usize).filter(|it| it.name.is_none()))?;
            constant(func, &arg.value)
        }
        Access::Field(inner, field) => match &**inner {
            Access::Arg(at, _) => {
                let arg = call.args.get(*at as usize)?;
                let found = entries(func, &arg.value).into_iter().find(|(key, _)| key == field)?;
                constant(func, &found.1)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Fields of a struct literal or entries of an array literal.
fn entries(func: &Function, operand: &Operand) -> Vec<(Name, Operand)> {
    let Operand::Local(local) = operand else { return Vec::new() };
    match definition(func, *local) {
        Some(Rvalue::Struct { fields, .. }) => fields.clone(),
        Some(Rvalue::Array(items)) => items
            .iter()
            .filter_map(|it| {
                let key = constant(func, it.key.as_ref()?)?;
                Some((key, it.value.clone()))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// What a variable is set to first.
pub(super) fn definition(func: &Function, local: LocalId) -> Option<&Rvalue> {
    func.cfg.blocks.iter().flat_map(|it| &it.instrs).find_map(|it| match &it.kind {
        InstrKind::Assign(place, value) if place.as_local() == Some(local) => Some(value),
        _ => None,
    })
}

/// The text of a constant operand.
pub(super) fn constant(func: &Function, operand: &Operand) -> Option<Name> {
    match operand {
        Operand::Const(it) => match it {
            Const::Str(it) | Const::Float(it) => Some(it.clone()),
            Const::Bool(it) => Some(it.to_string().into()),
            Const::Int(it) => Some(it.to_string().into()),
            Const::Named { name, .. } => Some(name.clone()),
            Const::Null | Const::Class(_) | Const::Array(_) | Const::File(_) | Const::Unknown => {
                None
            }
        },
        Operand::Local(local) => match definition(func, *local)? {
            Rvalue::Use(it @ Operand::Const(_)) => constant(func, it),
            Rvalue::Text(text) => text.as_literal().map(Into::into),
            _ => None,
        },
    }
}

/// An entry of an array of settings that acknowledges at hand-over: `'enable.auto.commit' => 'true'`.
fn by_entry(input: &MessageInput<'_>, func: &Function) -> Option<Span> {
    let words = input.words;
    let arrays = func.cfg.blocks.iter().flat_map(|it| &it.instrs).filter_map(|it| match &it.kind {
        InstrKind::Assign(_, Rvalue::Array(items)) => Some(items),
        _ => None,
    });
    for items in arrays {
        let pairs = || {
            items.iter().filter_map(|it| {
                let key = constant(func, it.key.as_ref()?)?;
                Some((key, constant(func, &it.value)?, it.span))
            })
        };
        let undone =
            pairs().any(|(key, value, _)| words.late_offset.has(&key) && !is_true(input, &value));
        let says = pairs().find(|(key, value, _)| {
            key.contains('.') && words.auto_ack.has(key) && is_true(input, value)
        });
        if let Some((.., span)) = says.filter(|_| !undone) {
            return Some(span);
        }
    }
    None
}

/// Settings in functions that take no message themselves, beside code in the same file that does.
pub(super) fn find(input: &MessageInput<'_>, roots: &[Root], found: &mut Found) {
    for (at, resolved) in input.resolved {
        let func = input.program.function(*at);
        let is_root = roots.iter().any(|it| it.func == *at);
        let beside = roots.iter().any(|it| it.receives && it.func.source == at.source);
        if !beside || func.exempt || input.program.file(at.source).exempt {
            continue;
        }
        if let Some(span) = by_entry(input, func) {
            found.put(fault(*at, span, "enable.auto.commit"));
        }
        if is_root {
            continue;
        }
        for ((block, idx), site) in &resolved.calls {
            let registers = site
                .roles
                .iter()
                .any(|it| matches!(**it, Role::Message(MessageRole::Register { .. })));
            let Some((call, span)) = call_at(func, *block, *idx) else { continue };
            if registers {
                continue;
            }
            if let Some(span) = hand_over(input, (func, call, span), Some(site)) {
                found.put(fault(*at, span, short_name(call)));
            }
        }
    }
}

fn fault(function: FuncRef, primary: Span, call: &str) -> MessageFault {
    let text = "from here on the broker forgets each message when it hands it out";
    let left =
        "left behind when the work fails or the worker dies: nothing that points at the work";
    MessageFault {
        kind: MessageFaultKind::EarlyAck,
        primary,
        confidence: Confidence::Medium,
        function,
        steps: vec![
            (StepRole::Ack, primary, text.to_owned()),
            (StepRole::Note, primary, left.to_owned()),
        ],
        call: call.to_owned(),
        message: String::new(),
        queue: String::new(),
        table: String::new(),
        column: String::new(),
        left: String::new(),
    }
}
