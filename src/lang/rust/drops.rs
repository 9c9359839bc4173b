//! What runs when a scope is left: `Drop` of guards, `defer!`, `scopeguard::guard`.

use super::body::{Body, Names, Want};
use super::names::unraw;
use crate::ir::build::{Exit, Lowering, leave};
use crate::ir::{CfgBuilder, InstrKind, LocalId, Operand, Place, Rvalue};
use std::rc::Rc;
use syn::{Expr, Stmt};

/// Copies of such bodies in one function; more are left out, with a problem.
pub(super) const MAX_COPIES: u32 = 20_000;

/// A body that runs on every way out of a scope.
#[derive(Clone, Debug)]
pub(super) enum Final {
    /// A variable is dropped.
    Drop(LocalId, crate::base::Span),
    /// Statements run, with the variables that were in scope where they were written.
    Stmts(Rc<[Stmt]>, Rc<[Names]>),
}

impl Lowering for Body<'_, '_> {
    fn builder(&mut self) -> &mut CfgBuilder {
        self.builder_mut()
    }

    fn lower_finally(&mut self, token: u32) {
        if !self.may_copy() {
            return;
        }
        let Some(body) = self.frame().finals.get(token as usize).cloned() else { return };
        match body {
            Final::Drop(local, span) => {
                if !self.frame().moved.contains(&local) {
                    self.builder_mut().push(InstrKind::Drop(local), span);
                }
            }
            Final::Stmts(stmts, names) => {
                let outer = std::mem::replace(&mut self.frame().scopes, names.to_vec());
                self.stmts(&stmts, Want::Nothing);
                self.frame().scopes = outer;
            }
        }
    }
}

impl Body<'_, '_> {
    /// Whether another copy may be made; running out is recorded once.
    fn may_copy(&mut self) -> bool {
        let frame = self.frame();
        let left = frame.copies_left;
        frame.copies_left = left.saturating_sub(1);
        if left == 1 {
            let span = self.unit.file.functions[self.frames[0].id].name_span;
            self.unit.limit(span, "the function has too many ways out of its scopes");
        }
        left > 1
    }

    /// Leaves the scopes by `exit`.
    pub(super) fn leave(&mut self, exit: Exit) {
        leave(self, exit);
    }

    /// From here to the end of the block, `body` runs on every way out.
    pub(super) fn push_final(&mut self, body: Final) {
        let frame = self.frame();
        let token = u32::try_from(frame.finals.len()).unwrap_or(u32::MAX);
        frame.finals.push(body);
        frame.builder.push_finally(token);
        if let Some(scope) = frame.scopes.last_mut() {
            scope.finals.push(token);
        }
    }

    /// `defer! { … }`.
    pub(super) fn push_deferred(&mut self, stmts: Vec<Stmt>) {
        let names = self.frame().scopes.clone();
        self.push_final(Final::Stmts(stmts.into(), names.into()));
    }

    /// The block ends: its bodies run, the last one first.
    pub(super) fn run_finals(&mut self, tokens: &[u32]) {
        for &token in tokens.iter().rev() {
            self.builder_mut().pop_scope();
            self.builder_mut().enter_finally();
            self.lower_finally(token);
            self.builder_mut().leave_finally();
        }
    }

    /// Whether the variable is dropped with an effect: its type says so, or what built it.
    pub(super) fn is_guard(&mut self, ty: Option<&str>, init: &Expr) -> bool {
        if let Some(ty) = ty {
            return self.unit.is_guard(ty);
        }
        match strip(init) {
            Expr::Struct(it) => {
                let name = self.unit.resolve_path(&self.site, &it.path);
                self.unit.is_guard(&name)
            }
            Expr::Call(it) => match &*it.func {
                Expr::Path(path) => self.is_guard_path(&path.path),
                _ => false,
            },
            Expr::MethodCall(it) => is_guard_name(&unraw(&it.method)),
            _ => false,
        }
    }

    fn is_guard_path(&mut self, path: &syn::Path) -> bool {
        let full = self.unit.resolve_path(&self.site, path);
        let (prefix, last) = super::path::split(&full);
        self.unit.is_guard(&full)
            || prefix.is_some_and(|it| self.unit.is_guard(it))
            || is_guard_name(last)
    }

    /// Takes note that a guard was given away.
    pub(super) fn mark_moved(&mut self, local: LocalId) {
        let frame = self.frame();
        let is_guard =
            frame.finals.iter().any(|it| matches!(it, Final::Drop(it, _) if *it == local));
        if is_guard {
            frame.moved.insert(local);
        }
    }

    /// `scopeguard::guard(value, |value| …)`, bound to a variable: the closure runs at scope end.
    pub(super) fn push_scope_guard(&mut self, guard: LocalId, init: &Expr) -> bool {
        let Expr::Call(call) = strip(init) else { return false };
        let Expr::Path(path) = &*call.func else { return false };
        let full = self.unit.resolve_path(&self.site, &path.path);
        let Some(Expr::Closure(closure)) = call.args.iter().nth(1) else { return false };
        if !matches!(&*full, "scopeguard::guard" | "scopeguard::guard_on_unwind") {
            return false;
        }
        if let Some(value) = call.args.first() {
            self.assign_expr(guard, value);
        }
        self.frame().scopes.push(Names::default());
        if let Some(pat) = closure.inputs.first() {
            self.bind_irrefutable(pat, &Place::local(guard));
        }
        let names = self.frame().scopes.clone();
        self.frame().scopes.pop();
        let stmts = vec![Stmt::Expr((*closure.body).clone(), Some(syn::token::Semi::default()))];
        self.push_final(Final::Stmts(stmts.into(), names.into()));
        true
    }

    /// `drop(x)`.
    pub(super) fn lower_drop(&mut self, local: LocalId, span: crate::base::Span) -> Rvalue {
        self.builder_mut().push(InstrKind::Drop(local), span);
        self.mark_moved(local);
        Rvalue::Use(Operand::Const(crate::ir::Const::Null))
    }
}

/// `acquire_guard`, `guard`.
fn is_guard_name(name: &str) -> bool {
    name == "guard" || name.ends_with("_guard") || name.ends_with("Guard")
}

/// The expression under `?`, `.await`, `&` and the calls that unwrap a result.
fn strip(expr: &Expr) -> &Expr {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Try(it) => &it.expr,
            Expr::Await(it) => &it.base,
            Expr::Paren(it) => &it.expr,
            Expr::Reference(it) => &it.expr,
            Expr::MethodCall(it) if it.method == "unwrap" || it.method == "expect" => &it.receiver,
            _ => return expr,
        }
    }
}
