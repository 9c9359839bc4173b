//! Names and values in statements: which column a value names, what an SQL expression stands for.

use super::condition::split_operator;
use crate::analysis::value::Value;
use crate::base::{Name, snake_case};
use crate::ir::{ParamRef, SqlExpr};
use std::collections::BTreeMap;

/// What an SQL expression stands for.
pub(crate) fn sql_value(expr: &SqlExpr, params: &BTreeMap<ParamRef, Value>) -> Value {
    match expr {
        SqlExpr::Str(it) => Value::Str(it.clone()),
        SqlExpr::Int(it) => Value::Int(*it),
        SqlExpr::Bool(it) => Value::Bool(*it),
        SqlExpr::Null => Value::Null,
        SqlExpr::Param(param) => match params.get(param) {
            Some(it) => it.clone(),
            None => params
                .get(&ParamRef::Named("*".into()))
                .map_or(Value::Unknown, |it| bound_in(it, param)),
        },
        SqlExpr::Mixed(them) | SqlExpr::Relative(them) | SqlExpr::Other(them) => {
            Value::derived(them.iter().filter_map(|it| params.get(it).cloned()))
        }
        SqlExpr::Column(_) | SqlExpr::Now | SqlExpr::Conditional => Value::Unknown,
    }
}

/// What a parameter stands for when all are bound by one array that a caller knows.
pub(super) fn bound_in(array: &Value, param: &ParamRef) -> Value {
    match (array, param) {
        (
            Value::Param(_) | Value::This | Value::Path(_) | Value::Object(_),
            ParamRef::Named(name),
        ) => Value::path(array.clone(), name.clone()),
        (array, _) => Value::derived([array.clone()]),
    }
}

/// A column name in a value: a string, a `Column::Status` constant, or a path's last part.
pub(super) fn column_name(value: &Value) -> Option<Name> {
    match value {
        Value::Case(_, name) => Some(snake_case(name).into()),
        Value::Static(name) => Some(snake_case(crate::base::last_segment(name)).into()),
        // An argument that may be left out: `$where ?: $this->primaryKey`.
        Value::Any(them) => {
            let mut named = them.iter().filter_map(column_name);
            match (named.next(), named.next()) {
                (Some(only), None) => Some(only),
                _ => None,
            }
        }
        value => {
            let text = literal_of(value)?;
            let text = text.trim();
            let fits = !text.is_empty()
                && text.len() < 80
                && text.chars().all(|it| {
                    it.is_alphanumeric() || matches!(it, '_' | '.' | '`' | '"' | '[' | ']')
                })
                && !text.chars().all(|it| it.is_ascii_digit());
            fits.then(|| bare_column(text))
        }
    }
}

/// A column by its path: `jobs::status`, `Column::Status`, `status`.
pub(super) fn column_of_table(value: &Value) -> Option<Name> {
    matches!(value, Value::Case(..) | Value::Static(_)).then(|| column_name(value)).flatten()
}

/// A column, perhaps followed by an operator (`status !=`).
pub(super) fn plain_column(value: &Value) -> Option<Name> {
    if let Some(name) = column_name(value) {
        return Some(name);
    }
    let text = literal_of(value)?;
    let (column, suffix) = split_operator(&text);
    suffix.is_some().then_some(column)
}

pub(super) fn bare_column(text: &str) -> Name {
    let last = text.rsplit('.').next().unwrap_or(text);
    last.trim_matches(|it: char| matches!(it, '`' | '"' | '[' | ']')).into()
}

/// A string, with holes left out (`"{$alias}.status"`).
pub(super) fn literal_of(value: &Value) -> Option<Name> {
    if let Some(text) = value.as_str() {
        return Some(text);
    }
    let Value::Text(text) = value else { return None };
    let joined: String = text
        .pieces
        .iter()
        .map(|it| match it {
            crate::analysis::value::FoldedPiece::Lit { value, .. } => &**value,
            crate::analysis::value::FoldedPiece::Hole { .. } => "",
        })
        .collect();
    (!joined.contains(char::is_whitespace) && !joined.is_empty()).then(|| joined.into())
}
