//! Row objects and writes: loaded, changed, saved; and statements that write.

use super::Interp;
use super::call::Site;
use super::column::column_name;
use super::query::query_mut;
use super::sql::Parsed;
use super::write::take_changes;
use crate::analysis::fact::{ChangeFact, Look, Table, WriteFact, WriteKind};
use crate::analysis::object::{Object, ObjectKind, QueryState, RowState};
use crate::analysis::state::State;
use crate::analysis::summary::Effect;
use crate::analysis::value::{Identity, Value};
use crate::base::{Name, Span, snake_case};
use crate::ir::{ConditionOp, ParamRef, SqlExpr, TypeRef};
use crate::model::{Access, LockSpec, RowSource, Verb, Yield};
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
        let is_query = |state: &State, it: &Value| {
            matches!(state.object(it).map(|it| &it.kind), Some(ObjectKind::Query(_)))
        };
        let pending = Value::path(site.receiver.clone(), "{query}");
        let root = if is_query(state, &site.result) {
            site.result.clone()
        } else if is_query(state, &site.receiver) {
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

    pub(super) fn given_table(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        source: &RowSource,
    ) -> Option<Table> {
        (source.model.is_some() || source.table.is_some())
            .then(|| self.source_table(state, site, source))
            .filter(|it| *it != Table::default())
    }

    pub(super) fn load_conditions(
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
        self.note_call_insert(state, site, &table);
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

    pub(super) fn assign_columns(
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
        let key = self.forget_fields(state, &row, &table);
        let load = crate::analysis::fact::LoadFact {
            row: row.clone(),
            table,
            filters: Vec::new(),
            key: Some(key.unwrap_or_else(|| Value::path(row.clone(), "id"))),
            context: self.context(state),
            locks: lock.is_some(),
            span: self.span,
            symbol: self.at,
            weak: false,
        };
        let point = self.tick();
        self.loads.push((point, Arc::new(load)));
        row
    }

    /// What was known of an object's fields is over when it is filled from its row; gives the key that
    /// it was told before.
    fn forget_fields(&self, state: &mut State, row: &Value, table: &Table) -> Option<Value> {
        let object = state.heap.get(row)?.clone();
        let is_made = matches!(row, Value::Object(_)) && object.kind == ObjectKind::Plain;
        let given = object.fields.iter().filter(|it| it.1.changed.is_some());
        let mut keys = given.filter(|it| super::same::is_key_column(it.0));
        let key = keys.next().map(|it| it.1.value.clone());
        let mut object = (*object).clone();
        object.fields.clear();
        match &mut object.kind {
            ObjectKind::Row(it) => it.fresh = false,
            kind if is_made => {
                *kind = ObjectKind::Row(RowState { table: table.clone(), ..RowState::default() });
            }
            _ => (),
        }
        state.put(row.clone(), object);
        key
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

    /// A statement sets every column of a row by its own key.
    pub(super) fn write_back(&mut self, state: &mut State, row: &Value, gives: Yield) -> Value {
        self.durable = true;
        let id = self.identity(&"update");
        let whole = self.types_of(state, row).iter().any(|it| self.saves_whole(&it.name));
        self.save_row(state, row, Saving { id, whole, exists: true, weak: false }, gives, None);
        state.last_write = Some(id);
        match gives {
            Yield::Rows => Value::Count(id),
            Yield::Row | Yield::Fails => row.clone(),
            _ => Value::Opaque(id),
        }
    }

    /// Whether one of the type's derives or ancestors writes all columns at once.
    fn saves_whole(&self, class: &str) -> bool {
        let program = self.shared.program;
        let derives = program.type_decls(class).iter().flat_map(|it| &it.attrs);
        let mut names = derives.map(|it| it.name.clone()).chain([Name::from(class)]);
        names.any(|it| {
            let fact = self.shared.vocabulary.type_fact(self.language, &it);
            fact.is_some_and(|it| it.saves_whole)
        })
    }

    /// Writes an object back.
    pub(super) fn save_row(
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
            only_if: Vec::new(),
            followed: false,
            behind: false,
            workerlike: false,
        };
        let point = self.tick();
        self.writes.push((point, write));
    }

    /// Whether each save of the class compares a version.
    pub(super) fn is_versioned(&self, class: &str) -> bool {
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
pub(super) struct Saving {
    pub(super) id: Identity,
    pub(super) whole: bool,
    pub(super) exists: bool,
    pub(super) weak: bool,
}

/// The key among the fields of an object that was made here; it is no change.
pub(super) fn take_key(changes: &mut Vec<ChangeFact>) -> Option<Value> {
    let at = changes
        .iter()
        .position(|it| &*it.column == "id")
        .or_else(|| changes.iter().position(|it| super::same::is_key_column(&it.column)))?;
    Some(changes.remove(at).value)
}

/// `UPDATE … WHERE id = key`.
pub(super) fn keyed_statement(table: &Table, key: Value, span: Span) -> Parsed {
    let mut query = QueryState::new(Verb::Update, table.clone(), span);
    query.condition("id".into(), ConditionOp::Eq, vec![key], span);
    let stmt = super::query::query_statement(&query, span);
    (Arc::new(stmt), Arc::new(query.params))
}

/// Adds parameters with fresh numbers.
pub(super) struct Adder {
    pub(super) params: BTreeMap<ParamRef, Value>,
    pub(super) next: u32,
}

impl Adder {
    pub(super) fn add(&mut self, value: Value) -> SqlExpr {
        let param = ParamRef::Hole(self.next);
        self.next += 1;
        self.params.insert(param.clone(), value);
        SqlExpr::Param(param)
    }
}
