//! Characters to tokens, for every engine and every templating habit at once.
//!
//! The parser's own tokenizer has to know the engine before it can tell a comment from a table
//! prefix or a placeholder from an operator; texts in code rarely say which engine they are for.
//! This lexer reads them all: quotes, comments, placeholders, holes, template marks. A *parameter*
//! (hole, placeholder, template mark) becomes a word, so that it may stand wherever a name, a value
//! or a clause may; what it stands for is kept in its atoms. Places are byte offsets of the buffer.

use super::leftover;
use super::operator::OPERATORS;
use super::text::Buffer;
use super::token::{Atom, Lexed, PARAM_NAME, is_word_start, offset, word};
use crate::ir::Engine;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// See [`Lexer::dollar_budget`].
const DOLLAR_BUDGET: usize = 64 * 1024 * 1024;

/// What the lexer found next.
#[derive(Debug)]
pub(super) enum Step {
    Token(Lexed),
    /// The statement ends here: `;`, or the delimiter that the script chose.
    End(u32),
    /// So does everything that is open: `GO`.
    Batch,
    /// A quote that is not closed; the lexer goes on behind it on the next line.
    Unterminated(u32),
    Eof,
}

/// What later tokens depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prev {
    pub(super) end: u32,
    pub(super) keyword: Keyword,
    pub(super) ends_value: bool,
    pub(super) is_period: bool,
    pub(super) is_bracket: bool,
}

impl Prev {
    fn of(token: &Lexed) -> Self {
        Self {
            end: token.end,
            keyword: token.keyword(),
            ends_value: token.ends_value(),
            is_period: token.token == Token::Period,
            is_bracket: token.token == Token::RBracket,
        }
    }
}

/// Reads a range of a buffer.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "modes that do not depend on one another")]
pub(super) struct Lexer<'a> {
    pub(super) buffer: &'a Buffer<'a>,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) engine: Option<Engine>,
    /// `\'` does not end a text.
    pub(super) backslash: bool,
    /// A file: psql commands, DELIMITER, GO.
    script: bool,
    delimiter: Option<String>,
    /// The last token, for what depends on it.
    pub(super) prev: Option<Prev>,
    in_hint: bool,
    pub(super) brackets: u32,
    /// A block comment that nests was left open: they do not nest here.
    flat_comments: bool,
    /// Bytes that may still be searched in vain for the end of a `$$` text.
    pub(super) dollar_budget: usize,
    /// `start..end` of every comment, delimiters included.
    pub(super) comments: Vec<(u32, u32)>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(buffer: &'a Buffer<'a>, engine: Option<Engine>) -> Self {
        let text = &buffer.text;
        let backslash = match engine {
            Some(Engine::MySql) => true,
            Some(_) => false,
            None => text.contains("\\'") || text.contains("\\\"") || text.contains('`'),
        };
        Self {
            buffer,
            at: 0,
            end: text.len(),
            engine,
            backslash,
            script: false,
            delimiter: None,
            prev: None,
            in_hint: false,
            brackets: 0,
            flat_comments: false,
            dollar_budget: DOLLAR_BUDGET,
            comments: Vec::new(),
        }
    }

    /// Only the bytes `start..end`.
    pub(super) fn within(mut self, start: u32, end: u32) -> Self {
        self.at = start as usize;
        self.end = (end as usize).min(self.end);
        self
    }

    /// As the text of a file.
    pub(super) fn for_script(mut self) -> Self {
        self.script = true;
        self
    }

    pub(super) fn with_backslash(mut self, backslash: bool) -> Self {
        self.backslash = backslash;
        self
    }

    pub(super) fn backslash(&self) -> bool {
        self.backslash
    }

    /// Skips to behind the line that ends the data of a `COPY .. FROM STDIN`.
    pub(super) fn skip_copy_data(&mut self) {
        self.skip_line();
        while self.at < self.end {
            let line = self.rest().split('\n').next().unwrap_or_default().trim_end();
            self.skip_line();
            if line == "\\." {
                return;
            }
        }
    }

    /// The next token or end of a statement.
    pub(super) fn step(&mut self) -> Step {
        loop {
            self.skip_blank();
            if self.script && self.skip_command() {
                continue;
            }
            if self.script && self.skip_go() {
                self.prev = None;
                return Step::Batch;
            }
            break;
        }
        if self.at >= self.end {
            return Step::Eof;
        }
        let start = self.at;
        if let Some(delimiter) = &self.delimiter
            && self.rest().starts_with(delimiter.as_str())
        {
            self.at += delimiter.len();
            self.prev = None;
            return Step::End(offset(start));
        }
        if self.rest().starts_with(';') && self.delimiter.is_none() {
            self.at += 1;
            self.prev = None;
            return Step::End(offset(start));
        }
        let Some((token, atoms)) = self.token() else {
            self.at = start;
            self.skip_line();
            self.prev = None;
            return Step::Unterminated(offset(start));
        };
        let lexed = Lexed { token, start: offset(start), end: offset(self.at), atoms };
        self.prev = Some(Prev::of(&lexed));
        Step::Token(lexed)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.buffer.text.get(self.at..self.end).unwrap_or_default()
    }

    fn skip_line(&mut self) {
        self.at = self.rest().find('\n').map_or(self.end, |it| self.at + it + 1);
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(is_blank).len();
            self.at += blank;
            let rest = self.rest();
            if self.in_hint && rest.starts_with("*/") {
                self.in_hint = false;
                self.at += 2;
            } else if let Some(hint) = rest.strip_prefix("/*!") {
                self.in_hint = true;
                self.at += 3 + hint.bytes().take_while(u8::is_ascii_digit).count();
            } else if rest.starts_with("/*") {
                let len = self.block_comment_len(rest);
                self.comment(len);
            } else if rest.starts_with("--") || self.is_hash_comment(rest) {
                self.comment(rest.find('\n').unwrap_or(rest.len()));
            } else {
                return;
            }
        }
    }

    /// Block comments nest in PostgreSQL and SQL Server; where that leaves them open, they do not.
    fn block_comment_len(&mut self, rest: &str) -> usize {
        let nested = if self.flat_comments { None } else { nested_comment_len(rest) };
        nested.unwrap_or_else(|| {
            self.flat_comments = true;
            rest[2..].find("*/").map_or(rest.len(), |it| it + 4)
        })
    }

    fn comment(&mut self, len: usize) {
        self.comments.push((offset(self.at), offset(self.at + len)));
        self.at += len;
    }

    /// `#` begins a comment in MySQL, an operator in PostgreSQL, a name in SQL Server and Joomla.
    fn is_hash_comment(&self, rest: &str) -> bool {
        let Some(after) = rest.strip_prefix('#') else { return false };
        let Some(next) = after.chars().next() else { return true };
        if after.starts_with("__") || after.starts_with('{') || after.starts_with('>') {
            return false;
        }
        let line_begins = self.buffer.text[..self.at].trim_end_matches([' ', '\t']);
        let at_line_start = line_begins.is_empty() || line_begins.ends_with('\n');
        is_blank(next) || at_line_start || self.engine == Some(Engine::MySql)
    }

    /// A line for psql or for the `mysql` client.
    fn skip_command(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let rest = self.rest();
        if rest.starts_with('\\') {
            self.skip_line();
            return true;
        }
        let word = "delimiter";
        if rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word))
            && rest[word.len()..].starts_with([' ', '\t'])
        {
            let line = rest[word.len()..].split('\n').next().unwrap_or_default().trim();
            let chosen = line.split_whitespace().next().unwrap_or(";").to_owned();
            self.delimiter = (chosen != ";").then_some(chosen);
            self.skip_line();
            return true;
        }
        false
    }

    /// A batch separator of SQL Server's tools.
    fn skip_go(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let line = self.rest().split('\n').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let go = words.next().is_some_and(|it| it.eq_ignore_ascii_case("go"));
        let count = words.next().is_none_or(|it| it.bytes().all(|it| it.is_ascii_digit()));
        if go && count {
            self.skip_line();
        }
        go && count
    }

    fn is_line_start(&self) -> bool {
        let before = self.buffer.text[..self.at].trim_end_matches([' ', '\t', '\u{feff}']);
        before.is_empty() || before.ends_with('\n')
    }

    /// None when a quote is not closed.
    fn token(&mut self) -> Option<(Token, Vec<Atom>)> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        match first {
            '\'' => return self.quoted('\''),
            '"' | '`' => return self.quoted(first),
            '$' if let Some(it) = self.dollar_quoted(rest) => {
                self.at += it.0;
                return Some((Token::DollarQuotedString(it.1), Vec::new()));
            }
            '[' if self.brackets == 0 && self.begins_name(rest) => return self.quoted('['),
            '0'..='9' => return Some(self.number()),
            '.' if rest[1..].starts_with(|it: char| it.is_ascii_digit())
                && !self.adjoins_value() =>
            {
                return Some(self.number());
            }
            _ => {}
        }
        if let Some(it) = self.prefixed_string(rest) {
            return it;
        }
        if let Some((len, mark)) = self.param(rest) {
            let start = offset(self.at);
            self.at += len;
            let atom = Atom { start, end: offset(self.at), mark };
            return Some((word(PARAM_NAME, None, false), vec![atom]));
        }
        if self.buffer.hole_at(self.at).is_some()
            || is_word_start(first)
            || leftover::in_word(rest, true).is_some()
        {
            return Some(self.word());
        }
        Some((self.operator(rest, first), Vec::new()))
    }

    fn operator(&mut self, rest: &str, first: char) -> Token {
        match first {
            '[' => self.brackets += 1,
            ']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        for (text, token) in OPERATORS {
            if rest.starts_with(text) {
                self.at += text.len();
                return token.clone();
            }
        }
        self.at += first.len_utf8();
        Token::Char(first)
    }
}

/// The length of a block comment when they nest.
fn nested_comment_len(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut depth = 0_u32;
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn is_blank(it: char) -> bool {
    it.is_whitespace() || it == '\u{feff}' || it == '\0'
}
