//! Summary: what a call of a function does, in terms of its parameters; and for each call site inside
//! it, what it turned out to call.

use super::fact::{CheckFact, Context, Held, LoadFact, WriteFact};
use super::object::Object;
use super::value::{Identity, Value};
use crate::base::Span;
use crate::ir::{BlockId, FuncRef, ParamRef, TypeRef};
use crate::model::{LockKind, Role, Yield};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a call of the function does.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// What it gives back.
    pub ret: Value,
    /// The constants that it gives back, when nothing else is, by what it is given.
    pub arms: Vec<Arm>,
    /// Outcomes, given by the caller, whose row count decides whether it returns.
    pub looks: Vec<Value>,
    /// Things that the result or the parameters lead to, as they are at the end.
    pub heap: BTreeMap<Value, Arc<Object>>,
    /// In order: what it tests, reads, locks, begins and commits.
    pub effects: Vec<Effect>,
    /// Writes of rows, with their evidence.
    pub writes: Vec<WriteFact>,
    /// Final values of by-reference parameters and captures.
    pub outs: Vec<(Value, Value)>,
    /// Types of unknown results.
    pub types: BTreeMap<Identity, TypeRef>,
    /// Statements whose text only a caller knows.
    pub deferred: Vec<Deferred>,
    /// No path returns.
    pub diverges: bool,
    /// It or a callee writes something durable (database, file, remote).
    pub durable: bool,
    /// It or a callee does something besides writing rows that exist: it tells, pays, adds.
    pub works: bool,
}

impl Summary {
    /// Whether it tells nothing of rows: no statement was understood in it.
    pub fn is_silent(&self) -> bool {
        self.writes.is_empty()
            && self.deferred.is_empty()
            && !self.effects.iter().any(|it| matches!(it, Effect::Load(_) | Effect::Call { .. }))
    }

    /// Visits every value that a caller can come to see.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s Value)) {
        self.ret.walk(visit);
        for (root, object) in &self.heap {
            root.walk(visit);
            object.leads_to(&mut |it| it.walk(visit));
        }
        for effect in &self.effects {
            effect.walk(visit);
        }
        for write in &self.writes {
            write.walk(visit);
        }
        for (place, value) in &self.outs {
            place.walk(visit);
            value.walk(visit);
        }
        for deferred in &self.deferred {
            [&deferred.text, &deferred.root].into_iter().for_each(|it| it.walk(visit));
            deferred.params.values().chain(&deferred.binds).for_each(|it| it.walk(visit));
        }
    }
}

/// A constant that a function returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Tests of the parameters, and how they have to come out.
    pub only_if: Vec<(Value, bool)>,
    /// What is returned then.
    pub value: Value,
}

/// A statement whose text comes from a parameter: a wrapper like `query($sql, $params)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    /// What the run would be called.
    pub id: Identity,
    /// The text.
    pub text: Value,
    /// Bound values by parameter.
    pub params: BTreeMap<ParamRef, Value>,
    /// Arrays of bound values.
    pub binds: Vec<Value>,
    /// What the call gives.
    pub gives: Yield,
    /// The statement object that stands for it.
    pub root: Value,
    /// It runs (otherwise it is only prepared).
    pub runs: bool,
}

/// Something that happened, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A test that the code behind depends on (the function throws or diverges otherwise).
    Check(CheckFact),
    /// A read.
    Load(Arc<LoadFact>),
    /// A lock was taken and is still held at the end.
    Acquire(Held),
    /// Locks were released.
    Release,
    /// A transaction was opened and is still open.
    Begin {
        /// Its isolation makes the loser fail.
        strict: bool,
        /// Where.
        span: Span,
    },
    /// A transaction was ended.
    End,
    /// A callable that a caller gave is called.
    Call {
        /// The callable.
        callable: Value,
        /// What it is given.
        args: Vec<Value>,
        /// Transaction and locks around the call.
        context: Context,
    },
    /// Everything changed that is managed was written back.
    Flush(Span),
    /// A guarded claim whose count was looked at: the row, where.
    Claim {
        /// The write.
        id: Identity,
        /// Where.
        span: Span,
    },
}

impl Effect {
    fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s Value)) {
        match self {
            Self::Check(check) => check.row.walk(visit),
            Self::Load(load) => load.walk(visit),
            Self::Acquire(held) => held.row.iter().for_each(|it| it.walk(visit)),
            Self::Call { callable, args, .. } => {
                callable.walk(visit);
                args.iter().for_each(|it| it.walk(visit));
            }
            Self::Release
            | Self::Begin { .. }
            | Self::End
            | Self::Flush(_)
            | Self::Claim { .. } => (),
        }
    }
}

/// What a call site turned out to be.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Functions of the program that it runs, now.
    pub targets: Vec<FuncRef>,
    /// Callables handed over that run inside the call, now or later.
    pub callables: Vec<FuncRef>,
    /// What the vocabulary says of it, in order.
    pub roles: Vec<Arc<Role>>,
    /// The roles rest on names only.
    pub weak: bool,
    /// The receiver's value.
    pub receiver: Value,
    /// The receiver's type, when known.
    pub receiver_type: Option<TypeRef>,
    /// The arguments' values.
    pub args: Vec<Value>,
    /// The result's value.
    pub result: Value,
    /// It writes something durable, itself or below.
    pub durable: bool,
    /// It does something besides writing rows that exist, itself or below.
    pub works: bool,
    /// Nothing is known of it: it may do anything, and fail.
    pub unknown: bool,
}

/// A function with all that was found out about its body.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Call sites by block and position.
    pub calls: BTreeMap<(BlockId, u32), CallSite>,
    /// Final locals' values are not kept; tests on branches are: block to tested value.
    pub tests: BTreeMap<BlockId, Value>,
    /// What the vocabulary says of properties that are read.
    pub reads: BTreeMap<(BlockId, u32), &'static str>,
    /// Rows that are made, in the order in which the body was run.
    pub inserts: Vec<super::fact::InsertFact>,
}

/// Kinds of locks that exclude a second worker anywhere.
pub fn excludes(kind: LockKind) -> bool {
    match kind {
        LockKind::Row | LockKind::RowShared | LockKind::Named => true,
        LockKind::Process => false,
    }
}
