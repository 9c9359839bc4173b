//! What a body as a whole knows of its rows and writes, looked up by each of its writes.
//!
//! A long body has hundreds of writes and thousands of reads. A write is not compared with each of them:
//! only with those that share a row, a key or a value with it.

use super::same::{is_naming_column, key_value, names_row, relates};
use super::{Interp, Point};
use crate::analysis::fact::{LoadFact, WriteFact};
use crate::analysis::value::{Identity, Value};
use crate::ir::{ParamRef, Statement, StatementKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Positions of loads by a value.
type Index<'a> = FxHashMap<&'a Value, Vec<usize>>;

/// Tables over a body, made once for all of its writes.
pub(super) struct Around<'a> {
    /// All loads of the body.
    loads: &'a [(Point, Arc<LoadFact>)],
    /// What was loaded around the body.
    known: &'a [Arc<LoadFact>],
    by_row: Index<'a>,
    by_key: Index<'a>,
    /// By everything that their keys are made of.
    by_key_part: Index<'a>,
    by_filter: Index<'a>,
    /// Writes that values which leave the body's sight speak of.
    pub(super) escaped: FxHashSet<Identity>,
    /// Writes that fields of things from outside speak of when the body ends.
    pub(super) kept: FxHashSet<Identity>,
}

impl<'a> Around<'a> {
    pub(super) fn of(body: &'a Interp<'_>) -> Self {
        let outside = body.returns.iter().flat_map(|(.., state)| state.heap.iter());
        let fields = outside
            .filter(|(root, _)| !matches!(root, Value::Object(_)))
            .flat_map(|(_, object)| object.fields.values().map(|it| &it.value));
        let mut out = Self {
            loads: &body.loads,
            known: &body.known,
            by_row: Index::default(),
            by_key: Index::default(),
            by_key_part: Index::default(),
            by_filter: Index::default(),
            escaped: rows_and_counts(body.escaped.iter().map(|(_, it)| it)),
            kept: rows_and_counts(fields),
        };
        for (idx, (_, load)) in body.loads.iter().enumerate() {
            out.note(idx, load);
        }
        out
    }

    fn note(&mut self, idx: usize, load: &'a LoadFact) {
        self.by_row.entry(&load.row).or_default().push(idx);
        if let Some(key) = &load.key {
            self.by_key.entry(key).or_default().push(idx);
            key.walk(&mut |it| self.by_key_part.entry(it).or_default().push(idx));
        }
        for value in load.filters.iter().flat_map(|it| &it.values) {
            self.by_filter.entry(value).or_default().push(idx);
        }
    }

    /// Where a load stands.
    pub(super) fn point(&self, load: usize) -> Point {
        self.loads[load].0
    }

    /// Whether a row that was tested is the one that is written.
    pub(super) fn touches(&self, write: &WriteFact, row: &Value) -> bool {
        let first = self.by_row.get(row).and_then(|it| it.first());
        relates(write, row, first.map(|it| &*self.loads[*it].1), self.known)
    }

    /// The loads of what is written, in order.
    pub(super) fn related(&self, write: &WriteFact) -> Vec<usize> {
        let mut out = self.candidates(write);
        out.retain(|it| {
            let load = &self.loads[*it].1;
            relates(write, &load.row, Some(load), self.known)
        });
        out
    }

    /// The loads that may be of what is written, in order: all that [`relates`] holds for are among them.
    pub(super) fn candidates(&self, write: &WriteFact) -> Vec<usize> {
        let mut out = BTreeSet::new();
        if let Some(row) = &write.row {
            self.of_row(write, row, &mut out);
        }
        if let Some((stmt, params)) = &write.statement
            && !self.of_statement(stmt, params, &mut out)
        {
            return (0..self.loads.len()).collect();
        }
        out.into_iter().collect()
    }

    /// Loads of the row itself, by the same key, or by a key that comes from it.
    fn of_row(&self, write: &WriteFact, row: &Value, out: &mut BTreeSet<usize>) {
        add(&self.by_row, row, out);
        add(&self.by_key_part, row, out);
        let own = self.by_row.get(row).into_iter().flatten().map(|it| &self.loads[*it].1);
        let given = write.loads.iter().chain(self.known).filter(|it| it.row == *row);
        for key in own.chain(given).filter_map(|it| it.key.as_ref()) {
            add(&self.by_key, key, out);
        }
    }

    /// Loads that share a value with a statement; false when it names none, and may be about any.
    fn of_statement(
        &self,
        stmt: &Statement,
        params: &BTreeMap<ParamRef, Value>,
        out: &mut BTreeSet<usize>,
    ) -> bool {
        let value = |it| super::column::sql_value(it, params);
        if stmt.kind == StatementKind::Upsert {
            let keys = || stmt.upsert.iter().flat_map(|it| &it.keys);
            let names = |column: &str| {
                is_naming_column(column) || keys().any(|it| super::same::same_column(it, column))
            };
            for set in stmt.sets.iter().filter(|it| names(&it.column)) {
                let value = value(&set.value);
                add(&self.by_key, &value, out);
                add(&self.by_filter, &value, out);
            }
            return true;
        }
        let key = key_value(&stmt.conditions, params).filter(|it| *it != Value::Unknown);
        let Some(key) = key else {
            let name = stmt.conditions.iter().find(names_row);
            name.inspect(|it| add(&self.by_filter, &value(&it.values[0]), out));
            return name.is_some();
        };
        key.walk(&mut |it| add(&self.by_row, it, out));
        add(&self.by_key, &key, out);
        for it in stmt.conditions.iter().filter_map(|it| it.values.first()) {
            add(&self.by_filter, &value(it), out);
        }
        true
    }

    /// Loads of exactly that row, in order.
    pub(super) fn of_exactly(&self, row: &Value) -> impl Iterator<Item = Point> {
        self.by_row.get(row).into_iter().flatten().map(|it| self.loads[*it].0)
    }
}

fn add(index: &Index<'_>, value: &Value, out: &mut BTreeSet<usize>) {
    if let Some(found) = index.get(value) {
        out.extend(found);
    }
}

/// The writes whose row or count the values speak of.
fn rows_and_counts<'v>(values: impl Iterator<Item = &'v Value>) -> FxHashSet<Identity> {
    let mut out = FxHashSet::default();
    for value in values {
        value.walk(&mut |it| {
            if let Value::Count(id) | Value::Object(id) = it {
                out.insert(*id);
            }
        });
    }
    out
}
