//! What the program does to rows: linking, values, and summaries of functions bottom-up.

pub mod fact;
pub mod message;
pub mod object;
pub mod program;
pub mod summary;
pub mod value;

pub use program::Program;
pub use summary::{CallSite, Resolved, Summary};
pub use value::{Identity, Value};
