//! What must be known of a tree before it is lowered: comments, broken regions, declared functions.

use super::file::FileCtx;
use super::syntax::{Node, field};
use crate::base::{Comment, ProblemKind};

/// Walks the whole tree once.
pub(super) fn scan<'a>(ctx: &mut FileCtx<'a>, root: Node<'a>) {
    let mut cursor = root.walk();
    let mut broken_until = 0;
    loop {
        visit(ctx, cursor.node(), &mut broken_until);
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn visit<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>, broken_until: &mut usize) {
    if node.is_error() || node.is_missing() {
        if node.start_byte() >= *broken_until {
            report(ctx, node);
        }
        *broken_until = (*broken_until).max(node.end_byte());
    }
    match node.kind() {
        "comment" => {
            let (span, text) = (ctx.span(node), strip(ctx.text(node)));
            ctx.out.comments.push(Comment { span, text });
        }
        "function_definition" => {
            if let Some(name) = field(node, "name") {
                ctx.declared.insert(ctx.text(name).to_lowercase());
            }
        }
        _ => (),
    }
}

fn report(ctx: &mut FileCtx<'_>, node: Node<'_>) {
    let span = ctx.span(node);
    let message = if node.is_missing() {
        format!("syntax error: `{}` is missing here", node.kind())
    } else {
        "syntax error: this part was not understood".to_owned()
    };
    ctx.problem(ProblemKind::Syntax, span, &message);
}

/// The words of a comment, without delimiters and the stars at the beginning of lines.
pub(super) fn strip(raw: &str) -> String {
    let Some(block) = raw.strip_prefix("/*") else {
        let line = raw.strip_prefix("//").or_else(|| raw.strip_prefix('#')).unwrap_or(raw);
        return line.trim().to_owned();
    };
    let block = block.strip_suffix("*/").unwrap_or(block);
    let lines: Vec<_> = block.lines().map(|it| it.trim().trim_start_matches('*').trim()).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_stripped() {
        for (raw, wanted) in [
            ("// claim", "claim"),
            ("//~ stale-check", "~ stale-check"),
            ("# claim", "claim"),
            ("/* claim */", "claim"),
            ("/** @var Job */", "@var Job"),
            ("/**\n * One.\n *\n * @return Job\n */", "One.\n\n@return Job"),
        ] {
            assert_eq!(strip(raw), wanted);
        }
    }
}
