//! How does a text become a syntax tree, and what is refused before the recursive parser sees it?

use super::nesting;
use super::span::Spans;
use crate::base::{Problem, ProblemKind, Source, Span};
use proc_macro2::TokenStream;
use std::str::FromStr;

/// The tree and what is needed to place its spans, or why there is none.
pub(super) fn parse(source: &Source) -> Result<(syn::File, Spans<'_>), Problem> {
    let base = skipped_head(&source.text);
    let spans = Spans::new(source, base);
    let syntax = |span: proc_macro2::Span, message: &str| {
        problem(source, ProblemKind::Syntax, spans.error(span), message)
    };
    let tokens = TokenStream::from_str(&source.text[base..])
        .map_err(|it| syntax(it.span(), "a bracket, quote or comment is not closed"))?;
    if let Err(deep) = nesting::check(&tokens) {
        let message = "the code is nested too deeply to be read";
        return Err(problem(source, ProblemKind::Limit, spans.of(deep), message));
    }
    let file = syn::parse2(tokens).map_err(|it| syntax(it.span(), &it.to_string()))?;
    Ok((file, spans))
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
