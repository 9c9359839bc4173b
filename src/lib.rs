//! rowrace finds *row races*: check-then-act state transitions on database rows that two workers or
//! two requests can both win, and worker code that loses a queue message when the claim fails.
//!
//! The modules stand in the order in which data flows through them; see `docs/architecture.md`.

pub mod base;

pub mod finding;

pub mod ir;

pub mod lang;

pub mod model;

pub mod rule;

pub mod pack;

pub mod analysis;

pub mod check;

pub mod engine;

pub mod config;

pub mod discover;

pub mod triage;

pub mod marker;

pub mod report;

pub mod lsp;

pub mod cli;
