//! Calls that never come back: `abort(404)`, `wp_die()`, a function of the program that always throws or
//! exits. What stands behind such a call is not reached on that way.
//!
//! ```text
//! if ($order->status !== 'open') {
//!     $this->refuse($order);     throws on every path: the `if` decides what is below it
//! }
//! $order->status = 'paid';
//! ```

use super::{Interp, is_read};
use crate::ir::FuncRef;

impl Interp<'_> {
    /// The call at the current point does not come back.
    pub(super) fn end_here(&mut self) {
        let block = self.point.block;
        if self.ended.insert(block) {
            let handler = self.func.cfg.blocks[block].handler.map(|it| it.block);
            self.gates.borrow_mut().close(block, handler);
        }
    }

    /// Whether none of the functions returns.
    pub(super) fn never_returns(&self, targets: &[FuncRef]) -> bool {
        let program = self.shared.program;
        !targets.is_empty()
            && targets.iter().all(|at| {
                let func = program.function(*at);
                !func.is_abstract
                    && is_read(func)
                    && self.shared.store.summary(*at).is_some_and(|it| it.diverges)
            })
    }
}
