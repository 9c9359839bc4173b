//! What do declarations outside of classes bring: namespaces, imports, functions, constants?

use super::class;
use super::constant;
use super::file::FileCtx;
use super::function::{Head, lower_function};
use super::names::{Import, clean};
use super::syntax::{Node, child_of_kind, children, field, first_child, tokens};
use crate::base::last_segment;
use crate::ir::{ConstDecl, FunctionKind, Visibility};

/// Whether the statement declares and does nothing else.
pub(super) fn is_declaration(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "class_declaration"
            | "interface_declaration"
            | "trait_declaration"
            | "enum_declaration"
            | "function_definition"
            | "const_declaration"
            | "namespace_use_declaration"
            | "empty_statement"
            | "php_tag"
            | "text"
            | "text_interpolation"
            | "comment"
    )
}

/// Lowers a declaration; anything else is passed over.
pub(super) fn declare<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>) {
    match node.kind() {
        "class_declaration"
        | "interface_declaration"
        | "trait_declaration"
        | "enum_declaration" => class::lower_named(ctx, node),
        "function_definition" => {
            let name = ctx.declared_name(field(node, "name"));
            let head = Head {
                node,
                name,
                kind: FunctionKind::Free,
                class: None,
                visibility: Visibility::Public,
                hook_of: None,
            };
            lower_function(ctx, head);
        }
        "const_declaration" => constants(ctx, node),
        "namespace_use_declaration" => imports(ctx, node),
        _ => (),
    }
}

/// Puts `namespace X` in force.
pub(super) fn enter_namespace<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>) {
    let name = field(node, "name").map_or("", |it| ctx.text(it));
    ctx.names.enter_namespace(name);
}

fn constants<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>) {
    for element in children(node).into_iter().filter(|it| it.kind() == "const_element") {
        let [name, value] = children(element)[..] else { continue };
        let decl = ConstDecl {
            name: ctx.declared_name(Some(name)),
            value: constant::constant(ctx, None, value),
            text: constant::constant_text(ctx, None, value),
            is_case: false,
            span: ctx.span(element),
        };
        ctx.out.consts.push(decl);
    }
}

/// `use A\B as C, D;`, `use function A\f;`, `use A\{B, C as D};`
fn imports(ctx: &mut FileCtx<'_>, node: Node<'_>) {
    let group = child_of_kind(node, "namespace_use_group");
    let prefix = child_of_kind(node, "namespace_name").filter(|_| group.is_some());
    let prefix = prefix.map(|it| clean(ctx.text(it)) + "\\").unwrap_or_default();
    let mut what = import_kind(node).unwrap_or(Import::Class);
    for clause in children(group.unwrap_or(node)) {
        if clause.kind() != "namespace_use_clause" {
            continue;
        }
        let own = import_kind(clause);
        if group.is_none() {
            // `use function a, b` has its keyword in the first clause.
            what = own.unwrap_or(what);
        }
        let Some(name) = first_child(clause) else { continue };
        let full = prefix.clone() + &clean(ctx.text(name));
        let alias = field(clause, "alias").map_or_else(|| last_segment(&full), |it| ctx.text(it));
        ctx.names.import(own.unwrap_or(what), &full, alias);
        ctx.note_import(&full.as_str().into());
    }
}

fn import_kind(node: Node<'_>) -> Option<Import> {
    tokens(node).into_iter().take(2).find_map(|it| match it.kind() {
        "function" => Some(Import::Function),
        "const" => Some(Import::Const),
        _ => None,
    })
}
