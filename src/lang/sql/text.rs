//! A text with holes as one buffer: what stands at each byte, and where that byte is written.
//!
//! A hole takes the place of one private-use character in the buffer. Whether a character *is* a
//! hole is decided by its offset alone, so a literal that holds the same character is no hole.

use crate::base::{Name, Span};
use crate::ir;

/// Stands in the buffer for a hole; it is no part of any identifier or operator of SQL.
const FILLER: char = '\u{e000}';

/// A text with holes, as the analysis folded it together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqlText {
    /// In order.
    pub pieces: Vec<SqlPiece>,
}

/// A part of a [`SqlText`]; hole `n` is the `n`-th `Hole`.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlPiece {
    /// Characters that stand in a source, as in [`ir::Piece::Lit`].
    Lit {
        /// The cooked value.
        value: Name,
        /// The source range of the characters.
        span: Span,
        /// `(value offset, source offset)`, ascending.
        offsets: Vec<(u32, u32)>,
    },
    /// A value put in at run time.
    Hole {
        /// It is known to be a number.
        numeric: bool,
        /// Where it is written.
        span: Span,
    },
}

impl SqlText {
    /// A text without holes, escapes or stripped indentation.
    pub fn literal(value: impl Into<Name>, span: Span) -> Self {
        Self { pieces: vec![SqlPiece::Lit { value: value.into(), span, offsets: Vec::new() }] }
    }
}

impl From<&ir::Text> for SqlText {
    fn from(text: &ir::Text) -> Self {
        let piece = |it: &ir::Piece| match it {
            ir::Piece::Lit { value, span, offsets } => {
                SqlPiece::Lit { value: value.clone(), span: *span, offsets: offsets.clone() }
            }
            ir::Piece::Hole(hole) => SqlPiece::Hole { numeric: hole.numeric, span: hole.span },
        };
        Self { pieces: text.pieces.iter().map(piece).collect() }
    }
}

/// The pieces joined, with the way back to their sources.
#[derive(Debug)]
pub(super) struct Buffer<'a> {
    /// The characters; a filler for each hole.
    pub(super) text: String,
    /// Offset in `text` at which each piece begins; ascending.
    starts: Vec<u32>,
    pieces: &'a [SqlPiece],
    /// Offset and number of each hole.
    holes: Vec<(u32, u32)>,
}

impl<'a> Buffer<'a> {
    pub(super) fn new(text: &'a SqlText) -> Self {
        let mut out = Self {
            text: String::new(),
            starts: Vec::with_capacity(text.pieces.len()),
            pieces: &text.pieces,
            holes: Vec::new(),
        };
        for piece in &text.pieces {
            out.starts.push(offset(out.text.len()));
            match piece {
                SqlPiece::Lit { value, .. } => out.text.push_str(value),
                SqlPiece::Hole { .. } => {
                    out.holes.push((offset(out.text.len()), offset(out.holes.len())));
                    out.text.push(FILLER);
                }
            }
        }
        out
    }

    /// The number of the hole at byte `at`.
    pub(super) fn hole_at(&self, at: usize) -> Option<u32> {
        let idx = self.holes.binary_search_by_key(&offset(at), |it| it.0).ok()?;
        Some(self.holes[idx].1)
    }

    /// How many bytes a hole takes.
    pub(super) fn hole_len() -> usize {
        FILLER.len_utf8()
    }

    /// Whether hole `number` is known to be a number.
    pub(super) fn is_numeric(&self, number: u32) -> bool {
        let mut holes = self.pieces.iter().filter_map(|it| match it {
            SqlPiece::Hole { numeric, .. } => Some(*numeric),
            SqlPiece::Lit { .. } => None,
        });
        holes.nth(number as usize).unwrap_or(false)
    }

    /// The source range of the bytes `start..end`. When both ends do not lie in one source in this
    /// order, the range ends with the piece that it begins in.
    pub(super) fn span(&self, start: u32, end: u32) -> Option<Span> {
        let (first, piece_end) = self.place(start)?;
        if end <= start {
            return Some(Span { end: first.start, ..first });
        }
        let (last, _) = self.place(end - 1)?;
        if last.source == first.source && last.end >= first.start {
            return Some(Span { end: last.end, ..first });
        }
        Some(Span { end: piece_end.max(first.start), ..first })
    }

    /// The source range of the byte `at`, and where its piece ends.
    fn place(&self, at: u32) -> Option<(Span, u32)> {
        let idx = self.starts.partition_point(|it| *it <= at).checked_sub(1)?;
        match self.pieces.get(idx)? {
            SqlPiece::Hole { span, .. } => Some((*span, span.end)),
            SqlPiece::Lit { span, offsets, .. } => {
                let start = source_offset(*span, offsets, at - self.starts[idx]);
                let end = (start + 1).min(span.end).max(start);
                Some((Span { start, end, ..*span }, span.end))
            }
        }
    }
}

fn source_offset(span: Span, offsets: &[(u32, u32)], at: u32) -> u32 {
    let idx = offsets.partition_point(|it| it.0 <= at);
    let (value, source) = if idx == 0 { (0, 0) } else { offsets[idx - 1] };
    (span.start + source + (at - value)).min(span.end)
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceId;

    fn span(start: usize, end: usize) -> Span {
        Span::new(SourceId(0), start, end)
    }

    #[test]
    fn offsets_go_back_to_the_piece_they_came_from() {
        let text = SqlText {
            pieces: vec![
                SqlPiece::Lit { value: "ab".into(), span: span(100, 102), offsets: Vec::new() },
                SqlPiece::Hole { numeric: false, span: span(105, 107) },
                SqlPiece::Lit { value: "x\ny".into(), span: span(10, 14), offsets: vec![(2, 3)] },
            ],
        };
        let buffer = Buffer::new(&text);
        assert_eq!(buffer.span(0, 2), Some(span(100, 102)));
        assert_eq!(buffer.span(2, 5), Some(span(105, 107)));
        assert_eq!(buffer.hole_at(2), Some(0));
        assert_eq!(buffer.span(7, 8), Some(span(13, 14)), "after an escaped newline");
        assert_eq!(buffer.span(0, 8), Some(span(100, 102)), "a later piece stands earlier");
    }
}
