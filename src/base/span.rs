//! A byte range in one source, the only way a place in text is written down before `report`.

use super::SourceId;

/// Half-open byte range `start..end` in the text of `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text that the offsets count in.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`; offsets past 4 GiB saturate.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        let clamp = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        Self { source, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that holds both; `other` is ignored when it lies in another source.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        if self.source != other.source {
            return self;
        }
        Self { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }

    /// Whether `other` lies wholly inside.
    pub fn contains(self, other: Self) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }

    /// The byte range, for slicing the source's text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
