//! Does a statement's WHERE make the loser match no row? A condition is a guard when the SET makes it
//! false for the next worker.
//!
//! ```text
//! SET status = 'running' WHERE id = ? AND status = 'pending'                claim
//! SET status = 'running' WHERE id = ? AND status IN ('pending', 'running')  no guard
//! SET worker = ?         WHERE id = ? AND status = 'pending'                no guard: status stays
//! ```

use super::Input;
use super::column::{same_column, targets};
use crate::analysis::fact::WriteFact;
use crate::analysis::{Value, is_key_column, sql_value};
use crate::ir::{Condition, ConditionOp, Engine, ParamRef, Statement, StatementKind};
use crate::model::ColumnClass;
use std::collections::BTreeMap;

/// What the WHERE of a statement does for the race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Nothing: key only, or conditions that stay true.
    None,
    /// Only one worker's statement changes the row.
    Holds,
    /// A condition that the SET does not make false on a column that speaks of the state; the column.
    Loose(String),
    /// Only the owner passes (`owner = :me`), or a limit is kept: in order without a look.
    Fence,
    /// A sweep over rows of one state, by no key.
    Sweep,
    /// It cannot be told.
    Unknown,
}

/// Judges a write's statement.
pub(super) fn judge(input: &Input<'_>, write: &WriteFact) -> Guard {
    let Some((stmt, params)) = &write.statement else { return Guard::None };
    if stmt.kind == StatementKind::Upsert {
        return judge_upsert(input, write, stmt, params);
    }
    let ctx = Ctx { input, write, params, engine: write.engine.or(stmt.engine) };
    if ctx.source_guards(stmt) {
        return Guard::Holds;
    }
    let found = ctx.conditions(&stmt.conditions);
    let keyed = stmt.conditions.iter().any(|it| is_key(it)) || stmt.source.is_some();
    match found {
        Guard::None | Guard::Loose(_) if !stmt.complete || !stmt.condition_holes.is_empty() => Guard::Unknown,
        Guard::None if stmt.conditions.iter().any(|it| it.column_param.is_some()) => Guard::Unknown,
        Guard::Holds | Guard::Loose(_) | Guard::None if !keyed && !stmt.conditions.is_empty() => {
            if ctx.names_a_row(stmt) { found } else { Guard::Sweep }
        }
        found => found,
    }
}

fn judge_upsert(input: &Input<'_>, write: &WriteFact, stmt: &Statement, params: &BTreeMap<ParamRef, Value>) -> Guard {
    let Some(upsert) = &stmt.upsert else { return Guard::Unknown };
    let ctx = Ctx { input, write, params, engine: write.engine.or(stmt.engine) };
    let locked = stmt.source.as_ref().is_some_and(|it| it.lock.is_some());
    if locked { Guard::Unknown } else { ctx.conditions(&upsert.conditions) }
}

fn is_key(it: &Condition) -> bool {
    !it.foreign && it.any.is_empty() && is_key_column(&it.column)
        && matches!(it.op, ConditionOp::Eq | ConditionOp::In | ConditionOp::InSelect)
}

struct Ctx<'a> {
    input: &'a Input<'a>,
    write: &'a WriteFact,
    params: &'a BTreeMap<ParamRef, Value>,
    engine: Option<Engine>,
}

impl Ctx<'_> {
    /// A sub-select that picks the rows guards them when it locks them, or where statements do not
    /// overlap.
    fn source_guards(&self, stmt: &Statement) -> bool {
        let Some(source) = &stmt.source else { return false };
        source.lock.is_some() || matches!(self.engine, Some(Engine::Sqlite | Engine::MySql))
    }

    /// A statement without an id still names one row when a condition compares with a value from
    /// outside that is no state.
    fn names_a_row(&self, stmt: &Statement) -> bool {
        let table = self.write.table.word().unwrap_or_default();
        stmt.conditions.iter().any(|it| {
            !it.foreign
                && it.op == ConditionOp::Eq
                && !self.input.columns.classify(table, &it.column).is_state()
                && it.values.first().is_some_and(|it| !sql_value(it, self.params).is_constant())
        })
    }

    fn conditions(&self, conditions: &[Condition]) -> Guard {
        let mut out = Guard::None;
        for it in conditions {
            match self.condition(it) {
                Guard::Holds => return Guard::Holds,
                Guard::Fence => out = Guard::Fence,
                Guard::Unknown if out == Guard::None => out = Guard::Unknown,
                Guard::Loose(column) if out == Guard::None => out = Guard::Loose(column),
                _ => (),
            }
        }
        out
    }

    fn condition(&self, it: &Condition) -> Guard {
        if !it.any.is_empty() {
            let branches: Vec<Guard> = it.any.iter().map(|branch| self.conditions(branch)).collect();
            let all = |wanted: &[Guard]| branches.iter().all(|it| wanted.contains(it));
            return match () {
                () if all(&[Guard::Holds]) => Guard::Holds,
                () if all(&[Guard::Holds, Guard::Fence]) => Guard::Fence,
                () if branches.contains(&Guard::Unknown) => Guard::Unknown,
                () => Guard::Loose(it.column.to_string()),
            };
        }
        if it.foreign || is_key(it) || it.op == ConditionOp::InSelect {
            return Guard::None;
        }
        if it.column.is_empty() {
            return Guard::Unknown;
        }
        self.column_condition(it)
    }

    fn column_condition(&self, it: &Condition) -> Guard {
        let table = self.write.table.word().unwrap_or_default();
        let class = self.input.columns.classify(table, &it.column);
        let all = targets(self.input, self.write);
        let set = all.iter().find(|target| same_column(&target.column, &it.column));
        let values: Vec<Value> = it.values.iter().map(|it| sql_value(it, self.params)).collect();
        let Some(set) = set else { return unset(class, it, &values) };
        if set.relative {
            let version = class == ColumnClass::Version || it.op == ConditionOp::Eq;
            return if version { Guard::Holds } else { Guard::Fence };
        }
        let loose = || Guard::Loose(it.column.to_string());
        match it.op {
            ConditionOp::Eq | ConditionOp::In => {
                if values.is_empty() {
                    return Guard::Holds;
                }
                if values.iter().any(|value| same_state(self.input, value, &set.value)) { loose() } else { Guard::Holds }
            }
            ConditionOp::Ne | ConditionOp::NotIn => {
                let excluded = values.iter().any(|value| same_state(self.input, value, &set.value));
                let known = set.value.is_constant() && values.iter().all(Value::is_constant);
                if excluded { Guard::Holds } else if known { loose() } else { Guard::Unknown }
            }
            ConditionOp::IsNull => if set.value == Value::Null && !set.now { loose() } else { Guard::Holds },
            ConditionOp::IsNotNull => if set.value == Value::Null && !set.now { Guard::Holds } else { loose() },
            ConditionOp::Less | ConditionOp::Greater => Guard::Holds,
            ConditionOp::Like | ConditionOp::InSelect | ConditionOp::Other => Guard::Unknown,
        }
    }
}

/// A condition on a column that the statement does not set.
fn unset(class: ColumnClass, it: &Condition, values: &[Value]) -> Guard {
    let given = values.first().is_some_and(|it| !it.is_constant());
    match class {
        // Only the owner passes.
        ColumnClass::Claim if it.op == ConditionOp::Eq && given => Guard::Fence,
        ColumnClass::Strong | ColumnClass::Done | ColumnClass::Claim | ColumnClass::Version => {
            Guard::Loose(it.column.to_string())
        }
        ColumnClass::Counter if matches!(it.op, ConditionOp::Less | ConditionOp::Greater) => Guard::Fence,
        ColumnClass::Counter | ColumnClass::Weak | ColumnClass::Plain | ColumnClass::Never => Guard::None,
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
                let mut out = vec![crate::base::snake_case(name)];
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
