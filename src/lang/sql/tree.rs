//! Tokens to a syntax tree: a ladder of dialects, and a few rounds of repair on the way.
//!
//! A hole may stand for a clause (`{$where}`) or for nothing; text may end in the middle because
//! the rest is added elsewhere. The parser's error says at which token it stopped: a hole there is
//! taken out, an end there is filled up, and both are noted.

use super::dialect::Lax;
use super::edit::{self, Notes};
use super::token::{Lexed, PARAM_NAME};
use crate::ir::Engine;
use sqlparser::ast;
use sqlparser::dialect::{Dialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

/// Repairs of one text.
const MAX_ROUNDS: usize = 6;
/// Nesting that the parser follows.
const MAX_NESTING: usize = 250;

/// A tree, and what was done to the tokens to get it.
#[derive(Debug)]
pub(super) struct Tree<T> {
    pub(super) node: T,
    /// After the edits, in the order of their places.
    pub(super) tokens: Vec<Lexed>,
    pub(super) notes: Notes,
    /// Parameters that were taken out: they stand for unknown clauses.
    pub(super) dropped: Vec<Lexed>,
    /// The text goes on elsewhere.
    pub(super) open: bool,
    /// Where the next statement begins, when one follows without a semicolon.
    pub(super) rest: Option<u32>,
}

/// Where and why no dialect took the text.
#[derive(Debug)]
pub(super) struct Refused {
    /// None at the end.
    pub(super) at: Option<u32>,
    pub(super) message: String,
}

/// Parses the tokens of one statement.
pub(super) fn statement(
    tokens: &[Lexed],
    engine: Option<Engine>,
) -> Result<Tree<ast::Statement>, Refused> {
    fn rule(parser: &mut Parser<'_>) -> Result<ast::Statement, ParserError> {
        parser.parse_statement()
    }
    climb(tokens, engine, rule)
}

/// Parses a condition.
pub(super) fn expr(tokens: &[Lexed], engine: Option<Engine>) -> Result<Tree<ast::Expr>, Refused> {
    fn rule(parser: &mut Parser<'_>) -> Result<ast::Expr, ParserError> {
        parser.parse_expr()
    }
    climb(tokens, engine, rule)
}

type Rule<T> = fn(&mut Parser<'_>) -> Result<T, ParserError>;

fn climb<T>(tokens: &[Lexed], engine: Option<Engine>, rule: Rule<T>) -> Result<Tree<T>, Refused> {
    let (tokens, notes) = edit::edit(tokens, engine);
    let mut refused = None;
    for dialect in ladder(engine) {
        match repair(dialect, &tokens, rule) {
            Ok(tree) => return Ok(Tree { notes, ..tree }),
            Err(it) => {
                refused.get_or_insert(it);
            }
        }
    }
    Err(refused.unwrap_or(Refused { at: None, message: "no dialect was tried".to_owned() }))
}

fn ladder(engine: Option<Engine>) -> Vec<&'static dyn Dialect> {
    let mut out: Vec<&'static dyn Dialect> = vec![&Lax];
    match engine {
        Some(Engine::MySql) => out.push(&MySqlDialect {}),
        Some(Engine::Sqlite) => out.push(&SQLiteDialect {}),
        Some(Engine::MsSql) => out.push(&MsSqlDialect {}),
        Some(Engine::Oracle) => {}
        Some(Engine::Postgres) => out.push(&PostgreSqlDialect {}),
        None => {
            out.push(&PostgreSqlDialect {});
            out.push(&MySqlDialect {});
            out.push(&MsSqlDialect {});
        }
    }
    out
}

fn repair<T>(
    dialect: &'static dyn Dialect,
    tokens: &[Lexed],
    rule: Rule<T>,
) -> Result<Tree<T>, Refused> {
    let mut tokens = tokens.to_vec();
    let mut dropped = Vec::new();
    let mut open = false;
    for _ in 0..=MAX_ROUNDS {
        let refused = match attempt(dialect, &tokens, rule) {
            Ok((node, rest)) => {
                let notes = Notes::default();
                return Ok(Tree { node, tokens, notes, dropped, open, rest });
            }
            Err(refused) => refused,
        };
        match refused.at {
            None if refused.message.contains("found: EOF") => {
                fill_up(&mut tokens, &refused.message);
                open = true;
            }
            None => return Err(refused),
            Some(at) => match take_out(&mut tokens, at) {
                Some(it) => dropped.push(it),
                None => return Err(refused),
            },
        }
    }
    Err(Refused { at: None, message: "too many unknown parts".to_owned() })
}

/// One run of the parser: the tree, and where a next statement begins.
fn attempt<T>(
    dialect: &dyn Dialect,
    tokens: &[Lexed],
    rule: Rule<T>,
) -> Result<(T, Option<u32>), Refused> {
    let tokens = tokens.iter().map(with_span).collect();
    let mut parser =
        Parser::new(dialect).with_recursion_limit(MAX_NESTING).with_tokens_with_locations(tokens);
    let node = rule(&mut parser).map_err(|it| refusal(&it))?;
    let next = parser.peek_token();
    if next.token == Token::EOF {
        return Ok((node, None));
    }
    let at = offset_of(next.span.start);
    if starts_statement(&next.token) {
        return Ok((node, at));
    }
    Err(Refused { at, message: format!("Expected: end of statement, found: {}", next.token) })
}

/// Byte offsets travel through the parser as columns of line 1.
fn with_span(it: &Lexed) -> TokenWithSpan {
    let location = |at: u32| Location { line: 1, column: u64::from(at) + 1 };
    TokenWithSpan {
        token: it.token.clone(),
        span: Span { start: location(it.start), end: location(it.end) },
    }
}

/// The byte offset of a place in the tree; none where the parser made the node up.
pub(super) fn offset_of(location: Location) -> Option<u32> {
    if location.line == 0 {
        return None;
    }
    u32::try_from(location.column.saturating_sub(1)).ok()
}

fn refusal(error: &ParserError) -> Refused {
    let message = match error {
        ParserError::ParserError(it) | ParserError::TokenizerError(it) => it.clone(),
        ParserError::RecursionLimitExceeded => "nested too deeply".to_owned(),
    };
    let column = message.rsplit_once(", Column: ").map(|it| it.1);
    let at = column.and_then(|it| it.parse::<u32>().ok()).map(|it| it.saturating_sub(1));
    Refused { at, message }
}

fn starts_statement(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    matches!(
        word.keyword,
        Keyword::UPDATE
            | Keyword::INSERT
            | Keyword::DELETE
            | Keyword::SELECT
            | Keyword::MERGE
            | Keyword::COMMIT
            | Keyword::ROLLBACK
            | Keyword::BEGIN
            | Keyword::DECLARE
            | Keyword::IF
            | Keyword::EXEC
    )
}

/// Removes the parameter at `at`, or the one right before it.
fn take_out(tokens: &mut Vec<Lexed>, at: u32) -> Option<Lexed> {
    let idx = tokens.partition_point(|it| it.start < at);
    if tokens.get(idx)?.is_param() {
        return Some(tokens.remove(idx));
    }
    let before = idx.checked_sub(1)?;
    tokens[before].is_param().then(|| tokens.remove(before))
}

/// Adds what the parser misses at the end.
fn fill_up(tokens: &mut Vec<Lexed>, message: &str) {
    let expected = message
        .split_once("Expected: ")
        .and_then(|it| it.1.rsplit_once(", found"))
        .map_or("", |it| it.0);
    let after_set = tokens.last().is_some_and(|it| it.keyword() == Keyword::SET);
    let missing: &[Token] = match expected {
        ")" => &[Token::RParen],
        "SET" => &[edit::keyword("SET"), edit::name(PARAM_NAME), Token::Eq, edit::name(PARAM_NAME)],
        it if it.starts_with('=') => &[Token::Eq, edit::name(PARAM_NAME)],
        _ if after_set => &[edit::name(PARAM_NAME), Token::Eq, edit::name(PARAM_NAME)],
        _ => &[edit::name(PARAM_NAME)],
    };
    let end = tokens.last().map_or(0, |it| it.end);
    for token in missing {
        tokens.push(Lexed { token: token.clone(), start: end, end, atoms: Vec::new() });
    }
}
