//! Items: modules, functions, traits, `impl` blocks, and what they put in the file.

use super::attr::{self, visibility};
use super::body::{Body, Signature};
use super::names::{Site, join, unraw};
use super::unit::{Unit, inner_module};
use crate::base::Name;
use crate::ir::{FuncId, FunctionKind, TypeKind, TypeRef, Visibility};
use proc_macro2::{Span as TokenSpan, TokenTree};
use syn::{Block, ImplItem, Item, ReceiverKind, TraitItem, TypeParamBound};

/// Lowers the items of a module or of a function body.
pub(super) fn lower_items(unit: &mut Unit<'_>, site: &Site, items: &[Item]) {
    for item in items {
        lower_item(unit, site, item);
    }
}

/// Lowers one item.
pub(super) fn lower_item(unit: &mut Unit<'_>, site: &Site, item: &Item) {
    match item {
        Item::Fn(it) => {
            let (keyword, close) = (first_of(&it.sig), it.block.brace_token.span.close());
            let span = unit.item_span(&it.vis, keyword, close);
            let visibility = visibility(&it.vis);
            let declared = Signature {
                sig: &it.sig,
                attrs: &it.attrs,
                visibility,
                span,
                kind: FunctionKind::Free,
            };
            lower_fn(unit, site, &declared, Some(&it.block));
        }
        Item::Mod(it) => {
            let mut site = inner_module(site, &it.ident);
            site.exempt |= attr::is_test(&it.attrs);
            if let Some((_, items)) = &it.content {
                lower_items(unit, &site, items);
            }
        }
        Item::Struct(it) => unit.lower_struct(site, it),
        Item::Enum(it) => unit.lower_enum(site, it),
        Item::Trait(it) => lower_trait(unit, site, it),
        Item::Impl(it) => lower_impl(unit, site, it),
        Item::Const(it) => {
            let name = join(&site.prefix, &unraw(&it.ident));
            let span = unit.spans.of(it.ident.span());
            unit.const_decl(site, name, &it.expr, span);
            unit.initializer(site, &it.ident, &it.expr);
        }
        Item::Static(it) => {
            let name = join(&site.prefix, &unraw(&it.ident));
            let span = unit.spans.of(it.ident.span());
            unit.const_decl(site, name, &it.expr, span);
            unit.initializer(site, &it.ident, &it.expr);
        }
        Item::Macro(it) => lower_item_macro(unit, site, &it.mac),
        Item::Type(it) => {
            let name = join(&site.prefix, &unraw(&it.ident));
            let ty = unit.type_ref(site, &it.ty);
            unit.file.aliases.push((name, ty));
        }
        Item::Use(it) if !matches!(it.vis, syn::Visibility::Inherited) => {
            for (short, full) in unit.names.reexports(site, it) {
                let name = join(&site.prefix, &short);
                if name != full {
                    unit.file.aliases.push((name, TypeRef::named(full)));
                }
            }
        }
        _ => (),
    }
}

/// The first token of a signature.
fn first_of(sig: &syn::Signature) -> TokenSpan {
    let constness = sig.constness.map(|it| it.span);
    let asyncness = sig.asyncness.map(|it| it.span);
    let safety = match &sig.safety {
        syn::Safety::Unsafe(it) => Some(it.span),
        _ => None,
    };
    constness.or(asyncness).or(safety).unwrap_or(sig.fn_token.span)
}

/// Lowers a function; one without a body is abstract.
pub(super) fn lower_fn(
    unit: &mut Unit<'_>,
    site: &Site,
    declared: &Signature<'_>,
    block: Option<&Block>,
) -> FuncId {
    let generics = unit.bind_generics(site, &declared.sig.generics);
    let exempt = site.exempt || attr::is_test(declared.attrs);
    let site = Site { generics, exempt, ..site.clone() };
    Body::function(unit, site, declared, block)
}

/// `Method` when there is a receiver.
fn method_kind(sig: &syn::Signature) -> FunctionKind {
    if sig.receiver().is_some() { FunctionKind::Method } else { FunctionKind::Static }
}

fn lower_trait(unit: &mut Unit<'_>, site: &Site, item: &syn::ItemTrait) {
    let name = join(&site.prefix, &unraw(&item.ident));
    let close = item.brace_token.span.close();
    let span = unit.item_span(&item.vis, item.trait_token.span, close);
    let mut decl = unit.type_decl(site, (TypeKind::Interface, name.clone()), &item.attrs, span);
    let generics = unit.bind_generics(site, &item.generics);
    let exempt = decl.exempt;
    let site = Site { generics, class: Some(name.clone()), prefix: name, exempt, ..site.clone() };
    for bound in &item.supertraits {
        if let TypeParamBound::Trait(it) = bound {
            decl.parents.push(TypeRef::named(unit.resolve_path(&site, &it.path)));
        }
    }
    for member in &item.items {
        match member {
            TraitItem::Fn(it) => decl.methods.push(lower_trait_fn(unit, &site, it)),
            TraitItem::Const(it) => {
                if let Some((_, value)) = &it.default {
                    let span = unit.spans.of(it.ident.span());
                    let short = unraw(&it.ident).into();
                    decl.consts.push(unit.member_const(&site, short, value, span));
                }
            }
            _ => (),
        }
    }
    unit.file.types.push(decl);
}

fn lower_trait_fn(unit: &mut Unit<'_>, site: &Site, item: &syn::TraitItemFn) -> FuncId {
    let last = match (&item.default, &item.semi_token) {
        (Some(block), _) => block.brace_token.span.close(),
        (None, Some(semi)) => semi.spans[0],
        (None, None) => item.sig.ident.span(),
    };
    let declared = Signature {
        sig: &item.sig,
        attrs: &item.attrs,
        visibility: Visibility::Public,
        span: unit.spans.between(first_of(&item.sig), last),
        kind: method_kind(&item.sig),
    };
    lower_fn(unit, site, &declared, item.default.as_ref())
}

fn lower_impl(unit: &mut Unit<'_>, site: &Site, item: &syn::ItemImpl) {
    let generics = unit.bind_generics(site, &item.generics);
    let outer = Site { generics, ..site.clone() };
    let mut class = unit.type_ref(&outer, &item.self_ty).name;
    if item.trait_.is_none() && !class.contains("::") {
        // Only the crate of a type adds to it: a macro wrote this one into the module.
        class = join(&site.prefix, &class);
    }
    let of_trait = item.trait_.as_ref().map(|(path, _)| trait_ref(unit, &outer, path));
    let close = item.brace_token.span.close();
    let span = unit.spans.between(item.impl_token.span, close);
    let mut decl = unit.type_decl(&outer, (TypeKind::Impl, class.clone()), &item.attrs, span);
    decl.parents.extend(of_trait.clone());
    let site = Site {
        class: Some(class.clone()),
        of_trait: of_trait.map(|it| it.name),
        prefix: class,
        exempt: decl.exempt,
        ..outer
    };
    for member in &item.items {
        match member {
            ImplItem::Fn(it) => decl.methods.push(lower_impl_fn(unit, &site, it)),
            ImplItem::Const(it) => {
                let span = unit.spans.of(it.ident.span());
                let short = unraw(&it.ident).into();
                decl.consts.push(unit.member_const(&site, short, &it.expr, span));
                unit.initializer(&site, &it.ident, &it.expr);
            }
            _ => (),
        }
    }
    unit.file.types.push(decl);
}

fn trait_ref(unit: &mut Unit<'_>, site: &Site, path: &syn::Path) -> TypeRef {
    let args = unit.path_args(site, path);
    let name = unit.resolve_path(site, path);
    unit.mention(&name);
    TypeRef { args, ..TypeRef::named(name) }
}

fn lower_impl_fn(unit: &mut Unit<'_>, site: &Site, item: &syn::ImplItemFn) -> FuncId {
    let (keyword, close) = (first_of(&item.sig), item.block.brace_token.span.close());
    let of_trait = site.of_trait.is_some();
    let declared = Signature {
        sig: &item.sig,
        attrs: &item.attrs,
        visibility: if of_trait { Visibility::Public } else { visibility(&item.vis) },
        span: unit.item_span(&item.vis, keyword, close),
        kind: method_kind(&item.sig),
    };
    lower_fn(unit, site, &declared, Some(&item.block))
}

/// Whether the receiver is `&mut self`.
pub(super) fn receiver_is_mutable(sig: &syn::Signature) -> bool {
    match sig.receiver().map(|it| &it.kind) {
        Some(ReceiverKind::Reference(_, _, mutability)) => mutability.is_some(),
        _ => false,
    }
}

/// A macro at item level: a table, or items in braces.
pub(super) fn lower_item_macro(unit: &mut Unit<'_>, site: &Site, mac: &syn::Macro) {
    let name = super::macro_tokens::last_name(mac);
    match name.as_str() {
        "macro_rules" => (),
        "table" if unit.lower_table(site, mac) => (),
        "lazy_static" if unit.lower_lazy(site, mac) => (),
        _ => lower_hidden_items(unit, site, mac),
    }
}

/// Items that are the arguments of a macro, as a whole or in its branches (`cfg_if!`).
fn lower_hidden_items(unit: &mut Unit<'_>, site: &Site, mac: &syn::Macro) {
    if let Ok(file) = mac.parse_body::<syn::File>() {
        return adopt(unit, site, &file.items);
    }
    if super::macro_tokens::last_name(mac) == "cfg_if" {
        for token in mac.tokens.clone() {
            if let TokenTree::Group(group) = token
                && let Ok(file) = syn::parse2::<syn::File>(group.stream())
            {
                adopt(unit, site, &file.items);
            }
        }
    }
}

fn adopt(unit: &mut Unit<'_>, site: &Site, items: &[Item]) {
    let mut imports = Vec::new();
    let scope = unit.names.body_scope(site, items.iter(), &mut imports);
    unit.extend_imports(imports);
    let mut site = site.clone();
    site.bodies.push(scope);
    unit.survey(&site, items);
    lower_items(unit, &site, items);
}

/// The name of a function with its span.
pub(super) fn fn_name(site: &Site, sig: &syn::Signature) -> (Name, Name) {
    let short = unraw(&sig.ident);
    (join(&site.prefix, &short), short.into())
}
