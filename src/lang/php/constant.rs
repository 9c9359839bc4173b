//! What is the value of a constant expression: literals, named constants, arrays of them?

use super::doc_type::ClassScope;
use super::file::FileCtx;
use super::syntax::{Node, child_of_kind, children, field, first_child, operator};
use super::text::{self, Part};
use crate::ir::{ClassRef, Const, Hole, Operand, Piece, Text};

/// The value of a constant expression; `Unknown` when it is not understood.
pub(super) fn constant<'a>(
    ctx: &mut FileCtx<'a>,
    class: Option<&ClassScope>,
    node: Node<'a>,
) -> Const {
    if !ctx.enter(node) {
        return Const::Unknown;
    }
    let out = match node.kind() {
        "parenthesized_expression" => {
            first_child(node).map_or(Const::Unknown, |it| constant(ctx, class, it))
        }
        "array_creation_expression" => array(ctx, class, node),
        "string" | "encapsed_string" | "heredoc" | "nowdoc" => string(ctx, node),
        "binary_expression" if operator(node) == "." => string(ctx, node),
        "binary_expression" => arithmetic(ctx, class, node),
        "unary_op_expression" => negative(ctx, class, node),
        _ => simple(ctx, class, node).unwrap_or(Const::Unknown),
    };
    ctx.leave();
    out
}

/// Constants that need no evaluation: numbers, booleans, names.
pub(super) fn simple<'a>(
    ctx: &mut FileCtx<'a>,
    class: Option<&ClassScope>,
    node: Node<'a>,
) -> Option<Const> {
    Some(match node.kind() {
        "integer" => integer(ctx.text(node)).map_or(Const::Unknown, Const::Int),
        "float" => Const::Float(ctx.text(node).into()),
        "boolean" => Const::Bool(ctx.text(node).eq_ignore_ascii_case("true")),
        "null" => Const::Null,
        "name" | "qualified_name" | "relative_name" => free(ctx, class, node),
        "class_constant_access_expression" => member(ctx, class, node)?,
        _ => return None,
    })
}

fn free(ctx: &mut FileCtx<'_>, class: Option<&ClassScope>, node: Node<'_>) -> Const {
    let written = ctx.text(node);
    match written.to_ascii_lowercase().as_str() {
        "true" => Const::Bool(true),
        "false" => Const::Bool(false),
        "null" => Const::Null,
        "__class__" => member_of(ClassRef::SelfType, class, "class"),
        "__namespace__" => Const::Str(ctx.names.namespace().into()),
        "__line__" => Const::Int(i64::try_from(node.start_position().row + 1).unwrap_or(0)),
        _ => Const::Named { class: None, name: ctx.names.constant(written) },
    }
}

/// `Job::PENDING`, `Job::class`; none when the class is an expression.
fn member(ctx: &mut FileCtx<'_>, class: Option<&ClassScope>, node: Node<'_>) -> Option<Const> {
    let [scope, .., name] = children(node)[..] else { return Some(Const::Unknown) };
    let class_ref = static_class(ctx, scope)?;
    Some(member_of(class_ref, class, ctx.text(name)))
}

/// The constant `name` of a class.
pub(super) fn member_of(class_ref: ClassRef, class: Option<&ClassScope>, name: &str) -> Const {
    if !name.eq_ignore_ascii_case("class") {
        return Const::Named { class: Some(class_ref), name: name.into() };
    }
    let resolved = match &class_ref {
        ClassRef::Named(name) => Some(name.clone()),
        ClassRef::SelfType => class.filter(|it| !it.is_trait).map(|it| it.name.clone()),
        ClassRef::Parent => class.and_then(|it| it.parent.clone()),
        ClassRef::LateStatic | ClassRef::Dynamic(_) => None,
    };
    match resolved {
        Some(name) => Const::Class(name),
        None => Const::Named { class: Some(class_ref), name: "class".into() },
    }
}

/// The class that a name or `self`, `static`, `parent` stands for; none for expressions.
pub(super) fn static_class(ctx: &mut FileCtx<'_>, node: Node<'_>) -> Option<ClassRef> {
    if !matches!(node.kind(), "name" | "qualified_name" | "relative_name" | "relative_scope") {
        return None;
    }
    let written = ctx.text(node);
    Some(match written.to_ascii_lowercase().as_str() {
        "self" => ClassRef::SelfType,
        "static" => ClassRef::LateStatic,
        "parent" => ClassRef::Parent,
        _ => ClassRef::Named(ctx.class_name(written)),
    })
}

/// Reads `42`, `1_000`, `0x1f`, `0b11`, `0o17`, `017`; none when it does not fit.
pub(super) fn integer(written: &str) -> Option<i64> {
    let digits = written.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', b'o', ..] => (&digits[2..], 8),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits.as_str(), 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

fn string<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>) -> Const {
    let parts = text::parts(ctx, node);
    text::literal(&parts).map_or(Const::Unknown, |it| Const::Str(it.into()))
}

/// The text of a string constant with its places; none when the expression is no string.
pub(super) fn constant_text<'a>(
    ctx: &mut FileCtx<'a>,
    class: Option<&ClassScope>,
    node: Node<'a>,
) -> Option<Text> {
    if !text::is_string(node) && !text::is_concat(node) {
        return None;
    }
    let mut pieces = Vec::new();
    for part in text::parts(ctx, node) {
        pieces.push(match part {
            Part::Lit(piece) => piece,
            Part::Hole { node, .. } => {
                let value = Operand::Const(constant(ctx, class, node));
                Piece::Hole(Hole { value, span: ctx.span(node), numeric: false })
            }
        });
    }
    Some(Text { pieces })
}

fn array<'a>(ctx: &mut FileCtx<'a>, class: Option<&ClassScope>, node: Node<'a>) -> Const {
    let mut items = Vec::new();
    for item in children(node) {
        let is_pair = child_of_kind(item, "=>").is_some();
        match children(item)[..] {
            [key, value] if is_pair => {
                items.push((constant(ctx, class, key), constant(ctx, class, value)));
            }
            [value] if value.kind() != "variadic_unpacking" => {
                items.push((Const::Null, constant(ctx, class, value)));
            }
            _ => items.push((Const::Unknown, Const::Unknown)),
        }
    }
    Const::Array(items)
}

fn negative<'a>(ctx: &mut FileCtx<'a>, class: Option<&ClassScope>, node: Node<'a>) -> Const {
    let Some(argument) = field(node, "argument") else { return Const::Unknown };
    match (operator(node), constant(ctx, class, argument)) {
        ("-", Const::Int(it)) => it.checked_neg().map_or(Const::Unknown, Const::Int),
        ("-", Const::Float(it)) => Const::Float(format!("-{it}").into()),
        ("+", it @ (Const::Int(_) | Const::Float(_))) => it,
        ("!", Const::Bool(it)) => Const::Bool(!it),
        _ => Const::Unknown,
    }
}

/// Sums and flags of integers: `60 * 60`, `1 << 3`, `self::A | self::B` is not among them.
fn arithmetic<'a>(ctx: &mut FileCtx<'a>, class: Option<&ClassScope>, node: Node<'a>) -> Const {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
        return Const::Unknown;
    };
    let (Const::Int(left), Const::Int(right)) =
        (constant(ctx, class, left), constant(ctx, class, right))
    else {
        return Const::Unknown;
    };
    let value = match operator(node) {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "|" => Some(left | right),
        "<<" => u32::try_from(right).ok().and_then(|it| left.checked_shl(it)),
        _ => None,
    };
    value.map_or(Const::Unknown, Const::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_notation() {
        for (written, wanted) in [
            ("42", Some(42)),
            ("1_000", Some(1000)),
            ("0x1F", Some(31)),
            ("0b11", Some(3)),
            ("0o17", Some(15)),
            ("017", Some(15)),
            ("0", Some(0)),
            ("99999999999999999999", None),
        ] {
            assert_eq!(integer(written), wanted, "{written}");
        }
    }
}
