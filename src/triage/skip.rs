//! What stands at a point of a text, and where does it end: a comment, a string, a word, a sign?

use crate::base::Language;

/// What stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A comment with its delimiters.
    Comment,
    /// A string with its delimiters.
    String,
    /// A name, a number.
    Word,
    /// One other character of code.
    Sign,
    /// White space, or text that is no code.
    Blank,
    /// The end of the code; a statement ends here.
    End,
}

/// What stands somewhere, and the first byte behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) kind: Kind,
    pub(super) end: usize,
}

/// Goes through a text.
#[derive(Debug)]
pub(super) struct Skipper<'a> {
    language: Language,
    text: &'a str,
    /// Inside of `<?php … ?>`; other languages always are.
    in_code: bool,
}

impl<'a> Skipper<'a> {
    pub(super) fn new(language: Language, text: &'a str) -> Self {
        // A piece of PHP without its tag is code.
        let in_code = language != Language::Php || !text.contains("<?");
        Self { language, text, in_code }
    }

    /// What stands at `at`, which must be the end of what was asked for last.
    pub(super) fn next(&mut self, at: usize) -> Next {
        if !self.in_code {
            return self.markup(at);
        }
        let rest = &self.text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let is = |kind, length: usize| Next { kind, end: at + length };
        if first.is_whitespace() {
            let length = rest.find(|it: char| !it.is_whitespace()).unwrap_or(rest.len());
            return is(Kind::Blank, length);
        }
        if self.language == Language::Php && rest.starts_with("?>") {
            self.in_code = false;
            return is(Kind::End, 2);
        }
        if let Some(length) = self.comment(rest, at) {
            return is(Kind::Comment, length);
        }
        if let Some(length) = self.string(rest) {
            return is(Kind::String, length);
        }
        if is_word(first) {
            let length = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
            return is(Kind::Word, length);
        }
        is(Kind::Sign, first.len_utf8())
    }

    /// Text around PHP, up to the next opening tag.
    fn markup(&mut self, at: usize) -> Next {
        let rest = &self.text[at..];
        let Some(open) = rest.find("<?") else {
            return Next { kind: Kind::Blank, end: self.text.len() };
        };
        self.in_code = true;
        let tag = &rest[open..];
        let length = ["<?php", "<?PHP", "<?="].iter().find(|it| tag.starts_with(**it));
        Next { kind: Kind::Blank, end: at + open + length.map_or(2, |it| it.len()) }
    }

    fn comment(&self, rest: &str, at: usize) -> Option<usize> {
        let is_line = match self.language {
            Language::Php => {
                rest.starts_with("//") || (rest.starts_with('#') && !rest.starts_with("#["))
            }
            Language::Rust => rest.starts_with("//"),
            // Operators of PostgreSQL begin with the sign that opens a comment in MySQL.
            Language::Sql => rest.starts_with("--") || is_hash_comment(rest, &self.text[..at]),
        };
        if is_line {
            let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let tag = rest[..line].find("?>").filter(|_| self.language == Language::Php);
            return Some(tag.unwrap_or(line));
        }
        rest.starts_with("/*").then(|| block_comment(rest, self.language == Language::Rust))
    }

    fn string(&self, rest: &str) -> Option<usize> {
        let first = rest.as_bytes()[0];
        match (self.language, first) {
            (Language::Php, b'\'' | b'"' | b'`') => Some(quoted(rest, first, true)),
            (Language::Php, b'<') => heredoc(rest),
            (Language::Rust, b'"') => Some(quoted(rest, first, true)),
            (Language::Rust, b'\'') => char_literal(rest),
            (Language::Rust, b'r' | b'b' | b'c') => raw_string(rest),
            (Language::Sql, b'\'' | b'"' | b'`') => Some(quoted(rest, first, false)),
            _ => None,
        }
    }
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || it == '$'
}

fn is_hash_comment(rest: &str, before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    rest.starts_with("# ") || (rest.starts_with('#') && line.trim().is_empty())
}

fn block_comment(rest: &str, nests: bool) -> usize {
    let mut depth = 0_usize;
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") && (nests || depth == 0) {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// A string between two of `quote`. Without escapes, a doubled quote is two strings, which is as good.
fn quoted(rest: &str, quote: u8, escapes: bool) -> usize {
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        if byte == quote {
            return at + 1;
        }
        if byte == b'\\' && escapes {
            bytes.next();
        }
    }
    rest.len()
}

/// `'a'`, `'\n'`; a lifetime is none.
fn char_literal(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return Some(quoted(rest, b'\'', true));
    }
    chars.next().filter(|it| it.1 == '\'').map(|it| it.0 + 1)
}

/// `r"…"`, `br#"…"#`, `b"…"`.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = rest.bytes().take(3).position(|it| matches!(it, b'"' | b'#' | b'\''))?;
    if !matches!(&rest[..prefix], "r" | "b" | "c" | "br" | "cr") {
        return None;
    }
    let tail = &rest[prefix..];
    if !rest[..prefix].ends_with('r') {
        let quote = tail.as_bytes()[0];
        return (quote != b'#').then(|| prefix + quoted(tail, quote, true));
    }
    let hashes = tail.len() - tail.trim_start_matches('#').len();
    let body = tail[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |it| it + end.len());
    Some(prefix + hashes + 1 + length)
}

/// `<<<SQL … SQL`.
fn heredoc(rest: &str) -> Option<usize> {
    let head = rest.strip_prefix("<<<")?.trim_start_matches([' ', '\t']);
    let line = head.find('\n')?;
    let name = head[..line].trim().trim_matches(['\'', '"']);
    if name.is_empty() || !name.chars().all(is_word) {
        return None;
    }
    let mut at = rest.len() - head.len() + line + 1;
    for line in rest[at..].split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(behind) = line[blanks..].strip_prefix(name)
            && !behind.starts_with(is_word)
        {
            return Some(at + blanks + name.len());
        }
        at += line.len();
    }
    Some(rest.len())
}
