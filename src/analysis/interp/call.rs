//! Calls: what a call site runs, by program functions, by the vocabulary, or not at all known.

use super::Interp;
use super::apply::CALLED;
use crate::analysis::fact::{LoadFact, Table};
use crate::analysis::object::{Field, Object, ObjectKind, RowState};
use crate::analysis::state::State;
use crate::analysis::summary::CallSite;
use crate::analysis::value::{Identity, Value};
use crate::base::{Language, Name, last_segment};
use crate::ir::{Call, Callee, ClassRef, FuncRef, TypeRef};
use crate::model::{CallPattern, MessageRole, Role};
use std::sync::Arc;

/// At most so many implementations of an abstract method are followed.
pub(super) const MAX_TARGETS: usize = 3;

/// How deep closures are run inside one another.
pub(super) const MAX_CLOSURE_DEPTH: u32 = 6;

/// A call site with its values.
pub(super) struct Site<'c> {
    pub(super) call: &'c Call,
    /// Method or function name, the last part.
    pub(super) name: Name,
    /// The receiver, or the class of a static call.
    pub(super) receiver: Value,
    /// The word by which the receiver is known: variable, property or accessor.
    pub(super) word: Option<Name>,
    pub(super) is_static: bool,
    pub(super) args: Vec<Value>,
    pub(super) id: Identity,
    /// What the roles applied so far make of the call.
    pub(super) result: Value,
}

impl Site<'_> {
    /// The site for a role that is applied behind others.
    pub(super) fn with_result(&self, result: Value) -> Self {
        Site {
            call: self.call,
            name: self.name.clone(),
            receiver: self.receiver.clone(),
            word: self.word.clone(),
            is_static: self.is_static,
            args: self.args.clone(),
            id: self.id,
            result,
        }
    }
}

/// What a call site runs.
pub(super) enum Target<'p> {
    Functions(Vec<FuncRef>),
    Pattern { pattern: &'p CallPattern, rest: Name, weak: bool },
    Unknown,
}

impl<'p> Interp<'p> {
    pub(super) fn call(&mut self, state: &mut State, call: &Call) {
        let mut site = self.site(state, call);
        if let Some(statement) = self.wrapped_statement(state, &site) {
            site.receiver = statement;
        }
        let result = match &call.callee {
            Callee::Value(it) => {
                let callable = self.operand(state, it);
                if let Some(result) = self.run_callable(state, &callable, &site.args.clone()) {
                    result
                } else {
                    let guess = self.unknown_call(state, &site);
                    let given = matches!(callable, Value::Param(_) | Value::Capture(_));
                    if given { Value::path(callable, CALLED) } else { guess }
                }
            }
            Callee::New(class) => self.construct(state, &site, class),
            Callee::Unknown => self.unknown_call(state, &site),
            _ => self.dispatch(state, &site),
        };
        if let Some(ty) = self.result_word(&site) {
            self.words.insert(call.dest, ty);
        }
        if let Some(record) = self.resolved.calls.get_mut(&(self.point.block, self.point.instr)) {
            record.result = result.clone();
        }
        let result = self.typed_local(state, call.dest, result);
        if let Some(slot) = state.locals.get_mut(call.dest.0 as usize) {
            *slot = result;
        }
    }

    /// `getConnection()` is known by the word `connection`.
    pub(super) fn result_word(&self, site: &Site<'_>) -> Option<Name> {
        let name = &site.name;
        let word = name.strip_prefix("get").filter(|it| !it.is_empty()).unwrap_or(name);
        (site.args.len() <= 1).then(|| word.into())
    }

    pub(super) fn site<'c>(&mut self, state: &mut State, call: &'c Call) -> Site<'c> {
        let args = call
            .args
            .iter()
            .enumerate()
            .map(|(idx, it)| self.operand_mut(state, &it.value, &idx))
            .collect();
        let (receiver, word, is_static, name) = match &call.callee {
            Callee::Method { receiver, name, .. } => {
                let word = match receiver {
                    crate::ir::Operand::Local(id) => self.word_of(*id),
                    crate::ir::Operand::Const(_) => None,
                };
                (self.operand(state, receiver), word, false, name.clone())
            }
            Callee::Static { class, name } => {
                let receiver = match class {
                    ClassRef::Dynamic(it) => self.operand(state, it),
                    class => self.class_name(class).map_or(Value::Unknown, Value::Class),
                };
                (receiver, None, true, name.clone())
            }
            Callee::Function(name) | Callee::Macro(name) => {
                (Value::Unknown, None, false, last_segment(name).into())
            }
            Callee::New(_) | Callee::Value(_) | Callee::Unknown => {
                (Value::Unknown, None, false, "".into())
            }
        };
        let id = self.identity(&"call");
        Site { call, name, receiver, word, is_static, args, id, result: Value::Unknown }
    }

    pub(super) fn dispatch(&mut self, state: &mut State, site: &Site<'_>) -> Value {
        if let Some(at) = self.scope_of(state, site) {
            return self.run_scope(state, site, at);
        }
        match self.resolve(state, site) {
            Target::Functions(targets) => {
                self.record(state, site, &targets, Vec::new(), false, false);
                let result = self.run_functions(state, site, &targets);
                if self.never_returns(&targets) {
                    self.end_here();
                }
                result
            }
            Target::Pattern { pattern, rest, weak } => {
                let roles: Vec<Arc<Role>> = std::iter::once(&pattern.role)
                    .chain(&pattern.also)
                    .map(|it| Arc::new(it.clone()))
                    .collect();
                self.record(state, site, &[], roles, weak, false);
                self.apply_pattern(state, site, pattern, &rest, weak)
            }
            Target::Unknown => self.unknown_call(state, site),
        }
    }

    pub(super) fn resolve(&self, state: &State, site: &Site<'_>) -> Target<'p> {
        match &site.call.callee {
            Callee::Function(name) | Callee::Macro(name) => self.resolve_function(name, site),
            Callee::Static { name, .. } => self.resolve_static(state, name, site),
            Callee::Method { name, .. } => self.resolve_method(state, name, site),
            Callee::New(_) | Callee::Value(_) | Callee::Unknown => Target::Unknown,
        }
    }

    pub(super) fn resolve_function(&self, name: &Name, site: &Site<'_>) -> Target<'p> {
        let program = self.shared.program;
        if let Some(found) = self.free_pattern(name, site) {
            return found;
        }
        if let Some(at) = program.free_function(name) {
            let local = self.language == Language::Php
                || !name.contains("::")
                || name.starts_with("crate::");
            if program.language(at) == self.language && local {
                return Target::Functions(vec![at]);
            }
        }
        // PHP falls back to the global function.
        let short: Name = last_segment(name).into();
        if self.language == Language::Php && short != *name {
            return self.free_pattern(&short, site).unwrap_or(Target::Unknown);
        }
        let given = (self.language == Language::Rust).then(|| self.given_statement(&short, site));
        given.flatten().unwrap_or(Target::Unknown)
    }

    pub(super) fn resolve_static(&self, state: &State, name: &Name, site: &Site<'_>) -> Target<'p> {
        let Value::Class(class_name) = &site.receiver else {
            return self.by_pattern(state, name, site, &[]);
        };
        let types = [TypeRef::named(class_name.clone())];
        if let Some(at) = self.shared.program.method(class_name, name)
            && !self.shared.program.function(at).is_abstract
        {
            let described = self.described(name, site, &types, &[at]);
            return described.unwrap_or_else(|| Target::Functions(vec![at]));
        }
        self.by_pattern(state, name, site, &types)
    }

    pub(super) fn resolve_method(&self, state: &State, name: &Name, site: &Site<'_>) -> Target<'p> {
        let mut types = self.types_of(state, &site.receiver);
        if types.is_empty() && site.receiver.is_constant() {
            types.extend(self.declared_receiver(site));
        }
        let mut targets: Vec<FuncRef> = Vec::new();
        for ty in &types {
            for &at in self.shared.program.method_targets(&ty.name, name, MAX_TARGETS).iter() {
                if !targets.contains(&at) && targets.len() < MAX_TARGETS {
                    targets.push(at);
                }
            }
        }
        match self.described(name, site, &types, &targets) {
            Some(found) => found,
            None if !targets.is_empty() => Target::Functions(targets),
            None => self.by_pattern(state, name, site, &types),
        }
    }

    /// The declared type of the variable that a call is made on, for values that have none.
    fn declared_receiver(&self, site: &Site<'_>) -> Option<TypeRef> {
        let Callee::Method { receiver: crate::ir::Operand::Local(local), .. } = &site.call.callee
        else {
            return None;
        };
        let ty = self.func.locals.get(*local)?.ty.clone()?;
        self.fact_of(&ty.name).is_some().then_some(ty)
    }

    /// Writes down what the call site turned out to be.
    pub(super) fn record(
        &mut self,
        state: &State,
        site: &Site<'_>,
        targets: &[FuncRef],
        roles: Vec<Arc<Role>>,
        weak: bool,
        unknown: bool,
    ) {
        let durable =
            targets.iter().any(|at| self.shared.store.summary(*at).is_some_and(|it| it.durable))
                || roles.iter().any(|it| is_durable(it));
        self.durable |= durable;
        let below = |at: &FuncRef| self.shared.store.summary(*at).is_some_and(|it| it.works);
        let works = targets.iter().any(below)
            || roles.iter().any(|it| is_work(it))
            || targets.is_empty()
                && !roles.iter().any(|it| matches!(**it, Role::Log) || reads_or_writes(it))
                && self.shared.words.effect_calls.matches(&site.name)
            || targets.is_empty() && self.tells_others(site, &roles);
        let callables = site.args.iter().filter_map(|it| match it {
            Value::Closure(at, _) => Some(*at),
            _ => None,
        });
        let record = CallSite {
            targets: targets.to_vec(),
            callables: callables.collect(),
            roles,
            weak,
            receiver: site.receiver.clone(),
            receiver_type: self.types_of(state, &site.receiver).into_iter().next(),
            args: site.args.clone(),
            result: Value::Unknown,
            durable,
            works,
            unknown,
        };
        self.resolved.calls.insert((self.point.block, self.point.instr), record);
    }

    /// Whether something is told that two workers tell twice: an event, a mail, a notification.
    fn tells_others(&self, site: &Site<'_>, roles: &[Arc<Role>]) -> bool {
        let words = self.shared.words;
        let by = match &site.receiver {
            Value::Class(class) => last_segment(class).to_owned(),
            _ => site.name.to_string(),
        };
        roles.iter().any(|it| matches!(**it, Role::Log))
            && words.effect_calls.matches(&site.name)
            && words.courtesy_calls.matches(&by)
    }

    pub(super) fn construct(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        class: &ClassRef,
    ) -> Value {
        let out = Value::Object(site.id);
        let Some(class) = self.class_name(class) else {
            self.record(state, site, &[], Vec::new(), false, true);
            return out;
        };
        let ty = TypeRef::named(class.clone());
        let mut object = Object { ty: Some(ty.clone()), ..Object::default() };
        self.start_row(&mut object, &ty);
        state.put(out.clone(), object);
        let new_pattern = self.best_pattern(&"__construct".into(), site, std::slice::from_ref(&ty));
        match (self.shared.program.method(&class, "__construct"), new_pattern) {
            (Some(at), _) => {
                self.record(state, site, &[at], Vec::new(), false, false);
                let site =
                    Site { receiver: out.clone(), word: None, ..site.with_result(Value::Unknown) };
                self.run_functions(state, &site, &[at]);
                if let Some(row) = self.hydrated(state, &out, &ty) {
                    return row;
                }
            }
            (None, Some((pattern, rest))) => {
                let site =
                    Site { receiver: out.clone(), word: None, ..site.with_result(Value::Unknown) };
                let result = self.apply_pattern(state, &site, pattern, &rest, pattern.weak);
                self.record(state, &site, &[], vec![Arc::new(pattern.role.clone())], false, false);
                if result != Value::Unknown && result != Value::Null {
                    return result;
                }
            }
            (None, None) => {
                self.record(state, site, &[], Vec::new(), false, true);
                self.may_load(state, site, &out, &ty);
            }
        }
        out
    }

    /// `new Order($id)` of a class that nothing is known of may read the row in its constructor.
    fn may_load(&mut self, state: &mut State, site: &Site<'_>, object: &Value, ty: &TypeRef) {
        let Some(key) = site.args.first().filter(|it| !it.is_constant()) else { return };
        let is_array = matches!(state.object(key).map(|it| &it.kind), Some(ObjectKind::Array(_)));
        if self.is_known_type(ty) || self.is_row_class(&ty.name) || is_array || site.args.len() > 1
        {
            return;
        }
        let table = Table { table: None, model: Some(ty.name.clone()), value: None };
        let row = RowState { table: table.clone(), ..RowState::default() };
        state.object_mut(object).kind = ObjectKind::Row(row);
        let load = LoadFact {
            row: object.clone(),
            table,
            filters: Vec::new(),
            key: Some(key.clone()),
            context: self.context(state),
            locks: false,
            span: self.span,
            symbol: self.at,
            weak: true,
        };
        let point = self.tick();
        self.loads.push((point, Arc::new(load)));
    }

    /// An object whose fields are the columns of one loaded row is that row, with a class.
    pub(super) fn hydrated(
        &self,
        state: &mut State,
        object: &Value,
        ty: &TypeRef,
    ) -> Option<Value> {
        let fields = &state.object(object)?.fields;
        let mut rows: Vec<&Value> = Vec::new();
        let mut n_columns = 0;
        for field in fields.values() {
            let row = match field.value.as_path() {
                Some((row, _)) => row,
                None => &field.value,
            };
            let is_row = matches!(state.object(row).map(|it| &it.kind), Some(ObjectKind::Row(it)) if !it.fresh)
                || matches!(row, Value::Param(_)) && field.value.as_path().is_some();
            if is_row {
                n_columns += 1;
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        let [row] = rows.as_slice() else { return None };
        let row = (*row).clone();
        let holders: Vec<Name> =
            fields.iter().filter(|it| it.1.value == row).map(|it| it.0.clone()).collect();
        let whole = !holders.is_empty();
        let untyped = self
            .types_of(state, &row)
            .iter()
            .all(|it| it == ty || matches!(&*it.name, "array" | "object" | "stdClass" | "list"));
        if !untyped || !(whole || n_columns >= 2) {
            return None;
        }
        let object = state.object_mut(&row);
        object.ty = Some(ty.clone());
        for name in holders {
            // What the object keeps the row in is the row.
            object.fields.insert(name, Field { value: row.clone(), changed: None });
        }
        Some(row)
    }

    /// Nothing is known: callables that it is given run once, and the result is something.
    pub(super) fn unknown_call(&mut self, state: &mut State, site: &Site<'_>) -> Value {
        self.record(state, site, &[], Vec::new(), false, true);
        if self.set_by_name(state, site) {
            return site.receiver.clone();
        }
        let mut given = None;
        for arg in &site.args {
            given = self.run_handed_over(state, arg).or(given);
            let point = self.tick();
            self.escaped.push((point, arg.clone()));
        }
        // `conn.run(|conn| ..)`: wrappers hand on what the closure gives.
        let told = |it: &Value| !it.is_constant() && !matches!(it, Value::Unknown | Value::Failed);
        match given.filter(|it| self.language == Language::Rust && told(it)) {
            Some(given) => given,
            None => self.guess_result(state, site),
        }
    }

    /// `$row->setStatus('done')` of a class that the program does not declare.
    pub(super) fn set_by_name(&mut self, state: &mut State, site: &Site<'_>) -> bool {
        let rest = site.name.strip_prefix("set").map(|it| it.trim_start_matches('_'));
        let Some(column) = rest.filter(|it| {
            !it.is_empty() && !it.starts_with(char::is_lowercase) || site.name.starts_with("set_")
        }) else {
            return false;
        };
        let is_row =
            matches!(state.object(&site.receiver).map(|it| &it.kind), Some(ObjectKind::Row(_)))
                || self
                    .types_of(state, &site.receiver)
                    .iter()
                    .any(|it| self.is_row_class(&it.name));
        let [value] = site.args.as_slice() else { return false };
        if is_row {
            let column: Name = crate::base::snake_case(column).into();
            self.set_field(state, &site.receiver, &column, value.clone());
        }
        is_row
    }

    pub(super) fn run_handed_over(&mut self, state: &mut State, arg: &Value) -> Option<Value> {
        match arg {
            Value::Closure(..) => self.run_callable(state, arg, &[]),
            Value::Object(_) => {
                let Some(ObjectKind::Array(array)) = state.object(arg).map(|it| &it.kind) else {
                    return None;
                };
                let inner: Vec<Value> = array
                    .items
                    .iter()
                    .map(|it| it.value.clone())
                    .filter(|it| matches!(it, Value::Closure(..)))
                    .collect();
                for it in inner {
                    self.run_callable(state, &it, &[]);
                }
                None
            }
            _ => None,
        }
    }

    /// `$job->status()` and `$job->isPending()` are read like fields; what is computed from rows and
    /// counts stays connected to them.
    pub(super) fn guess_result(&mut self, state: &State, site: &Site<'_>) -> Value {
        let declared = self.declared_result(state, site);
        if let Some(ty) = declared {
            let id = self.identity(&"declared");
            self.types.insert(id, ty.clone());
            if !is_scalar(&ty) {
                return Value::Opaque(id);
            }
        }
        let object_like = !matches!(
            site.receiver,
            Value::Unknown | Value::Failed | Value::This | Value::Class(_)
        );
        if object_like && site.args.is_empty() && !site.receiver.is_constant() {
            let name =
                site.name.strip_prefix("get").filter(|it| it.starts_with(char::is_uppercase));
            return Value::path(site.receiver.clone(), name.unwrap_or(&site.name));
        }
        let inputs: Vec<Value> = std::iter::once(&site.receiver)
            .chain(&site.args)
            .filter(|it| speaks_of_row(it))
            .cloned()
            .collect();
        if inputs.is_empty() { Value::Opaque(site.id) } else { Value::derived(inputs) }
    }

    /// The return type of an abstract method that the call would run.
    pub(super) fn declared_result(&self, state: &State, site: &Site<'_>) -> Option<TypeRef> {
        self.types_of(state, &site.receiver).iter().find_map(|ty| {
            let at = self.shared.program.method(&ty.name, &site.name)?;
            self.shared.program.function(at).ret.clone()
        })
    }
}

/// Whether a value leads to a column of something, or to a count.
pub(super) fn speaks_of_row(value: &Value) -> bool {
    let mut found = false;
    value.walk(&mut |it| {
        found |= matches!(it, Value::Path(_) | Value::Count(_) | Value::Object(_) | Value::Ran(_));
    });
    found
}

pub(super) fn is_scalar(ty: &TypeRef) -> bool {
    matches!(&*ty.name, "bool" | "int" | "string" | "float" | "void" | "mixed" | "null" | "array")
}

pub(super) fn is_durable(role: &Role) -> bool {
    matches!(
        role,
        Role::Update { .. }
            | Role::Insert { .. }
            | Role::Delete { .. }
            | Role::Save { .. }
            | Role::Flush
            | Role::Execute { .. }
            | Role::Commit
    )
}

/// Whether the role says that the call is about rows: what it does to them is known.
pub(super) fn reads_or_writes(role: &Role) -> bool {
    is_durable(role)
        || matches!(
            role,
            Role::Query { .. }
                | Role::Where { .. }
                | Role::Set { .. }
                | Role::Load { .. }
                | Role::Fetch { .. }
                | Role::Count { .. }
                | Role::Bind { .. }
                | Role::Prepare { .. }
                | Role::Assign { .. }
                | Role::Begin { .. }
                | Role::Transaction { .. }
                | Role::Acquire { .. }
                | Role::Release
        )
}

/// Whether the role does more than write rows that exist.
pub(super) fn is_work(role: &Role) -> bool {
    matches!(
        role,
        Role::Insert { .. } | Role::Delete { .. } | Role::Message(MessageRole::Publish { .. })
    )
}
