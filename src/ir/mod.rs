//! What the code says, in no language: declarations, and for each function a control-flow graph of
//! three-address instructions.
//!
//! Front ends in `lang` make it, `lang::sql` reads the texts in it, and everything behind speaks of
//! nothing else. All values are owned; ids are `u32` newtypes that index the vector they name.

pub mod build;
pub mod cfg;
pub mod decl;
pub mod dump;
pub mod instr;
pub mod reads;
pub mod statement;
pub mod text;

use crate::base::{Comment, Language, Problem, SourceId};
pub use build::CfgBuilder;
pub use cfg::{Block, CatchArm, Cfg, Handler, Terminator};
pub use decl::{
    Attr, Capture, ConstDecl, FuncRef, Function, FunctionKind, Local, Param, Property, TypeDecl,
    TypeKind, TypeRef, Visibility,
};
pub use instr::{
    Arg, ArrayItem, BinaryOp, Call, Callee, ClassRef, Const, Instr, InstrKind, Operand, Place,
    PlaceBase, Proj, Rvalue, UnaryOp,
};
pub use statement::{
    Assign, Condition, ConditionOp, Engine, LockClause, ParamRef, SqlExpr, Statement,
    StatementKind, UpsertAction,
};
pub use text::{Hole, Piece, Text};

crate::id_type! {
    /// A function of one file.
    FuncId,
    /// A block of one function.
    BlockId,
    /// A variable or temporary of one function.
    LocalId,
}

/// Everything one source declares and does.
#[derive(Clone, Debug)]
pub struct File {
    /// The source it was lowered from.
    pub source: SourceId,
    /// Its language.
    pub language: Language,
    /// All functions, methods, closures and the top-level script.
    pub functions: crate::base::IdVec<FuncId, Function>,
    /// Classes, interfaces, traits, enums, structs.
    pub types: Vec<TypeDecl>,
    /// Other names of types: `type Db = Pool<Sqlite>`, `pub use order::Entity as Order`.
    pub aliases: Vec<(crate::base::Name, TypeRef)>,
    /// Constants outside of types.
    pub consts: Vec<ConstDecl>,
    /// Statements of a `.sql` file, in order.
    pub statements: Vec<Statement>,
    /// Every comment, in order.
    pub comments: Vec<Comment>,
    /// Full names that the file imports or mentions as types: evidence of which libraries it uses.
    pub imports: Vec<crate::base::Name>,
    /// Regions that could not be read.
    pub problems: Vec<Problem>,
    /// The whole file is test, migration or seed code.
    pub exempt: bool,
}

impl File {
    /// A file that declares nothing.
    pub fn empty(source: SourceId, language: Language) -> Self {
        Self {
            source,
            language,
            functions: crate::base::IdVec::default(),
            types: Vec::new(),
            aliases: Vec::new(),
            consts: Vec::new(),
            statements: Vec::new(),
            comments: Vec::new(),
            imports: Vec::new(),
            problems: Vec::new(),
            exempt: false,
        }
    }
}
