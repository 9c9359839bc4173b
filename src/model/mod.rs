//! x
pub mod guard;
