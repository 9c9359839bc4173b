//! Token edits: what one engine or another takes and the parser does not, put in words that it does.
//!
//! An edit never moves a token that it keeps, so places in the tree are those of the text. What an
//! edit drops and what still matters is kept in [`Notes`].

use super::token::{Lexed, PARAM_NAME};
use crate::ir::Engine;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Word};

/// What the edits dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// `DELETE j FROM jobs j`: the target that stood before FROM.
    pub(super) target: Option<Lexed>,
    /// OUTPUT was dropped.
    pub(super) returning: bool,
    /// `UPDATE TOP (1)`, `LIMIT 1` before RETURNING.
    pub(super) limit_one: bool,
    /// A part of WHERE is not known: `WHERE CURRENT OF`.
    pub(super) unknown_where: bool,
}

/// Rewrites the tokens of one statement.
pub(super) fn edit(tokens: &[Lexed], engine: Option<Engine>) -> (Vec<Lexed>, Notes) {
    let mut ctx = Ctx {
        tokens,
        at: 0,
        out: Vec::with_capacity(tokens.len()),
        notes: Notes::default(),
        engine,
        depth: 0,
    };
    while ctx.at < tokens.len() {
        ctx.one();
    }
    (ctx.out, ctx.notes)
}

struct Ctx<'a> {
    tokens: &'a [Lexed],
    at: usize,
    out: Vec<Lexed>,
    notes: Notes,
    engine: Option<Engine>,
    depth: u32,
}

/// Statements nested deeper are left as they are.
const MAX_DEPTH: u32 = 50;

impl Ctx<'_> {
    fn keyword(&self, ahead: usize) -> Keyword {
        self.tokens.get(self.at + ahead).map_or(Keyword::NoKeyword, Lexed::keyword)
    }

    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|it| &it.token)
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|it| it.is_word(word))
    }

    fn prev(&self) -> Keyword {
        self.out.last().map_or(Keyword::NoKeyword, Lexed::keyword)
    }

    fn keep(&mut self) {
        self.out.push(self.tokens[self.at].clone());
        self.at += 1;
    }

    fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.tokens.len());
    }

    /// Adds a token that the text does not have, at the place of the next one.
    fn insert(&mut self, token: Token) {
        let at = self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |it| it.start);
        self.out.push(Lexed { token, start: at, end: at, atoms: Vec::new() });
    }

    fn one(&mut self) {
        match self.keyword(0) {
            Keyword::UPDATE if self.prev() == Keyword::KEY => {
                self.keep();
                self.nested(Self::assignments);
            }
            _ if self.depth > MAX_DEPTH => self.operator(),
            Keyword::UPDATE if self.begins_statement() => self.nested(Self::update),
            Keyword::DELETE if self.begins_statement() => self.delete(),
            Keyword::REPLACE if self.begins_statement() => {
                self.keep();
                self.skip_modifiers();
            }
            Keyword::SET if !self.out.is_empty() && !self.names_charset() => {
                self.keep();
                self.nested(Self::assignments);
            }
            Keyword::FOR => self.lock(),
            Keyword::LOCK
                if self.keyword(1) == Keyword::IN && self.keyword(2) == Keyword::SHARE =>
            {
                self.insert(keyword("FOR"));
                self.insert(keyword("SHARE"));
                self.skip(4);
            }
            Keyword::USE | Keyword::FORCE | Keyword::IGNORE
                if matches!(self.keyword(1), Keyword::INDEX | Keyword::KEY) =>
            {
                self.index_hint();
            }
            Keyword::INDEXED if self.keyword(1) == Keyword::BY => self.skip(3),
            Keyword::NOT if self.is_word(1, "indexed") => self.skip(2),
            Keyword::GLOB => self.replace(&["REGEXP"]),
            Keyword::CURRENT if self.keyword(1) == Keyword::OF && self.prev() == Keyword::WHERE => {
                self.notes.unknown_where = true;
                self.insert(name(PARAM_NAME));
                self.skip(3);
            }
            Keyword::RETURNING => self.returning(),
            Keyword::VALUES if self.tokens.get(self.at + 1).is_some_and(Lexed::is_param) => {
                self.keep();
                self.insert(Token::LParen);
                self.keep();
                self.insert(Token::RParen);
            }
            _ => self.operator(),
        }
    }

    /// Begin of the text, of a sub-statement in parentheses, or behind a closed CTE list.
    fn begins_statement(&self) -> bool {
        self.out.last().is_none_or(|it| {
            matches!(it.token, Token::LParen | Token::RParen | Token::SemiColon)
                || matches!(
                    it.keyword(),
                    Keyword::THEN | Keyword::AS | Keyword::BEGIN | Keyword::DO
                )
        })
    }

    /// `CHARACTER SET`.
    fn names_charset(&self) -> bool {
        matches!(self.prev(), Keyword::CHARACTER | Keyword::CHAR)
    }

    /// Counts how deep statements stand in values of statements, which only nonsense does.
    fn nested(&mut self, step: fn(&mut Self)) {
        self.depth += 1;
        step(self);
        self.depth -= 1;
    }

    fn update(&mut self) {
        let is_action = self.keyword(1) == Keyword::SET;
        self.keep();
        if is_action {
            return;
        }
        self.skip_modifiers();
        let start = self.out.len();
        let mut depth = 0_i32;
        while self.at < self.tokens.len() {
            match self.token(0) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                Some(Token::Comma) if depth == 0 => {
                    self.insert(keyword("CROSS"));
                    self.insert(keyword("JOIN"));
                    self.skip(1);
                    continue;
                }
                _ => {}
            }
            let ends = self.keyword(0) == Keyword::SET || self.ends_item(0);
            if depth < 0 || (depth == 0 && ends) {
                break;
            }
            if matches!(
                self.keyword(0),
                Keyword::USE | Keyword::FORCE | Keyword::IGNORE | Keyword::FOR | Keyword::INDEXED
            ) {
                self.one();
            } else {
                self.keep();
            }
        }
        if self.keyword(0) == Keyword::SET {
            self.keep();
            self.assignments();
        } else if self.out.len() > start + 1 {
            self.unknown_set();
        }
        self.drop_limit_before_returning();
    }

    /// `UPDATE t ‹set› WHERE ..`: a parameter is the whole SET.
    fn unknown_set(&mut self) {
        let Some(param) = self.out.pop_if(|it| it.is_param()) else { return };
        let at = param.start;
        let added = |token| Lexed { token, start: at, end: at, atoms: Vec::new() };
        let equals = added(Token::Eq);
        self.out.extend([added(keyword("SET")), param.clone(), equals, param]);
    }

    /// `LOW_PRIORITY`, `IGNORE`, `ONLY`, `QUICK`, `TOP (n)`: not when they are the table's name.
    fn skip_modifiers(&mut self) {
        loop {
            let named = matches!(self.keyword(1), Keyword::SET | Keyword::WHERE);
            let modifier = matches!(
                self.keyword(0),
                Keyword::LOW_PRIORITY | Keyword::IGNORE | Keyword::ONLY | Keyword::DELAYED
            ) || self.is_word(0, "quick");
            if modifier && !named {
                self.skip(1);
            } else if self.keyword(0) == Keyword::TOP && !named {
                self.skip(1);
                let open = matches!(self.token(0), Some(Token::LParen));
                self.skip(usize::from(open));
                self.notes.limit_one |= is_one(self.token(0));
                self.skip(1 + usize::from(open));
            } else {
                return;
            }
        }
    }

    /// DQL and Oracle leave FROM out; MySQL and SQL Server may name the target before it.
    fn delete(&mut self) {
        self.keep();
        self.skip_modifiers();
        let rest = &self.tokens[self.at..];
        let head = rest.iter().take_while(|it| {
            it.token != Token::LParen && !matches!(it.keyword(), Keyword::WHERE | Keyword::USING)
        });
        let from = head.take(40).position(|it| it.keyword() == Keyword::FROM);
        match from {
            Some(0) => {}
            Some(count) => {
                self.notes.returning |=
                    rest[..count].iter().any(|it| it.keyword() == Keyword::OUTPUT);
                self.notes.target = rest.first().cloned();
                self.skip(count);
            }
            None if self.token(0).is_some() => self.insert(keyword("FROM")),
            None => {}
        }
        if self.keyword(0) == Keyword::FROM {
            self.keep();
            if self.keyword(0) == Keyword::ONLY {
                self.skip(1);
            }
        }
    }

    /// The list behind SET: targets that the parser knows, a value for every item.
    fn assignments(&mut self) {
        loop {
            self.target();
            if !self.value() {
                return;
            }
            // A comma that nothing follows is what a removed part leaves behind.
            if matches!(self.keyword(1), Keyword::WHERE | Keyword::FROM | Keyword::RETURNING) {
                self.skip(1);
                return;
            }
            self.keep();
        }
    }

    /// Up to and with the `=`: drops subscripts and paths, resolves `+=`.
    fn target(&mut self) {
        let start = self.out.len();
        let mut depth = 0_i32;
        while self.at < self.tokens.len() {
            match self.token(0) {
                Some(Token::Eq | Token::DoubleEq | Token::Assignment) if depth == 0 => {
                    self.insert(Token::Eq);
                    self.skip(1);
                    return;
                }
                Some(Token::LBracket) => {
                    while self.at < self.tokens.len() && self.token(0) != Some(&Token::RBracket) {
                        self.skip(1);
                    }
                    self.skip(1);
                    continue;
                }
                Some(Token::Arrow | Token::LongArrow) => {
                    self.skip(2);
                    continue;
                }
                Some(operator) if self.token(1) == Some(&Token::Eq) && is_arithmetic(operator) => {
                    return self.compound(start);
                }
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                _ => {}
            }
            let lone = self.out.len() == start + 1 && self.out[start].is_param();
            let word = lone && matches!(self.token(0), Some(Token::Word(_)));
            if word || depth < 0 || (depth == 0 && self.ends_item(0)) {
                break;
            }
            self.keep();
        }
        let lone = self.out.len() == start + 1 && self.out[start].is_param();
        if lone {
            let param = self.out[start].clone();
            self.insert(Token::Eq);
            self.out.push(param);
        }
    }

    /// `a += b` is `a = a + b`.
    fn compound(&mut self, start: usize) {
        let operator = self.tokens[self.at].clone();
        let target: Vec<_> = self.out[start..].to_vec();
        self.insert(Token::Eq);
        for it in target {
            self.out.push(Lexed { start: operator.start, end: operator.end, ..it });
        }
        self.out.push(operator);
        self.skip(2);
    }

    /// A value; whether a comma and another item follow.
    fn value(&mut self) -> bool {
        let (mut depth, mut cases) = (0_i32, 0_i32);
        while self.at < self.tokens.len() {
            match self.token(0) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                Some(Token::Comma) if depth == 0 => return true,
                _ => {}
            }
            match self.keyword(0) {
                Keyword::CASE => cases += 1,
                Keyword::END => cases -= 1,
                _ => {}
            }
            if depth < 0 || (depth == 0 && self.ends_item(cases)) {
                return false;
            }
            if depth > 0 { self.one() } else { self.operator() }
        }
        false
    }

    fn ends_item(&self, cases: i32) -> bool {
        matches!(self.token(0), Some(Token::Comma | Token::SemiColon))
            || matches!(
                self.keyword(0),
                Keyword::WHERE
                    | Keyword::FROM
                    | Keyword::RETURNING
                    | Keyword::OUTPUT
                    | Keyword::ORDER
                    | Keyword::LIMIT
                    | Keyword::ON
                    | Keyword::SET
            )
            || (self.keyword(0) == Keyword::WHEN && cases <= 0)
    }

    /// MySQL's tail and PostgreSQL's RETURNING together are SQLite's; the parser takes one of them.
    fn drop_limit_before_returning(&mut self) {
        let rest = &self.tokens[self.at..];
        let mut depth = 0_i32;
        let (mut tail, mut returning) = (None, None);
        for (idx, it) in rest.iter().enumerate() {
            match (&it.token, it.keyword()) {
                (Token::LParen, _) => depth += 1,
                (Token::RParen, _) => depth -= 1,
                (_, Keyword::ORDER | Keyword::LIMIT) if depth == 0 && tail.is_none() => {
                    tail = Some(idx);
                }
                (_, Keyword::RETURNING) if depth == 0 => returning = Some(idx),
                _ => {}
            }
            if depth < 0 {
                break;
            }
        }
        let (Some(tail), Some(returning)) = (tail, returning) else { return };
        if tail > returning {
            return;
        }
        let limit = rest[tail..returning].iter().position(|it| it.keyword() == Keyword::LIMIT);
        self.notes.limit_one |=
            limit.is_some_and(|it| is_one(rest.get(tail + it + 1).map(|it| &it.token)));
        let stop = self.at + tail;
        let resume = self.at + returning;
        while self.at < stop {
            self.one();
        }
        self.at = resume;
    }

    /// FOR UPDATE and its kin.
    fn lock(&mut self) {
        let words = [self.keyword(1), self.keyword(2), self.keyword(3)];
        let strength = match words {
            [Keyword::UPDATE | Keyword::SHARE, ..] => 1,
            [Keyword::KEY, Keyword::SHARE, _] => 2,
            [Keyword::NO, Keyword::KEY, Keyword::UPDATE] => 3,
            _ => return self.keep(),
        };
        self.keep();
        self.skip(strength - 1);
        self.keep();
        if self.keyword(0) == Keyword::OF {
            self.keep();
            while matches!(self.token(0), Some(Token::Word(_) | Token::Period))
                && !matches!(self.keyword(0), Keyword::NOWAIT | Keyword::SKIP)
                && !self.is_word(0, "wait")
            {
                self.keep();
            }
            while matches!(self.token(0), Some(Token::Comma)) {
                self.skip(2);
                while matches!(self.token(0), Some(Token::Period)) {
                    self.skip(2);
                }
            }
        }
        if self.is_word(0, "wait") {
            self.skip(2);
        }
    }

    /// `USE INDEX FOR ORDER BY (a, b)`.
    fn index_hint(&mut self) {
        while self.at < self.tokens.len() && self.token(0) != Some(&Token::RParen) {
            self.skip(1);
        }
        self.skip(1);
    }

    /// Drops INTO and what follows.
    fn returning(&mut self) {
        self.keep();
        let mut depth = 0_i32;
        while self.at < self.tokens.len() {
            match self.token(0) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return;
            }
            if depth == 0 && (self.keyword(0) == Keyword::INTO || self.is_word(0, "bulk")) {
                while self.at < self.tokens.len()
                    && !matches!(self.token(0), Some(Token::SemiColon | Token::RParen))
                {
                    self.skip(1);
                }
                return;
            }
            self.operator();
        }
    }

    /// `&&` is AND, `||` is OR where a comparison follows, and a few words have a longer form.
    fn operator(&mut self) {
        let before_call = self.token(1) == Some(&Token::LParen);
        match self.token(0) {
            Some(Token::Overlap) if self.engine != Some(Engine::Postgres) => self.replace(&["AND"]),
            Some(Token::StringConcat) if self.is_or() => self.replace(&["OR"]),
            _ if self.is_word(0, "isnull") && !before_call => self.replace(&["IS", "NULL"]),
            _ if self.is_word(0, "notnull") => self.replace(&["IS", "NOT", "NULL"]),
            // `BINARY a = b` compares bytes; the parser would cast the whole comparison.
            _ if self.keyword(0) == Keyword::BINARY
                && matches!(self.token(1), Some(Token::Word(_) | Token::SingleQuotedString(_)))
                && self.prev() != Keyword::AS =>
            {
                self.skip(1);
            }
            _ => self.keep(),
        }
    }

    /// Keywords instead of the next token.
    fn replace(&mut self, words: &[&str]) {
        for it in words {
            self.insert(keyword(it));
        }
        self.skip(1);
    }

    fn is_or(&self) -> bool {
        match self.engine {
            Some(Engine::MySql) => return true,
            Some(_) => return false,
            None => {}
        }
        let mut ahead = 1;
        while matches!(self.token(ahead), Some(Token::Word(_) | Token::Period))
            && self.keyword(ahead) != Keyword::IS
        {
            ahead += 1;
        }
        ahead > 1
            && (matches!(
                self.token(ahead),
                Some(Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq)
            ) || self.keyword(ahead) == Keyword::IS)
    }
}

fn is_arithmetic(token: &Token) -> bool {
    matches!(
        token,
        Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::Pipe
            | Token::Ampersand
            | Token::Caret
    )
}

fn is_one(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Number(it, _)) if it == "1")
}

/// An unquoted keyword.
pub(super) fn keyword(word: &str) -> Token {
    Token::make_keyword(word)
}

/// An identifier that is no keyword.
pub(super) fn name(word: &str) -> Token {
    Token::Word(Word { value: word.to_owned(), quote_style: None, keyword: Keyword::NoKeyword })
}
