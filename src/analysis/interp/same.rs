//! Whether two facts speak of the same row, key or column.

use super::relate::MAX_EVIDENCE;
use crate::analysis::fact::{Filter, Held, HeldKind, LoadFact, WriteFact, WriteKind};
use crate::analysis::value::Value;
use crate::base::folded;
use crate::ir::{Condition, ConditionOp, ParamRef, SqlExpr, Statement, StatementKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a statement has a condition besides its key: only then can it be a claim.
pub(super) fn may_claim(write: &WriteFact) -> bool {
    let Some((stmt, _)) = &write.statement else { return false };
    write.is_claiming_insert()
        || write.kind == WriteKind::Statement
            && stmt.conditions.iter().any(|it| !is_key_column(&it.column) || !it.any.is_empty())
}

/// Whether two writes speak of the same row.
pub(super) fn same_row(a: &WriteFact, b: &WriteFact) -> bool {
    if a.is_claiming_insert() {
        return is_put_in(a, b);
    }
    if a.table.same(&b.table) == Some(false) {
        return false;
    }
    let key = |it: &WriteFact| {
        it.statement.as_ref().and_then(|(stmt, params)| key_value(&stmt.conditions, params))
    };
    match (key(a), key(b)) {
        (Some(x), Some(y)) if is_same_key(&x, &y) => true,
        (Some(x), _) if b.row.as_ref().is_some_and(|row| key_of_row(&x, row)) => true,
        _ => {
            let keys_of = |it: &WriteFact| -> Vec<Value> {
                it.loads
                    .iter()
                    .flat_map(|load| load.key.iter().cloned().chain([load.row.clone()]))
                    .collect()
            };
            let (mine, theirs) = (keys_of(a), keys_of(b));
            mine.iter().any(|it| *it != Value::Unknown && theirs.contains(it))
                || key(a).is_some_and(|x| theirs.iter().any(|row| key_of_row(&x, row) || *row == x))
        }
    }
}

/// Whether the written row is the one that the insert puts in, or is told by what the insert puts in: a
/// row that stands for the right to do it.
fn is_put_in(insert: &WriteFact, write: &WriteFact) -> bool {
    let Some((stmt, params)) = &insert.statement else { return false };
    stmt.sets.iter().filter(|it| is_naming_column(&it.column)).any(|set| {
        let value = super::column::sql_value(&set.value, params);
        !value.is_constant() && value != Value::Unknown && identifies(&value, write)
    })
}

/// Whether winning the claim of another row keeps others out of the write: both are in one
/// transaction, and whoever writes this row has to win that one. A fixed latch row is such a row, and a
/// parent that the written row is known by.
pub(super) fn is_latch(claim: &WriteFact, write: &WriteFact) -> bool {
    let held = |it: &Held| matches!(it.kind, HeldKind::Transaction | HeldKind::Strict);
    let shared = claim
        .context
        .held
        .iter()
        .any(|it| held(it) && write.context.held.iter().any(|that| that.is_same(it)));
    let Some((stmt, params)) = claim.statement.as_ref().filter(|_| shared) else { return false };
    let keys: Vec<Value> = stmt
        .conditions
        .iter()
        .filter(|it| it.any.is_empty() && it.op == ConditionOp::Eq)
        .flat_map(|it| it.values.iter().map(|it| super::column::sql_value(it, params)))
        .filter(|it| !it.is_constant())
        .collect();
    keys.is_empty() || keys.iter().any(|it| *it != Value::Unknown && identifies(it, write))
}

/// Whether the written row was picked by that value, among others.
fn identifies(value: &Value, write: &WriteFact) -> bool {
    let own = write.statement.iter().flat_map(|(stmt, params)| {
        stmt.conditions
            .iter()
            .flat_map(|it| &it.values)
            .map(|it| super::column::sql_value(it, params))
    });
    let loads = write.loads.iter();
    let read =
        loads.flat_map(|it| it.key.iter().chain(it.filters.iter().flat_map(|it| &it.values)));
    let mut all = own.chain(read.cloned());
    all.any(|it| it == *value || !matches!(it, Value::Any(_)) && it.mentions(value))
}

/// Whether two keys are one value; what is computed from a key alone is taken for it.
fn is_same_key(a: &Value, b: &Value) -> bool {
    let alone = |it: &Value| match it {
        Value::Derived(them) if them.len() == 1 => them[0].clone(),
        it => it.clone(),
    };
    let (a, b) = (alone(a), alone(b));
    a == b && a != Value::Unknown
}

/// Whether a key value names a row: a field of it, or something computed from one.
pub(super) fn key_of_row(key: &Value, row: &Value) -> bool {
    if *row == Value::Unknown || row.is_constant() {
        return false;
    }
    match key.as_path() {
        Some((base, _)) => base == row || base.mentions(row) && !matches!(row, Value::This),
        None => key.mentions(row) && !matches!(row, Value::This),
    }
}

/// Whether a write is about `row`, which came from `load` when that is known.
/// `known` are loads around this function.
pub(super) fn relates(
    write: &WriteFact,
    row: &Value,
    load: Option<&LoadFact>,
    known: &[Arc<LoadFact>],
) -> bool {
    if write.is_claiming_insert() {
        return false;
    }
    if let Some(own) = &write.row {
        if own == row {
            return true;
        }
        let Some(load) = load else { return false };
        let named = |it: &&Value| !it.is_constant() && **it != Value::Unknown;
        let same_key = load.key.as_ref().filter(named).is_some_and(|key| {
            let own_load = write.loads.iter().chain(known).find(|it| it.row == *own);
            own_load.is_some_and(|it| {
                it.key.as_ref() == Some(key) && it.table.same(&load.table) != Some(false)
            })
        });
        let by_key = load.key.as_ref().is_some_and(|it| key_of_row(it, own));
        let related = same_key || by_key && write.table.same(&load.table) == Some(true);
        if related || write.statement.is_none() {
            return related;
        }
    }
    let Some((stmt, params)) = &write.statement else { return false };
    let table = load.and_then(|it| write.table.same(&it.table));
    if table == Some(false) {
        return false;
    }
    if stmt.kind == StatementKind::Upsert {
        return load.is_some_and(|it| table == Some(true) && puts_in(stmt, params, it));
    }
    let key = key_value(&stmt.conditions, params);
    if let Some(key) = &key
        && *key != Value::Unknown
    {
        if key_of_row(key, row) {
            return true;
        }
        if let Some(load) = load {
            if load.key.as_ref() == Some(key) {
                return true;
            }
            let shared = stmt.conditions.iter().any(|it| {
                let mine = it.values.first().map(|it| super::column::sql_value(it, params));
                mine.is_some_and(|mine| {
                    !mine.is_constant()
                        && mine != Value::Unknown
                        && load.filters.iter().any(|filter| {
                            same_column(&filter.column, &it.column) && filter.values.contains(&mine)
                        })
                })
            });
            return shared;
        }
        return false;
    }
    table == Some(true) && load.is_some_and(|it| has_same_name(&stmt.conditions, params, it))
}

/// Whether the key of a statement may also be that of a row from elsewhere (a request's, on another
/// path): then the condition under which `row` was read is not one of the write.
pub(super) fn is_one_of_several(write: &WriteFact, row: &Value) -> bool {
    let Some((stmt, params)) = &write.statement else { return false };
    let key = key_value(&stmt.conditions, params).unwrap_or_default();
    let other = |it: &Value| !it.is_constant() && *it != Value::Unknown && !key_of_row(it, row);
    let alternatives = |it: &Value| it.alternatives().iter().any(other);
    match &key {
        // `foreach ($ids as $id)`, where `$ids` come from one of two places.
        Value::Element(list) => list.alternatives().len() > 1 && alternatives(list),
        key => key.alternatives().len() > 1 && alternatives(key),
    }
}

/// Whether the row that an upsert puts in is the one that was read: their keys are one value.
fn puts_in(stmt: &Statement, params: &BTreeMap<ParamRef, Value>, load: &LoadFact) -> bool {
    let names = |column: &str| {
        let keys = stmt.upsert.iter().flat_map(|it| &it.keys);
        is_naming_column(column) || keys.into_iter().any(|it| same_column(it, column))
    };
    stmt.sets.iter().filter(|it| names(&it.column)).any(|set| {
        let value = super::column::sql_value(&set.value, params);
        value != Value::Unknown
            && (load.key.as_ref() == Some(&value) || filters_by(load, &set.column, &value))
    })
}

fn filters_by(load: &LoadFact, column: &str, value: &Value) -> bool {
    let mut filters = load.filters.iter().filter(|it| !it.negated && !it.vague);
    filters.any(|it| same_column(&it.column, column) && it.values.contains(value))
}

/// Whether a statement that names its rows (`WHERE name = 'limit'`) names those that were read.
fn has_same_name(
    conditions: &[Condition],
    params: &BTreeMap<ParamRef, Value>,
    load: &LoadFact,
) -> bool {
    conditions.iter().filter(names_row).all(|it| {
        let value = super::column::sql_value(&it.values[0], params);
        filters_by(load, &it.column, &value)
    })
}

/// Whether a condition names rows by something else than their key: `name = 'limit'`.
pub(super) fn names_row(condition: &&Condition) -> bool {
    condition.op == ConditionOp::Eq
        && !condition.foreign
        && is_name_column(&condition.column)
        && condition.values.len() == 1
}

/// Whether two spellings mean one column.
pub(super) fn same_column(a: &str, b: &str) -> bool {
    a == b || column_key(a) == column_key(b)
}

/// The spelling by which columns, properties and getters are compared.
pub(crate) fn column_key(name: &str) -> String {
    let name = folded(name);
    let name = name.strip_prefix("get_").unwrap_or(&name);
    for prefix in ["is_", "has_", "was_"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return rest.to_owned();
        }
    }
    name.to_owned()
}

/// Conditions on other columns than the key, as what a load proves.
pub(super) fn filters_of(
    conditions: &[Condition],
    params: &BTreeMap<ParamRef, Value>,
) -> Vec<Filter> {
    let mut out = Vec::new();
    for it in conditions {
        if !it.any.is_empty() {
            for branch in &it.any {
                for mut filter in filters_of(branch, params) {
                    filter.vague = true;
                    out.push(filter);
                }
            }
            continue;
        }
        if it.foreign
            || it.column.is_empty()
            || is_key_column(&it.column) && it.op == ConditionOp::Eq
        {
            continue;
        }
        let values: Vec<Value> =
            it.values.iter().map(|it| super::column::sql_value(it, params)).collect();
        let (values, negated, vague) = match it.op {
            ConditionOp::Eq | ConditionOp::In => (values, false, false),
            ConditionOp::Ne | ConditionOp::NotIn => (values, true, false),
            ConditionOp::IsNull => (vec![Value::Null], false, false),
            ConditionOp::IsNotNull => (vec![Value::Null], true, false),
            ConditionOp::Less
            | ConditionOp::Greater
            | ConditionOp::Like
            | ConditionOp::InSelect
            | ConditionOp::Other => (values, false, true),
        };
        out.push(Filter { column: it.column.clone(), negated, values, vague });
    }
    out.truncate(MAX_EVIDENCE);
    out
}

/// The value of the condition that names the row.
pub(super) fn key_value(
    conditions: &[Condition],
    params: &BTreeMap<ParamRef, Value>,
) -> Option<Value> {
    let candidates = || {
        conditions.iter().filter(|it| {
            !it.foreign && it.any.is_empty() && matches!(it.op, ConditionOp::Eq | ConditionOp::In)
        })
    };
    let value = |it: &Condition| match it.values.as_slice() {
        [one] => super::column::sql_value(one, params),
        them => Value::derived(them.iter().map(|it| super::column::sql_value(it, params))),
    };
    candidates()
        .find(|it| is_key_column(&it.column))
        .or_else(|| {
            candidates().find(|it| {
                let given = matches!(it.values.first(), Some(SqlExpr::Param(_)));
                given && !value(it).is_constant() && is_name_column(&it.column)
            })
        })
        .map(value)
}

/// Columns that identify a row by convention.
pub(crate) fn is_key_column(column: &str) -> bool {
    let name = folded(column);
    matches!(
        &*name,
        "id" | "uuid" | "guid" | "rowid" | "pk" | "uid" | "oid" | "ctid" | "_id" | "entity_id"
    ) || name.ends_with("_uuid")
        || name.ends_with("_id") && !name.contains("status") && !name.contains("state")
        || name.ends_with("_pk")
}

/// Columns that are a row's key, or its name where it has no other.
pub(crate) fn is_naming_column(column: &str) -> bool {
    is_key_column(column) || is_name_column(column)
}

/// Columns that may identify a row when no id is there.
pub(super) fn is_name_column(column: &str) -> bool {
    let name = folded(column);
    let last = name.rsplit('_').next().unwrap_or(&name);
    matches!(
        last,
        "key"
            | "code"
            | "token"
            | "hash"
            | "number"
            | "no"
            | "ref"
            | "reference"
            | "slug"
            | "name"
            | "email"
            | "path"
            | "url"
            | "identifier"
            | "handle"
            | "serial"
            | "sku"
            | "login"
            | "digest"
    )
}
