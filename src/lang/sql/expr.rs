//! Expressions, as far as a race depends on them: literals, parameters, columns, the clock, and
//! whether a value is computed from the column that it is put into.

use super::ctx::{Ctx, name_of};
use super::scope::{Owner, Scope};
use crate::base::Name;
use crate::ir::{Assign, Engine, ParamRef, SqlExpr};
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query,
    UnaryOperator, Value, ValueWithSpan, Visit, Visitor, visit_expressions,
};
use std::ops::ControlFlow;

/// The value of `expr`; `set` is the column it is put into.
pub(super) fn value(ctx: &Ctx<'_>, scope: &Scope<'_>, expr: &Expr, set: Option<&str>) -> SqlExpr {
    let expr = strip(expr);
    match expr {
        Expr::Value(it) => literal(ctx, it),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match value(ctx, scope, expr, None) {
            SqlExpr::Int(it) => SqlExpr::Int(-it),
            _ => other(ctx, expr),
        },
        Expr::Identifier(it) => identifier(ctx, scope, it),
        Expr::CompoundIdentifier(them) => qualified(ctx, scope, them),
        Expr::Function(it) => function(ctx, scope, it, expr, set),
        Expr::Case { .. } if mentions(ctx, scope, expr, set) => SqlExpr::Conditional,
        _ if mentions(ctx, scope, expr, set) => SqlExpr::Relative(params(ctx, expr)),
        _ => other(ctx, expr),
    }
}

/// The expression under parentheses, casts, collations and the like.
pub(super) fn strip(expr: &Expr) -> &Expr {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Nested(it)
            | Expr::Cast { expr: it, .. }
            | Expr::Convert { expr: it, .. }
            | Expr::Collate { expr: it, .. }
            | Expr::Prefixed { value: it, .. }
            | Expr::AtTimeZone { timestamp: it, .. }
            | Expr::UnaryOp { op: UnaryOperator::Plus, expr: it } => it,
            Expr::Tuple(them) if them.len() == 1 => &them[0],
            _ => return expr,
        };
    }
}

fn other(ctx: &Ctx<'_>, expr: &Expr) -> SqlExpr {
    SqlExpr::Other(params(ctx, expr))
}

fn literal(ctx: &Ctx<'_>, it: &ValueWithSpan) -> SqlExpr {
    match &it.value {
        Value::Number(text, _) => text.parse().map_or(SqlExpr::Other(Vec::new()), SqlExpr::Int),
        Value::Boolean(it) => SqlExpr::Bool(*it),
        Value::Null => SqlExpr::Null,
        Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
            let params = ctx.params_at(it.span.start);
            quoted(text, params, ctx.token(it.span.start).is_some_and(is_whole))
        }
        Value::DollarQuotedString(text) => SqlExpr::Str(Name::from(text.value.as_str())),
        Value::HexStringLiteral(text) => SqlExpr::Str(Name::from(format!("0x{text}"))),
        _ => SqlExpr::Other(Vec::new()),
    }
}

/// A text with parameters in it; one alone is the value itself.
fn quoted(text: &str, mut params: Vec<ParamRef>, whole: bool) -> SqlExpr {
    match params.len() {
        0 => SqlExpr::Str(Name::from(text)),
        1 if whole => params.pop().map_or(SqlExpr::Null, SqlExpr::Param),
        _ => SqlExpr::Mixed(params),
    }
}

/// The parameter is all that stands between the quotes.
fn is_whole(token: &super::token::Lexed) -> bool {
    token.atoms.first().is_some_and(|it| it.start == token.start + 1 && it.end + 1 == token.end)
}

fn identifier(ctx: &Ctx<'_>, scope: &Scope<'_>, it: &Ident) -> SqlExpr {
    let params = ctx.params_at(it.span.start);
    if !params.is_empty() {
        let whole = it.quote_style.is_some() && ctx.token(it.span.start).is_some_and(is_whole);
        return quoted("", params, whole || ctx.param(it).is_some());
    }
    if it.quote_style == Some('"') && reads_double_quotes_as_text(ctx) {
        return SqlExpr::Str(Name::from(it.value.as_str()));
    }
    if it.quote_style.is_none() && is_clock(&it.value) {
        return SqlExpr::Now;
    }
    let unknown = name_of(it).is_empty() || it.value.eq_ignore_ascii_case("default");
    if unknown || scope.owner(ctx, std::slice::from_ref(it)) != Owner::Target {
        return SqlExpr::Other(Vec::new());
    }
    SqlExpr::Column(Name::from(it.value.to_lowercase()))
}

/// `"new"` as a value is a column in the standard, a text in MySQL and in practice in SQLite.
pub(super) fn reads_double_quotes_as_text(ctx: &Ctx<'_>) -> bool {
    !matches!(ctx.engine, Some(Engine::Postgres | Engine::Oracle | Engine::MsSql))
}

fn qualified(ctx: &Ctx<'_>, scope: &Scope<'_>, them: &[Ident]) -> SqlExpr {
    let Some(last) = them.last() else { return SqlExpr::Other(Vec::new()) };
    let params = ctx.params_at(last.span.start);
    if !params.is_empty() {
        return SqlExpr::Other(params);
    }
    match scope.owner(ctx, them) {
        Owner::Target => SqlExpr::Column(Name::from(last.value.to_lowercase())),
        Owner::Excluded => excluded(scope, &last.value),
        Owner::Table(_) | Owner::Unknown => SqlExpr::Other(Vec::new()),
    }
}

/// What the upsert inserts into `column`.
fn excluded(scope: &Scope<'_>, column: &str) -> SqlExpr {
    let sets: &[Assign] = scope.excluded.unwrap_or_default();
    let set = sets.iter().find(|it| it.column.eq_ignore_ascii_case(column));
    set.map_or(SqlExpr::Other(Vec::new()), |it| it.value.clone())
}

fn function(
    ctx: &Ctx<'_>,
    scope: &Scope<'_>,
    func: &Function,
    expr: &Expr,
    set: Option<&str>,
) -> SqlExpr {
    let name = function_name(func);
    let args = arguments(func);
    if is_clock(&name) && args.iter().all(|it| is_precision(it)) {
        return SqlExpr::Now;
    }
    match (name.as_str(), args.as_slice()) {
        ("datetime" | "date" | "julianday" | "unixepoch", [now]) if is_now_text(now) => {
            SqlExpr::Now
        }
        ("strftime", [_, now]) if is_now_text(now) => SqlExpr::Now,
        ("values", [arg]) if let Expr::Identifier(it) = strip(arg) => excluded(scope, &it.value),
        ("last_insert_id" | "lower" | "upper" | "trim", [arg]) => value(ctx, scope, arg, set),
        ("coalesce" | "ifnull" | "nvl", _) => {
            let mut given = args.iter().filter(|it| !is_null(it));
            match (given.next(), given.next()) {
                (Some(only), None) => value(ctx, scope, only, set),
                _ if mentions(ctx, scope, expr, set) => SqlExpr::Conditional,
                _ => other(ctx, expr),
            }
        }
        ("if" | "iif" | "nullif" | "decode" | "isnull", _) if mentions(ctx, scope, expr, set) => {
            SqlExpr::Conditional
        }
        _ if mentions(ctx, scope, expr, set) => SqlExpr::Relative(params(ctx, expr)),
        _ => other(ctx, expr),
    }
}

/// The last part of a function's name, in lower case.
pub(super) fn function_name(func: &Function) -> String {
    func.name
        .0
        .last()
        .and_then(|it| it.as_ident())
        .map(|it| it.value.to_lowercase())
        .unwrap_or_default()
}

/// The plain arguments of a call.
pub(super) fn arguments(func: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &func.args else { return Vec::new() };
    let plain = |it: &'_ FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(_)) => true,
        FunctionArg::Named { .. } | FunctionArg::ExprNamed { .. } | FunctionArg::Unnamed(_) => {
            false
        }
    };
    list.args
        .iter()
        .filter(|it| plain(it))
        .filter_map(|it| match it {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

pub(super) fn is_clock(name: &str) -> bool {
    matches!(
        name.to_lowercase().as_str(),
        "now"
            | "current_timestamp"
            | "unix_timestamp"
            | "unixepoch"
            | "getdate"
            | "getutcdate"
            | "sysdate"
            | "sysdatetime"
            | "sysutcdatetime"
            | "systimestamp"
            | "utc_timestamp"
            | "localtime"
            | "localtimestamp"
            | "transaction_timestamp"
            | "statement_timestamp"
            | "clock_timestamp"
            | "curdate"
            | "current_date"
            | "current_time"
            | "curtime"
    )
}

fn is_precision(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(it) if matches!(it.value, Value::Number(..)))
}

fn is_now_text(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(it)
        if matches!(&it.value, Value::SingleQuotedString(it) if it.eq_ignore_ascii_case("now")))
}

fn is_null(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Value(it) if it.value == Value::Null)
}

/// Every parameter in the expression, sub-selects included, in the order of the tree.
pub(super) fn params(ctx: &Ctx<'_>, expr: &Expr) -> Vec<ParamRef> {
    let mut out = Vec::new();
    let _ = visit_expressions(expr, |it| {
        match it {
            Expr::Identifier(it) => out.extend(ctx.params_at(it.span.start)),
            Expr::CompoundIdentifier(them) => {
                out.extend(them.iter().flat_map(|it| ctx.params_at(it.span.start)));
            }
            Expr::Value(it) => out.extend(ctx.params_at(it.span.start)),
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    out
}

/// Calls `test` with every column of the expression, qualifiers first, outside of sub-selects;
/// stops when it answers true.
pub(super) fn any_column(expr: &Expr, test: &mut dyn FnMut(&[Ident]) -> bool) -> bool {
    let mut columns = Columns { depth: 0, test };
    expr.visit(&mut columns).is_break()
}

struct Columns<'t> {
    depth: u32,
    test: &'t mut dyn FnMut(&[Ident]) -> bool,
}

impl Visitor for Columns<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let parts = match expr {
            Expr::Identifier(it) => std::slice::from_ref(it),
            Expr::CompoundIdentifier(them) => them.as_slice(),
            _ => return ControlFlow::Continue(()),
        };
        let found = self.depth == 0 && (self.test)(parts);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whether the expression reads the target's column `set`.
fn mentions(ctx: &Ctx<'_>, scope: &Scope<'_>, expr: &Expr, set: Option<&str>) -> bool {
    let Some(set) = set.filter(|it| !it.is_empty()) else { return false };
    any_column(expr, &mut |parts| {
        let same = parts.last().is_some_and(|it| it.value.eq_ignore_ascii_case(set));
        // In a scope of several tables an unqualified name may be the target's.
        same && matches!(scope.owner(ctx, parts), Owner::Target | Owner::Unknown)
    })
}

/// `meta->>'status'`, `JSON_EXTRACT(meta, '$.status')`: the column and the path, dotted.
pub(super) fn json_path(expr: &Expr) -> Option<(&Expr, String)> {
    match strip(expr) {
        Expr::BinaryOp {
            left,
            op:
                BinaryOperator::Arrow
                | BinaryOperator::LongArrow
                | BinaryOperator::HashArrow
                | BinaryOperator::HashLongArrow,
            right,
        } => {
            let step = path_text(right)?;
            match json_path(left) {
                Some((base, path)) => Some((base, format!("{path}.{step}"))),
                None => Some((strip(left), step)),
            }
        }
        Expr::Function(func) => {
            let args = arguments(func);
            match (function_name(func).as_str(), args.as_slice()) {
                ("json_unquote", [inner]) => json_path(inner),
                ("json_extract" | "json_value" | "jsonb_extract_path_text", [base, path]) => {
                    Some((strip(base), path_text(path)?))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// `jsonb_set(meta, '{status}', x)`, `JSON_SET(meta, '$.status', x)`: base, path and new value.
pub(super) fn json_set(expr: &Expr) -> Option<(&Expr, String, &Expr)> {
    let Expr::Function(func) = strip(expr) else { return None };
    let args = arguments(func);
    match (function_name(func).as_str(), args.as_slice()) {
        ("jsonb_set" | "json_set" | "json_replace" | "json_modify", [base, path, value, ..]) => {
            Some((strip(base), path_text(path)?, value))
        }
        _ => None,
    }
}

fn path_text(expr: &Expr) -> Option<String> {
    let Expr::Value(it) = strip(expr) else { return None };
    let text = match &it.value {
        Value::SingleQuotedString(it) => it.as_str(),
        Value::Number(it, _) => return Some(it.clone()),
        _ => return None,
    };
    let text = text.trim_start_matches("$.").trim_matches(['{', '}', '"']);
    Some(text.replace(',', ".").replace('"', ""))
}
