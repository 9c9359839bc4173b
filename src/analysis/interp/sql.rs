//! SQL text in code: prepared, bound, run and fetched from.

use super::Interp;
use super::call::Site;
use super::eval::plain_key;
use super::fetch::note_late_row;
use super::format::{bind_key, parse_value};
use crate::analysis::fact::{LoadFact, Table};
use crate::analysis::object::{Field, Object, ObjectKind, RowState, StatementState};
use crate::analysis::state::State;
use crate::analysis::summary::Deferred;
use crate::analysis::value::{FoldedPiece, FoldedText, Identity, Value};
use crate::ir::{Callee, LocalId, Operand, ParamRef, Statement, StatementKind};
use crate::model::{Access, LockKind, LockSpec, Yield};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A statement with the values of the holes in its text.
pub(super) type Parsed = (Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>);

/// How many ways to build one text are looked at.
pub(super) const MAX_TEXTS: usize = 4;

impl Interp<'_> {
    pub(super) fn prepare_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        sql: &Access,
        binds: Option<&Access>,
    ) -> Value {
        let text = self.access(state, site, sql);
        let root = self.prepare(state, text, "prepared");
        if let Some(binds) = binds
            && self.is_given(site, binds)
        {
            let binds = self.access(state, site, binds);
            self.add_binds(state, &root, &binds);
        }
        root
    }

    /// A statement object for a text; a statement stays what it is.
    pub(super) fn prepare(&mut self, state: &mut State, text: Value, what: &str) -> Value {
        let is_query = matches!(state.object(&text).map(|it| &it.kind), Some(ObjectKind::Query(_)));
        if is_query || self.is_statement(state, &text) {
            return text;
        }
        let root = Value::Object(self.identity(&what));
        let stmt = StatementState {
            statements: parse_value(&text),
            text,
            params: BTreeMap::new(),
            next: 0,
            ran: None,
            row: None,
            span: self.span,
            engine: None,
        };
        state.put(
            root.clone(),
            Object { kind: ObjectKind::Statement(Box::new(stmt)), ..Object::default() },
        );
        root
    }

    pub(super) fn is_statement(&self, state: &State, value: &Value) -> bool {
        matches!(state.object(value).map(|it| &it.kind), Some(ObjectKind::Statement(_)))
    }

    pub(super) fn bind_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        root: &Value,
        (key, value): (Option<&Access>, &Access),
    ) -> Value {
        let bound = self.access(state, site, value);
        if let Some(ObjectKind::Query(_)) = state.object(root).map(|it| &it.kind) {
            let key = key.map(|it| self.access(state, site, it));
            self.bind_query(state, root, key, bound);
            return root.clone();
        }
        let key = key.map(|it| plain_key(self.access(state, site, it)));
        let is_list =
            matches!(value, Access::ArgsFrom(_)) || key.is_none() && self.is_array(state, &bound);
        if is_list {
            self.add_binds(state, root, &bound);
        } else if let Some(stmt) = statement_mut(state, root) {
            let param = match key {
                Some(key) => bind_key(&key).unwrap_or(ParamRef::Position(stmt.next)),
                None => ParamRef::Position(stmt.next),
            };
            stmt.next += u32::from(param == ParamRef::Position(stmt.next));
            stmt.params.insert(param, bound);
        }
        root.clone()
    }

    pub(super) fn is_array(&self, state: &State, value: &Value) -> bool {
        matches!(state.object(value).map(|it| &it.kind), Some(ObjectKind::Array(_)))
    }

    /// Binds the entries of an array, by name or in order; anything else is the next position.
    pub(super) fn add_binds(&mut self, state: &mut State, root: &Value, binds: &Value) {
        let entries: Vec<(Value, Value)> = match state.object(binds).map(|it| &it.kind) {
            Some(ObjectKind::Array(array)) => {
                array.items.iter().map(|it| (it.key.clone(), it.value.clone())).collect()
            }
            _ if *binds == Value::Null => return,
            _ => Vec::new(),
        };
        let nested = match entries.as_slice() {
            [(Value::Int(0), inner)] if self.is_array(state, inner) => Some(inner.clone()),
            _ => None,
        };
        if let Some(inner) = nested {
            // `prepare($sql, [$a, $b])` next to `prepare($sql, $a, $b)`.
            self.add_binds(state, root, &inner);
            return;
        }
        let binds = binds.clone();
        let Some(stmt) = statement_mut(state, root) else { return };
        if entries.is_empty() {
            stmt.params.insert(ParamRef::Named("*".into()), binds);
        }
        let first = stmt.next;
        for (key, value) in entries {
            let param = match &key {
                Value::Int(idx) => {
                    let idx = first + u32::try_from(*idx).unwrap_or(0);
                    stmt.next = stmt.next.max(idx + 1);
                    ParamRef::Position(idx)
                }
                key => match bind_key(key) {
                    Some(param) => param,
                    None => continue,
                },
            };
            stmt.params.insert(param, value);
        }
    }

    pub(super) fn push_sql(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        (sql, value): (Option<&Access>, Option<&Access>),
        to: Option<&Access>,
    ) -> Value {
        let root = match to {
            Some(to) => self.access(state, site, to),
            None => site.receiver.clone(),
        };
        let mut addition = Value::Text(Arc::new(FoldedText::default()));
        if let Some(sql) = sql {
            addition = self.access(state, site, sql);
        }
        if let Some(value) = value {
            let value = self.access(state, site, value);
            let hole = FoldedPiece::Hole { value, span: self.span, numeric: false };
            let hole = Value::Text(Arc::new(FoldedText { pieces: vec![hole] }));
            addition = self.appended(&addition, &hole);
        }
        if self.is_statement(state, &root) {
            let before = statement_mut(state, &root).map(|it| it.text.clone()).unwrap_or_default();
            let text = self.appended(&before, &addition);
            if let Some(stmt) = statement_mut(state, &root) {
                stmt.statements = parse_value(&text);
                stmt.text = text;
            }
            return root;
        }
        // A text in a variable grows where it stands.
        if let Some(local) = self.grown_local(site, to) {
            let text = self.appended(&root, &addition);
            if let Some(slot) = state.locals.get_mut(local.0 as usize) {
                *slot = text;
            }
            return Value::Null;
        }
        root
    }

    /// The variable that holds the text that a call appends to.
    pub(super) fn grown_local(&self, site: &Site<'_>, to: Option<&Access>) -> Option<LocalId> {
        match (to, &site.call.callee) {
            (Some(Access::Arg(idx, _)), _) => {
                site.call.args.get(*idx as usize)?.place.as_ref()?.as_local()
            }
            (None, Callee::Method { receiver: Operand::Local(local), .. }) => Some(*local),
            _ => None,
        }
    }

    /// `text` with `addition` behind it, for each way in which they are built.
    pub(super) fn appended(&self, text: &Value, addition: &Value) -> Value {
        let mut out: Option<Value> = None;
        for before in text.alternatives().iter().take(MAX_TEXTS) {
            for behind in addition.alternatives().iter().take(MAX_TEXTS) {
                let mut one = FoldedText::of_value(before, self.span, false);
                one.append(FoldedText::of_value(behind, self.span, false));
                let one = Value::Text(Arc::new(one));
                out = Some(match out {
                    Some(out) => out.join(one),
                    None => one,
                });
            }
        }
        out.unwrap_or_default()
    }

    pub(super) fn execute_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        (sql, binds): (Option<&Access>, Option<&Access>),
        gives: Yield,
    ) -> Value {
        let text = match sql {
            Some(sql) => self.access(state, site, sql),
            None => site.receiver.clone(),
        };
        if let Some(ObjectKind::Query(_)) = state.object(&text).map(|it| &it.kind) {
            return self.run_query(state, site, &text, gives);
        }
        if let Some((query, lock)) = self.query_in_text(state, &text) {
            if let Some(query) = super::query::query_mut(state, &query)
                && lock
            {
                let spec = LockSpec { kind: LockKind::Row, tries: false, throws_outside: false };
                query.lock = Some((spec, site.call.name_span));
            }
            return self.run_query(state, site, &query, gives);
        }
        let root = self.prepare(state, text, "run");
        if let Some(binds) = binds
            && self.is_given(site, binds)
        {
            let binds = self.access(state, site, binds);
            self.add_binds(state, &root, &binds);
        }
        self.run_statement(state, Some(site), &root, gives, self.identity(&"ran"))
    }

    /// `$query->getSQL() . ' ' . $platform->getWriteLockSQL()`: a query, and whether a lock clause
    /// follows it.
    pub(super) fn query_in_text(&self, state: &State, text: &Value) -> Option<(Value, bool)> {
        let Value::Text(text) = text else { return None };
        let mut query = None;
        let mut lock = false;
        for piece in &text.pieces {
            match piece {
                FoldedPiece::Lit { value, .. } => {
                    lock |= value.to_ascii_uppercase().contains("FOR UPDATE");
                }
                FoldedPiece::Hole { value, .. } => {
                    let is_query = matches!(
                        state.object(value).map(|it| &it.kind),
                        Some(ObjectKind::Query(_))
                    );
                    if is_query && query.is_none() {
                        query = Some(value.clone());
                    } else if let Some((_, name)) = value.as_path() {
                        let name = name.to_ascii_lowercase();
                        lock |= name.contains("lock") || name.contains("forupdate");
                    }
                }
            }
        }
        query.map(|it| (it, lock))
    }

    /// Runs the statements behind `root`.
    pub(super) fn run_statement(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        root: &Value,
        gives: Yield,
        id: Identity,
    ) -> Value {
        let Some(stmt) = statement_mut(state, root).map(|it| it.clone()) else {
            return Value::Opaque(id);
        };
        if stmt.statements.is_empty() {
            self.defer(state, root, &stmt, gives, id)
        } else {
            self.run_parsed(state, site, root, &stmt, (gives, id))
        }
    }

    /// The text is a caller's: the run is put off until it is known.
    pub(super) fn defer(
        &mut self,
        state: &mut State,
        root: &Value,
        stmt: &StatementState,
        gives: Yield,
        id: Identity,
    ) -> Value {
        if let Some(it) = statement_mut(state, root) {
            it.ran = Some(id);
        }
        if self.is_symbolic(&stmt.text) {
            let binds = stmt.params.get(&ParamRef::Named("*".into())).cloned();
            self.deferred.push(Deferred {
                id,
                text: stmt.text.clone(),
                params: stmt.params.clone(),
                binds: binds.into_iter().collect(),
                gives,
                root: root.clone(),
                runs: true,
            });
        }
        self.durable = true;
        match gives {
            Yield::Rows => Value::Count(id),
            // It may be a SELECT: then there are rows to fetch.
            _ => root.clone(),
        }
    }

    pub(super) fn is_symbolic(&self, text: &Value) -> bool {
        let mut symbolic = false;
        text.walk(&mut |it| {
            symbolic |= matches!(it, Value::Param(_) | Value::Capture(_) | Value::This);
        });
        symbolic
    }

    pub(super) fn run_parsed(
        &mut self,
        state: &mut State,
        site: Option<&Site<'_>>,
        root: &Value,
        stmt: &StatementState,
        (gives, id): (Yield, Identity),
    ) -> Value {
        let mut wrote = false;
        let mut special = None;
        for (parsed, holes) in &stmt.statements {
            let mut params: BTreeMap<ParamRef, Value> = (**holes).clone();
            params.extend(stmt.params.iter().map(|(key, it)| (key.clone(), it.clone())));
            match parsed.kind {
                StatementKind::Select => {
                    let row = self.select(state, parsed, &params, stmt.engine);
                    if let Some(it) = statement_mut(state, root) {
                        it.row = Some(row);
                    }
                    if let Some(lock) = parsed.lock
                        && reads_no_table(parsed)
                    {
                        special = self.statement_kind(state, StatementKind::Lock, Some(lock));
                    }
                }
                StatementKind::Update | StatementKind::Upsert => {
                    wrote = true;
                    self.write_statement(
                        state,
                        site,
                        (parsed, Arc::new(params)),
                        (id, gives),
                        stmt.engine,
                    );
                    if parsed.returning
                        && let Some(it) = statement_mut(state, root)
                    {
                        it.row = Some(Value::Object(id));
                    }
                }
                StatementKind::Insert | StatementKind::InsertIgnore | StatementKind::Delete => {
                    self.durable = true;
                    wrote = true;
                    self.note_statement_insert(parsed, &params);
                    self.note_insert(state, (parsed, Arc::new(params)), (id, gives));
                    self.fresh_row(state, parsed, id);
                    if let Some(it) = statement_mut(state, root) {
                        it.row = Some(Value::Object(id));
                    }
                }
                kind => special = self.statement_kind(state, kind, parsed.lock).or(special),
            }
        }
        if wrote {
            state.last_write = Some(id);
        }
        if let Some(it) = statement_mut(state, root) {
            it.ran = wrote.then_some(id);
            it.next = 0;
        }
        if let Some(special) = special {
            if let Some(it) = statement_mut(state, root) {
                it.row = Some(special.clone());
            }
            return special;
        }
        self.run_result(state, root, gives, (id, wrote))
    }

    /// INSERT ... RETURNING gives a row that nobody else has.
    pub(super) fn fresh_row(&mut self, state: &mut State, stmt: &Statement, id: Identity) {
        let table = Table { table: Some(stmt.table.clone()), model: None, value: None };
        let row = RowState { table, fresh: true, filters: Vec::new(), pack: self.pack.clone() };
        let kind = if stmt.kind == StatementKind::Delete {
            ObjectKind::Outcome(id)
        } else {
            ObjectKind::Row(row)
        };
        state.put(Value::Object(id), Object { kind, ..Object::default() });
    }

    pub(super) fn run_result(
        &mut self,
        state: &mut State,
        root: &Value,
        gives: Yield,
        (id, wrote): (Identity, bool),
    ) -> Value {
        match gives {
            Yield::Void => Value::Null,
            Yield::Bool if wrote => Value::Ran(id),
            Yield::Rows if wrote => Value::Count(id),
            Yield::Won if wrote => Value::Truthy(Arc::new(Value::Count(id))),
            Yield::Outcome if wrote => {
                let out = Value::Object(id);
                if state.object(&out).is_none() {
                    state.put(
                        out.clone(),
                        Object { kind: ObjectKind::Outcome(id), ..Object::default() },
                    );
                }
                out
            }
            Yield::Fails if wrote => {
                self.looked.insert(id);
                self.fetch(state, root, Yield::Row)
            }
            Yield::Row | Yield::List | Yield::Scalar | Yield::Number => {
                self.fetch(state, root, gives)
            }
            Yield::Bool
            | Yield::Rows
            | Yield::Won
            | Yield::Outcome
            | Yield::Fails
            | Yield::Statement
            | Yield::Query => root.clone(),
        }
    }

    pub(super) fn select(
        &mut self,
        state: &mut State,
        stmt: &Arc<Statement>,
        params: &BTreeMap<ParamRef, Value>,
        _engine: Option<crate::ir::Engine>,
    ) -> Value {
        let table = self.statement_table(stmt, params);
        let key = super::same::key_value(&stmt.conditions, params);
        // How many there are says nothing of any one.
        let filters = match &key {
            None if stmt.aggregate => Vec::new(),
            _ => super::same::filters_of(&stmt.conditions, params),
        };
        let row = Value::Object(self.identity(&("selected", stmt.verb_span.start)));
        if let Some(lock) = stmt.lock
            && !reads_no_table(stmt)
        {
            self.statement_kind(state, StatementKind::Select, Some(lock));
        }
        let mut object = Object {
            kind: ObjectKind::Row(RowState {
                table: table.clone(),
                fresh: false,
                filters: filters.clone(),
                pack: self.pack.clone(),
            }),
            ..Object::default()
        };
        let known = !stmt.aggregate && !stmt.columns.iter().any(|it| &**it == "*");
        for (idx, column) in stmt.columns.iter().enumerate().filter(|_| known) {
            // By position, and the first as what a scalar fetch gives.
            let value = Value::path(row.clone(), column.clone());
            let field = Field { value, changed: None };
            if idx == 0 {
                object.fields.insert("{first}".into(), field.clone());
            }
            object.fields.insert(idx.to_string().into(), field);
        }
        state.put(row.clone(), object);
        let load = LoadFact {
            row: row.clone(),
            table,
            filters,
            key,
            context: self.context(state),
            locks: stmt.lock.is_some(),
            // A text that stands elsewhere is read where it is run.
            span: if self.func.span.contains(stmt.verb_span) { stmt.verb_span } else { self.span },
            symbol: self.at,
            weak: false,
        };
        let point = self.tick();
        self.loads.push((point, Arc::new(load)));
        row
    }

    pub(super) fn statement_table(
        &self,
        stmt: &Statement,
        params: &BTreeMap<ParamRef, Value>,
    ) -> Table {
        let value = stmt.table_param.as_ref().and_then(|it| params.get(it)).cloned();
        let table = match (&value, stmt.table.is_empty()) {
            (Some(value), true) => value.as_str().map(|it| super::typing::bare_table(&it)),
            (_, true) => None,
            (_, false) => Some(super::typing::bare_table(&stmt.table)),
        };
        // DQL names the entity.
        let model = table
            .as_deref()
            .and_then(|it| self.shared.program.type_decl(it))
            .filter(|_| stmt.table.contains('\\') || stmt.table.contains('_'))
            .map(|it| it.name.clone());
        Table { table, model, value }
    }

    /// A text that a caller knows: the statement object that came back is parsed now.
    pub(super) fn late_statement(&mut self, state: &mut State, root: &Value) {
        let Some(stmt) = statement_mut(state, root) else { return };
        if stmt.statements.is_empty() {
            stmt.statements = parse_value(&stmt.text.clone());
        }
    }

    pub(super) fn import_deferred(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        deferred: &Deferred,
        binding: &super::apply::Binding,
    ) {
        let bound = Deferred {
            id: binding.id(deferred.id),
            text: binding.value(&deferred.text),
            params: deferred
                .params
                .iter()
                .map(|(key, it)| (key.clone(), binding.value(it)))
                .collect(),
            binds: deferred.binds.iter().map(|it| binding.value(it)).collect(),
            root: binding.value(&deferred.root),
            ..deferred.clone()
        };
        let parsed = parse_value(&bound.text);
        if parsed.is_empty() {
            if self.is_symbolic(&bound.text) && self.deferred.len() < 32 {
                self.deferred.push(bound);
            }
            return;
        }
        let stmt = StatementState {
            statements: parsed,
            text: bound.text.clone(),
            params: bound.params.clone(),
            next: 0,
            ran: None,
            row: None,
            span: self.span,
            engine: None,
        };
        state.object_mut(&bound.root).kind = ObjectKind::Statement(Box::new(stmt));
        for binds in &bound.binds {
            self.add_binds(state, &bound.root, binds);
        }
        self.run_statement(state, Some(site), &bound.root, bound.gives, bound.id);
        note_late_row(state, &bound.root);
    }
}

/// The statement behind a value, to change.
pub(super) fn statement_mut<'s>(
    state: &'s mut State,
    root: &Value,
) -> Option<&'s mut StatementState> {
    if !matches!(state.object(root).map(|it| &it.kind), Some(ObjectKind::Statement(_))) {
        return None;
    }
    match &mut state.object_mut(root).kind {
        ObjectKind::Statement(stmt) => Some(stmt),
        _ => None,
    }
}

/// `SELECT GET_LOCK(...)` and the like.
pub(super) fn reads_no_table(stmt: &Statement) -> bool {
    stmt.table.is_empty() && stmt.table_param.is_none()
}
