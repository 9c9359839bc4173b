//! WHERE, reduced to the conjuncts that must hold for a row to be written.
//!
//! NOT is pushed inwards, a tuple comparison is taken apart, what is always true is left out. A
//! sub-select never adds conditions to the statement around it; the one that picks the rows is kept
//! as the statement's source.

use super::ctx::Ctx;
use super::expr::{self, value};
use super::query;
use super::scope::{Env, Owner, Scope};
use crate::base::Name;
use crate::ir::{Condition, ConditionOp, ParamRef, SqlExpr, Statement};
use sqlparser::ast::{BinaryOperator, Expr, InTarget, Query, UnaryOperator, Value};

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
    depth: u32,
}

/// One side of a comparison.
#[derive(Debug)]
enum Side<'a> {
    Column { name: Name, owner: Owner, quoted: bool },
    /// A parameter where a column or a value may stand.
    Param(ParamRef),
    Select(&'a Query),
    Value(SqlExpr),
    RowNumber,
}

impl<'c, 'a> Reducer<'c, 'a> {
    pub(super) fn new(ctx: &'c Ctx<'c>, env: &'c Env<'a>, scope: &'c Scope<'a>) -> Self {
        Self { ctx, env, scope, holes: Vec::new(), complete: true, source: None, limit_one: false, ambiguous: Vec::new(), depth: 0 }
    }

    /// The conjuncts of `expr`, in order.
    pub(super) fn reduce(&mut self, expr: &'a Expr) -> Vec<Condition> {
        let mut out = Vec::new();
        self.conjuncts(expr, false, &mut out);
        out
    }

    fn conjuncts(&mut self, expr: &'a Expr, negated: bool, out: &mut Vec<Condition>) {
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
                    self.disjunction(expr, negated, out);
                }
                _ => self.leaf(expr, negated, out),
            }
        }
    }

    fn disjunction(&mut self, expr: &'a Expr, negated: bool, out: &mut Vec<Condition>) {
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
                    let mut branch = Vec::new();
                    self.conjuncts(it, negated, &mut branch);
                    branches.push(branch);
                }
            }
        }
        self.depth -= 1;
        if let [_] = branches.as_slice() {
            out.append(&mut branches.remove(0));
            return;
        }
        let span = self.ctx.extent(expr, true);
        out.push(group(branches, span));
    }

    fn leaf(&mut self, expr: &'a Expr, negated: bool, out: &mut Vec<Condition>) {
        if self.is_filler(expr) {
            self.complete = false;
            return;
        }
        match self.constant(expr) {
            Some(truth) if truth != negated => return,
            Some(_) => return self.push(out, expr, Name::from(""), ConditionOp::Other, Vec::new()),
            None => {}
        }
        match expr {
            Expr::BinaryOp { left, op, right } => self.binary(expr, (left, op, right), negated, out),
            Expr::IsNull(it) => self.test(expr, it, null_op(true, negated), Vec::new(), out),
            Expr::IsNotNull(it) => self.test(expr, it, null_op(false, negated), Vec::new(), out),
            Expr::IsTrue(it) | Expr::IsNotFalse(it) => self.boolean(expr, it, !negated, out),
            Expr::IsFalse(it) | Expr::IsNotTrue(it) => self.boolean(expr, it, negated, out),
            Expr::IsDistinctFrom(l, r) => self.compare(expr, (l, null_safe(negated), r), out),
            Expr::IsNotDistinctFrom(l, r) => self.compare(expr, (l, null_safe(!negated), r), out),
            Expr::In { expr: it, target, negated: not, .. } => {
                self.inclusion(expr, it, target, negated != *not, out);
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } if !negated => {
                self.array(expr, left, right, ConditionOp::In, out);
            }
            Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } if !negated => {
                self.array(expr, left, right, ConditionOp::NotIn, out);
            }
            Expr::Like { expr: it, pattern, negated: not, .. }
            | Expr::ILike { expr: it, pattern, negated: not, .. } => {
                let op = if negated == *not { ConditionOp::Like } else { ConditionOp::Other };
                let values = vec![self.value(pattern)];
                self.test(expr, it, op, values, out);
            }
            Expr::Between { expr: it, low, high, .. } => {
                let values = vec![self.value(low), self.value(high)];
                self.test(expr, it, ConditionOp::Other, values, out);
            }
            Expr::Exists { subquery, negated: not } => {
                self.take_source(subquery);
                let op = if negated != *not { ConditionOp::Other } else { ConditionOp::InSelect };
                self.push(out, expr, Name::from(""), op, Vec::new());
            }
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                self.boolean(expr, expr, !negated, out);
            }
            _ => self.unread(expr, out),
        }
    }

    fn binary(
        &mut self,
        whole: &'a Expr,
        (left, op, right): (&'a Expr, &BinaryOperator, &'a Expr),
        negated: bool,
        out: &mut Vec<Condition>,
    ) {
        let op = match op {
            BinaryOperator::Eq => equality(!negated),
            BinaryOperator::NotEq => equality(negated),
            BinaryOperator::Spaceship | BinaryOperator::Is => null_safe(!negated),
            BinaryOperator::IsNot => null_safe(negated),
            BinaryOperator::Lt | BinaryOperator::LtEq => order(op == &BinaryOperator::LtEq, true, negated),
            BinaryOperator::Gt | BinaryOperator::GtEq => order(op == &BinaryOperator::GtEq, false, negated),
            _ => return self.unread(whole, out),
        };
        if let (Expr::Tuple(lefts), Expr::Tuple(rights), ConditionOp::Eq) =
            (expr::strip(left), expr::strip(right), op.op)
            && lefts.len() == rights.len()
        {
            for (left, right) in lefts.iter().zip(rights) {
                self.compare(left, (left, op, right), out);
            }
            return;
        }
        self.compare(whole, (left, op, right), out);
    }

    fn compare(
        &mut self,
        whole: &'a Expr,
        (left, op, right): (&'a Expr, Comparison, &'a Expr),
        out: &mut Vec<Condition>,
    ) {
        let (left, right) = (self.side(left), self.side(right));
        match (left, right) {
            (Side::Column { name, owner, .. }, Side::Column { name: text, quoted: true, .. })
                if expr::reads_double_quotes_as_text(self.ctx) =>
            {
                self.column(whole, (name, owner), op, SqlExpr::Str(text), out);
            }
            (Side::Column { name, owner, .. }, Side::Column { name: other, owner: of, .. }) => {
                self.columns(whole, (name, owner), op, (other, of), out);
            }
            (Side::Column { name, owner, .. }, Side::Value(value)) => {
                self.column(whole, (name, owner), op, value, out);
            }
            (Side::Value(value), Side::Column { name, owner, .. }) => {
                self.column(whole, (name, owner), op.flip(), value, out);
            }
            (Side::Column { name, owner, .. }, Side::Param(param)) => {
                self.column(whole, (name, owner), op, SqlExpr::Param(param), out);
            }
            (Side::Param(param), Side::Column { name, owner, .. }) => {
                self.column(whole, (name, owner), op.flip(), SqlExpr::Param(param), out);
            }
            (Side::Column { name, owner, .. }, Side::Select(query))
            | (Side::Select(query), Side::Column { name, owner, .. }) => {
                self.take_source(query);
                let is_pick = op.op == ConditionOp::Eq;
                let op = if is_pick { ConditionOp::InSelect } else { ConditionOp::Other };
                self.push_owned(out, whole, (name, owner), op, Vec::new());
            }
            (Side::Select(query), Side::Value(value)) => self.select_test(whole, query, op, value, out),
            (Side::Value(value), Side::Select(query)) => {
                self.select_test(whole, query, op.flip(), value, out);
            }
            (Side::Select(query), Side::Param(param)) | (Side::Param(param), Side::Select(query)) => {
                self.select_test(whole, query, op, SqlExpr::Param(param), out);
            }
            (Side::Param(param), Side::Value(value)) | (Side::Value(value), Side::Param(param)) => {
                self.push_param(out, whole, param, op.op, vec![value]);
            }
            (Side::Param(param), Side::Param(value)) => {
                self.push_param(out, whole, param, op.op, vec![SqlExpr::Param(value)]);
            }
            (Side::RowNumber, _) | (_, Side::RowNumber) => self.limit_one = true,
            _ => self.unread(whole, out),
        }
    }

    /// `t.a = u.b`: the other table picks the rows when it is a sub-select.
    fn columns(
        &mut self,
        whole: &'a Expr,
        (name, owner): (Name, Owner),
        op: Comparison,
        (other, of): (Name, Owner),
        out: &mut Vec<Condition>,
    ) {
        match (owner, of) {
            (Owner::Target, Owner::Target) => {
                let value = SqlExpr::Column(Name::from(other.to_lowercase()));
                self.column(whole, (name, owner), op, value, out);
            }
            (Owner::Target, of) => self.picked_by(whole, name, op, of, out),
            (of, Owner::Target) => self.picked_by(whole, other, op.flip(), of, out),
            _ => self.column(whole, (name, owner), op, SqlExpr::Other(Vec::new()), out),
        }
    }

    fn picked_by(
        &mut self,
        whole: &'a Expr,
        name: Name,
        op: Comparison,
        of: Owner,
        out: &mut Vec<Condition>,
    ) {
        let query = match of {
            Owner::Table(idx) => self.scope.tables[idx].query.clone(),
            _ => None,
        };
        if let Some((query, env)) = query
            && op.op == ConditionOp::Eq
        {
            self.take_source_in(query, &env);
            return self.push_owned(out, whole, (name, Owner::Target), ConditionOp::InSelect, Vec::new());
        }
        self.column(whole, (name, Owner::Target), op, SqlExpr::Other(Vec::new()), out);
    }

    /// `(SELECT state ..) = 'pending'` is a condition of that sub-select.
    fn select_test(
        &mut self,
        whole: &'a Expr,
        query: &'a Query,
        op: Comparison,
        value: SqlExpr,
        out: &mut Vec<Condition>,
    ) {
        let had_source = self.source.is_some();
        self.take_source(query);
        let span = self.ctx.extent(whole, true);
        if let Some(source) = self.source.as_mut().filter(|_| !had_source) {
            let column = source.columns.first().cloned().unwrap_or_else(|| Name::from(""));
            source.conditions.push(leaf(column, op.op, vec![op.adjust(value)], span));
        }
        self.push(out, whole, Name::from(""), ConditionOp::InSelect, Vec::new());
    }

    fn column(
        &mut self,
        whole: &'a Expr,
        of: (Name, Owner),
        op: Comparison,
        value: SqlExpr,
        out: &mut Vec<Condition>,
    ) {
        let (op, values) = match (op.op, &value) {
            (ConditionOp::Eq, SqlExpr::Null) if op.is_test => (ConditionOp::IsNull, Vec::new()),
            (ConditionOp::Ne, SqlExpr::Null) if op.is_test => (ConditionOp::IsNotNull, Vec::new()),
            _ => (op.op, vec![op.adjust(value)]),
        };
        self.push_owned(out, whole, of, op, values);
    }

    /// A column, a parameter or something else, tested alone.
    fn test(
        &mut self,
        whole: &'a Expr,
        tested: &'a Expr,
        op: ConditionOp,
        values: Vec<SqlExpr>,
        out: &mut Vec<Condition>,
    ) {
        match self.side(tested) {
            Side::Column { name, owner, .. } => self.push_owned(out, whole, (name, owner), op, values),
            Side::Param(param) => self.push_param(out, whole, param, op, values),
            Side::Select(query) => {
                self.take_source(query);
                self.push(out, whole, Name::from(""), ConditionOp::Other, Vec::new());
            }
            Side::Value(_) | Side::RowNumber => self.unread(whole, out),
        }
    }

    /// `done`, `NOT done`, `done IS TRUE`; a hole that is a whole condition.
    fn boolean(&mut self, whole: &'a Expr, tested: &'a Expr, truth: bool, out: &mut Vec<Condition>) {
        match self.side(tested) {
            Side::Column { name, owner, .. } => {
                self.push_owned(out, whole, (name, owner), ConditionOp::Eq, vec![SqlExpr::Bool(truth)]);
            }
            Side::Param(ParamRef::Hole(hole)) if !self.ctx.buffer.is_numeric(hole) => {
                self.holes.push(hole);
                self.complete = false;
                self.push_param(out, whole, ParamRef::Hole(hole), ConditionOp::Other, Vec::new());
            }
            Side::Param(param) => {
                self.push_param(out, whole, param, ConditionOp::Eq, vec![SqlExpr::Bool(truth)]);
            }
            Side::Select(_) | Side::Value(_) | Side::RowNumber => self.unread(whole, out),
        }
    }

    fn inclusion(
        &mut self,
        whole: &'a Expr,
        tested: &'a Expr,
        target: &'a InTarget,
        negated: bool,
        out: &mut Vec<Condition>,
    ) {
        let op = if negated { ConditionOp::NotIn } else { ConditionOp::In };
        match target {
            InTarget::List(items) => {
                if let (Expr::Tuple(columns), [row], false) = (expr::strip(tested), items.as_slice(), negated)
                    && let Expr::Tuple(row) = expr::strip(row)
                    && row.len() == columns.len()
                {
                    for (column, value) in columns.iter().zip(row) {
                        self.compare(column, (column, equality(true), value), out);
                    }
                    return;
                }
                let values = items.iter().map(|it| self.value(it)).collect();
                self.test(whole, tested, op, values, out);
            }
            InTarget::Subquery(query) if !negated => {
                self.take_source(query);
                self.test(whole, tested, ConditionOp::InSelect, Vec::new(), out);
            }
            InTarget::Subquery(_) => self.test(whole, tested, ConditionOp::Other, Vec::new(), out),
            InTarget::Unnest(array) => self.array(whole, tested, array, op, out),
            InTarget::Table { name, .. } => {
                let (_, param) = self.ctx.object(name);
                let values = param.map(SqlExpr::Param).into_iter().collect();
                self.test(whole, tested, op, values, out);
            }
        }
    }

    /// `= ANY(ARRAY[..])`, `= ANY($1)`, `= ANY('{a,b}')`, `= ANY(SELECT ..)`.
    fn array(
        &mut self,
        whole: &'a Expr,
        tested: &'a Expr,
        array: &'a Expr,
        op: ConditionOp,
        out: &mut Vec<Condition>,
    ) {
        let values = match expr::strip(array) {
            Expr::Array(it) => it.elem.iter().map(|it| self.value(it)).collect(),
            Expr::Subquery(query) => {
                let is_pick = op == ConditionOp::In;
                if is_pick {
                    self.take_source(query);
                }
                let op = if is_pick { ConditionOp::InSelect } else { ConditionOp::Other };
                return self.test(whole, tested, op, Vec::new(), out);
            }
            it => match self.value(it) {
                SqlExpr::Str(text) if text.starts_with('{') => {
                    let items = text.trim_matches(['{', '}']).split(',');
                    items.map(|it| SqlExpr::Str(Name::from(it.trim_matches(['"', ' '])))).collect()
                }
                value => vec![value],
            },
        };
        self.test(whole, tested, op, values, out);
    }

    fn value(&self, expr: &Expr) -> SqlExpr {
        value(self.ctx, self.scope, expr, None)
    }

    fn side(&self, expr: &'a Expr) -> Side<'a> {
        let expr = unwrap_column(expr::strip(expr));
        if let Some((base, path)) = expr::json_path(expr)
            && let Side::Column { name, owner, .. } = self.plain_side(base)
        {
            return Side::Column { name: Name::from(format!("{name}->{path}")), owner, quoted: false };
        }
        self.plain_side(expr)
    }

    fn plain_side(&self, expr: &'a Expr) -> Side<'a> {
        let parts = match expr {
            Expr::Identifier(it) => std::slice::from_ref(it),
            Expr::CompoundIdentifier(them) => them.as_slice(),
            Expr::Subquery(query) => return Side::Select(query),
            _ => return Side::Value(self.value(expr)),
        };
        let Some(last) = parts.last() else { return Side::Value(SqlExpr::Other(Vec::new())) };
        if let Some(param) = self.ctx.param(last) {
            return Side::Param(param);
        }
        if parts.len() == 1 && last.quote_style.is_none() {
            if last.value.eq_ignore_ascii_case("rownum") {
                return Side::RowNumber;
            }
            if let it @ SqlExpr::Now = self.value(expr) {
                return Side::Value(it);
            }
        }
        if self.ctx.name(last).is_empty() || !self.ctx.params_at(last.span.start).is_empty() {
            return Side::Value(self.value(expr));
        }
        let owner = self.scope.owner(self.ctx, parts);
        if owner == Owner::Excluded {
            return Side::Value(self.value(expr));
        }
        let quoted = parts.len() == 1 && last.quote_style == Some('"');
        Side::Column { name: Name::from(last.value.as_str()), owner, quoted }
    }

    fn take_source(&mut self, query: &'a Query) {
        self.take_source_in(query, self.env);
    }

    fn take_source_in(&mut self, query: &'a Query, env: &Env<'a>) {
        if self.source.is_none() {
            self.source = query::select_statement(self.ctx, env, query).map(Box::new);
        }
    }

    /// A condition that is not understood; it names the target's column when it reads only one.
    fn unread(&mut self, expr: &'a Expr, out: &mut Vec<Condition>) {
        let params = expr::params(self.ctx, expr);
        let column = self.only_column(expr);
        let value = vec![SqlExpr::Other(params)];
        match column {
            Some(of) => self.push_owned(out, expr, of, ConditionOp::Other, value),
            None => self.push(out, expr, Name::from(""), ConditionOp::Other, value),
        }
    }

    fn only_column(&self, expr: &Expr) -> Option<(Name, Owner)> {
        let mut found: Option<(Name, Owner)> = None;
        let several = expr::any_column(expr, &mut |parts| {
            let Some(last) = parts.last() else { return false };
            if !self.ctx.params_at(last.span.start).is_empty() || self.ctx.name(last).is_empty() {
                return false;
            }
            let owner = self.scope.owner(self.ctx, parts);
            let name = &found.get_or_insert_with(|| (Name::from(last.value.as_str()), owner)).0;
            !name.eq_ignore_ascii_case(&last.value)
        });
        found.filter(|_| !several)
    }

    /// What the parser was given where the text ends too early.
    fn is_filler(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Identifier(it)
            if self.ctx.name(it).is_empty() && self.ctx.params_at(it.span.start).is_empty())
    }

    /// The truth of a condition without columns and parameters: `1 = 1`, `TRUE`, `0`.
    fn constant(&self, expr: &Expr) -> Option<bool> {
        match expr::strip(expr) {
            Expr::Value(it) => match &it.value {
                Value::Boolean(it) => Some(*it),
                Value::Number(it, _) => Some(it.parse::<f64>().is_ok_and(|it| it != 0.0)),
                _ => None,
            },
            Expr::BinaryOp { left, op: op @ (BinaryOperator::Eq | BinaryOperator::NotEq), right } => {
                let equal = self.constant_text(left)? == self.constant_text(right)?;
                Some(equal == (op == &BinaryOperator::Eq))
            }
            _ => None,
        }
    }

    fn constant_text<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        let Expr::Value(it) = expr::strip(expr) else { return None };
        match &it.value {
            Value::Number(text, _) | Value::SingleQuotedString(text) => {
                self.ctx.params_at(it.span.start).is_empty().then_some(text)
            }
            _ => None,
        }
    }

    fn push(
        &self,
        out: &mut Vec<Condition>,
        whole: &Expr,
        column: Name,
        op: ConditionOp,
        values: Vec<SqlExpr>,
    ) {
        out.push(leaf(column, op, values, self.ctx.extent(whole, true)));
    }

    fn push_owned(
        &mut self,
        out: &mut Vec<Condition>,
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
        out.push(Condition { foreign, ..it });
    }

    fn push_param(
        &self,
        out: &mut Vec<Condition>,
        whole: &Expr,
        param: ParamRef,
        op: ConditionOp,
        values: Vec<SqlExpr>,
    ) {
        let it = leaf(Name::from(""), op, values, self.ctx.extent(whole, true));
        out.push(Condition { column_param: Some(param), ..it });
    }
}

/// An operator, and whether it was `<=` or `>=`.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    op: ConditionOp,
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
            (SqlExpr::Int(it), ConditionOp::Less) if self.inclusive => SqlExpr::Int(it.saturating_add(1)),
            (SqlExpr::Int(it), ConditionOp::Greater) if self.inclusive => {
                SqlExpr::Int(it.saturating_sub(1))
            }
            (value, _) => value,
        }
    }
}

fn equality(equal: bool) -> Comparison {
    let op = if equal { ConditionOp::Eq } else { ConditionOp::Ne };
    Comparison { op, inclusive: false, is_test: false }
}

fn null_safe(equal: bool) -> Comparison {
    Comparison { is_test: true, ..equality(equal) }
}

fn order(inclusive: bool, less: bool, negated: bool) -> Comparison {
    let op = if less == negated { ConditionOp::Greater } else { ConditionOp::Less };
    Comparison { op, inclusive: inclusive != negated, is_test: false }
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

/// Sees through functions that keep a comparison what it is: `COALESCE(s, 'x')`, `LOWER(s)`.
fn unwrap_column(expr: &Expr) -> &Expr {
    let Expr::Function(func) = expr else { return expr };
    let args = expr::arguments(func);
    let inner = match (expr::function_name(func).as_str(), args.as_slice()) {
        ("coalesce" | "ifnull" | "nvl" | "isnull", [first, rest @ ..])
            if !rest.is_empty() && rest.iter().all(|it| matches!(expr::strip(it), Expr::Value(_))) =>
        {
            first
        }
        ("coalesce", [null, column]) if is_null(null) => column,
        ("lower" | "upper" | "trim" | "binary", [only]) => only,
        _ => return expr,
    };
    match expr::strip(inner) {
        inner @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => inner,
        _ => expr,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr::strip(expr), Expr::Value(it) if it.value == Value::Null)
}
