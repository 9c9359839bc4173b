//! What do the tokens of a macro look like: a list of arguments, a pattern test, JSON, statements?

use super::names::unraw;
use crate::base::Name;
use proc_macro2::{Delimiter, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Block, Expr, Macro, Pat, Stmt, Token};

/// An argument of a macro: `x`, `name = x`, `?x`, `key => x`.
pub(super) struct MacroArg {
    pub(super) name: Option<Name>,
    pub(super) key: Option<Expr>,
    pub(super) expr: Expr,
}

impl Parse for MacroArg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = argument_name(input)?;
        if input.peek(Token![?]) {
            input.parse::<Token![?]>()?;
        } else if input.peek(Token![%]) {
            input.parse::<Token![%]>()?;
        }
        let expr: Expr = input.parse()?;
        if input.peek(Token![=>]) {
            input.parse::<Token![=>]>()?;
            return Ok(Self { name, key: Some(expr), expr: input.parse()? });
        }
        Ok(Self { name, key: None, expr })
    }
}

/// `name =`, `user.id =`, `target:`.
fn argument_name(input: ParseStream<'_>) -> syn::Result<Option<Name>> {
    let ahead = input.fork();
    let mut name = String::new();
    while ahead.peek(syn::Ident::peek_any) {
        name.push_str(&unraw(&ahead.call(syn::Ident::parse_any)?));
        if !ahead.peek(Token![.]) {
            break;
        }
        ahead.parse::<Token![.]>()?;
        name.push('.');
    }
    let assigns = ahead.peek(Token![=]) && !ahead.peek(Token![==]) && !ahead.peek(Token![=>]);
    let labels = ahead.peek(Token![:]) && !ahead.peek(Token![::]);
    if name.is_empty() || !(assigns || labels) {
        return Ok(None);
    }
    while !(input.peek(Token![=]) || input.peek(Token![:])) {
        input.parse::<TokenTree>()?;
    }
    input.parse::<TokenTree>()?;
    Ok(Some(name.into()))
}

/// `matches!(x, pattern if guard)`.
pub(super) struct Matches {
    pub(super) expr: Expr,
    pub(super) pat: Pat,
    pub(super) guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = if input.peek(Token![if]) {
            input.parse::<Token![if]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        Ok(Self { expr, pat, guard })
    }
}

/// `query_as!(Job, "…", id)`.
pub(super) struct Typed {
    pub(super) ty: syn::Type,
    pub(super) args: Punctuated<MacroArg, Token![,]>,
}

impl Parse for Typed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        let mut args = Punctuated::new();
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            args = input.parse_terminated(MacroArg::parse, Token![,])?;
        }
        Ok(Self { ty, args })
    }
}

/// `vec![x; n]`.
pub(super) struct Repeat(pub(super) Expr);

impl Parse for Repeat {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let expr = input.parse()?;
        input.parse::<Token![;]>()?;
        input.parse::<Expr>()?;
        Ok(Self(expr))
    }
}

/// The last segment of a macro's path.
pub(super) fn last_name(mac: &Macro) -> String {
    mac.path.segments.last().map(|it| unraw(&it.ident)).unwrap_or_default()
}

/// The arguments, when the tokens are a list of them.
pub(super) fn parse_args(mac: &Macro) -> Option<Vec<MacroArg>> {
    let parser = Punctuated::<MacroArg, Token![,]>::parse_terminated;
    Some(mac.parse_body_with(parser).ok()?.into_iter().collect())
}

/// The arguments as plain expressions.
pub(super) fn parse_exprs(mac: &Macro) -> Option<Vec<Expr>> {
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    Some(mac.parse_body_with(parser).ok()?.into_iter().collect())
}

/// The statements, when the tokens are the inside of a block.
pub(super) fn parse_stmts(mac: &Macro) -> Option<Vec<Stmt>> {
    mac.parse_body_with(Block::parse_within).ok()
}

/// The blocks that stand in braces among other tokens, when all of them are code.
pub(super) fn parse_blocks(mac: &Macro) -> Vec<Vec<Stmt>> {
    let groups = mac.tokens.clone().into_iter().filter_map(|it| match it {
        TokenTree::Group(it) if it.delimiter() == Delimiter::Brace => Some(it.stream()),
        _ => None,
    });
    let blocks: syn::Result<Vec<_>> = groups.map(|it| Block::parse_within.parse2(it)).collect();
    blocks.unwrap_or_default()
}

/// The tokens of `json!`.
pub(super) enum Json {
    Null,
    List(Vec<Json>),
    Map(Vec<Pair>),
    Expr(Box<Expr>),
}

/// `key: value`.
pub(super) struct Pair {
    pub(super) key: Expr,
    pub(super) value: Json,
}

impl Parse for Json {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::token::Brace) {
            let content;
            syn::braced!(content in input);
            let pairs = content.parse_terminated(Pair::parse, Token![,])?;
            return Ok(Self::Map(pairs.into_iter().collect()));
        }
        if input.peek(syn::token::Bracket) {
            let content;
            syn::bracketed!(content in input);
            let items = content.parse_terminated(Self::parse, Token![,])?;
            return Ok(Self::List(items.into_iter().collect()));
        }
        let ahead = input.fork();
        if ahead.parse::<syn::Ident>().is_ok_and(|it| it == "null") {
            input.parse::<syn::Ident>()?;
            return Ok(Self::Null);
        }
        Ok(Self::Expr(Box::new(input.parse()?)))
    }
}

impl Parse for Pair {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self { key, value: input.parse()? })
    }
}
