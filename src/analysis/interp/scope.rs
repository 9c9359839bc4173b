//! Named scopes: a method of a model that adds conditions to a query of it, and is called without its
//! prefix on the model or on the query.
//!
//! ```text
//! public function scopePending(Builder $query) { $query->where('status', 'pending'); }
//!
//! Job::pending()->whereKey($id)->update(...)     guarded by what the scope says
//! ```

use super::Interp;
use super::call::Site;
use crate::analysis::object::ObjectKind;
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::Name;
use crate::ir::FuncRef;

impl Interp<'_> {
    /// The scope that a call on a model, or on a query of one, means.
    pub(super) fn scope_of(&self, state: &State, site: &Site<'_>) -> Option<FuncRef> {
        let class: Name = match &site.receiver {
            Value::Class(class) => class.clone(),
            receiver => match state.object(receiver).map(|it| &it.kind) {
                Some(ObjectKind::Query(query)) => query.table.model.clone()?,
                _ => return None,
            },
        };
        let fact = self.fact_of(&class)?;
        fact.scopes.iter().find_map(|prefix| {
            let method = format!("{prefix}{}", site.name);
            self.shared.program.method(&class, &method)
        })
    }

    /// Runs a scope on the query; what comes back is the query, whatever the method returns.
    pub(super) fn run_scope(&mut self, state: &mut State, site: &Site<'_>, at: FuncRef) -> Value {
        let root = self.query_of(state, site);
        self.record(state, site, &[at], Vec::new(), false, false);
        let args: Vec<Value> = std::iter::once(&root).chain(&site.args).cloned().collect();
        self.run_closure(state, at, &[], &args);
        root
    }
}
