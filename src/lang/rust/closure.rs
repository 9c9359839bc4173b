//! Closures and async blocks: functions of their own, or the body of the function around them.

use super::body::{Body, Frame, Inlined, Target, Want, blank};
use super::names::unraw;
use crate::base::Span;
use crate::ir::build::Exit;
use crate::ir::{FunctionKind, LocalId, Operand, Rvalue};
use syn::{Expr, ExprAsync, ExprClosure, Pat, ReturnType, Stmt};

impl Body<'_, '_> {
    /// `|x| …` as a value.
    pub(super) fn closure(&mut self, expr: &ExprClosure) -> Rvalue {
        let close = self.unit.spans.expr(&expr.body);
        let first = expr.asyncness.map(|it| it.span).or(expr.capture.map(|it| it.span));
        let first = self.unit.spans.of(first.unwrap_or(expr.inputs_begin.spans[0]));
        let ret = self.unit.return_type(&self.site, &expr.output);
        self.enter_closure(first.cover(close), first, expr.capture.is_none());
        let id = self.frame().id;
        self.unit.file.functions[id].ret = ret;
        self.unit.file.functions[id].is_async = expr.asyncness.is_some();
        let mut params = Vec::new();
        let mut patterns = Vec::new();
        for pat in &expr.inputs {
            let ty = match pat {
                Pat::Type(it) => Some(self.unit.type_ref(&self.site, &it.ty)),
                _ => None,
            };
            let param = self.param(pat, ty);
            patterns.push((pat, param.local));
            params.push(param);
        }
        self.bind_params(&patterns);
        let unit_value = is_unit(&expr.output);
        match &*expr.body {
            Expr::Block(it) if it.label.is_none() => {
                self.function_block(&it.block.stmts, unit_value);
            }
            body if unit_value => self.discard(body),
            body => {
                self.finish_expr(body, Want::Return);
            }
        }
        self.leave_closure(params)
    }

    /// `async { … }` as a value.
    pub(super) fn async_block(&mut self, expr: &ExprAsync) -> Rvalue {
        let first = self.unit.spans.of(expr.async_token.span);
        let close = self.unit.spans.of(expr.block.brace_token.span.close());
        self.enter_closure(first.cover(close), first, expr.capture.is_none());
        self.frame().is_async = true;
        self.function_block(&expr.block.stmts, false);
        self.leave_closure(Vec::new())
    }

    fn enter_closure(&mut self, span: Span, name_span: Span, by_ref: bool) {
        let outer = self.frame();
        let short = format!("{{closure#{}}}", outer.n_closures);
        outer.n_closures += 1;
        let parent = outer.id;
        let name = super::names::join(&outer.name, &short);
        let mut function = blank(&self.site, name.clone(), short.into(), FunctionKind::Closure);
        function.parent = Some(parent);
        function.span = span;
        function.name_span = name_span;
        let id = self.unit.reserve(function);
        let at = span.end.saturating_sub(1);
        let mut frame = Frame::new(id, name, Span { start: at, end: at, ..span });
        frame.by_ref = by_ref;
        self.frames.push(frame);
    }

    fn leave_closure(&mut self, params: Vec<crate::ir::Param>) -> Rvalue {
        match self.finish(params) {
            Some(id) => Rvalue::Closure(id),
            None => Rvalue::Unknown(Vec::new()),
        }
    }

    /// An async block at the end of a function or closure is the function's own body.
    /// False when the expression is none.
    pub(super) fn inline_tail(&mut self, expr: &Expr) -> bool {
        if self.frame().inlined.iter().any(|it| !it.is_try) {
            return false;
        }
        let Some(block) = self.future_of(expr) else { return false };
        self.frame().is_async = true;
        self.function_block(&block.block.stmts, false);
        let span = self.unit.spans.of(block.block.brace_token.span.close());
        let span = Span { end: span.start, ..span };
        self.leave(Exit::Return { value: None, span });
        true
    }

    /// The async block under `Box::pin(…)`, `.boxed()` and the like.
    fn future_of<'e>(&mut self, expr: &'e Expr) -> Option<&'e ExprAsync> {
        let mut expr = expr;
        loop {
            expr = match expr {
                Expr::Async(it) => return Some(it),
                Expr::Paren(it) => &it.expr,
                Expr::Group(it) => &it.expr,
                Expr::Cast(it) => &it.expr,
                Expr::MethodCall(it) if it.args.is_empty() && is_boxing(&it.method) => &it.receiver,
                Expr::Call(it) if it.args.len() == 1 && self.is_transparent_call(it) => {
                    it.args.first()?
                }
                _ => return None,
            }
        }
    }

    /// A future that is awaited at once, in a variable.
    pub(super) fn awaited(&mut self, expr: &Expr) -> LocalId {
        let Expr::Async(it) = expr else { return self.subject(expr) };
        let dest = self.temp();
        let value = self.inlined_block(&it.block.stmts, false);
        let span = self.unit.spans.expr(expr);
        self.store(dest, value, span);
        dest
    }

    /// A block that only `return` and `?` (or only `?`, for `try`) tell from a plain one.
    pub(super) fn inlined_block(&mut self, stmts: &[Stmt], is_try: bool) -> Rvalue {
        let dest = self.temp();
        let done = self.new_block();
        let label = self.fresh_label();
        self.frame().inlined.push(Inlined { label: label.clone(), dest, is_try });
        self.push_target(Target { written: None, label, dest: None, is_loop: false }, (done, done));
        self.stmts(stmts, Want::Into(dest));
        self.pop_target();
        self.frame().inlined.pop();
        self.goto(done);
        self.switch_to(done);
        Rvalue::Use(Operand::Local(dest))
    }
}

fn is_boxing(method: &syn::Ident) -> bool {
    let name = unraw(method);
    matches!(name.as_str(), "boxed" | "boxed_local" | "scope_boxed" | "scope_boxed_local")
}

/// `-> ()`.
fn is_unit(output: &ReturnType) -> bool {
    match output {
        ReturnType::Type(_, ty) => {
            matches!(&**ty, syn::Type::Tuple(it) if it.elems.is_empty())
        }
        ReturnType::Default => false,
    }
}
