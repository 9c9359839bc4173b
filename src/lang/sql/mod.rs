//! SQL texts to [`Statement`]s: what a statement writes, which rows, under which conditions.
//!
//! ```text
//! pieces and holes -> Buffer -> tokens -> chunks -> edited tokens -> tree -> ir::Statement
//!                     text      lex       split     edit             tree    dml, upsert, query
//! ```
//!
//! Nothing here fails: a text that no dialect takes is read token by token, and what cannot be told
//! is left out and marked incomplete.

mod compare;
mod condition;
mod control;
mod ctx;
mod dialect;
mod dml;
mod edit;
mod engine;
mod expr;
mod fallback;
mod leftover;
mod lex;
mod literal;
mod looks;
mod operator;
mod query;
mod read;
mod scope;
mod script;
mod side;
mod split;
mod text;
mod token;
mod tree;
mod upsert;
mod word;

#[cfg(test)]
mod tests;

pub use looks::looks_like_sql;
pub use script::lower;
pub use text::{SqlPiece, SqlText};

use crate::ir::{Condition, Engine, Statement};
use condition::Reducer;
use ctx::Ctx;
use lex::{Lexer, Step};
use read::Reader;
use scope::{Env, Scope};
use split::Chunk;
use sqlparser::keywords::Keyword;
use text::Buffer;
use token::Lexed;

/// The statements of a text, in order. `engine` is what is known of the connection.
///
/// `?` are numbered through the whole text, so that a position is an index into its arguments.
pub fn parse(text: &SqlText, engine: Option<Engine>) -> Vec<Statement> {
    let buffer = Buffer::new(text);
    let (mut chunks, backslash) = chunks(&buffer, engine);
    let positions = split::number_params(&mut chunks);
    let evidence = engine::evidence(&buffer.text, chunks.iter().flat_map(|it| &it.tokens));
    let reader = Reader { buffer: &buffer, engine: engine.or(evidence), evidence, backslash };
    let mut out = Vec::new();
    for chunk in &chunks {
        // A text in code that is refused is no SQL or not understood: nothing is said of it.
        let _ = reader.chunk(chunk, &mut out);
    }
    for stmt in &mut out {
        stmt.positions = positions;
    }
    out
}

/// The statements' tokens, and whether backslashes escape; the other reading when one leaves a
/// quote open.
fn chunks(buffer: &Buffer<'_>, engine: Option<Engine>) -> (Vec<Chunk>, bool) {
    let split = |lexer: Lexer<'_>| {
        let mut lexer = lexer;
        let mut out = Vec::new();
        while let Some(chunk) = split::next_chunk(&mut lexer) {
            out.push(chunk);
        }
        out
    };
    let is_closed = |them: &[Chunk]| them.iter().all(|it| it.unterminated.is_none());
    let lexer = Lexer::new(buffer, engine);
    let backslash = lexer.backslash();
    let first = split(lexer);
    if is_closed(&first) {
        return (first, backslash);
    }
    let second = split(Lexer::new(buffer, engine).with_backslash(!backslash));
    if is_closed(&second) { (second, !backslash) } else { (first, backslash) }
}

/// The conditions of a WHERE fragment, with or without the keyword (`id = :id AND state = :old`),
/// and whether they are all there is. `?` are numbered from 0.
pub fn parse_condition(text: &SqlText, engine: Option<Engine>) -> (Vec<Condition>, bool) {
    let buffer = Buffer::new(text);
    let mut chunk = Chunk::default();
    let mut lexer = Lexer::new(&buffer, engine);
    let mut closed = true;
    loop {
        match lexer.step() {
            Step::Token(token) => chunk.tokens.push(token),
            Step::Unterminated(_) => closed = false,
            Step::End(_) | Step::Batch | Step::Eof => break,
        }
    }
    let logic = chunk.tokens.iter().filter(|it| is_logic(it)).count();
    if logic > split::MAX_LOGIC || buffer.text.len() > split::MAX_BYTES as usize {
        return (Vec::new(), false);
    }
    let mut chunks = [chunk];
    split::number_params(&mut chunks);
    let evidence = engine::evidence(&buffer.text, chunks[0].tokens.iter());
    let Some((tokens, trimmed)) = trim_condition(&chunks[0].tokens) else {
        return (Vec::new(), chunks[0].tokens.is_empty() && closed);
    };
    let engine = engine.or(evidence);
    let Ok(tree) = tree::expr(tokens, engine) else {
        let ctx = Ctx { buffer: &buffer, tokens, engine, evidence };
        return (fallback::conditions(&ctx, tokens), false);
    };
    let ctx = Ctx { buffer: &buffer, tokens: &tree.tokens, engine, evidence };
    let (env, scope) = (Env::default(), Scope::default());
    let mut reducer = Reducer::new(&ctx, &env, &scope);
    let conditions = reducer.reduce(&tree.node);
    let whole = closed && !trimmed && !tree.open && tree.dropped.is_empty() && tree.rest.is_none();
    (conditions, whole && reducer.complete)
}

fn is_logic(token: &Lexed) -> bool {
    matches!(token.keyword(), Keyword::AND | Keyword::OR)
}

/// The condition itself, and whether a connective at its end was cut off. None when there is none,
/// or when it is only an alternative to something else.
fn trim_condition(tokens: &[Lexed]) -> Option<(&[Lexed], bool)> {
    let starts =
        |it: &Lexed| matches!(it.keyword(), Keyword::WHERE | Keyword::HAVING | Keyword::AND);
    let from = tokens.iter().position(|it| !starts(it))?;
    let tokens = &tokens[from..];
    if tokens.first().is_some_and(|it| it.keyword() == Keyword::OR) {
        return None;
    }
    let mut depth = 0_i32;
    let end = tokens.iter().position(|it| {
        match it.token {
            sqlparser::tokenizer::Token::LParen => depth += 1,
            sqlparser::tokenizer::Token::RParen => depth -= 1,
            _ => {}
        }
        let tail = matches!(
            it.keyword(),
            Keyword::ORDER | Keyword::GROUP | Keyword::LIMIT | Keyword::FOR | Keyword::RETURNING
        );
        depth == 0 && tail
    });
    let tokens = &tokens[..end.unwrap_or(tokens.len())];
    let trailing = tokens.iter().rev().take_while(|it| is_logic(it)).count();
    let kept = &tokens[..tokens.len() - trailing];
    (!kept.is_empty()).then_some((kept, trailing > 0))
}
