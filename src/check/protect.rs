//! Is the check still true when the write runs? Locks that are held from the read on, transactions
//! that make the loser fail, claims that were won, versions that are compared.

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
        let loads: Vec<&LoadFact> = write.loads.iter().filter(|it| it.row == check.row).collect();
        loads.iter().any(|load| {
            excluding.iter().any(|lock| load.context.held.iter().any(|it| it.is_same(lock)))
        })
    };
    if checks.iter().any(|it| under(it)) {
        return Protection::Safe;
    }
    match excluding.first() {
        // A transaction alone is not what the author meant as a lock.
        Some(first) => Protection::Late((*first).clone()),
        None => Protection::None,
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
