//! Message: is a queue message settled although its work failed, or before its work is done?
//!
//! A message is followed from its delivery to its settlement along every path of the code that handles
//! it, through calls, by-reference flags, properties, captures, verdicts and `finally`:
//!
//! ```text
//! onShipment($message) {                    delivered
//!     $settled = false;                     $settled = false
//!     try { inner($message, $settled); }    inlined; `execute` fails: caught, `return false`
//!     finally { if (!$settled) ack(); }     $settled is still false: acked behind a failure
//! }                                         strand-on-throw, at the `return false`
//! ```
//!
//! Terms: a *root* is a function that is handed a message or takes one; *work* is what must not be lost;
//! a failure is *flying* while it is on its way out and *caught* once somebody swallowed it.
//!
//! Invariant: leaving without settling is redelivery and never a fault. What is not understood excuses
//! a path rather than condemns it.

mod call;
mod callable;
mod classify;
mod combinator;
mod explore;
mod fault;
mod forget;
mod give_up;
mod interest;
mod memory;
mod queue;
mod roots;
mod rvalue;
mod settings;
mod settle;
mod shape;
mod state;
mod unswept;
mod value;

use super::fact::{LoadFact, WriteFact};
use super::{Program, Resolved, Summary};
use crate::base::Span;
use crate::finding::{Confidence, StepRole};
use crate::ir::FuncRef;
use crate::model::{ColumnRules, MessageWords, Vocabulary};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the message rules look at.
#[derive(Debug)]
pub struct MessageInput<'a> {
    /// All files, joined.
    pub program: &'a Program<'a>,
    /// What the call sites of each function turned out to be.
    pub resolved: &'a BTreeMap<FuncRef, Resolved>,
    /// Summaries of all functions.
    pub summaries: &'a BTreeMap<FuncRef, Arc<Summary>>,
    /// Packs.
    pub vocabulary: &'a Vocabulary,
    /// Names that speak of messages.
    pub words: &'a MessageWords,
    /// All writes of the program.
    pub writes: &'a [&'a WriteFact],
    /// All loads of the program.
    pub loads: &'a [&'a LoadFact],
    /// Which columns are states.
    pub columns: &'a ColumnRules,
}

/// A message or row that is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageFault {
    /// What is wrong.
    pub kind: MessageFaultKind,
    /// Where the finding points.
    pub primary: Span,
    /// Strength of the evidence.
    pub confidence: Confidence,
    /// The function that holds the primary place.
    pub function: FuncRef,
    /// The witness as a timeline.
    pub steps: Vec<(StepRole, Span, String)>,
    /// The call that failed or settled too early, as the code names it; empty when unknown.
    pub call: String,
    /// The variable that holds the message; empty when unknown.
    pub message: String,
    /// The queue's name; empty when unknown.
    pub queue: String,
    /// Table of the row that is left behind; empty when unknown.
    pub table: String,
    /// Its state column; empty when unknown.
    pub column: String,
    /// The state that it is left in; empty when unknown.
    pub left: String,
}

/// Kinds of lost messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageFaultKind {
    /// The failure is swallowed or flies through, and the message is acknowledged by a call.
    StrandOnThrow,
    /// The failure is swallowed, and the framework acknowledges when the handler returns.
    SwallowedFailure,
    /// The message is acknowledged before its work is done.
    EarlyAck,
    /// A row is put into a state that only its worker leaves, and nobody looks for it.
    UnsweptState,
}

/// All faults of messages in the program, one for each kind and place, in order of place, and the
/// functions that have too many ways to be followed to the end.
pub fn find_message_faults(input: &MessageInput<'_>) -> (Vec<MessageFault>, Vec<FuncRef>) {
    let roots = roots::find(input);
    let mut found = fault::Found::default();
    let mut interests = interest::Interests::default();
    let mut given_up = Vec::new();
    for root in &roots {
        if root.can_lose(input, &mut interests)
            && !explore::explore(input, root, (&mut found, &mut interests))
        {
            given_up.push(root.func);
        }
    }
    settings::find(input, &roots, &mut found);
    unswept::find(input, &roots, &mut found);
    (found.finish(), given_up)
}
