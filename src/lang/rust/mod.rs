//! What does a Rust source say? The syntax tree of `syn` is lowered to the IR.
//!
//! There is no type checker: names are resolved through `use` and the file's own items, method calls
//! keep their receiver as a value. References, `.await`, `Box`, `Arc`, `Rc` and `Pin` are seen through,
//! `?` is a branch on `Err` (for `Option` as well), and closures are functions of their own.
//!
//! Data flows: `parse` makes the tree, `names` collects what paths mean, `decl` and `data` walk the
//! items, and for each function a `body::Body` lowers statements (`block`), expressions (`expr`,
//! `call`, `control`), patterns (`pattern`) and macros (`macros`, `macro_tokens`, `format`, `select`).

mod attr;
mod block;
mod body;
mod call;
mod closure;
mod command;
mod comment;
mod constant;
mod control;
mod data;
mod decl;
mod drops;
mod expr;
mod format;
mod initializer;
mod macro_tokens;
mod macros;
mod names;
mod nesting;
mod parse;
mod path;
mod pattern;
mod recover;
mod select;
mod span;
mod text;
mod ty;
mod unit;

#[cfg(test)]
mod tests;

use crate::base::{Language, Source};
use crate::ir;

/// Lowers one Rust source. What of it does not parse is a problem, and the rest is read.
pub fn lower(source: &Source) -> ir::File {
    let file = match parse::parse(source) {
        Ok(parsed) => {
            let mut file = unit::Unit::new(source, parsed.spans).lower(&parsed.file);
            file.problems.splice(0..0, parsed.problems);
            file
        }
        Err(problem) => {
            let mut file = ir::File::empty(source.id, Language::Rust);
            file.exempt = source.exempt;
            file.problems.push(problem);
            file
        }
    };
    // Spans are positions in a thread-local table that grows with every parse; none is kept.
    proc_macro2::extra::invalidate_current_thread_spans();
    file
}
