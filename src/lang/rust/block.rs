//! Blocks and statements: scopes, `let`, `let … else`, and what stands for its effect only.

use super::body::{Body, Names, Want};
use super::decl;
use super::drops::Final;
use super::names::unraw;
use super::pattern::Bindings;
use crate::base::Span;
use crate::ir::{Const, LocalId, Operand, Place, Rvalue, TypeRef};
use syn::{Expr, Item, Local, Pat, Stmt};

/// `()`.
pub(super) fn unit_value() -> Rvalue {
    Rvalue::Use(Operand::Const(Const::Null))
}

impl Body<'_, '_> {
    /// The body of a function: its tail is returned, unless the function returns `()`.
    pub(super) fn function_block(&mut self, stmts: &[Stmt], unit_value: bool) {
        let (init, tail) = split_tail(stmts, !unit_value);
        let n_bodies = self.enter_block(stmts);
        self.each_stmt(init);
        if let Some(tail) = tail {
            self.tail(&tail, Want::Return);
        }
        self.leave_block(n_bodies);
    }

    /// A block with its own scope; its value is where it is wanted.
    pub(super) fn stmts(&mut self, stmts: &[Stmt], want: Want) -> Rvalue {
        let (init, tail) = split_tail(stmts, true);
        let n_bodies = self.enter_block(stmts);
        self.each_stmt(init);
        let out = match tail {
            Some(tail) => self.tail(&tail, want),
            None => self.deliver(unit_value(), want, self.unit.spans.nowhere()),
        };
        self.leave_block(n_bodies);
        out
    }

    /// The value has to be there before the block's variables are dropped.
    fn tail(&mut self, tail: &Tail<'_>, want: Want) -> Rvalue {
        let (value, span) = match tail {
            Tail::Expr(expr) => (self.finish_expr(expr, want), self.unit.spans.expr(expr)),
            Tail::Macro(mac) => {
                let span = self.unit.spans.of(mac.delimiter.span().join());
                let value = self.lower_macro(mac, want);
                (self.deliver(value, want, span), span)
            }
        };
        let drops = self.frame().scopes.last().is_some_and(|it| !it.finals.is_empty());
        if drops && want == Want::Value {
            Rvalue::Use(self.materialize(value, span))
        } else {
            value
        }
    }

    /// The value of an expression, put where it is wanted. An async block that is returned is the
    /// function's own body.
    pub(super) fn finish_expr(&mut self, expr: &Expr, want: Want) -> Rvalue {
        if want == Want::Return && self.inline_tail(expr) {
            return unit_value();
        }
        let value = self.value(expr, want);
        let span = self.unit.spans.expr(expr);
        self.deliver(value, want, span)
    }

    /// Opens a scope; gives what `leave_block` needs.
    fn enter_block(&mut self, stmts: &[Stmt]) -> usize {
        let n_bodies = self.site.bodies.len();
        let items = || {
            stmts.iter().filter_map(|it| match it {
                Stmt::Item(item) => Some(item),
                _ => None,
            })
        };
        if items().next().is_some() {
            let mut imports = Vec::new();
            let scope = self.unit.names.body_scope(&self.site, items(), &mut imports);
            self.unit.extend_imports(imports);
            self.site.bodies.push(scope);
        }
        self.frame().scopes.push(Names::default());
        n_bodies
    }

    fn leave_block(&mut self, n_bodies: usize) {
        if let Some(scope) = self.frame().scopes.pop() {
            self.run_finals(&scope.finals);
        }
        self.site.bodies.truncate(n_bodies);
    }

    fn each_stmt(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Local(it) => self.local(it),
                Stmt::Item(it) => self.item(it),
                Stmt::Expr(it, _) => self.discard(it),
                Stmt::Macro(it) => {
                    let span = self.unit.spans.of(it.mac.delimiter.span().join());
                    let value = self.lower_macro(&it.mac, Want::Nothing);
                    self.deliver(value, Want::Nothing, span);
                }
            }
        }
    }

    fn item(&mut self, item: &Item) {
        if let Item::Use(_) = item {
            return;
        }
        self.unit.survey(&self.site, std::slice::from_ref(item));
        decl::lower_item(self.unit, &self.site, item);
    }

    /// An expression whose value is thrown away.
    pub(super) fn discard(&mut self, expr: &Expr) {
        self.finish_expr(expr, Want::Nothing);
    }

    fn local(&mut self, stmt: &Local) {
        let (pat, ty) = match &stmt.pat {
            Pat::Type(it) => (&*it.pat, Some(self.unit.type_ref(&self.site, &it.ty))),
            pat => (pat, None),
        };
        let Some(init) = &stmt.init else {
            self.declare_all(pat, ty.as_ref());
            return;
        };
        match (pat, &init.diverge) {
            (Pat::Wild(_), None) => self.let_underscore(&init.expr),
            (Pat::Ident(it), None) if it.subpat.is_none() => {
                self.let_name(&unraw(&it.ident), ty, &init.expr);
            }
            (pat, None) => {
                let value = self.subject(&init.expr);
                self.bind_irrefutable(pat, &Place::local(value));
            }
            (pat, Some((_, otherwise))) => self.let_else(pat, &init.expr, otherwise),
        }
    }

    /// `let _ = …`: a result that is thrown away on purpose, told by the name of its variable.
    fn let_underscore(&mut self, init: &Expr) {
        self.discard(init);
        if let Some(dest) = self.builder_mut().discarded_result() {
            self.builder_mut().local_mut(dest).name = "_".into();
        }
    }

    /// `let x;`
    fn declare_all(&mut self, pat: &Pat, ty: Option<&TypeRef>) {
        let mut bindings = Bindings::new();
        self.bindings_of(pat, &mut bindings);
        for &local in bindings.values() {
            self.builder_mut().local_mut(local).ty = ty.cloned();
        }
        self.reveal(&bindings);
    }

    /// `let x = …`: the new name is not visible in its own value.
    fn let_name(&mut self, name: &str, ty: Option<TypeRef>, init: &Expr) {
        let is_guard = self.is_guard(ty.as_ref().map(|it| &*it.name), init);
        let ty = ty.or_else(|| self.evident_type(init));
        let local = self.builder_mut().local(name, ty);
        let runs_closure = self.push_scope_guard(local, init);
        if !runs_closure {
            self.assign_expr(local, init);
        }
        if let Some(scope) = self.frame().scopes.last_mut() {
            scope.locals.insert(name.into(), local);
        }
        if is_guard && !runs_closure {
            let span = self.unit.spans.expr(init);
            self.push_final(Final::Drop(local, Span { start: span.start, ..span }));
        }
    }

    /// The type of a struct literal.
    fn evident_type(&mut self, init: &Expr) -> Option<TypeRef> {
        let Expr::Struct(it) = init else { return None };
        Some(TypeRef::named(self.unit.resolve_path(&self.site, &it.path)))
    }

    fn let_else(&mut self, pat: &Pat, init: &Expr, otherwise: &Expr) {
        let subject = self.subject(init);
        let mut bindings = Bindings::new();
        self.bindings_of(pat, &mut bindings);
        let (hit, miss) = (self.new_block(), self.new_block());
        self.match_pattern(pat, &Place::local(subject), &bindings, miss);
        self.goto(hit);
        self.switch_to(miss);
        let moved = self.frame().moved.clone();
        self.discard(otherwise);
        self.frame().moved = moved;
        self.switch_to(hit);
        self.reveal(&bindings);
    }

    /// The value of `init` in a variable, for patterns to take apart.
    pub(super) fn subject(&mut self, init: &Expr) -> LocalId {
        let span = self.unit.spans.expr(init);
        if let Expr::Tuple(it) = init {
            return self.tuple(it, span);
        }
        let value = self.value(init, Want::Value);
        let value = self.materialize(value, span);
        self.in_local(value, span)
    }

    /// A variable that holds the operand.
    pub(super) fn in_local(&mut self, value: Operand, span: Span) -> LocalId {
        if let Operand::Local(local) = value {
            return local;
        }
        let temp = self.temp();
        self.store(temp, Rvalue::Use(value), span);
        temp
    }

    /// `dest = expr`.
    pub(super) fn assign_expr(&mut self, dest: LocalId, expr: &Expr) {
        self.finish_expr(expr, Want::Into(dest));
    }
}

/// What gives a block its value.
enum Tail<'a> {
    Expr(&'a Expr),
    Macro(&'a syn::Macro),
}

/// The statements and what stands at the end of a block without semicolon, when that is `wanted`.
fn split_tail(stmts: &[Stmt], wanted: bool) -> (&[Stmt], Option<Tail<'_>>) {
    match stmts.split_last() {
        Some((Stmt::Expr(expr, None), init)) if wanted => (init, Some(Tail::Expr(expr))),
        Some((Stmt::Macro(it), init)) if wanted && it.semi_token.is_none() => {
            (init, Some(Tail::Macro(&it.mac)))
        }
        _ => (stmts, None),
    }
}
