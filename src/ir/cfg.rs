//! Control-flow graphs.
//!
//! A block runs its instructions in order and ends in a terminator. Any call in it may throw; then
//! control goes to the block's handler. `finally` bodies are copied, one copy for each way of
//! leaving, so that a path through the graph is a path of the program.

use super::{BlockId, Instr, LocalId, Operand, TypeRef};
use crate::base::{IdVec, Span};

/// A function's body. Block 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    /// The blocks.
    pub blocks: IdVec<BlockId, Block>,
}

/// A straight run of instructions.
#[derive(Clone, Debug)]
pub struct Block {
    /// In order.
    pub instrs: Vec<Instr>,
    /// How it ends.
    pub term: Terminator,
    /// Where control goes when an instruction throws; none: out of the function.
    /// The target takes the exception in `Handler::value`.
    pub handler: Option<Handler>,
    /// This block belongs to a copy of a `finally` body (or of a `__destruct`, `Drop`, `defer!`).
    pub in_finally: bool,
    /// The `break` or `continue` that ends it.
    pub exit: Option<Span>,
}

/// Where a throw inside a block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// A block whose terminator is `Catch`, or a `finally` copy that ends in `Throw`.
    pub block: BlockId,
    /// The local that holds the exception there.
    pub value: LocalId,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// Always there.
    Goto(BlockId),
    /// On the truth of `cond`. Short circuits, ternaries, loops, `?`, `match` and `switch` all come
    /// out as this. `span` is the condition's.
    Branch {
        /// The tested value.
        cond: Operand,
        /// When it is true.
        then: BlockId,
        /// When it is false.
        otherwise: BlockId,
        /// The condition as written.
        span: Span,
    },
    /// Many ways, none of them understood: computed jumps, `select!` arms, generator suspension.
    Multi(Vec<BlockId>),
    /// Dispatch of a caught exception to the first arm that takes its type.
    Catch {
        /// The exception.
        value: LocalId,
        /// In source order.
        arms: Vec<CatchArm>,
        /// No arm takes it: goes on outwards (a `finally` copy, or a block that throws).
        uncaught: BlockId,
    },
    /// Leaves the function normally. Falling off the end has no value and an empty span at the end.
    Return {
        /// The value.
        value: Option<Operand>,
        /// The `return` statement, or the `?`.
        span: Span,
    },
    /// Leaves by an exception; when the block has a handler, goes there instead.
    Throw {
        /// The exception.
        value: Option<Operand>,
        /// The `throw`.
        span: Span,
    },
    /// Ends the process: `exit`, `die`, `panic!`, `std::process::exit`.
    Exit {
        /// Where.
        span: Span,
    },
    /// Cannot be reached.
    Unreachable,
}

/// One `catch`.
#[derive(Clone, Debug)]
pub struct CatchArm {
    /// Types it takes; empty takes all.
    pub types: Vec<TypeRef>,
    /// Its body.
    pub block: BlockId,
    /// From `catch` to the closing parenthesis.
    pub span: Span,
}

impl Terminator {
    /// Blocks that control may go to next, without handlers.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Goto(to) => vec![*to],
            Self::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Self::Multi(to) => to.clone(),
            Self::Catch { arms, uncaught, .. } => {
                arms.iter().map(|it| it.block).chain([*uncaught]).collect()
            }
            Self::Return { .. } | Self::Throw { .. } | Self::Exit { .. } | Self::Unreachable => {
                Vec::new()
            }
        }
    }
}

impl Cfg {
    /// The entry block.
    pub const ENTRY: BlockId = BlockId(0);

    /// Successors of a block: the terminator's, then the handler when something in it can throw.
    pub fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let it = &self.blocks[block];
        let mut out = it.term.successors();
        if let Some(handler) = it.handler
            && it.can_throw()
        {
            out.push(handler.block);
        }
        out
    }

    /// Blocks in reverse post-order from the entry; unreachable ones are left out.
    pub fn reverse_post_order(&self) -> Vec<BlockId> {
        let mut seen = vec![false; self.blocks.len()];
        let mut out = Vec::with_capacity(self.blocks.len());
        let mut stack = Vec::new();
        if !self.blocks.is_empty() {
            seen[0] = true;
            stack.push((Self::ENTRY, self.successors(Self::ENTRY), 0));
        }
        while let Some((block, succs, next)) = stack.last_mut() {
            if let Some(&to) = succs.get(*next) {
                *next += 1;
                if !seen[to.0 as usize] {
                    seen[to.0 as usize] = true;
                    let succs = self.successors(to);
                    stack.push((to, succs, 0));
                }
            } else {
                out.push(*block);
                stack.pop();
            }
        }
        out.reverse();
        out
    }

    /// What is wrong with the graph: a jump or handler out of range, or no block at all.
    pub fn validate(&self) -> Result<(), String> {
        if self.blocks.is_empty() {
            return Err("no entry block".to_owned());
        }
        for (id, block) in self.blocks.iter_ids() {
            let handler = block.handler.map(|it| it.block);
            for to in block.term.successors().into_iter().chain(handler) {
                if to.0 as usize >= self.blocks.len() {
                    return Err(format!("block {} goes to missing block {}", id.0, to.0));
                }
            }
        }
        Ok(())
    }
}

impl Block {
    /// Whether an instruction or the terminator may throw.
    pub fn can_throw(&self) -> bool {
        matches!(self.term, Terminator::Throw { .. })
            || self.instrs.iter().any(|it| matches!(it.kind, super::InstrKind::Call(_)))
    }
}
