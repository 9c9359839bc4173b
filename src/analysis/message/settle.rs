//! Settle: what becomes of a delivery: it is settled, given back, its work fails, the failure is caught,
//! thrown on or looked at, and the handler is left.
//!
//! Faults are decided when the delivery is over (the root is left, or the next message comes), because
//! what follows an ack may still show that it stood in the wrong place: an ack and then a requeue is an
//! `early-ack`, not a strand.

use super::MessageFaultKind;
use super::explore::{Explorer, Outcome, Site};
use super::fault::Report;
use super::state::{
    Caught, CaughtBy, Delivery, Failure, How, Path, Phase, Settled, State, Strand, Trace,
};
use super::value::{Kind, Origination, Symbol, Tags, Test, Value, Work, Wrapper};
use crate::base::{Span, last_segment};
use crate::finding::StepRole;
use crate::ir::{BlockId, CatchArm, Place};
use crate::model::HandlerVerdict;

impl Explorer<'_, '_> {
    /// The next message comes.
    pub(super) fn deliver(&mut self, path: &mut Path, span: Span, text: &str) {
        self.close(path);
        path.state.age_collections();
        let delivery = std::mem::take(&mut path.state.delivery);
        if let Some(settled) = delivery.settled.filter(Settled::is_bare)
            && delivery.failure.is_none()
            && !delivery.given_back
        {
            path.state.acked_before.get_or_insert(settled);
        }
        path.state.delivery.depth = self.depth();
        path.trace = Trace::default();
        path.trace.push(StepRole::Load, span, text);
        if let Some(setting) = path.state.auto_ack {
            self.settle(path, setting, (How::Auto, false), "no acknowledgement");
        }
    }

    /// A loop takes an element; of a list of messages it is the next message, unless it is the first.
    pub(super) fn note_element(&mut self, site: Site, place: &Place, path: &mut Path) {
        let Some(container) = Self::element_container(place) else { return };
        let list = self.load(&container, &path.state);
        if !list.tags.of_message() || self.root.verdict != HandlerVerdict::Explicit {
            return;
        }
        let key = self.site_key(site);
        if path.state.delivery.seen.contains(&key) {
            let seen = std::mem::take(&mut path.state.delivery.seen);
            self.deliver(path, site.span, "the next message is taken here");
            path.state.delivery.seen = seen;
        }
        path.state.delivery.seen.insert(key);
    }

    /// The message is acknowledged.
    pub(super) fn settle(
        &mut self,
        path: &mut Path,
        span: Span,
        (how, weak): (How, bool),
        name: &str,
    ) {
        let on_purpose = self.is_on_purpose(span) || self.was_tried_enough(path);
        let delivery = &path.state.delivery;
        if delivery.settled.is_some() || delivery.given_back {
            return;
        }
        let strand = self.strand(delivery, span, weak).filter(|_| !on_purpose);
        if strand.is_none() && delivery.caught().is_some() {
            path.state.delivery.failure = None;
        }
        let delivery = &mut path.state.delivery;
        let outer = self.frames.iter().rev().skip(1).rev().map(|it| it.span);
        delivery.settled = Some(Settled {
            span,
            calls: outer.chain([span]).collect(),
            how,
            worked: delivery.worked,
            in_transaction: delivery.in_transaction,
            weak,
            on_purpose,
        });
        delivery.strand = strand;
        let text = match how {
            How::Ack => format!("`{name}` acknowledges the message here"),
            How::Pop => format!("`{name}` removes the message from the queue"),
            How::Auto => format!("`{name}` lets the broker forget the message at hand-over"),
        };
        path.trace.push(StepRole::Ack, span, text);
    }

    /// Whether settling now strands the work.
    fn strand(&self, delivery: &Delivery, ack: Span, weak: bool) -> Option<Strand> {
        let failure = delivery.failure.as_ref().filter(|it| !it.late)?;
        let caught = match &failure.phase {
            Phase::Flying => {
                return Some(Strand { ack, flying: true, weak, in_arm: false });
            }
            Phase::Caught(caught) => caught,
        };
        let in_arm = caught.arm.is_some_and(|(depth, _)| !self.is_in_finally(depth));
        // A handler of one particular error that settles the message means it.
        let meant = in_arm && caught.by == CaughtBy::Narrow;
        (!meant).then_some(Strand { ack, flying: false, weak, in_arm })
    }

    /// Whether the function at that depth is in a `finally`.
    fn is_in_finally(&self, depth: u8) -> bool {
        self.frames.get(usize::from(depth)).is_some_and(|frame| {
            let cfg = &self.input.program.function(frame.at).cfg;
            cfg.blocks.get(frame.block).is_some_and(|it| it.in_finally)
        })
    }

    /// The message goes back to the queue, to a dead-letter queue, or a copy of it is published.
    pub(super) fn give_back(&mut self, path: &mut Path, span: Span, name: &str) {
        self.gives_back_somewhere = true;
        let text = format!("`{name}` gives the message back");
        let delivery = &path.state.delivery;
        let late = delivery.failure.as_ref().is_some_and(|it| it.late);
        let too_late = delivery.settled.as_ref().is_some_and(|it| {
            let lost = !it.worked || delivery.strand.is_some();
            it.how == How::Ack && !it.on_purpose && lost && !late && !delivery.given_back
        });
        path.trace.push(StepRole::Note, span, text);
        if too_late {
            self.report(path, MessageFaultKind::EarlyAck);
        }
        let delivery = &mut path.state.delivery;
        delivery.given_back = true;
        delivery.failure = None;
        delivery.strand = None;
    }

    /// The failure was dealt with in a way that loses nothing.
    pub(super) fn excuse(path: &mut Path) {
        if path.state.delivery.strand.is_none() {
            path.state.delivery.failure = None;
        }
    }

    /// Whether it matters here that a call fails.
    pub(super) fn matters(&self, work: Work, of_message: bool, state: &State) -> bool {
        let delivery = &state.delivery;
        if delivery.failure.is_some() || delivery.given_back || delivery.strand.is_some() {
            return false;
        }
        if work == Work::Courtesy && delivery.worked {
            return false;
        }
        match &delivery.settled {
            None => true,
            Some(it) => !it.worked && !it.on_purpose && of_message,
        }
    }

    /// A call fails.
    pub(super) fn fail(path: &mut Path, call: &Origination) {
        let late = path.state.delivery.settled.is_some();
        let text = match call.work {
            Work::Thrown => "an exception is thrown here".to_owned(),
            _ if call.name.is_empty() => "the call fails here".to_owned(),
            _ => format!("`{}` fails here", call.name),
        };
        path.trace = path.trace.without_failures();
        path.trace.push(StepRole::Throw, call.span, text);
        let failure = Failure {
            work: call.work,
            phase: Phase::Flying,
            late,
            depth: call.depth,
            site: call.site,
        };
        path.state.delivery.failure = Some(failure);
    }

    /// The same call runs again for the same message: what came of it before does not count.
    pub(super) fn try_again(path: &mut Path, site: u64) {
        let delivery = &mut path.state.delivery;
        let caught = delivery.caught().is_some() && delivery.strand.is_none();
        if caught && delivery.failure.as_ref().is_some_and(|it| it.site == site) {
            delivery.failure = None;
        }
    }

    /// A result turns out to be a failure.
    pub(super) fn materialize_failure(
        &mut self,
        symbol: Symbol,
        (test, holds): (&Test, bool),
        tags: Tags,
        path: &mut Path,
    ) {
        if *test != Test::Failed || !holds || !tags.has(Tags::RESULT) {
            return;
        }
        // One of several results failed when an element of them did.
        let whole = self.symbols.root(symbol);
        let call = [symbol, whole].iter().find_map(|it| self.symbols.info(*it).call.clone());
        let Some(call) = call else { return };
        let late = tags.has(Tags::LATE);
        let delivery = &path.state.delivery;
        let settled = delivery.settled.clone();
        let before = settled.filter(|it| !late && !it.on_purpose);
        if before.is_none() && !self.matters(call.work, tags.of_message(), &path.state)
            || delivery.failure.is_some()
            || delivery.given_back
        {
            return;
        }
        Self::fail(path, &call);
        if let Some(settled) = before
            && let Some(failure) = &mut path.state.delivery.failure
        {
            // The work had failed already; only nobody had looked when the message was settled.
            failure.late = false;
            let strand =
                Strand { ack: settled.span, flying: true, weak: settled.weak, in_arm: false };
            path.state.delivery.strand = Some(strand);
        }
    }

    /// A branch on a failed result swallows it, until it is returned.
    pub(super) fn enter_arm(&mut self, path: &mut Path, (to, span): (BlockId, Span)) {
        let depth = self.depth();
        if let Some(failure) = &mut path.state.delivery.failure
            && failure.phase == Phase::Flying
        {
            let caught = Caught {
                at: span,
                by: CaughtBy::Arm,
                arm: Some((depth, to)),
                exit: None,
                aside: false,
            };
            failure.phase = Phase::Caught(caught);
        }
    }

    /// A failed result is thrown away by a statement.
    pub(super) fn drop_failure(path: &mut Path, span: Span, what: &str) {
        if let Some(failure) = &mut path.state.delivery.failure
            && failure.phase == Phase::Flying
        {
            let caught =
                Caught { at: span, by: CaughtBy::Dropped, arm: None, exit: None, aside: false };
            failure.phase = Phase::Caught(caught);
            path.trace.push(StepRole::Catch, span, format!("the failure is dropped{what}"));
        }
    }

    /// A test that depends on a caught failure.
    pub(super) fn look_at_failure(
        &mut self,
        cond: &Value,
        (test, holds): (&Test, bool),
        path: &mut Path,
    ) {
        if !cond.tags.has(Tags::FAILURE) || *test == Test::Failed {
            return;
        }
        let permanent = match test {
            Test::Is(name) => holds && self.is_permanent(name),
            Test::Truthy | Test::Null | Test::Failed | Test::Number(_) => false,
        };
        let chosen = match test {
            Test::Is(name) => holds && !self.input.words.catch_all.has(name),
            Test::Truthy | Test::Null | Test::Failed | Test::Number(_) => false,
        };
        if chosen && let Some(caught) = path.state.delivery.caught_mut() {
            caught.aside = true;
            caught.by = CaughtBy::Narrow;
        }
        let behind = path.state.delivery.caught().is_some_and(|it| it.arm.is_none());
        if permanent || behind {
            Self::excuse(path);
        }
    }

    pub(super) fn is_permanent(&self, name: &str) -> bool {
        let words = self.input.words;
        let name = last_segment(name);
        words.general.permanent_errors.matches(name) || words.done_before.matches(name)
    }

    /// `break` or `continue`.
    pub(super) fn note_exit(&mut self, path: &mut Path, span: Span) {
        self.leave_arm(path, span, "the loop goes on from here");
    }

    fn leave_arm(&mut self, path: &mut Path, span: Span, text: &str) {
        let depth = self.depth();
        let Some(caught) = path.state.delivery.caught_mut() else { return };
        let here = caught.arm.is_some_and(|(at, _)| at == depth);
        if here && caught.exit.is_none() && span.start < span.end {
            caught.exit = Some(span);
            path.trace.push(StepRole::Exit, span, text);
        }
    }

    /// `return`: a failed result that is returned is on its way again.
    pub(super) fn note_return(&mut self, path: &mut Path, value: &Value, span: Span) {
        if self.is_failed(value, &path.state) {
            let stranded = path.state.delivery.strand.is_some();
            if let Some(failure) = &mut path.state.delivery.failure
                && !stranded
                && !matches!(&failure.phase, Phase::Caught(it) if it.by == CaughtBy::Dropped)
            {
                failure.phase = Phase::Flying;
            }
            return;
        }
        self.leave_arm(path, span, "the handler is left here");
    }

    /// Whether a value is a failed result.
    pub(super) fn is_failed(&self, value: &Value, state: &State) -> bool {
        match &value.kind {
            Kind::Wrap(Wrapper::Err, _) => true,
            Kind::Symbol(symbol) => {
                state.facts.get(&(*symbol, Test::Failed)) == Some(&true)
                    || (value.tags.has(Tags::FAILURE) && self.returns_result())
            }
            _ => false,
        }
    }

    fn returns_result(&self) -> bool {
        self.func().ret.as_ref().is_some_and(|it| last_segment(&it.name).ends_with("Result"))
    }

    /// `throw`.
    pub(super) fn note_throw(&mut self, path: &mut Path, value: &Value, span: Span) {
        if let Some(failure) = &mut path.state.delivery.failure {
            if failure.phase != Phase::Flying {
                failure.phase = Phase::Flying;
                path.trace.push(StepRole::Throw, span, "it is thrown on here");
            }
            return;
        }
        let class = value.as_symbol().and_then(|it| self.symbols.info(it).class.clone());
        let permanent = class.as_deref().is_some_and(|it| self.is_permanent(it));
        if !permanent && self.matters(Work::Thrown, true, &path.state) {
            let site = super::explore::mix((self.frame().key, self.frame().at, span));
            let depth = self.depth();
            let call = Origination { work: Work::Thrown, span, name: "".into(), depth, site };
            Self::fail(path, &call);
        }
    }

    /// Sends a caught exception to the arms that may take it.
    pub(super) fn dispatch(
        &mut self,
        exception: &Value,
        arms: &[CatchArm],
        uncaught: BlockId,
        (path, work): (Path, &mut Vec<(BlockId, Path)>),
    ) {
        for arm in arms {
            let takes = self.takes(arm, exception);
            if takes == Some(false) {
                continue;
            }
            let mut inside = path.clone();
            self.enter_catch(arm, &mut inside);
            self.go(arm.block, inside, work);
            if takes == Some(true) {
                return;
            }
        }
        self.go(uncaught, path, work);
    }

    fn is_wide(&self, arm: &CatchArm) -> bool {
        let wide = |name: &str| self.input.words.catch_all.has(last_segment(name));
        arm.types.is_empty() || arm.types.iter().any(|it| wide(&it.name))
    }

    /// Whether an arm takes the exception; none: perhaps.
    fn takes(&self, arm: &CatchArm, exception: &Value) -> Option<bool> {
        let info = exception.as_symbol().map(|it| self.symbols.info(it));
        let class = info.filter(|it| it.made).and_then(|it| it.class.as_deref());
        let Some(class) = class else { return self.is_wide(arm).then_some(true) };
        let program = self.input.program;
        Some(self.is_wide(arm) || arm.types.iter().any(|it| program.is_a(class, &it.name)))
    }

    fn enter_catch(&mut self, arm: &CatchArm, path: &mut Path) {
        let permanent =
            !arm.types.is_empty() && arm.types.iter().all(|it| self.is_permanent(&it.name));
        if permanent {
            Self::excuse(path);
            return;
        }
        let by = if self.is_wide(arm) { CaughtBy::Wide } else { CaughtBy::Narrow };
        let depth = self.depth();
        if let Some(failure) = &mut path.state.delivery.failure {
            let arm_at = Some((depth, arm.block));
            let caught = Caught { at: arm.span, by, arm: arm_at, exit: None, aside: false };
            failure.phase = Phase::Caught(caught);
            path.trace.push(StepRole::Catch, arm.span, "the failure is caught here");
        }
    }

    /// The handler is left.
    pub(super) fn leave_root(&mut self, outcome: &Outcome, path: &mut Path) {
        if let Outcome::Return(value) = outcome {
            self.return_from_root(value, path);
        }
        self.close(path);
    }

    fn return_from_root(&mut self, value: &Value, path: &mut Path) {
        let delivery = &path.state.delivery;
        match self.root.verdict {
            HandlerVerdict::Explicit => {
                let now = delivery.settled.as_ref().is_some_and(Settled::is_bare)
                    && delivery.failure.is_none()
                    && !delivery.given_back;
                let before = path.state.acked_before.clone().filter(|_| !now);
                let hands_out = (now || before.is_some())
                    && !self.is_failed(value, &path.state)
                    && self.root.receives
                    && !self.awaits_reply()
                    && (value.tags.of_message() || value.tags.has(Tags::EARLIER));
                let func = self.input.program.function(self.root.func);
                let denies = self.denies(func, &path.state.delivery);
                if hands_out {
                    if let Some(settled) = before {
                        let text = "the message is acknowledged here";
                        path.trace.push(StepRole::Ack, settled.span, text);
                        path.state.delivery =
                            Delivery { settled: Some(settled), ..Delivery::default() };
                    }
                    let text = "it is handed out to be worked on, and the queue has forgotten it";
                    path.trace.push(StepRole::Exit, func.name_span, text);
                    self.report(path, MessageFaultKind::EarlyAck);
                } else if denies {
                    let text = format!("`{}` is called to get the message again", func.short);
                    path.trace.push(StepRole::Exit, func.name_span, text);
                    self.denial.get_or_insert_with(|| path.clone());
                }
            }
            HandlerVerdict::AckOnReturn | HandlerVerdict::ByValue => {
                let swallowed = delivery.caught().is_some()
                    && delivery.settled.is_none()
                    && !delivery.given_back
                    && !self.hands_out_failures(value, &path.state)
                    && self.root.acks(value, self.is_failed(value, &path.state));
                if swallowed {
                    self.report(path, MessageFaultKind::SwallowedFailure);
                }
            }
        }
    }

    /// Whether the code waits for an answer to something that it has sent.
    fn awaits_reply(&self) -> bool {
        let name = &self.input.program.function(self.root.func).name;
        self.input.words.replies.matches(name)
    }

    /// Reports what depends on all paths. A function that is called to get the message again is at
    /// fault when it never does anything but settle it; a failure that flies through the ack is, when
    /// nobody gives the message back on any path.
    pub(super) fn report_rest(&mut self) {
        if let Some(path) = self.denial.take()
            && !self.gives_back_somewhere
        {
            self.report(&path, MessageFaultKind::EarlyAck);
        }
        for path in std::mem::take(&mut self.flown) {
            self.report(&path, MessageFaultKind::StrandOnThrow);
        }
    }

    /// Whether a function that is called to get the message again has settled it instead.
    fn denies(&self, func: &crate::ir::Function, delivery: &Delivery) -> bool {
        let only_settled = delivery
            .settled
            .as_ref()
            .is_some_and(|it| it.how == How::Ack && !it.worked && !it.on_purpose);
        only_settled
            && !delivery.worked
            && !delivery.given_back
            && delivery.failure.is_none()
            && self.input.words.redeliver.has(&func.short)
    }

    /// The delivery is over: decides what it came to.
    pub(super) fn close(&mut self, path: &mut Path) {
        let delivery = &path.state.delivery;
        if let (Some(strand), Some(_)) = (&delivery.strand, &delivery.failure) {
            if strand.flying {
                self.flown.push(path.clone());
            } else {
                self.report(path, MessageFaultKind::StrandOnThrow);
            }
            return;
        }
        let late = delivery.failure.as_ref().is_some_and(|it| it.late);
        if late && delivery.settled.as_ref().is_some_and(|it| !it.on_purpose) {
            self.report(path, MessageFaultKind::EarlyAck);
        }
    }

    fn report(&mut self, path: &Path, kind: MessageFaultKind) {
        let report = Report {
            kind,
            root: self.root,
            delivery: &path.state.delivery,
            others_give_back: self.gives_back_somewhere,
        };
        self.found.add(self.input, &report, path.trace.events());
    }

    /// Whether a comment beside the call, or the handler's own, accepts that messages are lost.
    fn is_on_purpose(&self, span: Span) -> bool {
        const NEAR: u32 = 80;
        let words = &self.input.words.general.at_most_once;
        let documented = |at| {
            let func = self.input.program.function(at);
            func.doc.as_deref().is_some_and(|it| words.matches(it))
        };
        if self.frames.iter().any(|it| documented(it.at)) {
            return true;
        }
        let comments = &self.input.program.file(span.source).comments;
        let behind = comments.partition_point(|it| it.span.start < span.start);
        let follows = comments.get(behind).is_some_and(|it| {
            it.span.start.saturating_sub(span.end) <= NEAR && words.matches(&it.text)
        });
        let mut edge = span.start;
        let mut text = String::new();
        for it in comments[..behind].iter().rev().take(8) {
            if edge.saturating_sub(it.span.end) > NEAR {
                break;
            }
            edge = it.span.start;
            text.insert_str(0, &it.text);
            text.insert(0, ' ');
        }
        follows || words.matches(&text)
    }

    /// Runs what happens when an object dies.
    pub(super) fn destroy(&mut self, value: &Value, span: Span, path: Path) -> Vec<Path> {
        let Some(destructor) = self.destructor(value) else { return vec![path] };
        if self.is_running(destructor) || self.depth() >= super::explore::MAX_DEPTH {
            return vec![path];
        }
        let key = super::explore::mix((self.frame().key, destructor, span));
        let mut path = path;
        let func = self.input.program.function(destructor);
        if let Some(receiver) = func.receiver() {
            let depth = self.depth() + 1;
            path.state.locals.insert((depth, receiver), value.clone());
        }
        self.run_function(destructor, key, path).into_iter().map(|(_, path)| path).collect()
    }

    /// The destructor of an object that was made here.
    pub(super) fn destructor(&self, value: &Value) -> Option<crate::ir::FuncRef> {
        let info = self.symbols.info(value.as_symbol()?);
        let class = info.class.as_deref().filter(|_| info.made)?;
        super::interest::destructor(self.input, class)
    }

    /// Whether something still holds an object when the running function is left.
    pub(super) fn outlives(&self, value: &Value, outcome: &Outcome, state: &State) -> bool {
        if self.destructor(value).is_none() {
            return true;
        }
        let Some(symbol) = value.as_symbol() else { return true };
        let (Outcome::Return(result) | Outcome::Throw(result)) = outcome;
        holds(result, symbol) || state.fields.values().any(|it| holds(it, symbol))
    }
}

/// Whether a value is that object or wraps it.
fn holds(value: &Value, symbol: Symbol) -> bool {
    match &value.kind {
        Kind::Symbol(it) => *it == symbol,
        Kind::Wrap(_, inner) => holds(inner, symbol),
        _ => false,
    }
}
