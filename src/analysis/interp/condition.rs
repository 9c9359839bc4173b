//! Conditions of query objects: from columns and operators, arrays of pairs, and raw SQL.

use super::Interp;
use super::call::Site;
use super::column::bare_column;
use super::column::column_name;
use super::column::plain_column;
use super::query::query_mut;
use crate::analysis::object::{ObjectKind, QueryState};
use crate::analysis::state::State;
use crate::analysis::value::{FoldedText, Value};
use crate::base::{Name, Span};
use crate::ir::{Condition, ConditionOp, ParamRef, SqlExpr};
use crate::model::{Access, Comparison};
use std::collections::BTreeMap;

impl Interp<'_> {
    pub(super) fn add_where(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        (column, op, value): (&Access, Option<&Access>, Option<&Access>),
        comparison: Comparison,
        any: bool,
    ) -> Value {
        let root = self.query_of(state, site);
        let before = query_mut(state, &root).map_or(0, |it| it.conditions.len());
        let column_value = self.access(state, site, column);
        let given = |access: Option<&Access>, it: &Self| {
            access.filter(|access| it.is_given(site, access)).cloned()
        };
        let value = given(value, self).map(|it| self.access(state, site, &it));
        let op = given(op, self).map(|it| self.access(state, site, &it));
        if matches!(column_value, Value::Closure(..)) {
            self.run_callable(state, &column_value, std::slice::from_ref(&root));
        } else if let Some(name) = plain_column(&column_value)
            && (value.is_some()
                || op.is_some()
                || !matches!(comparison, Comparison::ByArgument | Comparison::Eq))
        {
            self.compare(state, &root, name, (op, value), comparison);
        } else {
            self.add_conditions(state, &root, &column_value, &value.unwrap_or(Value::Null));
        }
        if any && let Some(query) = query_mut(state, &root) {
            let added = query.conditions.split_off(before.min(query.conditions.len()));
            let earlier = std::mem::take(&mut query.conditions);
            query.conditions.push(either(earlier, added, self.span));
        }
        // On a connection, the builder calls are chained on the connection itself.
        if matches!(&root, Value::Path(it) if &*it.1 == "{query}") {
            site.receiver.clone()
        } else {
            root
        }
    }

    /// One comparison of a column.
    pub(super) fn compare(
        &mut self,
        state: &mut State,
        root: &Value,
        column: Name,
        (op, value): (Option<Value>, Option<Value>),
        comparison: Comparison,
    ) {
        let (column, suffix) = split_operator(&column);
        // `where('status', 'new')` next to `where('status', '=', 'new')`.
        let (op_text, value) = match (op, value) {
            (Some(op), Some(value)) => (op.as_str(), value),
            (Some(only), None) | (None, Some(only)) => (None, only),
            (None, None) => (None, Value::Null),
        };
        let op = match comparison {
            Comparison::ByArgument => {
                let text = op_text.as_deref().or(suffix.as_deref()).unwrap_or("=");
                operator(text)
            }
            Comparison::Eq => match suffix.as_deref() {
                Some(text) => operator(text),
                None => ConditionOp::Eq,
            },
            Comparison::Ne => ConditionOp::Ne,
            Comparison::In => ConditionOp::In,
            Comparison::NotIn => ConditionOp::NotIn,
            Comparison::IsNull => ConditionOp::IsNull,
            Comparison::IsNotNull => ConditionOp::IsNotNull,
            Comparison::Less => ConditionOp::Less,
            Comparison::Greater => ConditionOp::Greater,
            Comparison::Other => ConditionOp::Other,
        };
        let (op, values) = self.compared(state, op, value);
        let span = self.span;
        if let Some(query) = query_mut(state, root) {
            query.condition(column, op, values, span);
        }
    }

    pub(super) fn compared(
        &self,
        state: &State,
        op: ConditionOp,
        value: Value,
    ) -> (ConditionOp, Vec<Value>) {
        match (op, &value) {
            (ConditionOp::IsNull | ConditionOp::IsNotNull, _) => (op, Vec::new()),
            (ConditionOp::Eq, Value::Null) => (ConditionOp::IsNull, Vec::new()),
            (ConditionOp::Ne, Value::Null) => (ConditionOp::IsNotNull, Vec::new()),
            (ConditionOp::Eq | ConditionOp::In, value) if self.is_list(state, value) => {
                (ConditionOp::In, self.elements_or_self(state, value))
            }
            (ConditionOp::Ne | ConditionOp::NotIn, value) if self.is_list(state, value) => {
                (ConditionOp::NotIn, self.elements_or_self(state, value))
            }
            _ => (op, vec![value]),
        }
    }

    pub(super) fn is_list(&self, state: &State, value: &Value) -> bool {
        matches!(state.object(value).map(|it| &it.kind), Some(ObjectKind::Array(_)))
    }

    /// Conditions from an array of pairs, raw SQL text, or a condition value.
    pub(super) fn add_conditions(
        &mut self,
        state: &mut State,
        root: &Value,
        given: &Value,
        binds: &Value,
    ) {
        match state.object(given).map(|it| it.kind.clone()) {
            Some(ObjectKind::Array(array)) => {
                for item in &array.items {
                    self.add_pair(state, root, &item.key, &item.value);
                }
                if array.open
                    && let Some(query) = query_mut(state, root)
                {
                    query.vague = true;
                }
            }
            Some(ObjectKind::Condition(conditions, params)) => {
                if let Some(query) = query_mut(state, root) {
                    absorb(query, &conditions, &params);
                }
            }
            // `quoteInto('id = ?', $id)`: a text with its values.
            Some(ObjectKind::Statement(stmt)) => {
                self.add_text(state, root, &stmt.text, stmt.params.clone());
            }
            Some(ObjectKind::Query(inner)) => {
                let params = inner.params.clone();
                if let Some(query) = query_mut(state, root) {
                    absorb(query, &inner.conditions, &params);
                }
            }
            _ => self.add_raw(state, root, given, binds),
        }
    }

    pub(super) fn add_pair(&mut self, state: &mut State, root: &Value, key: &Value, value: &Value) {
        match key {
            Value::Int(_) => {
                let Some(ObjectKind::Array(inner)) = state.object(value).map(|it| it.kind.clone())
                else {
                    self.add_conditions(state, root, value, &Value::Null);
                    return;
                };
                let items: Vec<Value> = inner.items.iter().map(|it| it.value.clone()).collect();
                match items.as_slice() {
                    [column, op, value] => {
                        if let Some(name) = plain_column(column) {
                            let pair = (Some(op.clone()), Some(value.clone()));
                            self.compare(state, root, name, pair, Comparison::ByArgument);
                        }
                    }
                    [column, value] => {
                        if let Some(name) = plain_column(column) {
                            self.compare(
                                state,
                                root,
                                name,
                                (None, Some(value.clone())),
                                Comparison::Eq,
                            );
                        }
                    }
                    _ => self.add_conditions(state, root, value, &Value::Null),
                }
            }
            key if self.add_group(state, root, key, value) => (),
            key => match column_name(key) {
                Some(name) => {
                    self.compare(state, root, name, (None, Some(value.clone())), Comparison::Eq);
                }
                None if key.as_str().is_some() => self.add_raw(state, root, key, value),
                None => self.add_open_pair(state, root, key, value),
            },
        }
    }

    /// `[$this->primaryKey => $id]`: the column is a caller's.
    pub(super) fn add_open_pair(
        &mut self,
        state: &mut State,
        root: &Value,
        key: &Value,
        value: &Value,
    ) {
        let span = self.span;
        if let Some(query) = query_mut(state, root) {
            let column_param = Some(query.param(key.clone()));
            let values = vec![SqlExpr::Param(query.param(value.clone()))];
            let op = ConditionOp::Eq;
            let open = unknown_condition(ParamRef::Hole(0), span);
            query.conditions.push(Condition { column_param, op, values, ..open });
        }
    }

    /// `'NOT' => [...]`, `'OR' => [...]`, `'AND' => [...]` around an array of conditions.
    pub(super) fn add_group(
        &mut self,
        state: &mut State,
        root: &Value,
        key: &Value,
        value: &Value,
    ) -> bool {
        let Some(word) = key.as_str() else { return false };
        let word = word.trim_start_matches('$').to_ascii_uppercase();
        if !matches!(&*word, "NOT" | "OR" | "AND") || !self.is_list(state, value) {
            return false;
        }
        let before = query_mut(state, root).map_or(0, |it| it.conditions.len());
        self.add_conditions(state, root, value, &Value::Null);
        let span = self.span;
        let Some(query) = query_mut(state, root) else { return true };
        let added = query.conditions.split_off(before.min(query.conditions.len()));
        match &*word {
            "NOT" if added.len() == 1 => query.conditions.extend(added.into_iter().map(negated)),
            "NOT" => query.vague = true,
            "OR" => {
                let branches = added.into_iter().map(|it| vec![it]);
                let joined = branches.reduce(|a, b| vec![either(a, b, span)]);
                query.conditions.extend(joined.into_iter().flatten());
            }
            _ => query.conditions.extend(added),
        }
        true
    }

    /// Raw SQL of conditions with bound values.
    pub(super) fn add_raw(
        &mut self,
        state: &mut State,
        root: &Value,
        given: &Value,
        binds: &Value,
    ) {
        let binds = self.bound_values(state, binds);
        self.add_text(state, root, given, binds);
    }

    fn add_text(
        &mut self,
        state: &mut State,
        root: &Value,
        given: &Value,
        binds: BTreeMap<ParamRef, Value>,
    ) {
        let text = match given {
            Value::Null | Value::Bool(_) => return,
            Value::Text(text) => (**text).clone(),
            Value::Str(_) => FoldedText::of_value(given, self.span, false),
            given => {
                let param_value = given.clone();
                let span = self.span;
                if let Some(query) = query_mut(state, root) {
                    // An array or text that only a caller knows.
                    let param = query.param(param_value);
                    query.conditions.push(unknown_condition(param, span));
                }
                return;
            }
        };
        let (sql_text, holes) = super::format::to_sql(&text);
        let (conditions, complete) = crate::lang::sql::parse_condition(&sql_text, None);
        if let Some(query) = query_mut(state, root) {
            query.vague |= !complete;
            let mut params = holes;
            params.extend(binds);
            absorb(query, &conditions, &params);
        }
    }

    pub(super) fn bound_values(&self, state: &State, binds: &Value) -> BTreeMap<ParamRef, Value> {
        let mut out = BTreeMap::new();
        match state.object(binds).map(|it| &it.kind) {
            Some(ObjectKind::Array(array)) => {
                let mut items = array.items.as_slice();
                if let [only] = items
                    && let Some(ObjectKind::Array(inner)) =
                        state.object(&only.value).map(|it| &it.kind)
                {
                    items = &inner.items;
                }
                for (idx, item) in items.iter().enumerate() {
                    let param = match item.key.as_str() {
                        Some(name) => ParamRef::Named(name.trim_start_matches([':', '@']).into()),
                        None => ParamRef::Position(u32::try_from(idx).unwrap_or(u32::MAX)),
                    };
                    out.insert(param, item.value.clone());
                }
            }
            _ if *binds == Value::Null => (),
            _ => {
                out.insert(ParamRef::Position(0), binds.clone());
            }
        }
        out
    }
}

/// Takes another query's conditions in.
pub(super) fn absorb_into(query: &mut QueryState, part: &QueryState) {
    absorb(query, &part.conditions, &part.params);
}

/// Takes conditions in, with their parameters renamed.
pub(super) fn absorb(
    query: &mut QueryState,
    conditions: &[Condition],
    params: &BTreeMap<ParamRef, Value>,
) {
    for condition in conditions {
        let condition = renamed(query, condition, params);
        query.conditions.push(condition);
    }
}

pub(super) fn renamed(
    query: &mut QueryState,
    it: &Condition,
    params: &BTreeMap<ParamRef, Value>,
) -> Condition {
    let mut out = it.clone();
    for value in &mut out.values {
        if let SqlExpr::Param(param) = value
            && let Some(found) = params.get(param)
        {
            *value = SqlExpr::Param(query.param(found.clone()));
        }
    }
    if let Some(param) = &mut out.column_param
        && let Some(found) = params.get(param)
    {
        *param = query.param(found.clone());
    }
    for branch in &mut out.any {
        *branch = branch.iter().map(|it| renamed(query, it, params)).collect();
    }
    out
}

pub(super) fn negated(mut it: Condition) -> Condition {
    it.op = match it.op {
        ConditionOp::Eq => ConditionOp::Ne,
        ConditionOp::Ne => ConditionOp::Eq,
        ConditionOp::In => ConditionOp::NotIn,
        ConditionOp::NotIn => ConditionOp::In,
        ConditionOp::IsNull => ConditionOp::IsNotNull,
        ConditionOp::IsNotNull => ConditionOp::IsNull,
        ConditionOp::Less => ConditionOp::Greater,
        ConditionOp::Greater => ConditionOp::Less,
        it @ (ConditionOp::Like | ConditionOp::InSelect | ConditionOp::Other) => it,
    };
    it
}

pub(super) fn either(earlier: Vec<Condition>, added: Vec<Condition>, span: Span) -> Condition {
    let column = match (earlier.first(), added.first()) {
        (Some(a), Some(b)) if a.column == b.column => a.column.clone(),
        _ => "".into(),
    };
    Condition {
        column,
        column_param: None,
        op: ConditionOp::Other,
        values: Vec::new(),
        any: vec![earlier, added],
        foreign: false,
        span,
    }
}

/// A condition that only a caller knows.
pub(super) fn unknown_condition(param: ParamRef, span: Span) -> Condition {
    Condition {
        column: "".into(),
        column_param: Some(param),
        op: ConditionOp::Other,
        values: Vec::new(),
        any: Vec::new(),
        foreign: false,
        span,
    }
}

/// `status !=` and `id = ?` are a column and an operator.
pub(super) fn split_operator(text: &str) -> (Name, Option<String>) {
    let text = text.trim();
    let end = text.find(|it: char| it.is_whitespace() || matches!(it, '=' | '<' | '>' | '!' | '?'));
    let Some(end) = end else { return (bare_column(text), None) };
    let (column, rest) = text.split_at(end);
    let rest = rest.replace(['?', ':'], " ").trim().to_ascii_lowercase();
    let simple = matches!(
        rest.as_str(),
        "" | "="
            | "=="
            | "!="
            | "<>"
            | "<"
            | "<="
            | ">"
            | ">="
            | "in"
            | "not in"
            | "is"
            | "is not"
            | "in ( )"
            | "in ()"
            | "in( )"
            | "in()"
            | "not in ( )"
            | "like"
    );
    if simple
        && column.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | '`' | '"'))
        && !column.is_empty()
    {
        let rest = rest.trim_end_matches([')', '(', ' ']).to_owned();
        (bare_column(column), Some(if rest.is_empty() { "=".to_owned() } else { rest }))
    } else {
        (text.into(), None)
    }
}

pub(super) fn operator(text: &str) -> ConditionOp {
    match text.trim().to_ascii_lowercase().as_str() {
        "=" | "==" | "===" | "is" | "eq" => ConditionOp::Eq,
        "!=" | "<>" | "!==" | "is not" | "ne" | "neq" => ConditionOp::Ne,
        "in" => ConditionOp::In,
        "not in" | "notin" | "nin" => ConditionOp::NotIn,
        "<" | "<=" | "lt" => ConditionOp::Less,
        ">" | ">=" | "gt" => ConditionOp::Greater,
        "is null" => ConditionOp::IsNull,
        "is not null" => ConditionOp::IsNotNull,
        "like" => ConditionOp::Like,
        _ => ConditionOp::Other,
    }
}
