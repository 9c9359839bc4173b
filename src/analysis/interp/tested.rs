//! Which columns a tested value speaks of, and whether it speaks of a write.

use super::relate::MAX_EVIDENCE;
use crate::analysis::fact::{CheckFact, CheckKind, Filter, LoadFact, WriteFact};
use crate::analysis::object::ObjectKind;
use crate::analysis::state::State;
use crate::analysis::value::{Identity, TestOp, Value};
use crate::base::{Name, Span};
use crate::ir::BlockId;
use crate::model::Yield;
use rustc_hash::FxHashSet;

/// A branch with what it tests.
#[derive(Debug)]
pub(super) struct Tested {
    pub(super) block: BlockId,
    pub(super) value: Value,
    pub(super) span: Span,
    pub(super) columns: Vec<ColumnTest>,
    /// Writes that the value may speak of.
    pub(super) ids: FxHashSet<Identity>,
}

/// A column test found in a value.
#[derive(Clone, Debug)]
pub(super) struct ColumnTest {
    pub(super) row: Value,
    pub(super) column: Name,
    pub(super) kind: CheckKind,
    /// Under a true test the column is one of these, or none of them.
    pub(super) holds: Result<Vec<Value>, Vec<Value>>,
}

impl ColumnTest {
    pub(super) fn into_fact(
        self,
        holds: bool,
        span: Span,
        symbol: crate::ir::FuncRef,
    ) -> CheckFact {
        let passes = if holds {
            self.holds
        } else {
            match self.holds {
                Ok(them) if them.is_empty() => Ok(them),
                Ok(them) => Err(them),
                Err(them) => Ok(them),
            }
        };
        CheckFact {
            row: self.row,
            column: self.column,
            kind: self.kind,
            passes,
            span,
            symbol,
            works: true,
        }
    }
}

/// The columns that a value's truth depends on.
pub(super) fn columns_tested(tested: &Value) -> Vec<ColumnTest> {
    let mut out = Vec::new();
    collect_tests(tested, &mut out);
    out.truncate(MAX_EVIDENCE);
    out
}

pub(super) fn collect_tests(tested: &Value, out: &mut Vec<ColumnTest>) {
    match tested {
        Value::Test(test) => {
            // `$seat?->taken_at === null` tests the column where there is a row.
            let left = super::row::non_null(test.left.clone());
            if let Some((row, column)) = left.as_path()
                && test.op != TestOp::Order
            {
                let mut right = test.right.clone();
                if right.contains(&Value::Unknown) {
                    right.clear();
                }
                let holds =
                    if test.op == TestOp::Eq || right.is_empty() { Ok(right) } else { Err(right) };
                push_test(out, row, column, CheckKind::Branch, holds);
            } else {
                collect_vague(&test.left, out);
            }
            for it in &test.right {
                collect_vague(it, out);
            }
        }
        Value::Truthy(inner) => collect_tests(inner, out),
        Value::Path(_) => {
            if let Some((row, column)) = tested.as_path() {
                let falsy = vec![Value::Bool(false), Value::Null];
                push_test(out, row, column, CheckKind::Branch, Err(falsy));
            }
        }
        Value::Any(them) => them.iter().for_each(|it| collect_tests(it, out)),
        it => collect_vague(it, out),
    }
}

pub(super) fn collect_vague(value: &Value, out: &mut Vec<ColumnTest>) {
    match value {
        Value::Test(_) | Value::Truthy(_) => collect_tests(value, out),
        Value::Derived(them) | Value::Any(them) => {
            them.iter().for_each(|it| collect_vague(it, out));
        }
        Value::Path(_) => {
            if let Some((row, column)) = value.as_path() {
                push_test(out, row, column, CheckKind::Vague, Ok(Vec::new()));
            }
        }
        Value::Choice(it) => collect_vague(&it.test, out),
        Value::Element(inner) => collect_vague(inner, out),
        _ => (),
    }
}

pub(super) fn push_test(
    out: &mut Vec<ColumnTest>,
    row: &Value,
    column: &Name,
    kind: CheckKind,
    holds: Result<Vec<Value>, Vec<Value>>,
) {
    // `$status->value` tests the status.
    if matches!(&**column, "value" | "name")
        && let Some((row, column)) = row.as_path()
    {
        push_test(out, row, column, kind, holds);
        return;
    }
    for row in row.alternatives() {
        if !row.is_constant() && *row != Value::Unknown {
            let (row, column, holds) = (row.clone(), column.clone(), holds.clone());
            out.push(ColumnTest { row, column, kind, holds });
        }
    }
}

pub(super) fn filter_check(load: &LoadFact, filter: &Filter) -> CheckFact {
    let values = filter.values.clone();
    let passes = if filter.negated { Err(values) } else { Ok(values) };
    CheckFact {
        row: load.row.clone(),
        column: filter.column.clone(),
        kind: CheckKind::Filter,
        passes: if filter.vague { Ok(Vec::new()) } else { passes },
        span: load.span,
        symbol: load.symbol,
        works: true,
    }
}

/// Everything made by a call that the values speak of: what [`speaks_of`], [`counts`] and [`ran`] may hold
/// for.
pub(super) fn ids_in<'v>(values: impl IntoIterator<Item = &'v Value>) -> FxHashSet<Identity> {
    let mut out = FxHashSet::default();
    for value in values {
        value.walk(&mut |it| {
            if let Value::Count(id) | Value::Object(id) | Value::Ran(id) = it {
                out.insert(*id);
            }
        });
    }
    out
}

/// Whether the value depends on how many rows a write affected, or on the row that it gave back.
pub(super) fn speaks_of(value: &Value, id: Identity) -> bool {
    value.mentions(&Value::Count(id)) || value.mentions(&Value::Object(id))
}

/// Whether the value depends on how many rows the write affected. An outcome by itself does not: the
/// number has to be read from it.
pub(super) fn counts(value: &Value, write: &WriteFact) -> bool {
    let outcome = Value::Object(write.id);
    let mut found = false;
    value.walk(&mut |it| {
        found |= *it == Value::Count(write.id)
            || *it == outcome && !is_plain_outcome(write)
            || it.as_path().is_some_and(|(base, _)| *base == outcome)
            || is_compared_with_number(it, &outcome);
    });
    found
}

/// Whether something is compared with numbers: then it is one.
fn is_compared_with_number(value: &Value, wanted: &Value) -> bool {
    let Value::Test(test) = value else { return false };
    let number = |it: &Value| matches!(it, Value::Int(_));
    test.left == *wanted && !test.right.is_empty() && test.right.iter().all(number)
}

/// Whether the value tells that the write ran, and nothing more.
pub(super) fn ran(value: &Value, write: &WriteFact) -> bool {
    value.mentions(&Value::Ran(write.id))
        || value.mentions(&Value::Object(write.id)) && is_plain_outcome(write)
}

pub(super) fn is_plain_outcome(write: &WriteFact) -> bool {
    let returning = write.statement.as_ref().is_some_and(|(stmt, _)| stmt.returning);
    write.gives == Yield::Outcome && !write.weak && !returning
}

/// Whether a returned object leads to a write's count.
pub(super) fn leads_to(state: &State, value: &Value, id: Identity) -> bool {
    match state.object(value).map(|it| &it.kind) {
        Some(ObjectKind::Statement(stmt)) => stmt.ran == Some(id),
        Some(ObjectKind::Outcome(it)) => *it == id,
        Some(ObjectKind::List(row)) => speaks_of(row, id),
        Some(ObjectKind::Array(array)) => array.items.iter().any(|it| speaks_of(&it.value, id)),
        _ => state
            .object(value)
            .is_some_and(|it| it.fields.values().any(|it| speaks_of(&it.value, id))),
    }
}
