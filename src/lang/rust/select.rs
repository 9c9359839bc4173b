//! `select!`: several futures, of which one is chosen in no order that is known here.

use super::body::{Body, Names, Want};
use super::pattern::Bindings;
use crate::ir::{BlockId, Place, Rvalue, Terminator};
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Macro, Pat, Token};

mod keyword {
    syn::custom_keyword!(biased);
    syn::custom_keyword!(complete);
    syn::custom_keyword!(default);
}

/// `pat = future, if cond => body`; `else => body` has no future.
struct SelectArm {
    source: Option<(Pat, Expr, Option<Expr>)>,
    body: Expr,
}

struct Select(Vec<SelectArm>);

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(keyword::biased) && input.peek2(Token![;]) {
            input.parse::<keyword::biased>()?;
            input.parse::<Token![;]>()?;
        }
        let mut arms = Vec::new();
        while !input.is_empty() {
            arms.push(input.parse()?);
        }
        Ok(Self(arms))
    }
}

impl Parse for SelectArm {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let source = if input.peek2(Token![=>]) {
            input.parse::<proc_macro2::TokenTree>()?;
            None
        } else {
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<Token![=]>()?;
            let future = input.parse()?;
            let mut cond = None;
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                cond = Some(input.parse()?);
            }
            Some((pat, future, cond))
        };
        input.parse::<Token![=>]>()?;
        let body = Expr::parse_with_earlier_boundary_rule(input)?;
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        Ok(Self { source, body })
    }
}

impl Body<'_, '_> {
    /// Each arm is an alternative; none when the tokens are no `select!`.
    pub(super) fn select_macro(&mut self, mac: &Macro, want: Want) -> Option<Rvalue> {
        let Select(arms) = mac.parse_body().ok()?;
        let want = self.shared(want);
        let blocks: Vec<_> = arms.iter().map(|_| self.new_block()).collect();
        // An arm whose pattern or condition does not hold is not chosen.
        let never = self.new_block();
        let join = self.new_block();
        self.builder_mut().terminate(Terminator::Multi(blocks.clone()));
        for (arm, block) in arms.iter().zip(blocks) {
            self.switch_to(block);
            self.select_arm(arm, never, want);
            self.goto(join);
        }
        self.switch_to(join);
        Some(Self::joined(want))
    }

    fn select_arm(&mut self, arm: &SelectArm, never: BlockId, want: Want) {
        self.frame().scopes.push(Names::default());
        if let Some((pat, future, cond)) = &arm.source {
            if let Some(cond) = cond {
                let holds = self.new_block();
                self.jump(cond, holds, never);
                self.switch_to(holds);
            }
            let subject = self.awaited(future);
            let mut bindings = Bindings::new();
            self.bindings_of(pat, &mut bindings);
            self.match_pattern(pat, &Place::local(subject), &bindings, never);
            self.reveal(&bindings);
        }
        self.finish_expr(&arm.body, want);
        self.frame().scopes.pop();
    }
}
