//! A panic in one file or function becomes a problem; the rest of the run goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `run`; a panic gives its message.
pub(super) fn run<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        panic
            .downcast_ref::<&str>()
            .map(|it| (*it).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic".to_owned())
    })
}
