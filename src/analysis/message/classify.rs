//! Classify: what a call means for the message: by the vocabulary's roles first, by names second.
//!
//! Names are evidence only where the receiver or an argument came from the message. A call that nothing
//! is known of is work that may fail, unless its name says that it only looks, tells or converts.

use super::explore::Explorer;
use super::value::{Kind, Tags, Value, Work};
use crate::analysis::CallSite;
use crate::base::{Name, last_segment};
use crate::ir::{Call, Callee, ClassRef, FuncRef};
use crate::model::{Access, HandlerVerdict, MessageRole, Role};

/// What a call means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Takes a message.
    Receive {
        destructive: bool,
    },
    Ack {
        weak: bool,
    },
    /// Gives the message back or parks it.
    GiveBack,
    /// Publishes something.
    Publish {
        weak: bool,
    },
    /// Cannot lose work.
    Harmless,
    /// Reads a text; a retry does not mend what it refuses.
    Parse,
    /// May fail, and then that much is lost.
    Work(Work),
    Begin,
    Commit,
    Rollback,
    /// Never returns.
    Abort,
    /// Runs functions of the program.
    Run(Vec<FuncRef>),
}

/// A call with its operands' values.
pub(super) struct Operands<'c> {
    pub(super) call: &'c Call,
    pub(super) site: Option<&'c CallSite>,
    pub(super) receiver: Option<Value>,
    pub(super) args: Vec<Value>,
    /// `this.log.error`, `Mail.to.send`.
    pub(super) name: Name,
}

impl Operands<'_> {
    /// The method's or function's own name.
    pub(super) fn short(&self) -> &str {
        match &self.call.callee {
            Callee::Method { name, .. } | Callee::Static { name, .. } => name,
            Callee::Function(name) | Callee::Macro(name) | Callee::New(ClassRef::Named(name)) => {
                last_segment(name)
            }
            Callee::New(_) | Callee::Value(_) | Callee::Unknown => "",
        }
    }

    pub(super) fn tags(&self) -> Tags {
        let values = self.receiver.iter().chain(&self.args);
        values.fold(Tags::default(), |all, it| all.with(it.tags))
    }

    /// Tags of the arguments alone.
    pub(super) fn arg_tags(&self) -> Tags {
        self.args.iter().fold(Tags::default(), |all, it| all.with(it.tags))
    }

    fn roles(&self) -> impl Iterator<Item = &Role> {
        self.site.iter().flat_map(|it| &it.roles).map(|it| &**it)
    }

    fn targets(&self) -> &[FuncRef] {
        self.site.map(|it| &it.targets[..]).unwrap_or_default()
    }
}

impl Explorer<'_, '_> {
    /// What the call means.
    pub(super) fn meaning(&mut self, operands: &Operands<'_>, is_caught: bool) -> Meaning {
        if let Some(found) = self.by_message_role(operands) {
            return found;
        }
        let mut targets: Vec<FuncRef> = self.runnable(operands.targets());
        if let (Callee::Value(_), Some(Kind::Closure(at, _))) =
            (&operands.call.callee, operands.receiver.as_ref().map(|it| &it.kind))
        {
            targets = self.runnable(&[*at]);
        }
        if !targets.is_empty() {
            if let Some(destructive) = self.delivers(&targets) {
                return Meaning::Receive { destructive };
            }
            let named = self.by_message_name(operands);
            // A job's own `close()` closes what the job is about.
            let by_hand = self.root.verdict == HandlerVerdict::Explicit;
            match named {
                Some(found @ Meaning::Ack { .. }) if by_hand => return found,
                Some(found @ Meaning::Receive { .. }) => return found,
                _ => (),
            }
            let input = self.input;
            // What is called about a failure decides what becomes of it.
            if !is_caught {
                targets.retain(|it| self.interests.is_worth_running(input, *it));
            }
            if !targets.is_empty() {
                return Meaning::Run(targets);
            }
        }
        let program = self.input.program;
        if operands.targets().iter().any(|it| !program.function(*it).is_abstract) {
            return self.dull(operands);
        }
        if self.calls_unknown(operands) {
            return Meaning::Work(Work::Unknown);
        }
        if let Some(found) = Self::by_row_role(operands) {
            return found;
        }
        self.by_message_name(operands).unwrap_or_else(|| self.by_name(operands))
    }

    /// Whether a generator hands out messages that it takes, and whether taking one removes it.
    fn delivers(&self, targets: &[FuncRef]) -> Option<bool> {
        let generators = targets.iter().filter(|it| self.input.program.function(**it).is_generator);
        let sites = generators
            .filter_map(|it| self.input.resolved.get(it))
            .flat_map(|it| it.calls.values())
            .filter(|it| !it.weak);
        sites.flat_map(|it| &it.roles).find_map(|it| match &**it {
            Role::Message(MessageRole::Receive { destructive, .. }) => Some(*destructive),
            _ => None,
        })
    }

    /// A function of the program that is not run in place.
    fn dull(&mut self, operands: &Operands<'_>) -> Meaning {
        let input = self.input;
        let durable = |it: &FuncRef| input.summaries.get(it).is_some_and(|it| it.durable);
        if operands.targets().iter().any(durable) {
            return Meaning::Work(Work::Durable);
        }
        let fails = operands.targets().iter().any(|it| self.interests.of(input, *it).fails);
        let words = self.input.words;
        let name = operands.short();
        let quiet = self.is_log(operands)
            || words.parse.matches(name)
            || words.harmless.has(name)
            || words.accessor.has_first_word(name);
        if fails && !quiet { Meaning::Work(Work::Unknown) } else { Meaning::Harmless }
    }

    /// Functions with a body that do not run already.
    fn runnable(&self, targets: &[FuncRef]) -> Vec<FuncRef> {
        if self.depth() + 1 >= super::explore::MAX_DEPTH {
            return Vec::new();
        }
        let program = self.input.program;
        let runs = |it: &FuncRef| !program.function(*it).is_abstract && !self.is_running(*it);
        targets.iter().copied().filter(runs).take(4).collect()
    }

    pub(super) fn is_running(&self, at: FuncRef) -> bool {
        self.frames.iter().any(|it| it.at == at)
    }

    fn by_message_role(&self, operands: &Operands<'_>) -> Option<Meaning> {
        let weak = operands.site.is_some_and(|it| it.weak);
        // An ack of something else is another message's.
        let blind = self.root.message_params.is_empty() && !self.root.receives;
        // `commit_consumer_state()`: of everything that was handed over.
        let of_all = self.root.receives
            && !weak
            && operands
                .roles()
                .any(|it| matches!(it, Role::Message(MessageRole::Ack { message: None })));
        let evident = operands.tags().of_message() || (blind && !weak) || of_all;
        let receiver = operands.receiver.as_ref().map(|it| it.tags).unwrap_or_default();
        if receiver.has(Tags::FAILURE) {
            return None;
        }
        let role = operands.roles().find_map(|it| match it {
            Role::Message(role) => Some(role),
            _ => None,
        })?;
        match role {
            MessageRole::Receive { destructive, .. } if !weak || self.root.weak => {
                Some(Meaning::Receive { destructive: *destructive })
            }
            // Where the framework settles, only the message itself can be settled by hand.
            MessageRole::Ack { .. } if self.root.verdict != HandlerVerdict::Explicit => {
                operands.tags().has(Tags::MESSAGE).then_some(Meaning::Ack { weak })
            }
            MessageRole::Ack { .. } if evident => Some(Meaning::Ack { weak }),
            MessageRole::Nack { .. } if evident && self.names_ack(operands) => {
                Some(Meaning::Ack { weak })
            }
            MessageRole::Nack { .. } if evident => Some(Meaning::GiveBack),
            MessageRole::Publish { .. } if evident => Some(Meaning::Publish { weak }),
            MessageRole::Register { .. } | MessageRole::AutoAck | MessageRole::Extend => {
                Some(Meaning::Harmless)
            }
            MessageRole::Ack { .. } | MessageRole::Nack { .. } if !weak => Some(Meaning::Harmless),
            MessageRole::Receive { .. }
            | MessageRole::Ack { .. }
            | MessageRole::Nack { .. }
            | MessageRole::Publish { .. } => None,
        }
    }

    /// `ack_with(AckKind::Ack)`: the argument says that it settles.
    fn names_ack(&self, operands: &Operands<'_>) -> bool {
        let is_ack =
            |it: &Value| matches!(&it.kind, Kind::Case(_, name) if self.input.words.ack.has(name));
        operands.args.iter().any(is_ack)
    }

    /// `call_user_func($callback, $message)`: what is called is not known.
    fn calls_unknown(&self, operands: &Operands<'_>) -> bool {
        let known = operands.site.is_some_and(|it| !it.callables.is_empty());
        self.throws()
            && !known
            && operands.roles().any(|role| match role {
                Role::CallWith { body: Access::Arg(idx, _), each: false, later: false, .. } => {
                    let body = operands.args.get(*idx as usize);
                    body.is_some_and(|it| matches!(it.kind, Kind::Symbol(_)))
                }
                _ => false,
            })
    }

    fn by_row_role(operands: &Operands<'_>) -> Option<Meaning> {
        let weak = operands.site.is_some_and(|it| it.weak);
        let mut known = None;
        for role in operands.roles() {
            let meaning = match role {
                Role::Update { .. }
                | Role::Insert { .. }
                | Role::Delete { .. }
                | Role::Save { .. }
                | Role::Flush
                | Role::Execute { .. }
                | Role::Transaction { .. }
                | Role::Statement(_) => Meaning::Work(Work::Durable),
                Role::Commit => Meaning::Commit,
                Role::Begin { .. } => Meaning::Begin,
                Role::Rollback => Meaning::Rollback,
                Role::Load { .. }
                | Role::Fetch { .. }
                | Role::Refresh { .. }
                | Role::LockRow { .. } => Meaning::Work(Work::Read),
                Role::Abort { when: None, .. } => Meaning::Abort,
                Role::CallWith { .. } | Role::Message(_) => continue,
                Role::Same { .. }
                | Role::Make { .. }
                | Role::Query { .. }
                | Role::Where { .. }
                | Role::Set { .. }
                | Role::Select { .. }
                | Role::LockRows { .. }
                | Role::Prepare { .. }
                | Role::Bind { .. }
                | Role::PushSql { .. }
                | Role::Count { .. }
                | Role::Expect { .. }
                | Role::Assign { .. }
                | Role::Read { .. }
                | Role::Check { .. }
                | Role::Acquire { .. }
                | Role::Release
                | Role::Expr { .. }
                | Role::Join { .. }
                | Role::Test { .. }
                | Role::Format { .. }
                | Role::Implode { .. }
                | Role::Keys { .. }
                | Role::Merge { .. }
                | Role::Log
                | Role::Abort { when: Some(_), .. }
                | Role::Engine(_) => Meaning::Harmless,
            };
            let stronger = match (&known, &meaning) {
                (None | Some(Meaning::Harmless), _) => true,
                (Some(Meaning::Work(old)), Meaning::Work(new)) => new > old,
                _ => false,
            };
            if stronger {
                known = Some(meaning);
            }
        }
        known.filter(|it| !weak || *it != Meaning::Harmless)
    }

    /// Home-grown words for what is done to a message.
    fn by_message_name(&self, operands: &Operands<'_>) -> Option<Meaning> {
        if matches!(operands.call.callee, Callee::New(_) | Callee::Macro(_)) {
            return None;
        }
        let words = self.input.words;
        let name = operands.short();
        let tags = operands.tags();
        if self.is_log(operands) {
            return None;
        }
        if words.load.has(name) && self.root.load_by_name.contains(&operands.call.name_span) {
            return Some(Meaning::Receive { destructive: false });
        }
        let is_receiver = operands.receiver.as_ref().is_some_and(|it| it.tags.has(Tags::MESSAGE));
        if words.next.has(name) && is_receiver && self.root.receives {
            return Some(Meaning::Receive { destructive: false });
        }
        // Where the framework settles, only the message itself can be settled by hand.
        let is_it = self.root.verdict == HandlerVerdict::Explicit || tags.has(Tags::MESSAGE);
        if words.ack.has(name) && tags.of_message() && is_it {
            return Some(Meaning::Ack { weak: true });
        }
        if words.weak_ack.has(name) && tags.has(Tags::MESSAGE) {
            return Some(Meaning::Ack { weak: true });
        }
        if tags.of_message() && self.gives_back(name) {
            return Some(Meaning::GiveBack);
        }
        let publishes = words.publish.has(name) && operands.arg_tags().of_message();
        (publishes && !is_receiver).then_some(Meaning::Publish { weak: true })
    }

    /// Whether the name says that a message is given back or a failure recorded.
    pub(super) fn gives_back(&self, name: &str) -> bool {
        let words = self.input.words;
        let says = words.give_back.has_first_word(name) || words.give_back_phrases.matches(name);
        let only_tells = words.general.courtesy_calls.matches(name);
        says && !only_tells && !words.accessor.has_first_word(name)
    }

    pub(super) fn is_log(&self, operands: &Operands<'_>) -> bool {
        let log = &self.input.words.general.log_calls;
        let receiver = operands.name.rsplit_once('.').map_or("", |it| it.0);
        let name = operands.short();
        if !matches!(operands.call.callee, Callee::Method { .. } | Callee::Static { .. }) {
            return log.matches(name);
        }
        // `publishNotice` publishes; `noticeOnce` tells.
        let snake = crate::base::snake_case(name);
        let first = snake.split('_').next().unwrap_or_default();
        log.matches(receiver) || log.matches(first) || snake.ends_with("_log")
    }

    fn by_name(&self, operands: &Operands<'_>) -> Meaning {
        let words = self.input.words;
        let name = operands.short();
        let about_message = operands.receiver.as_ref().is_some_and(|it| it.tags.has(Tags::MESSAGE));
        let quiet = match &operands.call.callee {
            Callee::New(_) | Callee::Macro(_) | Callee::Unknown => true,
            Callee::Function(name) => self.is_quiet_function(name),
            Callee::Method { .. } | Callee::Static { .. } | Callee::Value(_) => {
                about_message && !words.runs.has(name)
            }
        };
        if words.parse.matches(name) {
            return Meaning::Parse;
        }
        if !quiet && self.asks_elsewhere(operands) {
            return Meaning::Work(Work::Unknown);
        }
        if quiet
            || self.is_log(operands)
            || words.harmless.has(name)
            || words.accessor.has_first_word(name)
        {
            return Meaning::Harmless;
        }
        if self.is_courtesy(operands) {
            return Meaning::Work(Work::Courtesy);
        }
        Meaning::Work(Work::Unknown)
    }

    /// `$http->get($url)`: a request to another machine, however it is called.
    fn asks_elsewhere(&self, operands: &Operands<'_>) -> bool {
        let words = self.input.words;
        let receiver = operands.name.rsplit_once('.').map_or("", |it| it.0);
        let is_remote = receiver.split('.').any(|it| words.remote.has_first_or_last_word(it));
        is_remote && words.requests.has(operands.short()) && !operands.args.is_empty()
    }

    /// Whether the call only tells somebody, or empties a cache.
    pub(super) fn is_courtesy(&self, operands: &Operands<'_>) -> bool {
        let courtesy = &self.input.words.general.courtesy_calls;
        courtesy.matches(&operands.name) || courtesy.matches(operands.short())
    }

    /// Whether a plain function that the program does not define cannot lose work: one of the language
    /// itself, that tells what it could not do, or a constructor of a value.
    fn is_quiet_function(&self, name: &str) -> bool {
        if !self.throws() {
            return last_segment(name).starts_with(|it: char| it.is_uppercase());
        }
        !name.contains('\\') && !self.input.words.work.has_first_or_last_word(name)
    }
}
