//! Call: what a call does to a path: nothing, settling, failing, or running a function in place.

use super::classify::{Meaning, Operands};
use super::explore::{Explorer, Outcome, Site, mix};
use super::settings;
use super::state::{How, Path};
use super::value::{Captured, Kind, Location, Origin, Origination, Tags, Test, Value, Work};
use crate::base::{Name, Span};
use crate::ir::{Arg, Call, Callee, FuncRef, Function, FunctionKind, Operand, Param};
use crate::model::{MessageRole, Role};

/// The ways on behind a call.
pub(super) type Ways = Vec<(Outcome, Path)>;

impl<'a> Explorer<'a, '_> {
    pub(super) fn run_call(&mut self, site: Site, call: &'a Call, mut path: Path) -> Ways {
        let operands = self.operands(site, call, &path);
        self.collect(&operands, &mut path);
        self.note_setting(site, &operands, &mut path);
        let held = self.held.len();
        self.held.extend(operands.receiver.iter().chain(&operands.args).cloned());
        let ways = match self.language_call(site, &operands, path) {
            Ok(ways) => ways,
            Err(path) => self.run_meaning(site, &operands, *path),
        };
        self.held.truncate(held);
        let after = |(outcome, path)| self.after(site, call, outcome, path);
        ways.into_iter().flat_map(after).collect()
    }

    fn operands(&mut self, site: Site, call: &'a Call, path: &Path) -> Operands<'a> {
        let resolved = self.input.resolved;
        let at = self.frame().at;
        let found = resolved.get(&at).and_then(|it| it.calls.get(&(site.block, site.idx)));
        let receiver = match &call.callee {
            Callee::Method { receiver, .. } | Callee::Value(receiver) => {
                Some(self.operand(receiver, &path.state))
            }
            _ => None,
        };
        let args = call.args.iter().map(|it| self.operand(&it.value, &path.state)).collect();
        let name = self.shape(at).callee_name(self.func(), &call.callee);
        let name = name.unwrap_or_else(|| "".into());
        Operands { call, site: found, receiver, args, name }
    }

    /// A setting by which the broker forgets messages at hand-over.
    fn note_setting(&mut self, site: Site, operands: &Operands<'_>, path: &mut Path) {
        if let Some(span) = self.hand_over(site, operands) {
            path.state.auto_ack = Some(span);
        }
    }

    fn hand_over(&self, site: Site, operands: &Operands<'_>) -> Option<Span> {
        let call = (self.func(), operands.call, site.span);
        settings::hand_over(self.input, call, operands.site)
    }

    fn run_meaning(&mut self, site: Site, operands: &Operands<'_>, mut path: Path) -> Ways {
        if let Callee::New(class) = &operands.call.callee {
            return self.create(site, operands, class, path);
        }
        let short = operands.short();
        let is_caught = path.state.delivery.caught().is_some();
        let meaning = self.meaning(operands, is_caught);
        if is_caught && !matches!(meaning, Meaning::Run(_) | Meaning::Ack { .. }) {
            // Names suffice in a `catch`: whoever records a failure there does not lose it.
            if self.gives_back(short) && !self.is_log(operands) {
                self.give_back(&mut path, site.span, short);
                return self.done(site, operands, path);
            }
        }
        match meaning {
            // Nobody looks at what was taken: a list is trimmed, no message is handled.
            Meaning::Receive { .. } if operands.call.discarded => self.done(site, operands, path),
            Meaning::Receive { destructive } => {
                let destructive = destructive || self.hand_over(site, operands).is_some();
                let text = format!("`{short}` delivers a message");
                self.deliver(&mut path, site.span, &text);
                if destructive {
                    self.settle(&mut path, site.span, (How::Pop, false), short);
                }
                let message = self.fresh(site, Tags::MESSAGE, &mut path);
                vec![(Outcome::Return(message), path)]
            }
            Meaning::Ack { weak } => {
                self.settle(&mut path, site.span, (How::Ack, weak), short);
                self.done(site, operands, path)
            }
            Meaning::GiveBack => {
                self.give_back(&mut path, site.span, short);
                self.done(site, operands, path)
            }
            Meaning::Publish { weak } => self.publish(site, operands, weak, path),
            Meaning::Harmless | Meaning::Parse => self.run_callables(site, operands, None, path),
            Meaning::Begin => {
                path.state.delivery.in_transaction = true;
                self.done(site, operands, path)
            }
            Meaning::Rollback => {
                path.state.delivery.in_transaction = false;
                self.done(site, operands, path)
            }
            Meaning::Commit => self.commit(site, operands, path),
            Meaning::Abort => {
                let value = Value::of(Kind::Bool(true));
                self.note_throw(&mut path, &value, site.span);
                vec![(Outcome::Throw(value), path)]
            }
            Meaning::Work(work) => {
                if is_caught && self.hands_on_in_a_field(operands, &path.state) {
                    Self::excuse(&mut path);
                }
                let work = if self.is_notice(operands) { Work::Courtesy } else { work };
                self.run_callables(site, operands, Some(work), path)
            }
            Meaning::Run(targets) => self.run_targets(site, operands, &targets, &path),
        }
    }

    /// A call that cannot lose work is over.
    fn done(&mut self, site: Site, operands: &Operands<'_>, mut path: Path) -> Ways {
        let value = self.result(site, operands, &mut path);
        vec![(Outcome::Return(value), path)]
    }

    /// What an unknown call gives back.
    pub(super) fn result(&mut self, site: Site, operands: &Operands<'_>, path: &mut Path) -> Value {
        let is_same = operands
            .site
            .is_some_and(|it| it.roles.iter().any(|role| matches!(**role, Role::Same { .. })));
        let tags = if is_same { operands.tags() } else { operands.tags().of_part() };
        let mut tags = tags;
        if self.input.words.attempts.has(operands.short()) {
            tags = tags.with(Tags::ATTEMPTS);
        }
        let value = self.fresh(site, tags, path);
        let asks = tags.has(Tags::FAILURE) && self.is_permanent(operands.short());
        match value.as_symbol() {
            Some(symbol) if asks => {
                let test = Test::Is(operands.short().into());
                Value { kind: Kind::Test(symbol, test, true), tags }
            }
            _ => value,
        }
    }

    fn publish(&mut self, site: Site, operands: &Operands<'_>, weak: bool, mut path: Path) -> Ways {
        self.gives_back_somewhere = true;
        let delivery = &path.state.delivery;
        let is_copy = operands.tags().of_message() || operands.arg_tags().has(Tags::FAILURE);
        let behind_ack = !weak
            && delivery.settled.as_ref().is_some_and(|it| it.how == How::Ack)
            && (delivery.failure.is_none() || delivery.strand.is_some());
        if is_copy && (behind_ack || delivery.caught().is_some()) {
            self.give_back(&mut path, site.span, operands.short());
            return self.done(site, operands, path);
        }
        self.work(site, operands, (Work::Durable, is_copy), path)
    }

    fn commit(&mut self, site: Site, operands: &Operands<'_>, path: Path) -> Ways {
        let delivery = &path.state.delivery;
        let late = delivery.settled.as_ref().is_some_and(|it| it.in_transaction);
        let mut path = path;
        if let Some(settled) = &mut path.state.delivery.settled
            && late
        {
            // What was done before the ack becomes durable only now.
            settled.worked = false;
        }
        let mut ways = self.work(site, operands, (Work::Durable, late), path);
        for (outcome, path) in &mut ways {
            let delivery = &mut path.state.delivery;
            delivery.in_transaction = false;
            if let (Outcome::Return(_), Some(settled)) = (outcome, &mut delivery.settled) {
                settled.worked |= late;
            }
        }
        ways
    }

    /// A call that may fail: both ways.
    pub(super) fn work(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        (work, of_message): (Work, bool),
        mut path: Path,
    ) -> Ways {
        let mut ways = Vec::new();
        let name: Name = operands.short().into();
        let felt = if self.in_courtesy { Work::Courtesy } else { work };
        let (depth, key) = (self.depth(), self.site_key(site));
        let call = Origination { work: felt, span: site.span, name, depth, site: key };
        Self::try_again(&mut path, call.site);
        if self.throws() && self.matters(felt, of_message, &path.state) {
            let mut failing = path.clone();
            Self::fail(&mut failing, &call);
            let exception = self.exception(site, &mut failing);
            ways.push((Outcome::Throw(exception), failing));
        }
        let mut value = self.result(site, operands, &mut path);
        if path.state.delivery.settled.is_some() {
            value.tags = value.tags.with(Tags::LATE);
        }
        if of_message {
            value.tags = value.tags.with(Tags::DATA);
        }
        if let Some(symbol) = value.as_symbol()
            && !self.throws()
        {
            self.symbols.info_mut(symbol).call = Some(call);
            value.tags = value.tags.with(Tags::RESULT);
        }
        self.worked(operands, work, &mut path);
        ways.push((Outcome::Return(value), path));
        ways
    }

    fn worked(&mut self, operands: &Operands<'_>, work: Work, path: &mut Path) {
        let carries = operands.arg_tags().has(Tags::FAILURE);
        if matches!(work, Work::Durable | Work::Unknown)
            && let Some(caught) = path.state.delivery.caught_mut()
        {
            caught.aside |= caught.arm.is_none() && caught.exit.is_none();
        }
        let delivery = &mut path.state.delivery;
        let in_arm = delivery.caught().is_some_and(|it| it.arm.is_some());
        match work {
            Work::Durable => {
                delivery.worked = true;
                // The failure is stored: it has become data.
                if in_arm || carries {
                    Self::excuse(path);
                }
            }
            Work::Unknown | Work::Thrown => delivery.worked = true,
            Work::Read | Work::Courtesy => (),
        }
    }

    /// The exception that a failing call throws.
    fn exception(&mut self, site: Site, path: &mut Path) -> Value {
        let key = mix((self.site_key(site), "exception"));
        let symbol = self.symbols.intern(Origin::Site(key));
        self.forget(symbol, path);
        path.state.facts.insert((symbol, Test::Null), false);
        Value::symbol(symbol, Tags::FAILURE)
    }

    /// `new Job(...)`.
    fn create(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        class: &crate::ir::ClassRef,
        mut path: Path,
    ) -> Ways {
        let object = self.fresh(site, operands.arg_tags(), &mut path);
        self.held.push(object.clone());
        if let Some(symbol) = object.as_symbol() {
            let name = self.class_name(class);
            let info = self.symbols.info_mut(symbol);
            info.made = !name.is_empty();
            info.class = Some(name);
        }
        let targets = operands.site.map(|it| it.targets.clone()).unwrap_or_default();
        let runs =
            |it: &FuncRef| !self.is_running(*it) && self.depth() + 1 < super::explore::MAX_DEPTH;
        let Some(&target) = targets.first().filter(|it| runs(it)) else {
            return vec![(Outcome::Return(object), path)];
        };
        let with = Operands {
            call: operands.call,
            site: operands.site,
            receiver: Some(object.clone()),
            args: operands.args.clone(),
            name: operands.name.clone(),
        };
        let mut ways = self.run_targets(site, &with, &[target], &path);
        for (outcome, _) in &mut ways {
            if let Outcome::Return(value) = outcome {
                *value = object.clone();
            }
        }
        ways
    }

    /// Functions of the program run in place.
    fn run_targets(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        targets: &[FuncRef],
        path: &Path,
    ) -> Ways {
        let mut ways = Vec::new();
        let outer = self.in_courtesy;
        self.in_courtesy |= self.only_tells(operands);
        for &target in targets {
            let key = mix((self.site_key(site), target));
            let mut inner = path.clone();
            self.bind(operands, target, &mut inner);
            ways.extend(self.run_function(target, key, inner));
        }
        self.in_courtesy = outer;
        ways
    }

    /// Puts receiver, parameters and captures in place for a function that is called.
    fn bind(&mut self, operands: &Operands<'_>, target: FuncRef, path: &mut Path) {
        let func = self.input.program.function(target);
        let depth = self.depth() + 1;
        if let Some(receiver) = func.receiver() {
            let value = operands.receiver.clone().or_else(|| self.own_receiver(path));
            if let Some(value) = value {
                path.state.locals.insert((depth, receiver), value);
            }
        }
        self.bind_captures(operands, target, path);
        for (idx, param) in func.params.iter().enumerate() {
            let found = arg_of(operands.call, func, param, idx);
            let location = found.and_then(|(_, arg)| {
                let place = arg.place.as_ref().filter(|_| param.by_ref)?;
                self.slot_location(place, &path.state)
            });
            if let Some(location) = location {
                path.state.aliases.insert((depth, param.local), location);
                continue;
            }
            let value = match (found, &param.default) {
                (Some((at, _)), _) => operands.args[at].clone(),
                (None, Some(Operand::Const(it))) => self.constant(it),
                (None, _) => continue,
            };
            if param.promoted
                && let Some(object) = operands.receiver.as_ref().and_then(Value::as_symbol)
            {
                let field = Location::Field(object, param.name.clone());
                path.state.write(field, value.clone());
            }
            path.state.locals.insert((depth, param.local), value);
        }
    }

    /// The receiver of the running function, for `parent::run()`.
    fn own_receiver(&mut self, path: &Path) -> Option<Value> {
        let func = self.func();
        let this = func.receiver().or_else(|| {
            let is_this = |it: &&crate::ir::Capture| {
                func.locals.get(it.inner).is_some_and(|it| &*it.name == "this")
            };
            func.captures.iter().find(is_this).map(|it| it.inner)
        })?;
        Some(self.read_local(this, &path.state))
    }

    fn bind_captures(&mut self, operands: &Operands<'_>, target: FuncRef, path: &mut Path) {
        let depth = self.depth() + 1;
        let values = operands.receiver.iter().chain(&operands.args);
        let captured = values.into_iter().find_map(|it| match &it.kind {
            Kind::Closure(at, captured) if *at == target => Some(captured.clone()),
            _ => None,
        });
        for it in captured.into_iter().flatten() {
            match it {
                Captured::Value(local, value) => {
                    path.state.locals.insert((depth, local), value);
                }
                Captured::Place(local, place) => {
                    let alive = match &place {
                        Location::Local(at, _) => *at < depth,
                        Location::Field(..) | Location::Static(_) => true,
                    };
                    if alive {
                        path.state.aliases.insert((depth, local), place);
                    }
                }
            }
        }
    }

    /// Callables that are handed over run inside the call; then the call's own meaning counts.
    pub(super) fn run_callables(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        work: Option<Work>,
        path: Path,
    ) -> Ways {
        let callables = self.callables(operands);
        if callables.is_empty() {
            return self.finish_call(site, operands, work, path);
        }
        let (later, gives) = manner(operands);
        let mut ways = Vec::new();
        let mut paths = vec![path];
        let mut last = None;
        for target in callables {
            let mut next = Vec::new();
            for path in paths {
                let key = mix((self.site_key(site), target));
                let mut inner = path.clone();
                self.bind_callable(operands, target, &mut inner);
                for (outcome, mut path) in self.run_function(target, key, inner) {
                    match outcome {
                        Outcome::Throw(value) if !later => {
                            ways.push((Outcome::Throw(value), path));
                        }
                        Outcome::Throw(_) => {
                            Self::drop_failure(&mut path, site.span, " with its task");
                            next.push(path);
                        }
                        Outcome::Return(value) => {
                            last = Some(value);
                            next.push(path);
                        }
                    }
                }
            }
            paths = next;
        }
        let gives = gives || self.input.words.chains.has(operands.short());
        // The handle of a task stands for its result.
        let last = last.filter(|it| {
            let of_task = later && !self.throws() && it.tags.has(Tags::RESULT);
            of_task || (gives && !later)
        });
        for path in paths {
            for (outcome, path) in self.finish_call(site, operands, work, path) {
                let outcome = match (outcome, &last) {
                    (Outcome::Return(_), Some(value)) => Outcome::Return(value.clone()),
                    (outcome, _) => outcome,
                };
                ways.push((outcome, path));
            }
        }
        ways
    }

    fn finish_call(
        &mut self,
        site: Site,
        operands: &Operands<'_>,
        work: Option<Work>,
        path: Path,
    ) -> Ways {
        match work {
            Some(work) => {
                let popped =
                    path.state.delivery.settled.as_ref().is_some_and(|it| it.how != How::Ack);
                let durable = work == Work::Durable && !popped;
                let of_message = operands.tags().of_message() || durable;
                self.work(site, operands, (work, of_message), path)
            }
            None => self.done(site, operands, path),
        }
    }

    /// Callables that run inside the call.
    pub(super) fn callables(&self, operands: &Operands<'_>) -> Vec<FuncRef> {
        let Some(site) = operands.site else { return Vec::new() };
        let registers =
            site.roles.iter().any(|it| matches!(**it, Role::Message(MessageRole::Register { .. })));
        if registers || self.depth() + 1 >= super::explore::MAX_DEPTH {
            return Vec::new();
        }
        site.callables.iter().copied().filter(|it| !self.is_running(*it)).take(3).collect()
    }

    fn bind_callable(&mut self, operands: &Operands<'_>, target: FuncRef, path: &mut Path) {
        let func = self.input.program.function(target);
        let depth = self.depth() + 1;
        if func.kind == FunctionKind::Method
            && let (Some(local), Some(value)) = (func.receiver(), self.own_receiver(path))
        {
            path.state.locals.insert((depth, local), value);
        }
        self.bind_captures(operands, target, path);
        let tags = operands.tags().of_part().without(Tags::FAILURE);
        for (idx, param) in func.params.iter().enumerate() {
            let origin = Origin::Unset(mix((self.frame().key, target, idx)), param.local);
            let symbol = self.symbols.intern(origin);
            path.state.locals.insert((depth, param.local), Value::symbol(symbol, tags));
        }
    }

    /// What becomes of the result.
    fn after(&mut self, site: Site, call: &Call, outcome: Outcome, mut path: Path) -> Ways {
        let Outcome::Return(value) = &outcome else { return vec![(outcome, path)] };
        if self.throws() || !call.discarded {
            return vec![(outcome, path)];
        }
        if self.is_failed(value, &path.state) {
            Self::drop_failure(&mut path, site.span, "");
            return vec![(outcome, path)];
        }
        let Some(symbol) = value.as_symbol().filter(|_| self.is_underscore(call)) else {
            return vec![(outcome, path)];
        };
        let mut failing = path.clone();
        failing.state.facts.insert((symbol, Test::Failed), true);
        self.materialize_failure(symbol, (&Test::Failed, true), value.tags, &mut failing);
        if failing.state.delivery.is_flying() && failing.state.delivery.strand.is_none() {
            Self::drop_failure(&mut failing, site.span, "");
            return vec![(outcome.clone(), failing), (outcome, path)];
        }
        vec![(outcome, path)]
    }

    /// `let _ = call()`: a result is thrown away on purpose.
    fn is_underscore(&self, call: &Call) -> bool {
        self.func().locals.get(call.dest).is_some_and(|it| &*it.name == "_")
    }
}

/// Whether the callable runs later, and whether its result is the call's.
fn manner(operands: &Operands<'_>) -> (bool, bool) {
    let roles = operands.site.iter().flat_map(|it| &it.roles);
    let mut out = (false, false);
    for role in roles {
        match &**role {
            Role::CallWith { later, each, gives, .. } => {
                out = (*later, !*each && gives.is_none());
            }
            Role::Transaction { .. } => out = (false, true),
            _ => (),
        }
    }
    out
}

/// The argument for a parameter, and its position.
fn arg_of<'c>(
    call: &'c Call,
    func: &Function,
    param: &Param,
    idx: usize,
) -> Option<(usize, &'c Arg)> {
    let named = call.args.iter().position(|it| it.name.as_deref() == Some(&*param.name));
    let at = named.unwrap_or(idx);
    let arg = call.args.get(at)?;
    let unnamed = named.is_some() || arg.name.is_none();
    let spread = call.args.iter().take(at + 1).any(|it| it.spread);
    (unnamed && !spread && !(param.variadic && func.params.len() < call.args.len()))
        .then_some((at, arg))
}
