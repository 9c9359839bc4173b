//! Which lines of the sources does the snippet renderer see?
//!
//! Only those around the marks of one finding, with their real numbers: terminal escapes are made
//! visible, and of a line as long as a minified file only the part around its marks is kept.
//! A character stands for a character, so a place in the source has one place in the excerpt.

use super::Places;
use super::plain::{plain, plain_line};
use super::text::Mark;
use crate::base::{Lines, SourceId, Span};
use codespan_reporting::diagnostic::{Label, LabelStyle};
use codespan_reporting::files::{Error, Files};
use std::collections::BTreeMap;
use std::ops::Range;

/// A mark over more lines than this shows its first line only.
const MARK_LINES: usize = 8;
/// A line with more bytes than this is cut.
const LINE_BYTES: usize = 240;
/// Bytes that are kept in front of the first mark of a line that is cut.
const MARGIN: usize = 60;
/// Stands for what is cut.
const ELLIPSIS: char = '…';

/// The excerpts of one finding, one per source.
pub(super) struct Excerpts<'a> {
    files: Vec<Excerpt<'a>>,
}

struct Excerpt<'a> {
    source: SourceId,
    name: String,
    original: &'a str,
    text: String,
    lines: BTreeMap<usize, Line>,
}

/// One line of the source in the excerpt.
struct Line {
    /// Its bytes in the source, line end included.
    whole: Range<usize>,
    /// The part of them that is kept, without line end.
    kept: Range<usize>,
    /// Its bytes in the excerpt, line end included.
    shown: Range<usize>,
}

impl<'a> Excerpts<'a> {
    /// Cuts out what `marks` point at.
    pub(super) fn of(marks: &[Mark], places: &mut Places<'a>) -> Self {
        let mut sources: Vec<SourceId> = Vec::new();
        for mark in marks {
            if !sources.contains(&mark.span.source) {
                sources.push(mark.span.source);
            }
        }
        Self { files: sources.into_iter().map(|it| Excerpt::of(it, marks, places)).collect() }
    }

    /// The marks as labels into the excerpts.
    pub(super) fn labels(&self, marks: &[Mark]) -> Vec<Label<usize>> {
        marks.iter().filter_map(|it| self.label(it)).collect()
    }

    fn label(&self, mark: &Mark) -> Option<Label<usize>> {
        let file = self.files.iter().position(|it| it.source == mark.span.source)?;
        let range = self.files[file].range(mark.span)?;
        Some(Label::new(mark.style, file, range).with_message(&mark.message))
    }

    fn file(&self, id: usize) -> Result<&Excerpt<'a>, Error> {
        self.files.get(id).ok_or(Error::FileMissing)
    }
}

impl<'a> Excerpt<'a> {
    fn of(source: SourceId, marks: &[Mark], places: &mut Places<'a>) -> Self {
        let name = plain_line(places.path(source)).into_owned();
        let original = places.text(source);
        let lines = places.lines(source);
        let mut wanted: BTreeMap<usize, Vec<&Mark>> = BTreeMap::new();
        for mark in marks.iter().filter(|it| it.span.source == source) {
            let (first, last) = shown_lines(mark.span, lines);
            // The renderer fills a gap of one line with the text of that line.
            for index in first.saturating_sub(1)..=(last + 1).min(lines.count() - 1) {
                wanted.entry(index).or_default().push(mark);
            }
        }
        let mut excerpt =
            Self { source, name, original, text: String::new(), lines: BTreeMap::new() };
        for (index, marks) in wanted {
            excerpt.push(index, whole_line(index, lines, original), &marks);
        }
        excerpt
    }

    fn push(&mut self, index: usize, whole: Range<usize>, marks: &[&Mark]) {
        let kept = kept_part(&whole, marks, self.original);
        let start = self.text.len();
        if kept.start > whole.start {
            self.text.push(ELLIPSIS);
        }
        self.text.push_str(&plain(&self.original[kept.clone()]));
        if !self.original[kept.end..whole.end].trim_end_matches(['\r', '\n']).is_empty() {
            self.text.push(ELLIPSIS);
        }
        self.text.push('\n');
        self.lines.insert(index, Line { whole, kept, shown: start..self.text.len() });
    }

    /// The bytes of `span` in the excerpt; of one over many lines only those of its first line.
    fn range(&self, span: Span) -> Option<Range<usize>> {
        let (first, line) = self.line_at(span.start as usize)?;
        let start = self.offset(line, span.start as usize);
        let end = match self.line_at(span.end as usize) {
            Some((last, line)) if last < first + MARK_LINES => self.offset(line, span.end as usize),
            _ => line.shown.end - 1,
        };
        Some(start..end.max(start))
    }

    /// Index and line that hold byte `offset` of the source.
    fn line_at(&self, offset: usize) -> Option<(usize, &Line)> {
        let holds = |it: &Line| it.whole.start <= offset && offset <= it.whole.end;
        self.lines.iter().rev().find(|(_, it)| holds(it)).map(|(&index, it)| (index, it))
    }

    /// Where byte `offset` of the source stands in the excerpt. Characters are counted, not bytes.
    fn offset(&self, line: &Line, offset: usize) -> usize {
        let offset =
            self.original.floor_char_boundary(offset).clamp(line.kept.start, line.kept.end);
        let before = self.original[line.kept.start..offset].chars().count();
        let text = &self.text[line.shown.start..line.shown.end - 1];
        let skip = before + usize::from(line.is_cut_in_front());
        let inside = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
        line.shown.start + inside
    }
}

impl Line {
    fn is_cut_in_front(&self) -> bool {
        self.kept.start > self.whole.start
    }
}

/// First and last line of `span` that are shown.
fn shown_lines(span: Span, lines: &Lines) -> (usize, usize) {
    let first = lines.line_index(span.start);
    let last = lines.line_index(span.end).max(first);
    if last < first + MARK_LINES { (first, last) } else { (first, first) }
}

fn whole_line(index: usize, lines: &Lines, text: &str) -> Range<usize> {
    let start = lines.line_start(index) as usize;
    let is_last = index + 1 >= lines.count();
    let end = if is_last { text.len() } else { lines.line_start(index + 1) as usize };
    start..end
}

/// The part of a line that is shown: all of it, or a window that begins a little before the first of
/// its primary marks, or of its marks when none is primary.
fn kept_part(whole: &Range<usize>, marks: &[&Mark], text: &str) -> Range<usize> {
    let end = whole.start + text[whole.clone()].trim_end_matches(['\r', '\n']).len();
    if end - whole.start <= LINE_BYTES {
        return whole.start..end;
    }
    let is_secondary = |it: &Mark| it.style == LabelStyle::Secondary;
    let first = marks.iter().map(|it| (is_secondary(it), it.span.start as usize)).min();
    let first = first.map_or(whole.start, |it| it.1).clamp(whole.start, end);
    let start = text.floor_char_boundary(first.saturating_sub(MARGIN).max(whole.start));
    start..text.floor_char_boundary((start + LINE_BYTES).min(end))
}

impl<'a> Files<'a> for Excerpts<'_> {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        self.file(id).map(|it| &*it.name)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        self.file(id).map(|it| &*it.text)
    }

    fn line_index(&'a self, id: usize, byte_index: usize) -> Result<usize, Error> {
        let file = self.file(id)?;
        let found = file.lines.iter().find(|(_, it)| byte_index < it.shown.end);
        let max = file.text.len();
        found.map(|(&index, _)| index).ok_or(Error::IndexTooLarge { given: byte_index, max })
    }

    fn column_number(
        &'a self,
        id: usize,
        line_index: usize,
        byte_index: usize,
    ) -> Result<usize, Error> {
        let file = self.file(id)?;
        let line = file.line(line_index)?;
        let before = file.text[line.shown.start..byte_index].chars().count();
        let cut = file.original[line.whole.start..line.kept.start].chars().count();
        Ok(cut + before + 1 - usize::from(line.is_cut_in_front()))
    }

    fn line_range(&'a self, id: usize, line_index: usize) -> Result<Range<usize>, Error> {
        self.file(id)?.line(line_index).map(|it| it.shown.clone())
    }
}

impl Excerpt<'_> {
    fn line(&self, index: usize) -> Result<&Line, Error> {
        let max = self.lines.keys().next_back().copied().unwrap_or(0);
        self.lines.get(&index).ok_or(Error::LineTooLarge { given: index, max })
    }
}
