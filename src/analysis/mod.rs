//! What the program does to rows: linking, values, and summaries of functions bottom-up.

pub mod dump;
pub mod fact;
mod gaps;
mod gate;
mod interp;
mod live;
mod memo;
pub mod message;
pub mod object;
pub mod program;
mod state;
pub mod stem;
pub mod store;
pub mod summary;
pub mod value;

pub use gaps::gaps;
pub use program::Program;
pub use store::{Settled, Store};
pub use summary::{CallSite, Resolved, Summary};
pub use value::{Identity, Value};

/// What an SQL expression stands for, given the values of its parameters.
pub fn sql_value(
    expr: &crate::ir::SqlExpr,
    params: &std::collections::BTreeMap<crate::ir::ParamRef, Value>,
) -> Value {
    interp::sql_value(expr, params)
}

/// Whether a column is a row's key, or its name where it has no other.
pub fn is_naming_column(column: &str) -> bool {
    interp::is_naming_column(column)
}

/// Whether a column identifies a row by convention (`id`, `job_id`, `uuid`).
pub fn is_key_column(column: &str) -> bool {
    interp::is_key_column(column)
}
