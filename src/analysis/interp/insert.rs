//! Insert: which rows are made here, and with what values?

use super::Interp;
use super::call::Site;
use crate::analysis::fact::{InsertFact, Table};
use crate::analysis::sql_value;
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::Name;
use crate::ir::{ParamRef, Statement, StatementKind};
use std::collections::BTreeMap;

impl Interp<'_> {
    /// A statement makes rows, unless it deletes them.
    pub(super) fn note_statement_insert(
        &mut self,
        stmt: &Statement,
        params: &BTreeMap<ParamRef, Value>,
    ) {
        if stmt.kind == StatementKind::Delete {
            return;
        }
        let sets = stmt.sets.iter().map(|it| (it.column.clone(), sql_value(&it.value, params)));
        let table = Table { table: Some(stmt.table.clone()), model: None, value: None };
        let sets = sets.collect();
        self.resolved.inserts.push(InsertFact { table, sets, primary: stmt.verb_span });
    }

    /// A call makes rows out of what it is given.
    pub(super) fn note_call_insert(&mut self, state: &State, site: &Site<'_>, table: &Table) {
        let given = site.args.iter().chain([&site.receiver]).filter_map(|it| state.object(it));
        let fields = given.flat_map(|it| &it.fields);
        let sets: Vec<(Name, Value)> =
            fields.map(|(name, it)| (name.clone(), it.value.clone())).collect();
        if !sets.is_empty() {
            let primary = site.call.name_span;
            self.resolved.inserts.push(InsertFact { table: table.clone(), sets, primary });
        }
    }
}
