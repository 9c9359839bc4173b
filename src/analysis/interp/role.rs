//! Applying what the vocabulary says of a call.

use super::Interp;
use super::call::Site;
use super::eval::{negate, test};
use crate::analysis::object::{ArrayEntry, ArrayState, Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::summary::Effect;
use crate::analysis::value::{FoldedText, TestOp, Value};
use crate::base::Name;
use crate::ir::TypeRef;
use crate::model::{Access, CallPattern, MessageRole, Role, RowSource};
use std::sync::Arc;

impl Interp<'_> {
    pub(super) fn apply_pattern(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        pattern: &CallPattern,
        rest: &str,
        weak: bool,
    ) -> Value {
        self.pack = Some(pattern.pack.clone());
        let mut result = self.apply_on_handle(state, site, &pattern.role, rest, weak);
        for role in &pattern.also {
            let site = site.with_result(result.clone().unwrap_or_default());
            let found = self.apply_on_handle(state, &site, role, rest, weak);
            result = if makes_of_result(role) { found.or(result) } else { result.or(found) };
        }
        let result = result.unwrap_or_default();
        self.with_type(state, site, result, pattern)
    }

    fn apply_on_handle(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        role: &Role,
        rest: &str,
        weak: bool,
    ) -> Option<Value> {
        let outer = self.enter_handle(state, site, role);
        let result = self.apply_role(state, site, role, rest, weak);
        self.leave_handle(state, outer);
        result
    }

    /// The result has the type that the pack tells.
    fn with_type(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        value: Value,
        pattern: &CallPattern,
    ) -> Value {
        let Some(returns) = &pattern.returns else { return value };
        let ty = match &**returns {
            "receiver" => self.types_of(state, &site.receiver).into_iter().next(),
            "model" => {
                let types = self.types_of(state, &site.receiver);
                let known = types.iter().find_map(|it| self.model_of(it)).map(TypeRef::named);
                // `first::<Job>(conn)`.
                let program = self.shared.program;
                let named = || {
                    let given = site.call.type_args.iter().map(|it| program.unaliased(it));
                    given.rev().find(|it| program.type_decl(&it.name).is_some())
                };
                known.or_else(named)
            }
            name => Some(self.typed_handle(state, site, name)),
        };
        let Some(mut ty) = ty else { return value };
        if matches!(pattern.role, Role::Prepare { .. }) {
            // `query_as::<_, Job>(..)`: what the rows will be.
            ty.args.extend(site.call.type_args.last().cloned());
        }
        if let Value::Class(model) = &value {
            // A class name handed to a factory: `getRepository(Job::class)`.
            ty.args = vec![TypeRef::named(model.clone())];
        }
        // Of rows read, the type is each row's.
        let rows = match state.object(&value).map(|it| &it.kind) {
            Some(ObjectKind::List(row)) if reads_rows(&pattern.role) && !self.holds_rows(&ty) => {
                Some(row.clone())
            }
            _ => None,
        };
        self.give_type(state, site, rows.as_ref().unwrap_or(&value), ty);
        match value {
            Value::Unknown | Value::Class(_) => Value::Opaque(site.id),
            value => value,
        }
    }

    /// A collection or result, rather than a row.
    fn holds_rows(&self, ty: &TypeRef) -> bool {
        let kind = self.fact_of(&ty.name).and_then(|it| it.kind);
        kind.is_some_and(|it| it != crate::model::TypeKindHint::Row)
    }

    fn give_type(&mut self, state: &mut State, site: &Site<'_>, value: &Value, ty: TypeRef) {
        // What the program declares says more than how it is used; a builder changes as it goes.
        let program = self.shared.program;
        let replaceable =
            |known: Option<&TypeRef>| known.is_none_or(|it| program.type_decl(&it.name).is_none());
        if let Some(object) = state.object(value) {
            let is_row = matches!(object.kind, ObjectKind::Row(_));
            if object.ty.is_none() || !is_row && replaceable(object.ty.as_ref()) {
                state.object_mut(value).ty = Some(ty);
            }
            return;
        }
        match value {
            Value::Unknown | Value::Class(_) => {
                self.types.insert(site.id, ty);
            }
            Value::Opaque(id) | Value::Object(id) if replaceable(self.types.get(id)) => {
                self.types.insert(*id, ty);
            }
            _ => (),
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each role")]
    fn apply_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        role: &Role,
        rest: &str,
        weak: bool,
    ) -> Option<Value> {
        match role {
            Role::Same { from } => Some(self.access(state, site, from)),
            Role::Make { class } => self.make(state, site, class.as_ref()),
            Role::Query { verb, source } => Some(self.start_query(state, site, *verb, source)),
            Role::Where { column, op, value, comparison, any, by_name } => {
                let column = if *by_name { &Access::Literal(rest.into()) } else { column };
                let parts = (column, op.as_ref(), value.as_ref());
                Some(self.add_where(state, site, parts, *comparison, *any))
            }
            Role::Set { column, value, relative } => {
                Some(self.add_set(state, site, column, value.as_ref(), *relative))
            }
            Role::Select { columns } => Some(self.select_columns(state, site, columns)),
            Role::LockRows { lock, when } => {
                Some(self.lock_rows(state, site, *lock, when.as_ref()))
            }
            Role::Load { source, gives, lock, cached } => {
                let lock = self.lock_when(state, site, lock.as_ref());
                let _ = cached;
                Some(self.load_role(state, site, source, (*gives, lock, weak), rest))
            }
            Role::Update { source, sets, gives, relative } => Some(self.update_role(
                state,
                site,
                (source, sets.as_ref()),
                *gives,
                (*relative, weak),
            )),
            Role::Insert { source, gives, upsert } => {
                Some(self.insert_role(state, site, source, *gives, *upsert))
            }
            Role::Delete { .. } => {
                self.durable = true;
                self.forget_pending(state, site);
                None
            }
            Role::Prepare { sql, binds } => {
                Some(self.prepare_role(state, site, sql, binds.as_ref()))
            }
            Role::Bind { key, value, to } => {
                let to = to.as_ref().map(|it| self.access(state, site, it));
                let root = to.unwrap_or_else(|| site.receiver.clone());
                Some(self.bind_role(state, site, &root, (key.as_ref(), value)))
            }
            Role::PushSql { sql, value, to } => {
                Some(self.push_sql(state, site, (sql.as_ref(), value.as_ref()), to.as_ref()))
            }
            Role::Execute { sql, binds, gives, .. } => {
                let parts = (sql.as_ref(), binds.as_ref());
                Some(self.execute_role(state, site, parts, *gives))
            }
            Role::Fetch { from, gives } => Some(self.fetch_role(state, site, from, *gives)),
            Role::Count { from } => Some(self.count_role(state, site, from)),
            Role::Expect { from } => {
                let value = self.access(state, site, from);
                self.look_at(&value);
                Some(value)
            }
            Role::Save { row, sets, whole, exists, gives } => {
                let how = (*whole, *exists);
                Some(self.save_role(state, site, (row, sets.as_ref()), how, (*gives, weak)))
            }
            Role::Assign { row, column, value, by_name } => {
                let column = if *by_name { &Access::Literal(rest.into()) } else { column };
                self.assign_role(state, site, row, column, value.as_ref());
                None
            }
            Role::Read { row, column, by_name } => {
                let column = if *by_name {
                    Value::Str(rest.into())
                } else {
                    column.as_ref().map_or(Value::Unknown, |it| self.access(state, site, it))
                };
                let row = self.access(state, site, row);
                match super::column::column_name(&column) {
                    Some(name) => Some(self.read_field(state, &row, &property_name(&name))),
                    None => match column {
                        // By position.
                        Value::Int(idx) => {
                            Some(self.read_field(state, &row, &idx.to_string().into()))
                        }
                        _ => Some(Value::derived([row])),
                    },
                }
            }
            Role::Check { row, column, value } => {
                let row = self.access(state, site, row);
                let column = column.as_ref().and_then(|it| {
                    let it = self.access(state, site, it);
                    super::column::column_name(&it)
                });
                let read = self.read_field(state, &row, &column.unwrap_or_else(|| "state".into()));
                let value = value.as_ref().map(|it| self.access(state, site, it));
                Some(match value {
                    Some(value) => test(TestOp::Eq, read, self.elements_or_self(state, &value)),
                    None => Value::derived([read]),
                })
            }
            Role::Refresh { row, lock } => {
                let lock = self.lock_when(state, site, lock.as_ref());
                Some(self.refresh_role(state, site, row, lock))
            }
            Role::LockRow { row, lock, when } => {
                if self.is_lock_mode(state, site, when.as_ref()) {
                    let row = self.access(state, site, row);
                    self.acquire(state, *lock, Some(row));
                }
                None
            }
            Role::Flush => {
                self.flush(state);
                None
            }
            Role::Begin { guard: true, .. } if site.call.discarded => None,
            Role::Begin { strict, level, .. } => {
                let strict = *strict || self.is_strict_level(state, site, level.as_ref());
                self.begin(state, strict, self.span);
                None
            }
            Role::Commit | Role::Rollback => {
                self.end(state);
                None
            }
            Role::Transaction { body, strict, level, flushes } => {
                let strict = *strict || self.is_strict_level(state, site, level.as_ref());
                Some(self.in_transaction(state, site, body, (strict, *flushes)))
            }
            Role::Acquire { guard: true, .. } if self.is_kept_by_nobody(site) => {
                Some(Value::Opaque(site.id))
            }
            Role::Acquire { when, .. } if !self.is_lock_mode(state, site, when.as_ref()) => {
                Some(Value::Opaque(site.id))
            }
            Role::Acquire { lock, body, .. } => {
                Some(self.acquire_role(state, site, *lock, body.as_ref()))
            }
            Role::Release => {
                let id = self.lock_behind(state, &site.receiver);
                self.release(state, id);
                None
            }
            Role::Expr { column, value, comparison } => {
                Some(self.expr_role(state, site, column, value.as_ref(), *comparison))
            }
            Role::Join { parts, any } => Some(self.join_role(state, site, parts, *any)),
            Role::Test { left, right, negated } => {
                let left = self.access(state, site, left);
                let right = match right {
                    Some(right) => {
                        let right = self.access(state, site, right);
                        self.elements_or_self(state, &right)
                    }
                    None => vec![Value::Null],
                };
                let out = test(TestOp::Eq, left, right);
                Some(if *negated { negate(out) } else { out })
            }
            Role::Format { template, args } => {
                Some(self.format_role(state, site, template.as_ref(), args))
            }
            Role::Implode { glue, parts } => {
                Some(self.implode_role(state, site, glue.as_ref(), parts))
            }
            Role::Keys { of } => Some(self.keys_role(state, site, of)),
            Role::Merge { parts } => Some(self.merge_role(state, site, parts)),
            Role::Log => Some(Value::Opaque(site.id)),
            Role::Abort { when, negated } => {
                self.abort_role(state, site, when.as_ref(), *negated);
                None
            }
            Role::CallWith { body, with, gives, each, later, filters } => {
                let parts = (body, with.as_ref(), gives.as_ref());
                self.call_with(state, site, parts, (*each, *later, *filters))
            }
            Role::Message(role) => self.message_role(state, site, role),
            Role::Statement(kind) => {
                self.statement_kind(state, *kind, None);
                None
            }
            Role::Engine(_) => None,
        }
    }

    /// The value at an access path.
    pub(super) fn access(&mut self, state: &mut State, site: &Site<'_>, access: &Access) -> Value {
        match access {
            Access::Receiver => site.receiver.clone(),
            Access::Arg(idx, name) => {
                let named = name.as_ref().and_then(|name| {
                    site.call.args.iter().position(|it| it.name.as_ref() == Some(name))
                });
                let idx = named.unwrap_or(*idx as usize);
                site.args.get(idx).cloned().unwrap_or_default()
            }
            Access::ArgsFrom(from) => {
                let items = site.args.iter().skip(*from as usize).enumerate().map(|(idx, it)| {
                    let key = Value::Int(i64::try_from(idx).unwrap_or(0));
                    ArrayEntry { key, value: it.clone(), span: self.span }
                });
                let array = ArrayState { items: items.collect(), open: false };
                let out = Value::Object(self.identity(&("args", from)));
                state.put(
                    out.clone(),
                    Object { kind: ObjectKind::Array(array), ..Object::default() },
                );
                out
            }
            Access::Result => site.result.clone(),
            Access::Literal(it) => Value::Str(it.clone()),
            Access::Elements(inner) => {
                let inner = self.access(state, site, inner);
                self.element_of(state, &inner)
            }
            Access::Field(inner, name) => {
                let inner = self.access(state, site, inner);
                match (&**name, inner.as_path()) {
                    ("{owner}", Some((owner, _))) => owner.clone(),
                    ("{column}", Some((_, column))) => Value::Str(column.clone()),
                    ("{owner}" | "{column}", None) => Value::Unknown,
                    _ => self.read_field(state, &inner, name),
                }
            }
        }
    }

    /// Whether the access path names something that the call was given.
    pub(super) fn is_given(&self, site: &Site<'_>, access: &Access) -> bool {
        match access {
            Access::Arg(idx, _) => (*idx as usize) < site.args.len(),
            Access::ArgsFrom(from) => (*from as usize) < site.args.len(),
            Access::Elements(inner) | Access::Field(inner, _) => self.is_given(site, inner),
            Access::Receiver | Access::Result | Access::Literal(_) => true,
        }
    }

    /// The values of a list literal, or the value itself.
    pub(super) fn elements_or_self(&self, state: &State, value: &Value) -> Vec<Value> {
        match state.object(value).map(|it| &it.kind) {
            Some(ObjectKind::Array(array)) if !array.open => {
                array.items.iter().map(|it| it.value.clone()).collect()
            }
            Some(ObjectKind::Array(_)) => Vec::new(),
            _ => value.alternatives().to_vec(),
        }
    }

    fn make(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        class: Option<&Access>,
    ) -> Option<Value> {
        let Some(class) = class else {
            self.made.insert(site.id);
            return Some(Value::Unknown);
        };
        let value = self.access(state, site, class);
        let class = match &value {
            Value::Class(it) => it.clone(),
            value => self.shared.program.canonical(&value.as_str()?),
        };
        self.types.insert(site.id, TypeRef::named(class.clone()));
        // `returns` of the row turns the class into a type argument.
        Some(if self.returns_generic(site) { Value::Class(class) } else { Value::Opaque(site.id) })
    }

    fn returns_generic(&self, site: &Site<'_>) -> bool {
        site.args.first().is_some_and(|it| matches!(it, Value::Class(_)))
            && site.name.contains("epository")
    }

    fn format_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        template: Option<&Access>,
        args: &Access,
    ) -> Value {
        let args = self.access(state, site, args);
        let args = self.elements_or_self(state, &args);
        if let Some(template) = template {
            let template = self.access(state, site, template);
            let alternatives: Vec<Value> = template
                .alternatives()
                .iter()
                .map(|it| super::format::format_text(it, &args, self.span))
                .collect();
            alternatives.into_iter().reduce(Value::join).unwrap_or_default()
        } else {
            let mut out = FoldedText::default();
            for arg in &args {
                out.append(super::eval::as_text(arg, self.span));
            }
            Value::Text(Arc::new(out))
        }
    }

    fn merge_role(&mut self, state: &mut State, site: &Site<'_>, parts: &Access) -> Value {
        let parts = self.access(state, site, parts);
        let parts = self.elements_or_self(state, &parts);
        let mut out = ArrayState::default();
        for part in &parts {
            match state.object(part).map(|it| &it.kind) {
                Some(ObjectKind::Array(array)) => {
                    out.open |= array.open;
                    for item in &array.items {
                        out.items
                            .retain(|it| it.key != item.key || matches!(it.key, Value::Int(_)));
                        out.items.push(item.clone());
                    }
                }
                _ => out.open = true,
            }
        }
        let value = Value::Object(self.identity(&"merged"));
        state.put(value.clone(), Object { kind: ObjectKind::Array(out), ..Object::default() });
        value
    }

    fn call_with(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        (body, with, gives): (&Access, Option<&Access>, Option<&Access>),
        (each, later, filters): (bool, bool, bool),
    ) -> Option<Value> {
        let callable = self.access(state, site, body);
        let mut args = Vec::new();
        if let Some(with) = with {
            let value = self.access(state, site, with);
            args.push(if each { self.element_of(state, &value) } else { value });
        }
        let result = if later {
            let mut apart = state.clone();
            apart.held.clear();
            apart.transaction = crate::analysis::fact::Transaction::Closed;
            self.run_callable(&mut apart, &callable, &args)
        } else {
            self.run_callable(state, &callable, &args)
        };
        if let Some(asked) = result.as_ref().filter(|_| filters) {
            for check in self.checks_in(state, asked, true) {
                self.effect(Effect::Check(check));
            }
        }
        match gives {
            Some(gives) => Some(self.access(state, site, gives)),
            None if each => {
                let row = result.unwrap_or_default();
                let out = Value::Object(self.identity(&"mapped"));
                state.put(out.clone(), Object { kind: ObjectKind::List(row), ..Object::default() });
                Some(out)
            }
            None => result.or_else(|| args.into_iter().next()),
        }
    }

    /// Messages are followed elsewhere; here only what is taken gets an identity.
    fn message_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        role: &MessageRole,
    ) -> Option<Value> {
        match role {
            MessageRole::Receive { .. } => Some(Value::Opaque(site.id)),
            MessageRole::Register { handler, if_published: false, .. } => {
                let handler = self.access(state, site, handler);
                let mut apart = State { locals: Vec::new(), ..state.clone() };
                apart.held.clear();
                apart.transaction = crate::analysis::fact::Transaction::Closed;
                self.run_callable(&mut apart, &handler, &[]);
                None
            }
            MessageRole::Register { .. }
            | MessageRole::Ack { .. }
            | MessageRole::Nack { .. }
            | MessageRole::Publish { .. }
            | MessageRole::AutoAck
            | MessageRole::Extend => None,
        }
    }

    /// A property that the vocabulary treats as a call: `$stmt->affected_rows`, `$this->db`.
    pub(super) fn property_role(
        &mut self,
        state: &mut State,
        value: &Value,
        name: &Name,
    ) -> Option<Value> {
        let is_row = matches!(state.object(value).map(|it| &it.kind), Some(ObjectKind::Row(_)));
        let types = self.types_of(state, value);
        if is_row && types.is_empty() {
            return None;
        }
        let pattern = self.property_pattern(&types, value, &format!("${name}"))?;
        if is_row && !matches!(pattern.role, Role::Count { .. }) {
            return None;
        }
        self.resolved.reads.insert((self.point.block, self.point.instr), pattern.role.word());
        match &pattern.role {
            Role::Count { from: Access::Receiver } => Some(self.count_of(state, value)),
            Role::Make { .. } => {
                let returns = pattern.returns.clone()?;
                let path = Value::path(value.clone(), name.clone());
                let typed = self.types_of(state, &path);
                if !typed.is_empty() {
                    return None;
                }
                state.object_mut(&path).ty.get_or_insert(TypeRef::named(returns));
                Some(path)
            }
            Role::Same { from: Access::Receiver } => Some(value.clone()),
            _ => None,
        }
    }
}

/// Whether a call's result is rows from the database.
fn reads_rows(role: &Role) -> bool {
    matches!(
        role,
        Role::Load { .. } | Role::Execute { .. } | Role::Fetch { .. } | Role::Query { .. }
    )
}

/// Whether a further role makes something else of the result: a column of the loaded row, what a
/// closure gives for it.
fn makes_of_result(role: &Role) -> bool {
    let from = match role {
        // A query that was just built is run.
        Role::Load { source, .. } => return *source == RowSource::default(),
        Role::Read { row, .. } => row,
        Role::CallWith { with: Some(with), gives: None, .. } => with,
        Role::Same { from } => from,
        _ => return false,
    };
    matches!(from, Access::Result)
        || matches!(from, Access::Elements(inner) | Access::Field(inner, _) if **inner == Access::Result)
}

/// `Status` of `getStatus` is the property `status`.
fn property_name(name: &str) -> Name {
    let name = name.trim_start_matches('_');
    let mut chars = name.chars();
    match chars.next() {
        Some(first) if first.is_uppercase() && name.chars().any(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect::<String>().into()
        }
        _ => name.into(),
    }
}
