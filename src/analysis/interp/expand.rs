//! Columns and conditions that only a caller knows: arrays put in for the holes of a statement.

use super::Interp;
use super::column::column_name;
use super::query::query_mut;
use super::row::Adder;
use super::same::key_value;
use crate::analysis::fact::{Table, WriteFact};
use crate::analysis::object::{Object, ObjectKind, QueryState};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::Name;
use crate::ir::{Assign, Condition, ParamRef, SqlExpr, Statement};
use crate::model::Verb;
use std::sync::Arc;

impl Interp<'_> {
    /// Puts known arrays in for unknown columns; gives the key (if any) when something was open.
    pub(super) fn expand(&mut self, state: &State, write: &mut WriteFact) -> Option<Option<Value>> {
        let (stmt, params) = write.statement.clone()?;
        if write.table.table.is_none()
            && let Some(value) = &write.table.value
            && let Some(name) = self.declared_defaults(state, value).iter().find_map(Value::as_str)
        {
            write.table.table = Some(super::typing::bare_table(&name));
        }
        let open = stmt.sets.iter().any(|it| it.column_param.is_some())
            || stmt.conditions.iter().any(|it| it.column_param.is_some())
            || !stmt.condition_holes.is_empty()
            || write.table.value.is_some();
        if !open {
            return None;
        }
        let mut query = QueryState::new(Verb::Update, Table::default(), self.span);
        query.params = (*params).clone();
        // Free numbers for what is added.
        let base = 1000 + u32::try_from(query.params.len()).unwrap_or(0);
        let mut out = (*stmt).clone();
        let mut adder = Adder { params: (*params).clone(), next: base };
        expand_sets(self, state, &mut out, &mut adder);
        expand_conditions(self, state, &mut out, &mut adder);
        let key = key_value(&out.conditions, &adder.params);
        write.statement = Some((Arc::new(out), Arc::new(adder.params)));
        Some(key)
    }
}

/// The array that a value is, or is computed from alone.
pub(super) fn array_behind(
    state: &State,
    value: &Value,
) -> Option<crate::analysis::object::ArrayState> {
    let direct = |it: &Value| match state.object(it).map(|it| &it.kind) {
        Some(ObjectKind::Array(array)) => Some(array.clone()),
        _ => None,
    };
    if let Some(found) = direct(value) {
        return Some(found);
    }
    let mut found = Vec::new();
    value.walk(&mut |it| {
        if let Some(array) = direct(it)
            && array.items.iter().any(|it| column_name(&it.key).is_some())
            && !found.contains(&array)
        {
            found.push(array);
        }
    });
    if found.len() == 1 { found.pop() } else { None }
}

pub(super) fn expand_sets(
    _ctx: &Interp<'_>,
    state: &State,
    stmt: &mut Statement,
    adder: &mut Adder,
) {
    let sets = std::mem::take(&mut stmt.sets);
    for set in sets {
        let known = set.column_param.as_ref().and_then(|it| adder.params.get(it)).cloned();
        let Some(value) = known else {
            stmt.sets.push(set);
            continue;
        };
        if let Some(column) = column_name(&value) {
            stmt.sets.push(Assign { column, column_param: None, ..set });
            continue;
        }
        if let Some(sets) = assignments_in(&value, adder) {
            stmt.sets.extend(sets);
            continue;
        }
        let fields = fields_of(state, &value);
        if !fields.is_empty() {
            for (column, value) in fields {
                let value = adder.add(value);
                stmt.sets.push(Assign { column, column_param: None, value, span: set.span });
            }
            continue;
        }
        match array_behind(state, &value) {
            Some(array) => {
                for item in &array.items {
                    if let Some(column) = column_name(&item.key) {
                        let value = adder.add(item.value.clone());
                        stmt.sets.push(Assign {
                            column,
                            column_param: None,
                            value,
                            span: set.span,
                        });
                    }
                }
            }
            None => stmt.sets.push(set),
        }
    }
}

/// The filled fields of a struct of changes.
fn fields_of(state: &State, value: &Value) -> Vec<(Name, Value)> {
    let Some(object) = state.object(value).filter(|it| it.ty.is_some()) else { return Vec::new() };
    if !matches!(object.kind, ObjectKind::Plain | ObjectKind::Row(_)) {
        return Vec::new();
    }
    let filled =
        object.fields.iter().filter(|(_, it)| it.changed.is_some() && it.value != Value::Null);
    filled.map(|(name, it)| (name.clone(), it.value.clone())).collect()
}

/// The assignments in a text that a caller gives, with fresh parameters.
pub(super) fn assignments_in(value: &Value, adder: &mut Adder) -> Option<Vec<Assign>> {
    let (mut sets, params) = super::format::assignments(value)?;
    for set in &mut sets {
        if let SqlExpr::Param(param) = &set.value
            && let Some(found) = params.get(param)
        {
            set.value = adder.add(found.clone());
        }
    }
    Some(sets)
}

pub(super) fn expand_conditions(
    ctx: &mut Interp<'_>,
    state: &State,
    stmt: &mut Statement,
    adder: &mut Adder,
) {
    let mut pending: Vec<Value> = Vec::new();
    let conditions = std::mem::take(&mut stmt.conditions);
    for it in conditions {
        let known = it.column_param.as_ref().and_then(|it| adder.params.get(it)).cloned();
        let named = known
            .as_ref()
            .filter(|_| !it.values.is_empty())
            .and_then(|value| ctx.declared_defaults(state, value).iter().find_map(column_name));
        match (named, known) {
            (Some(column), _) => {
                stmt.conditions.push(Condition { column, column_param: None, ..it });
            }
            (None, Some(value))
                if is_expandable(state, &value)
                    && (it.values.is_empty() || array_behind(state, &value).is_some()) =>
            {
                pending.push(value);
            }
            _ => stmt.conditions.push(it),
        }
    }
    let holes = std::mem::take(&mut stmt.condition_holes);
    let mut left = Vec::new();
    for hole in holes {
        match adder.params.get(&ParamRef::Hole(hole)).cloned() {
            Some(value) if is_expandable(state, &value) => pending.push(value),
            _ => left.push(hole),
        }
    }
    if left.is_empty() && !stmt.complete && !pending.is_empty() {
        stmt.complete = true;
    }
    stmt.condition_holes = left;
    add_pending(ctx, state, stmt, (pending, adder));
}

/// Conditions that became known stand in the statement with parameters of their own.
fn add_pending(
    ctx: &mut Interp<'_>,
    state: &State,
    stmt: &mut Statement,
    (pending, adder): (Vec<Value>, &mut Adder),
) {
    let mut scratch = state.clone();
    for value in pending {
        let root = Value::Object(ctx.identity(&"expanded"));
        let query = QueryState::new(Verb::Update, Table::default(), ctx.span);
        scratch.put(
            root.clone(),
            Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
        );
        let value = match array_behind(state, &value) {
            Some(array) => {
                let it = Value::Object(ctx.identity(&"conditions"));
                scratch.put(
                    it.clone(),
                    Object { kind: ObjectKind::Array(array), ..Object::default() },
                );
                it
            }
            None => value,
        };
        ctx.add_conditions(&mut scratch, &root, &value, &Value::Null);
        let Some(query) = query_mut(&mut scratch, &root) else { continue };
        for condition in &query.conditions {
            let mut it = condition.clone();
            for value in &mut it.values {
                if let SqlExpr::Param(param) = value
                    && let Some(found) = query.params.get(param)
                {
                    *value = adder.add(found.clone());
                }
            }
            stmt.conditions.push(it);
        }
    }
}

pub(super) fn is_expandable(state: &State, value: &Value) -> bool {
    array_behind(state, value).is_some()
        || matches!(value, Value::Text(_))
        || value.as_str().is_some()
        || *value == Value::Null
}

/// Whether a value stands for one thing with fields, not for a constant or an array of values.
pub(super) fn is_object(state: &State, value: &Value) -> bool {
    let is_array = matches!(state.object(value).map(|it| &it.kind), Some(ObjectKind::Array(_)));
    !value.is_constant() && *value != Value::Unknown && !is_array
}
