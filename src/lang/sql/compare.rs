//! Comparisons: which side is the column, what it is compared with, and what a sub-select on one
//! side means.

use super::condition::{Reducer, leaf};
use super::expr;
use super::scope::Owner;
use super::side::Side;
use crate::base::Name;
use crate::ir::{ConditionOp, SqlExpr};
use sqlparser::ast::{BinaryOperator, Expr, Query};

/// An operator, and whether it was `<=` or `>=`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    pub(super) op: ConditionOp,
    inclusive: bool,
    /// `IS`, `<=>`, `IS NOT DISTINCT FROM`: true for NULL too. `= NULL` is never true.
    is_test: bool,
}

impl Comparison {
    fn flip(self) -> Self {
        let op = match self.op {
            ConditionOp::Less => ConditionOp::Greater,
            ConditionOp::Greater => ConditionOp::Less,
            it => it,
        };
        Self { op, ..self }
    }

    /// `<= 2` is `< 3`: the IR has strict comparisons only, and integers allow it.
    fn adjust(self, value: SqlExpr) -> SqlExpr {
        match (value, self.op) {
            (SqlExpr::Int(it), ConditionOp::Less) if self.inclusive => {
                SqlExpr::Int(it.saturating_add(1))
            }
            (SqlExpr::Int(it), ConditionOp::Greater) if self.inclusive => {
                SqlExpr::Int(it.saturating_sub(1))
            }
            (value, _) => value,
        }
    }
}

pub(super) fn equality(equal: bool) -> Comparison {
    let op = if equal { ConditionOp::Eq } else { ConditionOp::Ne };
    Comparison { op, inclusive: false, is_test: false }
}

pub(super) fn null_safe(equal: bool) -> Comparison {
    Comparison { is_test: true, ..equality(equal) }
}

fn order(inclusive: bool, less: bool, negated: bool) -> Comparison {
    let op = if less == negated { ConditionOp::Greater } else { ConditionOp::Less };
    Comparison { op, inclusive: inclusive != negated, is_test: false }
}

impl<'a> Reducer<'_, 'a> {
    pub(super) fn binary(
        &mut self,
        whole: &'a Expr,
        (left, op, right): (&'a Expr, &BinaryOperator, &'a Expr),
        negated: bool,
    ) {
        let op = match op {
            BinaryOperator::Eq => equality(!negated),
            BinaryOperator::NotEq => equality(negated),
            BinaryOperator::Spaceship | BinaryOperator::Is => null_safe(!negated),
            BinaryOperator::IsNot => null_safe(negated),
            BinaryOperator::Lt | BinaryOperator::LtEq => {
                order(op == &BinaryOperator::LtEq, true, negated)
            }
            BinaryOperator::Gt | BinaryOperator::GtEq => {
                order(op == &BinaryOperator::GtEq, false, negated)
            }
            _ => return self.unread(whole),
        };
        if let (Expr::Tuple(lefts), Expr::Tuple(rights), ConditionOp::Eq) =
            (expr::strip(left), expr::strip(right), op.op)
            && lefts.len() == rights.len()
        {
            for (left, right) in lefts.iter().zip(rights) {
                self.compare(left, (left, op, right));
            }
            return;
        }
        self.compare(whole, (left, op, right));
    }

    pub(super) fn compare(
        &mut self,
        whole: &'a Expr,
        (left, op, right): (&'a Expr, Comparison, &'a Expr),
    ) {
        if matches!(op.op, ConditionOp::Less | ConditionOp::Greater)
            && self.limit(whole, (left, op, right))
        {
            return;
        }
        let (left, right) = (self.side(left), self.side(right));
        match (left, right) {
            (Side::Column { name, owner, .. }, Side::Column { name: text, quoted: true, .. })
                if expr::reads_double_quotes_as_text(self.ctx) =>
            {
                self.column(whole, (name, owner), op, SqlExpr::Str(text));
            }
            (Side::Column { name, owner, .. }, Side::Column { name: other, owner: of, .. }) => {
                self.columns(whole, (name, owner), op, (other, of));
            }
            (Side::Column { name, owner, .. }, Side::Value(value)) => {
                self.column(whole, (name, owner), op, value);
            }
            (Side::Value(value), Side::Column { name, owner, .. }) => {
                self.column(whole, (name, owner), op.flip(), value);
            }
            (Side::Column { name, owner, .. }, Side::Param(param)) => {
                self.column(whole, (name, owner), op, SqlExpr::Param(param));
            }
            (Side::Param(param), Side::Column { name, owner, .. }) => {
                self.column(whole, (name, owner), op.flip(), SqlExpr::Param(param));
            }
            (Side::Column { name, owner, .. }, Side::Select(query))
            | (Side::Select(query), Side::Column { name, owner, .. }) => {
                self.take_source(query);
                let is_pick = op.op == ConditionOp::Eq;
                let op = if is_pick { ConditionOp::InSelect } else { ConditionOp::Other };
                self.push_owned(whole, (name, owner), op, Vec::new());
            }
            (Side::Select(query), Side::Value(value)) => self.select_test(whole, query, op, value),
            (Side::Value(value), Side::Select(query)) => {
                self.select_test(whole, query, op.flip(), value);
            }
            (Side::Select(query), Side::Param(param))
            | (Side::Param(param), Side::Select(query)) => {
                self.select_test(whole, query, op, SqlExpr::Param(param));
            }
            (Side::Param(_), Side::Value(SqlExpr::Other(_)))
            | (Side::Value(SqlExpr::Other(_)), Side::Param(_)) => self.unread(whole),
            (Side::Param(param), Side::Value(value)) | (Side::Value(value), Side::Param(param)) => {
                self.push_param(whole, param, op.op, vec![value]);
            }
            (Side::Param(param), Side::Param(value)) => {
                self.push_param(whole, param, op.op, vec![SqlExpr::Param(value)]);
            }
            (Side::RowNumber, _) | (_, Side::RowNumber) => self.limit_one = true,
            _ => self.unread(whole),
        }
    }

    /// `t.a = u.b`: the other table picks the rows when it is a sub-select.
    fn columns(
        &mut self,
        whole: &'a Expr,
        (name, owner): (Name, Owner),
        op: Comparison,
        (other, of): (Name, Owner),
    ) {
        match (owner, of) {
            (Owner::Target, Owner::Target) => {
                let value = SqlExpr::Column(Name::from(other.to_lowercase()));
                self.column(whole, (name, owner), op, value);
            }
            (Owner::Target, of) => self.picked_by(whole, name, op, of),
            (of, Owner::Target) => self.picked_by(whole, other, op.flip(), of),
            _ => self.column(whole, (name, owner), op, SqlExpr::Other(Vec::new())),
        }
    }

    fn picked_by(&mut self, whole: &'a Expr, name: Name, op: Comparison, of: Owner) {
        let query = match of {
            Owner::Table(idx) => self.scope.tables[idx].query.clone(),
            _ => None,
        };
        if let Some((query, env)) = query
            && op.op == ConditionOp::Eq
        {
            self.take_source_in(query, &env);
            return self.push_owned(
                whole,
                (name, Owner::Target),
                ConditionOp::InSelect,
                Vec::new(),
            );
        }
        self.column(whole, (name, Owner::Target), op, SqlExpr::Other(Vec::new()));
    }

    /// `(SELECT state ..) = 'pending'` is a condition of that sub-select.
    fn select_test(&mut self, whole: &'a Expr, query: &'a Query, op: Comparison, value: SqlExpr) {
        let had_source = self.source.is_some();
        self.take_source(query);
        let span = self.ctx.extent(whole, true);
        if let Some(source) = self.source.as_mut().filter(|_| !had_source) {
            let column = source.columns.first().cloned().unwrap_or_else(|| Name::from(""));
            source.conditions.push(leaf(column, op.op, vec![op.adjust(value)], span));
        }
        self.push(whole, Name::from(""), ConditionOp::InSelect, Vec::new());
    }

    fn column(&mut self, whole: &'a Expr, of: (Name, Owner), op: Comparison, value: SqlExpr) {
        let (op, values) = match (op.op, &value) {
            (ConditionOp::Eq, SqlExpr::Null) if op.is_test => (ConditionOp::IsNull, Vec::new()),
            (ConditionOp::Ne, SqlExpr::Null) if op.is_test => (ConditionOp::IsNotNull, Vec::new()),
            _ => (op.op, vec![op.adjust(value)]),
        };
        self.push_owned(whole, of, op, values);
    }

    /// `stock - :n >= 0` compares the stock, however the numbers are spread over the sides.
    fn limit(
        &mut self,
        whole: &'a Expr,
        (left, op, right): (&'a Expr, Comparison, &'a Expr),
    ) -> bool {
        let (sum, op, other) = match (expr::strip(left), expr::strip(right)) {
            (sum @ Expr::BinaryOp { .. }, other) => (sum, op, other),
            (other, sum @ Expr::BinaryOp { .. }) => (sum, op.flip(), other),
            _ => return false,
        };
        let Expr::BinaryOp { op: BinaryOperator::Plus | BinaryOperator::Minus, .. } = sum else {
            return false;
        };
        let columns = self.columns_of(sum);
        let [(name, owner)] = columns.as_slice() else { return false };
        if !self.columns_of(other).is_empty() {
            return false;
        }
        let value = SqlExpr::Other(expr::params(self.ctx, whole));
        self.column(whole, (name.clone(), *owner), op, value);
        true
    }
}
