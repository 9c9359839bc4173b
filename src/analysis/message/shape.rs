//! Shape: what the exploration asks of a function again and again: which variables are read later,
//! which blocks lie behind which, and what temporaries are called.

use crate::base::{IdVec, Name, last_segment};
use crate::ir::{
    BinaryOp, Block, BlockId, Callee, Cfg, ClassRef, Function, InstrKind, LocalId, Operand, Place,
    PlaceBase, Proj, Rvalue, Terminator,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Facts of one function, computed once.
#[derive(Debug)]
pub(super) struct Shape {
    /// Locals that may be read from the start of each block on.
    live: Vec<FxHashSet<LocalId>>,
    /// Locals that closures take; they are always live.
    shared: FxHashSet<LocalId>,
    /// Immediate dominators.
    parents: FxHashMap<BlockId, BlockId>,
    /// How a temporary is called in the source: `this.log`, `Mail.to`.
    names: FxHashMap<LocalId, Name>,
    /// Where a temporary was read from.
    sources: FxHashMap<LocalId, Place>,
    /// Locals that are compared with something.
    compared: FxHashSet<LocalId>,
}

impl Shape {
    pub(super) fn of(func: &Function, functions: &IdVec<crate::ir::FuncId, Function>) -> Self {
        let shared = shared_locals(func, functions);
        let mut out = Self {
            live: liveness(&func.cfg),
            shared,
            parents: dominators(&func.cfg),
            names: FxHashMap::default(),
            sources: FxHashMap::default(),
            compared: compared(func),
        };
        out.name_locals(func);
        out
    }

    pub(super) fn is_live(&self, block: BlockId, local: LocalId) -> bool {
        self.shared.contains(&local)
            || self.live.get(block.0 as usize).is_none_or(|it| it.contains(&local))
    }

    /// Whether every way to `block` leads through `gate`.
    pub(super) fn dominates(&self, gate: BlockId, block: BlockId) -> bool {
        let mut current = block;
        loop {
            if current == gate {
                return true;
            }
            match self.parents.get(&current) {
                Some(&next) if next != current => current = next,
                _ => return false,
            }
        }
    }

    /// The source name of a local, through fields and calls; empty when it has none.
    pub(super) fn name(&self, func: &Function, local: LocalId) -> Name {
        match func.locals.get(local) {
            Some(it) if !it.name.is_empty() => it.name.clone(),
            _ => self.names.get(&local).cloned().unwrap_or_else(|| "".into()),
        }
    }

    /// Whether the variable is compared with something: a counter that decides.
    pub(super) fn is_compared(&self, local: LocalId) -> bool {
        self.compared.contains(&local)
    }

    /// The place that a temporary was read from.
    pub(super) fn source(&self, local: LocalId) -> Option<&Place> {
        self.sources.get(&local)
    }

    fn name_locals(&mut self, func: &Function) {
        for block in &func.cfg.blocks {
            for instr in &block.instrs {
                match &instr.kind {
                    InstrKind::Assign(place, value) => {
                        let Some(local) = place.as_local() else { continue };
                        if let Some(name) = self.name_of(func, value) {
                            self.names.insert(local, name);
                        }
                        if let Rvalue::Load(from) | Rvalue::Ref(from) = value {
                            self.sources.insert(local, from.clone());
                        }
                    }
                    InstrKind::Call(call) => {
                        if let Some(name) = self.callee_name(func, &call.callee) {
                            self.names.insert(call.dest, name);
                        }
                    }
                    InstrKind::Drop(_) => (),
                }
            }
        }
    }

    fn name_of(&self, func: &Function, value: &Rvalue) -> Option<Name> {
        match value {
            Rvalue::Use(Operand::Local(it))
            | Rvalue::Cast(Operand::Local(it))
            | Rvalue::Clone(Operand::Local(it)) => Some(self.name(func, *it)),
            Rvalue::Load(place) | Rvalue::Ref(place) => Some(self.place_name(func, place)),
            _ => None,
        }
    }

    fn place_name(&self, func: &Function, place: &Place) -> Name {
        let mut out = match &place.base {
            PlaceBase::Local(it) => self.name(func, *it).to_string(),
            PlaceBase::Static(_, name) | PlaceBase::Global(name) => name.to_string(),
        };
        for proj in &place.proj {
            if let Proj::Field(name) | Proj::VariantField(_, name) = proj {
                out.push('.');
                out.push_str(name);
            }
        }
        out.into()
    }

    /// `mailer.send`, `Mail.to.send`.
    pub(super) fn callee_name(&self, func: &Function, callee: &Callee) -> Option<Name> {
        match callee {
            Callee::Method { receiver: Operand::Local(it), name, .. } => {
                Some(format!("{}.{name}", self.name(func, *it)).into())
            }
            Callee::Static { class: ClassRef::Named(class), name } => {
                Some(format!("{}.{name}", last_segment(class)).into())
            }
            Callee::Method { name, .. }
            | Callee::Static { name, .. }
            | Callee::Function(name)
            | Callee::Macro(name) => Some(name.clone()),
            Callee::New(ClassRef::Named(class)) => Some(last_segment(class).into()),
            Callee::New(_) | Callee::Value(_) | Callee::Unknown => None,
        }
    }
}

/// Locals of `func` that a closure in it takes.
fn shared_locals(
    func: &Function,
    functions: &IdVec<crate::ir::FuncId, Function>,
) -> FxHashSet<LocalId> {
    let mut out = FxHashSet::default();
    for block in &func.cfg.blocks {
        for instr in &block.instrs {
            if let InstrKind::Assign(_, Rvalue::Closure(id)) = &instr.kind
                && let Some(closure) = functions.get(*id)
            {
                out.extend(closure.captures.iter().map(|it| it.outer));
            }
        }
    }
    out
}

fn compared(func: &Function) -> FxHashSet<LocalId> {
    let mut out = FxHashSet::default();
    for block in &func.cfg.blocks {
        for instr in &block.instrs {
            let InstrKind::Assign(_, Rvalue::Binary(op, left, right)) = &instr.kind else {
                continue;
            };
            if !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Other) {
                operand_uses(left, &mut out);
                operand_uses(right, &mut out);
            }
        }
    }
    out
}

fn liveness(cfg: &Cfg) -> Vec<FxHashSet<LocalId>> {
    let mut live: Vec<FxHashSet<LocalId>> = vec![FxHashSet::default(); cfg.blocks.len()];
    let mut order = cfg.reverse_post_order();
    order.reverse();
    let mut changed = true;
    while changed {
        changed = false;
        for &id in &order {
            let block = &cfg.blocks[id];
            let mut out: FxHashSet<LocalId> = FxHashSet::default();
            for next in block.term.successors() {
                out.extend(&live[next.0 as usize]);
            }
            let handler = block.handler.map(|it| live[it.block.0 as usize].clone());
            walk_back(block, &mut out);
            // An instruction may throw before any of the block's assignments.
            out.extend(handler.into_iter().flatten());
            let slot = &mut live[id.0 as usize];
            if *slot != out {
                *slot = out;
                changed = true;
            }
        }
    }
    live
}

fn walk_back(block: &Block, live: &mut FxHashSet<LocalId>) {
    term_uses(&block.term, live);
    for instr in block.instrs.iter().rev() {
        match &instr.kind {
            InstrKind::Assign(place, value) => {
                match place.as_local() {
                    Some(local) => {
                        live.remove(&local);
                    }
                    None => place_uses(place, live),
                }
                rvalue_uses(value, live);
            }
            InstrKind::Call(call) => {
                live.remove(&call.dest);
                callee_uses(&call.callee, live);
                for arg in &call.args {
                    operand_uses(&arg.value, live);
                    if let Some(place) = &arg.place {
                        place_uses(place, live);
                    }
                }
            }
            InstrKind::Drop(local) => {
                live.insert(*local);
            }
        }
    }
}

fn term_uses(term: &Terminator, live: &mut FxHashSet<LocalId>) {
    match term {
        Terminator::Branch { cond, .. } => operand_uses(cond, live),
        Terminator::Catch { value, .. } => {
            live.insert(*value);
        }
        Terminator::Return { value: Some(value), .. }
        | Terminator::Throw { value: Some(value), .. } => operand_uses(value, live),
        Terminator::Return { value: None, .. }
        | Terminator::Throw { value: None, .. }
        | Terminator::Goto(_)
        | Terminator::Multi(_)
        | Terminator::Exit { .. }
        | Terminator::Unreachable => (),
    }
}

fn operand_uses(operand: &Operand, live: &mut FxHashSet<LocalId>) {
    if let Operand::Local(it) = operand {
        live.insert(*it);
    }
}

fn place_uses(place: &Place, live: &mut FxHashSet<LocalId>) {
    if let PlaceBase::Local(it) = &place.base {
        live.insert(*it);
    }
    for proj in &place.proj {
        if let Proj::DynField(it) | Proj::Index(it) = proj {
            operand_uses(it, live);
        }
    }
}

fn callee_uses(callee: &Callee, live: &mut FxHashSet<LocalId>) {
    match callee {
        Callee::Method { receiver, .. } => operand_uses(receiver, live),
        Callee::Value(it) => operand_uses(it, live),
        Callee::Static { class: ClassRef::Dynamic(it), .. }
        | Callee::New(ClassRef::Dynamic(it)) => operand_uses(it, live),
        Callee::Static { .. }
        | Callee::New(_)
        | Callee::Function(_)
        | Callee::Macro(_)
        | Callee::Unknown => (),
    }
}

fn rvalue_uses(value: &Rvalue, live: &mut FxHashSet<LocalId>) {
    match value {
        Rvalue::Use(it)
        | Rvalue::Clone(it)
        | Rvalue::Unary(_, it)
        | Rvalue::InstanceOf(it, _)
        | Rvalue::IsVariant(it, _)
        | Rvalue::IsEmpty(it)
        | Rvalue::Cast(it) => operand_uses(it, live),
        Rvalue::Load(it) | Rvalue::Ref(it) | Rvalue::IsSet(it) => place_uses(it, live),
        Rvalue::Binary(_, left, right) => {
            operand_uses(left, live);
            operand_uses(right, live);
        }
        Rvalue::Text(text) => {
            for piece in &text.pieces {
                if let crate::ir::Piece::Hole(hole) = piece {
                    operand_uses(&hole.value, live);
                }
            }
        }
        Rvalue::Array(items) => {
            for item in items {
                item.key.iter().for_each(|it| operand_uses(it, live));
                operand_uses(&item.value, live);
            }
        }
        Rvalue::Struct { fields, base, .. } => {
            for it in fields.iter().map(|(_, it)| it).chain(base) {
                operand_uses(it, live);
            }
        }
        Rvalue::Callable(callee) => callee_uses(callee, live),
        Rvalue::Closure(_) => (),
        Rvalue::Unknown(them) => them.iter().for_each(|it| operand_uses(it, live)),
    }
}

/// Immediate dominators of all blocks that control reaches.
fn dominators(cfg: &Cfg) -> FxHashMap<BlockId, BlockId> {
    let order = cfg.reverse_post_order();
    let rank: FxHashMap<BlockId, usize> =
        order.iter().enumerate().map(|(idx, &it)| (it, idx)).collect();
    let mut preds: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    for &block in &order {
        for next in cfg.successors(block) {
            preds.entry(next).or_default().push(block);
        }
    }
    let mut parents: FxHashMap<BlockId, BlockId> = FxHashMap::default();
    parents.insert(Cfg::ENTRY, Cfg::ENTRY);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let known = preds.get(&block).into_iter().flatten();
            let mut known = known.filter(|it| parents.contains_key(it)).copied();
            let Some(first) = known.next() else { continue };
            let parent = known.fold(first, |a, b| intersect(&parents, &rank, a, b));
            changed |= parents.insert(block, parent) != Some(parent);
        }
    }
    parents
}

fn intersect(
    parents: &FxHashMap<BlockId, BlockId>,
    rank: &FxHashMap<BlockId, usize>,
    mut a: BlockId,
    mut b: BlockId,
) -> BlockId {
    while a != b {
        if rank[&a] > rank[&b] {
            a = parents[&a];
        } else {
            b = parents[&b];
        }
    }
    a
}
