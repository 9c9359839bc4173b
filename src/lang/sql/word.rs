//! Words: names and keywords, with the holes and template marks that touch them, and placeholders.

use super::leftover::{self, Leftover};
use super::lex::Lexer;
use super::text::Buffer;
use super::token::{Atom, Mark, PARAM_NAME, is_word_part, is_word_start, word};
use crate::base::Name;
use crate::ir::{Engine, ParamRef};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

impl<'a> Lexer<'a> {
    /// A word: letters, holes and template marks that touch.
    pub(super) fn word(&mut self) -> (Token, Vec<Atom>) {
        let mut name = String::new();
        let mut atoms = Vec::new();
        let mut template = false;
        while self.at < self.end {
            let rest = self.rest();
            if let Some(hole) = self.buffer.hole_at(self.at) {
                let end = self.at + Buffer::hole_len();
                atoms.push(Atom::new(self.at, end, Mark::Known(ParamRef::Hole(hole))));
                self.at = end;
                continue;
            }
            let Some(it) = rest.chars().next() else { break };
            if is_word_part(it) && !rest.starts_with("${") {
                name.push(it);
                self.at += it.len_utf8();
            } else if let Some(len) = self.joins_entity(rest, it, &name) {
                name.push_str(&rest[..len]);
                self.at += len;
            } else if let Some(found) = self.template_mark(rest, &name, &atoms) {
                template = true;
                match found {
                    Leftover::Name { text, len } => {
                        name.push_str(text);
                        self.at += len;
                    }
                    Leftover::Param { mark, len } => {
                        atoms.push(Atom::new(self.at, self.at + len, mark));
                        self.at += len;
                    }
                }
            } else {
                break;
            }
        }
        let plain = !template && atoms.is_empty();
        let value = if name.is_empty() { PARAM_NAME } else { &name };
        (word(value, None, plain), atoms)
    }

    fn template_mark(&self, rest: &'a str, name: &str, atoms: &[Atom]) -> Option<Leftover<'a>> {
        let start = name.is_empty() && atoms.is_empty();
        let found = leftover::in_word(rest, start)?;
        match found {
            // `{jobs}` is a name where a table stands and a value elsewhere; a prefix when it touches.
            Leftover::Name { text, len } if rest.starts_with('{') => {
                let touches = !start || rest[len..].starts_with(is_word_start);
                let names_table = self.expects_table() && !leftover::is_generic(text);
                let known = rest.starts_with("{{%") || (names_table && !touches);
                let param = ParamRef::Named(Name::from(text));
                Some(if known {
                    Leftover::Name { text, len }
                } else {
                    Leftover::Param { mark: Mark::Known(param), len }
                })
            }
            found => Some(found),
        }
    }

    /// A table's name comes next.
    fn expects_table(&self) -> bool {
        self.prev.is_some_and(|it| {
            matches!(
                it.keyword,
                Keyword::UPDATE
                    | Keyword::FROM
                    | Keyword::INTO
                    | Keyword::JOIN
                    | Keyword::TABLE
                    | Keyword::DELETE
            )
        })
    }

    /// `App\Entity\Job` and `AppBundle:Job` are one name.
    fn joins_entity(&self, rest: &str, it: char, name: &str) -> Option<usize> {
        let follows = rest[it.len_utf8()..].starts_with(is_word_start);
        let joins = match it {
            '\\' => follows && !name.is_empty(),
            ':' => {
                follows
                    && self.expects_table()
                    && name.starts_with(char::is_uppercase)
                    && !rest.starts_with("::")
            }
            _ => false,
        };
        joins.then_some(it.len_utf8())
    }

    /// A placeholder, and how long it is.
    pub(super) fn param(&self, rest: &str) -> Option<(usize, Mark)> {
        if rest.starts_with('?') {
            return self.question(rest);
        }
        if rest.starts_with(':') && (self.brackets > 0 && self.adjoins_value()) {
            return None;
        }
        leftover::param(rest)
    }

    /// `?` is a placeholder, or PostgreSQL's "has this key" when it stands between two values.
    fn question(&self, rest: &str) -> Option<(usize, Mark)> {
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(number) = rest[1..=digits].parse::<u32>() {
            let mark = Mark::Known(ParamRef::Position(number.saturating_sub(1)));
            return Some((1 + digits, mark));
        }
        let after_value = self.prev.is_some_and(|it| it.ends_value);
        let between = after_value && !matches!(self.engine, Some(Engine::MySql | Engine::Sqlite));
        let key = rest[1..].trim_start_matches(['|', '&', ' ']);
        if between && (key.starts_with(['\'', '$', ':', '?']) || key.starts_with("array")) {
            return None;
        }
        Some((1, Mark::Question))
    }
}
