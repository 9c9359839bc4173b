//! Gates: which branch decides whether a place is reached.
//!
//! A branch in block B gates a place when exactly one of its two sides leads there without passing B
//! again. An early return is a gate, and so is an `if` around the place; a test whose two sides meet
//! before the place is none:
//!
//! ```text
//! if ($job->isDone()) { return; }      gates everything below
//! if ($job->isDone()) { log(); }       gates nothing below
//! ```

use crate::ir::{BlockId, Cfg, Terminator};
use rustc_hash::FxHashMap;

/// Which side of a branch leads to the gated place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// When the condition is true.
    Then,
    /// When it is false.
    Otherwise,
}

/// Reachability in one function, computed once for each branch side that is asked about.
#[derive(Debug)]
pub(crate) struct Gates<'a> {
    cfg: &'a Cfg,
    successors: Vec<Vec<BlockId>>,
    reached: FxHashMap<(BlockId, BlockId), Vec<u64>>,
}

impl<'a> Gates<'a> {
    pub(crate) fn new(cfg: &'a Cfg) -> Self {
        let successors = cfg.blocks.ids().map(|it| cfg.successors(it)).collect();
        Self { cfg, successors, reached: FxHashMap::default() }
    }

    /// Control does not go on behind `block`, except to where its exceptions are caught.
    pub(crate) fn close(&mut self, block: BlockId, handler: Option<BlockId>) {
        self.successors[block.0 as usize] = handler.into_iter().collect();
        self.reached.clear();
    }

    /// The side of the branch in `branch` that decides whether `place` is reached; none when both or
    /// neither lead there, or when the block does not branch.
    pub(crate) fn side(&mut self, branch: BlockId, place: BlockId) -> Option<Side> {
        let Terminator::Branch { then, otherwise, .. } = self.cfg.blocks[branch].term else {
            return None;
        };
        if branch == place {
            return None;
        }
        match (self.reaches(then, place, branch), self.reaches(otherwise, place, branch)) {
            (true, false) => Some(Side::Then),
            (false, true) => Some(Side::Otherwise),
            _ => None,
        }
    }

    /// Whether a path leads from `from` to `to` without entering `avoid`.
    pub(crate) fn reaches(&mut self, from: BlockId, to: BlockId, avoid: BlockId) -> bool {
        if from == avoid {
            return false;
        }
        let successors = &self.successors;
        let reached = self.reached.entry((from, avoid)).or_insert_with(|| {
            let mut seen = vec![0; successors.len().div_ceil(64)];
            let mut stack = vec![from];
            set(&mut seen, from);
            while let Some(block) = stack.pop() {
                for &next in &successors[block.0 as usize] {
                    if next != avoid && !has(&seen, next) {
                        set(&mut seen, next);
                        stack.push(next);
                    }
                }
            }
            seen
        });
        has(reached, to)
    }

    /// Whether any path leads from `from` to `to`, itself included.
    pub(crate) fn leads(&mut self, from: BlockId, to: BlockId) -> bool {
        from == to || {
            let none = BlockId(u32::MAX);
            self.reaches(from, to, none)
        }
    }
}

fn has(bits: &[u64], block: BlockId) -> bool {
    bits[block.0 as usize / 64] & (1 << (block.0 % 64)) != 0
}

fn set(bits: &mut [u64], block: BlockId) {
    bits[block.0 as usize / 64] |= 1 << (block.0 % 64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{SourceId, Span};
    use crate::ir::{CfgBuilder, Const, Operand};

    fn span() -> Span {
        Span::new(SourceId(0), 0, 0)
    }

    #[test]
    fn early_return_gates_and_a_joined_branch_does_not() {
        let mut builder = CfgBuilder::new(span());
        let cond = Operand::Const(Const::Unknown);
        let first = builder.current();
        let (_, go_on) = builder.branch(cond.clone(), span());
        builder.terminate(Terminator::Return { value: None, span: span() });
        builder.switch_to(go_on);
        let second = builder.current();
        let (_, otherwise) = builder.branch(cond, span());
        let place = builder.new_block();
        builder.goto(place);
        builder.switch_to(otherwise);
        builder.goto(place);
        builder.switch_to(place);
        let (cfg, _) = builder.finish();
        let mut gates = Gates::new(&cfg);
        assert_eq!(gates.side(first, place), Some(Side::Otherwise));
        assert_eq!(gates.side(second, place), None);
    }
}
