//! Explore: runs a root along every path, each state of each block once.
//!
//! A call of the program's own functions is run in place, a few levels deep; a call that may fail goes
//! both ways. The budget bounds the whole: a root that is too branchy is given up, and that is told.

use super::MessageInput;
use super::fault::Found;
use super::interest::Interests;
use super::roots::Root;
use super::shape::Shape;
use super::state::{CaughtBy, How, Path, State, Trace};
use super::value::{Kind, Origin, Symbols, Tags, Test, Value};
use crate::base::Span;
use crate::finding::StepRole;
use crate::ir::{BlockId, FuncRef, Function, Instr, InstrKind, LocalId, Place, Rvalue, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Blocks that one root may visit, in all its callees together.
const MAX_BLOCKS: u32 = 8_000;
/// Paths that leave one call in different states.
const MAX_EXITS: usize = 48;
/// Paths side by side in one block.
const MAX_PATHS: usize = 48;
/// Functions within one another.
pub(super) const MAX_DEPTH: u8 = 5;

/// One root under exploration.
pub(super) struct Explorer<'a, 'i> {
    pub(super) input: &'i MessageInput<'a>,
    pub(super) root: &'i Root,
    pub(super) symbols: Symbols,
    pub(super) frames: Vec<Frame>,
    pub(super) found: &'i mut Found,
    shapes: FxHashMap<FuncRef, Rc<Shape>>,
    pub(super) interests: &'i mut Interests,
    /// Some path gives the message back.
    pub(super) gives_back_somewhere: bool,
    /// A path on which a function that should give the message back settled it.
    pub(super) denial: Option<Path>,
    /// Paths on which a failure flew through the ack.
    pub(super) flown: Vec<Path>,
    blocks_left: u32,
    /// What runs is a courtesy: somebody is told, a cache is emptied.
    pub(super) in_courtesy: bool,
    /// Values that calls on the way hold: receivers and arguments.
    pub(super) held: Vec<Value>,
}

/// A function that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) at: FuncRef,
    /// The call path that led here.
    pub(super) key: u64,
    /// The block that runs.
    pub(super) block: BlockId,
    /// The instruction that runs: the call, where a function is run inside it.
    pub(super) span: Span,
}

/// How a call ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    Return(Value),
    Throw(Value),
}

/// An instruction of the running function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) block: BlockId,
    pub(super) idx: u32,
    pub(super) span: Span,
}

/// Explores `root` and adds what it finds. False: the budget ran out before all paths were seen.
pub(super) fn explore(
    input: &MessageInput<'_>,
    root: &Root,
    (found, interests): (&mut Found, &mut Interests),
) -> bool {
    let mut explorer = Explorer {
        input,
        root,
        symbols: Symbols::default(),
        frames: Vec::new(),
        found,
        shapes: FxHashMap::default(),
        interests,
        gives_back_somewhere: false,
        denial: None,
        flown: Vec::new(),
        blocks_left: MAX_BLOCKS,
        in_courtesy: false,
        held: Vec::new(),
    };
    let path = explorer.enter_root();
    let exits = explorer.run_function(root.func, 0, path);
    for (outcome, mut path) in exits {
        explorer.leave_root(&outcome, &mut path);
    }
    explorer.report_rest();
    explorer.blocks_left > 0
}

/// Whether a block lies behind an arm: it can be reached without it, or, for a `catch`, was made before
/// it (when the `try` is always left otherwise, only the arm leads there).
fn is_behind(by: CaughtBy, arm: BlockId, to: BlockId, shape: &Shape) -> bool {
    let made_before = match by {
        CaughtBy::Wide | CaughtBy::Narrow => to.0 < arm.0,
        CaughtBy::Arm | CaughtBy::Dropped => false,
    };
    made_before || !shape.dominates(arm, to)
}

/// A stable number for a place on a call path.
pub(super) fn mix(parts: impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

impl<'a> Explorer<'a, '_> {
    fn enter_root(&mut self) -> Path {
        let func = self.input.program.function(self.root.func);
        let mut path = Path { state: State::default(), trace: Trace::default() };
        if let Some(receiver) = func.receiver() {
            let this = self.symbols.intern(Origin::This);
            self.symbols.info_mut(this).class.clone_from(&func.class);
            let tags = if self.root.this_is_message { Tags::MESSAGE } else { Tags::default() };
            path.state.locals.insert((0, receiver), Value::symbol(this, tags));
        }
        for (idx, param) in func.params.iter().enumerate() {
            let number = u32::try_from(idx).unwrap_or(u32::MAX);
            let symbol = self.symbols.intern(Origin::Param(number));
            if let Some(ty) = &param.ty {
                self.symbols.info_mut(symbol).class = Some(ty.name.clone());
            }
            let is_message = self.root.message_params.contains(&number);
            let tags = if is_message { Tags::MESSAGE } else { Tags::default() };
            path.state.locals.insert((0, param.local), Value::symbol(symbol, tags));
            if is_message {
                let text = format!("`{}` is delivered here", param.name);
                path.trace.push(StepRole::Load, func.name_span, text);
            }
        }
        self.enter_captures(func, &mut path);
        if self.root.message_params.is_empty() && !self.root.receives {
            path.trace.push(StepRole::Load, func.name_span, "the job is delivered here");
        }
        if let Some(setting) = self.root.auto_ack {
            self.settle(&mut path, setting, (How::Auto, false), "no acknowledgement");
        }
        path
    }

    /// What a registered closure captured is not known, but for the receiver.
    fn enter_captures(&mut self, func: &Function, path: &mut Path) {
        for capture in &func.captures {
            let name = func.locals.get(capture.inner).map(|it| it.name.clone());
            let is_this = name.as_deref().is_some_and(|it| matches!(it, "this" | "self"));
            let origin = if is_this { Origin::This } else { Origin::Unset(0, capture.inner) };
            let symbol = self.symbols.intern(origin);
            if is_this {
                self.symbols.info_mut(symbol).class.clone_from(&func.class);
            }
            path.state.locals.insert((0, capture.inner), Value::symbol(symbol, Tags::default()));
        }
    }

    pub(super) fn depth(&self) -> u8 {
        u8::try_from(self.frames.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// The function that runs; the root when it was left.
    pub(super) fn frame(&self) -> Frame {
        let root = self.root.func;
        let span = self.input.program.function(root).span;
        let root = Frame { at: root, key: 0, block: crate::ir::Cfg::ENTRY, span };
        self.frames.last().copied().unwrap_or(root)
    }

    pub(super) fn func(&self) -> &'a Function {
        self.input.program.function(self.frame().at)
    }

    /// Whether failures travel as exceptions here, and not as results.
    pub(super) fn throws(&self) -> bool {
        self.input.program.language(self.frame().at).throws()
    }

    pub(super) fn shape(&mut self, at: FuncRef) -> Rc<Shape> {
        let program = self.input.program;
        let make = || Rc::new(Shape::of(program.function(at), program.functions_of(at.source)));
        self.shapes.entry(at).or_insert_with(make).clone()
    }

    /// A number for an instruction on this call path.
    pub(super) fn site_key(&self, site: Site) -> u64 {
        mix((self.frame().key, self.frame().at, site.block, site.idx))
    }

    /// Runs a function whose parameters are in place at the next depth; gives the ways out.
    pub(super) fn run_function(
        &mut self,
        at: FuncRef,
        key: u64,
        path: Path,
    ) -> Vec<(Outcome, Path)> {
        let span = self.input.program.function(at).span;
        self.frames.push(Frame { at, key, block: crate::ir::Cfg::ENTRY, span });
        let mut work = vec![(crate::ir::Cfg::ENTRY, path)];
        let mut seen: FxHashSet<(BlockId, State)> = FxHashSet::default();
        let mut exits: Vec<(Outcome, Path)> = Vec::new();
        while let Some((block, mut path)) = work.pop() {
            if self.blocks_left == 0 {
                break;
            }
            self.prune(&mut path.state, block);
            if !seen.insert((block, path.state.clone())) {
                continue;
            }
            self.blocks_left -= 1;
            self.run_block(block, path, &mut work, &mut exits);
        }
        let mut out = Vec::new();
        let mut left: FxHashSet<(Outcome, State)> = FxHashSet::default();
        for (outcome, path) in exits {
            for (outcome, mut path) in self.end_scope(&outcome, path) {
                path.state.leave(self.depth());
                self.forget_unreachable(&outcome, &mut path.state);
                let is_new = left.insert((outcome.clone(), path.state.clone()));
                if is_new && out.len() < MAX_EXITS {
                    out.push((outcome, path));
                }
            }
        }
        self.frames.pop();
        if self.blocks_left == 0 { Vec::new() } else { out }
    }

    /// Forgets variables that nobody reads any more, and what was known of them.
    fn prune(&mut self, state: &mut State, block: BlockId) {
        let depth = self.depth();
        let shape = self.shape(self.frame().at);
        let receiver = self.func().receiver();
        let dead: Vec<(u8, LocalId)> = state
            .locals
            .range((depth, LocalId(0))..=(depth, LocalId(u32::MAX)))
            .filter(|((_, local), value)| {
                !shape.is_live(block, *local)
                    && Some(*local) != receiver
                    && self.destructor(value).is_none()
            })
            .map(|(key, _)| *key)
            .collect();
        for key in dead {
            state.locals.remove(&key);
        }
        if state.facts.is_empty() {
            return;
        }
        let symbols = &self.symbols;
        let mut roots: FxHashSet<super::value::Symbol> = FxHashSet::default();
        for value in state.locals.values().chain(state.fields.values()) {
            if let Kind::Symbol(it) | Kind::Test(it, ..) = &value.kind {
                roots.insert(*it);
                roots.insert(symbols.root(*it));
            }
        }
        state.facts.retain(|(symbol, _), _| {
            roots.contains(symbol) || roots.contains(&symbols.root(*symbol))
        });
    }

    fn run_block(
        &mut self,
        id: BlockId,
        path: Path,
        work: &mut Vec<(BlockId, Path)>,
        exits: &mut Vec<(Outcome, Path)>,
    ) {
        if let Some(frame) = self.frames.last_mut() {
            frame.block = id;
        }
        let block = &self.func().cfg.blocks[id];
        let mut paths = vec![path];
        let mut thrown = Vec::new();
        for (idx, instr) in block.instrs.iter().enumerate() {
            let idx = u32::try_from(idx).unwrap_or(u32::MAX);
            let site = Site { block: id, idx, span: instr.span };
            if let Some(frame) = self.frames.last_mut() {
                frame.span = instr.span;
            }
            let mut next = Vec::new();
            for path in paths {
                self.run_instr(site, instr, path, &mut next, &mut thrown);
            }
            next.truncate(MAX_PATHS);
            paths = next;
        }
        for mut path in paths {
            if let Some(span) = block.exit {
                self.note_exit(&mut path, span);
            }
            self.run_terminator(id, path, work, exits, &mut thrown);
        }
        for (path, value) in thrown {
            self.throw(id, path, value, work, exits);
        }
    }

    fn run_instr(
        &mut self,
        site: Site,
        instr: &'a Instr,
        mut path: Path,
        out: &mut Vec<Path>,
        thrown: &mut Vec<(Path, Value)>,
    ) {
        match &instr.kind {
            InstrKind::Assign(_, Rvalue::Load(from)) if self.is_empty_list(from, &path) => (),
            InstrKind::Assign(place, value) => {
                let value = self.evaluate(site, value, &mut path);
                self.assign(place, value, &mut path);
                out.push(path);
            }
            InstrKind::Drop(local) => {
                self.hand_on_failure(site.block, &mut path);
                let value = self.read_local(*local, &path.state);
                self.set_local(*local, Value::of(Kind::Null), &mut path.state);
                out.extend(self.destroy(&value, site.span, path));
            }
            InstrKind::Call(call) => {
                for (outcome, mut path) in self.run_call(site, call, path) {
                    match outcome {
                        Outcome::Return(value) => {
                            self.set_local(call.dest, value, &mut path.state);
                            out.push(path);
                        }
                        Outcome::Throw(value) => thrown.push((path, value)),
                    }
                }
            }
        }
    }

    /// A loop over a list that has no element is not entered.
    fn is_empty_list(&mut self, place: &Place, path: &Path) -> bool {
        Self::element_container(place)
            .is_some_and(|it| self.load(&it, &path.state).kind == Kind::List(false))
    }

    fn run_terminator(
        &mut self,
        id: BlockId,
        mut path: Path,
        work: &mut Vec<(BlockId, Path)>,
        exits: &mut Vec<(Outcome, Path)>,
        thrown: &mut Vec<(Path, Value)>,
    ) {
        match &self.func().cfg.blocks[id].term {
            Terminator::Goto(to) => self.go(*to, path, work),
            Terminator::Multi(targets) => {
                for &to in targets {
                    self.go(to, path.clone(), work);
                }
            }
            Terminator::Branch { cond, then, otherwise, span } => {
                let cond = self.operand(cond, &path.state);
                for (truth, to) in [(true, *then), (false, *otherwise)] {
                    if let Some(path) = self.assume(&cond, truth, path.clone(), (to, *span)) {
                        self.go(to, path, work);
                    }
                }
            }
            Terminator::Catch { value, arms, uncaught } => {
                let exception = self.read_local(*value, &path.state);
                self.dispatch(&exception, arms, *uncaught, (path, work));
            }
            Terminator::Return { value, span } => {
                let value = value
                    .as_ref()
                    .map_or(Value::of(Kind::Null), |it| self.operand(it, &path.state));
                self.note_return(&mut path, &value, *span);
                exits.push((Outcome::Return(value), path));
            }
            Terminator::Throw { value, span } => {
                let value = value.as_ref().map(|it| self.operand(it, &path.state));
                let value = value.unwrap_or_else(|| Value::of(Kind::Bool(true)));
                self.note_throw(&mut path, &value, *span);
                thrown.push((path, value));
            }
            Terminator::Exit { .. } | Terminator::Unreachable => (),
        }
    }

    /// Goes to a block of the running function.
    pub(super) fn go(&mut self, to: BlockId, mut path: Path, work: &mut Vec<(BlockId, Path)>) {
        let depth = self.depth();
        let shape = self.shape(self.frame().at);
        if let Some(caught) = path.state.delivery.caught_mut()
            && let Some((at, arm)) = caught.arm
            && at == depth
            && is_behind(caught.by, arm, to, &shape)
        {
            caught.arm = None;
        }
        work.push((to, path));
    }

    /// An exception leaves the block.
    fn throw(
        &mut self,
        id: BlockId,
        mut path: Path,
        value: Value,
        work: &mut Vec<(BlockId, Path)>,
        exits: &mut Vec<(Outcome, Path)>,
    ) {
        match self.func().cfg.blocks[id].handler {
            Some(handler) => {
                self.set_local(handler.value, value, &mut path.state);
                self.go(handler.block, path, work);
            }
            None => exits.push((Outcome::Throw(value), path)),
        }
    }

    /// Takes a branch, when what is known allows it.
    fn assume(
        &mut self,
        cond: &Value,
        truth: bool,
        mut path: Path,
        (to, span): (BlockId, Span),
    ) -> Option<Path> {
        let (symbol, test, polarity) = match &cond.kind {
            Kind::Test(symbol, test, polarity) => (*symbol, test.clone(), *polarity),
            Kind::Symbol(symbol) => (*symbol, Test::Truthy, true),
            _ => {
                let taken = cond.truth() == Some(truth);
                // The only constants that carry a failure are tests of a failed result.
                if taken && cond.tags.has(Tags::FAILURE) && !self.throws() {
                    Self::look_again(&mut path);
                    self.enter_arm(&mut path, (to, span));
                }
                return taken.then_some(path);
            }
        };
        // The other way is only what everybody takes, unless the work has failed already.
        if cond.tags.has(Tags::ATTEMPTS) && (truth || path.state.delivery.caught().is_some()) {
            path.state.delivery.attempts = Some((self.depth(), to));
        }
        let holds = truth == polarity;
        if let Some(known) = self.known(symbol, &test, &path.state) {
            if known != holds {
                return None;
            }
            if test == Test::Failed && holds {
                Self::look_again(&mut path);
            }
        } else {
            path.state.facts.insert((symbol, test.clone()), holds);
            self.materialize_failure(symbol, (&test, holds), cond.tags, &mut path);
            self.look_at_failure(cond, (&test, holds), &mut path);
        }
        if test == Test::Failed && holds {
            self.enter_arm(&mut path, (to, span));
        }
        Some(path)
    }

    /// Whether a test is decided by what was tested before.
    pub(super) fn known(
        &self,
        symbol: super::value::Symbol,
        test: &Test,
        state: &State,
    ) -> Option<bool> {
        if let Some(&known) = state.facts.get(&(symbol, test.clone())) {
            return Some(known);
        }
        let fact = |it: Test| state.facts.get(&(symbol, it)).copied();
        let made = self.symbols.info(symbol).made;
        match test {
            Test::Truthy if made => Some(true),
            Test::Truthy | Test::Is(_) if fact(Test::Null) == Some(true) => Some(false),
            Test::Null if made || fact(Test::Truthy) == Some(true) => Some(false),
            Test::Truthy | Test::Null | Test::Failed | Test::Is(_) | Test::Number(_) => None,
        }
    }

    /// Runs the destructors of objects that die with the running function.
    fn end_scope(&mut self, outcome: &Outcome, path: Path) -> Vec<(Outcome, Path)> {
        let depth = self.depth();
        let func = self.func();
        let kept = |local: LocalId| {
            func.receiver() == Some(local)
                || func.params.iter().any(|it| it.local == local)
                || func.captures.iter().any(|it| it.inner == local)
        };
        let mut dying: Vec<Value> = Vec::new();
        for ((at, local), value) in &path.state.locals {
            if *at == depth && !kept(*local) && !dying.contains(value) {
                dying.push(value.clone());
            }
        }
        dying.retain(|it| !self.outlives(it, outcome, &path.state));
        let mut paths = vec![path];
        let span = func.span;
        for value in dying {
            paths = paths.into_iter().flat_map(|it| self.destroy(&value, span, it)).collect();
        }
        paths.into_iter().map(|it| (outcome.clone(), it)).collect()
    }
}
