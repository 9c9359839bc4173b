//! One test binary: everything that is checked from outside of the crate.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures and start the binary")]

mod baseline;
mod cases;
mod cli;
mod confidence;
mod config;
mod contracts;
mod coverage;
mod docs;
mod everyday;
mod examples;
mod expect;
mod guards;
mod hostile;
mod lang;
mod layering;
mod lsp;
mod marked;
mod markers;
mod messages;
mod output;
mod packs;
mod pages;
mod rules;
mod run;
mod schedule;
mod schemas;
mod since;
mod tidy;
mod tree;
mod twins;
