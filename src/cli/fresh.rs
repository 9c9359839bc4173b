//! `--since` and `--staged`: which findings are new, as seen from git?

use super::Streams;
use super::setup::Setup;
use crate::base::Source;
use crate::discover::{Discovered, Reach};
use crate::triage::{State, Triage, fresh, is_same_program, triage};
use anyhow::Result;
use std::path::PathBuf;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Only what is new")]
pub(super) struct FreshArgs {
    /// Report what is new against the merge base of REF and HEAD, in any file, and what touches a line
    /// changed since
    #[arg(long, value_name = "REF", conflicts_with = "staged")]
    since: Option<String>,

    /// Analyse what is staged, and report what is new against HEAD or touches a staged line
    #[arg(long)]
    staged: bool,
}

/// The program as it was before; `None` when it is not asked for.
pub(super) struct Before {
    sources: Option<Vec<Source>>,
}

impl FreshArgs {
    /// What is to be analysed of what was `found`, and what it is compared with.
    pub(super) fn compare(
        &self,
        setup: &Setup,
        paths: &[PathBuf],
        found: Discovered,
        streams: Streams,
    ) -> Result<(Discovered, Before)> {
        let Some(reach) = self.reach() else { return Ok((found, Before { sources: None })) };
        let comparison = setup.compare(paths, found, &reach, streams)?;
        let before = Before { sources: Some(comparison.base.sources) };
        Ok((comparison.head, before))
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
    pub(super) fn keep_fresh(
        &self,
        setup: &Setup,
        sources: &[Source],
        after: &mut Triage,
    ) -> usize {
        let Some(before) = &self.sources else { return 0 };
        let n_all = after.findings.len();
        if is_same_program(sources, before) {
            after.findings.clear();
        } else if n_all > 0 {
            let outcome = setup.engine().analyze(before);
            let base = triage(outcome.findings, before, &setup.config);
            let head = State { sources, findings: &after.findings };
            after.findings = fresh(head, State { sources: before, findings: &base.findings });
        }
        n_all - after.findings.len()
    }
}
