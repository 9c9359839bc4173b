//! Which condition says which row is meant.

use super::name::{is_lease, is_owner, is_state, is_version};
use crate::base::snake_case;
use crate::ir::{Condition, ConditionOp, SqlExpr, Statement};

/// The condition that says which row is meant.
pub fn key_of(stmt: &Statement) -> Option<&Condition> {
    let fits = |it: &&Condition| {
        !it.foreign
            && it.any.is_empty()
            && matches!(it.op, ConditionOp::Eq | ConditionOp::In | ConditionOp::InSelect)
    };
    stmt.conditions
        .iter()
        .filter(fits)
        .filter_map(|it| Some((key_rank(it, &stmt.table)?, it)))
        .min_by_key(|it| it.0)
        .map(|it| it.1)
}

/// How well a condition serves as a key; smaller is better, none is not at all.
pub(super) fn key_rank(condition: &Condition, table: &str) -> Option<u32> {
    let name = snake_case(&condition.column);
    let table = snake_case(table);
    let own_id = name.strip_suffix("_id").is_some_and(|it| {
        !it.is_empty() && (table.ends_with(it) || table.trim_end_matches('s').ends_with(it))
    });
    let by_param =
        || matches!(condition.values.first(), Some(SqlExpr::Param(_) | SqlExpr::Mixed(_)));
    let last = name.rsplit('_').next().unwrap_or_default();
    match name.as_str() {
        "" if condition.column_param.is_some() && by_param() => Some(5),
        "" => None,
        "id" | "ctid" | "rowid" | "pk" | "oid" => Some(0),
        _ if own_id => Some(1),
        _ if is_owner(&name) && !matches!(last, "token") => None,
        _ if matches!(
            last,
            "uuid"
                | "guid"
                | "ulid"
                | "hash"
                | "key"
                | "code"
                | "token"
                | "number"
                | "slug"
                | "reference"
                | "ref"
        ) =>
        {
            Some(2)
        }
        _ if last == "id" => Some(3),
        _ if is_state(&name) || is_version(&name) || is_lease(&name) => None,
        _ if by_param() && condition.op != ConditionOp::InSelect => Some(6),
        _ => None,
    }
}

/// Whether it may say which row is meant.
pub(super) fn is_key(condition: &Condition) -> bool {
    !condition.foreign
        && matches!(condition.op, ConditionOp::Eq | ConditionOp::In | ConditionOp::InSelect)
        && key_rank(condition, "").is_some()
}
