//! The interpreter: runs a function's body once over symbolic values and writes down what it does.
//!
//! Blocks are visited in reverse post-order, twice when the function has loops, so that what a loop
//! carries around is seen. Calls of program functions put in their summaries; calls that the
//! vocabulary knows apply its roles; what is left gives an unknown value.
//!
//! ```text
//! $job = $jobs->find($id);      Load(row r, key Param(0))
//! if (!$job->isPending())       test: Path(r, status) == 'pending'
//!     return;
//! $job->markStarted();          r.status = 'running'      (from the summary of markStarted)
//! $jobs->update($job);          Write(r)                  (from the summary of update)
//! ```

mod apply;
mod arms;
mod around;
mod call;
mod callable;
mod column;
mod condition;
mod decided;
mod effect;
mod ends;
mod eval;
mod expand;
mod export;
mod expr;
mod fetch;
mod follow;
mod format;
mod handle;
mod insert;
mod lineage;
mod list;
mod pattern;
mod place;
mod query;
mod relate;
mod role;
mod row;
mod same;
mod scope;
mod sql;
mod target;
mod tested;
mod typing;
mod wrapper;
mod write;

pub(super) use column::sql_value;
pub(super) use export::{MAX_EFFECTS, MAX_WRITES};
pub(super) use same::{is_key_column, is_naming_column};

use super::Program;
use super::fact::{Context, LoadFact, Transaction, WriteFact};
use super::gate::Gates;
use super::live::Live;
use super::state::State;
use super::summary::{Deferred, Effect, Resolved, Summary};
use super::value::{Identity, Value};
use crate::base::{Language, Name, Span};
use crate::ir::{self, BlockId, FuncRef, Function, InstrKind, LocalId, Terminator, TypeRef};
use crate::model::{ColumnRules, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Bodies with more blocks than this are read once, without going round their loops.
const MAX_BLOCKS_TWICE: usize = 1500;

/// Bodies with more blocks than this are not read at all.
const MAX_BLOCKS: usize = 8_000;

/// What all functions of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'p> {
    /// The program.
    pub(crate) program: &'p Program<'p>,
    /// What library calls mean.
    pub(crate) vocabulary: &'p Vocabulary,
    /// What columns are.
    pub(crate) columns: &'p ColumnRules,
    /// Words of worker-like code.
    pub(crate) words: &'p crate::model::Words,
    /// Summaries of other functions.
    pub(crate) store: &'p crate::analysis::Store<'p>,
}

/// A place in a function, and the order of what happens at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) block: BlockId,
    pub(crate) instr: u32,
    pub(crate) seq: u32,
}

/// What one function was found to do.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// For its callers.
    pub(crate) summary: Summary,
    /// For rules that walk the body.
    pub(crate) resolved: Resolved,
    /// All writes in it, with the evidence gathered so far.
    pub(crate) writes: Vec<WriteFact>,
    /// All loads in it.
    pub(crate) loads: Vec<Arc<LoadFact>>,
    /// What is known of its closures.
    pub(crate) nested: Vec<(FuncRef, Resolved)>,
    /// Writes whose count it looked at.
    pub(crate) looked: Vec<Identity>,
    /// Which function.
    pub(crate) at: FuncRef,
}

/// One function under interpretation.
pub(crate) struct Interp<'p> {
    shared: Shared<'p>,
    at: FuncRef,
    func: &'p Function,
    /// The function whose parameters and receiver the values speak of: for closures, the outermost.
    root: &'p Function,
    /// Types that use the trait whose method this is.
    users: Vec<Name>,
    /// How many closures deep.
    depth: u32,
    /// Tells two runs of one closure apart.
    salt: u64,
    language: Language,
    /// The engine of the handle that the current statement runs on.
    engine: Option<ir::Engine>,
    /// Types of unknown results.
    types: BTreeMap<Identity, TypeRef>,
    /// The word by which a temporary was read: the property, method or variable name.
    words: FxHashMap<LocalId, Name>,
    /// Where the current instruction stands.
    point: Point,
    span: Span,
    effects: Vec<(Point, Effect)>,
    writes: Vec<(Point, WriteFact)>,
    loads: Vec<(Point, Arc<LoadFact>)>,
    /// For closures: what was loaded around them.
    known: Vec<Arc<LoadFact>>,
    /// Values that leave the function's sight: arguments of unknown calls, stored fields.
    escaped: Vec<(Point, Value)>,
    returns: Vec<(BlockId, Value, State)>,
    resolved: Resolved,
    nested_resolved: Vec<(FuncRef, Resolved)>,
    /// Results of calls that make something new.
    made: FxHashSet<Identity>,
    /// Closures that ran.
    ran: FxHashSet<FuncRef>,
    /// Writes whose count was looked at inside a closure.
    looked: FxHashSet<Identity>,
    /// Statements whose text only a caller knows.
    deferred: Vec<Deferred>,
    durable: bool,
    /// The facts of this round are thrown away: only what it leaves behind in the state counts.
    rehearsal: bool,
    /// Positions of blocks in reverse post-order.
    positions: Vec<usize>,
    /// Blocks in which a call does not come back.
    ended: FxHashSet<BlockId>,
    /// Which branch decides what.
    gates: RefCell<Gates<'p>>,
    /// The pack whose pattern is being applied.
    pack: Option<Name>,
}

/// Interprets a function whose callees are settled.
pub(crate) fn interpret(shared: Shared<'_>, at: FuncRef) -> Outcome {
    let func = shared.program.function(at);
    let mut ctx = Interp::new(shared, at, func);
    let entry = ctx.entry_state();
    ctx.run(&entry);
    ctx.run_left_over(&entry);
    ctx.export()
}

/// Whether a body is small enough to be read.
pub(crate) fn is_read(func: &Function) -> bool {
    func.cfg.blocks.len() <= MAX_BLOCKS || func.cfg.reverse_post_order().len() <= MAX_BLOCKS
}

impl<'p> Interp<'p> {
    fn new(shared: Shared<'p>, at: FuncRef, func: &'p Function) -> Self {
        Self {
            shared,
            at,
            func,
            root: func,
            users: func.class.as_deref().map_or_else(Vec::new, |it| shared.program.users(it)),
            depth: 0,
            salt: 0,
            language: shared.program.language(at),
            engine: None,
            types: BTreeMap::new(),
            words: FxHashMap::default(),
            point: Point { block: BlockId(0), instr: 0, seq: 0 },
            span: func.span,
            effects: Vec::new(),
            writes: Vec::new(),
            loads: Vec::new(),
            known: Vec::new(),
            escaped: Vec::new(),
            returns: Vec::new(),
            resolved: Resolved::default(),
            nested_resolved: Vec::new(),
            made: FxHashSet::default(),
            ran: FxHashSet::default(),
            looked: FxHashSet::default(),
            deferred: Vec::new(),
            durable: false,
            rehearsal: false,
            positions: Vec::new(),
            ended: FxHashSet::default(),
            gates: RefCell::new(Gates::new(&func.cfg)),
            pack: None,
        }
    }

    /// An interpreter for a closure that runs inside this one, at the current point.
    fn nested(&self, at: FuncRef, func: &'p Function) -> Self {
        let mut out = Self::new(self.shared, at, func);
        out.root = self.root;
        out.users.clone_from(&self.users);
        out.depth = self.depth + 1;
        out.salt = self.identity(&"closure").0;
        out.types = self.types.clone();
        out.rehearsal = self.rehearsal;
        let loads = self.known.iter().chain(self.loads.iter().map(|(_, it)| it));
        out.known = loads.filter(|_| !self.rehearsal).cloned().collect();
        out
    }

    /// The value of a closure's parameter that nobody gave.
    fn closure_param(&mut self, idx: usize, param: &ir::Param) -> Value {
        let id = self.identity(&("param", idx));
        if let Some(ty) = &param.ty {
            self.types.insert(id, ty.clone());
        }
        Value::Opaque(id)
    }

    /// Closures that nothing was seen to call run on their own, in an unknown context.
    fn run_left_over(&mut self, entry: &State) {
        let closures = self.shared.program.closures_of(self.at);
        let left: Vec<FuncRef> =
            closures.iter().filter(|it| !self.ran.contains(it)).copied().collect();
        for at in left {
            let captures = &self.shared.program.function(at).captures;
            let last = self.returns.last().map_or(entry, |it| &it.2);
            let captured: Vec<Value> = captures
                .iter()
                .map(|it| last.locals.get(it.outer.0 as usize).cloned().unwrap_or_default())
                .collect();
            let mut state = State { locals: entry.locals.clone(), ..State::default() };
            self.point = Point { block: BlockId(0), instr: u32::MAX, seq: at.func.0 };
            self.run_closure(&mut state, at, &captured, &[]);
        }
    }

    fn run(&mut self, start: &State) {
        let order = self.func.cfg.reverse_post_order();
        if order.len() > MAX_BLOCKS {
            return;
        }
        let mut position = vec![usize::MAX; self.func.cfg.blocks.len()];
        for (idx, block) in order.iter().enumerate() {
            position[block.0 as usize] = idx;
        }
        let has_loop = order.iter().any(|&block| {
            let here = position[block.0 as usize];
            self.func.cfg.successors(block).iter().any(|it| position[it.0 as usize] <= here)
        });
        self.positions.clone_from(&position);
        let captured: Vec<u32> = self.captured_locals();
        let live = Live::of(self.func, &order, &captured);
        let rounds = if has_loop && order.len() <= MAX_BLOCKS_TWICE { 2 } else { 1 };
        // An entry is taken when its block is read: what is left after a round is what the loops bring
        // around, and is joined in by the next.
        let mut entries: Vec<Option<State>> = vec![None; self.func.cfg.blocks.len()];
        let is_rehearsal = self.rehearsal;
        for round in 1..=rounds {
            self.rehearsal = is_rehearsal || round < rounds;
            self.reset();
            merge(&mut entries[0], start.clone());
            for (idx, &block) in order.iter().enumerate() {
                let Some(mut state) = entries[block.0 as usize].take() else { continue };
                state.forget(live.dying(idx));
                self.block(block, state, &mut entries);
            }
        }
    }

    /// Variables that closures of this function see.
    fn captured_locals(&self) -> Vec<u32> {
        let program = self.shared.program;
        let own = program.closures_of(self.at).iter().map(|it| program.function(*it));
        own.flat_map(|it| it.captures.iter().map(|it| it.outer.0)).collect()
    }

    fn reset(&mut self) {
        self.effects.clear();
        self.writes.clear();
        self.loads.clear();
        self.escaped.clear();
        self.returns.clear();
        self.nested_resolved.clear();
        self.deferred.clear();
        self.resolved = Resolved::default();
    }

    fn entry_state(&mut self) -> State {
        let mut state =
            State { locals: vec![Value::Unknown; self.func.locals.len()], ..State::default() };
        if let Some(this) = self.func.receiver() {
            state.locals[this.0 as usize] = Value::This;
        }
        for (idx, param) in self.func.params.iter().enumerate() {
            let idx = u32::try_from(idx).unwrap_or(u32::MAX);
            if let Some(slot) = state.locals.get_mut(param.local.0 as usize) {
                *slot = Value::Param(idx);
            }
        }
        for (idx, capture) in self.func.captures.iter().enumerate() {
            let idx = u32::try_from(idx).unwrap_or(u32::MAX);
            if let Some(slot) = state.locals.get_mut(capture.inner.0 as usize) {
                *slot = Value::Capture(idx);
            }
        }
        self.hold_standing_lock(&mut state);
        if self.func.kind == ir::FunctionKind::Script {
            state.transaction = Transaction::Closed;
        }
        state
    }

    fn instrs(&mut self, id: BlockId, state: &mut State) {
        let func = self.func;
        let block = &func.cfg.blocks[id];
        for (idx, instr) in block.instrs.iter().enumerate() {
            let instr_idx = u32::try_from(idx).unwrap_or(u32::MAX);
            self.point = Point { block: id, instr: instr_idx, seq: 0 };
            self.span = instr.span;
            match &instr.kind {
                InstrKind::Assign(place, value) => {
                    let value = self.rvalue(state, value, place);
                    self.store(state, place, value);
                }
                InstrKind::Call(call) => self.call(state, call),
                InstrKind::Drop(local) => self.drop_local(state, *local),
            }
        }
    }

    fn block(&mut self, id: BlockId, mut state: State, entries: &mut [Option<State>]) {
        let func = self.func;
        let block = &func.cfg.blocks[id];
        let before = block.handler.is_some().then(|| state.clone());
        self.instrs(id, &mut state);
        self.point = Point {
            block: id,
            instr: u32::try_from(block.instrs.len()).unwrap_or(u32::MAX),
            seq: 0,
        };
        if let (Some(handler), Some(before)) = (block.handler, before)
            && block.can_throw()
        {
            let mut thrown = before;
            thrown.join(&state);
            if let Some(slot) = thrown.locals.get_mut(handler.value.0 as usize) {
                *slot = Value::Opaque(self.identity(&("thrown", handler.block.0)));
            }
            merge(&mut entries[handler.block.0 as usize], thrown);
        }
        if self.ended.contains(&id) {
            return;
        }
        match &block.term {
            Terminator::Branch { cond, then, otherwise, .. } => {
                let tested = self.operand_mut(&mut state, cond, &"tested");
                self.resolved.tests.insert(id, tested.clone());
                let mut yes = state.clone();
                if let Some((subject, when)) = failed_subject(block, cond) {
                    let side = if when { &mut yes } else { &mut state };
                    if let Some(slot) = side.locals.get_mut(subject.0 as usize) {
                        *slot = Value::Failed;
                    }
                }
                self.refine(&mut yes, &tested, true);
                merge(&mut entries[then.0 as usize], yes);
                self.refine(&mut state, &tested, false);
                merge(&mut entries[otherwise.0 as usize], state);
            }
            Terminator::Return { value, .. } => {
                let value = match value {
                    Some(it) => {
                        let value = self.operand_mut(&mut state, it, &"returned");
                        self.decided_constant(it, value)
                    }
                    None => Value::Null,
                };
                self.returns.push((id, value, state));
            }
            Terminator::Goto(next) => merge(&mut entries[next.0 as usize], state),
            term => {
                for next in term.successors() {
                    merge(&mut entries[next.0 as usize], state.clone());
                }
            }
        }
    }

    /// What a branch teaches: a lock that was tried is held on the side where it was got.
    fn refine(&self, state: &mut State, tested: &Value, holds: bool) {
        let Some((id, got_when)) = tried_lock(tested) else { return };
        if got_when == holds {
            for it in &mut state.held {
                if it.id == id {
                    it.unsure = false;
                }
            }
        } else {
            state.held.retain(|it| it.id != id);
        }
    }

    fn drop_local(&mut self, state: &mut State, local: LocalId) {
        let value = state.locals.get(local.0 as usize).cloned().unwrap_or_default();
        if let Some(super::object::ObjectKind::Lock(id)) = state.object(&value).map(|it| &it.kind) {
            let id = *id;
            state.held.retain(|it| it.id != id);
        }
        if let Some(slot) = state.locals.get_mut(local.0 as usize) {
            *slot = Value::Null;
        }
    }

    /// The identity of something that comes into being at the current point.
    fn identity(&self, what: &impl Hash) -> Identity {
        let mut hasher = FxHasher::default();
        (self.at, self.salt, self.point.block, self.point.instr).hash(&mut hasher);
        what.hash(&mut hasher);
        Identity(hasher.finish())
    }

    /// The next point in order at the current instruction.
    fn tick(&mut self) -> Point {
        self.point.seq += 1;
        self.point
    }

    fn context(&self, state: &State) -> Context {
        Context { transaction: state.transaction, held: state.held.clone() }
    }

    fn effect(&mut self, effect: Effect) {
        let point = self.tick();
        self.effects.push((point, effect));
    }
}

/// For a test of `Ok` or `Err`: the tested variable, and on which side it is an `Err`.
fn failed_subject(block: &ir::Block, cond: &ir::Operand) -> Option<(LocalId, bool)> {
    let ir::Operand::Local(cond) = cond else { return None };
    block.instrs.iter().rev().find_map(|it| match &it.kind {
        InstrKind::Assign(place, ir::Rvalue::IsVariant(ir::Operand::Local(subject), name))
            if place.as_local() == Some(*cond) =>
        {
            match &**name {
                "Err" => Some((*subject, true)),
                "Ok" => Some((*subject, false)),
                _ => None,
            }
        }
        _ => None,
    })
}

fn merge(entry: &mut Option<State>, state: State) {
    match entry {
        Some(entry) => entry.join(&state),
        None => *entry = Some(state),
    }
}

/// Whether a question to an attempted lock is whether it was got.
fn asks_whether_held(name: &str) -> bool {
    let name = crate::base::snake_case(name);
    let last = name.rsplit('_').next().unwrap_or_default();
    matches!(last, "acquired" | "locked" | "held" | "owned" | "got" | "granted")
}

/// For a test of a tried lock: which, and whether a true test means that it was got.
fn tried_lock(tested: &Value) -> Option<(Identity, bool)> {
    match tested {
        Value::Got(id) => Some((*id, true)),
        Value::Truthy(inner) => tried_lock(inner),
        // `$lock->isAcquired()`
        Value::Path(it) => tried_lock(&it.0).filter(|_| asks_whether_held(&it.1)),
        Value::Test(test) => {
            let (id, got) = tried_lock(&test.left)?;
            let falsy = |it: &Value| matches!(it, Value::Bool(false) | Value::Null | Value::Int(0));
            let positive = !test.right.iter().all(falsy);
            match test.op {
                super::value::TestOp::Eq => Some((id, got == positive)),
                super::value::TestOp::Ne => Some((id, got != positive)),
                super::value::TestOp::Order => Some((id, got)),
            }
        }
        _ => None,
    }
}
