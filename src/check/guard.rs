//! Does a statement's WHERE make the loser match no row? A condition is a guard when the SET makes it
//! false for the next worker.
//!
//! ```text
//! SET status = 'running' WHERE id = ? AND status = 'pending'                claim
//! SET status = 'running' WHERE id = ? AND status IN ('pending', 'running')  no guard
//! SET worker = ?         WHERE id = ? AND status = 'pending'                no guard: status stays
//! ```

use super::Input;
use crate::analysis::fact::WriteFact;
use crate::analysis::{Value, sql_value};
use crate::base::snake_case;
use crate::ir::{Condition, ConditionOp, ParamRef, SqlExpr, Statement, StatementKind};
use crate::model::guard::{self, Resolved};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// What the WHERE of a statement does for the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Nothing: key only, or conditions that stay true.
    None,
    /// The old state is tested in a sub-select that locks nothing.
    Unlocked,
    /// Only one worker's statement changes the row.
    Holds,
    /// Only the owner passes (`owner = :me`), or a limit is kept: in order without a look.
    Fence,
    /// A sweep over rows of one state, by no key.
    Sweep,
    /// It cannot be told.
    Unknown,
}

/// Judges a write's statement, as far as `column` is concerned.
pub(super) fn judge(input: &Input<'_>, write: &WriteFact, column: &str) -> Guard {
    let Some((stmt, params)) = &write.statement else { return Guard::None };
    let resolve = |param: &ParamRef| resolved(input, params, param);
    let found = match guard::judge(stmt, column, write.engine.or(stmt.engine), &resolve) {
        guard::Guard::Holds { .. } | guard::Guard::Version { .. } => Guard::Holds,
        guard::Guard::Fence { .. } | guard::Guard::Reservation { .. } => Guard::Fence,
        guard::Guard::Unknown => Guard::Unknown,
        guard::Guard::SubqueryOnly { .. } => Guard::Unlocked,
        guard::Guard::None | guard::Guard::NotFalsified { .. } => Guard::None,
    };
    let sweeps =
        stmt.kind == StatementKind::Update && is_sweep(input, write, (stmt, params), column);
    match found {
        Guard::Holds | Guard::None if sweeps => Guard::Sweep,
        Guard::None | Guard::Unlocked if stmt.has_unknown_condition() => Guard::Unknown,
        found => found,
    }
}

/// Conditions on states and scopes alone: every row that matches is meant.
fn is_sweep(
    input: &Input<'_>,
    write: &WriteFact,
    (stmt, params): (&Statement, &BTreeMap<ParamRef, Value>),
    column: &str,
) -> bool {
    if stmt.conditions.is_empty()
        || stmt.source.is_some()
        || guard::key_of(stmt).is_some_and(is_named)
    {
        return false;
    }
    let table = write.table.word().unwrap_or_default();
    !stmt.conditions.iter().any(|it| {
        !it.foreign
            && it.op == ConditionOp::Eq
            && !input.columns.classify(table, &it.column).is_state()
            && !super::column::same_column(&it.column, column)
            && it.values.first().is_some_and(|it| !sql_value(it, params).is_constant())
    })
}

fn is_named(key: &Condition) -> bool {
    crate::analysis::is_key_column(&key.column)
}

fn resolved(input: &Input<'_>, params: &BTreeMap<ParamRef, Value>, param: &ParamRef) -> Resolved {
    match params.get(param) {
        None | Some(Value::Unknown) => Resolved::Unknown,
        Some(value) => match literal(input, value) {
            Some(literal) => Resolved::Literal(literal),
            None => one_of(input, value).unwrap_or_else(|| {
                let mut hasher = rustc_hash::FxHasher::default();
                value.hash(&mut hasher);
                Resolved::Identity(hasher.finish())
            }),
        },
    }
}

fn one_of(input: &Input<'_>, value: &Value) -> Option<Resolved> {
    let Value::Any(them) = value else { return None };
    let them = them.iter().filter(|it| !matches!(it, Value::Choice(_)));
    let literals: Option<Vec<SqlExpr>> = them.map(|it| literal(input, it)).collect();
    literals.map(Resolved::OneOf)
}

fn literal(input: &Input<'_>, value: &Value) -> Option<SqlExpr> {
    match value {
        Value::Null => Some(SqlExpr::Null),
        Value::Bool(it) => Some(SqlExpr::Bool(*it)),
        Value::Int(it) => Some(SqlExpr::Int(*it)),
        Value::Case(class, name) => Some(match input.program.const_value(Some(class), name) {
            Some(crate::ir::Const::Str(it)) => SqlExpr::Str(it.clone()),
            Some(crate::ir::Const::Int(it)) => SqlExpr::Int(*it),
            _ => SqlExpr::Str(snake_case(name).into()),
        }),
        value => value.as_str().map(SqlExpr::Str),
    }
}

/// Whether two values are one state: equal, or an enum case and the string that it stands for.
pub(super) fn same_state(input: &Input<'_>, a: &Value, b: &Value) -> bool {
    if a == b {
        return *a != Value::Unknown;
    }
    let words = |value: &Value| -> Vec<String> {
        match value {
            Value::Case(class, name) => {
                let mut out = vec![snake_case(name)];
                let backing = input.program.const_value(Some(class), name);
                if let Some(crate::ir::Const::Str(it)) = backing {
                    out.push(it.to_lowercase());
                }
                if let Some(crate::ir::Const::Int(it)) = backing {
                    out.push(it.to_string());
                }
                out
            }
            Value::Int(it) => vec![it.to_string()],
            Value::Bool(it) => vec![i32::from(*it).to_string(), it.to_string()],
            value => value.as_str().map(|it| it.to_lowercase()).into_iter().collect(),
        }
    };
    let (a, b) = (words(a), words(b));
    a.iter().any(|it| b.contains(it))
}
