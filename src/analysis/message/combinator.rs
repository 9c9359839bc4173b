//! Combinator: calls of the language itself that make, pass on, drop or open results, options and
//! lists.

use super::call::Ways;
use super::classify::Operands;
use super::explore::{Explorer, Outcome, Site};
use super::memory::wrapper_of;
use super::rvalue::wrap;
use super::state::Path;
use super::value::{Kind, Location, Symbol, Tags, Test, Value, Wrapper};
use crate::base::last_segment;
use crate::ir::{Callee, ClassRef, Operand};

impl Explorer<'_, '_> {
    /// Handles the call when it is such a one; otherwise gives the path back.
    pub(super) fn language_call(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        mut path: Path,
    ) -> Result<Ways, Box<Path>> {
        if let Some(value) = constructor(operands) {
            return Ok(vec![(Outcome::Return(value), path)]);
        }
        let words = self.input.words;
        let name = operands.short();
        if words.count.has(name)
            && let Some(list) = operands.receiver.as_ref().or(operands.args.first())
        {
            let value = match list.kind {
                Kind::List(filled) => Value::of(Kind::Int(i64::from(filled))).tagged(list.tags),
                _ => self.fresh(site, Tags::default(), &mut path),
            };
            return Ok(vec![(Outcome::Return(value), path)]);
        }
        if words.timeouts.has(name)
            && let Some(inner) = operands.args.iter().rev().find(|it| it.tags.has(Tags::RESULT))
            && let Some(symbol) = inner.as_symbol()
        {
            return Ok(self.timeout_call(symbol, inner, path));
        }
        if self.is_new_collection(operands) {
            return Ok(vec![(Outcome::Return(Value::of(Kind::List(false))), path)]);
        }
        if words.collect.has(name)
            && operands.receiver.as_ref().is_some_and(|it| matches!(it.kind, Kind::List(_)))
        {
            let value = self.fresh(site, Tags::default(), &mut path);
            return Ok(vec![(Outcome::Return(value), path)]);
        }
        match &operands.receiver {
            Some(receiver) if !self.throws() && is_plain_method(operands) => {
                self.result_call(site, operands, receiver, path)
            }
            _ => Err(Box::new(path)),
        }
    }

    /// `timeout(limit, save())`: the result in time, or the failure of the wait.
    fn timeout_call(&mut self, symbol: Symbol, inner: &Value, path: Path) -> Ways {
        let mut late = path.clone();
        late.state.facts.insert((symbol, Test::Failed), true);
        self.materialize_failure(symbol, (&Test::Failed, true), inner.tags, &mut late);
        let elapsed = inner.clone().tagged(Tags::FAILURE);
        vec![
            (Outcome::Return(wrap(Wrapper::Ok, inner.clone())), path),
            (Outcome::Return(wrap(Wrapper::Err, elapsed)), late),
        ]
    }

    /// `Vec::new()`, `HashMap::with_capacity(8)`.
    fn is_new_collection(&self, operands: &Operands<'_>) -> bool {
        let Callee::Static { class: ClassRef::Named(class), name } = &operands.call.callee else {
            return false;
        };
        let makes = matches!(&**name, "new" | "with_capacity" | "default");
        makes && self.input.words.collections.has(last_segment(class))
    }

    fn result_call(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        receiver: &Value,
        mut path: Path,
    ) -> Result<Ways, Box<Path>> {
        let words = self.input.words;
        let name = operands.short();
        if words.takes.has(name) {
            self.take(operands, &mut path);
            return Ok(vec![(Outcome::Return(receiver.clone()), path)]);
        }
        if let Some((_, variant)) = words.variant_tests.iter().find(|(it, _)| it == name) {
            let value = self.variant_of(site, receiver, variant, &mut path);
            return Ok(vec![(Outcome::Return(value), path)]);
        }
        let is_result = match &receiver.kind {
            Kind::Wrap(..) | Kind::Null => true,
            Kind::Symbol(_) => receiver.tags.has(Tags::RESULT),
            _ => false,
        };
        if !is_result {
            return Err(Box::new(path));
        }
        if words.chains.has(name) && !self.callables(operands).is_empty() {
            return Ok(self.chain_call(site, operands, receiver, path));
        }
        if words.passes_failure.has(name) {
            return Ok(vec![(Outcome::Return(receiver.clone()), path)]);
        }
        if words.drops_failure.has(name) {
            return Ok(self.drop_call(site, operands, receiver, path));
        }
        if words.unwraps.has(name) {
            return Ok(self.unwrap_call(receiver, path));
        }
        Err(Box::new(path))
    }

    /// `store().and_then(|it| send(it))`: the callable runs behind a good result.
    fn chain_call(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        receiver: &Value,
        path: Path,
    ) -> Ways {
        let mut ways = Vec::new();
        for (inner, path) in self.both_ways(receiver, path) {
            match inner {
                Some(_) => ways.extend(self.run_callables(site, operands, None, path)),
                None => ways.push((Outcome::Return(receiver.clone()), path)),
            }
        }
        ways
    }

    /// `self.message.take()`: nothing stays behind.
    fn take(&mut self, operands: &Operands<'_>, path: &mut Path) {
        let Callee::Method { receiver: Operand::Local(local), .. } = &operands.call.callee else {
            return;
        };
        let shape = self.shape(self.frame().at);
        let location = match shape.source(*local) {
            Some(place) => self.slot_location(place, &path.state),
            None => Some(path.state.location(self.depth(), *local)),
        };
        if let Some(location) = location {
            path.state.write(location, Value::of(Kind::Null));
        }
    }

    /// A failed result becomes a default.
    fn drop_call(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        receiver: &Value,
        path: Path,
    ) -> Ways {
        let name = operands.short();
        let is_option = name == "ok";
        let mut ways = Vec::new();
        for (failed, mut path) in self.both_ways(receiver, path) {
            let value = match (failed, is_option) {
                (Some(inner), true) => wrap(Wrapper::Some, inner),
                (Some(inner), false) => inner,
                (None, true) => Value::of(Kind::Null).tagged(Tags::FAILURE),
                (None, false) => {
                    self.fresh(site, receiver.tags.of_part().with(Tags::FAILURE), &mut path)
                }
            };
            if value.tags.has(Tags::FAILURE) {
                Self::drop_failure(&mut path, site.span, &format!(" by `{name}`"));
            }
            ways.push((Outcome::Return(value), path));
        }
        ways
    }

    /// A failed result ends the task.
    fn unwrap_call(&mut self, receiver: &Value, path: Path) -> Ways {
        let mut ways = Vec::new();
        for (inner, path) in self.both_ways(receiver, path) {
            ways.push(match inner {
                Some(inner) => (Outcome::Return(inner), path),
                None => (Outcome::Throw(Value::of(Kind::Bool(true))), path),
            });
        }
        ways
    }

    /// The payload on the good way, none on the failed one.
    fn both_ways(&mut self, receiver: &Value, path: Path) -> Vec<(Option<Value>, Path)> {
        match &receiver.kind {
            Kind::Wrap(Wrapper::Err, _) | Kind::Null => vec![(None, path)],
            Kind::Wrap(_, inner) => vec![(Some((**inner).clone()), path)],
            Kind::Symbol(symbol) => self.symbol_ways(*symbol, receiver, path),
            _ => vec![(Some(receiver.clone()), path)],
        }
    }

    fn symbol_ways(
        &mut self,
        symbol: Symbol,
        receiver: &Value,
        path: Path,
    ) -> Vec<(Option<Value>, Path)> {
        let known = self.known(symbol, &Test::Failed, &path.state);
        let mut ways = Vec::new();
        if known != Some(true) {
            let mut good = path.clone();
            good.state.facts.insert((symbol, Test::Failed), false);
            ways.push((Some(receiver.clone()), good));
        }
        if known != Some(false) {
            let mut failed = path;
            failed.state.facts.insert((symbol, Test::Failed), true);
            let tags = receiver.tags;
            self.materialize_failure(symbol, (&Test::Failed, true), tags, &mut failed);
            if failed.state.delivery.failure.is_some() {
                ways.push((None, failed));
            }
        }
        ways
    }

    /// A collection takes on what is put into it.
    pub(super) fn collect(&mut self, operands: &Operands<'_>, path: &mut Path) {
        let tags = operands.arg_tags();
        if !self.input.words.collect.has(operands.short()) {
            return;
        }
        let (location, old) = match &operands.call.callee {
            Callee::Method { receiver: Operand::Local(local), .. } => {
                (self.origin_of(*local, path), operands.receiver.clone())
            }
            Callee::Function(_) => {
                let place = operands.call.args.first().and_then(|it| it.place.as_ref());
                let location = place.and_then(|it| self.slot_location(it, &path.state));
                (location, operands.args.first().cloned())
            }
            _ => (None, None),
        };
        if let (Some(location), Some(old)) = (location, old)
            && (tags != Tags::default() || matches!(old.kind, Kind::List(_)))
        {
            let kind = if matches!(old.kind, Kind::List(_)) { Kind::List(true) } else { old.kind };
            let tags = old.tags.with(tags.of_part());
            path.state.write(location, Value { kind, tags });
        }
    }

    /// Where a receiver is kept: in the variable itself, or where the temporary was read from.
    fn origin_of(&mut self, local: crate::ir::LocalId, path: &Path) -> Option<Location> {
        let shape = self.shape(self.frame().at);
        match shape.source(local) {
            Some(place) => self.slot_location(place, &path.state),
            None => Some(path.state.location(self.depth(), local)),
        }
    }
}

/// `Ok(x)`, `Err(x)`, `Some(x)`.
fn constructor(operands: &Operands<'_>) -> Option<Value> {
    let (Callee::Function(name) | Callee::Static { name, .. }) = &operands.call.callee else {
        return None;
    };
    let [inner] = &operands.args[..] else { return None };
    let wrapper = wrapper_of(name).filter(|_| last_segment(name) == &**name)?;
    Some(wrap(wrapper, inner.clone()))
}

/// A method call that the program does not define.
fn is_plain_method(operands: &Operands<'_>) -> bool {
    matches!(operands.call.callee, Callee::Method { .. })
        && operands.site.is_none_or(|it| it.targets.is_empty())
}
