//! Which table a column belongs to, and what the other tables of a statement are.

use super::ctx::{Ctx, name_of};
use crate::base::Name;
use crate::ir::{Assign, ParamRef};
use sqlparser::ast::{
    Cte, Expr, Ident, Join, JoinConstraint, JoinOperator, Query, SelectItem, SetExpr, TableAlias,
    TableFactor, TableWithJoins,
};

/// The common table expressions in sight; a later one hides an earlier of the same name.
#[derive(Clone, Debug, Default)]
pub(super) struct Env<'a> {
    ctes: Vec<&'a Cte>,
    /// How many queries are nested around.
    pub(super) depth: u32,
}

impl<'a> Env<'a> {
    /// The same with the CTEs of `query`.
    pub(super) fn enter(&self, query: &'a Query) -> Self {
        let mut out = self.clone();
        out.depth += 1;
        out.ctes.extend(query.with.iter().flat_map(|it| &it.cte_tables));
        out
    }

    /// The query that `name` stands for, with what is in sight of it.
    fn find(&self, name: &str) -> Option<(&'a Query, Self)> {
        let idx =
            self.ctes.iter().rposition(|it| it.alias.name.value.eq_ignore_ascii_case(name))?;
        let before = Self { ctes: self.ctes[..idx].to_vec(), depth: self.depth + 1 };
        Some((&self.ctes[idx].query, before))
    }
}

/// A table of a statement.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    /// Without quotes and schema; empty for a parameter or a sub-select.
    pub(super) name: Name,
    pub(super) param: Option<ParamRef>,
    pub(super) alias: Option<&'a Ident>,
    /// The sub-select or CTE that it is.
    pub(super) query: Option<(&'a Query, Env<'a>)>,
    /// Its columns, when the text lists them all.
    columns: Option<Vec<&'a str>>,
    /// `WITH (UPDLOCK)`.
    pub(super) hints: &'a [Expr],
}

impl<'a> Table<'a> {
    /// A table without hints.
    pub(super) fn named(name: Name, param: Option<ParamRef>, alias: Option<&'a Ident>) -> Self {
        Self { name, param, alias, ..Self::unnamed() }
    }

    fn unnamed() -> Self {
        Self {
            name: Name::from(""),
            param: None,
            alias: None,
            query: None,
            columns: None,
            hints: &[],
        }
    }
}

/// Whose a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Target,
    Table(usize),
    /// EXCLUDED, `VALUES(..)`, the source row of an upsert.
    Excluded,
    /// One of several.
    Unknown,
}

/// The tables of one statement, and which of them it writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope<'a> {
    pub(super) tables: Vec<Table<'a>>,
    pub(super) target: usize,
    /// Conditions of inner joins.
    pub(super) joins: Vec<&'a Expr>,
    /// Parameters that stand where an alias would: they are unknown clauses.
    pub(super) loose: Vec<ParamRef>,
    /// What an upsert inserts, by column.
    pub(super) excluded: Option<&'a [Assign]>,
    /// A name for that row: `AS new`.
    pub(super) excluded_alias: Option<&'a str>,
}

impl<'a> Scope<'a> {
    /// Adds a table and what is joined to it.
    pub(super) fn add(&mut self, ctx: &Ctx<'_>, env: &Env<'a>, from: &'a TableWithJoins) {
        self.add_factor(ctx, env, &from.relation);
        for join in &from.joins {
            self.add_join(ctx, env, join);
        }
    }

    fn add_join(&mut self, ctx: &Ctx<'_>, env: &Env<'a>, join: &'a Join) {
        self.add_factor(ctx, env, &join.relation);
        if let JoinOperator::Join(on)
        | JoinOperator::Inner(on)
        | JoinOperator::CrossJoin(on)
        | JoinOperator::StraightJoin(on) = &join.join_operator
            && let JoinConstraint::On(expr) = on
        {
            self.joins.push(expr);
        }
    }

    /// Adds one table.
    pub(super) fn add_factor(&mut self, ctx: &Ctx<'_>, env: &Env<'a>, factor: &'a TableFactor) {
        match factor {
            TableFactor::Table { name, alias, with_hints, .. } => {
                let (name, param) = ctx.object(name);
                let query = if param.is_none() { env.find(&name) } else { None };
                let columns = query.as_ref().and_then(|it| listed_columns(it.0, alias.as_ref()));
                let table = Table::named(name, param, None);
                self.push(
                    ctx,
                    Table { query, columns, hints: with_hints, ..table },
                    alias.as_ref(),
                );
            }
            TableFactor::Derived { subquery, alias, .. } => {
                let columns = listed_columns(subquery, alias.as_ref());
                let query = Some((subquery.as_ref(), env.clone()));
                self.push(ctx, Table { query, columns, ..Table::unnamed() }, alias.as_ref());
            }
            // The parser bounds how deep these nest.
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.add(ctx, env, table_with_joins);
            }
            TableFactor::UNNEST { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::JsonTable { alias, .. }
            | TableFactor::OpenJsonTable { alias, .. } => {
                let columns = alias.as_ref().map(alias_columns).filter(|it| !it.is_empty());
                self.push(ctx, Table { columns, ..Table::unnamed() }, alias.as_ref());
            }
            _ => self.tables.push(Table::unnamed()),
        }
    }

    fn push(&mut self, ctx: &Ctx<'_>, mut table: Table<'a>, alias: Option<&'a TableAlias>) {
        if let Some(alias) = alias {
            match ctx.param(&alias.name) {
                Some(param) if !alias.explicit && !ctx.qualifies_by_param() => {
                    self.loose.push(param);
                }
                _ => table.alias = Some(&alias.name),
            }
        }
        self.tables.push(table);
    }

    /// The table that an alias or a name means.
    pub(super) fn find(&self, ctx: &Ctx<'_>, ident: &Ident) -> Option<usize> {
        if let Some(param) = ctx.param(ident) {
            let same = |it: &Table<'_>| {
                it.param.as_ref() == Some(&param) || {
                    it.alias.is_some_and(|it| ctx.param(it).as_ref() == Some(&param))
                }
            };
            return self.tables.iter().position(same);
        }
        let name = name_of(ident);
        let by_alias =
            |it: &Table<'_>| it.alias.is_some_and(|it| name_of(it).eq_ignore_ascii_case(name));
        let by_name = |it: &Table<'_>| it.alias.is_none() && it.name.eq_ignore_ascii_case(name);
        let position = |test: &dyn Fn(&Table<'_>) -> bool| self.tables.iter().position(test);
        position(&by_alias).or_else(|| position(&by_name))
    }

    /// Whose column `parts` is; `parts` holds the qualifiers too.
    pub(super) fn owner(&self, ctx: &Ctx<'_>, parts: &[Ident]) -> Owner {
        let [.., qualifier, _] = parts else {
            return parts.first().map_or(Owner::Unknown, |it| self.unqualified_owner(name_of(it)));
        };
        let name = name_of(qualifier);
        if name.eq_ignore_ascii_case("excluded")
            || self.excluded_alias.is_some_and(|it| it.eq_ignore_ascii_case(name))
        {
            return Owner::Excluded;
        }
        match self.find(ctx, qualifier) {
            Some(idx) if idx == self.target => Owner::Target,
            Some(idx) => Owner::Table(idx),
            None if self.is_open_to(ctx, qualifier) => Owner::Target,
            None => Owner::Unknown,
        }
    }

    /// The only table may be meant by a qualifier that is not its name, when one of both is not known.
    fn is_open_to(&self, ctx: &Ctx<'_>, qualifier: &Ident) -> bool {
        match self.tables.as_slice() {
            [] => true,
            [only] => {
                only.param.is_some() || only.name.is_empty() || ctx.param(qualifier).is_some()
            }
            _ => false,
        }
    }

    fn unqualified_owner(&self, name: &str) -> Owner {
        if self.tables.len() <= 1 {
            return Owner::Target;
        }
        let may_have = |table: &Table<'_>| {
            table
                .columns
                .as_ref()
                .is_none_or(|it| it.iter().any(|it| it.eq_ignore_ascii_case(name)))
        };
        let mut owners = self.tables.iter().enumerate().filter(|(_, it)| may_have(it));
        match (owners.next(), owners.next()) {
            (Some((idx, _)), None) if idx == self.target => Owner::Target,
            (Some((idx, _)), None) => Owner::Table(idx),
            _ => Owner::Unknown,
        }
    }
}

fn alias_columns(alias: &TableAlias) -> Vec<&str> {
    alias.columns.iter().map(|it| it.name.value.as_str()).collect()
}

/// The names of a sub-select's columns; none when it has a `*`.
fn listed_columns<'a>(query: &'a Query, alias: Option<&'a TableAlias>) -> Option<Vec<&'a str>> {
    if let Some(alias) = alias
        && !alias.columns.is_empty()
    {
        return Some(alias_columns(alias));
    }
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    select.projection.iter().map(item_name).collect()
}

/// The name under which a selected item is known outside.
fn item_name(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(&alias.value),
        SelectItem::UnnamedExpr(Expr::Identifier(it)) => Some(&it.value),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(them)) => {
            them.last().map(|it| it.value.as_str())
        }
        SelectItem::UnnamedExpr(_) => Some(""),
        _ => None,
    }
}
