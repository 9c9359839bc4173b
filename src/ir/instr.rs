//! Instructions: one operation each, on operands that are locals or constants.

use super::{FuncId, LocalId, Text, TypeRef};
use crate::base::{Name, Span};

/// An operation with its place in the source.
#[derive(Clone, Debug)]
pub struct Instr {
    /// What it does.
    pub kind: InstrKind,
    /// The expression or statement it came from.
    pub span: Span,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum InstrKind {
    /// `place = value`.
    Assign(Place, Rvalue),
    /// A call; its result goes to `Call::dest`.
    Call(Box<Call>),
    /// A variable leaves its scope: Rust drops it here, PHP `unset($x)`.
    Drop(LocalId),
}

/// Something that can be assigned or read in steps: `$a`, `$this->job->status`, `rows[0].id`.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it begins.
    pub base: PlaceBase,
    /// What follows, in order.
    pub proj: Vec<Proj>,
}

impl Place {
    /// A whole local.
    pub fn local(id: LocalId) -> Self {
        Self { base: PlaceBase::Local(id), proj: Vec::new() }
    }

    /// The local, when nothing is projected from it.
    pub fn as_local(&self) -> Option<LocalId> {
        match (&self.base, self.proj.is_empty()) {
            (PlaceBase::Local(id), true) => Some(*id),
            _ => None,
        }
    }

    /// The same place with one more projection.
    #[must_use]
    pub fn project(mut self, proj: Proj) -> Self {
        self.proj.push(proj);
        self
    }
}

/// Where a place begins.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceBase {
    /// A variable or temporary.
    Local(LocalId),
    /// `Job::$queue`, `self::$map`; a Rust `static`.
    Static(ClassRef, Name),
    /// `$GLOBALS['x']`, `global $x` outside of functions.
    Global(Name),
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Proj {
    /// Property or field; tuple fields are `0`, `1`.
    Field(Name),
    /// Property whose name is computed: `$row->{$name}`.
    DynField(Operand),
    /// Array element, map entry.
    Index(Operand),
    /// `$a[] = x`.
    Push,
    /// The payload `index` of an enum variant, after a test: `Some(x)` is `Variant("Some", 0)`.
    /// Named payload fields are `VariantField`.
    Variant(Name, u32),
    /// A named field of an enum variant.
    VariantField(Name, Name),
    /// Any element: what `foreach` and `for` bind. The flag is set for the key.
    Element {
        /// The key or position instead of the value.
        key: bool,
    },
}

/// What an instruction reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A variable or temporary.
    Local(LocalId),
    /// A constant.
    Const(Const),
}

/// A constant value, or the name of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    /// `null`, `None`, `()`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Integers that fit; larger ones are `Unknown`.
    Int(i64),
    /// Floats, as written.
    Float(Name),
    /// A string whose place does not matter (array keys, names); SQL comes as `Rvalue::Text`.
    Str(Name),
    /// A constant by name: `Job::PENDING`, `Status::Running`, `MAX_TRIES`.
    /// `class` is none for free constants.
    Named {
        /// The declaring type, `self`, `static` and `parent` as written.
        class: Option<ClassRef>,
        /// The member.
        name: Name,
    },
    /// `Job::class`.
    Class(Name),
    /// The text of another file, by the end of its path: `include_str!("poll.sql")`.
    File(Name),
    /// A literal array: keys (null when positional) and values.
    Array(Vec<(Const, Const)>),
    /// Something that is constant but was not read.
    Unknown,
}

/// How a class is named in a static reference.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassRef {
    /// Resolved name.
    Named(Name),
    /// `self`, Rust `Self`.
    SelfType,
    /// `static`.
    LateStatic,
    /// `parent`.
    Parent,
    /// `$class::method()`.
    Dynamic(Box<Operand>),
}

/// The right side of an assignment.
#[derive(Clone, Debug)]
pub enum Rvalue {
    /// The operand itself. Rust `&x`, `&mut x`, `*x`, `x.await`, `Box::new(x)` come out as this.
    Use(Operand),
    /// Read a place.
    Load(Place),
    /// PHP `&$x`: an alias of the place.
    Ref(Place),
    /// A copy: `clone $x`, `x.clone()`, `x.to_owned()`.
    Clone(Operand),
    /// Two operands.
    Binary(BinaryOp, Operand, Operand),
    /// One operand.
    Unary(UnaryOp, Operand),
    /// A string, with holes.
    Text(Text),
    /// An array, list, tuple or map literal. Key is none when positional; `spread` marks `...$x`.
    Array(Vec<ArrayItem>),
    /// A Rust struct literal with functional update, or PHP anonymous object literal.
    Struct {
        /// The type, or `Enum::Variant`.
        ty: TypeRef,
        /// Field values.
        fields: Vec<(Name, Operand)>,
        /// `..base`.
        base: Option<Operand>,
    },
    /// A closure, arrow function, async block, or callable by name.
    Closure(FuncId),
    /// A callable that names a function: `strlen(...)`, `[$this, 'run']`, `Self::run`.
    Callable(Box<Callee>),
    /// `instanceof`, Rust `matches!`/pattern test on a type.
    InstanceOf(Operand, TypeRef),
    /// A test of an enum variant or pattern path: `Some(_)`, `Err(_)`, `Status::Running`.
    /// The name is the path as resolved; short for prelude variants (`Some`, `None`, `Ok`, `Err`).
    IsVariant(Operand, Name),
    /// `isset($x)`, `?? ` tests: whether the place is set and not null.
    IsSet(Place),
    /// `empty($x)`.
    IsEmpty(Operand),
    /// `(int) $x`, `x as u64`, `x.into()`: same meaning, other shape.
    Cast(Operand),
    /// Anything else, computed from these.
    Unknown(Vec<Operand>),
}

/// An element of an array literal.
#[derive(Clone, Debug)]
pub struct ArrayItem {
    /// Key, none when positional.
    pub key: Option<Operand>,
    /// Value.
    pub value: Operand,
    /// `...$value`.
    pub spread: bool,
    /// Of the whole item.
    pub span: Span,
}

/// Operators that matter; the rest is `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `==` and `===`, Rust `==`.
    Eq,
    /// `!=`, `!==`, `<>`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`, `/`, `%`, shifts, bit operations, `<=>`, `xor`.
    Other,
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`.
    Not,
    /// `-`.
    Neg,
    /// `~`, `@`.
    Other,
}

/// A call site.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Where the result goes; always set, perhaps to a temporary that nobody reads.
    pub dest: LocalId,
    /// Generic arguments written at the call: `query_as::<_, Job>`, `save_changes::<Job>`.
    pub type_args: Vec<TypeRef>,
    /// The result is thrown away: expression statement, `let _ =`.
    pub discarded: bool,
    /// The method or function name in the source.
    pub name_span: Span,
}

/// What a call site calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A free function or path: `mysqli_query`, `sqlx::query`, `diesel::update`.
    /// A Rust path with a type in it is `Static`.
    Function(Name),
    /// `$x->name()`, `x.name()`.
    Method {
        /// The receiver's value.
        receiver: Operand,
        /// The method.
        name: Name,
        /// PHP `?->`.
        nullsafe: bool,
    },
    /// `Job::find()`, `parent::save()`, `Offer::by_id()`.
    Static {
        /// The type.
        class: ClassRef,
        /// The method.
        name: Name,
    },
    /// `new Job(...)`; the result is an instance.
    New(ClassRef),
    /// A callable value: `$callback()`, `body(&tx)`.
    Value(Operand),
    /// A macro, with what could be read of its arguments: `sqlx::query`, `tokio::select`, `info`.
    Macro(Name),
    /// `$x->$name()`, `$f::$g()`.
    Unknown,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Arg {
    /// The value.
    pub value: Operand,
    /// The place that was written, for by-reference parameters (`$x`, `&mut x`); none for rvalues.
    pub place: Option<Place>,
    /// Named argument.
    pub name: Option<Name>,
    /// `...$args`.
    pub spread: bool,
    /// Where it stands.
    pub span: Span,
}
