//! Row objects and writes: loaded, changed, saved; and statements that write.

use super::Interp;
use super::call::Site;
use super::query::{column_name, query_mut};
use super::relate::key_value;
use super::sql::Parsed;
use crate::analysis::fact::{ChangeFact, Look, Table, WriteFact, WriteKind};
use crate::analysis::object::{Field, Object, ObjectKind, QueryState, RowState};
use crate::analysis::state::State;
use crate::analysis::summary::Effect;
use crate::analysis::value::{Identity, Value};
use crate::base::{Name, Span, snake_case};
use crate::ir::{Assign, Condition, ConditionOp, Engine, ParamRef, SqlExpr, Statement, TypeRef};
use crate::model::{Access, Comparison, LockSpec, RowSource, Verb, Yield};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Interp<'_> {
    pub(super) fn load_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        source: &RowSource,
        (gives, lock, weak): (Yield, Option<LockSpec>, bool),
        rest: &str,
    ) -> Value {
        if self.is_statement(state, &site.receiver) {
            // A query that began as text.
            let (root, id) = (site.receiver.clone(), self.identity(&"ran"));
            self.run_statement(state, Some(site), &root, Yield::Statement, id);
            return self.fetch(state, &root, gives);
        }
        let on_query =
            matches!(state.object(&site.receiver).map(|it| &it.kind), Some(ObjectKind::Query(_)));
        let pending = Value::path(site.receiver.clone(), "{query}");
        let root = if on_query {
            site.receiver.clone()
        } else if query_mut(state, &pending).is_some() {
            pending
        } else {
            let table = self.source_table(state, site, source);
            let root = Value::Object(self.identity(&"load"));
            let query = QueryState::new(Verb::Select, table, self.span);
            state.put(
                root.clone(),
                Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
            );
            root
        };
        self.load_conditions(state, site, &root, source, rest);
        if let Some(table) = self.given_table(state, site, source)
            && let Some(query) = query_mut(state, &root)
        {
            query.table = table;
        }
        self.run_select(state, &root, gives, lock, weak)
    }

    fn given_table(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        source: &RowSource,
    ) -> Option<Table> {
        (source.model.is_some() || source.table.is_some())
            .then(|| self.source_table(state, site, source))
            .filter(|it| *it != Table::default())
    }

    fn load_conditions(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        root: &Value,
        source: &RowSource,
        rest: &str,
    ) {
        let span = self.span;
        if source.by_name && !rest.is_empty() {
            let value = site.args.first().cloned().unwrap_or_default();
            if let Some(query) = query_mut(state, root) {
                query.condition(snake_case(rest).into(), ConditionOp::Eq, vec![value], span);
            }
        }
        if let Some(key) = source.key.as_ref().filter(|it| self.is_given(site, it)) {
            let key = self.access(state, site, key);
            let is_array =
                matches!(state.object(&key).map(|it| &it.kind), Some(ObjectKind::Array(_)));
            // An array of options is read by its parts.
            let by_parts = matches!(&source.criteria, Some(Access::Field(..)));
            if is_array {
                if !by_parts {
                    self.add_conditions(state, root, &key, &Value::Null);
                }
            } else if let Some(query) = query_mut(state, root) {
                query.condition("id".into(), ConditionOp::Eq, vec![key], span);
            }
        }
        if let Some(criteria) = source.criteria.as_ref().filter(|it| self.is_given(site, it)) {
            let criteria = self.access(state, site, criteria);
            let binds = self.criteria_binds(state, site, source);
            self.add_conditions(state, root, &criteria, &binds);
        }
    }

    pub(super) fn update_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        (source, sets): (&RowSource, Option<&Access>),
        gives: Yield,
        (relative, weak): (bool, bool),
    ) -> Value {
        self.durable = true;
        let on_query =
            matches!(state.object(&site.receiver).map(|it| &it.kind), Some(ObjectKind::Query(_)));
        let pending = Value::path(site.receiver.clone(), "{query}");
        let root = if on_query {
            site.receiver.clone()
        } else if query_mut(state, &pending).is_some() {
            pending
        } else {
            let root = Value::Object(self.identity(&"statement"));
            let query = QueryState::new(Verb::Update, Table::default(), self.span);
            state.put(
                root.clone(),
                Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
            );
            root
        };
        if !on_query || source.model.is_some() || source.table.is_some() {
            let table = self.source_table(state, site, source);
            if let Some(query) = query_mut(state, &root)
                && table != Table::default()
            {
                query.table = table;
            }
        }
        if let Some(query) = query_mut(state, &root) {
            query.verb = Verb::Update;
        }
        self.load_conditions(state, site, &root, source, "");
        if let Some(sets) = sets.filter(|it| self.is_given(site, it)) {
            let given = self.access(state, site, sets);
            match column_name(&given).filter(|_| relative) {
                Some(name) => {
                    let amount = site.args.get(1).cloned().unwrap_or(Value::Int(1));
                    self.set_column(state, &root, name, amount, true);
                }
                None => self.add_sets(state, &root, &given, relative),
            }
        }
        self.run_update(state, Some(site), &root, gives, weak)
    }

    pub(super) fn insert_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        source: &RowSource,
        gives: Yield,
        upsert: bool,
    ) -> Value {
        self.durable = true;
        let table = self.source_table(state, site, source);
        self.forget_pending(state, site);
        let id = self.identity(&"inserted");
        let ty = table.model.clone().map(TypeRef::named);
        let row = RowState { table, fresh: !upsert, filters: Vec::new(), pack: self.pack.clone() };
        let out = Value::Object(id);
        state.put(out.clone(), Object { kind: ObjectKind::Row(row), ty, ..Object::default() });
        match gives {
            Yield::Row | Yield::Outcome | Yield::Fails => out,
            Yield::Rows | Yield::Won => Value::Count(id),
            _ => Value::Opaque(id),
        }
    }

    pub(super) fn assign_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        row: &Access,
        column: &Access,
        value: Option<&Access>,
    ) {
        let row = self.access(state, site, row);
        let column = self.access(state, site, column);
        let value =
            value.filter(|it| self.is_given(site, it)).map(|it| self.access(state, site, it));
        self.assign_columns(state, &row, &column, value);
    }

    fn assign_columns(
        &mut self,
        state: &mut State,
        row: &Value,
        column: &Value,
        value: Option<Value>,
    ) {
        if let (Some(name), value) = (column_name(column), value) {
            let name: Name = snake_case(&name).into();
            self.set_field(state, row, &name, value.unwrap_or_default());
        } else {
            let Some(ObjectKind::Array(array)) = state.object(column).map(|it| it.kind.clone())
            else {
                return;
            };
            for item in &array.items {
                if let Some(name) = column_name(&item.key) {
                    self.set_field(state, row, &name, item.value.clone());
                }
            }
        }
    }

    pub(super) fn refresh_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        row: &Access,
        lock: Option<LockSpec>,
    ) -> Value {
        let row = self.access(state, site, row);
        let table = self.table_of(state, &row);
        if let Some(lock) = lock {
            self.acquire(state, lock, Some(row.clone()));
        }
        if let Some(object) = state.heap.get(&row).cloned() {
            let mut object = (*object).clone();
            object.fields.clear();
            state.put(row.clone(), object);
        }
        let load = crate::analysis::fact::LoadFact {
            row: row.clone(),
            table,
            filters: Vec::new(),
            key: Some(Value::path(row.clone(), "id")),
            context: self.context(state),
            locks: lock.is_some(),
            span: self.span,
            symbol: self.at,
            weak: false,
        };
        let point = self.tick();
        self.loads.push((point, load));
        row
    }

    /// The table of a row, from its load or its class.
    pub(super) fn table_of(&self, state: &State, row: &Value) -> Table {
        if let Some(ObjectKind::Row(it)) = state.object(row).map(|it| &it.kind)
            && it.table != Table::default()
        {
            return it.table.clone();
        }
        if let Some(ObjectKind::Query(it)) = state.object(row).map(|it| &it.kind)
            && it.table != Table::default()
        {
            return it.table.clone();
        }
        let types = self.types_of(state, row);
        match types.iter().find(|it| self.is_row_class(&it.name)).or(types.first()) {
            Some(ty) => self.table_of_model(&ty.name),
            None => Table::default(),
        }
    }

    pub(super) fn save_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        (row, sets): (&Access, Option<&Access>),
        (whole, exists): (bool, bool),
        (gives, weak): (Yield, bool),
    ) -> Value {
        let row = self.access(state, site, row);
        if let Some(sets) = sets.filter(|it| self.is_given(site, it)) {
            let sets = self.access(state, site, sets);
            self.assign_columns(state, &row, &sets, None);
        }
        self.durable = true;
        let id = self.identity(&"save");
        for one in row.alternatives().to_vec() {
            if !one.is_constant() && one != Value::Unknown {
                let how = Saving { id, whole, exists, weak };
                self.save_row(state, &one, how, gives, None);
            }
        }
        state.last_write = Some(id);
        match gives {
            Yield::Rows => Value::Count(id),
            Yield::Bool => Value::Ran(id),
            Yield::Row | Yield::Fails => row,
            _ => Value::Null,
        }
    }

    /// Writes an object back.
    fn save_row(
        &mut self,
        state: &mut State,
        row: &Value,
        how: Saving,
        gives: Yield,
        primary: Option<Span>,
    ) {
        let Saving { id, whole, exists, weak } = how;
        let table = self.table_of(state, row);
        let mut changes = take_changes(state, row);
        let keyed = if exists { take_key(&mut changes) } else { None };
        let fresh = match state.object(row).map(|it| &it.kind) {
            Some(ObjectKind::Row(it)) => it.fresh,
            Some(ObjectKind::Plain) => matches!(row, Value::Object(_)),
            _ => false,
        } && keyed.is_none();
        let class = self.types_of(state, row).into_iter().next();
        let fact = class.as_ref().and_then(|it| self.fact_of(&it.name));
        let versioned = class.as_ref().is_some_and(|it| self.is_versioned(&it.name));
        let write = WriteFact {
            id,
            kind: WriteKind::Row,
            row: Some(row.clone()),
            fresh,
            whole: whole || fact.is_some_and(|it| it.saves_whole),
            statement: keyed.map(|key| keyed_statement(&table, key, self.span)),
            table,
            primary: primary.unwrap_or(self.span),
            symbol: self.at,
            run: None,
            sql: None,
            changes,
            checks: Vec::new(),
            loads: Vec::new(),
            claims: Vec::new(),
            context: self.context(state),
            look: if gives == Yield::Fails { Look::Looked } else { Look::None },
            answer: None,
            gives,
            trace: Vec::new(),
            engine: fact.and_then(|it| it.engine).or_else(|| self.engine_here()),
            follows: false,
            versioned,
            weak,
            followed: false,
            workerlike: false,
        };
        let point = self.tick();
        self.writes.push((point, write));
    }

    /// Whether each save of the class compares a version.
    fn is_versioned(&self, class: &str) -> bool {
        let Some(fact) = self.fact_of(class) else { return false };
        if fact.version_by.is_empty() {
            return false;
        }
        let program = self.shared.program;
        let named = |name: &Name| {
            let short = crate::base::last_segment(name);
            fact.version_by.iter().any(|it| {
                it.eq_ignore_ascii_case(name)
                    || crate::base::last_segment(it).eq_ignore_ascii_case(short)
            })
        };
        program.ancestry(class).iter().any(|ty| {
            program.type_decls(&ty.name).iter().any(|decl| {
                decl.attrs.iter().any(|it| named(&it.name))
                    || decl.properties.iter().any(|it| it.attrs.iter().any(|it| named(&it.name)))
                    || decl.methods.iter().any(|_| false)
            })
        }) || fact
            .version_by
            .iter()
            .any(|it| program.method(class, it).is_some_and(|at| !program.function(at).is_abstract))
    }

    /// Writes back everything that is managed and changed.
    pub(super) fn flush(&mut self, state: &mut State) {
        self.durable = true;
        let span = self.span;
        self.flush_rows(state, span);
        self.effect(Effect::Flush(span));
    }

    pub(super) fn flush_rows(&mut self, state: &mut State, span: Span) {
        let dirty: Vec<Value> = state
            .heap
            .iter()
            .filter(|(_, object)| object.fields.values().any(|it| it.changed.is_some()))
            .map(|(root, _)| root.clone())
            .collect();
        for (idx, row) in dirty.into_iter().enumerate() {
            let managed = match state.object(&row).map(|it| &it.kind) {
                Some(ObjectKind::Row(_)) => true,
                Some(ObjectKind::Plain) => {
                    self.types_of(state, &row).iter().any(|it| self.is_row_class(&it.name))
                }
                _ => false,
            };
            if managed {
                let id = self.identity(&("flush", idx));
                let how = Saving { id, whole: false, exists: false, weak: false };
                self.save_row(state, &row, how, Yield::Fails, Some(span));
            }
        }
    }

    /// A statement from SQL text writes.
    pub(super) fn write_statement(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        (stmt, params): (&Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>),
        (id, gives): (Identity, Yield),
        engine: Option<Engine>,
    ) {
        let table = self.statement_table(stmt, &params);
        let mut write = self.new_write(state, id, (Arc::clone(stmt), params), table, gives);
        write.primary = stmt.upsert.as_ref().and_then(|it| it.span).unwrap_or(stmt.verb_span);
        write.engine = engine.or(write.engine).or(stmt.engine);
        write.run = site.map(|it| it.call.name_span);
        self.push_write(state, site, write);
    }

    /// A builder's UPDATE writes.
    pub(super) fn write_query(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        parsed: (&Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>),
        table: &Table,
        (id, gives, weak): (Identity, Yield, bool),
    ) {
        let (stmt, params) = parsed;
        let mut write = self.new_write(state, id, (Arc::clone(stmt), params), table.clone(), gives);
        write.weak = weak;
        write.run = site.map(|it| it.call.name_span);
        self.push_write(state, site, write);
    }

    fn new_write(
        &self,
        state: &State,
        id: Identity,
        parsed: Parsed,
        table: Table,
        gives: Yield,
    ) -> WriteFact {
        WriteFact {
            id,
            kind: WriteKind::Statement,
            row: None,
            fresh: false,
            whole: false,
            table,
            statement: Some(parsed),
            primary: self.span,
            symbol: self.at,
            run: None,
            sql: None,
            changes: Vec::new(),
            checks: Vec::new(),
            loads: Vec::new(),
            claims: Vec::new(),
            context: self.context(state),
            look: if gives == Yield::Fails { Look::Looked } else { Look::None },
            answer: None,
            gives,
            trace: Vec::new(),
            engine: self.engine_here(),
            follows: false,
            versioned: false,
            weak: false,
            followed: false,
            workerlike: false,
        }
    }

    fn push_write(&mut self, state: &mut State, site: Option<&Site<'_>>, mut write: WriteFact) {
        self.durable = true;
        if site.is_some() {
            self.expand(state, &mut write);
        }
        let point = self.tick();
        self.writes.push((point, write));
    }

    /// What a caller's values add to a callee's write.
    pub(super) fn settle_write(
        &mut self,
        before: &State,
        state: &mut State,
        (site, back): (&Site<'_>, Option<Value>),
        write: &mut WriteFact,
    ) {
        if matches!(write.look, Look::Returned | Look::Passed) {
            // The answer is the caller's now.
            write.look = Look::None;
            write.answer = Some(self.span);
        }
        let was_open = is_open(write);
        let call_span = self.span;
        if let Some(back) = self.expand(state, write) {
            // Columns or the table were the caller's: the call is where the write is made.
            if was_open && !is_open(write) {
                write.sql = Some(write.sql.unwrap_or(write.primary));
                write.primary = call_span;
                write.symbol = self.at;
                let own_key =
                    back.as_ref().is_some_and(|key| self.is_object_key(before, site, key));
                if own_key {
                    write.kind = WriteKind::Row;
                    write.row = back.and_then(|key| key.as_path().map(|it| it.0.clone()));
                }
            }
        }
        if write.kind == WriteKind::Statement
            && let Some(row) = back.filter(|it| is_object(before, it))
        {
            write.kind = WriteKind::Row;
            write.sql = Some(write.sql.unwrap_or(write.primary));
            write.primary = call_span;
            write.symbol = self.at;
            // Its statement writes what the copy holds, changed or not.
            write.whole = true;
            let row = non_null(row);
            write.fresh = match state.object(&row).map(|it| &it.kind) {
                Some(ObjectKind::Row(it)) => it.fresh,
                _ => false,
            };
            write.row = Some(row);
        }
        if let (WriteKind::Row, Some(row)) = (write.kind, write.row.clone()) {
            let unchanged = write.changes.is_empty();
            self.settle_row(before, state, &row, write);
            if unchanged && !write.changes.is_empty() && write.primary != call_span {
                // The changes are the caller's: the call is where they are written back.
                write.sql = Some(write.sql.unwrap_or(write.primary));
                write.primary = call_span;
                write.symbol = self.at;
            }
        }
    }

    fn settle_row(
        &mut self,
        before: &State,
        state: &mut State,
        row: &Value,
        write: &mut WriteFact,
    ) {
        if let Some(object) = before.object(row) {
            for (name, field) in &object.fields {
                if let Some(span) = field.changed
                    && !write.changes.iter().any(|it| it.column == *name)
                {
                    let (column, value) = (name.clone(), field.value.clone());
                    write.changes.push(ChangeFact { column, value, span });
                }
            }
            if let ObjectKind::Row(it) = &object.kind {
                write.fresh |= it.fresh;
                if write.table == Table::default() || write.table.model.is_none() {
                    write.table.model.clone_from(&it.table.model);
                    if write.table.table.is_none() {
                        write.table.table.clone_from(&it.table.table);
                    }
                }
            }
        }
        if write.table == Table::default() {
            write.table = self.table_of(before, row);
        }
        clear_changes(state, row);
    }

    /// The key is a field of the callee's own object, or of what it holds, not an argument.
    fn is_object_key(&self, state: &State, site: &Site<'_>, key: &Value) -> bool {
        let Some((base, _)) = key.as_path() else { return false };
        let holds = || {
            let object = state.object(&site.receiver);
            object.is_some_and(|it| it.fields.values().any(|it| it.value == *base))
        };
        *base != Value::Unknown
            && (*base == site.receiver || base.mentions(&site.receiver) || holds())
    }

    /// The row whose fields a statement writes back: its key and a state column come from one object.
    pub(super) fn written_back(&self, write: &WriteFact) -> Option<Value> {
        let (stmt, params) = write.statement.as_ref()?;
        let key = key_value(&stmt.conditions, params)?;
        let (row, _) = key.as_path()?;
        // Every column of the object, by a loop over its fields.
        let all_of = |set: &Assign, row: &Value| {
            let columns = set.column_param.as_ref().and_then(|it| params.get(it));
            columns.is_some_and(|it| it.mentions(row))
        };
        let from_row = stmt.sets.iter().filter(|set| {
            let value = super::query::sql_value(&set.value, params);
            value.mentions(row) && !matches!(set.value, SqlExpr::Relative(_)) || all_of(set, row)
        });
        let state_back = from_row.clone().any(|set| {
            all_of(set, row) || self.shared.columns.classify("", &set.column).is_state()
        });
        let n_back = from_row.count();
        (state_back && n_back > 0 || n_back >= 2).then(|| row.clone())
    }

    /// Puts known arrays in for unknown columns; gives the key (if any) when something was open.
    fn expand(&mut self, state: &State, write: &mut WriteFact) -> Option<Option<Value>> {
        let (stmt, params) = write.statement.clone()?;
        if write.table.table.is_none()
            && let Some(value) = &write.table.value
            && let Some(name) = self.declared_defaults(state, value).iter().find_map(Value::as_str)
        {
            write.table.table = Some(super::typing::bare_table(&name));
        }
        let open = stmt.sets.iter().any(|it| it.column_param.is_some())
            || stmt.conditions.iter().any(|it| it.column_param.is_some())
            || !stmt.condition_holes.is_empty()
            || write.table.value.is_some();
        if !open {
            return None;
        }
        let mut query = QueryState::new(Verb::Update, Table::default(), self.span);
        query.params = (*params).clone();
        // Free numbers for what is added.
        let base = 1000 + u32::try_from(query.params.len()).unwrap_or(0);
        let mut out = (*stmt).clone();
        let mut adder = Adder { params: (*params).clone(), next: base };
        expand_sets(self, state, &mut out, &mut adder);
        expand_conditions(self, state, &mut out, &mut adder);
        let key = key_value(&out.conditions, &adder.params);
        write.statement = Some((Arc::new(out), Arc::new(adder.params)));
        Some(key)
    }

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

    fn expr_condition(
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
            super::query::absorb_into(&mut renamed, &part);
            query.params.clone_from(&renamed.params);
            if !renamed.conditions.is_empty() {
                branches.push(renamed.conditions);
            }
        }
        let conditions = if any && branches.len() > 1 {
            let span = self.span;
            branches
                .into_iter()
                .reduce(|a, b| vec![super::query::either(a, b, span)])
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

/// What may be null is the row when it is written.
pub(super) fn non_null(value: Value) -> Value {
    match &value {
        Value::Any(them) => {
            let rest: Vec<&Value> =
                them.iter().filter(|it| !matches!(it, Value::Null | Value::Bool(_))).collect();
            match rest.as_slice() {
                [only] => (*only).clone(),
                _ => value,
            }
        }
        _ => value,
    }
}

/// How a row object is saved.
#[derive(Clone, Copy)]
struct Saving {
    id: Identity,
    whole: bool,
    exists: bool,
    weak: bool,
}

/// The key among the fields of an object that was made here; it is no change.
fn take_key(changes: &mut Vec<ChangeFact>) -> Option<Value> {
    let at = changes
        .iter()
        .position(|it| &*it.column == "id")
        .or_else(|| changes.iter().position(|it| super::relate::is_key_column(&it.column)))?;
    Some(changes.remove(at).value)
}

/// `UPDATE … WHERE id = key`.
fn keyed_statement(table: &Table, key: Value, span: Span) -> Parsed {
    let mut query = QueryState::new(Verb::Update, table.clone(), span);
    query.condition("id".into(), ConditionOp::Eq, vec![key], span);
    let stmt = super::query::query_statement(&query, span);
    (Arc::new(stmt), Arc::new(query.params))
}

/// Adds parameters with fresh numbers.
struct Adder {
    params: BTreeMap<ParamRef, Value>,
    next: u32,
}

impl Adder {
    fn add(&mut self, value: Value) -> SqlExpr {
        let param = ParamRef::Hole(self.next);
        self.next += 1;
        self.params.insert(param.clone(), value);
        SqlExpr::Param(param)
    }
}

/// The array that a value is, or is computed from alone.
fn array_behind(state: &State, value: &Value) -> Option<crate::analysis::object::ArrayState> {
    let direct = |it: &Value| match state.object(it).map(|it| &it.kind) {
        Some(ObjectKind::Array(array)) => Some(array.clone()),
        _ => None,
    };
    if let Some(found) = direct(value) {
        return Some(found);
    }
    let mut found = Vec::new();
    value.walk(&mut |it| {
        if let Some(array) = direct(it)
            && array.items.iter().any(|it| column_name(&it.key).is_some())
            && !found.contains(&array)
        {
            found.push(array);
        }
    });
    if found.len() == 1 { found.pop() } else { None }
}

fn expand_sets(_ctx: &Interp<'_>, state: &State, stmt: &mut Statement, adder: &mut Adder) {
    let sets = std::mem::take(&mut stmt.sets);
    for set in sets {
        let known = set.column_param.as_ref().and_then(|it| adder.params.get(it)).cloned();
        let Some(value) = known else {
            stmt.sets.push(set);
            continue;
        };
        if let Some(column) = column_name(&value) {
            stmt.sets.push(Assign { column, column_param: None, ..set });
            continue;
        }
        if let Some(sets) = assignments_in(&value, adder) {
            stmt.sets.extend(sets);
            continue;
        }
        match array_behind(state, &value) {
            Some(array) => {
                for item in &array.items {
                    if let Some(column) = column_name(&item.key) {
                        let value = adder.add(item.value.clone());
                        stmt.sets.push(Assign {
                            column,
                            column_param: None,
                            value,
                            span: set.span,
                        });
                    }
                }
            }
            None => stmt.sets.push(set),
        }
    }
}

/// The assignments in a text that a caller gives, with fresh parameters.
fn assignments_in(value: &Value, adder: &mut Adder) -> Option<Vec<Assign>> {
    let (mut sets, params) = super::sql::assignments(value)?;
    for set in &mut sets {
        if let SqlExpr::Param(param) = &set.value
            && let Some(found) = params.get(param)
        {
            set.value = adder.add(found.clone());
        }
    }
    Some(sets)
}

fn expand_conditions(ctx: &mut Interp<'_>, state: &State, stmt: &mut Statement, adder: &mut Adder) {
    let mut pending: Vec<Value> = Vec::new();
    let conditions = std::mem::take(&mut stmt.conditions);
    for it in conditions {
        let known = it.column_param.as_ref().and_then(|it| adder.params.get(it)).cloned();
        let named = known
            .as_ref()
            .filter(|_| !it.values.is_empty())
            .and_then(|value| ctx.declared_defaults(state, value).iter().find_map(column_name));
        match (named, known) {
            (Some(column), _) => {
                stmt.conditions.push(Condition { column, column_param: None, ..it });
            }
            (None, Some(value))
                if is_expandable(state, &value)
                    && (it.values.is_empty() || array_behind(state, &value).is_some()) =>
            {
                pending.push(value);
            }
            _ => stmt.conditions.push(it),
        }
    }
    let holes = std::mem::take(&mut stmt.condition_holes);
    let mut left = Vec::new();
    for hole in holes {
        match adder.params.get(&ParamRef::Hole(hole)).cloned() {
            Some(value) if is_expandable(state, &value) => pending.push(value),
            _ => left.push(hole),
        }
    }
    if left.is_empty() && !stmt.complete && !pending.is_empty() {
        stmt.complete = true;
    }
    stmt.condition_holes = left;
    let mut scratch = state.clone();
    for value in pending {
        let root = Value::Object(ctx.identity(&"expanded"));
        let query = QueryState::new(Verb::Update, Table::default(), ctx.span);
        scratch.put(
            root.clone(),
            Object { kind: ObjectKind::Query(Box::new(query)), ..Object::default() },
        );
        let value = match array_behind(state, &value) {
            Some(array) => {
                let it = Value::Object(ctx.identity(&"conditions"));
                scratch.put(
                    it.clone(),
                    Object { kind: ObjectKind::Array(array), ..Object::default() },
                );
                it
            }
            None => value,
        };
        ctx.add_conditions(&mut scratch, &root, &value, &Value::Null);
        let Some(query) = query_mut(&mut scratch, &root) else { continue };
        for condition in &query.conditions {
            let mut it = condition.clone();
            for value in &mut it.values {
                if let SqlExpr::Param(param) = value
                    && let Some(found) = query.params.get(param)
                {
                    *value = adder.add(found.clone());
                }
            }
            stmt.conditions.push(it);
        }
    }
}

fn is_expandable(state: &State, value: &Value) -> bool {
    array_behind(state, value).is_some()
        || matches!(value, Value::Text(_))
        || value.as_str().is_some()
        || *value == Value::Null
}

/// Whether a value stands for one thing with fields, not for a constant or an array of values.
fn is_object(state: &State, value: &Value) -> bool {
    let is_array = matches!(state.object(value).map(|it| &it.kind), Some(ObjectKind::Array(_)));
    !value.is_constant() && *value != Value::Unknown && !is_array
}

/// Columns or the table are a caller's.
fn is_open(write: &WriteFact) -> bool {
    let Some((stmt, _)) = &write.statement else { return false };
    let callers = |value: &Value| {
        let mut found = false;
        value.walk(&mut |it| found |= matches!(it, Value::Param(_) | Value::Capture(_)));
        found
    };
    let no_table = write.table.table.is_none() && write.table.model.is_none();
    no_table && write.table.value.as_ref().is_some_and(callers)
        || stmt.sets.iter().any(|it| it.column_param.is_some())
}

/// The changed fields of a row, which are clean from here on.
fn take_changes(state: &mut State, row: &Value) -> Vec<ChangeFact> {
    let Some(object) = state.object(row) else { return Vec::new() };
    let out = object
        .fields
        .iter()
        .filter_map(|(name, it)| {
            let span = it.changed?;
            Some(ChangeFact { column: name.clone(), value: it.value.clone(), span })
        })
        .collect();
    clear_changes(state, row);
    out
}

fn clear_changes(state: &mut State, row: &Value) {
    if state.object(row).is_none() {
        return;
    }
    for field in state.object_mut(row).fields.values_mut() {
        let Field { changed, .. } = field;
        *changed = None;
    }
}
