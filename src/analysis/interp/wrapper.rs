//! Objects that hold a statement and hand calls on to it.
//!
//! ```text
//! struct Traced<Q> { query: Q, span: Span }
//! impl Traced<Query> { fn execute(self, on: E) { self.query.execute(Recorder::new(on, self.span)) } }
//!
//! sqlx::query("UPDATE ..").traced().execute(&pool)      runs the UPDATE on the pool
//! ```
//!
//! Which type of statement the wrapper holds only a type checker knows; its methods are those of what
//! they are named after, when nothing in their bodies was understood.

use super::Interp;
use super::call::{MAX_TARGETS, Site};
use crate::analysis::object::ObjectKind;
use crate::analysis::state::State;
use crate::analysis::summary::{Effect, Summary};
use crate::analysis::value::Value;
use crate::base::Language;
use crate::ir::{Callee, FuncRef};

impl Interp<'_> {
    /// The statement that a call on a wrapper is meant for.
    pub(super) fn wrapped_statement(&self, state: &State, site: &Site<'_>) -> Option<Value> {
        let is_method = matches!(site.call.callee, Callee::Method { .. });
        if !is_method || self.language != Language::Rust {
            return None;
        }
        let object = state.object(&site.receiver).filter(|it| it.kind == ObjectKind::Plain)?;
        let is_statement = |it: &&Value| {
            matches!(state.object(it).map(|it| &it.kind), Some(ObjectKind::Statement(_)))
        };
        let mut held = object.fields.values().map(|it| &it.value).filter(is_statement);
        let (Some(only), None) = (held.next(), held.next()) else { return None };
        let class = &object.ty.as_ref()?.name;
        let targets = self.shared.program.method_targets(class, &site.name, MAX_TARGETS);
        let hands_on = |at: &FuncRef| self.shared.store.summary(*at).is_none_or(|it| hands_on(&it));
        let meant =
            targets.iter().all(hands_on) && self.statement_pattern(&site.name, site).is_some();
        meant.then(|| only.clone())
    }
}

/// Whether all that is known of a method is that it runs what its object holds.
fn hands_on(summary: &Summary) -> bool {
    let reads = summary.effects.iter().any(|it| matches!(it, Effect::Load(_)));
    let held = |it: &Value| it.as_path().is_some_and(|(base, _)| *base == Value::This);
    summary.writes.is_empty() && !reads && summary.deferred.iter().all(|it| held(&it.text))
}
