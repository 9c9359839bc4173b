//! Transactions, locks, looks at counts, and leaving on a condition.

use super::Interp;
use super::call::Site;
use crate::analysis::fact::{Held, HeldKind, Transaction};
use crate::analysis::object::{Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::summary::Effect;
use crate::analysis::value::{Identity, Value};
use crate::base::Span;
use crate::ir::{Callee, InstrKind, LockClause, Operand, StatementKind};
use crate::model::{Access, LockKind, LockSpec};

impl Interp<'_> {
    pub(super) fn begin(&mut self, state: &mut State, strict: bool, span: Span) {
        state.transaction = if strict { Transaction::Strict } else { Transaction::Open };
        self.hold_transaction(state, strict, span);
        self.effect(Effect::Begin { strict, span });
    }

    /// Being inside one and the same transaction is something that a read and a write can share.
    fn hold_transaction(&mut self, state: &mut State, strict: bool, span: Span) {
        let id = self.identity(&("transaction", self.point.seq));
        let kind = if strict { HeldKind::Strict } else { HeldKind::Transaction };
        let held = Held { id, kind, span, row: None, unsure: false };
        state.held.push(held.clone());
        self.effect(Effect::Acquire(held));
    }

    /// A handler whose class is a lock by itself (a unique job), or whose class takes one in a method
    /// that the framework runs around it, runs under that lock.
    pub(super) fn hold_standing_lock(&mut self, state: &mut State) {
        let Some(class) = self.func.class.clone().filter(|_| self.func.receiver().is_some()) else {
            return;
        };
        let lineage = self.lineage(&class);
        let handler = self.shared.vocabulary.handlers.iter().map(|(_, it)| it).find(|it| {
            it.methods.iter().any(|name| name.matches(&self.func.short, true).is_some())
                && it
                    .implements
                    .iter()
                    .any(|name| lineage.iter().any(|it| it.eq_ignore_ascii_case(name)))
        });
        let Some(handler) = handler else { return };
        let is_lock = |name: &crate::base::Name| {
            let fact = self.shared.vocabulary.type_fact(self.language, name);
            fact.is_some_and(|it| it.kind == Some(crate::model::TypeKindHint::Lock))
        };
        let around = || {
            handler.locks_from.iter().any(|name| {
                let at = self.shared.program.method(&class, name).filter(|it| *it != self.at);
                at.and_then(|it| self.shared.store.summary(it)).is_some_and(|summary| {
                    summary.effects.iter().any(|it| matches!(it, Effect::Acquire(_)))
                })
            })
        };
        if lineage.iter().any(is_lock) || around() {
            let id = self.identity(&"standing");
            let kind = HeldKind::Lock(LockKind::Named);
            // Whatever the handler holds is read under it.
            let row = Some(Value::This);
            state.held.push(Held { id, kind, span: self.func.name_span, row, unsure: false });
        }
    }

    pub(super) fn end(&mut self, state: &mut State) {
        state.transaction = Transaction::Closed;
        state.held.retain(|it| !ends_with_transaction(it.kind));
        self.effect(Effect::End);
    }

    /// Whether a level given as text or constant makes the loser fail.
    pub(super) fn is_strict_level(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        level: Option<&Access>,
    ) -> bool {
        let Some(level) = level.filter(|it| self.is_given(site, it)) else { return false };
        let value = self.access(state, site, level);
        let name = match &value {
            Value::Case(_, name) => name.clone(),
            value => value.as_str().unwrap_or_default(),
        };
        let name = crate::base::snake_case(&name).replace(' ', "_");
        ["serializable", "repeatable_read", "immediate", "exclusive"]
            .iter()
            .any(|it| name.contains(it))
    }

    pub(super) fn in_transaction(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        body: &Access,
        (strict, flushes): (bool, bool),
    ) -> Value {
        let outer = (state.transaction, state.held.clone());
        if state.transaction != Transaction::Strict {
            state.transaction = if strict { Transaction::Strict } else { Transaction::Open };
        }
        self.hold_transaction(state, strict, self.span);
        let callable = self.access(state, site, body);
        let handle = self.transaction_handle(site);
        let result = self.run_callable(state, &callable, &[handle]);
        if flushes {
            self.flush(state);
        }
        state.transaction = outer.0;
        let kept = |it: &Held| outer.1.iter().any(|that| that.id == it.id);
        if !matches!(outer.0, Transaction::Open | Transaction::Strict) {
            state.held.retain(|it| kept(it) || !ends_with_transaction(it.kind));
        }
        result.unwrap_or_default()
    }

    /// What the body of a transaction is given: a handle that runs inside it.
    fn transaction_handle(&self, site: &Site<'_>) -> Value {
        match &site.receiver {
            Value::Class(_) | Value::Unknown => Value::Unknown,
            receiver => receiver.clone(),
        }
    }

    /// Takes a lock from here on.
    pub(super) fn acquire(
        &mut self,
        state: &mut State,
        lock: LockSpec,
        row: Option<Value>,
    ) -> Identity {
        let id = self.identity(&("lock", self.point.seq));
        let held =
            Held { id, kind: HeldKind::Lock(lock.kind), span: self.span, row, unsure: lock.tries };
        state.held.push(held.clone());
        self.effect(Effect::Acquire(held));
        id
    }

    pub(super) fn acquire_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        lock: LockSpec,
        body: Option<&Access>,
    ) -> Value {
        let id = self.acquire(state, lock, None);
        if let Some(body) = body
            && self.is_given(site, body)
        {
            let callable = self.access(state, site, body);
            if matches!(
                callable,
                Value::Closure(..) | Value::Method(_) | Value::Function(_) | Value::Object(_)
            ) {
                for it in &mut state.held {
                    if it.id == id {
                        it.unsure = false;
                    }
                }
                let result = self.run_callable(state, &callable, &[]);
                self.release(state, Some(id));
                return result.unwrap_or_default();
            }
        }
        // The lock object stands for the lock, so that `release` and its drop find it.
        if !matches!(site.receiver, Value::Unknown | Value::Class(_)) {
            let kind = state.object(&site.receiver).map(|it| &it.kind);
            if matches!(kind, None | Some(ObjectKind::Plain | ObjectKind::Lock(_))) {
                state.object_mut(&site.receiver).kind = ObjectKind::Lock(id);
            }
        }
        if lock.tries {
            return Value::Got(id);
        }
        let guard = Value::Object(self.identity(&"guard"));
        let mut object = Object { kind: ObjectKind::Lock(id), ..Object::default() };
        object.ty = self.guarded_type(state, site);
        state.put(guard.clone(), object);
        guard
    }

    /// A guard gives what it protects: `Mutex<Board>` locked is a `Board`.
    fn guarded_type(&self, state: &State, site: &Site<'_>) -> Option<crate::ir::TypeRef> {
        self.types_of(state, &site.receiver).into_iter().find_map(|it| it.args.into_iter().next())
    }

    /// Whether the receiver is what a library call has just made, in no variable: it ends with the
    /// expression.
    pub(super) fn is_kept_by_nobody(&self, site: &Site<'_>) -> bool {
        let Callee::Method { receiver: Operand::Local(local), .. } = &site.call.callee else {
            return false;
        };
        if !self.func.locals.get(*local).is_some_and(|it| it.name.is_empty()) {
            return false;
        }
        self.resolved.calls.iter().any(|((block, instr), record)| {
            let instr = self.func.cfg.blocks[*block].instrs.get(*instr as usize);
            let made = match instr.map(|it| &it.kind) {
                Some(InstrKind::Call(call)) => call.dest == *local,
                _ => false,
            };
            made && record.targets.is_empty() && !record.unknown
        })
    }

    pub(super) fn lock_behind(&self, state: &State, value: &Value) -> Option<Identity> {
        match state.object(value).map(|it| &it.kind) {
            Some(ObjectKind::Lock(id)) => Some(*id),
            _ => None,
        }
    }

    /// Releases one lock, or all that are no row locks.
    pub(super) fn release(&mut self, state: &mut State, id: Option<Identity>) {
        state.held.retain(|it| match (id, it.kind) {
            (Some(id), _) => it.id != id,
            (None, HeldKind::Lock(LockKind::Named | LockKind::Process)) => false,
            (None, _) => true,
        });
        self.effect(Effect::Release);
    }

    /// A statement that opens, ends or locks.
    pub(super) fn statement_kind(
        &mut self,
        state: &mut State,
        kind: StatementKind,
        lock: Option<LockClause>,
    ) -> Option<Value> {
        match kind {
            StatementKind::Begin => self.begin(state, false, self.span),
            StatementKind::BeginImmediate | StatementKind::Isolation => {
                self.begin(state, true, self.span);
            }
            StatementKind::Commit | StatementKind::Rollback => self.end(state),
            StatementKind::Unlock => self.release(state, None),
            StatementKind::Lock | StatementKind::Select => {
                let lock = lock?;
                let tries = matches!(lock, LockClause::AdvisoryXactTry | LockClause::SessionTry);
                let kind = match lock {
                    LockClause::Exclusive | LockClause::SkipLocked => LockKind::Row,
                    LockClause::Shared => LockKind::RowShared,
                    LockClause::Table | LockClause::AdvisoryXact | LockClause::AdvisoryXactTry => {
                        LockKind::Row
                    }
                    LockClause::Session | LockClause::SessionTry => LockKind::Named,
                };
                let id = self.acquire(state, LockSpec { kind, tries, throws_outside: false }, None);
                return tries.then_some(Value::Got(id));
            }
            StatementKind::Update
            | StatementKind::Insert
            | StatementKind::Upsert
            | StatementKind::InsertIgnore
            | StatementKind::Delete
            | StatementKind::Other => (),
        }
        None
    }

    /// Somebody looks at a count.
    pub(super) fn look_at(&mut self, value: &Value) {
        let mut found = Vec::new();
        value.walk(&mut |it| {
            if let Value::Count(id) | Value::Object(id) = it {
                found.push(*id);
            }
        });
        self.looked.extend(found);
    }

    pub(super) fn abort_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        when: Option<&Access>,
        negated: bool,
    ) {
        let Some(when) = when else { return self.end_here() };
        let tested = self.access(state, site, when);
        self.refine(state, &tested, negated);
        self.look_at(&tested);
        for check in self.checks_in(state, &tested, negated) {
            self.effect(Effect::Check(check));
        }
    }

    /// The lock that a read takes, when its condition holds.
    pub(super) fn lock_when(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        lock: Option<&(LockSpec, Option<Access>)>,
    ) -> Option<LockSpec> {
        let (spec, when) = lock?;
        self.is_lock_mode(state, site, when.as_ref()).then_some(*spec)
    }

    /// Whether an argument asks for a lock: absent for unconditional locks; false, null, an optimistic
    /// or shared mode ask for none.
    pub(super) fn is_lock_mode(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        when: Option<&Access>,
    ) -> bool {
        let Some(when) = when else { return true };
        if !self.is_given(site, when) {
            return false;
        }
        let value = self.access(state, site, when);
        if matches!(when, Access::Field(..)) && !value.is_constant() {
            // An option in a list that nothing is known of, or no list at all.
            return false;
        }
        match value {
            Value::Null | Value::Bool(false) | Value::Int(0 | 1) => false,
            // Options as they are made ask for nothing.
            Value::Opaque(id) if self.made.contains(&id) => false,
            Value::Case(_, name) => {
                let name = name.to_ascii_lowercase();
                name.contains("write")
                    || name.contains("update")
                    || name.contains("exclusive")
                    || name == "nx"
            }
            value => match value.as_str() {
                Some(text) => {
                    text.to_ascii_lowercase().contains("update") || text.eq_ignore_ascii_case("nx")
                }
                None => true,
            },
        }
    }
}

/// Whether the end of the transaction lets go of it.
pub(super) fn ends_with_transaction(kind: HeldKind) -> bool {
    match kind {
        HeldKind::Lock(LockKind::Row | LockKind::RowShared)
        | HeldKind::Strict
        | HeldKind::Transaction => true,
        HeldKind::Lock(LockKind::Named | LockKind::Process) => false,
    }
}
