//! Texts in, dumps out: `fixtures/lang/sql/texts.txt` holds a text per block and, behind `=>`, what
//! it says. `‹name›` is a hole, `‹#name›` one that is known to be a number.

use super::*;
use crate::base::{Name, SourceId, Span};
use crate::ir::dump::dump_statement;

/// The pieces of a marked text; spans point into the marked text.
fn marked(text: &str) -> SqlText {
    let mut pieces = Vec::new();
    let mut at = 0;
    let span = |start, end| Span::new(SourceId(0), start, end);
    let literal = |from: usize, to: usize| SqlPiece::Lit {
        value: Name::from(&text[from..to]),
        span: span(from, to),
        offsets: Vec::new(),
    };
    while let Some(open) = text[at..].find('‹').map(|it| at + it) {
        let Some(close) = text[open..].find('›').map(|it| open + it + '›'.len_utf8()) else { break };
        pieces.push(literal(at, open));
        let numeric = text[open + '‹'.len_utf8()..].starts_with('#');
        pieces.push(SqlPiece::Hole { numeric, span: span(open, close) });
        at = close;
    }
    pieces.push(literal(at, text.len()));
    SqlText { pieces }
}

fn dump(text: &str) -> Vec<String> {
    parse(&marked(text), None).iter().map(dump_statement).collect()
}

#[test]
fn zz_print() {
    let all = include_str!("/tmp/texts.txt");
    for block in all.split("\n\n") {
        let block = block.trim();
        println!("{block}");
        if !block.starts_with('#') {
            for it in dump(block) { println!("=> {it}"); }
        }
        println!();
    }
}
