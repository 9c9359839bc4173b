//! `--since` and `--staged`: which findings are new, as seen from git?

use super::Streams;
use super::args::CheckArgs;
use super::setup::Setup;
use crate::base::Source;
use crate::discover::{Discovered, Reach};
use crate::triage::{State, Triage, fresh, is_same_program, triage};
use anyhow::Result;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct FreshArgs {
    /// Report only what is new against the merge base of REF and HEAD, in any file, or touches a line
    /// changed since
    #[arg(long, value_name = "REF", conflicts_with = "staged")]
    since: Option<String>,

    /// Analyse what is staged; report only what is new against HEAD or touches a staged line
    #[arg(long, conflicts_with_all = ["fix", "add_expect"])]
    staged: bool,
}

/// The program as it was before.
pub(super) struct Before {
    sources: Vec<Source>,
    /// How many sources the program has now.
    n_head: usize,
}

impl FreshArgs {
    /// What is to be analysed of what was `found`, and what it is compared with, if it is.
    pub(super) fn compare(
        &self,
        setup: &mut Setup,
        paths: &[PathBuf],
        found: Discovered,
        streams: Streams,
    ) -> Result<(Discovered, Option<Before>)> {
        let Some(reach) = self.reach() else { return Ok((found, None)) };
        let comparison = setup.compare(paths, found, &reach, streams)?;
        let n_head = comparison.head.sources.len();
        let before = Before { sources: comparison.base.sources, n_head };
        Ok((comparison.head, Some(before)))
    }

    fn reach(&self) -> Option<Reach> {
        if self.staged {
            // Set by git for a hook of `git commit -a` or `git commit FILE`.
            let index = std::env::var_os("GIT_INDEX_FILE").filter(|it| !it.is_empty());
            return Some(Reach::Staged { index: index.map(PathBuf::from) });
        }
        self.since.clone().map(Reach::Since)
    }
}

impl Before {
    /// Leaves what is new in `after`, the triage of `sources`; gives how many findings are old.
    /// What is said of files that are not part of the program, such as a baseline, stays.
    pub(super) fn keep_fresh(
        &self,
        args: &CheckArgs,
        setup: &mut Setup,
        sources: &[Source],
        after: &mut Triage,
        streams: Streams,
    ) -> Result<usize> {
        let n_all = after.findings.len();
        let sources = &sources[..self.n_head.min(sources.len())];
        let is_of_program = |at: usize| at < sources.len();
        let (findings, others): (Vec<_>, Vec<_>) = std::mem::take(&mut after.findings)
            .into_iter()
            .partition(|it| is_of_program(it.finding.primary.source.0 as usize));
        if !findings.is_empty() && !is_same_program(sources, &self.sources) {
            let mut plan = setup.plan(self.sources.iter().map(|it| &*it.path), streams)?;
            if let Some(confidence) = args.min_confidence {
                plan.configs.for_each(|it| it.set_min_confidence(confidence.into()));
            }
            let outcome = plan.engine.analyze(&self.sources);
            let base = triage(outcome.findings, &self.sources, &plan.configs);
            let base = State { sources: &self.sources, findings: &base.findings };
            after.findings = fresh(State { sources, findings: &findings }, base);
        }
        after.findings.extend(others);
        Ok(n_all - after.findings.len())
    }
}
