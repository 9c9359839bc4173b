//! Where a statement of a text begins and ends.
//!
//! A statement ends at `;`, except inside the `BEGIN .. END` body of a routine or a block: such a
//! body stays whole here and is taken apart by [`bodies`].

use super::lex::{Lexer, Step};
use super::token::{Lexed, Mark};
use crate::base::Name;
use crate::ir::ParamRef;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// Longer statements are read by their head only.
pub(super) const MAX_BYTES: u32 = 256 * 1024;
/// Statements with more AND and OR are read by their tokens only.
pub(super) const MAX_LOGIC: usize = 5_000;
/// How many tokens of an overlong statement are kept.
const KEPT: usize = 2_000;

/// The tokens of one statement.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) tokens: Vec<Lexed>,
    /// Where the last token ends, also when it was not kept.
    pub(super) end: u32,
    /// Too large for the parser.
    pub(super) oversized: bool,
    /// Where a quote begins that is not closed.
    pub(super) unterminated: Option<u32>,
}

/// Takes the next statement that has a token; none at the end.
pub(super) fn next_chunk(lexer: &mut Lexer<'_>) -> Option<Chunk> {
    let mut chunk = Chunk::default();
    let mut block = Block::default();
    loop {
        match lexer.step() {
            Step::Token(token) => {
                block.see(&chunk.tokens, &token);
                chunk.push(token);
            }
            Step::End(at) if block.is_open(&chunk.tokens) => {
                let token = Token::SemiColon;
                chunk.push(Lexed { token, start: at, end: at + 1, atoms: Vec::new() });
            }
            Step::End(_) | Step::Batch if chunk.tokens.is_empty() => {}
            Step::End(_) | Step::Batch => {
                if is_copy_from_stdin(&chunk.tokens) {
                    lexer.skip_copy_data();
                }
                return Some(chunk.finish());
            }
            Step::Unterminated(at) => {
                chunk.unterminated = Some(at);
                return Some(chunk.finish());
            }
            Step::Eof if chunk.tokens.is_empty() => return None,
            Step::Eof => return Some(chunk.finish()),
        }
    }
}

impl Chunk {
    fn push(&mut self, token: Lexed) {
        self.end = token.end;
        let start = self.tokens.first().map_or(token.start, |it| it.start);
        self.oversized |= token.end - start > MAX_BYTES;
        if !self.oversized || self.tokens.len() < KEPT {
            self.tokens.push(token);
        }
    }

    fn finish(mut self) -> Self {
        let logic =
            self.tokens.iter().filter(|it| matches!(it.keyword(), Keyword::AND | Keyword::OR));
        self.oversized |= logic.count() > MAX_LOGIC;
        if self.oversized {
            self.tokens.truncate(KEPT);
        }
        self
    }
}

/// Counts what `END` closes, in routines and blocks.
#[derive(Debug, Default)]
struct Block {
    routine: bool,
    depth: i32,
}

impl Block {
    fn see(&mut self, before: &[Lexed], token: &Lexed) {
        let prev = before.last().map_or(Keyword::NoKeyword, Lexed::keyword);
        let keyword = token.keyword();
        if before.is_empty() && keyword == Keyword::BEGIN {
            self.routine = true;
        }
        let head = before.first().map_or(Keyword::NoKeyword, Lexed::keyword);
        let creates = matches!(head, Keyword::CREATE | Keyword::ALTER);
        if before.len() < 12 && is_routine(keyword) && creates {
            self.routine = true;
        }
        if !self.routine {
            return;
        }
        match (prev, keyword) {
            (Keyword::END, Keyword::CASE) => {}
            (Keyword::END, Keyword::IF | Keyword::WHILE) => self.depth += 1,
            (Keyword::END, _) if token.is_word("loop") || token.is_word("repeat") => {
                self.depth += 1;
            }
            (_, Keyword::BEGIN | Keyword::CASE) => self.depth += 1,
            (_, Keyword::END) => self.depth -= 1,
            (Keyword::BEGIN, _) if begins_transaction(token) => self.depth -= 1,
            _ => {}
        }
    }

    /// A lone `BEGIN` begins a transaction.
    fn is_open(&self, tokens: &[Lexed]) -> bool {
        self.depth > 0 && tokens.len() > 1
    }
}

fn is_routine(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::PROCEDURE | Keyword::FUNCTION | Keyword::TRIGGER | Keyword::EVENT)
}

/// The word after a BEGIN that has no END.
fn begins_transaction(token: &Lexed) -> bool {
    ["tran", "transaction", "work", "immediate", "exclusive", "deferred", "concurrent", "isolation"]
        .iter()
        .chain(&["read", "not", "deferrable"])
        .any(|it| token.is_word(it))
}

fn is_copy_from_stdin(tokens: &[Lexed]) -> bool {
    tokens.first().is_some_and(|it| it.keyword() == Keyword::COPY)
        && tokens.iter().any(|it| it.keyword() == Keyword::STDIN)
}

/// The statements inside a routine or block: the text behind each verb that a control word, a
/// label or a semicolon precedes. Empty when `tokens` is a plain statement.
pub(super) fn bodies(tokens: &[Lexed]) -> Vec<&[Lexed]> {
    let head = tokens.first().map_or(Keyword::NoKeyword, Lexed::keyword);
    let in_block = tokens.iter().any(|it| it.token == Token::SemiColon)
        || head == Keyword::IF
        || (head == Keyword::CREATE && tokens.iter().take(12).any(|it| is_routine(it.keyword())));
    if !in_block {
        return Vec::new();
    }
    let mut out = Vec::new();
    for part in tokens.split(|it| it.token == Token::SemiColon) {
        if let Some(start) = verb_in_block(part) {
            out.push(&part[start..]);
        }
    }
    out
}

/// The first verb that begins a statement, behind labels and control words.
pub(super) fn verb_in_block(part: &[Lexed]) -> Option<usize> {
    (0..part.len()).find(|idx| {
        let prev = idx.checked_sub(1).and_then(|it| part.get(it));
        let begins = matches!(part[*idx].keyword(), Keyword::BEGIN | Keyword::START)
            && part.get(idx + 1).is_some_and(|it| it.is_word("tran") || it.is_word("transaction"));
        (begins || is_verb(&part[*idx])) && prev.is_none_or(leads_to_statement)
    })
}

fn is_verb(token: &Lexed) -> bool {
    matches!(
        token.keyword(),
        Keyword::UPDATE
            | Keyword::INSERT
            | Keyword::DELETE
            | Keyword::SELECT
            | Keyword::MERGE
            | Keyword::WITH
            | Keyword::REPLACE
            | Keyword::COMMIT
            | Keyword::ROLLBACK
    ) || token.is_word("perform")
}

fn leads_to_statement(token: &Lexed) -> bool {
    matches!(
        token.keyword(),
        Keyword::BEGIN
            | Keyword::THEN
            | Keyword::ELSE
            | Keyword::DO
            | Keyword::AS
            | Keyword::IS
            | Keyword::ROW
    ) || matches!(token.token, Token::Colon)
        || ["loop", "repeat", "tran", "transaction", "on", "off"].iter().any(|it| token.is_word(it))
}

/// Gives every `?` and `%s` its number in the text, in order. Where both occur they belong to two
/// rounds of filling in, so that the conversions of `sprintf` get names of their own.
pub(super) fn number_params(chunks: &mut [Chunk]) -> u32 {
    let questions = |chunks: &[Chunk]| {
        chunks
            .iter()
            .flat_map(|it| &it.tokens)
            .flat_map(|it| &it.atoms)
            .any(|it| it.mark == Mark::Question)
    };
    let both = questions(chunks);
    let (mut question, mut printf) = (0_u32, 0_u32);
    for atom in chunks.iter_mut().flat_map(|it| &mut it.tokens).flat_map(|it| &mut it.atoms) {
        let param = match &atom.mark {
            Mark::Known(_) => continue,
            Mark::Question => {
                question += 1;
                ParamRef::Position(question - 1)
            }
            Mark::Printf => {
                printf += 1;
                let number = printf - 1;
                if both {
                    ParamRef::Named(Name::from(format!("%{number}")))
                } else {
                    ParamRef::Position(number)
                }
            }
        };
        atom.mark = Mark::Known(param);
    }
    if both { question } else { printf }
}
