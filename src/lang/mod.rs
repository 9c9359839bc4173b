//! The front ends: each lowers one language to the IR.

pub mod php;
