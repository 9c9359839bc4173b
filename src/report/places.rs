//! At which line and column does a span stand?

use crate::base::{LineColumn, Lines, Source, SourceId, Span};
use std::collections::BTreeMap;

/// Lines of the sources that something points into; each source is scanned at most once.
pub(super) struct Places<'a> {
    sources: &'a [Source],
    lines: BTreeMap<SourceId, Lines>,
}

impl<'a> Places<'a> {
    pub(super) fn new(sources: &'a [Source]) -> Self {
        Self { sources, lines: BTreeMap::new() }
    }

    /// Path of the source; empty for a source that is not part of the run.
    pub(super) fn path(&self, id: SourceId) -> &'a str {
        self.source(id).map_or("", |it| &it.path)
    }

    /// Text of the source.
    pub(super) fn text(&self, id: SourceId) -> &'a str {
        self.source(id).map_or("", |it| &it.text)
    }

    /// Where the lines of the source begin.
    pub(super) fn lines(&mut self, id: SourceId) -> &Lines {
        let text = self.text(id);
        self.lines.entry(id).or_insert_with(|| Lines::of(text))
    }

    pub(super) fn start(&mut self, span: Span) -> LineColumn {
        self.at(span.source, span.start)
    }

    /// One past the last character.
    pub(super) fn end(&mut self, span: Span) -> LineColumn {
        self.at(span.source, span.end)
    }

    fn at(&mut self, id: SourceId, offset: u32) -> LineColumn {
        let text = self.text(id);
        self.lines(id).line_column(text, offset)
    }

    fn source(&self, id: SourceId) -> Option<&'a Source> {
        self.sources.get(id.0 as usize)
    }
}
