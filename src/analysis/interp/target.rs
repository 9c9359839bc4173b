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
use crate::analysis::object::{Object, ObjectKind, QueryState, RowState};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::{Language, Name, last_segment, snake_case};
use crate::ir::{Condition, ConditionOp};
use crate::model::{Verb, Yield};

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

    /// Whether a value is a row that was not made here: set as a whole, it is written back.
    pub(super) fn is_row_elsewhere(&self, state: &State, value: &Value) -> bool {
        if value.is_constant() || self.language != Language::Rust {
            return false;
        }
        match state.object(value).map(|it| &it.kind) {
            Some(ObjectKind::Row(row)) => !row.fresh,
            Some(ObjectKind::Plain) | None => {
                !matches!(value, Value::Object(_))
                    && self.types_of(state, value).iter().any(|it| self.is_row_class(&it.name))
            }
            Some(_) => false,
        }
    }

    /// Runs the query as an INSERT: what comes back is new.
    pub(super) fn run_insert(&mut self, state: &mut State, root: &Value, gives: Yield) -> Value {
        self.durable = true;
        let id = self.identity(&"inserted");
        let table = query_mut(state, root).map(|it| it.table.clone()).unwrap_or_default();
        let row = Value::Object(id);
        let pack = self.pack.clone();
        let kind = ObjectKind::Row(RowState { table, fresh: true, filters: Vec::new(), pack });
        state.put(row.clone(), Object { kind, ..Object::default() });
        match gives {
            Yield::Row | Yield::List | Yield::Fails => self.shape(state, row, gives),
            _ => Value::Opaque(id),
        }
    }
}

/// Whether the query picks its row by nothing but the key of `row`; an upsert does by its nature.
pub(super) fn names_only(query: &QueryState, row: &Value) -> bool {
    let own = |it: &Condition| {
        let value = it.values.first().map(|it| super::column::sql_value(it, &query.params));
        super::is_key_column(&it.column)
            && it.op == ConditionOp::Eq
            && value.is_some_and(|it| it.mentions(row))
    };
    let keyed = !query.conditions.is_empty() || query.verb == Verb::Upsert;
    keyed && query.sets.is_empty() && query.conditions.iter().all(own)
}
