//! Quoted texts, quoted names, dollar quotes and numbers.

use super::leftover::{self, Leftover};
use super::lex::Lexer;
use super::text::Buffer;
use super::token::{Atom, Mark, PARAM_NAME, is_word_part, is_word_start, word};
use crate::base::Name;
use crate::ir::{Engine, ParamRef};
use sqlparser::ast::DollarQuotedString;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

impl Lexer<'_> {
    /// `$$ body $$` or `$tag$ body $tag$`, and its length.
    pub(super) fn dollar_quoted(&mut self, rest: &str) -> Option<(usize, DollarQuotedString)> {
        let is_tag = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let tag = &rest[1..rest.len() - rest[1..].trim_start_matches(is_tag).len()];
        let open = rest.get(..tag.len() + 2).filter(|it| it.ends_with('$'))?;
        if tag.starts_with(|it: char| it.is_ascii_digit()) || self.dollar_budget == 0 {
            return None;
        }
        let Some(body) = rest[open.len()..].find(open) else {
            self.dollar_budget = self.dollar_budget.saturating_sub(rest.len());
            return None;
        };
        let value = rest[open.len()..open.len() + body].to_owned();
        let tag = (!tag.is_empty()).then(|| tag.to_owned());
        Some((open.len() * 2 + body, DollarQuotedString { value, tag }))
    }

    /// `N'..'`, `E'..'`, `x'..'`, `_utf8'..'`.
    #[expect(clippy::option_option, reason = "outer: it is none; inner: it is not closed")]
    pub(super) fn prefixed_string(&mut self, rest: &str) -> Option<Option<(Token, Vec<Atom>)>> {
        let len = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let prefix = &rest[..len];
        if !rest[len..].starts_with('\'') {
            return None;
        }
        let introducer = prefix.starts_with('_') && len > 1;
        if !introducer && !matches!(prefix, "N" | "n" | "E" | "e" | "X" | "x" | "B" | "b") {
            return None;
        }
        self.at += len;
        let backslash = self.backslash;
        self.backslash |= prefix.eq_ignore_ascii_case("e");
        let out = self.quoted('\'');
        self.backslash = backslash;
        Some(out.map(|(token, atoms)| match token {
            Token::SingleQuotedString(it) if prefix.eq_ignore_ascii_case("x") => {
                (Token::HexStringLiteral(it), atoms)
            }
            token => (token, atoms),
        }))
    }

    /// A text or a quoted name, with the parameters inside.
    pub(super) fn quoted(&mut self, open: char) -> Option<(Token, Vec<Atom>)> {
        let close = if open == '[' { ']' } else { open };
        let body = self.at + 1;
        let mut value = String::new();
        let mut atoms = Vec::new();
        let mut at = body;
        loop {
            if at >= self.end {
                return None;
            }
            if let Some(hole) = self.buffer.hole_at(at) {
                let end = at + Buffer::hole_len();
                atoms.push(Atom::new(at, end, Mark::Known(ParamRef::Hole(hole))));
                at = end;
                continue;
            }
            if let Some((len, atom)) = self.mark_in_name(open, at, value.is_empty()) {
                atoms.extend(atom);
                at += len;
                continue;
            }
            let it = self.buffer.text[at..self.end].chars().next()?;
            let next = at + it.len_utf8();
            if it == close && self.buffer.text[next..self.end].starts_with(close) && open != '[' {
                value.push(close);
                at = next + close.len_utf8();
            } else if it == close {
                break;
            } else if it == '\\' && self.backslash && open != '`' && open != '[' {
                let escaped = self.buffer.text[next..self.end].chars().next()?;
                value.push(unescape(escaped));
                at = next + escaped.len_utf8();
            } else {
                value.push(it);
                at = next;
            }
        }
        self.at = at + 1;
        if atoms.is_empty() {
            atoms = leftover::in_quotes(&self.buffer.text[body..at], body);
            if atoms.iter().any(|it| it.start as usize == body && it.end as usize == at) {
                value.clear();
            }
        }
        Some((self.quoted_token(open, value, &atoms), atoms))
    }

    /// `` `#__jobs` ``, `` `{prefix}jobs` ``: a template mark inside a quoted name, and its length.
    fn mark_in_name(&self, open: char, at: usize, start: bool) -> Option<(usize, Option<Atom>)> {
        let rest = &self.buffer.text[at..self.end];
        if open == '\'' || (open == '"' && !(start && rest.starts_with("#__"))) {
            return None;
        }
        match leftover::in_word(rest, start)? {
            Leftover::Name { text: "", len } => Some((len, None)),
            Leftover::Name { text, len } if rest.starts_with('{') => {
                let mark = Mark::Known(ParamRef::Named(Name::from(text)));
                Some((len, Some(Atom::new(at, at + len, mark))))
            }
            Leftover::Name { .. } => None,
            Leftover::Param { mark, len } => Some((len, Some(Atom::new(at, at + len, mark)))),
        }
    }

    /// `"x"` is a name in the standard and a text in MySQL: a name here when it can be one, since
    /// the parser takes a name wherever it takes a text.
    fn quoted_token(&self, open: char, value: String, atoms: &[Atom]) -> Token {
        let name_like = !value.is_empty() && value.chars().all(|it| is_word_part(it) || it == '.');
        match open {
            '\'' => Token::SingleQuotedString(value),
            '"' if self.engine == Some(Engine::MySql) && !self.prev_is_period() => {
                Token::SingleQuotedString(value)
            }
            '"' if !name_like && atoms.is_empty() && !self.prev_is_period() => {
                Token::SingleQuotedString(value)
            }
            _ => {
                let name = if value.is_empty() { PARAM_NAME } else { &value };
                word(name, Some(open), false)
            }
        }
    }

    fn prev_is_period(&self) -> bool {
        self.prev.is_some_and(|it| it.is_period)
    }

    /// The last token is a value and ends right here.
    pub(super) fn adjoins_value(&self) -> bool {
        self.prev.is_some_and(|it| it.end as usize == self.at && it.ends_value)
    }

    /// `[name]` of SQL Server, and not a subscript or an array.
    pub(super) fn begins_name(&self, rest: &str) -> bool {
        if rest.starts_with("[[") || self.adjoins_value() {
            return false;
        }
        if self.prev.is_some_and(|it| it.keyword == Keyword::ARRAY || it.is_bracket) {
            return false;
        }
        let Some(close) = leftover::window(rest).find(']') else { return false };
        let name = &rest[1..close];
        name.starts_with(is_word_start)
            && name.chars().all(|it| is_word_part(it) || matches!(it, ' ' | '-' | '.' | '$' | '#'))
    }

    pub(super) fn number(&mut self) -> (Token, Vec<Atom>) {
        let rest = self.rest();
        let digits = |from: usize| {
            rest[from..].bytes().take_while(|it| it.is_ascii_digit() || *it == b'_').count()
        };
        if rest.starts_with("0x") || rest.starts_with("0X") {
            let len = rest[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
            self.at += 2 + len;
            return (Token::HexStringLiteral(rest[2..2 + len].to_owned()), Vec::new());
        }
        let mut len = digits(0);
        if rest[len..].starts_with('.') {
            len += 1 + digits(len + 1);
        }
        if rest[len..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[len + 1..].starts_with(['+', '-']));
            let exponent = digits(len + 1 + sign);
            len += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let joined =
            rest[len..].starts_with(is_word_part) || self.buffer.hole_at(self.at + len).is_some();
        if joined && !rest[..len].contains('.') {
            return self.word();
        }
        self.at += len;
        (Token::Number(rest[..len].replace('_', ""), false), Vec::new())
    }
}

fn unescape(it: char) -> char {
    match it {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        it => it,
    }
}
