//! Value: what a variable holds on one path, as far as the ways out of a handler depend on it: flags,
//! verdicts, results, and whether it came from the message or carries the failure.

use crate::base::{Name, Span};
use crate::ir::{FuncRef, LocalId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Number of a symbolic value in [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Symbol(pub(super) u32);

/// What is known of a value beside its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Tags(u8);

impl Tags {
    /// The message, a list of messages, or an object around one.
    pub(super) const MESSAGE: Self = Self(1);
    /// Read from a message or computed from it.
    pub(super) const DATA: Self = Self(2);
    /// The failure, or made out of it.
    pub(super) const FAILURE: Self = Self(4);
    /// Result of a call that ran behind the ack.
    pub(super) const LATE: Self = Self(8);
    /// Result of a call that may have failed, on this path.
    pub(super) const RESULT: Self = Self(16);
    /// A collection of messages that were delivered before the one that is handled.
    pub(super) const EARLIER: Self = Self(32);
    /// How often the message was tried.
    pub(super) const ATTEMPTS: Self = Self(64);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it is the message or comes from it.
    pub(super) fn of_message(self) -> bool {
        self.has(Self::MESSAGE.with(Self::DATA))
    }

    /// What a part of such a value is: a part of a message is data.
    #[must_use]
    pub(super) fn of_part(self) -> Self {
        let part = self.without(Self::RESULT);
        if part.has(Self::MESSAGE) { part.without(Self::MESSAGE).with(Self::DATA) } else { part }
    }
}

/// A value on one path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) tags: Tags,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Something that is not known, always the same.
    Symbol(Symbol),
    /// `null`, `None`, `()`.
    Null,
    Bool(bool),
    Int(i64),
    Str(Name),
    /// A constant or enum case by class and name.
    Case(Name, Name),
    /// A list whose elements are not followed: whether it has one.
    List(bool),
    /// `Ok(x)`, `Err(x)`, `Some(x)`.
    Wrap(Wrapper, Box<Value>),
    /// A test of a symbol, and the polarity.
    Test(Symbol, Test, bool),
    /// A closure with what it captured.
    Closure(FuncRef, Vec<Captured>),
}

/// Variants of results and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Wrapper {
    Ok,
    Err,
    Some,
}

/// What is asked of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Test {
    Truthy,
    Null,
    /// It is `Err`.
    Failed,
    /// It is that variant, type or constant.
    Is(Name),
    /// It is that number.
    Number(i64),
}

/// What a closure took from around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Captured {
    Value(LocalId, Value),
    /// The place itself, as long as its function runs.
    Place(LocalId, Location),
}

/// Where a value is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Location {
    /// A local of the function at that depth of the call stack.
    Local(u8, LocalId),
    /// A field, property or element.
    Field(Symbol, Name),
    /// A static or global.
    Static(Name),
}

impl Value {
    pub(super) fn of(kind: Kind) -> Self {
        Self { kind, tags: Tags::default() }
    }

    pub(super) fn symbol(symbol: Symbol, tags: Tags) -> Self {
        Self { kind: Kind::Symbol(symbol), tags }
    }

    #[must_use]
    pub(super) fn tagged(mut self, tags: Tags) -> Self {
        self.tags = self.tags.with(tags);
        self
    }

    pub(super) fn as_symbol(&self) -> Option<Symbol> {
        match self.kind {
            Kind::Symbol(it) => Some(it),
            _ => None,
        }
    }

    /// Its truth, when it is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match &self.kind {
            Kind::Null => Some(false),
            Kind::Bool(it) | Kind::List(it) => Some(*it),
            Kind::Int(it) => Some(*it != 0),
            Kind::Str(it) => Some(!it.is_empty() && &**it != "0"),
            Kind::Case(..) | Kind::Wrap(..) | Kind::Closure(..) => Some(true),
            Kind::Symbol(_) | Kind::Test(..) => None,
        }
    }

    /// The logical opposite, when the kind has one.
    pub(super) fn negate(&self) -> Option<Kind> {
        match &self.kind {
            Kind::Test(symbol, test, polarity) => {
                Some(Kind::Test(*symbol, test.clone(), !polarity))
            }
            Kind::Symbol(symbol) => Some(Kind::Test(*symbol, Test::Truthy, false)),
            _ => self.truth().map(|it| Kind::Bool(!it)),
        }
    }
}

/// What made a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    This,
    Param(u32),
    /// An instruction on a call path.
    Site(u64),
    /// A variable that nothing was assigned to.
    Unset(u64, LocalId),
    Part(Symbol, Name),
}

/// How much is lost when a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Work {
    /// A read of a database.
    Read,
    /// Something unknown.
    Unknown,
    /// A step that only tells somebody; it counts when nothing durable came before it.
    Courtesy,
    /// The code throws by itself.
    Thrown,
    /// A durable write.
    Durable,
}

/// A call that may fail, behind its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origination {
    pub(super) work: Work,
    pub(super) span: Span,
    pub(super) name: Name,
    /// How deep in the calls it is made.
    pub(super) depth: u8,
    /// Which instruction on which call path.
    pub(super) site: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Info {
    pub(super) origin: Origin,
    pub(super) class: Option<Name>,
    pub(super) call: Option<Origination>,
    /// Made here: not null, and of exactly that class.
    pub(super) made: bool,
}

/// All symbols of one exploration.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    all: Vec<Info>,
    by_origin: FxHashMap<Origin, Symbol>,
    /// Symbols that have parts.
    wholes: FxHashSet<Symbol>,
}

impl Symbols {
    pub(super) fn intern(&mut self, origin: Origin) -> Symbol {
        if let Some(&found) = self.by_origin.get(&origin) {
            return found;
        }
        let id = Symbol(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.by_origin.insert(origin.clone(), id);
        if let Origin::Part(of, _) = origin {
            self.wholes.insert(of);
        }
        self.all.push(Info { origin, class: None, call: None, made: false });
        id
    }

    pub(super) fn info(&self, symbol: Symbol) -> &Info {
        &self.all[symbol.0 as usize]
    }

    pub(super) fn info_mut(&mut self, symbol: Symbol) -> &mut Info {
        &mut self.all[symbol.0 as usize]
    }

    /// Whether anything is known to be a part of `symbol`.
    pub(super) fn has_parts(&self, symbol: Symbol) -> bool {
        self.wholes.contains(&symbol)
    }

    /// Whether `symbol` is a part of `base`, or `base` itself.
    pub(super) fn is_within(&self, mut symbol: Symbol, base: Symbol) -> bool {
        loop {
            if symbol == base {
                return true;
            }
            match self.info(symbol).origin {
                Origin::Part(of, _) => symbol = of,
                _ => return false,
            }
        }
    }

    /// The value that the symbol is a part of, through all parts.
    pub(super) fn root(&self, mut symbol: Symbol) -> Symbol {
        while let Origin::Part(of, _) = self.info(symbol).origin {
            symbol = of;
        }
        symbol
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_message_is_data() {
        let part = Tags::MESSAGE.with(Tags::FAILURE).of_part();
        assert!(!part.has(Tags::MESSAGE) && part.of_message() && part.has(Tags::FAILURE));
    }

    #[test]
    fn parts_lead_to_their_root() {
        let mut symbols = Symbols::default();
        let this = symbols.intern(Origin::This);
        let queue = symbols.intern(Origin::Part(this, "queue".into()));
        let name = symbols.intern(Origin::Part(queue, "name".into()));
        assert_eq!(symbols.root(name), this);
        assert!(symbols.is_within(name, queue) && !symbols.is_within(this, queue));
        assert_eq!(symbols.intern(Origin::This), this);
    }

    #[test]
    fn negation_flips_tests_and_constants() {
        let mut symbols = Symbols::default();
        let symbol = symbols.intern(Origin::Param(0));
        let value = Value::symbol(symbol, Tags::default());
        assert_eq!(value.negate(), Some(Kind::Test(symbol, Test::Truthy, false)));
        assert_eq!(Value::of(Kind::Null).negate(), Some(Kind::Bool(true)));
    }
}
