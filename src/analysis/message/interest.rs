//! Interest: which functions are worth running in place, because they settle messages, swallow failures
//! or set what others read; and which can fail at all.
//!
//! Everything else is a call that gives something and perhaps fails. Each function is looked at once; a
//! call back into one that is being looked at adds nothing.

use super::MessageInput;
use crate::base::last_segment;
use crate::ir::{
    Block, Callee, Cfg, ClassRef, FuncRef, Function, InstrKind, Operand, PlaceBase, Proj, Rvalue,
    Terminator,
};
use crate::model::{MessageRole, Role};
use rustc_hash::FxHashMap;

/// Functions within one another that are looked at; deeper ones are taken as dull.
const MAX_DEPTH: u32 = 24;
/// Bodies of so few blocks are always worth running: constants, wrappers.
const SMALL_BODY: usize = 4;

/// What a function does, itself or below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each joined by or")]
pub(super) struct Interest {
    /// It acknowledges or takes messages for good.
    pub(super) settles: bool,
    /// It does anything with messages.
    pub(super) touches: bool,
    /// It catches or drops failures, or sets flags that others read.
    pub(super) decides: bool,
    /// It may fail at something that matters.
    pub(super) fails: bool,
}

impl Interest {
    fn with(self, other: Self) -> Self {
        Self {
            settles: self.settles || other.settles,
            touches: self.touches || other.touches,
            decides: self.decides || other.decides,
            fails: self.fails || other.fails,
        }
    }
}

/// What is known of all functions so far.
#[derive(Debug, Default)]
pub(super) struct Interests {
    known: FxHashMap<FuncRef, Interest>,
}

impl Interests {
    /// What the function does.
    pub(super) fn of(&mut self, input: &MessageInput<'_>, at: FuncRef) -> Interest {
        self.look(input, at, 0)
    }

    /// Whether it is worth running in place.
    pub(super) fn is_worth_running(&mut self, input: &MessageInput<'_>, at: FuncRef) -> bool {
        let it = self.of(input, at);
        it.touches || it.decides || input.program.function(at).cfg.blocks.len() <= SMALL_BODY
    }

    fn look(&mut self, input: &MessageInput<'_>, at: FuncRef, depth: u32) -> Interest {
        if let Some(&known) = self.known.get(&at) {
            return known;
        }
        if depth >= MAX_DEPTH {
            return Interest::default();
        }
        self.known.insert(at, Interest::default());
        let func = input.program.function(at);
        let mut out = own(input, func);
        if let Some(summary) = input.summaries.get(&at) {
            out.fails |= summary.durable;
        }
        for site in input.resolved.get(&at).into_iter().flat_map(|it| it.calls.values()) {
            for role in &site.roles {
                out = out.with(of_role(role));
            }
            out.fails |= site.unknown || site.durable;
            for &callee in site.targets.iter().chain(&site.callables) {
                out = out.with(self.look(input, callee, depth + 1));
            }
        }
        for destructor in destructors(input, func) {
            let below = self.look(input, destructor, depth + 1);
            out = out.with(Interest { decides: true, ..below });
        }
        self.known.insert(at, out);
        out
    }
}

fn of_role(role: &Role) -> Interest {
    let Role::Message(role) = role else { return Interest::default() };
    let settles = match role {
        MessageRole::Ack { .. } | MessageRole::Receive { destructive: true, .. } => true,
        MessageRole::Receive { .. }
        | MessageRole::Nack { .. }
        | MessageRole::Publish { .. }
        | MessageRole::Register { .. }
        | MessageRole::AutoAck
        | MessageRole::Extend => false,
    };
    Interest { settles, touches: true, ..Interest::default() }
}

/// What the body itself does.
fn own(input: &MessageInput<'_>, func: &Function) -> Interest {
    let mut out = Interest {
        decides: func.params.iter().any(|it| it.by_ref) || func.captures.iter().any(|it| it.by_ref),
        ..Interest::default()
    };
    for block in &func.cfg.blocks {
        out.decides |= matches!(block.term, Terminator::Catch { .. });
        out.decides |= tests_failure(func, block);
        out.fails |= matches!(block.term, Terminator::Throw { .. }) && block.handler.is_none();
        for instr in &block.instrs {
            match &instr.kind {
                InstrKind::Call(call) => out = out.with(by_name(input, func, call)),
                InstrKind::Assign(place, value) => out.decides |= is_flag(func, place, value),
                InstrKind::Drop(_) => (),
            }
        }
    }
    out
}

/// What runs when objects die that the function makes.
fn destructors(input: &MessageInput<'_>, func: &Function) -> Vec<FuncRef> {
    let mut out = Vec::new();
    for instr in func.cfg.blocks.iter().flat_map(|it| &it.instrs) {
        let class = match &instr.kind {
            InstrKind::Assign(_, Rvalue::Struct { ty, .. }) => &ty.name,
            InstrKind::Call(call) => match &call.callee {
                Callee::New(ClassRef::Named(class)) => class,
                _ => continue,
            },
            InstrKind::Assign(..) | InstrKind::Drop(_) => continue,
        };
        out.extend(destructor(input, class));
    }
    out
}

/// What runs when an object of the class dies.
pub(super) fn destructor(input: &MessageInput<'_>, class: &str) -> Option<FuncRef> {
    input.words.destructors.iter().find_map(|name| {
        let at = input.program.method(class, name)?;
        let func = input.program.function(at);
        let of_drop = func.of_trait.as_deref().is_some_and(|it| last_segment(it) == "Drop");
        ((of_drop || name.starts_with("__")) && !func.is_abstract).then_some(at)
    })
}

fn by_name(input: &MessageInput<'_>, func: &Function, call: &crate::ir::Call) -> Interest {
    let words = input.words;
    let name = match &call.callee {
        Callee::Method { name, .. } | Callee::Static { name, .. } => name,
        Callee::Function(name) => last_segment(name),
        Callee::New(_) | Callee::Value(_) | Callee::Macro(_) | Callee::Unknown => "",
    };
    let is_message = |it: &Operand| match it {
        Operand::Local(it) => func.locals.get(*it).is_some_and(|it| words.message.has(&it.name)),
        Operand::Const(_) => false,
    };
    let receiver = match &call.callee {
        Callee::Method { receiver, .. } => is_message(receiver),
        _ => false,
    };
    let of_message = || receiver || call.args.iter().any(|it| is_message(&it.value));
    let settles = words.ack.has_first_word(name)
        || words.ack.has(name)
        || (words.weak_ack.has(name) && of_message());
    let gives_back = words.give_back.has_first_word(name) || words.give_back_phrases.matches(name);
    let dropped = func.locals.get(call.dest).is_some_and(|it| &*it.name == "_");
    Interest {
        settles,
        touches: settles || gives_back,
        decides: words.drops_failure.has(name)
            || words.variant_tests.iter().any(|(it, _)| it == name)
            || dropped,
        fails: false,
    }
}

/// A constant is put into a property.
fn is_flag(func: &Function, place: &crate::ir::Place, value: &Rvalue) -> bool {
    let receiver = func.receiver();
    let of_this = matches!(place.base, PlaceBase::Local(it) if Some(it) == receiver);
    let is_field = matches!(&place.proj[..], [Proj::Field(_)]);
    of_this && is_field && matches!(value, Rvalue::Use(Operand::Const(_)))
}

/// A branch on a failed result that does more than hand it on.
fn tests_failure(func: &Function, block: &Block) -> bool {
    let Terminator::Branch { cond: Operand::Local(cond), then, otherwise, .. } = &block.term else {
        return false;
    };
    let tested = block.instrs.iter().rev().find_map(|it| match &it.kind {
        InstrKind::Assign(place, Rvalue::IsVariant(Operand::Local(value), name))
            if place.as_local() == Some(*cond) =>
        {
            Some((*value, name))
        }
        _ => None,
    });
    match tested {
        Some((value, name)) if &**name == "Err" => !hands_on(&func.cfg, *then, value),
        Some((value, name)) if &**name == "Ok" => !hands_on(&func.cfg, *otherwise, value),
        _ => false,
    }
}

/// `return Err(…)` of the same value and nothing else.
fn hands_on(cfg: &Cfg, at: crate::ir::BlockId, value: crate::ir::LocalId) -> bool {
    let block = &cfg.blocks[at];
    block.instrs.is_empty()
        && matches!(&block.term, Terminator::Return { value: Some(Operand::Local(it)), .. } if *it == value)
}
