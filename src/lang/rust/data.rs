//! What do structs, enums, constants and `table!` declare?

use super::attr::{self, int_arg, string_arg, string_value};
use super::names::{Site, join, unraw};
use super::unit::Unit;
use crate::base::{Name, Span, snake_case};
use crate::ir::{Attr, Const, ConstDecl, Property, TypeDecl, TypeKind};
use proc_macro2::{Delimiter, Span as TokenSpan, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Fields, Token, Type, Variant};

impl Unit<'_> {
    /// A declaration without members.
    pub(super) fn type_decl(
        &mut self,
        site: &Site,
        (kind, name): (TypeKind, Name),
        attrs: &[Attribute],
        span: Span,
    ) -> TypeDecl {
        TypeDecl {
            name,
            kind,
            parents: Vec::new(),
            traits: Vec::new(),
            properties: Vec::new(),
            consts: Vec::new(),
            methods: Vec::new(),
            attrs: self.attrs(site, attrs),
            doc: attr::doc(attrs),
            is_abstract: false,
            exempt: site.exempt || attr::is_test(attrs),
            span,
        }
    }

    /// A struct with its fields.
    pub(super) fn lower_struct(&mut self, site: &Site, item: &syn::ItemStruct) {
        let last = match (&item.semi_token, &item.fields) {
            (Some(semi), _) => semi.spans[0],
            (None, Fields::Named(it)) => it.brace_token.span.close(),
            (None, _) => item.ident.span(),
        };
        let span = self.item_span(&item.vis, item.struct_token.span, last);
        let name = join(&site.prefix, &unraw(&item.ident));
        let mut decl = self.type_decl(site, (TypeKind::Struct, name.clone()), &item.attrs, span);
        let generics = self.bind_generics(site, &item.generics);
        let site = Site { generics, class: Some(name), ..site.clone() };
        decl.properties = self.fields(&site, &item.fields);
        self.file.types.push(decl);
    }

    fn fields(&mut self, site: &Site, fields: &Fields) -> Vec<Property> {
        let numbered = fields.iter().enumerate();
        numbered
            .map(|(idx, field)| {
                let name = field.ident.as_ref().map_or_else(|| idx.to_string(), unraw);
                Property {
                    name: name.into(),
                    ty: Some(self.type_ref(site, &field.ty)),
                    default: None,
                    is_static: false,
                    is_readonly: false,
                    attrs: self.attrs(site, &field.attrs),
                    span: self.spans.node(field),
                }
            })
            .collect()
    }

    /// From the visibility to the last token of an item.
    pub(super) fn item_span(
        &self,
        vis: &syn::Visibility,
        keyword: TokenSpan,
        last: TokenSpan,
    ) -> Span {
        let first = match vis {
            syn::Visibility::Public(it) => it.span,
            syn::Visibility::Restricted(it) => it.pub_token.span,
            syn::Visibility::Inherited => keyword,
        };
        self.spans.between(first, last)
    }

    /// An enum with its variants.
    pub(super) fn lower_enum(&mut self, site: &Site, item: &syn::ItemEnum) {
        let last = item.brace_token.span.close();
        let span = self.item_span(&item.vis, item.enum_token.span, last);
        let name = join(&site.prefix, &unraw(&item.ident));
        let mut decl = self.type_decl(site, (TypeKind::Enum, name), &item.attrs, span);
        for variant in &item.variants {
            decl.consts.push(ConstDecl {
                name: unraw(&variant.ident).into(),
                value: self.variant_value(site, item, variant),
                text: None,
                is_case: true,
                span: self.spans.of(variant.ident.span()),
            });
        }
        self.file.types.push(decl);
    }

    /// What the database holds for a variant, when an attribute or a discriminant says so.
    fn variant_value(&mut self, site: &Site, item: &syn::ItemEnum, variant: &Variant) -> Const {
        if let Some(number) = int_arg(&variant.attrs, "sea_orm", "num_value") {
            return Const::Int(number);
        }
        if let Some(name) = stated(item, variant, Source::Database) {
            return Const::Str(name);
        }
        if let Some((_, value)) = &variant.discriminant {
            return self.constant(site, value);
        }
        stated(item, variant, Source::Other).map_or(Const::Unknown, Const::Str)
    }

    /// A constant or static outside of types.
    pub(super) fn const_decl(&mut self, site: &Site, name: Name, expr: &Expr, at: Span) {
        let decl = self.member_const(site, name, expr, at);
        self.file.consts.push(decl);
    }

    /// A constant of a type.
    pub(super) fn member_const(
        &mut self,
        site: &Site,
        name: Name,
        expr: &Expr,
        span: Span,
    ) -> ConstDecl {
        let value = self.constant(site, expr);
        let text = self.constant_text(site, expr);
        ConstDecl { name, value, text, is_case: false, span }
    }

    /// `diesel::table!`; false when the tokens are none.
    pub(super) fn lower_table(&mut self, site: &Site, mac: &syn::Macro) -> bool {
        let Ok(table) = mac.parse_body::<Table>() else { return false };
        let name = join(&site.prefix, &unraw(&table.name));
        let span = self.spans.between(table.name.span(), mac.delimiter.span().close());
        let mut decl = self.type_decl(site, (TypeKind::Table, name), &table.attrs, span);
        let args = self.folded_text(table.key);
        if !args.is_empty() {
            decl.attrs.push(Attr { name: "primary_key".into(), args });
        }
        for column in &table.columns {
            decl.properties.push(Property {
                name: unraw(&column.name).into(),
                ty: Some(self.type_ref(site, &column.ty)),
                default: None,
                is_static: false,
                is_readonly: false,
                attrs: self.attrs(site, &column.attrs),
                span: self.spans.of(column.name.span()),
            });
        }
        self.file.types.push(decl);
        true
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Source {
    Database,
    Other,
}

/// The string form of a variant by its own attribute, or by the enum's `rename_all`.
fn stated(item: &syn::ItemEnum, variant: &Variant, source: Source) -> Option<Name> {
    let own = |list: &str, key: &str| string_arg(&variant.attrs, list, key);
    let all = |list: &str, key: &str| {
        let case = string_arg(&item.attrs, list, key)?;
        renamed(&unraw(&variant.ident), &case)
    };
    match source {
        Source::Database => own("sqlx", "rename")
            .or_else(|| own("sea_orm", "string_value"))
            .or_else(|| own("postgres", "name"))
            .or_else(|| own("diesel", "rename"))
            .or_else(|| string_value(&variant.attrs, "db_rename"))
            .or_else(|| all("sqlx", "rename_all"))
            .or_else(|| all("sea_orm", "rename_all"))
            .or_else(|| all("postgres", "rename_all"))
            .or_else(|| all("diesel", "rename_all"))
            .or_else(|| {
                let case = string_value(&item.attrs, "DbValueStyle")?;
                renamed(&unraw(&variant.ident), &case)
            }),
        Source::Other => own("strum", "serialize")
            .or_else(|| own("strum", "to_string"))
            .or_else(|| own("serde", "rename"))
            .or_else(|| all("strum", "serialize_all"))
            .or_else(|| all("serde", "rename_all")),
    }
}

/// A variant's name in the case that `rename_all` asks for.
fn renamed(variant: &str, case: &str) -> Option<Name> {
    let snake = snake_case(variant);
    let out = match case {
        "lowercase" | "lower" => variant.to_lowercase(),
        "UPPERCASE" | "upper" => variant.to_uppercase(),
        "snake_case" => snake,
        "SCREAMING_SNAKE_CASE" | "shouty_snake_case" => snake.to_uppercase(),
        "kebab-case" | "kebab_case" => snake.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => snake.to_uppercase().replace('_', "-"),
        "PascalCase" | "verbatim" => variant.to_owned(),
        "camelCase" => {
            let mut chars = variant.chars();
            let first = chars.next()?;
            first.to_lowercase().chain(chars).collect()
        }
        _ => return None,
    };
    Some(out.into())
}

struct Column {
    attrs: Vec<Attribute>,
    name: syn::Ident,
    ty: Type,
}

/// The body of `table!`: `use` lines, then `[schema.]name (key, …) { column -> Type, … }`.
struct Table {
    attrs: Vec<Attribute>,
    name: syn::Ident,
    key: TokenStream,
    columns: Vec<Column>,
}

impl Parse for Table {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        while input.peek(Token![use]) {
            input.parse::<syn::ItemUse>()?;
        }
        let attrs = input.call(Attribute::parse_outer)?;
        let mut name: syn::Ident = input.parse()?;
        if input.peek(Token![.]) {
            input.parse::<Token![.]>()?;
            name = input.parse()?;
        }
        let mut key = TokenStream::new();
        if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            key = content.parse()?;
        }
        let content;
        syn::braced!(content in input);
        let columns = content.parse_terminated(Column::parse, Token![,])?;
        Ok(Self { attrs, name, key, columns: columns.into_iter().collect() })
    }
}

impl Parse for Column {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        input.parse::<Token![->]>()?;
        let ty = input.parse()?;
        Ok(Self { attrs, name, ty })
    }
}

/// The table that a macro at item level declares: `jobs` of `table! { schema.jobs (id) { … } }`.
pub(super) fn table_name(mac: &syn::Macro) -> Option<String> {
    let is_table = mac.path.segments.last().is_some_and(|it| it.ident == "table");
    if !is_table {
        return None;
    }
    let mut last = None;
    for token in mac.tokens.clone() {
        match token {
            TokenTree::Ident(ident) => last = Some(unraw(&ident)),
            TokenTree::Punct(punct) if punct.as_char() == ';' => last = None,
            TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket => return last,
            _ => (),
        }
    }
    None
}
