//! Which code stands in the value of a constant or static?
//!
//! `LazyLock::new(|| …)`, tables of closures and the like: the value is the body of a function that
//! nobody is seen to call. A value without a closure, async block or statements holds no such code.

use super::body::{Body, Frame, Want, blank};
use super::names::{Site, join, unraw};
use super::unit::Unit;
use crate::ir::FunctionKind;
use syn::parse::{Parse, ParseStream};
use syn::visit::Visit;
use syn::{Attribute, Expr, Ident, Token, Type, Visibility};

impl Unit<'_> {
    /// Lowers the value of a constant when it holds code.
    pub(super) fn initializer(&mut self, site: &Site, ident: &Ident, value: &Expr) {
        let mut seeker = Seeker::default();
        seeker.visit_expr(value);
        if !seeker.found {
            return;
        }
        let short = unraw(ident);
        let name = join(&site.prefix, &format!("{{value#{short}}}"));
        let mut function = blank(site, name.clone(), short.into(), FunctionKind::Free);
        function.span = self.spans.expr(value);
        function.name_span = self.spans.of(ident.span());
        let end = function.span.end.saturating_sub(1);
        let end = crate::base::Span { start: end, end, ..function.span };
        let id = self.reserve(function);
        let site = Site { prefix: name.clone(), ..site.clone() };
        let mut body = Body::new(self, site, Frame::new(id, name, end));
        body.finish_expr(value, Want::Return);
        body.finish(Vec::new());
    }

    /// `lazy_static!`; false when the tokens are none.
    pub(super) fn lower_lazy(&mut self, site: &Site, mac: &syn::Macro) -> bool {
        let Ok(statics) = mac.parse_body::<LazyStatics>() else { return false };
        for it in &statics.0 {
            self.initializer(site, &it.name, &it.value);
        }
        true
    }
}

/// Finds code that runs at another time than its surroundings, or in steps.
#[derive(Default)]
struct Seeker {
    found: bool,
}

impl Visit<'_> for Seeker {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Block(_) => self.found = true,
            expr if !self.found => syn::visit::visit_expr(self, expr),
            _ => (),
        }
    }

    fn visit_item(&mut self, _: &syn::Item) {}
}

/// `static ref NAME: Type = value;`, any number of times.
struct LazyStatics(Vec<LazyStatic>);

struct LazyStatic {
    name: Ident,
    value: Expr,
}

impl Parse for LazyStatics {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut out = Vec::new();
        while !input.is_empty() {
            out.push(input.parse()?);
        }
        Ok(Self(out))
    }
}

impl Parse for LazyStatic {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<Token![static]>()?;
        input.parse::<Token![ref]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        input.parse::<Type>()?;
        input.parse::<Token![=]>()?;
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { name, value })
    }
}
