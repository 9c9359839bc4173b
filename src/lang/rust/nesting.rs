//! Is a token stream flat enough for a parser that recurses?
//!
//! Two measures, both kept without recursion: how many groups are open, and how long the runs of
//! operators are on the way to a token. A run is broken by `,`, `;` and a block; `!!!x`, `a = b = c` and
//! `Box<Box<X>>` are runs. Method chains are parsed in a loop and only bounded for the sake of dropping.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Open groups: `((…))`.
const MAX_GROUPS: usize = 200;
/// Operators on the way to a token.
const MAX_RUN: usize = 4000;
/// Dots in one chain.
const MAX_CHAIN: usize = 20_000;

struct Level {
    tokens: std::iter::Peekable<proc_macro2::token_stream::IntoIter>,
    /// Operators outside of this group.
    outer: usize,
    run: usize,
    chain: usize,
}

impl Level {
    fn new(tokens: TokenStream, outer: usize) -> Self {
        Self { tokens: tokens.into_iter().peekable(), outer, run: 0, chain: 0 }
    }

    fn reset(&mut self) {
        (self.run, self.chain) = (0, 0);
    }

    /// Whether what follows a block still belongs to the expression before it.
    fn goes_on(&mut self) -> bool {
        match self.tokens.peek() {
            Some(TokenTree::Punct(punct)) => punct.as_char() != '#',
            Some(TokenTree::Ident(ident)) => ident == "else" || ident == "as",
            _ => false,
        }
    }

    fn count(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                ',' | ';' => self.reset(),
                '.' | '?' => self.chain += 1,
                _ => self.run += 1,
            },
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                let nests = ["return", "break", "yield", "move", "async", "else", "dyn", "impl"];
                self.run += usize::from(nests.contains(&text.as_str()));
            }
            _ => (),
        }
    }

    fn is_too_deep(&self) -> bool {
        self.outer + self.run > MAX_RUN || self.chain > MAX_CHAIN
    }
}

/// Gives the place that is nested too deeply.
pub(super) fn check(tokens: &TokenStream) -> Result<(), Span> {
    let mut levels = vec![Level::new(tokens.clone(), 0)];
    while let Some(level) = levels.last_mut() {
        let Some(token) = level.tokens.next() else {
            levels.pop();
            continue;
        };
        level.count(&token);
        let too_deep = level.is_too_deep();
        if let TokenTree::Group(group) = &token {
            let outer = level.outer + level.run + 1;
            if group.delimiter() == Delimiter::Brace && !level.goes_on() {
                level.reset();
            }
            levels.push(Level::new(group.stream(), outer));
        }
        if too_deep || levels.len() > MAX_GROUPS {
            return Err(token.span());
        }
    }
    Ok(())
}
