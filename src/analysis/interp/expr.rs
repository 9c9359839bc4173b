//! Conditions as values: `status.eq(x)`, and how they are joined.

use super::Interp;
use super::call::Site;
use super::column::column_name;
use super::query::query_mut;
use crate::analysis::fact::Table;
use crate::analysis::object::{Object, ObjectKind, QueryState};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::Name;
use crate::ir::{Condition, ConditionOp};
use crate::model::{Access, Comparison, Verb};
use std::sync::Arc;

impl Interp<'_> {
    pub(super) fn expr_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        column: &Access,
        value: Option<&Access>,
        comparison: Comparison,
    ) -> Value {
        let column_value = self.access(state, site, column);
        let value =
            value.filter(|it| self.is_given(site, it)).map(|it| self.access(state, site, it));
        let Some(name) = column_name(&column_value) else {
            // Not a column: an ordinary comparison (`a.eq(&b)`).
            let right = value.map_or_else(Vec::new, |it| vec![it]);
            return super::eval::test(crate::analysis::value::TestOp::Eq, column_value, right);
        };
        let root = Value::Object(self.identity(&"expr"));
        let query = QueryState::new(Verb::Unknown, Table::default(), self.span);
        state.put(
            root.clone(),
            Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
        );
        self.expr_condition(state, &root, name, value, comparison);
        let Some(query) = query_mut(state, &root).map(|it| it.clone()) else {
            return Value::Unknown;
        };
        let kind = ObjectKind::Condition(Arc::new(query.conditions), Arc::new(query.params));
        state.put(root.clone(), Object { kind, ..Object::default() });
        root
    }

    pub(super) fn expr_condition(
        &mut self,
        state: &mut State,
        root: &Value,
        name: Name,
        value: Option<Value>,
        comparison: Comparison,
    ) {
        let op = match comparison {
            Comparison::ByArgument | Comparison::Eq => ConditionOp::Eq,
            Comparison::Ne => ConditionOp::Ne,
            Comparison::In => ConditionOp::In,
            Comparison::NotIn => ConditionOp::NotIn,
            Comparison::IsNull => ConditionOp::IsNull,
            Comparison::IsNotNull => ConditionOp::IsNotNull,
            Comparison::Less => ConditionOp::Less,
            Comparison::Greater => ConditionOp::Greater,
            Comparison::Other => ConditionOp::Other,
        };
        let values = match value {
            Some(value) if matches!(op, ConditionOp::In | ConditionOp::NotIn) => {
                self.elements_or_self(state, &value)
            }
            Some(value) => vec![value],
            None => Vec::new(),
        };
        let span = self.span;
        if let Some(query) = query_mut(state, root) {
            query.condition(name, op, values, span);
        }
    }

    pub(super) fn join_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        parts: &[Access],
        any: bool,
    ) -> Value {
        let mut branches: Vec<Vec<Condition>> = Vec::new();
        let mut query = QueryState::new(Verb::Unknown, Table::default(), self.span);
        for part in parts {
            if !self.is_given(site, part) {
                continue;
            }
            let value = self.access(state, site, part);
            let root = Value::Object(self.identity(&"part"));
            let empty = QueryState::new(Verb::Unknown, Table::default(), self.span);
            state.put(
                root.clone(),
                Object { kind: ObjectKind::Query(Box::new(empty)), ..Object::default() },
            );
            self.add_conditions(state, &root, &value, &Value::Null);
            let Some(part) = query_mut(state, &root).map(|it| it.clone()) else { continue };
            let mut renamed = QueryState { conditions: Vec::new(), ..query.clone() };
            super::condition::absorb_into(&mut renamed, &part);
            query.params.clone_from(&renamed.params);
            if !renamed.conditions.is_empty() {
                branches.push(renamed.conditions);
            }
        }
        let conditions = if any && branches.len() > 1 {
            let span = self.span;
            branches
                .into_iter()
                .reduce(|a, b| vec![super::condition::either(a, b, span)])
                .unwrap_or_default()
        } else {
            branches.into_iter().flatten().collect()
        };
        let root = Value::Object(self.identity(&"joined"));
        let kind = ObjectKind::Condition(Arc::new(conditions), Arc::new(query.params));
        state.put(root.clone(), Object { kind, ..Object::default() });
        root
    }
}
