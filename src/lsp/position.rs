//! Where does a place of the protocol stand in a text, and the other way round?
//!
//! The protocol counts lines from 0, ends them at `\n`, `\r\n` and `\r`, and counts columns in the units
//! that client and server agreed upon.

use lsp_types::{Position, PositionEncodingKind, Range};

/// The units of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Two for characters outside of the basic plane.
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The best of what a client offers; what all of them must know when it offers nothing.
    pub(super) fn choose(offered: &[PositionEncodingKind]) -> Self {
        if offered.contains(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offered.is_empty() || offered.contains(&PositionEncodingKind::UTF16) {
            Self::Utf16
        } else if offered.contains(&PositionEncodingKind::UTF32) {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    /// The word of the protocol.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, it: char) -> usize {
        match self {
            Self::Utf8 => it.len_utf8(),
            Self::Utf16 => it.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(super) struct LineTable {
    starts: Vec<usize>,
    encoding: Encoding,
}

impl LineTable {
    /// Scans `text` once.
    pub(super) fn of(text: &str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends {
                starts.push(at + 1);
            }
        }
        Self { starts, encoding }
    }

    /// The place of byte `offset` of `text`.
    pub(super) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = floor(text, offset);
        let line = self.starts.partition_point(|it| *it <= offset).saturating_sub(1);
        let column: usize =
            text[self.starts[line]..offset].chars().map(|it| self.encoding.units(it)).sum();
        Position::new(short(line), short(column))
    }

    /// The byte of `text` at `position`; a column behind the end of its line is that end.
    pub(super) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return text.len() };
        let next = self.starts.get(position.line as usize + 1).copied().unwrap_or(text.len());
        let line = text[start..next].trim_end_matches(['\n', '\r']);
        let mut left = position.character as usize;
        for (at, it) in line.char_indices() {
            let units = self.encoding.units(it);
            if left < units {
                return start + at;
            }
            left -= units;
        }
        start + line.len()
    }

    /// The bytes of `range`.
    pub(super) fn bytes(&self, text: &str, range: Range) -> std::ops::Range<usize> {
        let start = self.offset(text, range.start);
        start..self.offset(text, range.end).max(start)
    }

    /// The range of bytes `start` to `end`.
    pub(super) fn range(&self, text: &str, start: usize, end: usize) -> Range {
        Range::new(self.position(text, start), self.position(text, end.max(start)))
    }
}

/// The nearest boundary of a character at or before `offset`.
pub(super) fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\nü𝄞b\r\nc\rd";

    #[test]
    fn columns_count_in_the_units_agreed_upon() {
        let b = TEXT.find('b').expect("it is there");
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)]
        {
            let table = LineTable::of(TEXT, encoding);
            let position = Position::new(1, column);
            assert_eq!(table.position(TEXT, b), position);
            assert_eq!(table.offset(TEXT, position), b);
        }
    }

    #[test]
    fn every_offset_survives_the_way_there_and_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let table = LineTable::of(TEXT, encoding);
            for (at, it) in TEXT.char_indices() {
                let wanted = if it == '\n' && TEXT[..at].ends_with('\r') { at - 1 } else { at };
                assert_eq!(table.offset(TEXT, table.position(TEXT, at)), wanted);
            }
        }
    }

    #[test]
    fn places_outside_of_the_text_are_its_ends() {
        let table = LineTable::of(TEXT, Encoding::Utf16);
        assert_eq!(table.offset(TEXT, Position::new(99, 0)), TEXT.len());
        assert_eq!(table.offset(TEXT, Position::new(0, 99)), 1);
        // Half of a pair is before it.
        assert_eq!(table.offset(TEXT, Position::new(1, 2)), 4);
        assert_eq!(table.position(TEXT, 999), Position::new(3, 1));
        let backwards = Range::new(Position::new(3, 0), Position::new(0, 0));
        assert!(table.bytes(TEXT, backwards).is_empty());
    }

    #[test]
    fn the_best_encoding_is_chosen() {
        use PositionEncodingKind as Kind;
        for (offered, wanted) in [
            (vec![], Encoding::Utf16),
            (vec![Kind::UTF16, Kind::UTF8], Encoding::Utf8),
            (vec![Kind::UTF32], Encoding::Utf32),
            (vec![Kind::new("utf-7")], Encoding::Utf16),
        ] {
            assert_eq!(Encoding::choose(&offered), wanted);
        }
    }
}
