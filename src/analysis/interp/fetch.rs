//! What comes back from statements: rows, values, counts.

use super::Interp;
use super::call::Site;
use crate::analysis::object::{Field, Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::model::{Access, Yield};

/// The path from an outcome that only a caller knows to its row count.
pub(super) const ROWS: &str = "{rows}";

/// The path from a statement whose text only a caller knows to the row that it gives.
const LATE_ROW: &str = "{row}";

impl Interp<'_> {
    pub(super) fn fetch_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        from: &Access,
        gives: Yield,
    ) -> Value {
        let from = self.access(state, site, from);
        match state.object(&from).map(|it| &it.kind) {
            Some(ObjectKind::Query(_)) => self.run_query(state, site, &from, gives),
            _ => self.fetch(state, &from, gives),
        }
    }

    /// A row, rows or a value from a statement that ran, or from rows.
    pub(super) fn fetch(&mut self, state: &mut State, from: &Value, gives: Yield) -> Value {
        let row = match state.object(from).map(|it| &it.kind) {
            Some(ObjectKind::Statement(stmt)) => match &stmt.row {
                Some(row) => row.clone(),
                None if self.is_symbolic(&stmt.text) => Value::path(from.clone(), LATE_ROW),
                None => Value::Opaque(self.identity(&"fetched")),
            },
            Some(ObjectKind::List(row)) => row.clone(),
            Some(ObjectKind::Row(_)) => from.clone(),
            _ => match from {
                Value::Unknown => Value::Opaque(self.identity(&"fetched")),
                from => Value::element(from.clone()),
            },
        };
        self.shape(state, row, gives)
    }

    /// A row in the shape that a call gives it.
    pub(super) fn shape(&mut self, state: &mut State, row: Value, gives: Yield) -> Value {
        match gives {
            Yield::List => {
                let out = Value::Object(self.identity(&("list", &row)));
                state.put(out.clone(), Object { kind: ObjectKind::List(row), ..Object::default() });
                out
            }
            Yield::Scalar => match state.object(&row).and_then(|it| it.fields.get("{first}")) {
                Some(field) => field.value.clone(),
                None if matches!(row, Value::Got(_) | Value::Count(_)) => row,
                None => Value::path(row, "{first}"),
            },
            Yield::Number => match row {
                Value::Got(_) | Value::Count(_) => row,
                row => Value::path(row, "{count}"),
            },
            _ => row,
        }
    }

    pub(super) fn count_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        from: &Access,
    ) -> Value {
        let from =
            if self.is_given(site, from) { self.access(state, site, from) } else { Value::Unknown };
        self.count_of(state, &from)
    }

    /// The count of the write behind a statement, an outcome, or of the last one on the connection.
    pub(super) fn count_of(&mut self, state: &State, from: &Value) -> Value {
        let behind = match state.object(from).map(|it| &it.kind) {
            Some(ObjectKind::Statement(stmt)) => stmt.ran,
            Some(ObjectKind::Outcome(id)) => Some(*id),
            _ => match from {
                Value::Count(id) | Value::Ran(id) => Some(*id),
                Value::Object(id) if is_fresh(state, from) => Some(*id),
                _ => state.last_write,
            },
        };
        match behind {
            Some(id) => Value::Count(id),
            None => Value::path(from.clone(), ROWS),
        }
    }
}

/// What a callee knows as the row of a statement is the row that was read, once the text is known.
pub(super) fn note_late_row(state: &mut State, root: &Value) {
    let row = super::sql::statement_mut(state, root).and_then(|it| it.row.clone());
    if let Some(value) = row {
        let field = Field { value, changed: None };
        state.object_mut(root).fields.insert(LATE_ROW.into(), field);
    }
}

/// A row that an insert gave.
fn is_fresh(state: &State, value: &Value) -> bool {
    match state.object(value).map(|it| &it.kind) {
        Some(ObjectKind::Row(row)) => row.fresh,
        _ => false,
    }
}
