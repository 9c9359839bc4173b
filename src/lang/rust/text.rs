//! What does a string literal say, and where in the source does each byte of it stand?

use super::unit::Unit;
use crate::base::{Name, Span};
use crate::ir::{Const, Operand, Piece, Rvalue, Text};

/// A string literal with escapes resolved.
#[derive(Clone, Debug)]
pub(super) struct Cooked {
    /// The value.
    pub(super) value: String,
    /// The characters in the source, without quotes.
    pub(super) span: Span,
    /// Where value and source drift apart: `(value offset, source offset)` behind each escape.
    pub(super) offsets: Vec<(u32, u32)>,
}

impl Cooked {
    /// Source offset, relative to the span, of byte `at` of the value.
    fn source_offset(&self, at: usize) -> usize {
        let idx = self.offsets.partition_point(|&(value, _)| value as usize <= at);
        let (value, source) = if idx == 0 { (0, 0) } else { self.offsets[idx - 1] };
        (source as usize + at - value as usize).min(self.span.range().len())
    }

    /// The whole literal.
    pub(super) fn piece(&self) -> Piece {
        let value = self.value.as_str().into();
        Piece::Lit { value, span: self.span, offsets: self.offsets.clone() }
    }

    /// The span of a part of the value.
    pub(super) fn part_span(&self, range: std::ops::Range<usize>) -> Span {
        let start = self.span.start as usize;
        let (from, to) = (self.source_offset(range.start), self.source_offset(range.end));
        Span::new(self.span.source, start + from, start + to)
    }

    /// A part of a format string, with `{{` and `}}` folded.
    pub(super) fn format_piece(&self, range: std::ops::Range<usize>) -> Piece {
        let span = self.part_span(range.clone());
        let base = self.source_offset(range.start);
        let mut value = String::new();
        let mut offsets = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let Some(it) = self.value[at..].chars().next() else { break };
            let doubled = matches!(it, '{' | '}') && self.value[at + 1..].starts_with(it);
            let drifts = self.offsets.iter().any(|&(offset, _)| offset as usize == at);
            if drifts && at > range.start {
                offsets.push((offset(value.len()), offset(self.source_offset(at) - base)));
            }
            value.push(it);
            at += it.len_utf8();
            if doubled {
                at += 1;
                offsets.push((offset(value.len()), offset(self.source_offset(at) - base)));
            }
        }
        Piece::Lit { value: value.into(), span, offsets }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Unit<'_> {
    /// A string literal of the source.
    pub(super) fn cook(&self, lit: &syn::LitStr) -> Cooked {
        let token = self.spans.of(lit.span());
        let raw = self.source.text.get(token.range()).unwrap_or_default();
        let start = token.start as usize;
        let cooked = cook(raw).map(|(value, inner, offsets)| {
            let span = Span::new(token.source, start + inner.start, start + inner.end);
            Cooked { value, span, offsets }
        });
        cooked.unwrap_or_else(|| Cooked { value: lit.value(), span: token, offsets: Vec::new() })
    }

    /// A literal as a value: texts that may be statements keep their place.
    pub(super) fn string(&self, lit: &syn::LitStr) -> Rvalue {
        let cooked = self.cook(lit);
        if cooked.value.contains(char::is_whitespace) {
            return Rvalue::Text(Text { pieces: vec![cooked.piece()] });
        }
        Rvalue::Use(Operand::Const(Const::Str(cooked.value.into())))
    }
}

type Inner = (String, std::ops::Range<usize>, Vec<(u32, u32)>);

/// Value, range of the characters and drift of a string token; none when it is none.
fn cook(token: &str) -> Option<Inner> {
    if let Some(raw) = token.strip_prefix('r') {
        let n_hashes = raw.bytes().take_while(|it| *it == b'#').count();
        let open = 1 + n_hashes + 1;
        let close = token.rfind('"').filter(|it| *it >= open)?;
        let mut out = Unescaper::new(&token[open..close]);
        out.run(false)?;
        return Some((out.value, open..close, out.offsets));
    }
    let close = token.rfind('"').filter(|it| *it >= 1 && token.starts_with('"'))?;
    let mut out = Unescaper::new(&token[1..close]);
    out.run(true)?;
    Some((out.value, 1..close, out.offsets))
}

struct Unescaper<'a> {
    text: &'a str,
    at: usize,
    value: String,
    offsets: Vec<(u32, u32)>,
}

impl<'a> Unescaper<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, value: String::with_capacity(text.len()), offsets: Vec::new() }
    }

    fn run(&mut self, escapes: bool) -> Option<()> {
        while let Some(it) = self.text[self.at..].chars().next() {
            if it == '\\' && escapes {
                self.escape()?;
                self.drift();
            } else if it == '\r' && self.text[self.at..].starts_with("\r\n") {
                self.value.push('\n');
                self.at += 2;
                self.drift();
            } else {
                self.value.push(it);
                self.at += it.len_utf8();
            }
        }
        Some(())
    }

    /// From here on, value and source run in step again.
    fn drift(&mut self) {
        self.offsets.push((offset(self.value.len()), offset(self.at)));
    }

    fn escape(&mut self) -> Option<()> {
        let kind = self.text[self.at + 1..].chars().next()?;
        self.at += 1 + kind.len_utf8();
        let simple = match kind {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            '\\' | '\'' | '"' => kind,
            'x' => return self.number(2),
            'u' => return self.unicode(),
            '\n' | '\r' => {
                let rest = &self.text[self.at..];
                let blank = |it: char| matches!(it, ' ' | '\t' | '\n' | '\r');
                self.at += rest.len() - rest.trim_start_matches(blank).len();
                return Some(());
            }
            _ => return None,
        };
        self.value.push(simple);
        Some(())
    }

    fn number(&mut self, length: usize) -> Option<()> {
        let digits = self.text.get(self.at..self.at + length)?;
        let code = u32::from_str_radix(&digits.replace('_', ""), 16).ok()?;
        self.value.push(char::from_u32(code)?);
        self.at += length;
        Some(())
    }

    fn unicode(&mut self) -> Option<()> {
        let rest = self.text[self.at..].strip_prefix('{')?;
        let length = rest.find('}')?;
        self.at += 1;
        self.number(length)?;
        self.at += 1;
        Some(())
    }
}

/// The text as one name, when it has no hole.
pub(super) fn as_name(text: &Text) -> Option<Name> {
    text.as_literal().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(token: &str) -> Option<String> {
        cook(token).map(|it| it.0)
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(value(r#""a\n\t\"\\\x41\u{e9}\u{1_F600}""#).as_deref(), Some("a\n\t\"\\Aé😀"));
        assert_eq!(value("\"a \\\n    b\"").as_deref(), Some("a b"));
        assert_eq!(value("\"a\r\nb\"").as_deref(), Some("a\nb"));
        assert_eq!(value("r##\"a\\n\"# b\"##").as_deref(), Some("a\\n\"# b"));
        assert_eq!(value("\"a\"suffix").as_deref(), Some("a"));
    }

    #[test]
    fn what_is_no_string_is_none() {
        for token in ["", "r", "\"", "r#", "\"\\", "\"\\q\"", "\"\\u{}\"", "\"\\xZZ\"", "x"] {
            assert_eq!(value(token), None, "{token}");
        }
    }

    #[test]
    fn offsets_follow_every_escape() {
        let token = "\"UPDATE \\\n     jobs\\n  SET a\"";
        let (value, inner, offsets) = cook(token).expect("a string");
        let span = Span::new(crate::base::SourceId(0), inner.start, inner.end);
        let piece = Cooked { value: value.clone(), span, offsets }.piece();
        for word in ["UPDATE", "jobs", "SET", "a"] {
            let at = u32::try_from(value.find(word).expect("in the value")).expect("small");
            let source = piece.source_offset(at) as usize;
            assert!(token[source..].starts_with(word), "{word}");
        }
    }
}
