//! Expressions, except for calls (`call`) and control flow (`control`).
//!
//! `value` gives what an expression computes without putting it anywhere, except that calls and
//! branches put it where it is wanted at once; `operand` and `place` build on it.

use super::block::unit_value;
use super::body::{Body, Want};
use super::control::is_lazy;
use super::names::unraw;
use super::path::split;
use super::ty::is_primitive;
use crate::base::Span;
use crate::ir::{
    ArrayItem, BinaryOp, ClassRef, Const, Hole, LocalId, Operand, Piece, Place, PlaceBase, Proj,
    Rvalue, Text, TypeRef, UnaryOp,
};
use syn::{BinOp, Expr, ExprBinary, Lit, UnOp};

impl Body<'_, '_> {
    /// The value of an expression in an operand.
    pub(super) fn operand(&mut self, expr: &Expr) -> Operand {
        let value = self.value(expr, Want::Value);
        match value {
            Rvalue::Use(operand) => operand,
            value => {
                let span = self.unit.spans.expr(expr);
                self.materialize(value, span)
            }
        }
    }

    /// What an expression computes. Where `want` is not `Value` the caller delivers what comes back;
    /// calls and branches have done so themselves.
    pub(super) fn value(&mut self, expr: &Expr, want: Want) -> Rvalue {
        self.nested(expr, |this| this.value_inner(expr, want))
            .unwrap_or_else(|| Rvalue::Unknown(Vec::new()))
    }

    #[expect(clippy::too_many_lines, reason = "one arm per kind of expression")]
    fn value_inner(&mut self, expr: &Expr, want: Want) -> Rvalue {
        match expr {
            Expr::Lit(it) => match &it.lit {
                Lit::Str(lit) => self.unit.string(lit),
                lit => Rvalue::Use(Operand::Const(self.unit.literal(lit))),
            },
            Expr::Path(it) => self.path(it),
            Expr::Paren(it) => self.value(&it.expr, want),
            Expr::Group(it) => self.value(&it.expr, want),
            Expr::Reference(it) => self.borrowed(&it.expr, want),
            Expr::RawAddr(it) => self.borrowed(&it.expr, want),
            Expr::Unary(it) if matches!(it.op, UnOp::Deref(_)) => self.borrowed(&it.expr, want),
            Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) && is_condition(&it.expr) => {
                self.condition_value(expr, want)
            }
            Expr::Unary(it) => self.unary(it),
            Expr::Binary(it) if is_lazy(&it.op) => self.condition_value(expr, want),
            Expr::Binary(it) => self.binary(it),
            Expr::Let(_) => self.condition_value(expr, want),
            Expr::Assign(it) => self.assign(&it.left, &it.right),
            Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Await(_)
            | Expr::Try(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Cast(_) => self.postfix(expr, want),
            Expr::Struct(it) => self.struct_literal(it),
            Expr::Tuple(it) if it.elems.is_empty() => unit_value(),
            Expr::Tuple(it) => self.array(it.elems.iter()),
            Expr::Array(it) => self.array(it.elems.iter()),
            Expr::Repeat(it) => {
                self.operand(&it.len);
                self.array(std::iter::once(&*it.expr))
            }
            Expr::Range(it) => {
                let ends = it.start.iter().chain(&it.end).map(|it| self.operand(it)).collect();
                Rvalue::Unknown(ends)
            }
            Expr::Closure(it) => self.closure(it),
            Expr::Async(it) => self.async_block(it),
            Expr::Block(it) => match &it.label {
                Some(label) => self.labelled_block(label, &it.block, want),
                None => self.stmts(&it.block.stmts, want),
            },
            Expr::Unsafe(it) => self.stmts(&it.block.stmts, want),
            Expr::Const(it) => self.stmts(&it.block.stmts, want),
            Expr::TryBlock(it) => self.inlined_block(&it.block.stmts, true),
            Expr::If(it) => self.if_expr(it, want),
            Expr::Match(it) => self.match_expr(it, want),
            Expr::Loop(it) => self.loop_expr(it, want),
            Expr::While(it) => self.while_expr(it),
            Expr::ForLoop(it) => self.for_expr(it),
            Expr::Break(it) => self.break_expr(it),
            Expr::Continue(it) => self.continue_expr(it),
            Expr::Return(it) => self.return_expr(it),
            Expr::Macro(it) => self.lower_macro(&it.mac, want),
            Expr::Yield(it) => {
                let value = it.expr.iter().map(|it| self.operand(it)).collect();
                Rvalue::Unknown(value)
            }
            _ => Rvalue::Unknown(Vec::new()),
        }
    }

    /// A variable, or what a path names.
    fn path(&mut self, expr: &syn::ExprPath) -> Rvalue {
        let variable = expr.path.get_ident().filter(|_| expr.qself.is_none());
        match variable.and_then(|it| self.variable(&unraw(it))) {
            Some(local) => {
                self.mark_moved(local);
                Rvalue::Use(Operand::Local(local))
            }
            None => self.unit.path_value(&self.site, expr),
        }
    }

    /// `&x`, `*x`: the value itself, which stays where it is.
    fn borrowed(&mut self, expr: &Expr, want: Want) -> Rvalue {
        match self.local_of(expr) {
            Some(local) => Rvalue::Use(Operand::Local(local)),
            None => self.value(expr, want),
        }
    }

    fn unary(&mut self, expr: &syn::ExprUnary) -> Rvalue {
        let op = match expr.op {
            UnOp::Not(_) => UnaryOp::Not,
            UnOp::Neg(_) => UnaryOp::Neg,
            _ => UnaryOp::Other,
        };
        match (op, self.operand(&expr.expr)) {
            (UnaryOp::Neg, Operand::Const(Const::Int(value))) => {
                let value = value.checked_neg().map_or(Const::Unknown, Const::Int);
                Rvalue::Use(Operand::Const(value))
            }
            (op, operand) => Rvalue::Unary(op, operand),
        }
    }

    /// `a + b + c` in a loop over its left side.
    fn binary(&mut self, expr: &ExprBinary) -> Rvalue {
        if let Some(op) = compound(&expr.op) {
            return self.compound_assign(expr, op);
        }
        let mut spine = vec![expr];
        let mut left = &*expr.left;
        while let Expr::Binary(it) = left
            && !is_lazy(&it.op)
            && compound(&it.op).is_none()
        {
            spine.push(it);
            left = &it.left;
        }
        spine.reverse();
        if spine.iter().all(|it| matches!(it.op, BinOp::Add(_))) && self.is_text(left) {
            return self.concatenation(left, &spine);
        }
        let first = self.unit.spans.expr(left);
        let mut out = self.value(left, Want::Value);
        for it in spine {
            let left = self.materialize(out, first);
            let right = self.operand(&it.right);
            out = Rvalue::Binary(binary_op(&it.op), left, right);
        }
        out
    }

    /// Whether an expression is a string that is written out here.
    fn is_text(&mut self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(it) => matches!(it.lit, Lit::Str(_)),
            Expr::Paren(it) => self.is_text(&it.expr),
            Expr::Reference(it) => self.is_text(&it.expr),
            Expr::Macro(it) => {
                matches!(super::macro_tokens::last_name(&it.mac).as_str(), "format" | "concat")
            }
            Expr::MethodCall(it) => {
                let name = unraw(&it.method);
                matches!(name.as_str(), "to_string" | "to_owned" | "into")
                    && it.args.is_empty()
                    && self.is_text(&it.receiver)
            }
            Expr::Call(it) => match (&*it.func, it.args.first()) {
                (Expr::Path(path), Some(arg)) => {
                    let full = self.unit.resolve_path(&self.site, &path.path);
                    full.ends_with("String::from") && self.is_text(arg)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// `"…" + &x + "…"`: one text.
    fn concatenation(&mut self, first: &Expr, spine: &[&ExprBinary]) -> Rvalue {
        let mut pieces = Vec::new();
        self.push_pieces(first, &mut pieces);
        for it in spine {
            self.push_pieces(&it.right, &mut pieces);
        }
        Rvalue::Text(Text { pieces })
    }

    fn push_pieces(&mut self, expr: &Expr, out: &mut Vec<Piece>) {
        match expr {
            Expr::Lit(it) => {
                if let Lit::Str(lit) = &it.lit {
                    return out.push(self.unit.cook(lit).piece());
                }
            }
            Expr::Paren(it) => return self.push_pieces(&it.expr, out),
            Expr::Reference(it) => return self.push_pieces(&it.expr, out),
            Expr::MethodCall(it) if self.is_text(expr) => {
                return self.push_pieces(&it.receiver, out);
            }
            Expr::Call(it) if self.is_text(expr) => {
                if let Some(arg) = it.args.first() {
                    return self.push_pieces(arg, out);
                }
            }
            _ => (),
        }
        let span = self.unit.spans.expr(expr);
        match self.value(expr, Want::Value) {
            Rvalue::Text(text) => out.extend(text.pieces),
            value => {
                let value = self.materialize(value, span);
                out.push(Piece::Hole(Hole { value, span, numeric: false }));
            }
        }
    }

    /// `a += b`.
    fn compound_assign(&mut self, expr: &ExprBinary, op: BinaryOp) -> Rvalue {
        let span = self.unit.spans.expr(&expr.left).cover(self.unit.spans.expr(&expr.right));
        let right = self.operand(&expr.right);
        let place = self.target_place(&expr.left);
        let left = match place.as_local() {
            Some(local) => Operand::Local(local),
            None => self.builder_mut().eval(Rvalue::Load(place.clone()), span),
        };
        self.builder_mut().assign(place, Rvalue::Binary(op, left, right), span);
        unit_value()
    }

    /// `place = value`; `_ = value`; `(a, b) = value`.
    fn assign(&mut self, left: &Expr, right: &Expr) -> Rvalue {
        match left {
            Expr::Infer(_) => self.discard(right),
            Expr::Paren(it) => return self.assign(&it.expr, right),
            Expr::Tuple(it) => {
                let whole = Place::local(self.subject(right));
                for (idx, target) in it.elems.iter().enumerate() {
                    if matches!(target, Expr::Infer(_)) {
                        continue;
                    }
                    let span = self.unit.spans.expr(target);
                    let place = self.target_place(target);
                    let part = whole.clone().project(Proj::Field(idx.to_string().into()));
                    self.builder_mut().assign(place, Rvalue::Load(part), span);
                }
            }
            left => self.assign_place(left, right),
        }
        unit_value()
    }

    fn assign_place(&mut self, left: &Expr, right: &Expr) {
        let span = self.unit.spans.expr(left).cover(self.unit.spans.expr(right));
        let value = match self.local_of(left) {
            Some(local) => {
                let value = self.value(right, Want::Into(local));
                return self.store(local, value, span);
            }
            None => self.value(right, Want::Value),
        };
        // A value that is still to be read must not see the assignment's own side effects.
        let value = match value {
            Rvalue::Load(_) => Rvalue::Use(self.materialize(value, span)),
            value => value,
        };
        let place = self.target_place(left);
        self.builder_mut().assign(place, value, span);
    }

    /// What an assignment writes to; references are seen through.
    pub(super) fn target_place(&mut self, expr: &Expr) -> Place {
        let done = self.nested(expr, |this| this.target_place_inner(expr));
        done.unwrap_or_else(|| Place::local(self.temp()))
    }

    fn target_place_inner(&mut self, expr: &Expr) -> Place {
        match expr {
            Expr::Paren(it) => self.target_place(&it.expr),
            Expr::Group(it) => self.target_place(&it.expr),
            Expr::Reference(it) => self.target_place(&it.expr),
            Expr::Unary(it) if matches!(it.op, UnOp::Deref(_)) => self.target_place(&it.expr),
            Expr::Field(_) | Expr::Index(_) => self.postfix_place(expr),
            Expr::Path(it) => {
                if let Some(local) = self.local_of(expr) {
                    return Place::local(local);
                }
                let full = self.unit.resolve_path(&self.site, &it.path);
                let (prefix, name) = split(&full);
                let class = ClassRef::Named(prefix.unwrap_or(&self.site.module).into());
                Place { base: PlaceBase::Static(class, name.into()), proj: Vec::new() }
            }
            other => Place::local(self.subject(other)),
        }
    }

    fn struct_literal(&mut self, expr: &syn::ExprStruct) -> Rvalue {
        let ty = TypeRef::named(self.unit.resolve_path(&self.site, &expr.path));
        self.unit.mention(&ty.name);
        let fields = expr
            .fields
            .iter()
            .map(|it| (super::attr::member(&it.member), self.operand(&it.expr)))
            .collect();
        let base = expr.rest.as_ref().map(|it| self.operand(it));
        Rvalue::Struct { ty, fields, base }
    }

    /// Positional items.
    pub(super) fn array<'e>(&mut self, elems: impl Iterator<Item = &'e Expr>) -> Rvalue {
        let items = elems.map(|it| ArrayItem {
            key: None,
            value: self.operand(it),
            spread: false,
            span: self.unit.spans.expr(it),
        });
        Rvalue::Array(items.collect())
    }

    /// A tuple that is taken apart at once: its elements stay known.
    pub(super) fn tuple(&mut self, expr: &syn::ExprTuple, span: Span) -> LocalId {
        let value = self.array(expr.elems.iter());
        let known = match &value {
            Rvalue::Array(items) => items.iter().map(|it| it.value.clone()).collect(),
            _ => Vec::new(),
        };
        let tuple = self.temp();
        self.store(tuple, value, span);
        self.frame().tuples.insert(tuple, known);
        tuple
    }
}

/// Whether an expression is lowered as jumps.
fn is_condition(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Paren(it) => &it.expr,
            Expr::Group(it) => &it.expr,
            Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) => &it.expr,
            Expr::Binary(it) => return is_lazy(&it.op),
            Expr::Let(_) => return true,
            Expr::Macro(it) => return super::macro_tokens::last_name(&it.mac) == "matches",
            _ => return false,
        }
    }
}

fn binary_op(op: &BinOp) -> BinaryOp {
    match op {
        BinOp::Eq(_) => BinaryOp::Eq,
        BinOp::Ne(_) => BinaryOp::Ne,
        BinOp::Lt(_) => BinaryOp::Lt,
        BinOp::Le(_) => BinaryOp::Le,
        BinOp::Gt(_) => BinaryOp::Gt,
        BinOp::Ge(_) => BinaryOp::Ge,
        BinOp::Add(_) => BinaryOp::Add,
        BinOp::Sub(_) => BinaryOp::Sub,
        _ => BinaryOp::Other,
    }
}

/// The operator in a compound assignment.
fn compound(op: &BinOp) -> Option<BinaryOp> {
    Some(match op {
        BinOp::AddAssign(_) => BinaryOp::Add,
        BinOp::SubAssign(_) => BinaryOp::Sub,
        BinOp::MulAssign(_)
        | BinOp::DivAssign(_)
        | BinOp::RemAssign(_)
        | BinOp::BitXorAssign(_)
        | BinOp::BitAndAssign(_)
        | BinOp::BitOrAssign(_)
        | BinOp::ShlAssign(_)
        | BinOp::ShrAssign(_) => BinaryOp::Other,
        _ => return None,
    })
}

/// Whether the value is a number for sure: a literal, a cast to a number, a length.
pub(super) fn is_numeric(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(it) => matches!(it.lit, Lit::Int(_)),
        Expr::Cast(it) => match &*it.ty {
            syn::Type::Path(ty) => ty.path.get_ident().is_some_and(|it| {
                let name = unraw(it);
                is_primitive(&name) && !matches!(name.as_str(), "bool" | "char" | "str")
            }),
            _ => false,
        },
        Expr::MethodCall(it) => it.args.is_empty() && (it.method == "len" || it.method == "count"),
        _ => false,
    }
}
