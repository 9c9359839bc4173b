//! Which words of the source stand for a step: one line that reads as a statement.

use super::Places;
use crate::base::Span;

/// Longer statements are cut: no step of a report needs more.
const MAX_CHARS: usize = 160;
/// Words that a statement of SQL begins with.
const VERBS: [&str; 8] =
    ["SELECT", "UPDATE", "INSERT", "DELETE", "MERGE", "REPLACE", "WITH", "LOCK"];

/// The statement at `span`, white space folded and nothing that a terminal would act on in it.
pub(super) fn statement(span: Span, places: &mut Places<'_>) -> String {
    let text = places.text(span.source);
    let found = text.get(span.range()).unwrap_or_default();
    let taken = if is_verb(found) {
        sql(&text[span.start as usize..])
    } else if is_name(found) {
        line_of(text, span.start as usize)
    } else {
        found
    };
    let mut out = String::new();
    for word in taken.lines().flat_map(|it| words(it, is_verb(found))) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&super::plain(word));
        if out.chars().count() > MAX_CHARS {
            break;
        }
    }
    cut(&out, MAX_CHARS)
}

/// `text` in at most `width` characters.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.char_indices().nth(width).is_none() {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(width.saturating_sub(1)).collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

fn is_verb(text: &str) -> bool {
    VERBS.iter().any(|it| it.eq_ignore_ascii_case(text))
}

/// The words of a line; in SQL without its comment, and without the mark of a string that goes on.
fn words(line: &str, is_sql: bool) -> std::str::SplitWhitespace<'_> {
    if !is_sql {
        return line.split_whitespace();
    }
    let line = line.split("-- ").next().unwrap_or_default();
    let line = line.split("--~").next().unwrap_or_default();
    line.trim_end().trim_end_matches('\\').split_whitespace()
}

/// A name, or a variable.
fn is_name(text: &str) -> bool {
    let text = text.strip_prefix('$').unwrap_or(text);
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

/// A statement of SQL as far as its string or script goes.
fn sql(text: &str) -> &str {
    let end = text.find(['"', ';', '`']).unwrap_or(text.len());
    let text = &text[..end];
    // A string in single quotes: one that is not closed within the statement ends it.
    let mut quotes = text.match_indices('\'').map(|it| it.0);
    let mut end = text.len();
    while let Some(open) = quotes.next() {
        match quotes.next() {
            Some(close) if is_literal(&text[open + 1..close]) => (),
            // Other pieces are joined to the string: the line shows them.
            _ if text[open + 1..].trim_start().starts_with('.') => break,
            _ => {
                end = open;
                break;
            }
        }
    }
    text[..end].trim_end()
}

/// Whether what stands between two quotes is a value, not code behind a string.
fn is_literal(text: &str) -> bool {
    !text.contains([')', '(', ',', '\n'])
}

/// The line that holds `offset`, without comment marks for machines.
fn line_of(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |it| it + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |it| offset + it);
    text[start..end].trim().trim_end_matches('{').trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, Source, SourceId};

    fn shown(text: &str, part: &str) -> String {
        let id = SourceId(0);
        let start = text.find(part).expect("a part");
        let (path, text) = ("a.php".to_owned(), text.to_owned());
        let sources = [Source { id, path, language: Language::Php, text, exempt: false }];
        let span = Span::new(id, start, start + part.len());
        statement(span, &mut Places::new(&sources))
    }

    #[test]
    fn a_verb_stands_for_its_statement() {
        for (text, wanted) in [
            (
                "q('SELECT id FROM jobs WHERE id = :id');\nx('y');",
                "SELECT id FROM jobs WHERE id = :id",
            ),
            (
                "q(\"SELECT id\n  FROM jobs WHERE s = 'new'\");",
                "SELECT id FROM jobs WHERE s = 'new'",
            ),
            ("SELECT 1;\nSELECT 2;", "SELECT 1"),
            ("SELECT a -- the first\nFROM b", "SELECT a FROM b"),
            ("q(\"SELECT a \\\n   FROM b\")", "SELECT a FROM b"),
            ("q('SELECT a FROM ' . T . ' WHERE b');", "SELECT a FROM ' . T . ' WHERE b"),
        ] {
            assert_eq!(shown(text, "SELECT"), wanted);
        }
    }

    #[test]
    fn a_name_stands_for_its_line_and_anything_else_for_itself() {
        let text = "    public function handle(Job $job): void {\n        $job->run(\n  1);";
        assert_eq!(shown(text, "handle"), "public function handle(Job $job): void");
        assert_eq!(shown("foreach ($all as $job) {", "$job"), "foreach ($all as $job)");
        assert_eq!(shown(text, "$job->run(\n  1)"), "$job->run( 1)");
        assert_eq!(shown("f('\u{1b}[31m')", "f('\u{1b}[31m')"), "f('␛[31m')");
    }

    #[test]
    fn a_long_statement_is_cut() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
    }
}
