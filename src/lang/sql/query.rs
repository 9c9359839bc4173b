//! SELECT, alone or as the part of a statement that picks its rows.

use super::condition::Reducer;
use super::ctx::{Ctx, name_of, query_start};
use super::expr;
use super::scope::{Env, Scope};
use super::tree::offset_of;
use crate::base::Name;
use crate::ir::{LockClause, ParamRef, Statement, StatementKind};
use sqlparser::ast::{
    Expr, Fetch, GroupByExpr, Ident, LimitClause, LockType, NonBlock, Query, Select, SelectItem,
    SetExpr, TopQuantity, Value,
};
use sqlparser::tokenizer::Location;

/// Queries nested deeper are not read.
const MAX_DEPTH: u32 = 30;

/// A statement that says nothing yet.
pub(super) fn blank(ctx: &Ctx<'_>, kind: StatementKind, verb: Location) -> Statement {
    let at = offset_of(verb).unwrap_or(0);
    let idx = ctx.token_index(at);
    let verb_end = ctx.tokens.get(idx).map_or(at, |it| it.end);
    Statement {
        kind,
        table: Name::from(""),
        table_param: None,
        sets: Vec::new(),
        conditions: Vec::new(),
        complete: true,
        condition_holes: Vec::new(),
        columns: Vec::new(),
        aggregate: false,
        limit_one: false,
        lock: None,
        source: None,
        upsert: None,
        returning: false,
        positions: 0,
        engine: ctx.evidence,
        verb_span: ctx.span(at, verb_end),
        span: ctx.span(at, ctx.statement_end(idx)),
    }
}

/// The statement that a query is: the first SELECT of a union.
pub(super) fn select_statement<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    query: &'a Query,
) -> Option<Statement> {
    if env.depth > MAX_DEPTH {
        return None;
    }
    let env = env.enter(query);
    let mut body = query.body.as_ref();
    let mut union = false;
    let select = loop {
        match body {
            SetExpr::Select(it) => break it,
            SetExpr::Query(inner) => {
                let mut stmt = select_statement(ctx, &env, inner)?;
                add_tail(query, &mut stmt);
                return Some(stmt);
            }
            SetExpr::SetOperation { left, .. } => {
                union = true;
                body = left;
            }
            _ => return None,
        }
    };
    let verb = query_start(query)?;
    let mut stmt = blank(ctx, StatementKind::Select, verb);
    stmt.complete = !union;
    read_select(ctx, &env, select, &mut stmt);
    add_tail(query, &mut stmt);
    Some(stmt)
}

/// Limit and locks.
fn add_tail(query: &Query, stmt: &mut Statement) {
    let limit = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
        Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
        None => None,
    };
    stmt.limit_one |= limit.is_some_and(is_one) || query.fetch.as_ref().is_some_and(fetches_one);
    for lock in &query.locks {
        let found = match (&lock.lock_type, &lock.nonblock) {
            (LockType::Share, _) => LockClause::Shared,
            (LockType::Update, Some(NonBlock::SkipLocked)) => LockClause::SkipLocked,
            (LockType::Update, _) => LockClause::Exclusive,
        };
        stmt.lock = Some(found);
    }
}

fn fetches_one(fetch: &Fetch) -> bool {
    !fetch.percent && fetch.quantity.as_ref().is_none_or(is_one)
}

/// Whether it is the literal 1.
pub(super) fn is_one(expr: &Expr) -> bool {
    matches!(expr::strip(expr), Expr::Value(it)
        if matches!(&it.value, Value::Number(it, _) if it == "1"))
}

fn read_select<'a>(ctx: &Ctx<'_>, env: &Env<'a>, select: &'a Select, stmt: &mut Statement) {
    let mut scope = Scope::default();
    for from in &select.from {
        scope.add(ctx, env, from);
    }
    if let Some(table) = scope.tables.first() {
        stmt.table = table.name.clone();
        stmt.table_param.clone_from(&table.param);
        stmt.lock = hinted_lock(table.hints);
        if let Some((query, env)) = table.query.clone() {
            stmt.source = select_statement(ctx, &env, query).map(Box::new);
        }
    }
    read_projection(ctx, env, select, stmt);
    read_where(ctx, env, &scope, select.selection.as_ref(), stmt);
    stmt.limit_one |= select.top.as_ref().is_some_and(|it| match &it.quantity {
        Some(TopQuantity::Constant(count)) => *count == 1,
        Some(TopQuantity::Expr(expr)) => is_one(expr),
        None => false,
    });
}

/// WHERE and the conditions of inner joins, into `stmt`.
pub(super) fn read_where<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    scope: &Scope<'a>,
    selection: Option<&'a Expr>,
    stmt: &mut Statement,
) {
    let mut reducer = Reducer::new(ctx, env, scope);
    for expr in selection.into_iter().chain(scope.joins.iter().copied()) {
        stmt.conditions.append(&mut reducer.reduce(expr));
    }
    let loose = scope.loose.iter().filter_map(|it| match it {
        ParamRef::Hole(hole) => Some(*hole),
        _ => None,
    });
    stmt.condition_holes.extend(reducer.holes.iter().copied().chain(loose));
    stmt.complete &= reducer.complete && scope.loose.is_empty();
    stmt.limit_one |= reducer.limit_one;
    // A column that is set and that several tables may have: whose is tested is not known.
    let is_set = |name: &Name| stmt.sets.iter().any(|it| it.column.eq_ignore_ascii_case(name));
    stmt.complete &= !reducer.ambiguous.iter().any(is_set);
    if reducer.source.is_some() {
        stmt.source = reducer.source;
    }
    lock_in_where(selection, stmt);
}

/// `WHERE pg_try_advisory_lock(id)`.
fn lock_in_where(selection: Option<&Expr>, stmt: &mut Statement) {
    let mut expr = selection;
    while let Some(it) = expr {
        let (next, leaf) = match it {
            Expr::BinaryOp { left, right, .. } => (Some(left.as_ref()), right.as_ref()),
            _ => (None, it),
        };
        if let Some(lock) = advisory(leaf) {
            stmt.lock = Some(lock.0);
        }
        expr = next;
    }
}

fn read_projection<'a>(ctx: &Ctx<'_>, env: &Env<'a>, select: &'a Select, stmt: &mut Statement) {
    let grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(them, _) => !them.is_empty(),
    };
    for item in &select.projection {
        let (expr, alias) = match item {
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAliases { expr, .. } => {
                (expr, None)
            }
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => {
                stmt.columns.push(Name::from("*"));
                continue;
            }
        };
        stmt.columns.push(item_column(expr, alias));
        stmt.aggregate |= !grouped && is_aggregate(expr);
        if let Some((lock, release)) = advisory(expr)
            && select.from.is_empty()
        {
            stmt.kind = if release { StatementKind::Unlock } else { StatementKind::Lock };
            stmt.lock = Some(lock);
        }
        if let Expr::Exists { subquery, .. } = expr::strip(expr)
            && select.from.is_empty()
        {
            adopt(ctx, env, subquery, stmt);
        }
    }
}

/// `SELECT EXISTS (SELECT ..)` is that select, with an answer that is no row.
fn adopt<'a>(ctx: &Ctx<'_>, env: &Env<'a>, query: &'a Query, stmt: &mut Statement) {
    stmt.aggregate = true;
    if let Some(inner) = select_statement(ctx, env, query) {
        *stmt = Statement {
            aggregate: true,
            columns: stmt.columns.clone(),
            verb_span: stmt.verb_span,
            span: stmt.span,
            ..inner
        };
    }
}

/// The column, or the alias of an expression.
fn item_column(expr: &Expr, alias: Option<&Ident>) -> Name {
    let parts = match expr::strip(expr) {
        Expr::Identifier(it) => std::slice::from_ref(it),
        Expr::CompoundIdentifier(them) => them.as_slice(),
        _ => &[],
    };
    let ident = parts.last().or(alias);
    Name::from(ident.map_or("", |it| name_of(it)))
}

fn is_aggregate(expr: &Expr) -> bool {
    match expr::strip(expr) {
        Expr::Function(func) => match expr::function_name(func).as_str() {
            "count" | "sum" | "avg" | "min" | "max" | "bool_or" | "bool_and" | "every"
            | "string_agg" | "group_concat" | "array_agg" | "json_agg" => func.over.is_none(),
            "coalesce" | "ifnull" | "nvl" => {
                expr::arguments(func).first().is_some_and(|it| is_aggregate(it))
            }
            _ => false,
        },
        Expr::Exists { .. } => true,
        Expr::BinaryOp { left, .. } => is_aggregate(left),
        _ => false,
    }
}

/// `WITH (UPDLOCK, READPAST)`.
pub(super) fn hinted_lock(hints: &[Expr]) -> Option<LockClause> {
    let has = |word: &str| {
        hints
            .iter()
            .any(|it| matches!(it, Expr::Identifier(it) if it.value.eq_ignore_ascii_case(word)))
    };
    let exclusive = has("updlock") || has("xlock");
    if has("tablockx") {
        Some(LockClause::Table)
    } else if exclusive && has("readpast") {
        Some(LockClause::SkipLocked)
    } else if exclusive {
        Some(LockClause::Exclusive)
    } else if has("holdlock") || has("repeatableread") || has("serializable") {
        Some(LockClause::Shared)
    } else {
        None
    }
}

/// The lock that a call takes or, when the flag is set, releases.
fn advisory(expr: &Expr) -> Option<(LockClause, bool)> {
    let expr = match expr::strip(expr) {
        Expr::BinaryOp { left, .. } => expr::strip(left),
        it => it,
    };
    let Expr::Function(func) = expr else { return None };
    let waits_for_ever = || match expr::arguments(func).get(1).map(|it| expr::strip(it)) {
        Some(Expr::UnaryOp { .. }) => true,
        Some(Expr::Value(it)) => matches!(&it.value, Value::Null),
        _ => false,
    };
    lock_function(&expr::function_name(func), waits_for_ever)
}

/// What a function of one of the engines does to named locks.
pub(super) fn lock_function(
    name: &str,
    waits_for_ever: impl Fn() -> bool,
) -> Option<(LockClause, bool)> {
    let found = match name {
        "pg_advisory_xact_lock" | "pg_advisory_xact_lock_shared" => LockClause::AdvisoryXact,
        "pg_try_advisory_xact_lock" | "pg_try_advisory_xact_lock_shared" => {
            LockClause::AdvisoryXactTry
        }
        "pg_advisory_lock" | "pg_advisory_lock_shared" | "sp_getapplock" => LockClause::Session,
        "get_lock" if waits_for_ever() => LockClause::Session,
        "get_lock" | "pg_try_advisory_lock" | "pg_try_advisory_lock_shared" => {
            LockClause::SessionTry
        }
        "pg_advisory_unlock"
        | "pg_advisory_unlock_all"
        | "pg_advisory_unlock_shared"
        | "release_lock"
        | "release_all_locks"
        | "sp_releaseapplock" => {
            return Some((LockClause::Session, true));
        }
        _ => return None,
    };
    Some((found, false))
}
