//! Writes that go on where an earlier write of the same row has begun: `running`, then `done`. Who gets to
//! the second has passed the first, so that the fault, if there is one, is the first.

use super::around::Around;
use super::same::same_row;
use super::tested::Tested;
use super::{Interp, Point};
use crate::analysis::fact::{WriteFact, WriteKind};
use crate::analysis::gate::Gates;
use crate::analysis::value::Value;
use crate::ir::BlockId;
use std::cell::OnceCell;

impl Interp<'_> {
    /// Marks the writes that follow an earlier one, with no test and no read of the row in between.
    pub(super) fn relate_followers(
        &self,
        gates: &mut Gates<'_>,
        (tests, around): (&[Tested], &Around<'_>),
        writes: &mut [(Point, WriteFact)],
    ) {
        let order = self.func.cfg.reverse_post_order();
        let mut position = vec![usize::MAX; self.func.cfg.blocks.len()];
        for (idx, block) in order.iter().enumerate() {
            position[block.0 as usize] = idx;
        }
        let place = |it: Point| (position[it.block.0 as usize], it.instr, it.seq);
        let first: Vec<(Point, WriteFact)> =
            writes.iter().filter(|it| self.sets_state(&it.1)).cloned().collect();
        for (point, write) in writes {
            let looks = OnceCell::new();
            let looked_at = |from: Point| {
                let at = looks.get_or_init(|| looks_at(tests, around, write));
                at.iter().any(|it| place(from) < place(*it) && place(*it) < place(*point))
            };
            let follows = first.iter().any(|(at, earlier)| {
                earlier.id != write.id
                    && place(*at) < place(*point)
                    && dominates(gates, at.block, point.block)
                    && is_same_row(earlier, write)
                    && !looked_at(*at)
            });
            write.follows |= follows;
        }
    }

    fn sets_state(&self, write: &WriteFact) -> bool {
        let table = write.table.word().unwrap_or_default();
        let is_state = |column: &str| self.shared.columns.classify(table, column).is_state();
        let mut sets = write.statement.iter().flat_map(|it| &it.0.sets);
        write.changes.iter().any(|it| is_state(&it.column))
            || write.kind == WriteKind::Statement && sets.any(|it| is_state(&it.column))
    }
}

/// Where the written row is read or tested.
fn looks_at(tests: &[Tested], around: &Around<'_>, write: &WriteFact) -> Vec<Point> {
    let tests =
        tests.iter().filter(|it| it.columns.iter().any(|it| around.touches(write, &it.row)));
    let tests = tests.map(|it| Point { block: it.block, instr: u32::MAX, seq: 0 });
    around.related(write).into_iter().map(|it| around.point(it)).chain(tests).collect()
}

/// Whether every path to `later` passes `earlier`.
fn dominates(gates: &mut Gates<'_>, earlier: BlockId, later: BlockId) -> bool {
    earlier == later || !gates.reaches(BlockId(0), later, earlier)
}

/// Whether two writes are of one object, or of one key.
fn is_same_row(a: &WriteFact, b: &WriteFact) -> bool {
    match (&a.row, &b.row) {
        (Some(x), Some(y)) => x == y && *x != Value::Unknown,
        _ => same_row(a, b),
    }
}
