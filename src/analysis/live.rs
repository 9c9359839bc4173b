//! Live: up to where in a body is a variable still read? What is dead needs no memory.
//!
//! Positions are those of the reverse post-order. A variable that is read inside a loop stays alive to
//! the loop's end, since the next round may read it again.

use crate::ir::{BlockId, Function, reads};

/// Which variables need no memory any more, by position.
#[derive(Debug, Default)]
pub(super) struct Live {
    dying: Vec<Vec<usize>>,
}

impl Live {
    /// Reads the body once. `captured` are variables that closures see: they live to the end.
    pub(super) fn of(func: &Function, order: &[BlockId], captured: &[u32]) -> Self {
        let mut position = vec![usize::MAX; func.cfg.blocks.len()];
        for (idx, block) in order.iter().enumerate() {
            position[block.0 as usize] = idx;
        }
        let loops = loops(func, order, &position);
        let mut last: Vec<Option<usize>> = vec![Some(0); func.locals.len()];
        for (idx, block) in order.iter().enumerate() {
            let until = loops.iter().filter(|it| it.0 <= idx && idx <= it.1).map(|it| it.1).max();
            let until = until.unwrap_or(idx).max(idx);
            reads::block_reads(&func.cfg.blocks[*block], &mut |local| {
                if let Some(Some(slot)) = last.get_mut(local.0 as usize) {
                    *slot = (*slot).max(until);
                }
            });
        }
        let params = func.params.iter().map(|it| it.local.0);
        let seen = func.captures.iter().map(|it| it.inner.0).chain([0]).chain(params);
        for local in captured.iter().copied().chain(seen) {
            if let Some(slot) = last.get_mut(local as usize) {
                *slot = None;
            }
        }
        let mut ending: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (local, until) in last.iter().enumerate() {
            if let Some(until) = until.filter(|it| *it < order.len()) {
                ending[until].push(local);
            }
        }
        let mut dying: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (idx, block) in order.iter().enumerate() {
            for next in func.cfg.successors(*block) {
                let to = position[next.0 as usize];
                if to > idx && to < order.len() {
                    dying[to].extend(&ending[idx]);
                }
            }
        }
        Self { dying }
    }

    /// Variables that were read for the last time in a block that leads to `position`.
    pub(super) fn dying(&self, position: usize) -> &[usize] {
        self.dying.get(position).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Regions of loops, from head to the end of the last back edge, inner ones grown by what they touch.
fn loops(func: &Function, order: &[BlockId], position: &[usize]) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (idx, block) in order.iter().enumerate() {
        for next in func.cfg.successors(*block) {
            let head = position[next.0 as usize];
            if head <= idx {
                out.push((head, idx));
            }
        }
    }
    out.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (head, end) in out {
        match merged.last_mut() {
            Some(last) if head <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((head, end)),
        }
    }
    merged
}
