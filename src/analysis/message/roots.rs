//! Roots: which functions are handed a message or take one.
//!
//! A framework's handler is told by its class, trait, attribute or parameter; a callback by the call that
//! registers it; a loop by the load in it; home-grown code by a load and an ack of the same thing, or by
//! a parameter called like a message that is settled inside. The shape of the code alone proves nothing.

use super::interest::Interests;
use super::value::{Kind, Value};
use super::{MessageInput, callable, queue, settings};
use crate::base::{Language, Name, Span, last_segment};
use crate::ir::{
    Attr, BlockId, Call, Callee, FuncRef, Function, FunctionKind, InstrKind, LocalId, Operand,
    Place, Rvalue,
};
use crate::model::{HandlerPattern, HandlerVerdict, MessageRole, Role, TypeKindHint};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A function to explore.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) func: FuncRef,
    pub(super) verdict: HandlerVerdict,
    pub(super) ack_values: Vec<Name>,
    pub(super) nack_values: Vec<Name>,
    /// Parameters that hold the message.
    pub(super) message_params: Vec<u32>,
    /// The object itself is the message: a job with its payload.
    pub(super) this_is_message: bool,
    /// It takes messages itself.
    pub(super) receives: bool,
    /// Calls that load by name alone.
    pub(super) load_by_name: BTreeSet<Span>,
    /// Evidence by name only.
    pub(super) weak: bool,
    /// Where the broker is told to forget its messages at hand-over.
    pub(super) auto_ack: Option<Span>,
    /// A failure that leaves the handler brings the message back.
    pub(super) throw_redelivers: bool,
    /// The variable that holds the message.
    pub(super) message: Name,
    /// The queue's name.
    pub(super) queue: Name,
}

impl Root {
    fn new(func: FuncRef, verdict: HandlerVerdict) -> Self {
        Self {
            func,
            verdict,
            ack_values: Vec::new(),
            nack_values: Vec::new(),
            message_params: Vec::new(),
            this_is_message: false,
            receives: false,
            load_by_name: BTreeSet::new(),
            weak: false,
            auto_ack: None,
            throw_redelivers: true,
            message: "".into(),
            queue: "".into(),
        }
    }

    /// Whether it can settle a message at all: by its return, by a call, or because the broker has
    /// forgotten it from the beginning.
    pub(super) fn can_lose(&self, input: &MessageInput<'_>, interests: &mut Interests) -> bool {
        let it = interests.of(input, self.func);
        match self.verdict {
            HandlerVerdict::Explicit => {
                it.settles || self.auto_ack.is_some() || sets_hand_over(input, self.func)
            }
            HandlerVerdict::AckOnReturn | HandlerVerdict::ByValue => it.decides || it.settles,
        }
    }

    /// Whether returning that value settles the message.
    pub(super) fn acks(&self, value: &Value, is_failed: bool) -> bool {
        match self.verdict {
            HandlerVerdict::Explicit => false,
            HandlerVerdict::AckOnReturn => !is_failed,
            HandlerVerdict::ByValue => {
                let matches = |them: &[Name]| verdict_in(value, them);
                if is_failed || matches(&self.nack_values) == Some(true) {
                    return false;
                }
                let listed = matches(&self.ack_values);
                let is_nothing = value.kind == Kind::Null;
                let others_ack = self.ack_values.is_empty() && listed.is_some();
                listed == Some(true) || is_nothing || others_ack
            }
        }
    }
}

/// Whether a returned value is in a list of values as packs write them; none when it is not known.
fn verdict_in(value: &Value, list: &[Name]) -> Option<bool> {
    let has = |wanted: &dyn Fn(&str) -> bool| Some(list.iter().any(|it| wanted(it)));
    match &value.kind {
        Kind::Null => has(&|it| matches!(it, "null" | "None" | "()")),
        Kind::Bool(truth) => has(&|it| it.eq_ignore_ascii_case(&truth.to_string())),
        Kind::Int(number) => has(&|it| it == number.to_string()),
        Kind::Str(text) => has(&|it| *it == **text),
        Kind::Case(_, name) => has(&|it| last_segment(it).eq_ignore_ascii_case(name)),
        Kind::Symbol(_) | Kind::List(_) | Kind::Wrap(..) | Kind::Test(..) | Kind::Closure(..) => {
            None
        }
    }
}

/// All roots of the program, in order of their functions.
pub(super) fn find(input: &MessageInput<'_>) -> Vec<Root> {
    let mut roots: BTreeMap<FuncRef, Root> = BTreeMap::new();
    let registered = registered(input);
    for at in input.program.all_functions() {
        let func = input.program.function(at);
        if func.exempt || func.is_abstract || input.program.file(at.source).exempt {
            continue;
        }
        let by_class = by_pattern(input, at)
            .map(|root| Root { auto_ack: registered.get(&at).and_then(|it| it.auto_ack), ..root });
        let root = by_class
            .or_else(|| registered.get(&at).map(|it| by_registration(input, at, it)))
            .or_else(|| by_use(input, at));
        if let Some(mut root) = root {
            if root.queue.is_empty() {
                root.queue = queue::of(input, at);
            }
            roots.insert(at, root);
        }
    }
    roots.into_values().collect()
}

/// What the call that registers a callable says of it.
#[derive(Clone, Debug)]
struct Registration {
    verdict: HandlerVerdict,
    auto_ack: Option<Span>,
    queue: Name,
}

/// Callables that are given to a call that registers them.
fn registered(input: &MessageInput<'_>) -> BTreeMap<FuncRef, Registration> {
    let mut out = BTreeMap::new();
    let published = queue::published(input);
    for (at, resolved) in input.resolved {
        let func = input.program.function(*at);
        for ((block, idx), site) in &resolved.calls {
            for role in &site.roles {
                let Role::Message(MessageRole::Register {
                    verdict,
                    handler,
                    queue,
                    if_published,
                    ..
                }) = &**role
                else {
                    continue;
                };
                let Some((call, span)) = call_at(func, *block, *idx) else { continue };
                let queue = queue::named_by(func, call, queue.as_ref());
                if *if_published && !queue.as_ref().is_some_and(|it| published.contains(it)) {
                    continue;
                }
                let auto_ack = settings::hand_over(input, (func, call, span), Some(site));
                let it = Registration {
                    verdict: *verdict,
                    auto_ack,
                    queue: queue.unwrap_or_else(|| "".into()),
                };
                let named = callable::handler(input, *at, call, handler);
                let handlers = site.callables.iter().copied().chain(named);
                out.extend(handlers.map(|at| (at, it.clone())));
            }
        }
    }
    out
}

/// The call at a place of a function, and where it stands.
pub(super) fn call_at(func: &Function, block: BlockId, idx: u32) -> Option<(&Call, Span)> {
    let instr = func.cfg.blocks.get(block)?.instrs.get(idx as usize)?;
    match &instr.kind {
        InstrKind::Call(call) => Some((call, instr.span)),
        InstrKind::Assign(..) | InstrKind::Drop(_) => None,
    }
}

fn by_pattern(input: &MessageInput<'_>, at: FuncRef) -> Option<Root> {
    let func = input.program.function(at);
    let language = input.program.language(at);
    let fits = |(of, pattern): &&(Option<Language>, HandlerPattern)| {
        of.is_none_or(|it| it == language) && matches_pattern(input, func, (pattern, language))
    };
    // What a class says of itself counts for more than the type of a parameter.
    let of_class = |it: &&(Option<Language>, HandlerPattern)| {
        !it.1.implements.is_empty() || !it.1.attributes.is_empty()
    };
    let handlers = || input.vocabulary.handlers.iter();
    let by_class = handlers().filter(of_class).find(fits);
    let (_, pattern) = by_class.or_else(|| handlers().find(fits))?;
    let mut root = Root::new(at, pattern.verdict);
    root.ack_values.clone_from(&pattern.ack_values);
    root.nack_values.clone_from(&pattern.nack_values);
    root.throw_redelivers = pattern.throw_redelivers;
    match pattern.message_param {
        Some(param) => root.message_params.push(param),
        None => root.message_params = message_params(input, at),
    }
    if root.message_params.is_empty() {
        root.message_params = params_of(func, &pattern.param_types);
    }
    root.this_is_message = root.message_params.is_empty();
    root.receives = root.verdict == HandlerVerdict::Explicit && takes_messages(input, at, false);
    Some(named(root, func))
}

/// The variable's name for texts.
fn named(mut root: Root, func: &Function) -> Root {
    let first = root.message_params.first().and_then(|it| func.params.get(*it as usize));
    if let Some(param) = first {
        root.message = param.name.clone();
    }
    root
}

fn matches_pattern(
    input: &MessageInput<'_>,
    func: &Function,
    (pattern, language): (&HandlerPattern, Language),
) -> bool {
    let ignore_case = language == Language::Php;
    let class = func.class.as_deref();
    let of_class = class.and_then(|it| input.program.type_decl(it)).map_or(&[][..], |it| &it.attrs);
    let method = pattern.methods.is_empty()
        || pattern.methods.iter().any(|it| it.matches(&func.short, ignore_case).is_some())
        || func.attrs.iter().any(|it| has_attribute(pattern, it))
        || of_class.iter().any(|it| has_attribute(pattern, it) && names_method(it, &func.short));
    if !method || func.kind == FunctionKind::Closure {
        return false;
    }
    let implements = || {
        pattern.implements.iter().any(|wanted| match (&func.of_trait, class) {
            (Some(of), _) => same_type(of, wanted),
            (None, Some(class)) => is_a(input, (class, language), wanted),
            (None, None) => false,
        })
    };
    let attributes = || func.attrs.iter().chain(of_class).any(|it| has_attribute(pattern, it));
    let params = || {
        let types = func.params.iter().filter_map(|it| it.ty.as_ref());
        types.flat_map(all_names).any(|ty| pattern.param_types.iter().any(|it| same_type(ty, it)))
    };
    let says_something = !pattern.implements.is_empty()
        || !pattern.attributes.is_empty()
        || !pattern.param_types.is_empty();
    let any_class = pattern.implements.is_empty() && pattern.attributes.is_empty();
    says_something
        && (any_class || implements() || attributes())
        && (pattern.param_types.is_empty() || params())
}

/// Whether an attribute is one of the pattern's: `Tag(queue.handler)` wants that text in its arguments.
fn has_attribute(pattern: &HandlerPattern, attr: &Attr) -> bool {
    pattern.attributes.iter().any(|it| match it.split_once('(') {
        Some((name, text)) => {
            same_type(&attr.name, name) && attr.args.contains(text.trim_end_matches(')'))
        }
        None => same_type(&attr.name, it),
    })
}

/// `#[Handler(method: 'capture')]`.
fn names_method(attr: &Attr, short: &str) -> bool {
    let quoted = |quote: char| attr.args.contains(&format!("{quote}{short}{quote}"));
    attr.args.contains("method") && (quoted('\'') || quoted('"'))
}

/// A type and its arguments by name.
fn all_names(ty: &crate::ir::TypeRef) -> Vec<&str> {
    let mut out = vec![&*ty.name];
    out.extend(ty.args.iter().chain(&ty.alternatives).map(|it| &*it.name));
    out
}

/// Full names are compared as such; a wanted name of one segment with the last segment of a path.
fn same_type(name: &str, wanted: &str) -> bool {
    if let Some(last) = wanted.strip_prefix("*::") {
        return last_segment(name).eq_ignore_ascii_case(last);
    }
    let of_path = !wanted.contains(['\\', ':']) && name.contains("::");
    let name = if of_path { last_segment(name) } else { name.trim_start_matches('\\') };
    name.eq_ignore_ascii_case(wanted)
}

/// Whether the class is, extends or implements `wanted`, in the program or by what packs know.
fn is_a(input: &MessageInput<'_>, (class, language): (&str, Language), wanted: &str) -> bool {
    let mut names: Vec<Name> =
        input.program.ancestry(class).iter().map(|it| it.name.clone()).collect();
    let mut next = 0;
    while next < names.len() && names.len() < 64 {
        if let Some(fact) = input.vocabulary.type_fact(language, &names[next]) {
            let parents: Vec<Name> = fact.parents.clone();
            names.extend(parents);
        }
        next += 1;
    }
    names.iter().any(|it| same_type(it, wanted))
}

fn by_registration(input: &MessageInput<'_>, at: FuncRef, found: &Registration) -> Root {
    let func = input.program.function(at);
    let mut root = Root::new(at, found.verdict);
    root.auto_ack = found.auto_ack;
    root.queue = found.queue.clone();
    root.message_params = message_params(input, at);
    if root.message_params.is_empty() && !func.params.is_empty() {
        root.message_params.push(0);
    }
    named(root, func)
}

/// Parameters of one of these types.
fn params_of(func: &Function, types: &[Name]) -> Vec<u32> {
    let is_one = |ty: &crate::ir::TypeRef| {
        all_names(ty).into_iter().any(|it| types.iter().any(|wanted| same_type(it, wanted)))
    };
    (0u32..)
        .zip(&func.params)
        .filter(|(_, it)| it.ty.as_ref().is_some_and(is_one))
        .map(|(idx, _)| idx)
        .collect()
}

/// Parameters that are messages by type.
fn typed_params(input: &MessageInput<'_>, at: FuncRef) -> Vec<u32> {
    let language = input.program.language(at);
    let is_message = |ty: &crate::ir::TypeRef| {
        all_names(ty).into_iter().any(|it| {
            let fact = input.vocabulary.type_fact(language, it);
            fact.is_some_and(|it| it.kind == Some(TypeKindHint::Message))
        })
    };
    (0u32..)
        .zip(&input.program.function(at).params)
        .filter(|(_, it)| it.ty.as_ref().is_some_and(is_message))
        .map(|(idx, _)| idx)
        .collect()
}

/// Parameters that are messages by type or, when none is, by name.
fn message_params(input: &MessageInput<'_>, at: FuncRef) -> Vec<u32> {
    let typed = typed_params(input, at);
    if !typed.is_empty() {
        return typed;
    }
    (0u32..)
        .zip(&input.program.function(at).params)
        .filter(|(_, it)| input.words.message.has(&it.name))
        .map(|(idx, _)| idx)
        .collect()
}

/// Code that takes messages, is given one by type, or settles what it was given.
fn by_use(input: &MessageInput<'_>, at: FuncRef) -> Option<Root> {
    let func = input.program.function(at);
    let mut root = Root::new(at, HandlerVerdict::Explicit);
    root.message_params = message_params(input, at);
    root.receives = takes_messages(input, at, false);
    if root.receives || !typed_params(input, at).is_empty() {
        return Some(named(root, func));
    }
    let flow = Flow::of(input, at);
    let set = || sets_hand_over(input, at);
    if takes_messages(input, at, true) && (flow.settles_loaded || set()) {
        root.receives = true;
        root.weak = true;
        return Some(named(root, func));
    }
    let forgets = !flow.loads.is_empty() && set();
    if flow.settles_loaded || flow.settles_param || forgets {
        root.receives = flow.settles_loaded || forgets;
        root.load_by_name = flow.loads;
        root.weak = true;
        return Some(named(root, func));
    }
    None
}

/// Whether the function tells the broker to forget messages at hand-over.
fn sets_hand_over(input: &MessageInput<'_>, at: FuncRef) -> bool {
    let func = input.program.function(at);
    input.resolved.get(&at).into_iter().flat_map(|it| &it.calls).any(|((block, idx), site)| {
        call_at(func, *block, *idx).is_some_and(|(call, span)| {
            settings::hand_over(input, (func, call, span), Some(site)).is_some()
        })
    })
}

/// Whether the function itself, or one that it calls, takes messages.
fn takes_messages(input: &MessageInput<'_>, at: FuncRef, weak: bool) -> bool {
    let takes = |at: &FuncRef| {
        input.resolved.get(at).is_some_and(|it| {
            it.calls.values().any(|call| {
                call.weak == weak
                    && call
                        .roles
                        .iter()
                        .any(|role| matches!(**role, Role::Message(MessageRole::Receive { .. })))
            })
        })
    };
    let called = input.resolved.get(&at).into_iter().flat_map(|it| it.calls.values());
    takes(&at) || called.flat_map(|it| &it.targets).any(takes)
}

/// What a function does to messages, by names and the flow of its variables.
#[derive(Debug, Default)]
struct Flow {
    loads: BTreeSet<Span>,
    settles_loaded: bool,
    settles_param: bool,
}

impl Flow {
    fn of(input: &MessageInput<'_>, at: FuncRef) -> Self {
        let func = input.program.function(at);
        let words = input.words;
        let mut out = Self::default();
        let mut loaded: FxHashSet<LocalId> = FxHashSet::default();
        let params = func.params.iter().filter(|it| words.message.has(&it.name));
        let mut given: FxHashSet<LocalId> = params.map(|it| it.local).collect();
        // Two rounds: what a loop carries around is seen in the second.
        for _ in 0..2 {
            for (call, assign) in steps_of(func) {
                if let Some((dest, sources)) = assign {
                    for set in [&mut loaded, &mut given] {
                        if sources.iter().any(|it| set.contains(it)) {
                            set.insert(dest);
                        }
                    }
                }
                let Some(call) = call else { continue };
                let name = short_name(call);
                let is_method = matches!(call.callee, Callee::Method { .. });
                if is_method && words.load.has(name) && !call.discarded {
                    loaded.insert(call.dest);
                    out.loads.insert(call.name_span);
                }
                let used = operands_of(call);
                let settles = words.ack.has(name) || (is_method && words.weak_ack.has(name));
                if settles {
                    out.settles_loaded |= used.iter().any(|it| loaded.contains(it));
                    let strong = words.ack.has(name);
                    out.settles_param |= strong && used.iter().any(|it| given.contains(it));
                } else if words.accessor.has_first_word(name) {
                    for set in [&mut loaded, &mut given] {
                        if used.iter().any(|it| set.contains(it)) {
                            set.insert(call.dest);
                        }
                    }
                }
            }
        }
        out
    }
}

/// An assignment's target and what it reads.
type Move = (LocalId, Vec<LocalId>);

pub(super) fn steps_of(func: &Function) -> impl Iterator<Item = (Option<&Call>, Option<Move>)> {
    func.cfg.blocks.iter().flat_map(|it| &it.instrs).map(|instr| match &instr.kind {
        InstrKind::Call(call) => (Some(&**call), None),
        InstrKind::Assign(place, value) => {
            (None, place_local(place).map(|it| (it, sources_of(value))))
        }
        InstrKind::Drop(_) => (None, None),
    })
}

fn place_local(place: &Place) -> Option<LocalId> {
    match place.base {
        crate::ir::PlaceBase::Local(it) => Some(it),
        _ => None,
    }
}

fn sources_of(value: &Rvalue) -> Vec<LocalId> {
    let operand = |it: &Operand| match it {
        Operand::Local(it) => Some(*it),
        Operand::Const(_) => None,
    };
    match value {
        Rvalue::Use(it) | Rvalue::Clone(it) | Rvalue::Cast(it) => operand(it).into_iter().collect(),
        Rvalue::Load(place) | Rvalue::Ref(place) => place_local(place).into_iter().collect(),
        Rvalue::Array(items) => items.iter().filter_map(|it| operand(&it.value)).collect(),
        _ => Vec::new(),
    }
}

fn operands_of(call: &Call) -> Vec<LocalId> {
    let receiver = match &call.callee {
        Callee::Method { receiver: Operand::Local(it), .. } => Some(*it),
        _ => None,
    };
    let args = call.args.iter().filter_map(|it| match it.value {
        Operand::Local(it) => Some(it),
        Operand::Const(_) => None,
    });
    receiver.into_iter().chain(args).collect()
}

pub(super) fn short_name(call: &Call) -> &str {
    match &call.callee {
        Callee::Method { name, .. } | Callee::Static { name, .. } => name,
        Callee::Function(name) => last_segment(name),
        _ => "",
    }
}
