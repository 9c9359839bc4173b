//! Where in the source does a piece of syntax stand?
//!
//! `Spanned::span` prints the whole tree to tokens first, which makes nested expressions quadratic;
//! here the first and the last token are looked up instead.

use crate::base::{Source, SourceId, Span};
use proc_macro2::{LineColumn, Span as TokenSpan};
use syn::spanned::Spanned;
use syn::{Expr, RangeLimits, UnOp};

/// How token positions of one parse become byte ranges of the source.
///
/// Positions are asked for as line and column: byte ranges cost the tokenizer a search that grows with
/// every question.
#[derive(Clone, Debug)]
pub(super) struct Spans<'s> {
    source: SourceId,
    /// Bytes in front of the parsed text.
    base: usize,
    text: &'s str,
    /// Where the lines of the parsed text begin.
    lines: Vec<usize>,
    is_ascii: bool,
}

impl<'s> Spans<'s> {
    /// For the tokens of `source` behind its first `base` bytes.
    pub(super) fn new(source: &'s Source, base: usize) -> Self {
        let text = &source.text[base..];
        let ends = text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { source: source.id, base, text, lines, is_ascii: text.is_ascii() }
    }

    fn offset(&self, at: LineColumn) -> usize {
        let line = at.line.checked_sub(1).and_then(|it| self.lines.get(it)).copied();
        let start = line.unwrap_or(0);
        let column = if self.is_ascii {
            at.column
        } else {
            self.text[start..].chars().take(at.column).map(char::len_utf8).sum()
        };
        self.base + (start + column).min(self.text.len())
    }

    /// The range of one token.
    pub(super) fn of(&self, span: TokenSpan) -> Span {
        Span::new(self.source, self.offset(span.start()), self.offset(span.end()))
    }

    /// From the first to the last token.
    pub(super) fn between(&self, first: TokenSpan, last: TokenSpan) -> Span {
        Span::new(self.source, self.offset(first.start()), self.offset(last.end()))
    }

    /// The range of a small piece of syntax.
    pub(super) fn node(&self, node: &impl Spanned) -> Span {
        self.of(node.span())
    }

    /// The range of an expression.
    pub(super) fn expr(&self, expr: &Expr) -> Span {
        self.between(first_token(expr), last_token(expr))
    }

    /// For what is not written anywhere.
    pub(super) fn nowhere(&self) -> Span {
        Span::new(self.source, self.base, self.base)
    }

    /// Where an error stands; errors at the end of the text have no token.
    pub(super) fn error(&self, span: TokenSpan) -> Span {
        let end = self.base + self.text.len();
        if span.byte_range().end == 0 { Span::new(self.source, end, end) } else { self.of(span) }
    }
}

#[expect(clippy::too_many_lines, reason = "one arm per kind of expression")]
fn first_token(expr: &Expr) -> TokenSpan {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Assign(it) => &it.left,
            Expr::Await(it) => &it.base,
            Expr::Binary(it) => &it.left,
            Expr::Call(it) => &it.func,
            Expr::Cast(it) => &it.expr,
            Expr::Field(it) => &it.base,
            Expr::Index(it) => &it.expr,
            Expr::MethodCall(it) => &it.receiver,
            Expr::Try(it) => &it.expr,
            Expr::Group(it) => &it.expr,
            Expr::Range(it) => match (&it.start, &it.limits) {
                (Some(start), _) => start,
                (None, RangeLimits::HalfOpen(token)) => return token.spans[0],
                (None, RangeLimits::Closed(token)) => return token.spans[0],
            },
            Expr::Array(it) => return it.bracket_token.span.open(),
            Expr::Async(it) => return it.async_token.span,
            Expr::Block(it) => {
                let label = it.label.as_ref().map(|it| it.name.span());
                return label.unwrap_or_else(|| it.block.brace_token.span.open());
            }
            Expr::Break(it) => return it.break_token.span,
            Expr::Closure(it) => {
                let keyword = it.asyncness.map(|it| it.span).or(it.capture.map(|it| it.span));
                return keyword.unwrap_or(it.inputs_begin.spans[0]);
            }
            Expr::Const(it) => return it.const_token.span,
            Expr::Continue(it) => return it.continue_token.span,
            Expr::ForLoop(it) => return it.for_token.span,
            Expr::If(it) => return it.if_token.span,
            Expr::Let(it) => return it.let_token.span,
            Expr::Lit(it) => return it.lit.span(),
            Expr::Loop(it) => return it.loop_token.span,
            Expr::Macro(it) => return path_start(&it.mac.path),
            Expr::Match(it) => return it.match_token.span,
            Expr::Paren(it) => return it.paren_token.span.open(),
            Expr::Path(it) => {
                let qself = it.qself.as_ref().map(|it| it.lt_token.spans[0]);
                return qself.unwrap_or_else(|| path_start(&it.path));
            }
            Expr::RawAddr(it) => return it.and_token.spans[0],
            Expr::Reference(it) => return it.and_token.spans[0],
            Expr::Repeat(it) => return it.bracket_token.span.open(),
            Expr::Return(it) => return it.return_token.span,
            Expr::Struct(it) => return path_start(&it.path),
            Expr::TryBlock(it) => return it.try_token.span,
            Expr::Tuple(it) => return it.paren_token.span.open(),
            Expr::Unary(it) => match &it.op {
                UnOp::Deref(token) => return token.spans[0],
                UnOp::Not(token) => return token.spans[0],
                UnOp::Neg(token) => return token.spans[0],
                _ => return it.op.span(),
            },
            Expr::Unsafe(it) => return it.unsafe_token.span,
            Expr::While(it) => return it.while_token.span,
            Expr::Yield(it) => return it.yield_token.span,
            _ => return expr.span(),
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one arm per kind of expression")]
fn last_token(expr: &Expr) -> TokenSpan {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Assign(it) => &it.right,
            Expr::Binary(it) => &it.right,
            Expr::Closure(it) => &it.body,
            Expr::Let(it) => &it.expr,
            Expr::RawAddr(it) => &it.expr,
            Expr::Reference(it) => &it.expr,
            Expr::Unary(it) => &it.expr,
            Expr::Group(it) => &it.expr,
            Expr::Break(it) => match (&it.expr, &it.label) {
                (Some(value), _) => value,
                (None, Some(label)) => return label.span(),
                (None, None) => return it.break_token.span,
            },
            Expr::Return(it) => match &it.expr {
                Some(value) => value,
                None => return it.return_token.span,
            },
            Expr::If(it) => match &it.else_branch {
                Some((_, other)) => other,
                None => return it.then_branch.brace_token.span.close(),
            },
            Expr::Yield(it) => match &it.expr {
                Some(value) => value,
                None => return it.yield_token.span,
            },
            Expr::Range(it) => match (&it.end, &it.limits) {
                (Some(end), _) => end,
                (None, RangeLimits::HalfOpen(token)) => return token.spans[1],
                (None, RangeLimits::Closed(token)) => return token.spans[2],
            },
            Expr::Array(it) => return it.bracket_token.span.close(),
            Expr::Async(it) => return it.block.brace_token.span.close(),
            Expr::Await(it) => return it.await_token.span,
            Expr::Block(it) => return it.block.brace_token.span.close(),
            Expr::Call(it) => return it.paren_token.span.close(),
            Expr::Cast(it) => return it.ty.span(),
            Expr::Const(it) => return it.block.brace_token.span.close(),
            Expr::Continue(it) => {
                return it.label.as_ref().map_or(it.continue_token.span, syn::Lifetime::span);
            }
            Expr::Field(it) => return it.member.span(),
            Expr::ForLoop(it) => return it.body.brace_token.span.close(),
            Expr::Index(it) => return it.bracket_token.span.close(),
            Expr::Lit(it) => return it.lit.span(),
            Expr::Loop(it) => return it.body.brace_token.span.close(),
            Expr::Macro(it) => return it.mac.delimiter.span().close(),
            Expr::Match(it) => return it.brace_token.span.close(),
            Expr::MethodCall(it) => return it.paren_token.span.close(),
            Expr::Paren(it) => return it.paren_token.span.close(),
            Expr::Repeat(it) => return it.bracket_token.span.close(),
            Expr::Struct(it) => return it.brace_token.span.close(),
            Expr::Try(it) => return it.question_token.spans[0],
            Expr::TryBlock(it) => return it.block.brace_token.span.close(),
            Expr::Tuple(it) => return it.paren_token.span.close(),
            Expr::Unsafe(it) => return it.block.brace_token.span.close(),
            Expr::While(it) => return it.body.brace_token.span.close(),
            _ => return expr.span(),
        }
    }
}

fn path_start(path: &syn::Path) -> TokenSpan {
    let colon = path.leading_colon.map(|it| it.spans[0]);
    let first = || path.segments.first().map(|it| it.ident.span());
    colon.or_else(first).unwrap_or_else(TokenSpan::call_site)
}
