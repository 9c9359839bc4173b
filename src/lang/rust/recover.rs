//! What can be read of a text that is refused as a whole?
//!
//! Two cuts, each at the level of items. A text whose brackets, quotes or comments do not close is cut
//! at lines that begin in the first column, and the pieces that do not close are blanked. A token
//! stream that is no file is parsed item by item; an `impl`, `trait` or `mod` with a broken member keeps
//! the others. What is left out is told, and never guessed at: a function with a broken body is gone.

use proc_macro2::{Delimiter, Group, Span as TokenSpan, TokenStream, TokenTree};
use std::ops::Range;
use std::str::FromStr;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, ImplItem, Item, TraitItem};

/// More places than this are not told.
const MAX_REFUSED: usize = 50;

/// A place that is left out, and what the parser says of it.
pub(super) struct Refusal {
    pub(super) span: TokenSpan,
    pub(super) message: String,
}

/// Reads the items of a token stream one by one.
pub(super) fn items(tokens: TokenStream) -> (syn::File, Vec<Refusal>) {
    let mut refused = Vec::new();
    let mut file =
        syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: Vec::new() };
    let parser = |input: ParseStream<'_>| {
        let ahead = input.fork();
        if let Ok(attrs) = ahead.call(Attribute::parse_inner) {
            input.advance_to(&ahead);
            file.attrs = attrs;
        }
        file.items = read::<Item>(input, &mut refused);
        Ok(())
    };
    // The parser takes everything and refuses nothing.
    let _ = parser.parse2(tokens);
    refused.truncate(MAX_REFUSED);
    (file, refused)
}

/// What stands in a sequence: an item of a module, an `impl` or a trait.
trait Member: Parse {
    /// What is left of a member that is refused as a whole.
    fn salvage(tokens: Vec<TokenTree>, refused: &mut Vec<Refusal>) -> Option<Self>;
}

impl Member for Item {
    fn salvage(tokens: Vec<TokenTree>, refused: &mut Vec<Refusal>) -> Option<Self> {
        let (head, body) = emptied(tokens)?;
        let mut item: Self = syn::parse2(head).ok()?;
        let parsed = match &mut item {
            Self::Impl(it) => {
                let parser = |input: ParseStream<'_>| Ok(read::<ImplItem>(input, refused));
                parser.parse2(body).map(|members| it.items = members)
            }
            Self::Trait(it) => {
                let parser = |input: ParseStream<'_>| Ok(read::<TraitItem>(input, refused));
                parser.parse2(body).map(|members| it.items = members)
            }
            Self::Mod(it) => {
                let parser = |input: ParseStream<'_>| Ok(read::<Self>(input, refused));
                let content = it.content.as_mut()?;
                parser.parse2(body).map(|items| content.1 = items)
            }
            _ => return None,
        };
        parsed.ok().map(|()| item)
    }
}

impl Member for ImplItem {
    fn salvage(_: Vec<TokenTree>, _: &mut Vec<Refusal>) -> Option<Self> {
        None
    }
}

impl Member for TraitItem {
    fn salvage(_: Vec<TokenTree>, _: &mut Vec<Refusal>) -> Option<Self> {
        None
    }
}

fn read<T: Member>(input: ParseStream<'_>, refused: &mut Vec<Refusal>) -> Vec<T> {
    let mut out = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        match ahead.parse::<T>() {
            Ok(member) => {
                input.advance_to(&ahead);
                out.push(member);
            }
            Err(error) => match T::salvage(skip_member(input), refused) {
                Some(member) => out.push(member),
                None => {
                    refused.push(Refusal { span: error.span(), message: error.to_string() });
                }
            },
        }
    }
    out
}

/// Takes the tokens of one member, and of what follows up to where the next may begin.
fn skip_member(input: ParseStream<'_>) -> Vec<TokenTree> {
    let mut out = Vec::new();
    let mut ended = false;
    while !input.is_empty() {
        if ended && begins_member(input) {
            break;
        }
        let Ok(token) = input.parse::<TokenTree>() else { break };
        ended |= match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Brace || is_inner_attribute(&out)
            }
            _ => false,
        };
        out.push(token);
    }
    out
}

/// `#` and `!`, which only stand in front of an attribute of what is around.
fn is_inner_attribute(tokens: &[TokenTree]) -> bool {
    let is =
        |token: &TokenTree, sign| matches!(token, TokenTree::Punct(it) if it.as_char() == sign);
    matches!(tokens, [hash, mark] if is(hash, '#') && is(mark, '!'))
}

fn begins_member(input: ParseStream<'_>) -> bool {
    const WORDS: [&str; 17] = [
        "async",
        "auto",
        "const",
        "default",
        "enum",
        "extern",
        "fn",
        "impl",
        "macro_rules",
        "mod",
        "pub",
        "static",
        "struct",
        "trait",
        "type",
        "unsafe",
        "use",
    ];
    match input.fork().parse::<TokenTree>() {
        Ok(TokenTree::Ident(ident)) => {
            WORDS.contains(&ident.to_string().as_str()) || input.peek2(syn::Token![!])
        }
        Ok(TokenTree::Punct(punct)) => punct.as_char() == '#',
        _ => false,
    }
}

/// The tokens up to the first pair of braces, which is emptied, and what stood in it.
fn emptied(mut tokens: Vec<TokenTree>) -> Option<(TokenStream, TokenStream)> {
    let is_braces =
        |it: &TokenTree| matches!(it, TokenTree::Group(it) if it.delimiter() == Delimiter::Brace);
    let at = tokens.iter().position(is_braces)?;
    tokens.truncate(at + 1);
    let Some(TokenTree::Group(braces)) = tokens.pop() else { return None };
    let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
    empty.set_span(braces.span());
    let head = tokens.into_iter().chain([TokenTree::Group(empty)]).collect();
    Some((head, braces.stream()))
}

/// The text with the pieces blanked that do not close, and where these stand. The lines stay.
pub(super) fn closed(text: &str) -> (String, Vec<Range<usize>>) {
    let mut out = String::with_capacity(text.len());
    let mut refused = Vec::new();
    for piece in pieces(text) {
        let part = &text[piece.clone()];
        if TokenStream::from_str(part).is_ok() {
            out.push_str(part);
        } else {
            out.extend(part.matches('\n'));
            refused.push(piece);
        }
    }
    refused.truncate(MAX_REFUSED);
    (out, refused)
}

/// Cuts before lines that begin with a word or an attribute in the first column.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices('\n') {
        let next = text.as_bytes().get(at + 1).copied().unwrap_or(b' ');
        if next.is_ascii_alphabetic() || next == b'#' {
            out.push(start..at + 1);
            start = at + 1;
        }
    }
    out.push(start..text.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, usize) {
        let (file, refused) = items(text.parse().expect("the text has tokens"));
        let name = |item: &Item| match item {
            Item::Fn(it) => it.sig.ident.to_string(),
            Item::Impl(it) => format!("impl {}", it.items.len()),
            Item::Mod(it) => format!("mod {}", it.content.as_ref().map_or(0, |it| it.1.len())),
            Item::Trait(it) => format!("trait {}", it.items.len()),
            Item::Type(it) => it.ident.to_string(),
            _ => "other".to_owned(),
        };
        (file.items.iter().map(name).collect(), refused.len())
    }

    #[test]
    fn a_broken_function_loses_itself() {
        let text = "fn a() {} pub fn b(x y) { 1 } #[c] fn d() {}";
        assert_eq!(names(text), (vec!["a".to_owned(), "d".to_owned()], 1));
    }

    #[test]
    fn bare_trait_objects_lose_their_item() {
        let text = "type A = Fn(u8) + Send; fn b() {}";
        assert_eq!(names(text), (vec!["b".to_owned()], 1));
    }

    #[test]
    fn members_are_kept() {
        let text = "impl A { fn a() { let = ; } fn b() {} const C: u8 = 1; } \
                    mod m { fn x() {} fn y(;) {} trait T { fn p(&self); fn q(u8 ..); } }";
        let (found, refused) = names(text);
        assert_eq!(found, ["impl 2", "mod 2"]);
        assert_eq!(refused, 3);
    }

    #[test]
    fn an_inner_attribute_in_the_middle_takes_nothing_along() {
        assert_eq!(names("fn a() {} #![late] fn b() {}").0, ["a", "b"]);
    }

    #[test]
    fn pieces_that_do_not_close_are_blanked() {
        let text = "fn a() {}\n\nfn b( {\n    ä\n}\n\nfn c() {}\n";
        let (left, refused) = closed(text);
        assert_eq!(left, "fn a() {}\n\n\n\n\n\nfn c() {}\n");
        assert_eq!(refused.first(), Some(&(11..29)));
        assert_eq!(refused.len(), 1);
    }

    #[test]
    fn any_tokens_end() {
        for text in ["", ";", "{}", "}", "#", "# !", "pub", "impl", "impl {", "fn fn fn", "a ! b"] {
            let (left, _) = closed(text);
            if let Ok(tokens) = left.parse() {
                let _ = items(tokens);
            }
        }
    }
}
