//! What do the attributes of an item say?

use super::names::{Site, unraw};
use super::path::segments;
use super::unit::Unit;
use crate::base::Name;
use crate::ir::{Attr, Visibility};
use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// Attributes of `#[cfg_attr(…)]` within one another that are still read.
const MAX_CFG_ATTR: u32 = 4;

impl Unit<'_> {
    /// All attributes but doc comments; `derive(A, B)` gives one for each trait.
    pub(super) fn attrs(&mut self, site: &Site, attrs: &[Attribute]) -> Vec<Attr> {
        let mut out = Vec::new();
        for attr in attrs {
            self.push_meta(site, &attr.meta, MAX_CFG_ATTR, &mut out);
        }
        out
    }

    fn push_meta(&mut self, site: &Site, meta: &Meta, depth: u32, out: &mut Vec<Attr>) {
        let path = segments(meta.path());
        let name = path.join("::");
        match (name.as_str(), meta) {
            ("doc", _) => (),
            ("derive", Meta::List(list)) => self.push_derives(site, list, out),
            ("cfg_attr", Meta::List(list)) if depth > 0 => {
                let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                for inner in list.parse_args_with(parser).iter().flatten().skip(1) {
                    self.push_meta(site, inner, depth - 1, out);
                }
            }
            _ => {
                let args = match meta {
                    Meta::Path(_) => String::new(),
                    Meta::List(list) => self.folded_text(list.tokens.clone()),
                    Meta::NameValue(it) => {
                        let text = &self.source.text[self.spans.expr(&it.value).range()];
                        fold(text)
                    }
                };
                let name = self.names.resolve(site, &path, false);
                out.push(Attr { name, args });
            }
        }
    }

    fn push_derives(&mut self, site: &Site, list: &syn::MetaList, out: &mut Vec<Attr>) {
        let parser = Punctuated::<syn::Path, Token![,]>::parse_terminated;
        for path in list.parse_args_with(parser).iter().flatten() {
            let name = self.resolve_path(site, path);
            self.mention(&name);
            out.push(Attr { name, args: String::new() });
        }
    }

    /// The source text of some tokens with white space folded.
    pub(super) fn folded_text(&self, tokens: TokenStream) -> String {
        let mut tokens = tokens.into_iter();
        let Some(first) = tokens.next() else { return String::new() };
        let last = tokens.last().map_or(first.span(), |it| it.span());
        let span = self.spans.between(first.span(), last);
        fold(self.source.text.get(span.range()).unwrap_or_default())
    }
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of the doc comment.
pub(super) fn doc(attrs: &[Attribute]) -> Option<String> {
    let lines: Vec<_> = attrs.iter().filter_map(doc_line).collect();
    let text = lines.iter().map(|it| it.trim()).collect::<Vec<_>>().join("\n");
    (!lines.is_empty()).then(|| text.trim().to_owned())
}

fn doc_line(attr: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attr.meta else { return None };
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(lit), .. }) if meta.path.is_ident("doc") => {
            Some(lit.value())
        }
        _ => None,
    }
}

/// `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[cfg(test)]`.
pub(super) fn is_test(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let path = segments(attr.path());
        let last = path.last().map(String::as_str).unwrap_or_default();
        match (last, &attr.meta) {
            ("cfg", Meta::List(args)) => names_test(args.tokens.clone()),
            (last, _) => matches!(last, "test" | "rstest" | "bench" | "test_case" | "test_log"),
        }
    })
}

/// Whether a configuration predicate needs `test`: it occurs outside of `not(…)`.
fn names_test(tokens: TokenStream) -> bool {
    let mut negated = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if ident == "test" => return true,
            TokenTree::Ident(ident) => negated = ident == "not",
            TokenTree::Group(group) => {
                if !negated && names_test(group.stream()) {
                    return true;
                }
                negated = false;
            }
            _ => negated = false,
        }
    }
    false
}

/// Who may use an item.
pub(super) fn visibility(vis: &syn::Visibility) -> Visibility {
    match vis {
        syn::Visibility::Public(_) | syn::Visibility::Restricted(_) => Visibility::Public,
        syn::Visibility::Inherited => Visibility::Private,
    }
}

/// The string value of `key = "…"` in any of the attributes named `of`.
pub(super) fn string_arg(attrs: &[Attribute], of: &str, key: &str) -> Option<Name> {
    let lists = attrs.iter().filter(|it| it.path().is_ident(of)).filter_map(|it| match &it.meta {
        Meta::List(list) => Some(list),
        _ => None,
    });
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    lists.filter_map(|it| it.parse_args_with(parser).ok()).flatten().find_map(|meta| match meta {
        Meta::NameValue(it) if it.path.is_ident(key) => string_of(&it.value),
        _ => None,
    })
}

/// The value of `#[name = "…"]`.
pub(super) fn string_value(attrs: &[Attribute], of: &str) -> Option<Name> {
    attrs.iter().find_map(|it| match &it.meta {
        Meta::NameValue(it) if it.path.is_ident(of) => string_of(&it.value),
        _ => None,
    })
}

fn string_of(expr: &Expr) -> Option<Name> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(lit), .. }) => Some(lit.value().into()),
        _ => None,
    }
}

/// The integer value of `key = 1` in any of the attributes named `of`.
pub(super) fn int_arg(attrs: &[Attribute], of: &str, key: &str) -> Option<i64> {
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut metas = attrs
        .iter()
        .filter(|it| it.path().is_ident(of))
        .filter_map(|it| it.parse_args_with(parser).ok())
        .flatten();
    metas.find_map(|meta| match meta {
        Meta::NameValue(it) if it.path.is_ident(key) => match it.value {
            Expr::Lit(ExprLit { lit: Lit::Int(lit), .. }) => lit.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    })
}

/// The name of a field.
pub(super) fn member(member: &syn::Member) -> Name {
    match member {
        syn::Member::Named(ident) => unraw(ident).into(),
        syn::Member::Unnamed(index) => index.index.to_string().into(),
    }
}
