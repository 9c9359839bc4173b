//! The PHP front end: from the text of a file to its IR.
//!
//! `syntax` parses (`repair` respells what the grammar does not know), `scan` collects comments and broken regions, `stmt` walks the file. Declarations
//! go through `decl`, `class` and `function`; bodies through `stmt`, `loops`, `flow` (truth),
//! `expr`, `chain` (accesses and calls), `call` and `assign`. Strings are read by `text` and `cook`,
//! names by `names`, types by `types` and `doc_type`.
//!
//! Lowering is total: what does not parse or nests too deeply becomes a problem and is left out.

mod assign;
mod body;
mod call;
mod chain;
mod class;
mod constant;
mod cook;
mod decl;
mod doc;
mod doc_type;
mod expr;
mod file;
mod flow;
mod function;
mod loops;
mod names;
mod repair;
mod scan;
mod stmt;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod types;

use crate::base::{ProblemKind, Source, Span};
use crate::ir::{File, FuncId, FunctionKind};
use body::{Body, Implicit, Owner};
use file::FileCtx;
use syntax::Node;

/// Lowers a PHP file.
pub fn lower(source: &Source) -> File {
    let mut ctx = FileCtx::new(source);
    let Some(tree) = syntax::parse(&source.text) else {
        let span = Span::new(source.id, 0, source.text.len());
        ctx.problem(ProblemKind::Limit, span, "the parser gave up on this file");
        return ctx.finish();
    };
    let root = tree.root_node();
    scan::scan(&mut ctx, root);
    lower_script(&mut ctx, root);
    ctx.finish()
}

/// Declarations of the file, and its other statements as one function.
fn lower_script<'a>(ctx: &mut FileCtx<'a>, root: Node<'a>) {
    let has_code = has_code(root);
    let span = ctx.span(root);
    let id = if has_code { ctx.reserve(span) } else { FuncId(0) };
    let owner = Owner {
        id,
        name: "{script}".into(),
        kind: FunctionKind::Script,
        class: None,
        implicit: Implicit::Nothing,
        has_this: false,
    };
    let mut body = Body::new(ctx, owner, root);
    body.statements(root);
    let (func, _) = body.finish(span, Span { end: span.start, ..span });
    if has_code {
        ctx.out.functions[id] = func;
    }
}

/// Whether the file does anything besides declaring.
fn has_code(root: Node<'_>) -> bool {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "namespace_definition" | "compound_statement" | "declare_statement" | "ERROR" => {
                    open.push(child);
                }
                "namespace_name" | "declare_directive" => (),
                _ if decl::is_declaration(child) => (),
                kind if kind.ends_with("_statement") || kind.ends_with("_declaration") => {
                    return true;
                }
                _ => (),
            }
        }
    }
    false
}
