//! One side of a comparison: a column, seen through what keeps a comparison what it is, a parameter,
//! a sub-select or a value.

use super::condition::Reducer;
use super::ctx::name_of;
use super::expr;
use super::scope::Owner;
use crate::base::Name;
use crate::ir::{ParamRef, SqlExpr};
use sqlparser::ast::{BinaryOperator, Expr, Query, Value};

/// An expression that reads more columns is known by the first of them.
pub(super) const MAX_COLUMNS: usize = 8;

/// One side of a comparison.
#[derive(Debug)]
pub(super) enum Side<'a> {
    Column {
        name: Name,
        owner: Owner,
        quoted: bool,
    },
    /// A parameter where a column or a value may stand.
    Param(ParamRef),
    Select(&'a Query),
    Value(SqlExpr),
    RowNumber,
}

impl<'a> Reducer<'_, 'a> {
    pub(super) fn side(&self, expr: &'a Expr) -> Side<'a> {
        let expr = unwrap_column(expr::strip(expr));
        if let Some((base, path)) = expr::json_path(expr)
            && let Side::Column { name, owner, .. } = self.plain_side(base)
        {
            return Side::Column {
                name: Name::from(format!("{name}->{path}")),
                owner,
                quoted: false,
            };
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
        if name_of(last).is_empty() || !self.ctx.params_at(last.span.start).is_empty() {
            return Side::Value(self.value(expr));
        }
        let owner = self.scope.owner(self.ctx, parts);
        if owner == Owner::Excluded {
            return Side::Value(self.value(expr));
        }
        let quoted = parts.len() == 1 && last.quote_style == Some('"');
        Side::Column { name: Name::from(last.value.as_str()), owner, quoted }
    }

    /// The columns that an expression reads, each once.
    pub(super) fn columns_of(&self, expr: &Expr) -> Vec<(Name, Owner)> {
        let mut found: Vec<(Name, Owner)> = Vec::new();
        expr::any_column(expr, &mut |parts| {
            let Some(last) = parts.last() else { return false };
            let known = !name_of(last).is_empty()
                && self.ctx.params_at(last.span.start).is_empty()
                && !expr::is_clock(&last.value);
            let owner = self.scope.owner(self.ctx, parts);
            let is_new = !found.iter().any(|it| it.0.eq_ignore_ascii_case(&last.value));
            if known && is_new {
                found.push((Name::from(last.value.as_str()), owner));
            }
            found.len() > MAX_COLUMNS
        });
        found
    }

    /// The truth of a condition without columns and parameters: `1 = 1`, `TRUE`, `0`.
    pub(super) fn constant(&self, expr: &Expr) -> Option<bool> {
        match expr::strip(expr) {
            Expr::Value(it) => match &it.value {
                Value::Boolean(it) => Some(*it),
                Value::Number(it, _) => Some(it.parse::<f64>().is_ok_and(|it| it != 0.0)),
                _ => None,
            },
            Expr::BinaryOp {
                left,
                op: op @ (BinaryOperator::Eq | BinaryOperator::NotEq),
                right,
            } => {
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
}

/// Sees through functions that keep a comparison what it is: `COALESCE(s, 'x')`, `LOWER(s)`.
fn unwrap_column(expr: &Expr) -> &Expr {
    let Expr::Function(func) = expr else { return expr };
    let args = expr::arguments(func);
    let inner = match (expr::function_name(func).as_str(), args.as_slice()) {
        ("coalesce" | "ifnull" | "nvl" | "isnull", [first, rest @ ..])
            if !rest.is_empty()
                && rest.iter().all(|it| matches!(expr::strip(it), Expr::Value(_))) =>
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
