//! How does a text become a syntax tree, and what is refused before the recursive parser sees it?

use super::nesting;
use super::recover::{self, Refusal};
use super::span::Spans;
use crate::base::{Problem, ProblemKind, Source, Span};
use proc_macro2::TokenStream;
use std::ops::Range;
use std::str::FromStr;

/// The tree, what is needed to place its spans, and what was left out of it.
pub(super) struct Parsed<'s> {
    pub(super) file: syn::File,
    pub(super) spans: Spans<'s>,
    pub(super) problems: Vec<Problem>,
}

/// Parses a source; one that is refused as a whole is read item by item.
///
/// # Errors
///
/// The problem that keeps all of it from being read.
pub(super) fn parse(source: &Source) -> Result<Parsed<'_>, Problem> {
    let base = skipped_head(&source.text);
    let spans = Spans::new(source, base);
    let (tokens, mut problems) = tokens(source, &spans, base)?;
    if let Err(deep) = nesting::check(&tokens) {
        let message = "the code is nested too deeply to be read";
        return Err(problem(source, ProblemKind::Limit, spans.of(deep), message));
    }
    if let Ok(file) = syn::parse2(tokens.clone()) {
        return Ok(Parsed { file, spans, problems });
    }
    let (file, refused) = recover::items(tokens);
    let told =
        |it: Refusal| problem(source, ProblemKind::Syntax, spans.error(it.span), &it.message);
    problems.extend(refused.into_iter().map(told));
    problems.sort_by_key(|it| it.span);
    Ok(Parsed { file, spans, problems })
}

/// The tokens of the text; where it does not close, of the pieces that do.
fn tokens(
    source: &Source,
    spans: &Spans<'_>,
    base: usize,
) -> Result<(TokenStream, Vec<Problem>), Problem> {
    let text = &source.text[base..];
    let message = "a bracket, quote or comment is not closed";
    let open = match TokenStream::from_str(text) {
        Ok(tokens) => return Ok((tokens, Vec::new())),
        Err(it) => problem(source, ProblemKind::Syntax, spans.error(it.span()), message),
    };
    let (closed, refused) = recover::closed(text);
    let Ok(tokens) = TokenStream::from_str(&closed) else { return Err(open) };
    let told = |it: Range<usize>| {
        let span = Span::new(source.id, base + it.start, base + it.end);
        problem(source, ProblemKind::Syntax, first_line(source, span), message)
    };
    Ok((tokens, refused.into_iter().map(told).collect()))
}

fn first_line(source: &Source, span: Span) -> Span {
    let length = source.text[span.range()].find('\n').unwrap_or(0);
    let start = span.range().start;
    Span::new(source.id, start, start + length)
}

fn problem(source: &Source, kind: ProblemKind, span: Span, message: &str) -> Problem {
    Problem { kind, path: source.path.clone(), span: Some(span), message: message.to_owned() }
}

/// Length of a byte order mark and a `#!` line, which are no tokens.
fn skipped_head(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &text[mark..];
    let is_script = rest.strip_prefix("#!").is_some_and(|it| !it.trim_start().starts_with('['));
    if is_script { mark + rest.find('\n').unwrap_or(rest.len()) } else { mark }
}
