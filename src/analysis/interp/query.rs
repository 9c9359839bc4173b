//! Query objects: started on a table or model, given conditions and assignments, and run.

use super::Interp;
use super::call::Site;
use super::eval::plain_key;
use super::relate::{filters_of, key_value};
use crate::analysis::fact::{LoadFact, Table};
use crate::analysis::object::{Object, ObjectKind, QueryState, RowState};
use crate::analysis::state::State;
use crate::analysis::value::{FoldedText, Value};
use crate::base::{Name, Span, snake_case};
use crate::ir::{
    Assign, Condition, ConditionOp, ParamRef, SqlExpr, Statement, StatementKind, TypeRef,
};
use crate::model::{Access, Comparison, LockSpec, RowSource, TypeKindHint, Verb, Yield};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Interp<'_> {
    /// The table or model that a row source names.
    pub(super) fn source_table(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        source: &RowSource,
    ) -> Table {
        if let Some(model) = &source.model {
            let value = self.access(state, site, model);
            let class = match &value {
                Value::Class(it) => {
                    let ty = TypeRef::named(it.clone());
                    Some(self.model_of(&ty).unwrap_or_else(|| it.clone()))
                }
                value if *model == Access::Receiver => {
                    let types = self.types_of(state, value);
                    types.iter().find_map(|it| self.model_of(it))
                }
                value => value.as_str(),
            };
            if let Some(class) = class {
                return self.table_of_model(&class);
            }
        }
        if let Some(table) = &source.table {
            let value = self.access(state, site, table);
            return self.target_of(state, &value).table;
        }
        let types = self.types_of(state, &site.receiver);
        match types.iter().find_map(|it| self.model_of(it)) {
            Some(model) => self.table_of_model(&model),
            None => Table::default(),
        }
    }

    pub(super) fn start_query(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        verb: Verb,
        source: &RowSource,
    ) -> Value {
        let given = match state.object(&site.receiver).map(|it| &it.kind) {
            Some(ObjectKind::Query(query)) => Some((**query).clone()),
            _ => None,
        };
        let on_query = given.is_some();
        // A table or storage gives a new query each time.
        let forks = on_query && self.is_repository(state, &site.receiver);
        let root = if on_query && !forks {
            site.receiver.clone()
        } else {
            Value::Object(self.identity(&"query"))
        };
        let table = self.source_table(state, site, source);
        if let Some(query) = given.filter(|_| forks) {
            let kind = ObjectKind::Query(Box::new(query));
            state.put(root.clone(), Object { kind, ..Object::default() });
        }
        if on_query {
            if let Some(query) = query_mut(state, &root) {
                if verb != Verb::Unknown {
                    query.verb = verb;
                }
                if table != Table::default() {
                    query.table = table;
                }
            }
        } else {
            let query = QueryState::new(verb, table, self.span).of_pack(self.pack.clone());
            state.put(
                root.clone(),
                Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
            );
        }
        if let Some(table) = &source.table
            && !on_query
        {
            let value = self.access(state, site, table);
            let target = self.target_of(state, &value);
            self.aim(state, &root, &target);
        }
        self.add_source(state, site, &root, source);
        root
    }

    fn is_repository(&self, state: &State, value: &Value) -> bool {
        self.types_of(state, value).iter().any(|ty| {
            let fact = self.fact_of(&ty.name);
            fact.is_some_and(|it| it.kind == Some(TypeKindHint::Repository))
        })
    }

    /// Key and criteria of a row source become conditions.
    fn add_source(&mut self, state: &mut State, site: &Site<'_>, root: &Value, source: &RowSource) {
        let span = self.span;
        if let Some(key) = source.key.as_ref().filter(|it| self.is_given(site, it)) {
            let key = self.access(state, site, key);
            if let Some(query) = query_mut(state, root) {
                query.condition("id".into(), ConditionOp::Eq, vec![key], span);
            }
        }
        if let Some(criteria) = source.criteria.as_ref().filter(|it| self.is_given(site, it)) {
            let criteria = self.access(state, site, criteria);
            let binds = self.criteria_binds(state, site, source);
            self.add_conditions(state, root, &criteria, &binds);
        }
    }

    /// The values of the parameters in a source's criteria.
    pub(super) fn criteria_binds(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        source: &RowSource,
    ) -> Value {
        match source.binds.as_ref().filter(|it| self.is_given(site, it)) {
            Some(binds) => self.access(state, site, binds),
            None => Value::Null,
        }
    }

    /// The query that a builder call works on: the receiver, or a new one on its model, or the
    /// connection's pending one.
    pub(super) fn query_of(&mut self, state: &mut State, site: &Site<'_>) -> Value {
        let receiver = &site.receiver;
        match state.object(receiver).map(|it| &it.kind) {
            Some(ObjectKind::Query(_) | ObjectKind::Statement(_)) => return receiver.clone(),
            Some(ObjectKind::Condition(..)) => return receiver.clone(),
            _ => (),
        }
        let types = self.types_of(state, receiver);
        let model = types.iter().find_map(|it| self.model_of(it));
        let table = model.as_deref().map(|it| self.table_of_model(it));
        let own = matches!(receiver, Value::Class(_)) || table.is_some();
        let root = if own {
            Value::Object(self.identity(&"query"))
        } else {
            Value::path(receiver.clone(), "{query}")
        };
        if !matches!(state.object(&root).map(|it| &it.kind), Some(ObjectKind::Query(_))) {
            let query = QueryState::new(Verb::Unknown, table.unwrap_or_default(), self.span)
                .of_pack(self.pack.clone());
            state.put(
                root.clone(),
                Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
            );
        }
        root
    }

    pub(super) fn forget_pending(&mut self, state: &mut State, site: &Site<'_>) {
        state.heap.remove(&Value::path(site.receiver.clone(), "{query}"));
    }

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
    fn compare(
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

    fn compared(&self, state: &State, op: ConditionOp, value: Value) -> (ConditionOp, Vec<Value>) {
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

    fn is_list(&self, state: &State, value: &Value) -> bool {
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

    fn add_pair(&mut self, state: &mut State, root: &Value, key: &Value, value: &Value) {
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
    fn add_open_pair(&mut self, state: &mut State, root: &Value, key: &Value, value: &Value) {
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
    fn add_group(&mut self, state: &mut State, root: &Value, key: &Value, value: &Value) -> bool {
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
    fn add_raw(&mut self, state: &mut State, root: &Value, given: &Value, binds: &Value) {
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
        let (sql_text, holes) = super::sql::to_sql(&text);
        let (conditions, complete) = crate::lang::sql::parse_condition(&sql_text, None);
        if let Some(query) = query_mut(state, root) {
            query.vague |= !complete;
            let mut params = holes;
            params.extend(binds);
            absorb(query, &conditions, &params);
        }
    }

    fn bound_values(&self, state: &State, binds: &Value) -> BTreeMap<ParamRef, Value> {
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

    pub(super) fn add_set(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        column: &Access,
        value: Option<&Access>,
        relative: bool,
    ) -> Value {
        let root = self.query_of(state, site);
        let column = self.access(state, site, column);
        let value =
            value.filter(|it| self.is_given(site, it)).map(|it| self.access(state, site, it));
        match (column_name(&column), value) {
            (Some(name), Some(value)) => self.set_column(state, &root, name, value, relative),
            (_, _) => self.add_sets(state, &root, &column, relative),
        }
        if matches!(&root, Value::Path(it) if &*it.1 == "{query}") {
            site.receiver.clone()
        } else {
            root
        }
    }

    pub(super) fn set_column(
        &mut self,
        state: &mut State,
        root: &Value,
        column: Name,
        value: Value,
        relative: bool,
    ) {
        let span = self.span;
        if let Some(query) = query_mut(state, root) {
            let param = query.param(value);
            let value =
                if relative { SqlExpr::Relative(vec![param]) } else { SqlExpr::Param(param) };
            query.sets.push(Assign { column, column_param: None, value, span });
        }
    }

    /// Assignments from an array of pairs, condition values (`status.eq(x)`), or something unknown.
    pub(super) fn add_sets(
        &mut self,
        state: &mut State,
        root: &Value,
        given: &Value,
        relative: bool,
    ) {
        match state.object(given).map(|it| it.kind.clone()) {
            Some(ObjectKind::Array(array)) => {
                for item in &array.items {
                    match column_name(&item.key) {
                        Some(name) => {
                            self.set_column(state, root, name, item.value.clone(), relative);
                        }
                        None => self.add_sets(state, root, &item.value, relative),
                    }
                }
                if array.open {
                    self.set_unknown(state, root, Value::Unknown);
                }
            }
            Some(ObjectKind::Condition(conditions, params)) => {
                for it in conditions.iter() {
                    let value = it.values.first().map_or(Value::Null, |it| sql_value(it, &params));
                    self.set_column(state, root, it.column.clone(), value, relative);
                }
            }
            Some(_) if !matches!(given, Value::Param(_)) => {
                // A struct of changes: its filled fields are the columns.
                let fields: Vec<(Name, Value)> = state
                    .object(given)
                    .map(|it| {
                        it.fields
                            .iter()
                            .map(|(name, it)| (name.clone(), it.value.clone()))
                            .collect()
                    })
                    .unwrap_or_default();
                for (name, value) in fields {
                    if value != Value::Null {
                        self.set_column(state, root, name, value, relative);
                    }
                }
            }
            _ => match super::sql::assignments(given) {
                Some((sets, params)) => self.absorb_sets(state, root, &sets, &params),
                None if given.as_str().is_some() => (),
                None => self.set_unknown(state, root, given.clone()),
            },
        }
    }

    /// Assignments from a text, with their parameters renamed.
    fn absorb_sets(
        &mut self,
        state: &mut State,
        root: &Value,
        sets: &[Assign],
        params: &BTreeMap<ParamRef, Value>,
    ) {
        let Some(query) = query_mut(state, root) else { return };
        for set in sets {
            let mut set = set.clone();
            if let SqlExpr::Param(param) = &set.value
                && let Some(found) = params.get(param)
            {
                set.value = SqlExpr::Param(query.param(found.clone()));
            }
            query.sets.push(set);
        }
    }

    fn set_unknown(&mut self, state: &mut State, root: &Value, value: Value) {
        let span = self.span;
        if let Some(query) = query_mut(state, root) {
            let param = query.param(value);
            query.sets.push(Assign {
                column: "".into(),
                column_param: Some(param.clone()),
                value: SqlExpr::Other(vec![param]),
                span,
            });
        }
    }

    pub(super) fn bind_query(
        &mut self,
        state: &mut State,
        root: &Value,
        key: Option<Value>,
        value: Value,
    ) {
        let Some(query) = query_mut(state, root) else { return };
        let key = key.map(plain_key);
        match key {
            Some(Value::Str(name)) => {
                query.params.insert(ParamRef::Named(name.trim_start_matches(':').into()), value);
            }
            Some(Value::Int(idx)) => {
                query.params.insert(ParamRef::Position(u32::try_from(idx).unwrap_or(0)), value);
            }
            _ => (),
        }
    }

    pub(super) fn lock_rows(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        lock: LockSpec,
        when: Option<&Access>,
    ) -> Value {
        // On a loaded row the call only builds a query that nobody runs.
        let on_row =
            matches!(state.object(&site.receiver).map(|it| &it.kind), Some(ObjectKind::Row(_)));
        if on_row {
            return Value::Opaque(site.id);
        }
        let root = self.query_of(state, site);
        if self.is_lock_mode(state, site, when) {
            let span = self.span;
            if let Some(query) = query_mut(state, &root) {
                query.lock = Some((lock, span));
            }
            if let Some(stmt) = super::sql::statement_mut(state, &root) {
                stmt.lock_rows(lock);
            }
        }
        if matches!(&root, Value::Path(it) if &*it.1 == "{query}") {
            site.receiver.clone()
        } else {
            root
        }
    }

    /// Runs the query as what it is.
    pub(super) fn run_query(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        root: &Value,
        gives: Yield,
    ) -> Value {
        let verb = query_mut(state, root).map_or(Verb::Select, |it| it.verb);
        match verb {
            Verb::Update => self.run_update(state, Some(site), root, gives, false),
            Verb::Insert | Verb::Delete => {
                self.durable = true;
                Value::Opaque(site.id)
            }
            Verb::Select | Verb::Unknown => self.run_select(state, root, gives, None, false),
        }
    }

    pub(super) fn run_select(
        &mut self,
        state: &mut State,
        root: &Value,
        gives: Yield,
        lock: Option<LockSpec>,
        weak: bool,
    ) -> Value {
        let Some(query) = query_mut(state, root).map(|it| it.clone()) else {
            return Value::Opaque(self.identity(&"rows"));
        };
        let lock = lock.or(query.lock.map(|it| it.0));
        let filters = filters_of(&query.conditions, &query.params);
        let key = key_value(&query.conditions, &query.params);
        let span = self.span;
        let row = self.loaded(state, query.table.clone(), (filters, key), lock, (span, weak));
        if matches!(root, Value::Path(it) if &*it.1 == "{query}") {
            state.heap.remove(root);
        }
        let row = self.narrowed(state, row, &query.columns);
        self.shape(state, row, gives)
    }

    /// A row of which only some columns were selected: one alone is the value itself.
    fn narrowed(&self, state: &mut State, row: Value, columns: &[Name]) -> Value {
        match columns {
            [] => row,
            [column] => Value::path(row, column.clone()),
            columns => {
                for (idx, column) in columns.iter().enumerate() {
                    let value = Value::path(row.clone(), column.clone());
                    let field = crate::analysis::object::Field { value, changed: None };
                    state.object_mut(&row).fields.insert(idx.to_string().into(), field);
                }
                row
            }
        }
    }

    /// `select(status)`, `select((id, status))`: only these columns come back. What is no column
    /// (`Job::as_select()`) leaves the row as it is.
    pub(super) fn select_columns(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        columns: &Access,
    ) -> Value {
        let root = self.query_of(state, site);
        let given = self.access(state, site, columns);
        let columns: Option<Vec<Name>> =
            self.elements_or_self(state, &given).iter().map(column_of_table).collect();
        if let (Some(columns), Some(query)) = (columns, query_mut(state, &root)) {
            query.columns = columns;
        }
        root
    }

    /// A row read from the database, with its load written down.
    pub(super) fn loaded(
        &mut self,
        state: &mut State,
        table: Table,
        (filters, key): (Vec<crate::analysis::fact::Filter>, Option<Value>),
        lock: Option<LockSpec>,
        (span, weak): (Span, bool),
    ) -> Value {
        let row = Value::Object(self.identity(&"row"));
        if let Some(lock) = lock {
            self.acquire(state, lock, Some(row.clone()));
        }
        let ty = table.model.clone().map(TypeRef::named);
        let kind = ObjectKind::Row(RowState {
            table: table.clone(),
            fresh: false,
            filters: filters.clone(),
            pack: self.pack.clone(),
        });
        state.put(row.clone(), Object { kind, ty, ..Object::default() });
        let load = LoadFact {
            row: row.clone(),
            table,
            filters,
            key,
            context: self.context(state),
            locks: lock.is_some(),
            span,
            symbol: self.at,
            weak,
        };
        let point = self.tick();
        self.loads.push((point, load));
        row
    }

    /// Runs the query as an UPDATE.
    pub(super) fn run_update(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        root: &Value,
        gives: Yield,
        weak: bool,
    ) -> Value {
        let Some(query) = query_mut(state, root).map(|it| it.clone()) else {
            return Value::Unknown;
        };
        let id = self.identity(&"update");
        let stmt = Arc::new(query_statement(&query, self.span));
        let parsed = (&stmt, Arc::new(query.params.clone()));
        self.write_query(state, site, parsed, &query.table, (id, gives, weak));
        if matches!(root, Value::Path(it) if &*it.1 == "{query}") {
            state.heap.remove(root);
        }
        state.last_write = Some(id);
        let nothing = Value::Object(self.identity(&"outcome"));
        match gives {
            Yield::Row | Yield::List => {
                let table = query.table.clone();
                let kind = ObjectKind::Row(RowState {
                    table,
                    fresh: false,
                    filters: Vec::new(),
                    pack: self.pack.clone(),
                });
                state.put(Value::Object(id), Object { kind, ..Object::default() });
                Value::Object(id)
            }
            gives => self.run_result(state, &nothing, gives, (id, true)),
        }
    }
}

/// A query as a statement.
pub(super) fn query_statement(query: &QueryState, span: Span) -> Statement {
    if let Some(stmt) = &query.statement {
        return (**stmt).clone();
    }
    Statement {
        kind: StatementKind::Update,
        table: query.table.table.clone().unwrap_or_default(),
        table_param: None,
        sets: query.sets.clone(),
        conditions: query.conditions.clone(),
        complete: !query.vague,
        condition_holes: Vec::new(),
        columns: Vec::new(),
        aggregate: false,
        limit_one: false,
        lock: None,
        source: None,
        upsert: None,
        returning: false,
        positions: 0,
        engine: query.engine,
        verb_span: span,
        span,
    }
}

/// The query behind a value, to change.
pub(super) fn query_mut<'s>(state: &'s mut State, root: &Value) -> Option<&'s mut QueryState> {
    if !matches!(state.object(root).map(|it| &it.kind), Some(ObjectKind::Query(_))) {
        return None;
    }
    match &mut state.object_mut(root).kind {
        ObjectKind::Query(query) => Some(query),
        _ => None,
    }
}

/// Takes another query's conditions in.
pub(super) fn absorb_into(query: &mut QueryState, part: &QueryState) {
    absorb(query, &part.conditions, &part.params);
}

/// Takes conditions in, with their parameters renamed.
fn absorb(query: &mut QueryState, conditions: &[Condition], params: &BTreeMap<ParamRef, Value>) {
    for condition in conditions {
        let condition = renamed(query, condition, params);
        query.conditions.push(condition);
    }
}

fn renamed(
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

fn negated(mut it: Condition) -> Condition {
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
fn bound_in(array: &Value, param: &ParamRef) -> Value {
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
fn column_of_table(value: &Value) -> Option<Name> {
    matches!(value, Value::Case(..) | Value::Static(_)).then(|| column_name(value)).flatten()
}

/// A column, perhaps followed by an operator (`status !=`).
fn plain_column(value: &Value) -> Option<Name> {
    if let Some(name) = column_name(value) {
        return Some(name);
    }
    let text = literal_of(value)?;
    let (column, suffix) = split_operator(&text);
    suffix.is_some().then_some(column)
}

fn bare_column(text: &str) -> Name {
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

/// `status !=` and `id = ?` are a column and an operator.
fn split_operator(text: &str) -> (Name, Option<String>) {
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

fn operator(text: &str) -> ConditionOp {
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
