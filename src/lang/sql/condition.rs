//! WHERE, reduced to the conjuncts that must hold for a row to be written.
//!
//! NOT is pushed inwards, a tuple comparison is taken apart, what is always true is left out. A
//! sub-select never adds conditions to the statement around it; the one that picks the rows is kept
//! as the statement's source.

use super::compare::{equality, null_safe};
use super::ctx::{Ctx, name_of};
use super::expr::{self, value};
use super::query;
use super::scope::{Env, Owner, Scope};
use super::side::{MAX_COLUMNS, Side};
use crate::base::Name;
use crate::ir::{Condition, ConditionOp, ParamRef, SqlExpr, Statement};
use sqlparser::ast::{BinaryOperator, Expr, InTarget, Query, UnaryOperator};

/// Deeper groups are one unknown condition.
const MAX_DEPTH: u32 = 40;

/// Collects what a WHERE says.
#[derive(Debug)]
pub(super) struct Reducer<'c, 'a> {
    pub(super) ctx: &'c Ctx<'c>,
    pub(super) env: &'c Env<'a>,
    pub(super) scope: &'c Scope<'a>,
    /// Holes that stand for whole conditions.
    pub(super) holes: Vec<u32>,
    pub(super) complete: bool,
    /// The first sub-select that picks rows.
    pub(super) source: Option<Box<Statement>>,
    /// `ROWNUM = 1`.
    pub(super) limit_one: bool,
    /// Unqualified columns that several tables may have.
    pub(super) ambiguous: Vec<Name>,
    /// What is read so far of the conjunction at hand.
    out: Vec<Condition>,
    depth: u32,
}

impl<'c, 'a> Reducer<'c, 'a> {
    pub(super) fn new(ctx: &'c Ctx<'c>, env: &'c Env<'a>, scope: &'c Scope<'a>) -> Self {
        Self {
            ctx,
            env,
            scope,
            holes: Vec::new(),
            complete: true,
            source: None,
            limit_one: false,
            ambiguous: Vec::new(),
            out: Vec::new(),
            depth: 0,
        }
    }

    /// The conjuncts of `expr`, in order.
    pub(super) fn reduce(&mut self, expr: &'a Expr) -> Vec<Condition> {
        self.conjuncts(expr, false);
        std::mem::take(&mut self.out)
    }

    fn conjuncts(&mut self, expr: &'a Expr, negated: bool) {
        // Chains lean to the left and may be thousands long: a stack of our own, no recursion.
        let mut stack = vec![(expr, negated)];
        while let Some((expr, negated)) = stack.pop() {
            match expr {
                Expr::Nested(it) => stack.push((it, negated)),
                Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => {
                    stack.push((expr, !negated));
                }
                Expr::BinaryOp { left, op: BinaryOperator::And, right } if !negated => {
                    stack.push((right, negated));
                    stack.push((left, negated));
                }
                Expr::BinaryOp { left, op: BinaryOperator::Or, right } if negated => {
                    stack.push((right, negated));
                    stack.push((left, negated));
                }
                Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. } => {
                    self.disjunction(expr, negated);
                }
                _ => self.leaf(expr, negated),
            }
        }
    }

    fn disjunction(&mut self, expr: &'a Expr, negated: bool) {
        if self.depth >= MAX_DEPTH {
            self.complete = false;
            return;
        }
        self.depth += 1;
        let joins = if negated { BinaryOperator::And } else { BinaryOperator::Or };
        let mut branches = Vec::new();
        let mut stack = vec![expr];
        while let Some(it) = stack.pop() {
            match it {
                Expr::BinaryOp { left, op, right } if *op == joins => {
                    stack.push(right);
                    stack.push(left);
                }
                Expr::Nested(inner) if is_group(inner, &joins) => stack.push(inner),
                _ if self.constant(it).is_some_and(|it| it == negated) => {}
                _ => {
                    let around = std::mem::take(&mut self.out);
                    self.conjuncts(it, negated);
                    branches.push(std::mem::replace(&mut self.out, around));
                }
            }
        }
        self.depth -= 1;
        if let [only] = branches.as_mut_slice() {
            self.out.append(only);
            return;
        }
        let start = self.ctx.extent(expr, true);
        let all = branches.iter().flatten().fold(start, |span, it| span.cover(it.span));
        self.out.push(group(branches, all));
    }

    fn leaf(&mut self, expr: &'a Expr, negated: bool) {
        if self.is_filler(expr) {
            self.complete = false;
            return;
        }
        match self.constant(expr) {
            Some(truth) if truth != negated => return,
            Some(_) => return self.push(expr, Name::from(""), ConditionOp::Other, Vec::new()),
            None => {}
        }
        match expr {
            Expr::BinaryOp { left, op, right } => {
                self.binary(expr, (left, op, right), negated);
            }
            Expr::IsNull(it) => self.test(expr, it, null_op(true, negated), Vec::new()),
            Expr::IsNotNull(it) => self.test(expr, it, null_op(false, negated), Vec::new()),
            Expr::IsTrue(it) | Expr::IsNotFalse(it) => self.boolean(expr, it, !negated),
            Expr::IsFalse(it) | Expr::IsNotTrue(it) => self.boolean(expr, it, negated),
            Expr::IsDistinctFrom(l, r) => self.compare(expr, (l, null_safe(negated), r)),
            Expr::IsNotDistinctFrom(l, r) => self.compare(expr, (l, null_safe(!negated), r)),
            Expr::In { expr: it, target, negated: not, .. } => {
                self.inclusion(expr, it, target, negated != *not);
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } if !negated => {
                self.array(expr, left, right, ConditionOp::In);
            }
            Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } if !negated => {
                self.array(expr, left, right, ConditionOp::NotIn);
            }
            Expr::Like { expr: it, pattern, negated: not, .. }
            | Expr::ILike { expr: it, pattern, negated: not, .. } => {
                let op = if negated == *not { ConditionOp::Like } else { ConditionOp::Other };
                let values = vec![self.value(pattern)];
                self.test(expr, it, op, values);
            }
            Expr::Between { expr: it, low, high, .. } => {
                let values = vec![self.value(low), self.value(high)];
                self.test(expr, it, ConditionOp::Other, values);
            }
            Expr::Exists { subquery, negated: not } => {
                self.take_source(subquery);
                let op = if negated == *not { ConditionOp::InSelect } else { ConditionOp::Other };
                self.push(expr, Name::from(""), op, Vec::new());
            }
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                self.boolean(expr, expr, !negated);
            }
            _ => self.unread(expr),
        }
    }

    /// A column, a parameter or something else, tested alone.
    pub(super) fn test(
        &mut self,
        whole: &'a Expr,
        tested: &'a Expr,
        op: ConditionOp,
        values: Vec<SqlExpr>,
    ) {
        match self.side(tested) {
            Side::Column { name, owner, .. } => self.push_owned(whole, (name, owner), op, values),
            Side::Param(param) => self.push_param(whole, param, op, values),
            Side::Select(query) => {
                self.take_source(query);
                self.push(whole, Name::from(""), ConditionOp::Other, Vec::new());
            }
            Side::Value(_) | Side::RowNumber => self.unread(whole),
        }
    }

    /// `done`, `NOT done`, `done IS TRUE`; a hole that is a whole condition.
    fn boolean(&mut self, whole: &'a Expr, tested: &'a Expr, truth: bool) {
        match self.side(tested) {
            Side::Column { name, owner, .. } => {
                self.push_owned(whole, (name, owner), ConditionOp::Eq, vec![SqlExpr::Bool(truth)]);
            }
            Side::Param(ParamRef::Hole(hole)) if !self.ctx.buffer.is_numeric(hole) => {
                self.holes.push(hole);
                self.complete = false;
                self.push_param(whole, ParamRef::Hole(hole), ConditionOp::Other, Vec::new());
            }
            Side::Param(param) => {
                self.push_param(whole, param, ConditionOp::Eq, vec![SqlExpr::Bool(truth)]);
            }
            Side::Select(_) | Side::Value(_) | Side::RowNumber => self.unread(whole),
        }
    }

    fn inclusion(
        &mut self,
        whole: &'a Expr,
        tested: &'a Expr,
        target: &'a InTarget,
        negated: bool,
    ) {
        let op = if negated { ConditionOp::NotIn } else { ConditionOp::In };
        match target {
            InTarget::List(items) => {
                if let (Expr::Tuple(columns), [row], false) =
                    (expr::strip(tested), items.as_slice(), negated)
                    && let Expr::Tuple(row) = expr::strip(row)
                    && row.len() == columns.len()
                {
                    for (column, value) in columns.iter().zip(row) {
                        self.compare(column, (column, equality(true), value));
                    }
                    return;
                }
                let values = items.iter().map(|it| self.value(it)).collect();
                self.test(whole, tested, op, values);
            }
            InTarget::Subquery(query) if !negated => {
                self.take_source(query);
                self.test(whole, tested, ConditionOp::InSelect, Vec::new());
            }
            InTarget::Subquery(_) => self.test(whole, tested, ConditionOp::Other, Vec::new()),
            InTarget::Unnest(array) => self.array(whole, tested, array, op),
            InTarget::Table { name, .. } => {
                let (_, param) = self.ctx.object(name);
                let values = param.map(SqlExpr::Param).into_iter().collect();
                self.test(whole, tested, op, values);
            }
        }
    }

    /// `= ANY(ARRAY[..])`, `= ANY($1)`, `= ANY('{a,b}')`, `= ANY(SELECT ..)`.
    fn array(&mut self, whole: &'a Expr, tested: &'a Expr, array: &'a Expr, op: ConditionOp) {
        let values = match expr::strip(array) {
            Expr::Array(it) => it.elem.iter().map(|it| self.value(it)).collect(),
            Expr::Subquery(query) => {
                let is_pick = op == ConditionOp::In;
                if is_pick {
                    self.take_source(query);
                }
                let op = if is_pick { ConditionOp::InSelect } else { ConditionOp::Other };
                return self.test(whole, tested, op, Vec::new());
            }
            it => match self.value(it) {
                SqlExpr::Str(text) if text.starts_with('{') => {
                    let items = text.trim_matches(['{', '}']).split(',');
                    items.map(|it| SqlExpr::Str(Name::from(it.trim_matches(['"', ' '])))).collect()
                }
                value => vec![value],
            },
        };
        self.test(whole, tested, op, values);
    }

    pub(super) fn value(&self, expr: &Expr) -> SqlExpr {
        value(self.ctx, self.scope, expr, None)
    }

    pub(super) fn take_source(&mut self, query: &'a Query) {
        self.take_source_in(query, self.env);
    }

    pub(super) fn take_source_in(&mut self, query: &'a Query, env: &Env<'a>) {
        if self.source.is_none() {
            self.source = query::select_statement(self.ctx, env, query).map(Box::new);
        }
    }

    /// A condition that is not understood; it stands once for each column that it reads.
    pub(super) fn unread(&mut self, expr: &'a Expr) {
        let value = vec![SqlExpr::Other(expr::params(self.ctx, expr))];
        let columns = self.columns_of(expr);
        if columns.is_empty() {
            self.push(expr, Name::from(""), ConditionOp::Other, value.clone());
        }
        for of in columns.into_iter().take(MAX_COLUMNS) {
            self.push_owned(expr, of, ConditionOp::Other, value.clone());
        }
    }

    /// What the parser was given where the text ends too early.
    fn is_filler(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Identifier(it)
            if name_of(it).is_empty() && self.ctx.params_at(it.span.start).is_empty())
    }

    pub(super) fn push(
        &mut self,
        whole: &Expr,
        column: Name,
        op: ConditionOp,
        values: Vec<SqlExpr>,
    ) {
        self.out.push(leaf(column, op, values, self.ctx.extent(whole, true)));
    }

    pub(super) fn push_owned(
        &mut self,
        whole: &Expr,
        (column, owner): (Name, Owner),
        op: ConditionOp,
        values: Vec<SqlExpr>,
    ) {
        let foreign = owner != Owner::Target;
        if owner == Owner::Unknown {
            self.ambiguous.push(column.clone());
        }
        let it = leaf(column, op, values, self.ctx.extent(whole, true));
        self.out.push(Condition { foreign, ..it });
    }

    pub(super) fn push_param(
        &mut self,
        whole: &Expr,
        param: ParamRef,
        op: ConditionOp,
        values: Vec<SqlExpr>,
    ) {
        let it = leaf(Name::from(""), op, values, self.ctx.extent(whole, true));
        self.out.push(Condition { column_param: Some(param), ..it });
    }
}

fn null_op(null: bool, negated: bool) -> ConditionOp {
    if null == negated { ConditionOp::IsNotNull } else { ConditionOp::IsNull }
}

fn is_group(expr: &Expr, joins: &BinaryOperator) -> bool {
    matches!(expr, Expr::BinaryOp { op, .. } if op == joins)
}

/// A condition on one column.
pub(super) fn leaf(
    column: Name,
    op: ConditionOp,
    values: Vec<SqlExpr>,
    span: crate::base::Span,
) -> Condition {
    Condition { column, column_param: None, op, values, any: Vec::new(), foreign: false, span }
}

/// An OR of conjunctions; a branch without conditions is always true.
fn group(branches: Vec<Vec<Condition>>, span: crate::base::Span) -> Condition {
    let mut columns = branches.iter().map(|it| match it.as_slice() {
        [only] => only.column.as_ref(),
        _ => "",
    });
    let first = columns.next().unwrap_or("");
    let shared = columns.all(|it| it.eq_ignore_ascii_case(first));
    let column = Name::from(if shared { first } else { "" });
    Condition { any: branches, ..leaf(column, ConditionOp::Other, Vec::new(), span) }
}
