//! Where do comments, strings and statements of a source begin and end?
//!
//! This stage sees no syntax tree. Brackets, strings and comments are enough to cut a text into
//! *statements*: what stands between two of `;`, `,`, `{` and `}` directly inside of one pair of braces.
//! The header of a block (`if (…)`, `fn f()`) is one, too, and a closure between parentheses has its own.

use super::skip::{Kind, Skipper};
use crate::base::{Language, Source, SourceId};
use std::ops::Range;

/// A statement, or the header of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// From its first character that is code.
    pub(super) range: Range<usize>,
    /// For the header of a function: its body.
    pub(super) body: Option<Range<usize>>,
}

/// A source cut into its parts.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) id: SourceId,
    pub(super) language: Language,
    pub(super) text: &'a str,
    /// Comments with their delimiters, in order; the end of the line is not part of them.
    pub(super) comments: Vec<Range<usize>>,
    /// Strings with their delimiters, in order.
    pub(super) strings: Vec<Range<usize>>,
    /// In the order of their ends.
    pub(super) statements: Vec<Statement>,
    lines: Vec<usize>,
}

/// What is open at a point of the text.
#[derive(Debug)]
enum Open {
    /// `(` or `[`.
    Bracket,
    /// `{`, or the file itself.
    Brace {
        /// Where the statement began that is under way.
        start: Option<usize>,
        /// It declares a function.
        is_function: bool,
        /// The header of the function that this is the body of.
        header: Option<usize>,
        /// Behind the `{`.
        body: usize,
    },
}

impl<'a> Page<'a> {
    pub(super) fn of(source: &'a Source) -> Self {
        Self::cut(source.id, source.language, &source.text)
    }

    pub(super) fn cut(id: SourceId, language: Language, text: &'a str) -> Self {
        let starts = text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let (comments, strings, statements) = (Vec::new(), Vec::new(), Vec::new());
        let mut page = Self { id, language, text, comments, strings, statements, lines };
        page.walk();
        page
    }

    fn walk(&mut self) {
        let mut skipper = Skipper::new(self.language, self.text);
        let mut open = vec![brace(None, 0)];
        let mut at = 0;
        while at < self.text.len() {
            let next = skipper.next(at);
            match next.kind {
                Kind::Comment => self.comments.push(at..next.end),
                Kind::Blank => (),
                Kind::End => {
                    self.end(&mut open, at);
                }
                Kind::String => {
                    self.strings.push(at..next.end);
                    begin(&mut open, at);
                }
                Kind::Word => self.word(&mut open, at..next.end),
                Kind::Sign => self.sign(&mut open, at),
            }
            at = next.end.max(at + 1);
        }
        self.end(&mut open, self.text.len());
    }

    fn word(&self, open: &mut [Open], range: Range<usize>) {
        begin(open, range.start);
        let names_function = matches!(self.text.get(range), Some("fn" | "function"));
        if let Some(Open::Brace { is_function, .. }) = open.last_mut().filter(|_| names_function) {
            *is_function = true;
        }
    }

    fn sign(&mut self, open: &mut Vec<Open>, at: usize) {
        match self.text.as_bytes()[at] {
            b'(' | b'[' => {
                begin(open, at);
                open.push(Open::Bracket);
            }
            b')' | b']' if open.len() > 1 => {
                if matches!(open.last(), Some(Open::Bracket)) {
                    open.pop();
                }
            }
            b'{' => self.open_brace(open, at),
            b'}' => self.close_brace(open, at),
            b',' if self.language == Language::Sql => begin(open, at),
            b';' | b',' => {
                self.end(open, at + 1);
            }
            _ => begin(open, at),
        }
    }

    fn open_brace(&mut self, open: &mut Vec<Open>, at: usize) {
        let is_header = matches!(open.last(), Some(Open::Brace { is_function: true, .. }));
        let ended = self.end(open, at);
        open.push(brace(ended.filter(|_| is_header), at + 1));
    }

    fn close_brace(&mut self, open: &mut Vec<Open>, at: usize) {
        // What is left open inside of the braces is broken code, or none that is understood.
        let Some(inner) = open.iter().rposition(|it| matches!(it, Open::Brace { .. })) else {
            return;
        };
        open.truncate(inner + 1);
        self.end(open, at);
        if open.len() > 1
            && let Some(Open::Brace { header: Some(header), body, .. }) = open.pop()
            && let Some(header) = self.statements.get_mut(header)
        {
            header.body = Some(body..at);
        }
    }

    /// Ends the statement directly inside of the braces that are open last; gives its position.
    fn end(&mut self, open: &mut [Open], at: usize) -> Option<usize> {
        let Some(Open::Brace { start, is_function, .. }) = open.last_mut() else { return None };
        *is_function = false;
        let range = start.take()?..at;
        self.statements.push(Statement { range, body: None });
        Some(self.statements.len() - 1)
    }

    /// The innermost statement around `at`.
    pub(super) fn statement_at(&self, at: usize) -> Option<&Statement> {
        let around = self.statements.iter().filter(|it| it.range.contains(&at));
        around.min_by_key(|it| it.range.len())
    }

    /// Where code goes on behind `at`: past blanks, comments and other comments.
    pub(super) fn code_behind(&self, at: usize) -> Option<usize> {
        self.statements.iter().map(|it| it.range.start).filter(|it| *it >= at).min()
    }

    /// The line, from 0, that holds `at`.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|it| *it <= at).saturating_sub(1)
    }

    /// Where the line of `at` begins.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.lines[self.line_of(at)]
    }

    /// Where the line below that of `at` begins, or the text ends.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.lines.get(self.line_of(at) + 1).copied().unwrap_or(self.text.len())
    }
}

fn brace(header: Option<usize>, body: usize) -> Open {
    Open::Brace { start: None, is_function: false, header, body }
}

/// Notes that the statement of the innermost braces is under way.
fn begin(open: &mut [Open], at: usize) {
    let inner = open.iter_mut().rev().find_map(|it| match it {
        Open::Brace { start, .. } => Some(start),
        Open::Bracket => None,
    });
    if let Some(start) = inner {
        start.get_or_insert(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(language: Language, text: &str) -> Vec<&str> {
        let page = Page::cut(SourceId(0), language, text);
        let mut found: Vec<_> = page.statements.iter().map(|it| it.range.clone()).collect();
        found.sort_by_key(|it| (it.start, it.end));
        found.into_iter().map(|it| text[it].trim()).collect()
    }

    #[test]
    fn php_is_cut_at_its_signs() {
        assert_eq!(
            statements(
                Language::Php,
                "<b>isn't</b><?php f('a;b', [1, 2]); // x;\n if ($a) { g(); }"
            ),
            ["f('a;b', [1, 2]);", "if ($a)", "g();"]
        );
        assert_eq!(
            statements(Language::Php, "<?php t(function () { a(); b(); }, 1);"),
            ["t(function () { a(); b(); }, 1);", "a();", "b();"]
        );
        let heredoc = "<?php $a = <<<SQL\n  it's; {$x}\n  SQL; # b;\n#[A] f(); ?>;<?= g() ?>";
        let wanted = ["$a = <<<SQL\n  it's; {$x}\n  SQL;", "#[A] f();", "g()"];
        assert_eq!(statements(Language::Php, heredoc), wanted);
    }

    #[test]
    fn rust_and_sql_have_their_own_strings() {
        assert_eq!(
            statements(
                Language::Rust,
                "fn f<'a>(c: char) { let x = '{'; g(r#\"\";\"#) /* /* } */ */ }"
            ),
            ["fn f<'a>(c: char)", "let x = '{';", "g(r#\"\";\"#) /* /* } */ */"]
        );
        let sql = "UPDATE a SET b = 'it''s;', c = 1 -- ;\nWHERE d = 2; SELECT e #> f;";
        let wanted = ["UPDATE a SET b = 'it''s;', c = 1 -- ;\nWHERE d = 2;", "SELECT e #> f;"];
        assert_eq!(statements(Language::Sql, sql), wanted);
    }

    #[test]
    fn a_function_knows_its_body() {
        let text = "<?php class A { #[B]\n public function c(): int { return 1; } }";
        let page = Page::cut(SourceId(0), Language::Php, text);
        let with_body: Vec<_> = page
            .statements
            .iter()
            .filter_map(|it| Some((&text[it.range.clone()], it.body.clone()?)))
            .collect();
        assert_eq!(with_body.len(), 1);
        assert_eq!(with_body[0].0, "#[B]\n public function c(): int ");
        assert_eq!(&text[with_body[0].1.clone()], " return 1; ");
    }
}
