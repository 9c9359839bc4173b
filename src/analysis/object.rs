//! Object: what is known of a thing in the heap: a row, a query under construction, a statement, an
//! array, an instance.

use super::fact::{Filter, Table};
use super::value::{Identity, Value};
use crate::base::{Name, Span};
use crate::ir::{
    Condition, ConditionOp, Engine, LockClause, ParamRef, Statement, StatementKind, TypeRef,
};
use crate::model::{LockKind, LockSpec, Verb};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a thing at one program point.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its type, when known.
    pub ty: Option<TypeRef>,
    /// Fields that were written or are known.
    pub fields: BTreeMap<Name, Field>,
}

impl Object {
    /// Calls `visit` with every value that the thing holds.
    pub fn leads_to<'o>(&'o self, visit: &mut dyn FnMut(&'o Value)) {
        self.fields.values().for_each(|it| visit(&it.value));
        match &self.kind {
            ObjectKind::List(row) => visit(row),
            ObjectKind::Statement(stmt) => {
                stmt.row
                    .iter()
                    .chain([&stmt.text])
                    .chain(stmt.params.values())
                    .for_each(&mut *visit);
                stmt.statements.iter().flat_map(|it| it.1.values()).for_each(visit);
            }
            ObjectKind::Query(query) => query.params.values().for_each(visit),
            ObjectKind::Array(array) => {
                array.items.iter().flat_map(|it| [&it.key, &it.value]).for_each(visit);
            }
            ObjectKind::Condition(_, params) => params.values().for_each(visit),
            ObjectKind::Plain
            | ObjectKind::Row(_)
            | ObjectKind::Lock(_)
            | ObjectKind::Outcome(_) => (),
        }
    }
}

impl Object {
    /// What it holds under a name: a field, or an entry of an array.
    pub fn entry(&self, name: &Name) -> Option<&Value> {
        match (self.fields.get(name), &self.kind) {
            (Some(field), _) => Some(&field.value),
            (None, ObjectKind::Array(array)) => array.get(&Value::Str(name.clone())),
            (None, _) => None,
        }
    }
}

/// A field with what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What it holds.
    pub value: Value,
    /// Where it was changed since the row was loaded or written; none: as loaded.
    pub changed: Option<Span>,
}

/// What a thing is.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum ObjectKind {
    /// Something with fields: an instance, or a parameter whose fields were written.
    #[default]
    Plain,
    /// A row.
    Row(RowState),
    /// Rows: the one that stands for each of them.
    List(Value),
    /// A query under construction.
    Query(Box<QueryState>),
    /// SQL text with bound values, prepared or run.
    Statement(Box<StatementState>),
    /// An array or tuple.
    Array(ArrayState),
    /// A lock object: the acquisition it stands for.
    Lock(Identity),
    /// The outcome of a write: the count can be read from it.
    Outcome(Identity),
    /// A condition over columns, as a value.
    Condition(Arc<Vec<Condition>>, Arc<BTreeMap<ParamRef, Value>>),
}

/// A row object.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RowState {
    /// Of what.
    pub table: Table,
    /// It was made here, not read.
    pub fresh: bool,
    /// Conditions under which it was read.
    pub filters: Vec<Filter>,
    /// The pack that says how it is loaded: how it is saved is in the same.
    pub pack: Option<Name>,
}

/// A query under construction.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryState {
    /// What it will do.
    pub verb: Verb,
    /// On what.
    pub table: Table,
    /// Conditions so far.
    pub conditions: Vec<Condition>,
    /// Assignments so far.
    pub sets: Vec<crate::ir::Assign>,
    /// Values of the parameters in both.
    pub params: BTreeMap<ParamRef, Value>,
    /// The row whose columns are all set: a changeset written back.
    pub row: Option<Value>,
    /// Columns that a SELECT gives; empty: all of them.
    pub columns: Vec<Name>,
    /// Conditions that are not understood were added.
    pub vague: bool,
    /// Row lock to take.
    pub lock: Option<(LockSpec, Span)>,
    /// Where it was started.
    pub span: Span,
    /// The statement as a whole, for queries that began as text (DQL).
    pub statement: Option<Arc<Statement>>,
    /// The engine, when known.
    pub engine: Option<Engine>,
    /// The pack that says how it was started.
    pub pack: Option<Name>,
}

impl QueryState {
    /// An empty query.
    pub fn new(verb: Verb, table: Table, span: Span) -> Self {
        Self {
            verb,
            table,
            conditions: Vec::new(),
            sets: Vec::new(),
            params: BTreeMap::new(),
            row: None,
            columns: Vec::new(),
            vague: false,
            lock: None,
            span,
            statement: None,
            engine: None,
            pack: None,
        }
    }

    /// The same query, started by a pack's pattern.
    #[must_use]
    pub fn of_pack(self, pack: Option<Name>) -> Self {
        Self { pack, ..self }
    }

    /// A parameter that stands for `value`.
    pub fn param(&mut self, value: Value) -> ParamRef {
        let next = u32::try_from(self.params.len()).unwrap_or(u32::MAX);
        let param = ParamRef::Hole(next);
        self.params.insert(param.clone(), value);
        param
    }

    /// Adds `column op values`.
    pub fn condition(&mut self, column: Name, op: ConditionOp, values: Vec<Value>, span: Span) {
        let values =
            values.into_iter().map(|it| crate::ir::SqlExpr::Param(self.param(it))).collect();
        self.conditions.push(Condition {
            column,
            column_param: None,
            op,
            values,
            any: Vec::new(),
            foreign: false,
            span,
        });
    }
}

/// SQL text with bound values.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementState {
    /// The statements in the text, with the values of its holes; alternatives when the text is built in
    /// several ways.
    pub statements: Vec<(Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>)>,
    /// The text itself, for builders that go on.
    pub text: Value,
    /// Values of the parameters.
    pub params: BTreeMap<ParamRef, Value>,
    /// The next position to bind.
    pub next: u32,
    /// The last run of a write, whose count may be read.
    pub ran: Option<Identity>,
    /// The row that fetches give, once it ran.
    pub row: Option<Value>,
    /// Where it was made.
    pub span: Span,
    /// The engine, when known.
    pub engine: Option<Engine>,
}

impl StatementState {
    /// Its SELECTs lock what they read.
    pub fn lock_rows(&mut self, lock: LockSpec) {
        let clause = match lock.kind {
            LockKind::RowShared => LockClause::Shared,
            _ => LockClause::Exclusive,
        };
        for (stmt, _) in &mut self.statements {
            if stmt.kind == StatementKind::Select {
                Arc::make_mut(stmt).lock = Some(clause);
            }
        }
    }
}

/// An array or tuple.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ArrayState {
    /// Entries with known keys, or by position.
    pub items: Vec<ArrayEntry>,
    /// Other entries may be there.
    pub open: bool,
}

/// An entry of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayEntry {
    /// The key: a string, a number, or a value that is not known.
    pub key: Value,
    /// What it holds.
    pub value: Value,
    /// Where it was written.
    pub span: Span,
}

impl ArrayState {
    /// Whether all keys are known, so that others are not there.
    pub fn is_closed(&self) -> bool {
        !self.open && self.items.iter().all(|it| it.key.is_constant())
    }

    /// The value under a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.items.iter().rev().find(|it| it.key == *key).map(|it| &it.value)
    }
}
