//! Is the check still true when the write runs? Locks that are held from the read on, transactions
//! that make the loser fail, claims that were won, versions that are compared.

use crate::analysis::Value;
use crate::analysis::fact::{CheckFact, Held, HeldKind, LoadFact, Transaction, WriteFact};
use crate::ir::Engine;
use crate::model::LockKind;

/// What protects a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// Nothing.
    None,
    /// Nobody else can get in between.
    Safe,
    /// A lock is held at the write, but the check reads a copy from before it; where it was taken.
    Late(Held),
    /// A lock that excludes only this process.
    Process,
}

/// What protects a write whose state was tested by `checks`.
pub(super) fn protection(write: &WriteFact, checks: &[&CheckFact]) -> Protection {
    if write.fresh || write.versioned || write.claims.iter().any(|it| it.won && !it.stale_copy) {
        return Protection::Safe;
    }
    let excluding: Vec<&Held> =
        write.context.held.iter().filter(|it| excludes(it, write)).collect();
    if excluding.is_empty() {
        let process = write
            .context
            .held
            .iter()
            .any(|it| it.kind == HeldKind::Lock(LockKind::Process) && !it.unsure);
        return if process { Protection::Process } else { Protection::None };
    }
    if checks.is_empty() {
        return Protection::Safe;
    }
    let under = |check: &CheckFact| {
        write.loads.iter().filter(|it| it.row == check.row).any(|load| {
            excluding.iter().any(|lock| load.context.held.iter().any(|it| it.is_same(lock)))
        })
    };
    if checks.iter().any(|it| under(it)) {
        return Protection::Safe;
    }
    // Only a copy that is known to be from before the lock is stale.
    let late = |lock: &&&Held| checks.iter().any(|it| is_from_before(it, lock, write));
    match excluding.iter().find(late) {
        Some(lock) => Protection::Late((*lock).clone()),
        None => Protection::Safe,
    }
}

/// Whether the checked copy was read before the lock was taken: its read is known, or it was given from
/// outside.
fn is_from_before(check: &CheckFact, lock: &Held, write: &WriteFact) -> bool {
    let root = root_of(&check.row);
    if lock.row.as_ref() == Some(root) {
        return lock.kind != HeldKind::Lock(LockKind::Named);
    }
    matches!(root, Value::Param(_) | Value::This | Value::Capture(_))
        || write.loads.iter().any(|it| it.row == check.row)
}

/// What a path starts at.
fn root_of(mut row: &Value) -> &Value {
    loop {
        row = match row {
            Value::Path(it) => &it.0,
            Value::Element(it) => it,
            it => return it,
        };
    }
}

fn excludes(held: &Held, write: &WriteFact) -> bool {
    if held.unsure {
        return false;
    }
    match held.kind {
        HeldKind::Lock(LockKind::Row | LockKind::RowShared) => {
            !matches!(write.context.transaction, Transaction::Closed | Transaction::Apart)
        }
        HeldKind::Lock(LockKind::Named) | HeldKind::Strict => true,
        HeldKind::Lock(LockKind::Process) => false,
        HeldKind::Transaction => write.engine == Some(Engine::Sqlite),
    }
}

/// Whether a read locks rows although no transaction can be open.
pub(super) fn locks_in_vain(load: &LoadFact) -> bool {
    load.locks
        && matches!(
            load.context.transaction,
            Transaction::Closed | Transaction::Apart | Transaction::Inherited
        )
        && !load.weak
}
