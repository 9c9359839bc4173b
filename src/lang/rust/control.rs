//! Branches and loops: `if`, `match`, `loop`, `while`, `for`, `?`, `break`, `return`.

use super::block::unit_value;
use super::body::{Body, Names, Target, Want};
use super::names::unraw;
use super::pattern::Bindings;
use crate::base::{Name, Span};
use crate::ir::build::Exit;
use crate::ir::{BlockId, LocalId, Operand, Place, Proj, Rvalue, TypeRef};
use std::collections::BTreeSet;
use syn::{BinOp, Block, Expr, ExprIf, ExprMatch, Label, Pat, UnOp};

impl Body<'_, '_> {
    /// What arms deliver to: a variable when the value is read.
    pub(super) fn shared(&mut self, want: Want) -> Want {
        if want == Want::Value { Want::Into(self.temp()) } else { want }
    }

    /// What several places deliver to that go on together.
    fn gathered(&mut self, want: Want) -> (Want, Option<LocalId>) {
        if want == Want::Nothing {
            return (want, None);
        }
        let dest = match want {
            Want::Into(dest) => dest,
            _ => self.temp(),
        };
        (Want::Into(dest), Some(dest))
    }

    /// How the value of a branching expression is read.
    pub(super) fn joined(want: Want) -> Rvalue {
        match want {
            Want::Into(dest) => Rvalue::Use(Operand::Local(dest)),
            _ => unit_value(),
        }
    }

    /// `if … else if … else …`, in a loop over the chain.
    pub(super) fn if_expr(&mut self, expr: &ExprIf, want: Want) -> Rvalue {
        let want = self.shared(want);
        let join = self.new_block();
        let before = self.frame().moved.clone();
        let mut after = before.clone();
        let mut expr = expr;
        loop {
            let (then, otherwise) = (self.new_block(), self.new_block());
            self.frame().scopes.push(Names::default());
            self.jump(&expr.cond, then, otherwise);
            self.switch_to(then);
            self.stmts(&expr.then_branch.stmts, want);
            self.frame().scopes.pop();
            self.end_arm(join, &before, &mut after);
            self.switch_to(otherwise);
            match expr.else_branch.as_ref().map(|it| &*it.1) {
                Some(Expr::If(next)) => expr = next,
                Some(other) => {
                    self.finish_expr(other, want);
                    break;
                }
                None => {
                    let span = self.unit.spans.of(expr.if_token.span);
                    self.deliver(unit_value(), want, span);
                    break;
                }
            }
        }
        self.end_arm(join, &before, &mut after);
        self.frame().moved = after;
        self.switch_to(join);
        Self::joined(want)
    }

    /// Goes on behind the branches; what an arm that gets there gave away is gone.
    fn end_arm(
        &mut self,
        join: BlockId,
        before: &BTreeSet<LocalId>,
        after: &mut BTreeSet<LocalId>,
    ) {
        let frame = self.frame();
        if frame.moved != *before {
            let reachable = frame.builder.is_reachable();
            let moved = std::mem::replace(&mut frame.moved, before.clone());
            if reachable {
                after.extend(moved);
            }
        }
        self.goto(join);
    }

    /// `match`: arm by arm, each with its tests.
    pub(super) fn match_expr(&mut self, expr: &ExprMatch, want: Want) -> Rvalue {
        let want = self.shared(want);
        let subject = self.subject(&expr.expr);
        let join = self.new_block();
        let before = self.frame().moved.clone();
        let mut after = before.clone();
        for arm in &expr.arms {
            let next = self.new_block();
            let (pat, guard) = split_guard(&arm.pat);
            self.frame().scopes.push(Names::default());
            let mut bindings = Bindings::new();
            self.bindings_of(pat, &mut bindings);
            self.match_pattern(pat, &Place::local(subject), &bindings, next);
            self.reveal(&bindings);
            if let Some(guard) = guard {
                let body = self.new_block();
                self.jump(guard, body, next);
                self.switch_to(body);
            }
            let want = if self.is_leaving(&arm.body) { Want::Nothing } else { want };
            self.finish_expr(&arm.body, want);
            self.frame().scopes.pop();
            self.end_arm(join, &before, &mut after);
            self.switch_to(next);
        }
        self.frame().moved = after;
        self.switch_to(join);
        Self::joined(want)
    }

    /// Goes to `then` or `otherwise` by a condition; `&&`, `||`, `!`, `let` and `matches!` are jumps.
    pub(super) fn jump(&mut self, cond: &Expr, then: BlockId, otherwise: BlockId) {
        let done = self.nested(cond, |this| this.jump_inner(cond, then, otherwise));
        if done.is_none() {
            let span = self.unit.spans.expr(cond);
            let unknown = self.builder_mut().eval(Rvalue::Unknown(Vec::new()), span);
            self.branch(unknown, (then, otherwise), span);
        }
    }

    fn jump_inner(&mut self, cond: &Expr, then: BlockId, otherwise: BlockId) {
        match cond {
            Expr::Paren(it) => self.jump(&it.expr, then, otherwise),
            Expr::Group(it) => self.jump(&it.expr, then, otherwise),
            Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) => {
                self.jump(&it.expr, otherwise, then);
            }
            Expr::Binary(it) if is_lazy(&it.op) => self.jump_lazy(cond, then, otherwise),
            Expr::Let(it) => {
                let subject = self.subject(&it.expr);
                let mut bindings = Bindings::new();
                self.bindings_of(&it.pat, &mut bindings);
                self.match_pattern(&it.pat, &Place::local(subject), &bindings, otherwise);
                self.reveal(&bindings);
                self.goto(then);
            }
            Expr::Macro(it) if self.jump_macro(&it.mac, then, otherwise) => (),
            _ => {
                let span = self.unit.spans.expr(cond);
                let value = self.value(cond, Want::Value);
                let value = self.materialize(value, span);
                self.branch(value, (then, otherwise), span);
            }
        }
    }

    /// A chain of one lazy operator, in a loop.
    fn jump_lazy(&mut self, cond: &Expr, then: BlockId, otherwise: BlockId) {
        let Expr::Binary(outer) = cond else { return };
        let is_and = matches!(outer.op, BinOp::And(_));
        let mut operands = vec![&*outer.right];
        let mut left = &*outer.left;
        while let Expr::Binary(it) = left
            && is_lazy(&it.op)
            && matches!(it.op, BinOp::And(_)) == is_and
        {
            operands.push(&it.right);
            left = &it.left;
        }
        operands.push(left);
        operands.reverse();
        let last = operands.len() - 1;
        for (idx, operand) in operands.into_iter().enumerate() {
            if idx == last {
                self.jump(operand, then, otherwise);
                return;
            }
            let next = self.new_block();
            if is_and {
                self.jump(operand, next, otherwise);
            } else {
                self.jump(operand, then, next);
            }
            self.switch_to(next);
        }
    }

    /// A condition as a value: constants on the two ways.
    pub(super) fn condition_value(&mut self, cond: &Expr, want: Want) -> Rvalue {
        let want = if want == Want::Nothing { Want::Value } else { want };
        let want = self.shared(want);
        let (then, otherwise) = (self.new_block(), self.new_block());
        self.frame().scopes.push(Names::default());
        self.jump(cond, then, otherwise);
        self.frame().scopes.pop();
        let span = self.unit.spans.expr(cond);
        self.truth(want, (then, otherwise), span)
    }

    /// `true` from the first block, `false` from the second.
    pub(super) fn truth(
        &mut self,
        want: Want,
        (then, otherwise): (BlockId, BlockId),
        span: Span,
    ) -> Rvalue {
        let join = self.new_block();
        for (block, value) in [(then, true), (otherwise, false)] {
            self.switch_to(block);
            let value = Rvalue::Use(Operand::Const(crate::ir::Const::Bool(value)));
            self.deliver(value, want, span);
            self.goto(join);
        }
        self.switch_to(join);
        Self::joined(want)
    }

    /// `x?`: leaves with `x` when it is `Err` (or `None`), goes on with what is inside.
    pub(super) fn question(&mut self, value: Operand, span: Span) -> Place {
        let subject = self.in_local(value, span);
        let test = Rvalue::IsVariant(Operand::Local(subject), "Err".into());
        let test = self.builder_mut().eval(test, span);
        let (then, otherwise) = (self.new_block(), self.new_block());
        self.branch(test, (then, otherwise), span);
        self.switch_to(then);
        self.leave_with(Some(Operand::Local(subject)), span, true);
        self.switch_to(otherwise);
        Place::local(subject).project(Proj::Variant("Ok".into(), 0))
    }

    /// Leaves the function, or the async or `try` block that was lowered in place.
    pub(super) fn leave_with(&mut self, value: Option<Operand>, span: Span, by_question: bool) {
        let inlined = &self.frame().inlined;
        let around = inlined.iter().rev().find(|it| by_question || !it.is_try).cloned();
        match around {
            None => self.leave(Exit::Return { value, span }),
            Some(it) => {
                let value = value.map_or_else(unit_value, Rvalue::Use);
                self.store(it.dest, value, span);
                self.leave(Exit::Break { levels: 1, label: Some(it.label) });
            }
        }
    }

    /// `return …`.
    pub(super) fn return_expr(&mut self, expr: &syn::ExprReturn) -> Rvalue {
        let keyword = self.unit.spans.of(expr.return_token.span);
        match expr.expr.as_deref() {
            None => self.leave_with(None, keyword, false),
            Some(value @ (Expr::If(_) | Expr::Match(_) | Expr::Block(_))) => {
                self.finish_expr(value, Want::Return);
            }
            Some(value) if self.inline_tail(value) => (),
            Some(value) => {
                let span = keyword.cover(self.unit.spans.expr(value));
                let value = self.operand(value);
                self.leave_with(Some(value), span, false);
            }
        }
        unit_value()
    }

    /// Enters something that `break` (first block) and `continue` (second) name.
    pub(super) fn push_target(&mut self, target: Target, (after, head): (BlockId, BlockId)) {
        let frame = self.frame();
        frame.builder.push_loop(Some(target.label.clone()), after, head);
        frame.targets.push(target);
    }

    /// Leaves what `push_target` entered.
    pub(super) fn pop_target(&mut self) {
        let frame = self.frame();
        frame.builder.pop_scope();
        frame.targets.pop();
    }

    fn target(&mut self, label: Option<&syn::Lifetime>) -> Option<Target> {
        let written = label.map(|it| unraw(&it.ident));
        let targets = &self.frame().targets;
        let found = targets.iter().rev().find(|it| match &written {
            Some(written) => it.written.as_deref() == Some(written.as_str()),
            None => it.is_loop,
        });
        found.cloned()
    }

    /// `break`, `break 'a`, `break value`.
    pub(super) fn break_expr(&mut self, expr: &syn::ExprBreak) -> Rvalue {
        let target = self.target(expr.label.as_ref());
        if let Some(value) = &expr.expr {
            match target.as_ref().and_then(|it| it.dest) {
                Some(dest) => self.assign_expr(dest, value),
                None => self.discard(value),
            }
        }
        let keyword = self.unit.spans.of(expr.break_token.span);
        self.builder_mut().mark_exit(keyword);
        self.leave_to(target, true)
    }

    /// `continue`, `continue 'a`.
    pub(super) fn continue_expr(&mut self, expr: &syn::ExprContinue) -> Rvalue {
        let target = self.target(expr.label.as_ref());
        let keyword = self.unit.spans.of(expr.continue_token.span);
        self.builder_mut().mark_exit(keyword);
        self.leave_to(target, false)
    }

    fn leave_to(&mut self, target: Option<Target>, breaks: bool) -> Rvalue {
        let label = target.map(|it| it.label);
        // Without its loop the code does not compile; the builder ends the block.
        let label = Some(label.unwrap_or_else(|| "".into()));
        self.leave(if breaks {
            Exit::Break { levels: 1, label }
        } else {
            Exit::Continue { levels: 1, label }
        });
        unit_value()
    }

    fn new_target(&mut self, label: Option<&Label>, dest: Option<LocalId>) -> Target {
        let written = label.map(|it| unraw(&it.name.ident).into());
        Target { written, label: self.fresh_label(), dest, is_loop: true }
    }

    /// `'a: { … }`.
    pub(super) fn labelled_block(&mut self, label: &Label, block: &Block, want: Want) -> Rvalue {
        let (want, dest) = self.gathered(want);
        let done = self.new_block();
        let target = Target { is_loop: false, ..self.new_target(Some(label), dest) };
        self.push_target(target, (done, done));
        self.stmts(&block.stmts, want);
        self.pop_target();
        self.goto(done);
        self.switch_to(done);
        Self::joined(want)
    }

    /// `loop { … }`.
    pub(super) fn loop_expr(&mut self, expr: &syn::ExprLoop, want: Want) -> Rvalue {
        let (want, dest) = self.gathered(want);
        let (head, after) = (self.new_block(), self.new_block());
        self.goto(head);
        self.switch_to(head);
        let target = self.new_target(expr.label.as_ref(), dest);
        self.push_target(target, (after, head));
        self.stmts(&expr.body.stmts, Want::Nothing);
        self.pop_target();
        self.goto(head);
        self.switch_to(after);
        Self::joined(want)
    }

    /// `while cond { … }`, `while let … { … }`.
    pub(super) fn while_expr(&mut self, expr: &syn::ExprWhile) -> Rvalue {
        let (head, body, after) = (self.new_block(), self.new_block(), self.new_block());
        self.goto(head);
        self.switch_to(head);
        self.frame().scopes.push(Names::default());
        self.jump(&expr.cond, body, after);
        self.switch_to(body);
        let target = self.new_target(expr.label.as_ref(), None);
        self.push_target(target, (after, head));
        self.stmts(&expr.body.stmts, Want::Nothing);
        self.pop_target();
        self.frame().scopes.pop();
        self.goto(head);
        self.switch_to(after);
        unit_value()
    }

    /// `for pat in iter { … }`: whether an element is left is not known.
    pub(super) fn for_expr(&mut self, expr: &syn::ExprForLoop) -> Rvalue {
        let span = self.unit.spans.expr(&expr.expr);
        let items = self.subject(&expr.expr);
        let (head, body, after) = (self.new_block(), self.new_block(), self.new_block());
        self.goto(head);
        self.switch_to(head);
        let more = Rvalue::Unknown(vec![Operand::Local(items)]);
        let more = self.builder_mut().eval(more, span);
        self.branch(more, (body, after), span);
        self.switch_to(body);
        self.frame().scopes.push(Names::default());
        let element = Place::local(items).project(Proj::Element { key: false });
        self.bind_irrefutable(&expr.pat, &element);
        let target = self.new_target(expr.label.as_ref(), None);
        self.push_target(target, (after, head));
        self.stmts(&expr.body.stmts, Want::Nothing);
        self.pop_target();
        self.frame().scopes.pop();
        self.goto(head);
        self.switch_to(after);
        unit_value()
    }

    /// An error value that leaves the function: `bail!`, `ensure!`.
    pub(super) fn leave_err(&mut self, error: Operand, span: Span) {
        let fields: Vec<(Name, Operand)> = vec![("0".into(), error)];
        let value = Rvalue::Struct { ty: TypeRef::named("Err"), fields, base: None };
        let value = self.builder_mut().eval(value, span);
        self.leave_with(Some(value), span, true);
    }
}

/// `&&`, `||`.
pub(super) fn is_lazy(op: &BinOp) -> bool {
    matches!(op, BinOp::And(_) | BinOp::Or(_))
}

/// A pattern and its `if`.
fn split_guard(pat: &Pat) -> (&Pat, Option<&Expr>) {
    match pat {
        Pat::Guard(it) => (&it.pat, Some(&it.guard)),
        pat => (pat, None),
    }
}
