//! What is the value of a string literal, and which byte of the source made which byte of it?

use crate::base::{SourceId, Span};
use crate::ir::Piece;

/// How a string is quoted, which decides its escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `` `…` ``
    Backtick,
    /// `<<<X`
    Heredoc,
    /// `<<<'X'`
    Nowdoc,
}

/// A run of raw characters in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    pub(super) source: SourceId,
    /// The characters, without quotes.
    pub(super) text: &'a str,
    /// Where they begin.
    pub(super) start: usize,
    pub(super) quote: Quote,
    /// White space that every line of a heredoc loses.
    pub(super) indent: usize,
    /// Whether the run begins a line of a heredoc.
    pub(super) begins_line: bool,
}

/// The literal piece of a run; none when it is empty.
pub(super) fn cook(raw: Raw<'_>) -> Option<Piece> {
    let mut out = Cooked { value: String::with_capacity(raw.text.len()), offsets: Vec::new() };
    let mut at = 0;
    let mut begins_line = raw.begins_line;
    while at < raw.text.len() {
        if begins_line {
            begins_line = false;
            at = out.skip_indent(raw, at);
            continue;
        }
        let rest = &raw.text[at..];
        if let Some((value, length)) = unescape(rest, raw.quote) {
            at += length;
            out.value.push(value);
            out.mark(at);
            continue;
        }
        let length = plain_length(rest);
        out.value.push_str(&rest[..length]);
        at += length;
        begins_line = raw.indent > 0 && rest[..length].ends_with('\n');
    }
    let span = Span::new(raw.source, raw.start, raw.start + raw.text.len());
    let Cooked { value, offsets } = out;
    (!value.is_empty()).then(|| Piece::Lit { value: value.into(), span, offsets })
}

struct Cooked {
    value: String,
    offsets: Vec<(u32, u32)>,
}

impl Cooked {
    fn mark(&mut self, source: usize) {
        let clamp = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        self.offsets.push((clamp(self.value.len()), clamp(source)));
    }

    fn skip_indent(&mut self, raw: Raw<'_>, at: usize) -> usize {
        let skipped = raw.text[at..]
            .bytes()
            .take(raw.indent)
            .take_while(|it| matches!(it, b' ' | b'\t'))
            .count();
        if skipped > 0 {
            self.mark(at + skipped);
        }
        at + skipped
    }
}

/// How many bytes stand for themselves: up to the next backslash, or the end of the line with it.
fn plain_length(rest: &str) -> usize {
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with('\n') {
        return 1;
    }
    match rest[first..].find(['\\', '\n']) {
        Some(end) if rest[first + end..].starts_with('\n') => first + end + 1,
        Some(end) => first + end,
        None => rest.len(),
    }
}

/// The character that an escape at the beginning stands for, and its length in the source.
fn unescape(rest: &str, quote: Quote) -> Option<(char, usize)> {
    let escaped = rest.strip_prefix('\\')?.chars().next()?;
    let simple = |it: char| Some((it, 2));
    match (quote, escaped) {
        (Quote::Single, '\\' | '\'') => simple(escaped),
        (Quote::Nowdoc | Quote::Single, _) => None,
        (_, 'n') => simple('\n'),
        (_, 'r') => simple('\r'),
        (_, 't') => simple('\t'),
        (_, 'v') => simple('\u{b}'),
        (_, 'e') => simple('\u{1b}'),
        (_, 'f') => simple('\u{c}'),
        (_, '\\' | '$') | (Quote::Double, '"') | (Quote::Backtick, '`') => simple(escaped),
        (_, '0'..='7') => digits(&rest[1..], 1, 3, 8),
        (_, 'x') => digits(&rest[2..], 2, 2, 16),
        (_, 'u') => braced(rest),
        _ => None,
    }
}

/// A character by number. `before` bytes of the escape are already read.
fn digits(rest: &str, before: usize, most: usize, radix: u32) -> Option<(char, usize)> {
    let count = rest.chars().take(most).take_while(|it| it.is_digit(radix)).count();
    let code = u32::from_str_radix(rest.get(..count).filter(|it| !it.is_empty())?, radix).ok()?;
    // A byte above 127 is a part of some character; the text is no longer UTF-8 then.
    let value = u8::try_from(code & 0xff).ok().filter(u8::is_ascii).map_or('\u{fffd}', char::from);
    Some((value, before + count))
}

/// `\u{1F600}`.
fn braced(rest: &str) -> Option<(char, usize)> {
    let inner = rest.strip_prefix("\\u{")?;
    let end = inner.find('}')?;
    let value = char::from_u32(u32::from_str_radix(&inner[..end], 16).ok()?)?;
    Some((value, end + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, quote: Quote, indent: usize) -> Piece {
        let source = SourceId(0);
        cook(Raw { source, text, start: 100, quote, indent, begins_line: true }).expect("a piece")
    }

    fn value(text: &str, quote: Quote) -> String {
        match piece(text, quote, 0) {
            Piece::Lit { value, .. } => value.to_string(),
            Piece::Hole(_) => String::new(),
        }
    }

    #[test]
    fn escapes_depend_on_the_quotes() {
        for (text, quote, wanted) in [
            (r"a\'b\\c\n", Quote::Single, r"a'b\c\n"),
            (r#"a\"b\n\$x\q"#, Quote::Double, "a\"b\n$x\\q"),
            (r#"a\"b"#, Quote::Heredoc, r#"a\"b"#),
            (r"\x41\101\u{e9}\0", Quote::Double, "AA\u{e9}\0"),
            (r"\xff", Quote::Double, "\u{fffd}"),
            (r"\u\u{\x", Quote::Double, r"\u\u{\x"),
            (r"a\nb\\", Quote::Nowdoc, r"a\nb\\"),
            (r"\`ls\`", Quote::Backtick, "`ls`"),
        ] {
            assert_eq!(value(text, quote), wanted, "{text}");
        }
    }

    #[test]
    fn offsets_lead_back_to_the_source() {
        let text = "  UPDATE\\n jobs\n    SET a = \\\"é\\\\\"\n\n  WHERE";
        let piece = piece(text, Quote::Double, 2);
        let Piece::Lit { value, .. } = &piece else { panic!("a literal") };
        for word in ["UPDATE", "jobs", "SET", "é", "WHERE"] {
            let in_value = u32::try_from(value.find(word).expect(word)).expect("small");
            let in_source = piece.source_offset(in_value) as usize - 100;
            assert!(text[in_source..].starts_with(word), "{word} at {in_source}");
        }
    }

    #[test]
    fn plain_text_needs_no_offsets() {
        let Piece::Lit { offsets, span, .. } = piece("SELECT 1\nFROM jobs", Quote::Single, 0)
        else {
            panic!("a literal")
        };
        assert_eq!((offsets.len(), span.start, span.end), (0, 100, 118));
    }
}
