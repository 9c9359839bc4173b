//! One statement's tokens to what it says: by its words, by a tree, or token by token.

use super::control;
use super::ctx::{Ctx, params};
use super::dml;
use super::edit;
use super::fallback;
use super::lex::Lexer;
use super::split::{self, Chunk};
use super::text::Buffer;
use super::token::{Lexed, PARAM_NAME};
use super::tree::{self, Refused, Tree};
use crate::ir::{Engine, ParamRef, Statement, StatementKind};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// Bodies in bodies.
const MAX_DEPTH: u32 = 4;

/// Reads the statements of one text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) buffer: &'a Buffer<'a>,
    /// Declared, or taken from the text.
    pub(super) engine: Option<Engine>,
    /// What the text itself says.
    pub(super) evidence: Option<Engine>,
    pub(super) backslash: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn ctx<'t>(&self, tokens: &'t [Lexed]) -> Ctx<'t>
    where
        'a: 't,
    {
        Ctx { buffer: self.buffer, tokens, engine: self.engine, evidence: self.evidence }
    }

    /// The statements of one chunk; why it was refused, when even its tokens say nothing.
    pub(super) fn chunk(&self, chunk: &Chunk, out: &mut Vec<Statement>) -> Result<(), Refused> {
        if chunk.oversized {
            let tokens = &chunk.tokens;
            out.extend(fallback::read(&self.ctx(tokens), tokens));
            return Ok(());
        }
        self.tokens(&chunk.tokens, 0, out)
    }

    fn tokens(
        &self,
        tokens: &[Lexed],
        depth: u32,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let mut tokens = tokens;
        while let Some(mut found) = control::read(&self.ctx(tokens), tokens) {
            let next = found.last().and_then(|it| after_control(it, tokens));
            out.append(&mut found);
            let Some(next) = next else { return Ok(()) };
            tokens = &tokens[next..];
        }
        match head(tokens) {
            Head::Data(at) => self.data(&tokens[at..], depth, out),
            Head::Set => {
                self.fragment(tokens, out);
                Ok(())
            }
            Head::Body => {
                self.body(tokens, depth, out);
                Ok(())
            }
            Head::Silent => Ok(()),
            Head::Unknown => {
                let at = tokens.first().map(|it| it.start);
                Err(Refused { at, message: "no statement begins like this".to_owned() })
            }
        }
    }

    /// A statement that reads or changes rows, and what follows it without a semicolon.
    fn data(&self, tokens: &[Lexed], depth: u32, out: &mut Vec<Statement>) -> Result<(), Refused> {
        match tree::statement(tokens, self.engine) {
            Ok(tree) => {
                out.append(&mut self.lower(&tree));
                if let Some(rest) = tree.rest {
                    let idx = tokens.partition_point(|it| it.start < rest);
                    // The parser went on, so the rest is shorter.
                    if idx > 0 {
                        return self.following(&tokens[idx..], depth, out);
                    }
                }
                Ok(())
            }
            Err(refused) => match fallback::read(&self.ctx(tokens), tokens) {
                Some(it) => {
                    out.push(it);
                    Ok(())
                }
                None => Err(refused),
            },
        }
    }

    /// Statements that only their first words divide, each of them read by a loop.
    fn following(
        &self,
        tokens: &[Lexed],
        depth: u32,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refused> {
        let mut tokens = tokens;
        loop {
            let Head::Data(0) = head(tokens) else {
                return self.tokens(tokens, depth + 1, out);
            };
            let Ok(tree) = tree::statement(tokens, self.engine) else {
                out.extend(fallback::read(&self.ctx(tokens), tokens));
                return Ok(());
            };
            out.append(&mut self.lower(&tree));
            let next = tree.rest.map(|rest| tokens.partition_point(|it| it.start < rest));
            match next {
                Some(idx) if idx > 0 => tokens = &tokens[idx..],
                _ => return Ok(()),
            }
        }
    }

    fn lower(&self, tree: &Tree<ast::Statement>) -> Vec<Statement> {
        let ctx = self.ctx(&tree.tokens);
        let mut out = dml::statements(&ctx, &tree.node, &tree.notes);
        let unknown: Vec<&Lexed> =
            tree.dropped.iter().filter(|it| may_be_where(&tree.tokens, it)).collect();
        for stmt in &mut out {
            stmt.complete &= unknown.is_empty() && !tree.open;
            stmt.condition_holes.extend(unknown.iter().flat_map(|it| holes(it)));
        }
        out
    }

    /// Reads `SET a = 1 WHERE ..` as the update of an unknown table.
    fn fragment(&self, tokens: &[Lexed], out: &mut Vec<Statement>) {
        let start = tokens.first().map_or(0, |it| it.start);
        let lead = |token| Lexed { token, start, end: start, atoms: Vec::new() };
        let mut whole = vec![lead(edit::keyword("UPDATE")), lead(edit::name(PARAM_NAME))];
        whole.extend_from_slice(tokens);
        if let Ok(tree) = tree::statement(&whole, self.engine) {
            let found = self.lower(&tree);
            out.extend(found.into_iter().map(|it| Statement { complete: false, ..it }));
        }
    }

    /// Statements inside a routine, a block or a `$$` text.
    fn body(&self, tokens: &[Lexed], depth: u32, out: &mut Vec<Statement>) {
        for token in tokens {
            if let Token::DollarQuotedString(body) = &token.token {
                let tag = body.tag.as_ref().map_or(0, String::len) + 2;
                let inset = u32::try_from(tag).unwrap_or(0);
                self.range(token.start + inset, token.end - inset, depth, out);
            }
        }
        for part in split::bodies(tokens) {
            // What a body says in a language of its own is no problem of the text.
            let part = as_select(part);
            let _ = self.tokens(&part, depth + 1, out);
        }
    }

    fn range(&self, start: u32, end: u32, depth: u32, out: &mut Vec<Statement>) {
        let lexer = Lexer::new(self.buffer, self.engine).with_backslash(self.backslash);
        let mut lexer = lexer.within(start, end);
        let mut chunks = Vec::new();
        while let Some(chunk) = split::next_chunk(&mut lexer) {
            chunks.push(chunk);
        }
        split::number_params(&mut chunks);
        for chunk in &chunks {
            let in_block = split::verb_in_block(&chunk.tokens);
            let mut parts = split::bodies(&chunk.tokens);
            if parts.is_empty() {
                parts.push(&chunk.tokens[in_block.unwrap_or(0)..]);
            }
            for part in parts {
                let _ = self.tokens(&as_select(part), depth + 1, out);
            }
        }
    }
}

/// Where the next statement begins behind a `BEGIN TRAN` without a semicolon.
fn after_control(stmt: &Statement, tokens: &[Lexed]) -> Option<usize> {
    match stmt.kind {
        StatementKind::Begin
        | StatementKind::Commit
        | StatementKind::Rollback
        | StatementKind::Isolation => {}
        _ => return None,
    }
    let starts = |it: &Lexed| {
        is_verb(it) || matches!(it.keyword(), Keyword::BEGIN | Keyword::COMMIT | Keyword::ROLLBACK)
    };
    tokens.iter().skip(1).position(starts).map(|it| it + 1)
}

/// How a statement begins.
enum Head {
    /// With a verb, at this token.
    Data(usize),
    /// The end of an UPDATE whose table stands elsewhere: `SET a = 1 WHERE ..`
    Set,
    /// It holds other statements.
    Body,
    /// Nothing in it matters.
    Silent,
    Unknown,
}

fn head(tokens: &[Lexed]) -> Head {
    let parens = tokens.iter().take_while(|it| it.token == Token::LParen).count();
    let Some(first) = tokens.get(parens) else { return Head::Silent };
    match first.keyword() {
        Keyword::UPDATE
        | Keyword::INSERT
        | Keyword::REPLACE
        | Keyword::DELETE
        | Keyword::SELECT
        | Keyword::WITH
        | Keyword::MERGE => Head::Data(0),
        // `PREPARE p AS UPDATE ..`, `DECLARE c CURSOR FOR SELECT ..`
        Keyword::PREPARE | Keyword::DECLARE => {
            let lead = |it: &Lexed| matches!(it.keyword(), Keyword::AS | Keyword::FOR);
            let at = tokens.windows(2).position(|it| lead(&it[0]) && is_verb(&it[1]));
            at.map_or(Head::Body, |it| Head::Data(it + 1))
        }
        Keyword::CREATE | Keyword::ALTER | Keyword::DO | Keyword::BEGIN | Keyword::IF => Head::Body,
        Keyword::SET if tokens.iter().any(|it| it.keyword() == Keyword::WHERE) => Head::Set,
        Keyword::NoKeyword if first.is_word("perform") => Head::Body,
        Keyword::NoKeyword if first.is_param() || tokens.len() == 1 => Head::Silent,
        Keyword::NoKeyword if first.is_word("pragma") || first.is_word("delimiter") => Head::Silent,
        Keyword::NoKeyword => Head::Unknown,
        _ => Head::Silent,
    }
}

fn is_verb(token: &Lexed) -> bool {
    matches!(
        token.keyword(),
        Keyword::UPDATE | Keyword::INSERT | Keyword::DELETE | Keyword::SELECT | Keyword::WITH
    )
}

/// PL/pgSQL's PERFORM is a SELECT whose result nobody wants.
fn as_select(tokens: &[Lexed]) -> Vec<Lexed> {
    let mut out = tokens.to_vec();
    if let Some(first) = out.first_mut()
        && first.is_word("perform")
    {
        first.token = edit::keyword("SELECT");
    }
    out
}

/// Whether a parameter that was taken out may have been a part of WHERE: it stood in WHERE, or
/// where one may begin.
fn may_be_where(tokens: &[Lexed], dropped: &Lexed) -> bool {
    let end = tokens.partition_point(|it| it.start < dropped.start);
    let mut depth = 0_i32;
    for it in tokens[..end].iter().rev() {
        match it.token {
            Token::RParen => depth += 1,
            Token::LParen => depth -= 1,
            _ => {}
        }
        if depth > 0 {
            continue;
        }
        match it.keyword() {
            Keyword::ORDER
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::LIMIT
            | Keyword::OFFSET
            | Keyword::RETURNING
            | Keyword::VALUES
            | Keyword::SELECT => return false,
            Keyword::WHERE | Keyword::SET | Keyword::FROM | Keyword::UPDATE => return true,
            _ => {}
        }
    }
    true
}

fn holes(token: &Lexed) -> Vec<u32> {
    let hole = |it| match it {
        ParamRef::Hole(hole) => Some(hole),
        ParamRef::Named(_) | ParamRef::Position(_) => None,
    };
    params(token).into_iter().filter_map(hole).collect()
}
