//! Value: what a variable holds, as far as the analysis knows.
//!
//! Values are symbolic. A parameter is `Param(0)`, its field `Path(Param(0), "status")`, the result of
//! a call that nothing is known of `Opaque(n)`. Two equal values are the same thing at run time; two
//! different ones may be. A summary speaks of its own parameters; at a call site [`Value::substitute`]
//! puts the arguments in.

use crate::base::{Name, Span};
use crate::ir::{BinaryOp, FuncRef};
use std::sync::Arc;

/// How many alternatives a join keeps before it is unknown.
const MAX_ALTERNATIVES: usize = 6;

/// How many values a computed one remembers.
const MAX_PARTS: usize = 8;

/// How deep a value may nest before it is unknown.
const MAX_DEPTH: usize = 12;

/// Identity of an object or unknown result: a hash of the call path that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity(pub u64);

/// What a variable holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Nothing is known; equal to nothing, not even itself.
    #[default]
    Unknown,
    /// An `Err`: joined with what comes instead of it, it is that.
    Failed,
    /// `null`, `None`, `()`.
    Null,
    /// A bool.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string without spans: array keys, states.
    Str(Name),
    /// A class name.
    Class(Name),
    /// An enum case or constant whose value is not known: its class and name.
    Case(Name, Name),
    /// A parameter of the function being looked at.
    Param(u32),
    /// What a closure captured, by position.
    Capture(u32),
    /// The receiver.
    This,
    /// A static property or global by name.
    Static(Name),
    /// A field, property or array element of a value.
    Path(Arc<(Value, Name)>),
    /// Any element of a list.
    Element(Arc<Value>),
    /// An object made here or in a callee; its state is in the heap.
    Object(Identity),
    /// The result of something unknown, always the same.
    Opaque(Identity),
    /// A string with holes.
    Text(Arc<FoldedText>),
    /// A closure with what it captured.
    Closure(FuncRef, Arc<Vec<Value>>),
    /// A callable that names a method of an object or class: receiver and name.
    Method(Arc<(Value, Name)>),
    /// A callable that names a function.
    Function(Name),
    /// The outcome of a comparison.
    Test(Arc<Test>),
    /// Whether the value is not null, or truthy.
    Truthy(Arc<Value>),
    /// The number of rows that a write affected, or the row that it gave back.
    Count(Identity),
    /// Whether a write ran without error: says nothing of rows.
    Ran(Identity),
    /// Whether a try-lock was got.
    Got(Identity),
    /// One of two constants, as a test decides.
    Choice(Arc<Choice>),
    /// Computed from these.
    Derived(Arc<Vec<Value>>),
    /// One of these.
    Any(Arc<Vec<Value>>),
}

/// Which of two constants a test decides for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Choice {
    /// The test.
    pub test: Value,
    /// The value where it is true.
    pub then: Value,
    /// The value where it is false.
    pub otherwise: Value,
}

/// A comparison of two values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Test {
    /// How.
    pub op: TestOp,
    /// Left side.
    pub left: Value,
    /// Right side; several for a list.
    pub right: Vec<Value>,
}

/// How a test compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TestOp {
    /// Equal to one of the right values.
    Eq,
    /// Different from all of the right values.
    Ne,
    /// Less or greater.
    Order,
}

impl TestOp {
    /// The test that is true when this one is false; an ordering stays one.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Order => Self::Order,
        }
    }

    /// From an operator of the code; none for arithmetic.
    pub fn from_binary(op: BinaryOp) -> Option<Self> {
        match op {
            BinaryOp::Eq => Some(Self::Eq),
            BinaryOp::Ne => Some(Self::Ne),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Some(Self::Order),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Other => None,
        }
    }
}

/// A string put together from literals with places and from values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FoldedText {
    /// In order.
    pub pieces: Vec<FoldedPiece>,
}

/// A part of a [`FoldedText`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FoldedPiece {
    /// Characters that stand in a source; fields as in `ir::Piece::Lit`.
    Lit {
        /// The cooked value.
        value: Name,
        /// Where.
        span: Span,
        /// Offsets of lines.
        offsets: Arc<Vec<(u32, u32)>>,
    },
    /// A value.
    Hole {
        /// What stands there.
        value: Value,
        /// Where it is put in.
        span: Span,
        /// It is a number.
        numeric: bool,
    },
}

impl Value {
    /// `base.name`.
    pub fn path(base: Self, name: impl Into<Name>) -> Self {
        match base {
            Self::Unknown | Self::Failed => Self::Unknown,
            base if base.depth() >= MAX_DEPTH => Self::Unknown,
            Self::Any(them) => {
                let name = name.into();
                let with_fields = them.iter().filter(|it| it.may_have_fields());
                let paths = with_fields.map(|it| Self::path(it.clone(), Arc::clone(&name)));
                paths.reduce(Self::join).unwrap_or_default()
            }
            base => Self::Path(Arc::new((base, name.into()))),
        }
    }

    /// Whether it can be what a field is read of: `null` and the outcome of a test cannot.
    fn may_have_fields(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(_) | Self::Int(_) | Self::Test(_) | Self::Truthy(_))
    }

    /// Any element of `list`.
    pub fn element(list: Self) -> Self {
        match list {
            Self::Unknown | Self::Failed => Self::Unknown,
            list @ Self::Derived(_) => list,
            list if list.depth() >= MAX_DEPTH => Self::Unknown,
            list => Self::Element(Arc::new(list)),
        }
    }

    /// Computed from `parts`; constants are left out.
    pub fn derived(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut out: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Derived(inner) => out.extend(inner.iter().cloned()),
                Self::Any(inner) => {
                    if let Self::Derived(inner) = Self::derived(inner.iter().cloned()) {
                        out.extend(inner.iter().cloned());
                    }
                }
                part if part.is_constant() || matches!(part, Self::Unknown | Self::Failed) => (),
                part => out.push(part),
            }
        }
        out.sort_unstable();
        out.dedup();
        out.truncate(MAX_PARTS);
        if out.is_empty() || out.iter().any(|it| it.depth() >= MAX_DEPTH) {
            return Self::Unknown;
        }
        Self::Derived(Arc::new(out))
    }

    /// One of two values.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Failed, _) => return other,
            (_, Self::Failed) => return self,
            (a, b) if a == b => return self,
            _ => (),
        }
        let mut out: Vec<Self> = Vec::new();
        for it in [self, other] {
            match it {
                Self::Any(inner) => out.extend(inner.iter().cloned()),
                it => out.push(it),
            }
        }
        out.sort_unstable();
        out.dedup();
        if out.len() > MAX_ALTERNATIVES {
            return Self::derived(out);
        }
        Self::Any(Arc::new(out))
    }

    /// The alternatives: itself, or the members of a join.
    pub fn alternatives(&self) -> &[Self] {
        match self {
            Self::Any(inner) => inner,
            it => std::slice::from_ref(it),
        }
    }

    /// Whether it is known at compile time.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Str(_)
            | Self::Class(_)
            | Self::Case(..) => true,
            Self::Text(text) => !text.has_holes(),
            _ => false,
        }
    }

    /// The string, for strings and texts without holes.
    pub fn as_str(&self) -> Option<Name> {
        match self {
            Self::Str(it) => Some(it.clone()),
            Self::Text(text) => text.as_literal().map(Into::into),
            _ => None,
        }
    }

    /// `(base, name)` of a path.
    pub fn as_path(&self) -> Option<(&Self, &Name)> {
        match self {
            Self::Path(it) => Some((&it.0, &it.1)),
            _ => None,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Path(it) => 1 + it.0.depth(),
            Self::Element(it) | Self::Truthy(it) => 1 + it.depth(),
            Self::Derived(them) | Self::Any(them) => {
                1 + them.iter().map(Self::depth).max().unwrap_or(0)
            }
            Self::Test(it) => {
                1 + it.left.depth().max(it.right.iter().map(Self::depth).max().unwrap_or(0))
            }
            Self::Text(text) => {
                1 + text
                    .pieces
                    .iter()
                    .map(|it| match it {
                        FoldedPiece::Hole { value, .. } => value.depth(),
                        FoldedPiece::Lit { .. } => 0,
                    })
                    .max()
                    .unwrap_or(0)
            }
            Self::Choice(it) => 1 + it.test.depth(),
            Self::Closure(_, captured) => 1 + captured.iter().map(Self::depth).max().unwrap_or(0),
            Self::Method(it) => 1 + it.0.depth(),
            _ => 0,
        }
    }

    /// Calls `visit` on this value and on everything inside it.
    pub fn walk<'v>(&'v self, visit: &mut dyn FnMut(&'v Self)) {
        visit(self);
        match self {
            Self::Path(it) => it.0.walk(visit),
            Self::Element(it) | Self::Truthy(it) => it.walk(visit),
            Self::Derived(them) | Self::Any(them) => them.iter().for_each(|it| it.walk(visit)),
            Self::Test(it) => {
                it.left.walk(visit);
                it.right.iter().for_each(|it| it.walk(visit));
            }
            Self::Choice(it) => it.test.walk(visit),
            Self::Text(text) => {
                for piece in &text.pieces {
                    if let FoldedPiece::Hole { value, .. } = piece {
                        value.walk(visit);
                    }
                }
            }
            _ => (),
        }
    }

    /// Whether `wanted` is this value or inside it.
    pub fn mentions(&self, wanted: &Self) -> bool {
        let mut found = false;
        self.walk(&mut |it| found |= it == wanted);
        found
    }

    /// Replaces the leaves that `with` knows (parameters, receiver, captures, objects).
    #[must_use]
    pub fn substitute(&self, with: &dyn Fn(&Self) -> Option<Self>) -> Self {
        if let Some(found) = with(self) {
            return found;
        }
        let list = |them: &[Self]| them.iter().map(|it| it.substitute(with)).collect::<Vec<_>>();
        match self {
            Self::Path(it) => Self::path(it.0.substitute(with), it.1.clone()),
            Self::Element(it) => Self::element(it.substitute(with)),
            Self::Truthy(it) => Self::Truthy(Arc::new(it.substitute(with))),
            Self::Derived(them) => Self::derived(list(them)),
            Self::Any(them) => list(them).into_iter().reduce(Self::join).unwrap_or(Self::Unknown),
            Self::Test(it) => Self::Test(Arc::new(Test {
                op: it.op,
                left: it.left.substitute(with),
                right: list(&it.right),
            })),
            Self::Text(text) if !text.has_holes() => self.clone(),
            Self::Choice(it) => {
                let test = it.test.substitute(with);
                let (then, otherwise) = (it.then.clone(), it.otherwise.clone());
                Self::Choice(Arc::new(Choice { test, then, otherwise }))
            }
            Self::Text(text) => Self::Text(Arc::new(text.substitute(with))).simplified(),
            Self::Closure(at, captured) => Self::Closure(*at, Arc::new(list(captured))),
            Self::Method(it) => Self::Method(Arc::new((it.0.substitute(with), it.1.clone()))),
            it => it.clone(),
        }
    }

    /// A text that nests too deep is unknown.
    fn simplified(self) -> Self {
        if self.depth() >= MAX_DEPTH { Self::Unknown } else { self }
    }
}

impl FoldedText {
    /// A text around one value.
    pub fn of_value(value: &Value, span: Span, numeric: bool) -> Self {
        match value {
            Value::Text(text) => (**text).clone(),
            Value::Str(it) => Self {
                pieces: vec![FoldedPiece::Lit { value: it.clone(), span, offsets: Arc::default() }],
            },
            Value::Int(it) => Self {
                pieces: vec![FoldedPiece::Lit {
                    value: it.to_string().into(),
                    span,
                    offsets: Arc::default(),
                }],
            },
            value => {
                Self { pieces: vec![FoldedPiece::Hole { value: value.clone(), span, numeric }] }
            }
        }
    }

    /// Appends, up to a size where a text is no statement any more.
    pub fn append(&mut self, other: Self) {
        const MAX_PIECES: usize = 400;
        self.pieces.extend(other.pieces);
        self.pieces.truncate(MAX_PIECES);
    }

    fn has_holes(&self) -> bool {
        self.pieces.iter().any(|it| matches!(it, FoldedPiece::Hole { .. }))
    }

    /// The whole value when there is no hole.
    pub fn as_literal(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                FoldedPiece::Lit { value, .. } => out.push_str(value),
                FoldedPiece::Hole { .. } => return None,
            }
        }
        Some(out)
    }

    fn substitute(&self, with: &dyn Fn(&Value) -> Option<Value>) -> Self {
        let mut out = Self::default();
        for piece in &self.pieces {
            match piece {
                FoldedPiece::Lit { .. } => out.pieces.push(piece.clone()),
                FoldedPiece::Hole { value, span, numeric } => {
                    out.append(Self::of_value(&value.substitute(with), *span, *numeric));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_is_commutative_associative_and_idempotent() {
        let values = [
            Value::Failed,
            Value::Null,
            Value::Int(1),
            Value::Param(0),
            Value::path(Value::This, "a"),
        ];
        for a in &values {
            assert_eq!(a.clone().join(a.clone()), *a);
            for b in &values {
                assert_eq!(a.clone().join(b.clone()), b.clone().join(a.clone()));
                for c in &values {
                    let left = a.clone().join(b.clone()).join(c.clone());
                    assert_eq!(left, a.clone().join(b.clone().join(c.clone())));
                }
            }
        }
    }

    #[test]
    fn fields_are_those_of_what_has_some() {
        let row = Value::This;
        let exists = Value::Truthy(Arc::new(row.clone()));
        let maybe = Value::Null.join(row.clone()).join(exists);
        assert_eq!(Value::path(maybe, "status"), Value::path(row.clone(), "status"));
        let two = Value::path(row.join(Value::Param(0)), "a");
        assert_eq!(two, Value::path(Value::This, "a").join(Value::path(Value::Param(0), "a")));
        assert_eq!(Value::path(Value::Null.join(Value::Bool(false)), "a"), Value::Unknown);
    }

    #[test]
    fn substitution_reaches_into_paths_and_texts() {
        let with = |it: &Value| (*it == Value::Param(0)).then_some(Value::This);
        let test = Value::Test(Arc::new(Test {
            op: TestOp::Eq,
            left: Value::path(Value::Param(0), "status"),
            right: vec![Value::Str("new".into())],
        }));
        assert!(test.substitute(&with).mentions(&Value::path(Value::This, "status")));
    }
}
