//! Which pieces does a string expression consist of: literals, interpolations, concatenations?

use super::cook::{Quote, Raw, cook};
use super::file::FileCtx;
use super::syntax::{Node, child_of_kind, field, operator, tokens, unparen};
use crate::ir::Piece;

/// A part of a string before its holes are lowered.
#[derive(Clone, Debug)]
pub(super) enum Part<'a> {
    /// Literal characters.
    Lit(Piece),
    /// An expression that is put in.
    Hole {
        /// The expression.
        node: Node<'a>,
        /// It stands in quotes without braces, where `$row[status]` has a quoted key.
        simple: bool,
    },
}

/// Whether the node is a string literal, interpolated or not.
pub(super) fn is_string(node: Node<'_>) -> bool {
    matches!(node.kind(), "string" | "encapsed_string" | "heredoc" | "nowdoc")
}

/// Whether the node concatenates.
pub(super) fn is_concat(node: Node<'_>) -> bool {
    node.kind() == "binary_expression" && operator(node) == "."
}

/// The parts of a string expression in order. Concatenations are flattened, however long; operands
/// that are no strings are holes.
pub(super) fn parts<'a>(ctx: &FileCtx<'a>, node: Node<'a>) -> Vec<Part<'a>> {
    let mut out = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let inner = unparen(node);
        if is_concat(inner) {
            open.extend(field(inner, "right"));
            open.extend(field(inner, "left"));
        } else if is_string(inner) {
            string_parts(ctx, inner, &mut out);
        } else if inner.kind() == "integer" {
            out.extend(number(ctx, inner));
        } else {
            out.push(Part::Hole { node: inner, simple: false });
        }
    }
    out
}

fn number<'a>(ctx: &FileCtx<'a>, node: Node<'a>) -> Option<Part<'a>> {
    let raw = Raw {
        source: ctx.source.id,
        text: ctx.text(node),
        start: node.start_byte(),
        quote: Quote::Nowdoc,
        indent: 0,
        begins_line: false,
    };
    cook(raw).map(Part::Lit)
}

/// Appends the parts of one string literal or shell command.
pub(super) fn string_parts<'a>(ctx: &FileCtx<'a>, node: Node<'a>, out: &mut Vec<Part<'a>>) {
    let Some(frame) = frame(ctx, node) else { return };
    let holder = match frame.quote {
        Quote::Double | Quote::Backtick => Some(node),
        Quote::Heredoc => child_of_kind(node, "heredoc_body"),
        Quote::Single | Quote::Nowdoc => None,
    };
    let holes = holder.map(holes).unwrap_or_default();
    let mut at = frame.start;
    for hole in holes {
        out.extend(run(ctx, &frame, at, hole.start));
        out.push(Part::Hole { node: hole.node, simple: hole.simple });
        at = hole.end;
    }
    out.extend(run(ctx, &frame, at, frame.end));
}

/// Where the characters of a string literal stand and how they read.
struct Frame {
    start: usize,
    end: usize,
    quote: Quote,
    indent: usize,
}

fn frame(ctx: &FileCtx<'_>, node: Node<'_>) -> Option<Frame> {
    let quote = match node.kind() {
        "string" => Quote::Single,
        "encapsed_string" => Quote::Double,
        "shell_command_expression" => Quote::Backtick,
        "heredoc" => return heredoc_frame(ctx, node, Quote::Heredoc),
        "nowdoc" => return heredoc_frame(ctx, node, Quote::Nowdoc),
        _ => return None,
    };
    let text = ctx.text(node);
    let prefix = usize::from(text.starts_with(['b', 'B']));
    let (start, end) = (node.start_byte() + prefix + 1, node.end_byte().saturating_sub(1));
    (start <= end).then_some(Frame { start, end, quote, indent: 0 })
}

/// A heredoc's lines, from the one after its first line to the one before its end tag.
fn heredoc_frame(ctx: &FileCtx<'_>, node: Node<'_>, quote: Quote) -> Option<Frame> {
    let head = field(node, "identifier")?.end_byte();
    let tag = field(node, "end_tag")?.start_byte();
    let start = head + ctx.slice(head, tag).find('\n')? + 1;
    let before_tag = ctx.slice(start, tag);
    let last_line = before_tag.rfind('\n').map_or(0, |it| it + 1);
    let indent = before_tag.len() - last_line;
    let body = before_tag[..last_line].strip_suffix('\n').unwrap_or_default();
    let body = body.strip_suffix('\r').unwrap_or(body);
    Some(Frame { start, end: start + body.len(), quote, indent })
}

struct HoleRange<'a> {
    node: Node<'a>,
    start: usize,
    end: usize,
    simple: bool,
}

/// The interpolated expressions; the ranges hold the braces around them.
fn holes(holder: Node<'_>) -> Vec<HoleRange<'_>> {
    let mut out: Vec<HoleRange<'_>> = Vec::new();
    let mut brace = None;
    for node in tokens(holder) {
        match node.kind() {
            "{" => brace = Some(node.start_byte()),
            "}" => {
                if let Some(last) = out.last_mut().filter(|_| brace.is_some()) {
                    last.end = node.end_byte();
                }
                brace = None;
            }
            "string_content" | "escape_sequence" => (),
            _ if node.is_named() => out.push(HoleRange {
                node,
                start: brace.unwrap_or(node.start_byte()),
                end: node.end_byte(),
                simple: brace.is_none(),
            }),
            _ => (),
        }
    }
    out
}

fn run<'a>(ctx: &FileCtx<'a>, frame: &Frame, start: usize, end: usize) -> Option<Part<'a>> {
    let start = start.max(frame.start);
    let raw = Raw {
        source: ctx.source.id,
        text: ctx.slice(start, end.min(frame.end)),
        start,
        quote: frame.quote,
        indent: frame.indent,
        begins_line: start == frame.start,
    };
    cook(raw).map(Part::Lit)
}

/// The whole value, when there is no hole in it.
pub(super) fn literal(parts: &[Part<'_>]) -> Option<String> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Lit(Piece::Lit { value, .. }) => out.push_str(value),
            Part::Lit(Piece::Hole(_)) | Part::Hole { .. } => return None,
        }
    }
    Some(out)
}
