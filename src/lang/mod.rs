//! The front ends: one folder per language, each a total function from a source to the IR.

pub mod php;
pub mod rust;
pub mod sql;
