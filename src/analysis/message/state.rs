//! State: everything that is known at one point of one path: variables, tested facts, and what became
//! of the message and of a failure.

use super::value::{Kind, Location, Symbol, Tags, Test, Value, Work};
use crate::base::{Name, Span};
use crate::finding::StepRole;
use crate::ir::{BlockId, LocalId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// One path so far: its state, and how it came here. Paths in the same state are the same path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) state: State,
    pub(super) trace: Trace,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) locals: BTreeMap<(u8, LocalId), Value>,
    /// Locals that stand for another place: by-reference parameters and captures.
    pub(super) aliases: BTreeMap<(u8, LocalId), Location>,
    pub(super) fields: BTreeMap<(Symbol, Name), Value>,
    pub(super) statics: BTreeMap<Name, Value>,
    pub(super) facts: BTreeMap<(Symbol, Test), bool>,
    /// An ack of an earlier delivery before any work: what came of it may still be handed out.
    pub(super) acked_before: Option<Settled>,
    /// Where the broker was told to forget messages at hand-over.
    pub(super) auto_ack: Option<Span>,
    pub(super) delivery: Delivery,
}

/// What became of the message that is being handled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Delivery {
    /// How deep in the calls it was delivered.
    pub(super) depth: u8,
    pub(super) settled: Option<Settled>,
    pub(super) failure: Option<Failure>,
    /// It was settled although the work had failed.
    pub(super) strand: Option<Strand>,
    pub(super) given_back: bool,
    /// Something of the work was done.
    pub(super) worked: bool,
    pub(super) in_transaction: bool,
    /// Loops that were entered since it was delivered.
    pub(super) seen: BTreeSet<u64>,
    /// Function depth and first block of a way that was chosen by how often it was tried.
    pub(super) attempts: Option<(u8, BlockId)>,
}

/// The message is gone from the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent circumstances of one moment")]
pub(super) struct Settled {
    pub(super) span: Span,
    /// The calls that led to it, outermost first, and it itself.
    pub(super) calls: Vec<Span>,
    pub(super) how: How,
    /// Part of the work came before it.
    pub(super) worked: bool,
    /// A transaction was open.
    pub(super) in_transaction: bool,
    /// Evidence by name only.
    pub(super) weak: bool,
    /// A comment beside it accepts the loss.
    pub(super) on_purpose: bool,
}

/// What took the message off the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum How {
    /// A call that acknowledges or deletes.
    Ack,
    /// Taking it removed it.
    Pop,
    /// The broker was told to forget at hand-over.
    Auto,
}

/// The work failed on this path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Failure {
    pub(super) work: Work,
    pub(super) phase: Phase,
    /// It came behind the ack.
    pub(super) late: bool,
    /// How deep in the calls it failed.
    pub(super) depth: u8,
    /// The call that failed.
    pub(super) site: u64,
}

/// Where the failure is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// On its way out.
    Flying,
    /// Swallowed.
    Caught(Caught),
}

/// How a failure was swallowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Caught {
    /// The `catch`, the condition of the `Err` arm, or the statement that drops the result.
    pub(super) at: Span,
    pub(super) by: CaughtBy,
    /// Function depth and first block of the arm, while control is in it.
    pub(super) arm: Option<(u8, BlockId)>,
    /// The statement that left the arm.
    pub(super) exit: Option<Span>,
    /// Control fell out of the arm and other work was done behind it, or the way was chosen for one
    /// particular error.
    pub(super) aside: bool,
}

/// What swallowed a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CaughtBy {
    /// A `catch` of nearly everything.
    Wide,
    /// A `catch` of a type of its own.
    Narrow,
    /// A branch on a failed result.
    Arm,
    /// A statement that throws the result away.
    Dropped,
}

/// The message was settled after a failure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Strand {
    /// The settling call.
    pub(super) ack: Span,
    /// The failure was still on its way out.
    pub(super) flying: bool,
    pub(super) weak: bool,
    /// The arm itself settled it.
    pub(super) in_arm: bool,
}

/// How a path came about, newest first. Not a part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace(Option<Rc<Node>>);

#[derive(Debug)]
struct Node {
    event: Event,
    before: Trace,
}

/// Something on the path that a reader wants to see.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) role: StepRole,
    pub(super) span: Span,
    pub(super) text: String,
}

impl Trace {
    pub(super) fn push(&mut self, role: StepRole, span: Span, text: impl Into<String>) {
        let before = std::mem::take(self);
        let event = Event { role, span, text: text.into() };
        self.0 = Some(Rc::new(Node { event, before }));
    }

    /// Leaves out what an earlier failure left behind, when it turned out not to matter.
    pub(super) fn without_failures(&self) -> Self {
        let mut out = Self::default();
        let of_failure =
            |it: &Event| matches!(it.role, StepRole::Throw | StepRole::Catch | StepRole::Exit);
        for event in self.events().into_iter().filter(|it| !of_failure(it)) {
            out.push(event.role, event.span, event.text);
        }
        out
    }

    /// Oldest first.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut out = Vec::new();
        let mut next = &self.0;
        while let Some(node) = next {
            out.push(node.event.clone());
            next = &node.before.0;
        }
        out.reverse();
        out
    }
}

impl Drop for Trace {
    /// Long traces are taken apart without recursion.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(node) = next {
            match Rc::try_unwrap(node) {
                Ok(mut node) => next = node.before.0.take(),
                Err(_) => break,
            }
        }
    }
}

impl State {
    /// The place that a local stands for.
    pub(super) fn location(&self, depth: u8, local: LocalId) -> Location {
        let mut key = (depth, local);
        for _ in 0..8 {
            match self.aliases.get(&key) {
                Some(Location::Local(depth, local)) => key = (*depth, *local),
                Some(other) => return other.clone(),
                None => break,
            }
        }
        Location::Local(key.0, key.1)
    }

    pub(super) fn read(&self, location: &Location) -> Option<&Value> {
        match location {
            Location::Local(depth, local) => self.locals.get(&(*depth, *local)),
            Location::Field(symbol, name) => self.fields.get(&(*symbol, name.clone())),
            Location::Static(name) => self.statics.get(name),
        }
    }

    pub(super) fn write(&mut self, location: Location, value: Value) {
        match location {
            Location::Local(depth, local) => {
                self.locals.insert((depth, local), value);
            }
            Location::Field(symbol, name) => {
                self.fields.insert((symbol, name), value);
            }
            Location::Static(name) => {
                self.statics.insert(name, value);
            }
        }
    }

    /// Forgets what is known of a symbol itself.
    pub(super) fn forget(&mut self, symbol: Symbol) {
        let known: Vec<Test> = self
            .facts
            .range((symbol, Test::Truthy)..)
            .take_while(|((it, _), _)| *it == symbol)
            .map(|((_, test), _)| test.clone())
            .collect();
        for test in known {
            self.facts.remove(&(symbol, test));
        }
        let held: Vec<Name> = self
            .fields
            .range((symbol, Name::from(""))..)
            .take_while(|((it, _), _)| *it == symbol)
            .map(|((_, name), _)| name.clone())
            .collect();
        for name in held {
            self.fields.remove(&(symbol, name));
        }
    }

    /// Collections of messages hold only earlier ones when the next comes.
    pub(super) fn age_collections(&mut self) {
        let message = Tags::MESSAGE.with(Tags::DATA);
        for value in self.locals.values_mut().chain(self.fields.values_mut()) {
            if matches!(value.kind, Kind::List(_)) && value.tags.has(message) {
                value.tags = value.tags.without(message).with(Tags::EARLIER);
            }
        }
    }

    /// Forgets the variables of a function that was left.
    pub(super) fn leave(&mut self, depth: u8) {
        self.locals.split_off(&(depth, LocalId(0)));
        self.aliases.split_off(&(depth, LocalId(0)));
        if self.delivery.attempts.is_some_and(|(it, _)| it >= depth) {
            self.delivery.attempts = None;
        }
        if let Some(Failure { phase: Phase::Caught(caught), .. }) = &mut self.delivery.failure
            && caught.arm.is_some_and(|(it, _)| it >= depth)
        {
            caught.arm = None;
        }
    }
}

impl Settled {
    /// Acknowledged by a call, before any work, and not on purpose.
    pub(super) fn is_bare(&self) -> bool {
        self.how == How::Ack && !self.worked && !self.on_purpose
    }
}

impl Delivery {
    /// How the failure was swallowed, if it was.
    pub(super) fn caught(&self) -> Option<&Caught> {
        match &self.failure {
            Some(Failure { phase: Phase::Caught(it), .. }) => Some(it),
            _ => None,
        }
    }

    pub(super) fn caught_mut(&mut self) -> Option<&mut Caught> {
        match &mut self.failure {
            Some(Failure { phase: Phase::Caught(it), .. }) => Some(it),
            _ => None,
        }
    }

    /// A failure is on its way out.
    pub(super) fn is_flying(&self) -> bool {
        matches!(&self.failure, Some(Failure { phase: Phase::Flying, .. }))
    }
}
