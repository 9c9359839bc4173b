//! Which handle a statement runs on: inside the open transaction, on a connection that a caller gave,
//! or on a pool, where each statement stands alone.
//!
//! ```text
//! let mut tx = pool.begin().await?;
//! query.fetch_one(&mut *tx)      inside
//! query.fetch_one(&pool)         on a connection of its own: locks nothing for long
//! query.fetch_one(conn)          a parameter: inside if the caller says so
//! ```

use super::Interp;
use super::call::Site;
use super::effect::ends_with_transaction;
use crate::analysis::fact::{Held, HeldKind, Transaction};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::Language;
use crate::ir::{Engine, TypeRef};
use crate::model::{Access, ExecutorKind, Role, TypeKindHint};

/// How deep type arguments are searched for an engine.
const MAX_ARGS_DEPTH: u32 = 3;

/// What is to be put back behind a statement.
pub(super) struct Outer {
    /// Transaction and locks, when the statement ran apart from them.
    apart: Option<(Transaction, Vec<Held>)>,
    engine: Option<Engine>,
}

impl Interp<'_> {
    /// Goes to the handle that the call's statement runs on.
    pub(super) fn enter_handle(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        role: &Role,
    ) -> Outer {
        let mut outer = Outer { apart: None, engine: self.engine };
        if self.language != Language::Rust || !runs_statement(role) {
            return outer;
        }
        let Some((handle, kind)) = self.executor_behind(state, site, role) else { return outer };
        self.engine = self.engine_of(state, &handle).or(self.engine);
        match kind {
            Some(ExecutorKind::Pool) => {
                outer.apart = Some((state.transaction, state.held.clone()));
                state.transaction = Transaction::Apart;
                state.held.retain(|it| !ends_with_transaction(it.kind));
            }
            Some(ExecutorKind::Transaction) => self.join_transaction(state, &handle),
            Some(ExecutorKind::Connection) | None
                if state.transaction == Transaction::Inherited =>
            {
                if is_given(&handle) {
                    state.transaction = Transaction::Given;
                } else if kind.is_some() {
                    state.transaction = Transaction::Closed;
                }
            }
            Some(ExecutorKind::Connection) | None => (),
        }
        outer
    }

    /// Comes back from it.
    pub(super) fn leave_handle(&mut self, state: &mut State, outer: Outer) {
        if let Some((transaction, held)) = outer.apart {
            state.transaction = transaction;
            state.held = held;
        }
        self.engine = outer.engine;
    }

    /// A transaction that a caller opened: reads and writes on its handle share it.
    fn join_transaction(&mut self, state: &mut State, handle: &Value) {
        if !matches!(state.transaction, Transaction::Open | Transaction::Strict) {
            state.transaction = Transaction::Open;
        }
        let kind = HeldKind::Transaction;
        let shared = state.held.iter().any(|it| it.kind == kind || it.kind == HeldKind::Strict);
        if !shared {
            let id = self.identity(&("given", handle));
            let row = Some(handle.clone());
            state.held.push(Held { id, kind, span: self.span, row, unsure: false });
        }
    }

    /// The executor that the row names, else the receiver or the first argument that is one.
    fn executor_behind(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        role: &Role,
    ) -> Option<(Value, Option<ExecutorKind>)> {
        if let Role::Execute { executor: Some(executor), .. } = role {
            let handle = self.access(state, site, executor);
            let kind =
                self.executor_kind(state, &handle).or_else(|| self.kind_by_word(site, executor));
            return Some((handle, kind));
        }
        let mut candidates = site.args.iter().chain([&site.receiver]);
        candidates.find_map(|it| Some((it.clone(), Some(self.executor_kind(state, it)?))))
    }

    /// What sort of handle a value is; none when its type does not say.
    pub(super) fn executor_kind(&self, state: &State, value: &Value) -> Option<ExecutorKind> {
        self.types_of(state, value).iter().find_map(|ty| match self.fact_of(&ty.name)?.kind {
            Some(TypeKindHint::Executor(kind)) => Some(kind),
            _ => None,
        })
    }

    /// `&mut *tx`, `&pool`: what the variable's name says, when no type is known.
    fn kind_by_word(&self, site: &Site<'_>, executor: &Access) -> Option<ExecutorKind> {
        let word = match executor {
            Access::Arg(idx, _) => {
                let crate::ir::Operand::Local(local) = site.call.args.get(*idx as usize)?.value
                else {
                    return None;
                };
                self.word_of(local)?
            }
            Access::Receiver => site.word.clone()?,
            _ => return None,
        };
        let names = self.shared.vocabulary.types_by_word(self.language, &word);
        names.iter().find_map(|it| match self.fact_of(it)?.kind {
            // A name alone does not make a statement stand on its own.
            Some(TypeKindHint::Executor(ExecutorKind::Pool)) | None => None,
            Some(TypeKindHint::Executor(kind)) => Some(kind),
            Some(_) => None,
        })
    }

    /// The engine behind a handle: of its type, or of a type argument (`Pool<Sqlite>`).
    fn engine_of(&self, state: &State, handle: &Value) -> Option<Engine> {
        self.types_of(state, handle).iter().find_map(|it| self.engine_of_type(it, 0))
    }

    /// A type of the vocabulary; a transaction goes to the engine of what it was begun on.
    pub(super) fn typed_handle(&self, state: &State, site: &Site<'_>, name: &str) -> TypeRef {
        let is_handle =
            matches!(self.fact_of(name).and_then(|it| it.kind), Some(TypeKindHint::Executor(_)));
        let from = self.types_of(state, &site.receiver).into_iter().next();
        let from = from.filter(|it| is_handle && self.engine_of_type(it, 0).is_some());
        TypeRef { args: from.into_iter().collect(), ..TypeRef::named(name) }
    }

    fn engine_of_type(&self, ty: &TypeRef, depth: u32) -> Option<Engine> {
        let own = self.shared.vocabulary.engine_of(self.language, &ty.name);
        own.or_else(|| self.fact_of(&ty.name).and_then(|it| it.engine)).or_else(|| {
            let args = ty.args.iter().filter(|_| depth < MAX_ARGS_DEPTH);
            args.into_iter().find_map(|it| self.engine_of_type(it, depth + 1))
        })
    }

    /// The engine that a statement here goes to, as far as types and imports tell.
    pub(super) fn engine_here(&self) -> Option<Engine> {
        self.engine.or_else(|| self.shared.store.engine(self.at.source))
    }
}

/// Whether a caller made the handle.
fn is_given(handle: &Value) -> bool {
    match handle {
        Value::Param(_) | Value::Capture(_) | Value::This | Value::Unknown => true,
        Value::Path(it) => is_given(&it.0),
        Value::Any(them) => them.iter().any(is_given),
        _ => false,
    }
}

/// Whether the role sends something to the database.
fn runs_statement(role: &Role) -> bool {
    matches!(
        role,
        Role::Execute { .. }
            | Role::Load { .. }
            | Role::Update { .. }
            | Role::Insert { .. }
            | Role::Delete { .. }
            | Role::Save { .. }
            | Role::Refresh { .. }
            | Role::Fetch { .. }
    )
}
