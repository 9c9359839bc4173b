//! Forget: what of a state can nobody reach any more? When a function is left, the objects that it made
//! and kept to itself are dropped, so that paths which differ in nothing else become one.

use super::explore::{Explorer, Outcome};
use super::state::State;
use super::value::{Captured, Kind, Location, Symbol, Value};
use rustc_hash::FxHashSet;

impl Explorer<'_, '_> {
    /// Drops the fields of objects that no variable, static, field or result leads to.
    pub(super) fn forget_unreachable(&self, outcome: &Outcome, state: &mut State) {
        if state.fields.is_empty() {
            return;
        }
        let mut reached: FxHashSet<Symbol> = FxHashSet::default();
        let mut add = |value: &Value| self.reach(value, &mut reached);
        let (Outcome::Return(result) | Outcome::Throw(result)) = outcome;
        add(result);
        self.held.iter().for_each(&mut add);
        state.locals.values().chain(state.statics.values()).for_each(&mut add);
        for place in state.aliases.values() {
            if let Location::Field(symbol, _) = place {
                reached.insert(self.symbols.root(*symbol));
            }
        }
        loop {
            let before = reached.len();
            for ((symbol, _), value) in &state.fields {
                if reached.contains(&self.symbols.root(*symbol)) {
                    self.reach(value, &mut reached);
                }
            }
            if reached.len() == before {
                break;
            }
        }
        state.fields.retain(|(symbol, _), _| reached.contains(&self.symbols.root(*symbol)));
    }

    /// Adds the wholes that a value leads to.
    fn reach(&self, value: &Value, reached: &mut FxHashSet<Symbol>) {
        match &value.kind {
            Kind::Symbol(it) | Kind::Test(it, ..) => {
                reached.insert(self.symbols.root(*it));
            }
            Kind::Wrap(_, inner) => self.reach(inner, reached),
            Kind::Closure(_, captured) => {
                for it in captured {
                    match it {
                        Captured::Value(_, value) => self.reach(value, reached),
                        Captured::Place(_, Location::Field(symbol, _)) => {
                            reached.insert(self.symbols.root(*symbol));
                        }
                        Captured::Place(_, Location::Local(..) | Location::Static(_)) => (),
                    }
                }
            }
            Kind::Null
            | Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Str(_)
            | Kind::Case(..)
            | Kind::List(_) => (),
        }
    }
}
