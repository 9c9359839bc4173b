//! INSERT with what it does about an existing row, REPLACE and MERGE.

use super::ctx::Ctx;
use super::dml::{assignments, factor_scope};
use super::expr;
use super::query::{self, blank, read_where};
use super::scope::{Env, Scope, Table};
use crate::base::{Name, Span};
use crate::ir::{Assign, SqlExpr, Statement, StatementKind, UpsertAction};
use sqlparser::ast::{
    Assignment, ConflictTarget, DoUpdate, Expr, Insert, Merge, MergeAction, MergeClause,
    MergeClauseKind, MergeInsertKind, MergeUpdateKind, ObjectName, OnConflictAction, OnInsert,
    SelectItem, SetExpr, SqliteOnConflict, TableObject,
};
use sqlparser::keywords::Keyword;

/// INSERT and REPLACE.
pub(super) fn lower_insert<'a>(ctx: &Ctx<'_>, env: &Env<'a>, insert: &'a Insert) -> Statement {
    let mut stmt = blank(ctx, StatementKind::Insert, insert.insert_token.0.span.start);
    if let TableObject::TableName(name) = &insert.table {
        (stmt.table, stmt.table_param) = ctx.object(name);
    }
    stmt.sets = inserted(ctx, insert);
    if let Some(source) = &insert.source
        && !matches!(source.body.as_ref(), SetExpr::Values(_))
    {
        stmt.source = query::select_statement(ctx, env, source).map(Box::new);
    }
    stmt.returning = insert.returning.is_some() || insert.output.is_some();
    let replaces = insert.replace_into || matches!(insert.or, Some(SqliteOnConflict::Replace));
    let ignores = insert.ignore || matches!(insert.or, Some(SqliteOnConflict::Ignore));
    if replaces {
        stmt.kind = StatementKind::Upsert;
        stmt.upsert = Some(UpsertAction { sets: stmt.sets.clone(), ..UpsertAction::default() });
    } else if ignores {
        stmt.kind = StatementKind::InsertIgnore;
    }
    let conflict = match &insert.on {
        Some(OnInsert::DuplicateKeyUpdate(sets)) => Some((None, sets.as_slice(), None)),
        Some(OnInsert::OnConflict(it)) => match &it.action {
            OnConflictAction::DoNothing => {
                stmt.kind = StatementKind::InsertIgnore;
                None
            }
            OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) => {
                Some((it.conflict_target.as_ref(), assignments.as_slice(), selection.as_ref()))
            }
        },
        _ => None,
    };
    if let Some(conflict) = conflict {
        let action = on_conflict(ctx, env, insert, &stmt, conflict);
        stmt.kind = StatementKind::Upsert;
        stmt.complete &= action.1;
        stmt.upsert = Some(action.0);
    }
    stmt
}

/// The columns and the values of the first row.
fn inserted(ctx: &Ctx<'_>, insert: &Insert) -> Vec<Assign> {
    let scope = Scope::default();
    if !insert.assignments.is_empty() {
        return assignments(ctx, &scope, &insert.assignments);
    }
    let row: Vec<&Expr> = match insert.source.as_ref().map(|it| it.body.as_ref()) {
        Some(SetExpr::Values(values)) => {
            values.rows.first().map_or(Vec::new(), |it| it.content.iter().collect())
        }
        Some(SetExpr::Select(select)) => select.projection.iter().map_while(item_expr).collect(),
        _ => Vec::new(),
    };
    let columns = insert.columns.iter().enumerate();
    columns.map(|(idx, name)| column(ctx, name, row.get(idx).copied())).collect()
}

fn item_expr(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

fn column(ctx: &Ctx<'_>, name: &ObjectName, value: Option<&Expr>) -> Assign {
    let (column, column_param) = ctx.object(name);
    let start = name.0.first().and_then(|it| it.as_ident()).map(|it| it.span.start);
    let start = start.and_then(super::tree::offset_of).unwrap_or(0);
    let span = ctx.span(start, ctx.item_end(ctx.token_index(start), false));
    let value = value.map_or(SqlExpr::Other(Vec::new()), |it| {
        // Nothing in VALUES reads a column.
        match expr::value(ctx, &Scope::default(), it, None) {
            SqlExpr::Column(_) => SqlExpr::Other(Vec::new()),
            value => value,
        }
    });
    Assign { column, column_param, value, span }
}

type Conflict<'a> = (Option<&'a ConflictTarget>, &'a [Assignment], Option<&'a Expr>);

/// The action, and whether all of its conditions are known.
fn on_conflict<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    insert: &'a Insert,
    stmt: &Statement,
    (target, sets, selection): Conflict<'a>,
) -> (UpsertAction, bool) {
    let mut probe = blank(ctx, StatementKind::Update, insert.insert_token.0.span.start);
    let scope = Scope {
        tables: vec![Table::named(
            stmt.table.clone(),
            stmt.table_param.clone(),
            insert.table_alias.as_ref().map(|it| &it.alias),
        )],
        excluded: Some(&stmt.sets),
        excluded_alias: insert
            .insert_alias
            .as_ref()
            .and_then(|it| it.row_alias.0.first())
            .and_then(|it| it.as_ident())
            .map(|it| it.value.as_str()),
        ..Scope::default()
    };
    let sets = assignments(ctx, &scope, sets);
    let keys = match target {
        Some(ConflictTarget::Columns { columns, .. }) => {
            columns.iter().map(|it| Name::from(it.value.as_str())).collect()
        }
        _ => Vec::new(),
    };
    read_where(ctx, env, &scope, selection, &mut probe);
    let span = action_span(ctx);
    (UpsertAction { keys, sets, conditions: probe.conditions, span }, probe.complete)
}

/// Where `DO UPDATE` or `ON DUPLICATE` stands.
fn action_span(ctx: &Ctx<'_>) -> Option<Span> {
    let pair = ctx.tokens.windows(2).find(|it| {
        matches!(
            (it[0].keyword(), it[1].keyword()),
            (Keyword::DO, Keyword::UPDATE) | (Keyword::ON, Keyword::DUPLICATE)
        )
    })?;
    Some(ctx.span(pair[0].start, pair[1].end))
}

/// MERGE: an update with what stands behind `WHEN MATCHED`, an insert, or both.
pub(super) fn lower_merge<'a>(ctx: &Ctx<'_>, env: &Env<'a>, merge: &'a Merge) -> Statement {
    let mut stmt = blank(ctx, StatementKind::Other, merge.merge_token.0.span.start);
    let scope = factor_scope(ctx, env, &[&merge.table, &merge.source]);
    if let Some(table) = scope.tables.first() {
        stmt.table = table.name.clone();
        stmt.table_param.clone_from(&table.param);
    }
    read_where(ctx, env, &scope, Some(&merge.on), &mut stmt);
    stmt.returning = merge.output.is_some();
    let mut update = None;
    let mut insert = None;
    let mut deletes = false;
    for clause in &merge.clauses {
        match &clause.action {
            MergeAction::Update(it) if update.is_none() => {
                let sets: &[Assignment] = match &it.kind {
                    MergeUpdateKind::Set(sets) => sets,
                    MergeUpdateKind::Wildcard => &[],
                };
                let tests = [clause.predicate.as_ref(), it.update_predicate.as_ref()];
                update = Some((clause, assignments(ctx, &scope, sets), tests));
            }
            MergeAction::Insert(it) if insert.is_none() => {
                let row: &[Expr] = match &it.kind {
                    MergeInsertKind::Values(values) => {
                        values.rows.first().map_or(&[], |it| &it.content)
                    }
                    _ => &[],
                };
                let columns = it.columns.iter().enumerate();
                insert = Some(columns.map(|(idx, name)| column(ctx, name, row.get(idx))).collect());
            }
            MergeAction::Delete { .. } => deletes |= is_matched(clause),
            _ => {}
        }
    }
    finish_merge(ctx, env, &scope, (update, insert, deletes), &mut stmt);
    stmt
}

fn is_matched(clause: &MergeClause) -> bool {
    matches!(clause.clause_kind, MergeClauseKind::Matched)
}

type MergeParts<'a> =
    (Option<(&'a MergeClause, Vec<Assign>, [Option<&'a Expr>; 2])>, Option<Vec<Assign>>, bool);

fn finish_merge<'a>(
    ctx: &Ctx<'_>,
    env: &Env<'a>,
    scope: &Scope<'a>,
    (update, insert, deletes): MergeParts<'a>,
    stmt: &mut Statement,
) {
    let Some((clause, sets, tests)) = update else {
        stmt.kind = match insert {
            Some(_) if !deletes => StatementKind::Insert,
            _ if deletes => StatementKind::Delete,
            _ => StatementKind::Other,
        };
        stmt.sets = insert.unwrap_or_default();
        return;
    };
    let scope = Scope { joins: Vec::new(), ..scope.clone() };
    let mut probe = blank(ctx, StatementKind::Update, clause.when_token.0.span.start);
    for test in tests.into_iter().flatten() {
        read_where(ctx, env, &scope, Some(test), &mut probe);
    }
    stmt.complete &= probe.complete;
    if let Some(inserted) = insert {
        stmt.kind = StatementKind::Upsert;
        stmt.sets = inserted;
        stmt.upsert = Some(UpsertAction {
            keys: stmt.conditions.iter().map(|it| it.column.clone()).collect(),
            sets,
            conditions: probe.conditions,
            span: Some(probe.verb_span),
        });
    } else {
        stmt.kind = StatementKind::Update;
        stmt.sets = sets;
        stmt.conditions.append(&mut probe.conditions);
    }
}
