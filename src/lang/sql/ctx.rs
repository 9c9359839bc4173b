//! What lowering a tree needs beside the tree: the tokens it came from and the way to the source.

use super::text::Buffer;
use super::token::{Lexed, Mark, PARAM_NAME};
use super::tree::offset_of;
use crate::base::{Name, SourceId, Span};
use crate::ir::{Engine, ParamRef};
use sqlparser::ast::{self, Expr, Ident, ObjectName};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ctx<'a> {
    pub(super) buffer: &'a Buffer<'a>,
    /// Edited, in the order of their places.
    pub(super) tokens: &'a [Lexed],
    /// Declared, or taken from the text.
    pub(super) engine: Option<Engine>,
    /// What the text itself says.
    pub(super) evidence: Option<Engine>,
}

impl<'a> Ctx<'a> {
    /// The source range of the bytes `start..end`.
    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        self.buffer.span(start, end).unwrap_or(Span::new(SourceId(0), 0, 0))
    }

    /// The index of the first token that begins at or behind `at`.
    pub(super) fn token_index(&self, at: u32) -> usize {
        self.tokens.partition_point(|it| it.start < at)
    }

    /// The name or value token that begins at `location`.
    pub(super) fn token(&self, location: Location) -> Option<&'a Lexed> {
        let at = offset_of(location)?;
        let same = self.tokens[self.token_index(at)..].iter().take_while(|it| it.start == at);
        let mut first = None;
        for it in same {
            // What an edit added is empty; the word at its place is the one that is meant.
            let is_value = matches!(it.token, Token::Word(_) | Token::SingleQuotedString(_));
            if is_value && it.end > it.start {
                return Some(it);
            }
            first.get_or_insert(it);
        }
        first
    }

    /// The parameters in the token at `location`.
    pub(super) fn params_at(&self, location: Location) -> Vec<ParamRef> {
        self.token(location).map(params).unwrap_or_default()
    }

    /// The parameter that is all of the identifier.
    pub(super) fn param(&self, ident: &Ident) -> Option<ParamRef> {
        let token = self.token(ident.span.start).filter(|it| it.is_param())?;
        params(token).into_iter().next()
    }

    /// The last part of a qualified name, and a parameter that is it or is in it.
    pub(super) fn object(&self, name: &ObjectName) -> (Name, Option<ParamRef>) {
        let Some(ident) = name.0.last().and_then(|it| it.as_ident()) else {
            return (Name::from(""), None);
        };
        let param = self.params_at(ident.span.start).into_iter().next();
        (Name::from(name_of(ident)), param)
    }

    /// Whether a parameter is used as a qualifier (`‹alias›.status`): one behind a table is an alias.
    pub(super) fn qualifies_by_param(&self) -> bool {
        let is_table = |it: &Lexed| {
            matches!(it.keyword(), Keyword::UPDATE | Keyword::FROM | Keyword::INTO | Keyword::JOIN)
        };
        self.tokens
            .windows(3)
            .any(|it| !is_table(&it[0]) && it[1].is_param() && it[2].token == Token::Period)
    }

    /// From the expression's first leaf to the end of the condition or item that it is.
    pub(super) fn extent(&self, expr: &Expr, stops_at_logic: bool) -> Span {
        let Some(start) = first_leaf(expr).and_then(offset_of) else {
            return self.span(0, 0);
        };
        let mut idx = self.token_index(start);
        if starts_with_tuple(expr) && idx > 0 && self.tokens[idx - 1].token == Token::LParen {
            idx -= 1;
        }
        while idx > 0 && self.tokens[idx - 1].keyword() == Keyword::NOT {
            idx -= 1;
        }
        let start = self.tokens.get(idx).map_or(start, |it| it.start);
        self.span(start, self.item_end(idx, stops_at_logic))
    }

    /// Where the item that begins with token `idx` ends.
    pub(super) fn item_end(&self, idx: usize, stops_at_logic: bool) -> u32 {
        let mut depth = 0_i32;
        let mut between = false;
        let mut end = self.tokens.get(idx).map_or(0, |it| it.end);
        for it in &self.tokens[idx.min(self.tokens.len())..] {
            match (&it.token, it.keyword()) {
                (Token::LParen, _) => depth += 1,
                (Token::RParen, _) => depth -= 1,
                (Token::Comma | Token::SemiColon, _) if depth == 0 => break,
                (_, Keyword::BETWEEN) if depth == 0 => between = true,
                (_, Keyword::AND) if depth == 0 && between => between = false,
                (_, Keyword::AND | Keyword::OR) if depth == 0 && stops_at_logic => break,
                (_, keyword) if depth == 0 && ends_clause(keyword) => break,
                _ => {}
            }
            if depth < 0 {
                break;
            }
            end = it.end;
        }
        end
    }

    /// Where the statement that begins with token `idx` ends: at the parenthesis around it.
    pub(super) fn statement_end(&self, idx: usize) -> u32 {
        let mut depth = 0_i32;
        let mut end = self.tokens.get(idx).map_or(0, |it| it.end);
        for it in &self.tokens[idx.min(self.tokens.len())..] {
            match it.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                break;
            }
            end = it.end;
        }
        end
    }
}

/// The identifier without quotes; empty for a parameter.
pub(super) fn name_of(ident: &Ident) -> &str {
    if ident.value == PARAM_NAME { "" } else { &ident.value }
}

/// Every parameter in a token.
pub(super) fn params(token: &Lexed) -> Vec<ParamRef> {
    let known = |mark: &Mark| match mark {
        Mark::Known(it) => Some(it.clone()),
        Mark::Question | Mark::Printf => None,
    };
    token.atoms.iter().filter_map(|it| known(&it.mark)).collect()
}

fn ends_clause(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::WHERE
            | Keyword::FROM
            | Keyword::RETURNING
            | Keyword::OUTPUT
            | Keyword::ORDER
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::LIMIT
            | Keyword::OFFSET
            | Keyword::FETCH
            | Keyword::FOR
            | Keyword::UNION
            | Keyword::SET
            | Keyword::JOIN
            | Keyword::INNER
            | Keyword::LEFT
            | Keyword::ON
            | Keyword::DO
    )
}

/// `(a, b) = ..`: the parenthesis belongs to it.
fn starts_with_tuple(expr: &Expr) -> bool {
    let left = match expr {
        Expr::BinaryOp { left, .. } => left,
        Expr::In { expr, .. } => expr,
        _ => return matches!(expr, Expr::Tuple(_)),
    };
    matches!(left.as_ref(), Expr::Tuple(_))
}

/// Where the leftmost leaf of an expression stands.
pub(super) fn first_leaf(expr: &Expr) -> Option<Location> {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Identifier(it) => return Some(it.span.start),
            Expr::CompoundIdentifier(them) => return them.first().map(|it| it.span.start),
            Expr::Value(it) => return Some(it.span.start),
            Expr::Function(it) => return object_start(&it.name),
            Expr::Case { case_token, .. } => return Some(case_token.0.span.start),
            Expr::TypedString(it) => return Some(it.value.span.start),
            Expr::Subquery(it) | Expr::Exists { subquery: it, .. } => return query_start(it),
            Expr::Tuple(them) => them.first()?,
            Expr::Array(it) => it.elem.first()?,
            Expr::Interval(it) => &it.value,
            Expr::BinaryOp { left: it, .. }
            | Expr::AnyOp { left: it, .. }
            | Expr::AllOp { left: it, .. }
            | Expr::CompoundFieldAccess { root: it, .. }
            | Expr::JsonAccess { value: it, .. }
            | Expr::IsFalse(it)
            | Expr::IsNotFalse(it)
            | Expr::IsTrue(it)
            | Expr::IsNotTrue(it)
            | Expr::IsNull(it)
            | Expr::IsNotNull(it)
            | Expr::IsUnknown(it)
            | Expr::IsNotUnknown(it)
            | Expr::IsDistinctFrom(it, _)
            | Expr::IsNotDistinctFrom(it, _)
            | Expr::In { expr: it, .. }
            | Expr::Between { expr: it, .. }
            | Expr::Like { expr: it, .. }
            | Expr::ILike { expr: it, .. }
            | Expr::SimilarTo { expr: it, .. }
            | Expr::RLike { expr: it, .. }
            | Expr::UnaryOp { expr: it, .. }
            | Expr::Convert { expr: it, .. }
            | Expr::Cast { expr: it, .. }
            | Expr::AtTimeZone { timestamp: it, .. }
            | Expr::Extract { expr: it, .. }
            | Expr::Ceil { expr: it, .. }
            | Expr::Floor { expr: it, .. }
            | Expr::Position { expr: it, .. }
            | Expr::Substring { expr: it, .. }
            | Expr::Trim { expr: it, .. }
            | Expr::Overlay { expr: it, .. }
            | Expr::Collate { expr: it, .. }
            | Expr::Nested(it)
            | Expr::Prefixed { value: it, .. }
            | Expr::OuterJoin(it)
            | Expr::Prior(it) => it,
            Expr::MemberOf(it) => &it.value,
            _ => return None,
        };
    }
}

fn object_start(name: &ObjectName) -> Option<Location> {
    name.0.first().and_then(|it| it.as_ident()).map(|it| it.span.start)
}

/// Where the first verb of a query stands.
pub(super) fn query_start(query: &ast::Query) -> Option<Location> {
    let mut body = query.body.as_ref();
    loop {
        body = match body {
            ast::SetExpr::Select(it) => return Some(it.select_token.0.span.start),
            ast::SetExpr::Query(it) => it.body.as_ref(),
            ast::SetExpr::SetOperation { left, .. } => left.as_ref(),
            ast::SetExpr::Update(ast::Statement::Update(it)) => {
                return Some(it.update_token.0.span.start);
            }
            ast::SetExpr::Insert(ast::Statement::Insert(it)) => {
                return Some(it.insert_token.0.span.start);
            }
            ast::SetExpr::Delete(ast::Statement::Delete(it)) => {
                return Some(it.delete_token.0.span.start);
            }
            _ => return None,
        };
    }
}
