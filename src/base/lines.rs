//! From byte offsets to lines and columns, in characters, UTF-8 or UTF-16 units.

/// Line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line from 1.
    pub line: u32,
    /// Column from 1, in characters.
    pub column: u32,
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Scans `text` once. `\n` ends a line; `\r\n` counts once.
    pub fn of(text: &str) -> Self {
        let mut starts = vec![0];
        for (offset, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                starts.push(u32::try_from(offset + 1).unwrap_or(u32::MAX));
            }
        }
        Self { starts }
    }

    /// Line (from 0) that holds `offset`.
    pub fn line_index(&self, offset: u32) -> usize {
        self.starts.partition_point(|&it| it <= offset).saturating_sub(1)
    }

    /// First byte of line `index` (from 0); the last line's start when past the end.
    pub fn line_start(&self, index: usize) -> u32 {
        self.starts[index.min(self.starts.len() - 1)]
    }

    /// How many lines there are; an empty text has one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Line and column of `offset` in `text`, which must be the text given to [`Lines::of`].
    pub fn line_column(&self, text: &str, offset: u32) -> LineColumn {
        let index = self.line_index(offset);
        let start = self.line_start(index) as usize;
        let mut end = (offset as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let column = text[start.min(end)..end].chars().count() + 1;
        LineColumn {
            line: u32::try_from(index + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a\nüb\r\nc";
        let lines = Lines::of(text);
        assert_eq!(lines.line_column(text, 0), LineColumn { line: 1, column: 1 });
        assert_eq!(lines.line_column(text, 4), LineColumn { line: 2, column: 2 });
        assert_eq!(lines.line_column(text, 7), LineColumn { line: 3, column: 1 });
    }

    #[test]
    fn offset_past_the_end_is_the_last_place() {
        let lines = Lines::of("ab");
        assert_eq!(lines.line_column("ab", 99), LineColumn { line: 1, column: 3 });
    }
}
