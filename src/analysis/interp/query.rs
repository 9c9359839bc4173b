//! Query objects: started on a table or model, given conditions and assignments, and run.

use super::Interp;
use super::call::Site;
use super::column::column_name;
use super::column::column_of_table;
use super::column::sql_value;
use super::eval::plain_key;
use super::same::{filters_of, key_value};
use crate::analysis::fact::{LoadFact, Table};
use crate::analysis::object::{Object, ObjectKind, QueryState, RowState};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::{Language, Name, Span};
use crate::ir::{
    Assign, ConditionOp, ParamRef, SqlExpr, Statement, StatementKind, TypeRef, UpsertAction,
};
use crate::model::{Access, LockSpec, RowSource, TypeKindHint, Verb, Yield};
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
                if verb == Verb::Upsert && query.verb == Verb::Insert {
                    // What is inserted is not what is changed.
                    query.sets.clear();
                    query.row = None;
                }
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

    pub(super) fn is_repository(&self, state: &State, value: &Value) -> bool {
        self.types_of(state, value).iter().any(|ty| {
            let fact = self.fact_of(&ty.name);
            fact.is_some_and(|it| it.kind == Some(TypeKindHint::Repository))
        })
    }

    /// Key and criteria of a row source become conditions.
    pub(super) fn add_source(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        root: &Value,
        source: &RowSource,
    ) {
        let span = self.span;
        if let Some(key) = source.key.as_ref().filter(|it| self.is_given(site, it)) {
            let key = self.access(state, site, key);
            let key = self.flat_key(state, key);
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
        if self.is_row_elsewhere(state, given) {
            if let Some(query) = query_mut(state, root) {
                query.row = Some(given.clone());
            }
            return;
        }
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
            _ => match super::format::assignments(given) {
                Some((sets, params)) => self.absorb_sets(state, root, &sets, &params),
                None if given.as_str().is_some() => (),
                None => self.set_unknown(state, root, given.clone()),
            },
        }
    }

    /// Assignments from a text, with their parameters renamed.
    pub(super) fn absorb_sets(
        &mut self,
        state: &mut State,
        root: &Value,
        sets: &[Assign],
        params: &std::collections::BTreeMap<ParamRef, Value>,
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

    pub(super) fn set_unknown(&mut self, state: &mut State, root: &Value, value: Value) {
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
            Verb::Update | Verb::Upsert => self.run_update(state, Some(site), root, gives, false),
            Verb::Insert => self.run_insert(state, root, gives),
            Verb::Delete => {
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
        let key = key_value(&query.conditions, &query.params);
        // How many there are says nothing of any one.
        let filters = match (&key, gives) {
            (None, Yield::Number) => Vec::new(),
            _ => filters_of(&query.conditions, &query.params),
        };
        let span = self.span;
        let row = self.loaded(state, query.table.clone(), (filters, key), lock, (span, weak));
        if matches!(root, Value::Path(it) if &*it.1 == "{query}") {
            state.heap.remove(root);
        }
        let row = self.narrowed(state, row, &query.columns);
        self.shape(state, row, gives)
    }

    /// A row of which only some columns were selected: one alone is the value itself.
    pub(super) fn narrowed(&self, state: &mut State, row: Value, columns: &[Name]) -> Value {
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
        self.loads.push((point, Arc::new(load)));
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
        if let Some(row) = query_mut(state, root).and_then(|it| it.row.take()) {
            if query_mut(state, root).is_some_and(|it| super::target::names_only(it, &row)) {
                return self.write_back(state, &row, gives);
            }
            self.set_unknown(state, root, row);
        }
        let Some(query) = query_mut(state, root).map(|it| it.clone()) else {
            return Value::Unknown;
        };
        let id = self.identity(&"update");
        // What is built in one place and run in another stands where it is built.
        let elsewhere = self.language == Language::Rust && !self.span.contains(query.span);
        let span = if elsewhere { query.span } else { self.span };
        let stmt = Arc::new(query_statement(&query, span));
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
    let (kind, sets, conditions, upsert) = match query.verb {
        Verb::Upsert => {
            let (sets, conditions) = (query.sets.clone(), query.conditions.clone());
            let action = UpsertAction { keys: Vec::new(), sets, conditions, span: None };
            (StatementKind::Upsert, Vec::new(), Vec::new(), Some(action))
        }
        _ => (StatementKind::Update, query.sets.clone(), query.conditions.clone(), None),
    };
    Statement {
        kind,
        table: query.table.table.clone().unwrap_or_default(),
        table_param: None,
        sets,
        conditions,
        complete: !query.vague,
        condition_holes: Vec::new(),
        columns: Vec::new(),
        aggregate: false,
        limit_one: false,
        lock: None,
        source: None,
        upsert,
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
