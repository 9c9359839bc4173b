//! rowrace finds *row races*: check-then-act state transitions on database rows that two workers or
//! two requests can both win, and worker code that loses a queue message when the claim fails.
//!
//! The modules stand in the order in which data flows through them; see `docs/architecture.md`.

pub mod analysis;
pub mod base;
pub mod finding;
pub mod ir;
pub mod model;
pub mod pack;
pub mod rule;
