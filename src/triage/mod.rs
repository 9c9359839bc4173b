//! Which findings are shown, as what, and in which order?
//!
//! In this order: sort and deduplicate, fingerprint, honour expect comments, apply levels, drop what is
//! below the wanted confidence. Fingerprints come before anything is left out, so that a finding keeps
//! its own whatever the configuration says about its neighbours.

mod expect;
mod fingerprint;
mod levels;
mod order;

use crate::base::Source;
use crate::config::Config;
use crate::finding::Finding;
pub use expect::{EXPECT_RULES, ExpectRule};

/// A finding that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triaged {
    /// The finding; its severity is final.
    pub finding: Finding,
    /// Sixteen hex digits that stay the same when code moves.
    pub fingerprint: String,
}

/// What triage leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triage {
    /// Findings in the order of the report.
    pub findings: Vec<Triaged>,
    /// How many findings an expect comment answers for.
    pub expected: usize,
}

/// Sorts out the findings of a run over `sources`.
pub fn triage(findings: Vec<Finding>, sources: &[Source], config: &Config) -> Triage {
    let findings = order::ordered(findings, sources);
    let findings = fingerprint::fingerprinted(findings, sources);
    let (findings, expected) = expect::apply(findings, sources);
    let mut findings = levels::leveled(findings, config);
    findings.retain(|it| it.finding.confidence >= config.min_confidence);
    Triage { findings, expected }
}
