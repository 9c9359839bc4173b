//! Running program functions at a call site: summaries are put in with the arguments for the
//! parameters; closures run in place.

use super::Interp;
use super::call::Site;
use super::effect::ends_with_transaction;
use crate::analysis::fact::{CheckFact, Context, LoadFact, Transaction, WriteFact, WriteKind};
use crate::analysis::object::{Field, Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::store::MAX_TRACE;
use crate::analysis::summary::{Effect, Summary};
use crate::analysis::value::{Identity, Value};
use crate::base::Language;
use crate::ir::{Callee, ClassRef, FuncRef, Function, TypeRef};
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Puts a call site's values in for a callee's symbols.
pub(super) struct Binding {
    this: Value,
    params: Vec<Value>,
    captures: Vec<Value>,
    site: Identity,
    /// What the callables gave that the callee called, by what it knows them as.
    results: Vec<(Value, Value)>,
    /// Loads that were brought over with a write; other writes of the callee have them too.
    loads: RefCell<FxHashMap<*const LoadFact, Arc<LoadFact>>>,
}

/// The path from a callable that only a caller knows to what a call of it gives.
pub(super) const CALLED: &str = "{call}";

impl Binding {
    /// The caller's value for a callee's.
    pub(super) fn value(&self, value: &Value) -> Value {
        value.substitute(&|it| match it {
            Value::This => Some(self.this.clone()),
            Value::Param(idx) => Some(self.params.get(*idx as usize).cloned().unwrap_or_default()),
            Value::Capture(idx) => {
                Some(self.captures.get(*idx as usize).cloned().unwrap_or_default())
            }
            Value::Object(id) => Some(Value::Object(self.id(*id))),
            Value::Opaque(id) => Some(Value::Opaque(self.id(*id))),
            Value::Count(id) => Some(Value::Count(self.id(*id))),
            Value::Ran(id) => Some(Value::Ran(self.id(*id))),
            Value::Got(id) => Some(Value::Got(self.id(*id))),
            Value::Path(it) if &*it.1 == CALLED => self.result_of(&it.0),
            _ => None,
        })
    }

    pub(super) fn result_of(&self, callable: &Value) -> Option<Value> {
        self.results.iter().find(|it| it.0 == *callable).map(|it| it.1.clone())
    }

    pub(super) fn id(&self, id: Identity) -> Identity {
        let mut hasher = FxHasher::default();
        (self.site, id).hash(&mut hasher);
        Identity(hasher.finish())
    }

    pub(super) fn object(&self, object: &Object) -> Object {
        let fields = object
            .fields
            .iter()
            .map(|(name, it)| {
                (name.clone(), Field { value: self.value(&it.value), changed: it.changed })
            })
            .collect();
        Object { kind: self.kind(&object.kind), ty: object.ty.clone(), fields }
    }

    pub(super) fn kind(&self, kind: &ObjectKind) -> ObjectKind {
        match kind {
            ObjectKind::Plain => ObjectKind::Plain,
            ObjectKind::Row(row) => {
                let mut row = row.clone();
                for filter in &mut row.filters {
                    filter.values = filter.values.iter().map(|it| self.value(it)).collect();
                }
                row.table.value = row.table.value.as_ref().map(|it| self.value(it));
                ObjectKind::Row(row)
            }
            ObjectKind::List(row) => ObjectKind::List(self.value(row)),
            ObjectKind::Query(query) => {
                let mut query = query.clone();
                for value in query.params.values_mut() {
                    *value = self.value(value);
                }
                query.table.value = query.table.value.as_ref().map(|it| self.value(it));
                ObjectKind::Query(query)
            }
            ObjectKind::Statement(stmt) => {
                let mut stmt = stmt.clone();
                for value in stmt.params.values_mut() {
                    *value = self.value(value);
                }
                stmt.text = self.value(&stmt.text);
                stmt.ran = stmt.ran.map(|it| self.id(it));
                stmt.row = stmt.row.as_ref().map(|it| self.value(it));
                ObjectKind::Statement(stmt)
            }
            ObjectKind::Array(array) => {
                let mut array = array.clone();
                for item in &mut array.items {
                    item.key = self.value(&item.key);
                    item.value = self.value(&item.value);
                }
                ObjectKind::Array(array)
            }
            ObjectKind::Lock(id) => ObjectKind::Lock(self.id(*id)),
            ObjectKind::Outcome(id) => ObjectKind::Outcome(self.id(*id)),
            ObjectKind::Condition(conditions, params) => {
                let params = params.iter().map(|(key, it)| (key.clone(), self.value(it))).collect();
                ObjectKind::Condition(Arc::clone(conditions), Arc::new(params))
            }
        }
    }
}

impl Interp<'_> {
    pub(super) fn run_functions(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        targets: &[FuncRef],
    ) -> Value {
        if let [at] = targets {
            return self.run_function(state, site, *at, 0);
        }
        let mut joined: Option<(State, Value)> = None;
        for (idx, &at) in targets.iter().enumerate() {
            let mut branch = state.clone();
            let value = self.run_function(&mut branch, site, at, idx);
            joined = Some(match joined {
                None => (branch, value),
                Some((mut other, earlier)) => {
                    other.join(&branch);
                    (other, earlier.join(value))
                }
            });
        }
        let Some((after, value)) = joined else { return Value::Unknown };
        *state = after;
        value
    }

    pub(super) fn run_function(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        at: FuncRef,
        idx: usize,
    ) -> Value {
        let func = self.shared.program.function(at);
        let summary = self.shared.store.callee(at, self.at);
        for (idx, arg) in site.args.iter().enumerate() {
            let idx = u32::try_from(idx).unwrap_or(u32::MAX);
            let called = summary.as_ref().is_some_and(|it| calls_param(it, idx));
            if matches!(arg, Value::Closure(..)) && !called {
                self.run_callable(state, arg, &[]);
            }
        }
        let Some(summary) = summary else {
            // Recursion: the callee is not settled yet.
            return match &func.ret {
                Some(ty) => {
                    self.types.insert(site.id, ty.clone());
                    Value::Opaque(site.id)
                }
                None => self.guess_result(state, site),
            };
        };
        let mut binding = self.bind_site(state, site, func, idx);
        let result = self.import(state, site, &summary, &mut binding);
        if let Some(ty) = &func.ret {
            self.declare(state, &result, ty);
        }
        self.as_declared(state, site, func, result)
    }

    /// An object that a callee made of a row is that row; what is not known has the declared type.
    pub(super) fn as_declared(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        func: &Function,
        result: Value,
    ) -> Value {
        let made = match (&result, state.object(&result)) {
            (Value::Object(_), Some(object)) if object.kind == ObjectKind::Plain => {
                object.ty.clone()
            }
            _ => None,
        };
        if let Some(ty) = made {
            let late = match &site.receiver {
                Value::Class(class) if self.shared.program.is_a(class, &ty.name) => {
                    TypeRef::named(class.clone())
                }
                _ => ty,
            };
            return self.hydrated(state, &result, &late).unwrap_or(result);
        }
        let Some(ty) = func.ret.clone().filter(|it| self.is_known_class(&it.name)) else {
            return result;
        };
        for value in result.alternatives() {
            if self.is_better_known_as(state, value, &ty) {
                state.object_mut(value).ty = Some(ty.clone());
            }
        }
        result
    }

    /// Whether a declared type says more of a value than what was found of it: nothing, or that it is of
    /// a library's type that the declared one extends.
    fn is_better_known_as(&self, state: &State, value: &Value, ty: &TypeRef) -> bool {
        let is_open = matches!(
            value,
            Value::Opaque(_) | Value::Path(_) | Value::Element(_) | Value::Static(_)
        );
        let found = self.types_of(state, value);
        let extends = |it: &TypeRef| {
            self.shared.program.type_decl(&it.name).is_none()
                && self.lineage(&ty.name).iter().any(|base| base.eq_ignore_ascii_case(&it.name))
        };
        is_open
            && if found.is_empty() {
                state.object(value).is_none_or(|it| it.kind == ObjectKind::Plain)
            } else {
                self.language == Language::Php && found.iter().all(extends)
            }
    }

    pub(super) fn is_known_class(&self, name: &str) -> bool {
        self.shared.program.type_decl(name).is_some()
            || self.shared.vocabulary.type_fact(self.language, name).is_some()
    }

    pub(super) fn bind_site(
        &self,
        state: &State,
        site: &Site<'_>,
        func: &Function,
        idx: usize,
    ) -> Binding {
        let mut params = Vec::with_capacity(func.params.len());
        for (position, param) in func.params.iter().enumerate() {
            let named = site
                .call
                .args
                .iter()
                .position(|it| it.name.as_deref().is_some_and(|name| *name == *param.name));
            let positional = (site.call.args.get(position).is_none_or(|it| it.name.is_none()))
                .then_some(position);
            let given = named.or(positional).and_then(|it| site.args.get(it)).cloned();
            params.push(match (given, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.operand(state, default),
                (None, None) => Value::Unknown,
            });
        }
        let this = match (&site.receiver, &site.call.callee) {
            (
                _,
                Callee::Static {
                    class: ClassRef::Parent | ClassRef::SelfType | ClassRef::LateStatic,
                    ..
                },
            ) if self.root.receiver().is_some() => Value::This,
            (receiver, _) => receiver.clone(),
        };
        let mut hasher = FxHasher::default();
        (site.id, idx).hash(&mut hasher);
        Binding {
            this,
            params,
            captures: Vec::new(),
            site: Identity(hasher.finish()),
            results: Vec::new(),
            loads: RefCell::default(),
        }
    }

    pub(super) fn import(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        summary: &Summary,
        binding: &mut Binding,
    ) -> Value {
        self.durable |= summary.durable;
        for (id, ty) in &summary.types {
            self.types.insert(binding.id(*id), ty.clone());
        }
        let before = (!summary.writes.is_empty()).then(|| state.clone());
        for effect in &summary.effects {
            self.import_effect(state, effect, binding);
        }
        for outcome in &summary.looks {
            self.look_at(&binding.value(outcome));
        }
        if let Some(before) = before {
            for write in &summary.writes {
                self.import_write(&before, state, site, write, binding);
            }
        }
        self.import_heap(state, summary, binding);
        let run: Vec<_> = summary.deferred.clone();
        for deferred in run {
            self.import_deferred(state, site, &deferred, binding);
        }
        for (param, value) in &summary.outs {
            let Value::Param(idx) = param else { continue };
            if let Some(place) = site.call.args.get(*idx as usize).and_then(|it| it.place.clone()) {
                let value = binding.value(value);
                self.store(state, &place, value);
            }
        }
        let ret = super::arms::taken(&summary.arms, |it| binding.value(it));
        let ret = self.settled(state, &ret.unwrap_or_else(|| binding.value(&summary.ret)));
        self.late_statement(state, &ret);
        ret
    }

    pub(super) fn import_heap(&mut self, state: &mut State, summary: &Summary, binding: &Binding) {
        for (root, object) in &summary.heap {
            let new_root = binding.value(root);
            if new_root == Value::Unknown || new_root.is_constant() {
                continue;
            }
            let object = binding.object(object);
            for target in new_root.alternatives() {
                if matches!(root, Value::Object(_)) {
                    state.put(target.clone(), object.clone());
                    continue;
                }
                let mine = state.object_mut(target);
                for (name, field) in &object.fields {
                    if field.changed.is_some() {
                        mine.fields.insert(name.clone(), field.clone());
                    }
                }
                if mine.ty.is_none() {
                    mine.ty.clone_from(&object.ty);
                }
                if let ObjectKind::Array(_) | ObjectKind::Query(_) = object.kind {
                    mine.kind = object.kind.clone();
                }
            }
        }
    }

    pub(super) fn import_effect(
        &mut self,
        state: &mut State,
        effect: &Effect,
        binding: &mut Binding,
    ) {
        match effect {
            Effect::Check(check) => {
                let mut check = bind_check(check, binding);
                check.row = super::row::non_null(self.settled(state, &check.row));
                self.effect(Effect::Check(check));
            }
            Effect::Load(load) => {
                let point = self.tick();
                if !self.rehearsal {
                    self.loads.push((point, Arc::new(bind_load(load, binding, state))));
                }
            }
            Effect::Acquire(held) => {
                let mut held = held.clone();
                held.id = binding.id(held.id);
                held.row = held.row.as_ref().map(|it| binding.value(it));
                state.held.push(held.clone());
                self.effect(Effect::Acquire(held));
            }
            Effect::Release => self.release(state, None),
            Effect::Begin { strict, .. } => {
                // What is held with it comes as an acquisition of its own.
                let open = if *strict { Transaction::Strict } else { Transaction::Open };
                state.transaction = open;
                self.effect(effect.clone());
            }
            Effect::End => self.end(state),
            Effect::Call { callable, args, context } => {
                let known_as = callable.clone();
                let callable = binding.value(callable);
                let args: Vec<Value> = args.iter().map(|it| binding.value(it)).collect();
                let mut context = context.clone();
                for held in &mut context.held {
                    held.id = binding.id(held.id);
                }
                if let Some(result) = self.run_given(state, &callable, &args, &context) {
                    binding.results.push((known_as, result));
                }
            }
            Effect::Flush(_) => {
                let span = self.span;
                self.flush_rows(state, span);
                self.effect(Effect::Flush(span));
            }
            Effect::Claim { id, span } => {
                self.effect(Effect::Claim { id: binding.id(*id), span: *span });
            }
        }
    }

    pub(super) fn import_write(
        &mut self,
        before: &State,
        state: &mut State,
        site: &Site<'_>,
        write: &WriteFact,
        binding: &Binding,
    ) {
        if write.trace.len() >= MAX_TRACE {
            return;
        }
        let back = match write.kind {
            WriteKind::Statement => {
                let row = self.written_back(write).map(|it| binding.value(&it));
                row.map(|it| self.settled(before, &it))
            }
            WriteKind::Row => None,
        };
        let mut write = if self.rehearsal {
            bind_write(without_evidence(write), binding)
        } else {
            bind_write(write.clone(), binding)
        };
        if !super::arms::still_open(&mut write.only_if) {
            return;
        }
        if let Some((_, params)) = &mut write.statement
            && !params.is_empty()
        {
            let settled =
                params.iter().map(|(key, it)| (key.clone(), self.settled(before, it))).collect();
            *params = Arc::new(settled);
        }
        write.row = write.row.map(|it| super::row::non_null(self.settled(before, &it)));
        for check in &mut write.checks {
            check.row = super::row::non_null(self.settled(before, &check.row));
        }
        for load in &mut write.loads {
            *load = self.brought_over(before, load, binding);
        }
        write.context = prefix_context(&write.context, before);
        if write.trace.len() < 8 {
            write.trace.push(site.call.name_span.cover(self.span));
        }
        self.settle_write(before, state, (site, back), &mut write);
        let point = self.tick();
        state.last_write = Some(write.id);
        self.writes.push((point, write));
    }

    /// The load of a callee's write in the caller's terms; one and the same for all writes of a call.
    fn brought_over(
        &self,
        before: &State,
        load: &Arc<LoadFact>,
        binding: &Binding,
    ) -> Arc<LoadFact> {
        if let Some(found) = binding.loads.borrow().get(&Arc::as_ptr(load)) {
            return Arc::clone(found);
        }
        let mut out = LoadFact::clone(load);
        out.row = binding.value(&out.row);
        let key = out.key.as_ref().map(|it| binding.value(it));
        out.key = key.map(|it| self.settled(before, &it));
        out.table.value = out.table.value.as_ref().map(|it| binding.value(it));
        for held in &mut out.context.held {
            held.id = binding.id(held.id);
            held.row = held.row.as_ref().map(|it| binding.value(it));
        }
        out.context = prefix_context(&out.context, before);
        let out = Arc::new(out);
        binding.loads.borrow_mut().insert(Arc::as_ptr(load), Arc::clone(&out));
        out
    }
}

/// Whether the function calls what it is given as that parameter.
pub(super) fn calls_param(summary: &Summary, idx: u32) -> bool {
    summary.effects.iter().any(
        |it| matches!(it, Effect::Call { callable, .. } if callable.mentions(&Value::Param(idx))),
    )
}

/// A callee's load in the caller's terms, under the caller's locks.
pub(super) fn bind_load(load: &LoadFact, binding: &Binding, state: &State) -> LoadFact {
    let mut out = load.clone();
    out.row = binding.value(&out.row);
    out.key = out.key.as_ref().map(|it| binding.value(it));
    out.table.value = out.table.value.as_ref().map(|it| binding.value(it));
    for filter in &mut out.filters {
        filter.values = filter.values.iter().map(|it| binding.value(it)).collect();
    }
    for held in &mut out.context.held {
        held.id = binding.id(held.id);
        held.row = held.row.as_ref().map(|it| binding.value(it));
    }
    out.context = prefix_context(&out.context, state);
    out
}

pub(super) fn bind_check(check: &CheckFact, binding: &Binding) -> CheckFact {
    let mut out = check.clone();
    out.row = binding.value(&out.row);
    let (Ok(values) | Err(values)) = &mut out.passes;
    for value in values.iter_mut() {
        *value = binding.value(value);
    }
    out
}

/// A write as the state sees it.
fn without_evidence(write: &WriteFact) -> WriteFact {
    let mut out = write.clone();
    out.loads.clear();
    out.checks.clear();
    out.claims.clear();
    out
}

/// A callee's write in the caller's terms, but for its loads.
pub(super) fn bind_write(write: WriteFact, binding: &Binding) -> WriteFact {
    let mut out = write;
    out.id = binding.id(out.id);
    out.row = out.row.as_ref().map(|it| binding.value(it));
    out.table.value = out.table.value.as_ref().map(|it| binding.value(it));
    if let Some((_, params)) = &mut out.statement
        && !params.is_empty()
    {
        let bound = params.iter().map(|(key, it)| (key.clone(), binding.value(it))).collect();
        *params = Arc::new(bound);
    }
    for (tested, _) in &mut out.only_if {
        *tested = binding.value(tested);
    }
    for change in &mut out.changes {
        change.value = binding.value(&change.value);
    }
    for check in &mut out.checks {
        *check = bind_check(check, binding);
    }
    for held in &mut out.context.held {
        held.id = binding.id(held.id);
        held.row = held.row.as_ref().map(|it| binding.value(it));
    }
    for claim in &mut out.claims {
        claim.id = binding.id(claim.id);
    }
    out
}

/// A callee's context below the caller's.
pub(super) fn prefix_context(inner: &Context, state: &State) -> Context {
    let is_open = matches!(state.transaction, Transaction::Open | Transaction::Strict);
    let transaction = match inner.transaction {
        Transaction::Inherited => state.transaction,
        Transaction::Closed if is_open => state.transaction,
        Transaction::Given if state.transaction != Transaction::Inherited => state.transaction,
        it => it,
    };
    if transaction == Transaction::Apart {
        let mut held: Vec<_> =
            state.held.iter().filter(|it| !ends_with_transaction(it.kind)).cloned().collect();
        held.extend(inner.held.iter().cloned());
        return Context { transaction, held };
    }
    let mut held = state.held.clone();
    held.extend(inner.held.iter().cloned());
    Context { transaction, held }
}
