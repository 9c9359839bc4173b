//! UPDATE, DELETE and what a WITH puts around them.

use super::ctx::{Ctx, name_of};
use super::edit::Notes;
use super::expr;
use super::query::{self, blank, read_where};
use super::scope::{Env, Scope};
use super::token::Lexed;
use super::upsert;
use crate::base::Name;
use crate::ir::{Assign, SqlExpr, Statement, StatementKind};
use sqlparser::ast::{
    self, Assignment, AssignmentTarget, Delete, Expr, FromTable, ObjectName, Query, SetExpr,
    TableFactor, Update, UpdateTableFromKind,
};

/// What one tree says, in the order in which it happens.
pub(super) fn statements(ctx: &Ctx<'_>, tree: &ast::Statement, notes: &Notes) -> Vec<Statement> {
    let mut out = Vec::new();
    let env = Env::default();
    lower(ctx, &env, tree, notes, &mut out);
    out
}

fn lower<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    tree: &'a ast::Statement,
    notes: &Notes,
    out: &mut Vec<Statement>,
) {
    match tree {
        ast::Statement::Query(it) => lower_query(ctx, env, it, notes, out),
        ast::Statement::Update(it) => lower_update(ctx, env, it, notes, out),
        ast::Statement::Delete(it) => out.push(lower_delete(ctx, env, it, notes)),
        ast::Statement::Insert(it) => {
            if let Some(source) = &it.source {
                changes_in_with(ctx, env, source, notes, out);
            }
            out.push(upsert::lower_insert(ctx, env, it));
        }
        ast::Statement::Merge(it) => out.push(upsert::lower_merge(ctx, env, it)),
        _ => {}
    }
}

fn lower_query<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    query: &'a Query,
    notes: &Notes,
    out: &mut Vec<Statement>,
) {
    let before = out.len();
    let names = changes_in_with(ctx, env, query, notes, out);
    let inner = env.enter(query);
    match query.body.as_ref() {
        SetExpr::Update(it) | SetExpr::Insert(it) | SetExpr::Delete(it) | SetExpr::Merge(it) => {
            lower(ctx, &inner, it, notes, out);
        }
        SetExpr::Query(it) if inner.depth < 20 => lower_query(ctx, &inner, it, notes, out),
        _ => {
            let Some(select) = query::select_statement(ctx, env, query) else { return };
            // What reads only the changed rows is the way in which they come back.
            if names.iter().any(|it| it.eq_ignore_ascii_case(&select.table)) {
                for it in &mut out[before..] {
                    it.aggregate |= select.aggregate;
                }
            } else {
                out.push(select);
            }
        }
    }
}

/// The data-changing statements among the CTEs, and the names of those CTEs.
fn changes_in_with<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    query: &'a Query,
    notes: &Notes,
    out: &mut Vec<Statement>,
) -> Vec<&'a str> {
    let inner = env.enter(query);
    let mut names = Vec::new();
    if inner.depth > 20 {
        return names;
    }
    for cte in query.with.iter().flat_map(|it| &it.cte_tables) {
        match cte.query.body.as_ref() {
            SetExpr::Update(_) | SetExpr::Insert(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                names.push(cte.alias.name.value.as_str());
                lower_query(ctx, &inner, &cte.query, notes, out);
            }
            _ => {}
        }
    }
    names
}

fn lower_update<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    update: &'a Update,
    notes: &Notes,
    out: &mut Vec<Statement>,
) {
    let mut scope = Scope::default();
    scope.add(ctx, env, &update.table);
    let own = scope.tables.len();
    if let Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) =
        &update.from
    {
        for it in from {
            scope.add(ctx, env, it);
        }
    }
    for target in targets(ctx, &mut scope, own, &update.assignments) {
        scope.target = target;
        let mut stmt = blank(ctx, StatementKind::Update, update.update_token.0.span.start);
        name_target(&scope, &mut stmt);
        stmt.sets = assignments(ctx, &scope, &update.assignments);
        stmt.lock = query::hinted_lock(scope.tables[target].hints);
        read_where(ctx, env, &scope, update.selection.as_ref(), &mut stmt);
        self_join(ctx, env, &mut scope, update.selection.as_ref(), &mut stmt);
        update_cte(ctx, &scope, &mut stmt);
        stmt.returning = update.returning.is_some() || update.output.is_some();
        stmt.limit_one |= notes.limit_one || update.limit.as_ref().is_some_and(query::is_one);
        stmt.complete &= !notes.unknown_where;
        out.push(stmt);
    }
}

/// The tables that SET writes. Without qualifiers it is the first; `UPDATE j SET .. FROM jobs j`
/// names the alias of a later one.
fn targets(ctx: &Ctx<'_>, scope: &mut Scope<'_>, own: usize, sets: &[Assignment]) -> Vec<usize> {
    if own == 1 && scope.tables.len() > 1 {
        let first = &scope.tables[0];
        let by_alias = scope.tables.iter().skip(1).position(|it| {
            first.alias.is_none()
                && !first.name.is_empty()
                && it.alias.is_some_and(|it| name_of(it).eq_ignore_ascii_case(&first.name))
        });
        if let Some(idx) = by_alias {
            scope.tables.remove(0);
            return vec![idx];
        }
        return vec![0];
    }
    let mut out: Vec<usize> = Vec::new();
    for set in sets {
        let names: &[ObjectName] = match &set.target {
            AssignmentTarget::ColumnName(it) => std::slice::from_ref(it),
            AssignmentTarget::Tuple(them) => them,
        };
        for name in names {
            let qualifier = name.0.len().checked_sub(2).and_then(|it| name.0[it].as_ident());
            let idx = qualifier.and_then(|it| scope.find(ctx, it)).unwrap_or(0);
            if idx < own && !out.contains(&idx) {
                out.push(idx);
            }
        }
    }
    if out.is_empty() {
        out.push(0);
    }
    out
}

fn name_target(scope: &Scope<'_>, stmt: &mut Statement) {
    if let Some(table) = scope.tables.get(scope.target) {
        stmt.table = table.name.clone();
        stmt.table_param.clone_from(&table.param);
    }
}

/// `UPDATE t .. FROM t t2 WHERE t2.s = 'p'`: the other instance is a source without a lock.
fn self_join<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    scope: &mut Scope<'a>,
    selection: Option<&'a Expr>,
    stmt: &mut Statement,
) {
    let target = scope.target;
    let same = |it: &super::scope::Table<'_>| {
        it.query.is_none() && !it.name.is_empty() && it.name.eq_ignore_ascii_case(&stmt.table)
    };
    let other = (0..scope.tables.len()).find(|it| *it != target && same(&scope.tables[*it]));
    let Some(other) = other.filter(|_| stmt.source.is_none()) else { return };
    scope.target = other;
    let verb = ctx.tokens.first().map_or(0, |it| it.start);
    let location = sqlparser::tokenizer::Location { line: 1, column: u64::from(verb) + 1 };
    let mut source = blank(ctx, StatementKind::Select, location);
    name_target(scope, &mut source);
    source.lock = query::hinted_lock(scope.tables[other].hints);
    read_where(ctx, env, scope, selection, &mut source);
    source.conditions.retain(|it| !it.foreign);
    source.verb_span = stmt.verb_span;
    source.span = stmt.span;
    scope.target = target;
    stmt.source = Some(Box::new(source));
}

/// SQL Server updates a CTE directly: its conditions are the statement's.
fn update_cte(ctx: &Ctx<'_>, scope: &Scope<'_>, stmt: &mut Statement) {
    let Some((query, env)) = scope.tables.get(scope.target).and_then(|it| it.query.clone()) else {
        return;
    };
    let Some(inner) = query::select_statement(ctx, &env, query) else { return };
    stmt.table = inner.table;
    stmt.table_param = inner.table_param;
    stmt.conditions.extend(inner.conditions);
    stmt.complete &= inner.complete;
    stmt.condition_holes.extend(inner.condition_holes);
    stmt.limit_one |= inner.limit_one;
    stmt.lock = stmt.lock.or(inner.lock);
}

fn lower_delete<'a>(ctx: &Ctx<'_>, env: &Env<'a>, delete: &'a Delete, notes: &Notes) -> Statement {
    let mut scope = Scope::default();
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    for it in from.iter().chain(delete.using.iter().flatten()) {
        scope.add(ctx, env, it);
    }
    let named = notes.target.as_ref().and_then(|it| find_by_token(&scope, it));
    if let Some(idx) = named.or_else(|| using_target(&scope, from.len())) {
        scope.target = idx;
    }
    let mut stmt = blank(ctx, StatementKind::Delete, delete.delete_token.0.span.start);
    name_target(&scope, &mut stmt);
    stmt.lock = scope.tables.get(scope.target).and_then(|it| query::hinted_lock(it.hints));
    read_where(ctx, env, &scope, delete.selection.as_ref(), &mut stmt);
    self_join(ctx, env, &mut scope, delete.selection.as_ref(), &mut stmt);
    update_cte(ctx, &scope, &mut stmt);
    stmt.returning = delete.returning.is_some() || delete.output.is_some() || notes.returning;
    stmt.limit_one |= notes.limit_one || delete.limit.as_ref().is_some_and(query::is_one);
    stmt
}

fn find_by_token(scope: &Scope<'_>, token: &Lexed) -> Option<usize> {
    let sqlparser::tokenizer::Token::Word(word) = &token.token else { return None };
    scope.tables.iter().position(|it| {
        it.alias.is_some_and(|it| name_of(it).eq_ignore_ascii_case(&word.value))
            || it.name.eq_ignore_ascii_case(&word.value)
    })
}

/// `DELETE FROM j USING jobs j`: MySQL names an alias of the USING list.
fn using_target(scope: &Scope<'_>, own: usize) -> Option<usize> {
    let first = scope.tables.first().filter(|it| it.alias.is_none())?;
    let named = |it: &super::scope::Table<'_>| {
        it.alias.is_some_and(|it| name_of(it).eq_ignore_ascii_case(&first.name))
    };
    scope.tables.iter().skip(own).position(named).map(|it| it + own)
}

/// SET, of the columns that belong to the target.
pub(super) fn assignments(ctx: &Ctx<'_>, scope: &Scope<'_>, sets: &[Assignment]) -> Vec<Assign> {
    let mut out = Vec::new();
    for set in sets {
        match &set.target {
            AssignmentTarget::ColumnName(name) => {
                let qualifier = name.0.len().checked_sub(2).and_then(|it| name.0[it].as_ident());
                let owner = qualifier.and_then(|it| scope.find(ctx, it));
                if owner.is_none_or(|it| it == scope.target) {
                    assign(ctx, scope, name, &set.value, &mut out);
                }
            }
            AssignmentTarget::Tuple(names) => tuple(ctx, scope, names, &set.value, &mut out),
        }
    }
    out
}

/// `(a, b) = (x, y)`, `= ROW(x, y)`, `= (SELECT ..)`.
fn tuple(
    ctx: &Ctx<'_>,
    scope: &Scope<'_>,
    names: &[ObjectName],
    value: &Expr,
    out: &mut Vec<Assign>,
) {
    let values: Vec<&Expr> = match expr::strip(value) {
        Expr::Tuple(them) => them.iter().collect(),
        Expr::Function(func) if expr::function_name(func) == "row" => expr::arguments(func),
        it if names.len() == 1 => vec![it],
        _ => Vec::new(),
    };
    for (idx, name) in names.iter().enumerate() {
        match values.get(idx) {
            Some(value) if values.len() == names.len() => assign(ctx, scope, name, value, out),
            _ => {
                let (column, column_param) = ctx.object(name);
                let value = SqlExpr::Other(expr::params(ctx, value));
                let span = name_span(ctx, name);
                out.push(Assign { column, column_param, value, span });
            }
        }
    }
}

fn assign(ctx: &Ctx<'_>, scope: &Scope<'_>, name: &ObjectName, expr: &Expr, out: &mut Vec<Assign>) {
    let (column, column_param) = ctx.object(name);
    if column.is_empty() && column_param.is_none() {
        return;
    }
    let span = name_span(ctx, name);
    let value = expr::value(ctx, scope, expr, Some(&column));
    // A state inside a document is a column of its own, written `document->path`.
    if let Some((base, path, inner)) = expr::json_set(expr)
        && let Expr::Identifier(it) = base
        && it.value.eq_ignore_ascii_case(&column)
    {
        let value = match expr::value(ctx, scope, unwrap_json(inner), None) {
            SqlExpr::Str(text) => SqlExpr::Str(Name::from(text.trim_matches('"'))),
            value => value,
        };
        let column = Name::from(format!("{column}->{path}"));
        out.push(Assign { column, column_param: None, value, span });
    }
    out.push(Assign { column, column_param, value, span });
}

/// `to_jsonb(:x)`.
fn unwrap_json(expr: &Expr) -> &Expr {
    if let Expr::Function(func) = expr::strip(expr)
        && matches!(expr::function_name(func).as_str(), "to_jsonb" | "to_json" | "json_quote")
        && let [inner] = expr::arguments(func).as_slice()
    {
        return expr::strip(inner);
    }
    expr
}

/// From the target to the end of the item.
fn name_span(ctx: &Ctx<'_>, name: &ObjectName) -> crate::base::Span {
    let start = name.0.first().and_then(|it| it.as_ident()).map(|it| it.span.start);
    let Some(start) = start.and_then(super::tree::offset_of) else { return ctx.span(0, 0) };
    ctx.span(start, ctx.item_end(ctx.token_index(start), false))
}

/// The single table that a factor is.
pub(super) fn factor_scope<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    factors: &[&'a TableFactor],
) -> Scope<'a> {
    let mut scope = Scope::default();
    for it in factors {
        scope.add_factor(ctx, env, it);
    }
    scope
}
