//! Writes of statements and rows: made here, or a callee's in the caller's terms.

use super::Interp;
use super::call::Site;
use super::expand::is_object;
use super::row::non_null;
use super::same::{is_key_column, key_value};
use super::sql::Parsed;
use crate::analysis::fact::{ChangeFact, Look, Table, WriteFact, WriteKind};
use crate::analysis::object::{Field, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::value::{Identity, Value};
use crate::ir::{Assign, Engine, ParamRef, SqlExpr, Statement, StatementKind, UpsertAction};
use crate::model::Yield;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Interp<'_> {
    /// A statement from SQL text writes.
    pub(super) fn write_statement(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        (stmt, params): (&Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>),
        (id, gives): (Identity, Yield),
        engine: Option<Engine>,
    ) {
        let table = self.statement_table(stmt, &params);
        let mut write = self.new_write(state, id, (Arc::clone(stmt), params), table, gives);
        write.primary = stmt.upsert.as_ref().and_then(|it| it.span).unwrap_or(stmt.verb_span);
        write.engine = engine.or(write.engine).or(stmt.engine);
        write.run = site.map(|it| it.call.name_span);
        self.push_write(state, site, write);
    }

    /// A builder's UPDATE writes.
    pub(super) fn write_query(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        parsed: (&Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>),
        table: &Table,
        (id, gives, weak): (Identity, Yield, bool),
    ) {
        let (stmt, params) = parsed;
        let mut write = self.new_write(state, id, (Arc::clone(stmt), params), table.clone(), gives);
        write.weak = weak;
        write.primary = stmt.verb_span;
        write.run = site.map(|it| it.call.name_span);
        self.push_write(state, site, write);
    }

    /// Whoever puts the row in first has it: the count of an insert that does nothing on conflict
    /// tells who that is. Other inserts tell nothing.
    pub(super) fn note_insert(
        &mut self,
        state: &State,
        (stmt, params): (&Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>),
        (id, gives): (Identity, Yield),
    ) {
        if stmt.kind != StatementKind::InsertIgnore {
            return;
        }
        let table = self.statement_table(stmt, &params);
        let mut write = self.new_write(state, id, (Arc::clone(stmt), params), table, gives);
        write.fresh = true;
        write.primary = stmt.verb_span;
        let point = self.tick();
        self.writes.push((point, write));
    }

    pub(super) fn new_write(
        &self,
        state: &State,
        id: Identity,
        parsed: Parsed,
        table: Table,
        gives: Yield,
    ) -> WriteFact {
        WriteFact {
            id,
            kind: WriteKind::Statement,
            row: None,
            fresh: false,
            whole: false,
            table,
            statement: Some(parsed),
            primary: self.span,
            symbol: self.at,
            run: None,
            sql: None,
            changes: Vec::new(),
            checks: Vec::new(),
            loads: Vec::new(),
            claims: Vec::new(),
            context: self.context(state),
            look: if gives == Yield::Fails { Look::Looked } else { Look::None },
            answer: None,
            gives,
            trace: Vec::new(),
            engine: self.engine_here(),
            follows: false,
            versioned: false,
            weak: false,
            only_if: Vec::new(),
            followed: false,
            behind: false,
            workerlike: false,
        }
    }

    pub(super) fn push_write(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        mut write: WriteFact,
    ) {
        self.durable = true;
        if site.is_some() {
            self.expand(state, &mut write);
        }
        let point = self.tick();
        self.writes.push((point, write));
    }

    /// What a caller's values add to a callee's write.
    pub(super) fn settle_write(
        &mut self,
        before: &State,
        state: &mut State,
        (site, back): (&Site<'_>, Option<Value>),
        write: &mut WriteFact,
    ) {
        if matches!(write.look, Look::Returned | Look::Passed) {
            // The answer is the caller's now.
            write.look = Look::None;
            write.answer = Some(self.span);
        }
        let was_open = is_open(write);
        let call_span = self.span;
        if let Some(back) = self.expand(state, write) {
            // Columns or the table were the caller's: the call is where the write is made.
            if was_open && !is_open(write) {
                write.sql = Some(write.sql.unwrap_or(write.primary));
                write.primary = call_span;
                write.symbol = self.at;
                let own_key =
                    back.as_ref().is_some_and(|key| self.is_object_key(before, site, key));
                if own_key {
                    write.kind = WriteKind::Row;
                    write.row = back.and_then(|key| key.as_path().map(|it| it.0.clone()));
                }
            }
        }
        if write.kind == WriteKind::Statement
            && let Some(row) = back.filter(|it| is_object(before, it))
            && !(is_upsert(write) && is_made_here(before, &row))
        {
            write.kind = WriteKind::Row;
            write.sql = Some(write.sql.unwrap_or(write.primary));
            write.primary = call_span;
            write.symbol = self.at;
            // Its statement writes what the copy holds, changed or not.
            write.whole = true;
            let row = non_null(row);
            write.fresh = match state.object(&row).map(|it| &it.kind) {
                Some(ObjectKind::Row(it)) => it.fresh,
                _ => false,
            };
            write.row = Some(row);
        }
        if let (WriteKind::Row, Some(row)) = (write.kind, write.row.clone()) {
            let unchanged = write.changes.is_empty();
            self.settle_row(before, state, &row, write);
            if unchanged && !write.changes.is_empty() && write.primary != call_span {
                // The changes are the caller's: the call is where they are written back.
                write.sql = Some(write.sql.unwrap_or(write.primary));
                write.primary = call_span;
                write.symbol = self.at;
            }
        }
    }

    pub(super) fn settle_row(
        &mut self,
        before: &State,
        state: &mut State,
        row: &Value,
        write: &mut WriteFact,
    ) {
        if let Some(object) = before.object(row) {
            for (name, field) in &object.fields {
                if let Some(span) = field.changed
                    && !write.changes.iter().any(|it| it.column == *name)
                {
                    let (column, value) = (name.clone(), field.value.clone());
                    write.changes.push(ChangeFact { column, value, span });
                }
            }
            if let ObjectKind::Row(it) = &object.kind {
                write.fresh |= it.fresh;
                if write.table == Table::default() || write.table.model.is_none() {
                    write.table.model.clone_from(&it.table.model);
                    if write.table.table.is_none() {
                        write.table.table.clone_from(&it.table.table);
                    }
                }
            }
        }
        if write.table == Table::default() {
            write.table = self.table_of(before, row);
        }
        clear_changes(state, row);
    }

    /// The key is a field of the callee's own object, or of what it holds, not an argument.
    pub(super) fn is_object_key(&self, state: &State, site: &Site<'_>, key: &Value) -> bool {
        let Some((base, _)) = key.as_path() else { return false };
        let holds = || {
            let object = state.object(&site.receiver);
            object.is_some_and(|it| it.fields.values().any(|it| it.value == *base))
        };
        *base != Value::Unknown
            && (*base == site.receiver || base.mentions(&site.receiver) || holds())
    }

    /// The row whose fields a statement writes back: its key and a state column come from one object.
    pub(super) fn written_back(&self, write: &WriteFact) -> Option<Value> {
        let (stmt, params) = write.statement.as_ref()?;
        let put_in = stmt.upsert.as_ref().filter(|_| stmt.kind == StatementKind::Upsert);
        let key = match put_in {
            Some(upsert) => inserted_key(stmt, upsert, params),
            None => key_value(&stmt.conditions, params),
        };
        let key = key?;
        let (row, _) = key.as_path()?;
        // Every column of the object, by a loop over its fields.
        let all_of = |set: &Assign, row: &Value| {
            let columns = set.column_param.as_ref().and_then(|it| params.get(it));
            columns.is_some_and(|it| it.mentions(row))
        };
        let sets = put_in.map_or(&stmt.sets, |it| &it.sets);
        let from_row = sets.iter().filter(|set| {
            let value = super::column::sql_value(&set.value, params);
            value.mentions(row) && !matches!(set.value, SqlExpr::Relative(_)) || all_of(set, row)
        });
        let state_back = from_row.clone().any(|set| {
            all_of(set, row) || self.shared.columns.classify("", &set.column).is_state()
        });
        let n_back = from_row.count();
        (state_back && n_back > 0 || n_back >= 2).then(|| row.clone())
    }
}

fn is_upsert(write: &WriteFact) -> bool {
    write.statement.as_ref().is_some_and(|it| it.0.kind == StatementKind::Upsert)
}

/// An object that is no row yet: an upsert puts it in.
fn is_made_here(state: &State, row: &Value) -> bool {
    let kind = state.object(row).map(|it| &it.kind);
    matches!(row, Value::Object(_)) && matches!(kind, Some(ObjectKind::Plain))
}

/// The key of the row that an upsert puts in.
fn inserted_key(
    stmt: &Statement,
    upsert: &UpsertAction,
    params: &BTreeMap<ParamRef, Value>,
) -> Option<Value> {
    let is_key = |it: &&Assign| {
        upsert.keys.contains(&it.column) || upsert.keys.is_empty() && is_key_column(&it.column)
    };
    let set = stmt.sets.iter().find(is_key)?;
    Some(super::column::sql_value(&set.value, params))
}

/// Columns or the table are a caller's.
pub(super) fn is_open(write: &WriteFact) -> bool {
    let Some((stmt, _)) = &write.statement else { return false };
    let callers = |value: &Value| {
        let mut found = false;
        value.walk(&mut |it| found |= matches!(it, Value::Param(_) | Value::Capture(_)));
        found
    };
    let no_table = write.table.table.is_none() && write.table.model.is_none();
    no_table && write.table.value.as_ref().is_some_and(callers)
        || stmt.sets.iter().any(|it| it.column_param.is_some())
}

/// The changed fields of a row, which are clean from here on.
pub(super) fn take_changes(state: &mut State, row: &Value) -> Vec<ChangeFact> {
    let Some(object) = state.object(row) else { return Vec::new() };
    let out = object
        .fields
        .iter()
        .filter_map(|(name, it)| {
            let span = it.changed?;
            Some(ChangeFact { column: name.clone(), value: it.value.clone(), span })
        })
        .collect();
    clear_changes(state, row);
    out
}

pub(super) fn clear_changes(state: &mut State, row: &Value) {
    if state.object(row).is_none() {
        return;
    }
    for field in state.object_mut(row).fields.values_mut() {
        let Field { changed, .. } = field;
        *changed = None;
    }
}
