//! What a builder's statement is started on: a table, a model, another query, or a row.
//!
//! ```text
//! diesel::update(jobs::table)                 the table
//! diesel::update(jobs.filter(id.eq(7)))       a query: its table and its conditions
//! diesel::update(&job)                        a row: its table, and its key as the condition
//! ```

use super::Interp;
use super::column::literal_of;
use super::condition::absorb_into;
use super::query::query_mut;
use crate::analysis::fact::Table;
use crate::analysis::object::{ObjectKind, QueryState};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::{Language, Name, last_segment, snake_case};
use crate::ir::ConditionOp;

/// A statement's target.
#[derive(Default)]
pub(super) struct Target {
    pub(super) table: Table,
    /// The query that picks its rows.
    query: Option<Box<QueryState>>,
    /// The row that it is about.
    key: Option<Value>,
}

impl Interp<'_> {
    /// What `value` names, given as the table of a statement.
    pub(super) fn target_of(&self, state: &State, value: &Value) -> Target {
        match state.object(value).map(|it| &it.kind) {
            Some(ObjectKind::Query(query)) => {
                return Target {
                    table: query.table.clone(),
                    query: Some(query.clone()),
                    key: None,
                };
            }
            Some(ObjectKind::Row(_)) => return self.row_target(state, value),
            _ => (),
        }
        let named = matches!(value, Value::Class(_) | Value::Case(..) | Value::Static(_));
        let types = if named { Vec::new() } else { self.types_of(state, value) };
        if types.iter().any(|it| self.is_row_class(&it.name)) {
            return self.row_target(state, value);
        }
        if let Value::Class(class) = value
            && self.language == Language::Rust
        {
            return Target { table: self.table_of_model(class), ..Target::default() };
        }
        let name = self.table_name(value).map(|it| super::typing::bare_table(&it));
        let table = Table { table: name, model: None, value: Some(value.clone()) };
        Target { table, ..Target::default() }
    }

    fn row_target(&self, state: &State, row: &Value) -> Target {
        let own = state.object(row).and_then(|it| it.fields.get("id"));
        let key = Some(own.map_or_else(|| Value::path(row.clone(), "id"), |it| it.value.clone()));
        Target { table: self.table_of(state, row), query: None, key }
    }

    /// `jobs::table`, `dsl::jobs`, `jobs` and `Jobs::Table` are `jobs`; so is a text.
    fn table_name(&self, value: &Value) -> Option<Name> {
        match value {
            Value::Case(class, name) => {
                let class = last_segment(class);
                let module = !class.starts_with(char::is_uppercase);
                if self.language == Language::Rust && module && &**name != "table" {
                    return Some(name.clone());
                }
                if self.language == Language::Rust && !module {
                    return Some(snake_case(class).into());
                }
                Some(class.into())
            }
            Value::Class(class) => Some(last_segment(class).into()),
            Value::Static(name) if self.language == Language::Rust => {
                Some(last_segment(name).into())
            }
            value => literal_of(value),
        }
    }

    /// The target's conditions become the query's.
    pub(super) fn aim(&self, state: &mut State, root: &Value, target: &Target) {
        let span = self.span;
        let Some(query) = query_mut(state, root) else { return };
        if let Some(from) = &target.query {
            absorb_into(query, from);
            query.vague |= from.vague;
            query.lock = query.lock.or(from.lock);
        }
        if let Some(key) = &target.key {
            query.condition("id".into(), ConditionOp::Eq, vec![key.clone()], span);
        }
    }
}
