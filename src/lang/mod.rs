//! Front ends: sources of one language to the IR.

pub mod sql;
