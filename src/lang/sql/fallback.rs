//! Reading a statement by its tokens, when no dialect takes it: table, SET, and the conditions that
//! can be told apart. What is read here is never complete.

use super::ctx::{Ctx, params};
use super::query::blank;
use super::token::Lexed;
use crate::base::Name;
use crate::ir::{Assign, Condition, ConditionOp, SqlExpr, Statement, StatementKind};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token};

/// The first statement in the tokens; none when they are no SQL.
pub(super) fn read(ctx: &Ctx<'_>, tokens: &[Lexed]) -> Option<Statement> {
    let verb = verb(tokens)?;
    let kind = match tokens[verb].keyword() {
        Keyword::UPDATE => StatementKind::Update,
        Keyword::DELETE => StatementKind::Delete,
        Keyword::INSERT | Keyword::REPLACE => StatementKind::Insert,
        _ => StatementKind::Select,
    };
    let start = tokens[verb].start;
    let mut stmt = blank(ctx, kind, Location { line: 1, column: u64::from(start) + 1 });
    stmt.complete = false;
    let rest = &tokens[verb + 1..];
    let at = match kind {
        StatementKind::Update => 0,
        StatementKind::Insert => find(rest, 0, &[Keyword::INTO])? + 1,
        StatementKind::Delete => find(rest, 0, &[Keyword::FROM]).map_or(0, |it| it + 1),
        _ => find(rest, 0, &[Keyword::FROM])? + 1,
    };
    let after = table(rest, at, &mut stmt)?;
    match kind {
        StatementKind::Update => {
            let set = find(rest, after, &[Keyword::SET])?;
            // An English sentence has more than an alias and a hint before its "set".
            let is_prose = set - after > 3 && !rest[after..set].iter().any(is_punctuation);
            if is_prose {
                return None;
            }
            let end = find(rest, set + 1, TAIL).unwrap_or(rest.len());
            stmt.sets = sets(ctx, &rest[set + 1..end]);
        }
        StatementKind::Insert => return Some(stmt),
        _ => {}
    }
    if let Some(from) = find(rest, after, &[Keyword::WHERE]) {
        let end = find(rest, from + 1, TAIL).unwrap_or(rest.len());
        stmt.conditions = conditions(ctx, &rest[from + 1..end]);
    }
    stmt.returning = find(rest, after, &[Keyword::RETURNING, Keyword::OUTPUT]).is_some();
    Some(stmt)
}

const TAIL: &[Keyword] = &[
    Keyword::WHERE,
    Keyword::FROM,
    Keyword::RETURNING,
    Keyword::OUTPUT,
    Keyword::ORDER,
    Keyword::GROUP,
    Keyword::LIMIT,
    Keyword::FOR,
];

/// The first verb outside of parentheses, or else the first one.
fn verb(tokens: &[Lexed]) -> Option<usize> {
    let mut depth = 0_i32;
    let mut first = None;
    for (idx, it) in tokens.iter().enumerate() {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if begins(tokens, idx) => {
                if depth == 0 {
                    return Some(idx);
                }
                first.get_or_insert(idx);
            }
            _ => {}
        }
    }
    first
}

/// A verb where a statement may begin.
fn begins(tokens: &[Lexed], idx: usize) -> bool {
    let verb = matches!(
        tokens[idx].keyword(),
        Keyword::UPDATE | Keyword::DELETE | Keyword::INSERT | Keyword::REPLACE | Keyword::SELECT
    );
    let prev = idx.checked_sub(1).map(|it| &tokens[it]);
    verb && prev
        .is_none_or(|it| matches!(it.token, Token::LParen | Token::RParen | Token::SemiColon))
}

fn is_punctuation(token: &Lexed) -> bool {
    !matches!(token.token, Token::Word(_))
}

/// The next of `words` outside of parentheses, from `from`.
fn find(tokens: &[Lexed], from: usize, words: &[Keyword]) -> Option<usize> {
    let mut depth = 0_i32;
    for (idx, it) in tokens.iter().enumerate().skip(from) {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        if depth == 0 && words.contains(&it.keyword()) {
            return Some(idx);
        }
    }
    None
}

/// Reads the table's name; gives the index behind it.
fn table(tokens: &[Lexed], from: usize, stmt: &mut Statement) -> Option<usize> {
    let mut idx = from;
    while matches!(
        tokens.get(idx)?.keyword(),
        Keyword::LOW_PRIORITY | Keyword::IGNORE | Keyword::ONLY | Keyword::DELAYED
    ) {
        idx += 1;
    }
    loop {
        let Token::Word(word) = &tokens.get(idx)?.token else { return None };
        stmt.table = Name::from(if tokens[idx].is_param() { "" } else { word.value.as_str() });
        stmt.table_param = params(&tokens[idx]).into_iter().next();
        idx += 1;
        if tokens.get(idx).is_none_or(|it| it.token != Token::Period) {
            return Some(idx);
        }
        idx += 1;
    }
}

/// The parts between separators outside of parentheses.
fn split(tokens: &[Lexed], separates: impl Fn(&Lexed) -> bool) -> Vec<&[Lexed]> {
    let mut depth = 0_i32;
    let mut out = Vec::new();
    let mut start = 0;
    for (idx, it) in tokens.iter().enumerate() {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 && separates(it) {
            out.push(&tokens[start..idx]);
            start = idx + 1;
        }
    }
    out.push(&tokens[start.min(tokens.len())..]);
    out
}

fn sets(ctx: &Ctx<'_>, tokens: &[Lexed]) -> Vec<Assign> {
    let items = split(tokens, |it| it.token == Token::Comma);
    items.into_iter().filter_map(|it| set(ctx, it)).collect()
}

fn set(ctx: &Ctx<'_>, item: &[Lexed]) -> Option<Assign> {
    let (first, last) = (item.first()?, item.last()?);
    let eq = item.iter().position(|it| it.token == Token::Eq).unwrap_or(item.len());
    let target = item[..eq].iter().rfind(|it| matches!(it.token, Token::Word(_)))?;
    let column = column_name(target)?;
    let value = simple_value(item.get(eq + 1..).unwrap_or_default());
    let value = match value {
        SqlExpr::Other(params) if reads(&item[(eq + 1).min(item.len())..], &column) => {
            SqlExpr::Relative(params)
        }
        value => value,
    };
    let column_param = params(target).into_iter().next();
    Some(Assign { column, column_param, value, span: ctx.span(first.start, last.end) })
}

fn reads(tokens: &[Lexed], column: &str) -> bool {
    !column.is_empty() && tokens.iter().any(|it| it.is_word(column))
}

fn column_name(token: &Lexed) -> Option<Name> {
    let Token::Word(word) = &token.token else { return None };
    Some(Name::from(if token.is_param() { "" } else { word.value.as_str() }))
}

/// A single literal or parameter; everything else only by its parameters.
fn simple_value(tokens: &[Lexed]) -> SqlExpr {
    let all = || tokens.iter().flat_map(params).collect();
    let [only] = tokens else { return SqlExpr::Other(all()) };
    let mut found = params(only);
    match (&only.token, found.len()) {
        (_, 1) if only.is_param() => found.pop().map_or(SqlExpr::Null, SqlExpr::Param),
        (Token::SingleQuotedString(_), 1..) => SqlExpr::Mixed(found),
        (Token::SingleQuotedString(it), _) => SqlExpr::Str(Name::from(it.as_str())),
        (Token::Number(it, _), _) => it.parse().map_or(SqlExpr::Other(Vec::new()), SqlExpr::Int),
        (Token::Word(_), 0) if only.keyword() == Keyword::NULL => SqlExpr::Null,
        (Token::Word(_), 0) if only.keyword() == Keyword::TRUE => SqlExpr::Bool(true),
        (Token::Word(_), 0) if only.keyword() == Keyword::FALSE => SqlExpr::Bool(false),
        _ => SqlExpr::Other(found),
    }
}

/// The conjuncts; one unknown condition when there is an OR among them.
pub(super) fn conditions(ctx: &Ctx<'_>, tokens: &[Lexed]) -> Vec<Condition> {
    let alternatives = split(tokens, |it| it.keyword() == Keyword::OR);
    if alternatives.len() > 1 {
        return Vec::new();
    }
    let parts = split(tokens, |it| it.keyword() == Keyword::AND);
    parts.into_iter().filter_map(|it| condition(ctx, it)).collect()
}

fn condition(ctx: &Ctx<'_>, tokens: &[Lexed]) -> Option<Condition> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let mut idx = 0;
    while tokens.get(idx + 1).is_some_and(|it| it.token == Token::Period) {
        idx += 2;
    }
    let target = tokens.get(idx)?;
    let column = column_name(target)?;
    let operator = tokens.get(idx + 1)?;
    let rest = &tokens[idx + 2..];
    let negated = rest.first().is_some_and(|it| it.keyword() == Keyword::NOT);
    let is_null = rest.last().is_some_and(|it| it.keyword() == Keyword::NULL);
    let selects = rest.iter().any(|it| it.keyword() == Keyword::SELECT);
    let op = match (&operator.token, operator.keyword()) {
        (Token::Eq | Token::DoubleEq, _) | (_, Keyword::IN) if selects => ConditionOp::InSelect,
        (Token::Eq | Token::DoubleEq, _) => ConditionOp::Eq,
        (Token::Neq, _) => ConditionOp::Ne,
        (Token::Lt | Token::LtEq, _) => ConditionOp::Less,
        (Token::Gt | Token::GtEq, _) => ConditionOp::Greater,
        (_, Keyword::IS) if negated && is_null => ConditionOp::IsNotNull,
        (_, Keyword::IS) if is_null => ConditionOp::IsNull,
        (_, Keyword::IS) if !negated => ConditionOp::Eq,
        (_, Keyword::LIKE) => ConditionOp::Like,
        _ => ConditionOp::Other,
    };
    let values = match op {
        ConditionOp::IsNull | ConditionOp::IsNotNull | ConditionOp::InSelect => Vec::new(),
        _ => vec![simple_value(rest)],
    };
    Some(Condition {
        column,
        column_param: params(target).into_iter().next(),
        op,
        values,
        any: Vec::new(),
        foreign: false,
        span: ctx.span(first.start, last.end),
    })
}
