//! Facts: what a function does to rows, with the evidence that decides whether it races.
//!
//! A write travels up the call graph as a [`WriteFact`]: each caller puts its own values in for the
//! parameters and adds the checks, loads and locks that it knows of. What the write means is decided
//! at the top, where nothing more can be learned.

use super::stem::{same_stem, stem};
use super::value::{Identity, Value};
use crate::base::{Name, Span};
use crate::ir::{Engine, FuncRef, ParamRef, Statement, StatementKind};
use crate::model::{LockKind, Yield};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which table or model, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The table's name without quotes and prefix.
    pub table: Option<Name>,
    /// The model class.
    pub model: Option<Name>,
    /// The value that names it, while it is not known.
    pub value: Option<Value>,
}

impl Table {
    /// The word for messages: the table, else the model's last segment, else nothing.
    pub fn word(&self) -> Option<&str> {
        let model = self.model.as_deref().map(crate::base::last_segment);
        self.table.as_deref().filter(|it| !it.is_empty()).or(model)
    }

    /// The name that tables and models of one entity share: lower case, singular, no prefix.
    pub fn stem(&self) -> Option<String> {
        self.word().map(|it| stem(it).to_string())
    }

    /// Whether both name the same entity; none when one is not known.
    pub fn same(&self, other: &Self) -> Option<bool> {
        if let (Some(a), Some(b)) = (&self.table, &other.table)
            && !a.is_empty()
            && !b.is_empty()
        {
            return Some(same_stem(a, b));
        }
        if let (Some(a), Some(b)) = (&self.model, &other.model) {
            return Some(same_stem(a, b));
        }
        match (self.word().map(stem), other.word().map(stem)) {
            (Some(a), Some(b)) => Some(a == b || a.ends_with(&*b) || b.ends_with(&*a)),
            _ => match (&self.value, &other.value) {
                (Some(a), Some(b)) if a == b && *a != Value::Unknown => Some(true),
                _ => None,
            },
        }
    }
}

/// What is known of an open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Transaction {
    /// None was opened here; a caller may have.
    #[default]
    Inherited,
    /// None is open.
    Closed,
    /// The statement runs on a handle of its own, whatever is open on others.
    Apart,
    /// The statement runs on a connection that a caller gave, who may have opened one.
    Given,
    /// One is open.
    Open,
    /// One is open whose isolation makes the loser fail.
    Strict,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Held {
    /// Which acquisition.
    pub id: Identity,
    /// What it excludes.
    pub kind: HeldKind,
    /// Where it was taken.
    pub span: Span,
    /// The row it is about, for row locks and claims.
    pub row: Option<Value>,
    /// The acquisition answers whether it was got, and the answer was not looked at yet.
    pub unsure: bool,
}

impl Held {
    /// Whether both are one lock: taken at one place, or the transaction of one handle.
    pub fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
            || self.kind == HeldKind::Transaction
                && other.kind == HeldKind::Transaction
                && self.row.is_some()
                && self.row == other.row
    }
}

/// What a held lock excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HeldKind {
    /// A lock of the vocabulary.
    Lock(LockKind),
    /// A transaction whose isolation makes the loser fail.
    Strict,
    /// A plain transaction: excludes nobody, except on SQLite.
    Transaction,
}

/// Locks and transaction at one point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The transaction.
    pub transaction: Transaction,
    /// Held locks in order of acquisition.
    pub held: Vec<Held>,
}

/// A condition under which rows were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Column as written.
    pub column: Name,
    /// The rows have one of `values`, or none of them.
    pub negated: bool,
    /// Values; empty when not known.
    pub values: Vec<Value>,
    /// Compared with an ordering or another test that names no state.
    pub vague: bool,
}

/// A row, or several, read from the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFact {
    /// The row that came of it.
    pub row: Value,
    /// Of what.
    pub table: Table,
    /// WHERE on other columns than the key.
    pub filters: Vec<Filter>,
    /// The key's value.
    pub key: Option<Value>,
    /// Locks at that time, those taken by the read itself included.
    pub context: Context,
    /// The read locks rows itself.
    pub locks: bool,
    /// The call or statement.
    pub span: Span,
    /// The function that reads.
    pub symbol: FuncRef,
    /// Evidence by name only.
    pub weak: bool,
}

impl LoadFact {
    /// Visits every value in it.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s Value)) {
        self.row.walk(visit);
        self.key.iter().chain(&self.table.value).for_each(|it| it.walk(visit));
        self.filters.iter().flat_map(|it| &it.values).for_each(|it| it.walk(visit));
    }
}

/// Why a check is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CheckKind {
    /// A branch on a loaded copy.
    Branch,
    /// The condition under which the row was selected.
    Filter,
    /// A branch on something computed from the column.
    Vague,
}

/// A test of a row's state that the write depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFact {
    /// The tested row.
    pub row: Value,
    /// The tested column; empty when only the method's name speaks of a state.
    pub column: Name,
    /// Why it is one.
    pub kind: CheckKind,
    /// The states under which control goes on to the write: `Ok` in the list, `Err` not in the list,
    /// both empty when not known.
    pub passes: Result<Vec<Value>, Vec<Value>>,
    /// Where.
    pub span: Span,
    /// The function that checks.
    pub symbol: FuncRef,
    /// Something else than the write hangs on it: it decides more than whether the write is needed.
    pub works: bool,
}

/// A change of a copy in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFact {
    /// The column or property.
    pub column: Name,
    /// The new value.
    pub value: Value,
    /// Where; the assignment in the mutator.
    pub span: Span,
}

/// Whether somebody looked at the row count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Look {
    /// Not yet.
    None,
    /// A bool that says only that the statement ran was taken for it.
    Mistaken,
    /// The caller was given such a bool, or a plain yes.
    Passed,
    /// It was given to the caller.
    Returned,
    /// Somebody looked, or may have.
    Looked,
}

/// How a write names its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WriteKind {
    /// An object is written back.
    Row,
    /// A statement.
    Statement,
}

/// A write of rows that exist, with its evidence so far.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteFact {
    /// Which write.
    pub id: Identity,
    /// Object or statement.
    pub kind: WriteKind,
    /// The object, for write-backs.
    pub row: Option<Value>,
    /// The object was made here: nobody else has the row yet.
    pub fresh: bool,
    /// Writes every column.
    pub whole: bool,
    /// Of what.
    pub table: Table,
    /// The statement with its parameters' values; for write-backs, the statement behind, if known.
    pub statement: Option<(Arc<Statement>, Arc<BTreeMap<ParamRef, Value>>)>,
    /// Where the finding points.
    pub primary: Span,
    /// The function that holds the primary place.
    pub symbol: FuncRef,
    /// The call that runs the statement, when that is another place than its text.
    pub run: Option<Span>,
    /// Where the SQL stands, if it is another place.
    pub sql: Option<Span>,
    /// In-memory changes that it writes.
    pub changes: Vec<ChangeFact>,
    /// Checks that it depends on.
    pub checks: Vec<CheckFact>,
    /// Loads of its row or table that come before it.
    pub loads: Vec<Arc<LoadFact>>,
    /// Guarded claims of the same row that come before it: where, and whether they were looked at.
    pub claims: Vec<ClaimFact>,
    /// Locks and transaction at the time.
    pub context: Context,
    /// The row count.
    pub look: Look,
    /// Where the answer of a callee's write arrives, for callers that drop it.
    pub answer: Option<Span>,
    /// What the call gives.
    pub gives: Yield,
    /// Call sites on the way, innermost first.
    pub trace: Vec<Span>,
    /// The engine, when known.
    pub engine: Option<Engine>,
    /// An earlier write of the same row set a state already, and no test or read came between: whoever
    /// got so far goes on.
    pub follows: bool,
    /// A save makes the loser fail by comparing a version.
    pub versioned: bool,
    /// Evidence by name only.
    pub weak: bool,
    /// Tests of the function's parameters that it depends on, and how they have to come out.
    pub only_if: Vec<(Value, bool)>,
    /// Something is done after it, here or in a caller, besides telling.
    pub followed: bool,
    /// Something else was written before it in its transaction, and is committed with it.
    pub behind: bool,
    /// The function, or one on the way, looks like a worker, claim or payment.
    pub workerlike: bool,
}

/// A statement or call that makes rows.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertFact {
    /// Of what.
    pub table: Table,
    /// Columns and their values, as far as they are known.
    pub sets: Vec<(Name, Value)>,
    /// The statement or call.
    pub primary: Span,
}

impl WriteFact {
    /// Whether it is a statement whose count somebody looks at.
    pub fn may_claim(&self) -> bool {
        self.kind == WriteKind::Statement
            && !self.fresh
            && matches!(self.look, Look::Looked | Look::Returned)
    }

    /// Whether it is an insert that does nothing where the row exists: no write of a row that exists,
    /// but its count tells who was first.
    pub fn is_claiming_insert(&self) -> bool {
        self.statement.as_ref().is_some_and(|(it, _)| it.kind == StatementKind::InsertIgnore)
    }

    /// Visits every value in it.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s Value)) {
        self.row.iter().chain(&self.table.value).for_each(|it| it.walk(visit));
        if let Some((_, params)) = &self.statement {
            params.values().for_each(|it| it.walk(visit));
        }
        self.changes.iter().for_each(|it| it.value.walk(visit));
        self.checks.iter().for_each(|it| it.row.walk(visit));
        self.loads.iter().for_each(|it| it.walk(visit));
    }
}

/// A guarded claim that precedes a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimFact {
    /// The claim.
    pub id: Identity,
    /// Where.
    pub span: Span,
    /// The write happens only when the claim was won.
    pub won: bool,
    /// The object that is written was read before the claim, and not again since.
    pub stale_copy: bool,
    /// The row was read between the claim and the write.
    pub read_after: bool,
}
