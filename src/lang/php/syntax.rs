//! How is a PHP syntax tree made, and how are its nodes read?
//!
//! Trees can be as deep as the text is long, so nothing here walks down by recursion.

use super::repair;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// A node of the syntax tree.
pub(super) type Node<'a> = tree_sitter::Node<'a>;

/// Progress reports that the parser may make for free, and how many bytes buy one more. Ordinary
/// code makes about one report for a hundred bytes.
const FREE_REPORTS: usize = 20_000;
const BYTES_PER_REPORT: usize = 4;

/// The tree of `text`; none when the parser gives up on its budget.
pub(super) fn parse(text: &str) -> Option<Tree> {
    let tree = parse_once(text)?;
    if !tree.root_node().has_error() {
        return Some(tree);
    }
    let code = before_halt(text, &tree);
    let respelled = repair::respell(code);
    if respelled.is_none() && code.len() == text.len() {
        return Some(tree);
    }
    let again = parse_once(respelled.as_deref().unwrap_or(code))?;
    let is_better = n_broken_bytes(&again) < n_broken_bytes(&tree);
    Some(if is_better { again } else { tree })
}

/// The code before `__halt_compiler();`: what follows it is data.
fn before_halt<'t>(text: &'t str, tree: &Tree) -> &'t str {
    const WORD: &str = "__halt_compiler";
    let is_call = |at: usize| {
        let node = tree.root_node().descendant_for_byte_range(at, at + WORD.len());
        node.is_some_and(|it| it.kind() == "name" && it.start_byte() == at)
    };
    let halt = text.match_indices(WORD).map(|(at, _)| at).take(16).find(|it| is_call(*it));
    let Some(halt) = halt else { return text };
    text[halt..].find(';').map_or(text, |end| &text[..=halt + end])
}

fn n_broken_bytes(tree: &Tree) -> usize {
    let mut cursor = tree.walk();
    let mut out = 0;
    loop {
        let node = cursor.node();
        let is_broken = node.is_error() || node.is_missing();
        if is_broken {
            out += node.end_byte() - node.start_byte() + 1;
        }
        if !is_broken && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

fn parse_once(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_php::LANGUAGE_PHP.into())
        .expect("the grammar is made for this version of the parser");
    let mut left = FREE_REPORTS + text.len() / BYTES_PER_REPORT;
    let mut spend = |_: &ParseState| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut spend);
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// Named children without comments, inline HTML and broken parts.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|it| !is_trivia(*it)).collect()
}

/// Children with punctuation, without comments, inline HTML and broken parts.
pub(super) fn tokens(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|it| !is_trivia(*it)).collect()
}

fn is_trivia(node: Node<'_>) -> bool {
    node.is_extra() || node.is_error() || matches!(node.kind(), "comment" | "text_interpolation")
}

/// The child in a field of the grammar.
pub(super) fn field<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    node.child_by_field_name(name)
}

/// The first child of a kind.
pub(super) fn child_of_kind<'a>(node: Node<'a>, kind: &str) -> Option<Node<'a>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|it| it.kind() == kind)
}

/// The first named child.
pub(super) fn first_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|it| !is_trivia(*it))
}

/// The expression inside any number of parentheses.
pub(super) fn unparen(mut node: Node<'_>) -> Node<'_> {
    while node.kind() == "parenthesized_expression" {
        let Some(inner) = first_child(node) else { break };
        node = inner;
    }
    node
}

/// The operator of a binary, unary or augmented expression.
pub(super) fn operator(node: Node<'_>) -> &str {
    field(node, "operator").map_or("", |it| it.kind())
}

/// Operands of a chain of the same left-nested binary operators, from left to right.
pub(super) fn flatten<'a>(node: Node<'a>, is_link: impl Fn(Node<'a>) -> bool) -> Vec<Node<'a>> {
    let mut out = Vec::new();
    let mut current = node;
    while is_link(current) {
        out.extend(field(current, "right"));
        let Some(left) = field(current, "left") else { break };
        current = left;
    }
    out.push(current);
    out.reverse();
    out
}
