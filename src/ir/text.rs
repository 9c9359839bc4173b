//! Strings with holes: literal pieces with their places, and operands between them.

use super::Operand;
use crate::base::{Name, Span};

/// A string as code puts it together: literal, interpolation, concatenation, `sprintf`, `format!`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Text {
    /// In order.
    pub pieces: Vec<Piece>,
}

/// A part of a [`Text`].
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Characters that stand in the source, escapes resolved.
    Lit {
        /// The cooked value.
        value: Name,
        /// The source range of the characters, without quotes. When nothing was escaped its length
        /// equals the value's, and offsets carry over; otherwise `offsets` maps them.
        span: Span,
        /// Source offset (relative to `span.start`) of each line start in `value`, for values with
        /// escapes or stripped indentation: `(value offset, source offset)`, ascending.
        offsets: Vec<(u32, u32)>,
    },
    /// A value put in at run time.
    Hole(Hole),
}

/// A value inside a [`Text`].
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// The value.
    pub value: Operand,
    /// Where it is written.
    pub span: Span,
    /// How it is formatted when that is known to be a number: `%d`, `(int) $x`.
    pub numeric: bool,
}

impl Text {
    /// A literal without escapes.
    pub fn literal(value: impl Into<Name>, span: Span) -> Self {
        Self { pieces: vec![Piece::Lit { value: value.into(), span, offsets: Vec::new() }] }
    }

    /// The whole value, when there is no hole.
    pub fn as_literal(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Lit { value, .. } => out.push_str(value),
                Piece::Hole(_) => return None,
            }
        }
        Some(out)
    }
}

impl Piece {
    /// Source offset of byte `at` of this literal's value; the start for holes.
    pub fn source_offset(&self, at: u32) -> u32 {
        match self {
            Self::Hole(hole) => hole.span.start,
            Self::Lit { span, offsets, .. } => {
                let idx = offsets.partition_point(|&(value, _)| value <= at);
                let (value, source) = if idx == 0 { (0, 0) } else { offsets[idx - 1] };
                (span.start + source + (at - value)).min(span.end)
            }
        }
    }
}
