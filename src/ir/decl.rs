//! Declarations: functions, types, their members and the types that code writes down.
//!
//! Names are resolved by the front end: PHP names are fully qualified without the leading `\`
//! (`App\Model\Job`), Rust names are the path after `use` is applied (`crate::job::Job`,
//! `sqlx::PgPool`, `sea_orm::DatabaseConnection`). What cannot be resolved stays as written.

use super::{Cfg, FuncId, LocalId, Operand};
use crate::base::{IdVec, Name, Span};

/// A type as written, reduced to what matters for finding its methods.
///
/// `?X`, `X|null` and `Option<X>` in PHP docblocks become `X`. In Rust, references, `Box`, `Arc`,
/// `Rc`, `Pin`, `dyn` and `impl` are seen through; `Option<X>` and `Result<X, E>` are kept, with
/// arguments. Arrays, `list<X>`, `X[]`, `Vec<X>`, `&[X]` and iterables become `list` with one
/// argument. A union is the list of its members in `alternatives`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeRef {
    /// Resolved name; primitive types keep theirs (`int`, `string`, `bool`, `u64`).
    pub name: Name,
    /// Generic arguments.
    pub args: Vec<TypeRef>,
    /// Further members of a union, `null` left out.
    pub alternatives: Vec<TypeRef>,
    /// Written as mutable reference or `&mut`; for executors in Rust.
    pub by_ref: bool,
}

impl TypeRef {
    /// A plain name without arguments.
    pub fn named(name: impl Into<Name>) -> Self {
        Self { name: name.into(), args: Vec::new(), alternatives: Vec::new(), by_ref: false }
    }

    /// `list<element>`.
    pub fn list(element: Self) -> Self {
        Self { args: vec![element], ..Self::named("list") }
    }
}

/// Who may call a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Everyone, or not stated.
    Public,
    /// The class and its children; `pub(crate)` and the like in Rust count as `Public`.
    Protected,
    /// The declaring type or module only.
    Private,
}

/// What sort of function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A function outside of types.
    Free,
    /// A method with a receiver: `this` is local 0.
    Method,
    /// A method without a receiver.
    Static,
    /// A closure, arrow function, or async block that is used as a value.
    Closure,
    /// Code outside of functions: a PHP script, a `main` part.
    Script,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Function {
    /// `App\Jobs\Runner::run`, `crate::jobs::Runner::run`, `App\helper`; closures are named after
    /// the function around them: `App\Jobs\Runner::run::{closure#0}`, scripts `{script}`.
    pub name: Name,
    /// The last part: `run`.
    pub short: Name,
    /// What sort it is.
    pub kind: FunctionKind,
    /// The type that declares it, for methods and closures inside methods.
    pub class: Option<Name>,
    /// For Rust's `impl Trait for T`: the trait.
    pub of_trait: Option<Name>,
    /// Parameters without the receiver.
    pub params: Vec<Param>,
    /// Declared or documented return type.
    pub ret: Option<TypeRef>,
    /// What a closure takes from around it.
    pub captures: Vec<Capture>,
    /// For a closure: the function around it.
    pub parent: Option<FuncId>,
    /// Attributes and annotations.
    pub attrs: Vec<Attr>,
    /// The doc comment's text.
    pub doc: Option<String>,
    /// Who may call it.
    pub visibility: Visibility,
    /// Rust `async`.
    pub is_async: bool,
    /// A PHP generator: it contains `yield`.
    pub is_generator: bool,
    /// Declared without a body (interface, abstract, trait method).
    pub is_abstract: bool,
    /// Test code: read, never reported in.
    pub exempt: bool,
    /// Variables and temporaries; local 0 is the receiver when `kind` is `Method`.
    pub locals: IdVec<LocalId, Local>,
    /// The body. An abstract function has one empty block.
    pub cfg: Cfg,
    /// The whole declaration.
    pub span: Span,
    /// The name, or the first line's keyword for closures.
    pub name_span: Span,
}

impl Function {
    /// The receiver's local, for methods and for closures that captured it.
    pub fn receiver(&self) -> Option<LocalId> {
        (self.kind == FunctionKind::Method).then_some(LocalId(0))
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name without `$`. A Rust pattern parameter has the name of its only binding, or `_`.
    pub name: Name,
    /// The variable it starts in.
    pub local: LocalId,
    /// Declared or documented type.
    pub ty: Option<TypeRef>,
    /// PHP `&$x`, Rust `&mut T`.
    pub by_ref: bool,
    /// PHP `...$x`.
    pub variadic: bool,
    /// Default, when it is constant.
    pub default: Option<Operand>,
    /// PHP promoted constructor parameter: it is a property as well.
    pub promoted: bool,
    /// Attributes on the parameter.
    pub attrs: Vec<Attr>,
}

/// A variable that a closure sees.
#[derive(Clone, Debug)]
pub struct Capture {
    /// In the function around it.
    pub outer: LocalId,
    /// In the closure.
    pub inner: LocalId,
    /// Changes show outside: PHP `use (&$x)`, every non-`move` Rust capture; objects are handles
    /// and show their changes either way.
    pub by_ref: bool,
}

/// A variable or temporary.
#[derive(Clone, Debug)]
pub struct Local {
    /// Source name without `$`; empty for temporaries.
    pub name: Name,
    /// `let x: T`, `/** @var T $x */`, `catch (T $e)`.
    pub ty: Option<TypeRef>,
}

/// What a type declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// PHP class.
    Class,
    /// PHP interface, Rust trait.
    Interface,
    /// PHP trait.
    Trait,
    /// Enum of either language.
    Enum,
    /// Rust struct.
    Struct,
    /// A Rust `impl` block's additions to a type that may stand elsewhere.
    Impl,
    /// A module-like namespace that a macro declares (`diesel::table!`).
    Table,
}

/// A type with its members; methods are in `File::functions`.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    /// Resolved name.
    pub name: Name,
    /// What it is.
    pub kind: TypeKind,
    /// Parent class first, then interfaces; for `Impl` the trait. Generic arguments are kept
    /// (`@extends ServiceEntityRepository<Job>`).
    pub parents: Vec<TypeRef>,
    /// Traits used.
    pub traits: Vec<TypeRef>,
    /// Properties or fields, promoted ones included, and `@property` of the doc comment.
    pub properties: Vec<Property>,
    /// Constants, and the cases of an enum (`is_case`).
    pub consts: Vec<ConstDecl>,
    /// Methods by position in `File::functions`.
    pub methods: Vec<FuncId>,
    /// Attributes, derives (`derive(FromRow)` gives one `Attr` per derived trait, named by it) and
    /// annotations in the doc comment (`@ORM\Entity`).
    pub attrs: Vec<Attr>,
    /// The doc comment's text.
    pub doc: Option<String>,
    /// Declared abstract.
    pub is_abstract: bool,
    /// Test code.
    pub exempt: bool,
    /// The whole declaration.
    pub span: Span,
}

/// A property or field.
#[derive(Clone, Debug)]
pub struct Property {
    /// Name without `$`; tuple fields are `0`, `1`.
    pub name: Name,
    /// Declared or documented type.
    pub ty: Option<TypeRef>,
    /// Default, when constant; arrays as `Const::Array`.
    pub default: Option<super::Const>,
    /// Static property.
    pub is_static: bool,
    /// PHP readonly.
    pub is_readonly: bool,
    /// Attributes and annotations (`#[ORM\Version]`, `@ORM\Column(...)`).
    pub attrs: Vec<Attr>,
    /// Where.
    pub span: Span,
}

/// A constant, class constant or enum case.
#[derive(Clone, Debug)]
pub struct ConstDecl {
    /// Short name for members, resolved name outside of types.
    pub name: Name,
    /// Value, when it can be read; a string keeps its spans in `text`.
    pub value: super::Const,
    /// The value as text with spans, for SQL in constants.
    pub text: Option<super::Text>,
    /// Enum case or variant.
    pub is_case: bool,
    /// Where.
    pub span: Span,
}

/// `#[ORM\Column(type: "string")]`, `@ORM\Version`, `#[derive(FromRow)]`, `#[diesel(table_name = jobs)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Resolved name where possible.
    pub name: Name,
    /// The text between the parentheses, white space folded.
    pub args: String,
}

/// A function of the program: file by position, function by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncRef {
    /// The file's source.
    pub source: crate::base::SourceId,
    /// The function in it.
    pub func: FuncId,
}
