//! Plain values that every stage shares: sources, spans, ids and names.

pub mod comment;
pub mod id;
pub mod lines;
pub mod name;
pub mod problem;
pub mod source;
pub mod span;

pub use comment::Comment;
pub use id::IdVec;
pub use lines::{LineColumn, Lines};
pub use name::{Name, folded, last_segment, snake_case};
pub use problem::{Problem, ProblemKind};
pub use source::{Language, Source, SourceId};
pub use span::Span;
