//! Checks: from faults to findings.

pub mod message;
