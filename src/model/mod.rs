//! What happens to rows and messages: the meanings that calls can have, and the words for them.
//!
//! A *role* is the meaning that a vocabulary gives to a call; an *event* is that meaning at one point
//! of the program, on one row or message. Packs in TOML say which calls have which role.

pub mod claim;
pub mod column;
pub mod guard;
pub mod lexicon;
pub mod message_words;
pub mod role;
pub mod vocabulary;
pub mod words;

pub use crate::ir::{Engine, StatementKind};
pub use claim::Claim;
pub use column::{ColumnClass, ColumnRules};
pub use lexicon::{Lexica, Lexicon};
pub use message_words::{MessageWords, NameSet};
pub use role::{
    Access, Comparison, ExecutorKind, HandlerVerdict, LockKind, LockSpec, MessageRole, Role,
    RowSource, Verb, Yield,
};
pub use vocabulary::{
    CallPattern, HandlerPattern, NamePattern, Pack, TypeFact, TypeKindHint, Vocabulary,
};
pub use words::{WordSet, Words};
