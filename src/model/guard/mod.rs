//! Does a WHERE guard what its SET changes?
//!
//! A conditional write is an exclusive claim when a conjunct of its WHERE, on the row that is
//! written, is *false* for that row after the SET: then the second worker's statement matches no
//! row. Everything here is that one test, condition by condition:
//!
//! ```text
//! UPDATE jobs SET state = 'running' WHERE id = 7 AND state = 'pending'     falsified: a claim
//! UPDATE jobs SET state = 'running' WHERE id = 7 AND state <> 'done'       kept: both win
//! UPDATE jobs SET worker = 3        WHERE id = 7 AND state = 'pending'     kept: both win
//! ```
//!
//! What is not understood is [`Guard::Unknown`], never a guess.

mod key;
mod name;
mod value;
mod verdict;

pub use key::key_of;

use crate::base::Name;
use crate::ir::{Engine, ParamRef, SqlExpr, Statement, StatementKind};
use key::is_key;
use verdict::{Judge, Source, Tally};

/// What a statement's WHERE is worth against a second worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// No condition has to do with what is set: key, scope, tenant, soft delete.
    None,
    /// The SET falsifies a condition: one worker wins.
    Holds {
        /// The columns of the falsified conditions, in order.
        columns: Vec<Name>,
        /// A parameter takes part in the comparison, so that it is only assumed that old and new differ.
        bound: bool,
        /// Where the conditions stand.
        place: GuardPlace,
    },
    /// `owner = :me`: only the owner passes, but nothing is won by it.
    Fence {
        /// The owner, token or lease.
        column: Name,
    },
    /// `qty >= :n` with `qty = qty - :n`: no claim, but the limit is kept.
    Reservation {
        /// The counter.
        column: Name,
    },
    /// `version = :v` with a version that changes: an optimistic lock.
    Version {
        /// The version, revision or time of change.
        column: Name,
    },
    /// A hole, a function or an incomplete WHERE: there may be a guard.
    Unknown,
    /// A condition looks like a guard but is still true after the SET: both workers win.
    NotFalsified {
        /// The column of the condition.
        column: Name,
    },
    /// The condition stands in a sub-select or another instance of the table, without a lock, where
    /// the engine does not look at it again after waiting: both workers win.
    SubqueryOnly {
        /// The column of the condition.
        column: Name,
    },
}

/// Where a condition that holds stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardPlace {
    /// In the WHERE of the statement, on the row that is written.
    Target,
    /// In a sub-select or CTE of the same table that locks its rows.
    LockedSource,
    /// In a sub-select without a lock, which this engine evaluates as it writes.
    Source,
}

/// What is known of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// This literal.
    Literal(SqlExpr),
    /// One of these literals.
    OneOf(Vec<SqlExpr>),
    /// The same value as every parameter with the same number.
    Identity(u64),
    /// Nothing but which parameter it is.
    Unknown,
}

/// Judges the WHERE of an UPDATE, DELETE or upsert; `set_column` is the state that the caller asks
/// about. An unknown engine is taken for PostgreSQL.
pub fn judge(
    stmt: &Statement,
    set_column: &str,
    engine: Option<Engine>,
    resolve: &dyn Fn(&ParamRef) -> Resolved,
) -> Guard {
    let (sets, conditions) = match (stmt.kind, &stmt.upsert) {
        (StatementKind::Update, _) => (&stmt.sets, &stmt.conditions),
        (StatementKind::Upsert, Some(action)) => (&action.sets, &action.conditions),
        (StatementKind::Delete, _) => return judge_delete(stmt),
        _ => return Guard::Unknown,
    };
    let judge = Judge { sets, set_column, resolve };
    let mut tally = Tally::default();
    let keys = conditions.iter().filter(|it| is_key(it)).count();
    for condition in conditions.iter().filter(|it| !it.foreign) {
        let has_other_key = keys > usize::from(is_key(condition));
        tally.count(&judge, condition, has_other_key);
    }
    if let Some(guard) = tally.claim(GuardPlace::Target) {
        return guard;
    }
    let source = judge.source(stmt, conditions);
    if let Some(guard) = source.as_ref().filter(|it| it.locked).and_then(Source::claim) {
        return guard;
    }
    if let Some(column) = tally.reserved.take_if(|it| it.eq_ignore_ascii_case(set_column)) {
        return Guard::Reservation { column };
    }
    let unlocked =
        source.filter(|it| !it.locked).and_then(|it| it.tally.falsified.into_iter().next());
    let in_source = matches!(engine, Some(Engine::MySql | Engine::Sqlite));
    if let Some((column, bound)) = unlocked.clone().filter(|_| in_source) {
        return Guard::Holds { columns: vec![column], bound, place: GuardPlace::Source };
    }
    if tally.unknown || !stmt.complete {
        return Guard::Unknown;
    }
    if let Some(column) = tally.fence {
        return Guard::Fence { column };
    }
    if let Some((column, _)) = unlocked {
        return Guard::SubqueryOnly { column };
    }
    tally.kept.map_or(Guard::None, |column| Guard::NotFalsified { column })
}

/// Deleting falsifies everything, and of two deletes of a row one finds it gone.
fn judge_delete(stmt: &Statement) -> Guard {
    let own = stmt.conditions.iter().filter(|it| !it.foreign && !it.column.is_empty());
    let columns = own.map(|it| it.column.clone()).collect();
    Guard::Holds { columns, bound: false, place: GuardPlace::Target }
}
