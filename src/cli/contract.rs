//! Contracts whose function is nowhere: a mistake in `rowrace.toml`, once all of the tree was read.

use super::Streams;
use super::setup::{Plan, Setup};
use crate::base::Source;
use crate::config::{ConfigError, ConfigErrorKind};
use crate::discover::{self, Request};
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Complains about the contracts of `unfound` (position, nearest function) that `sources` must have shown.
pub(super) fn check(
    unfound: &[(usize, Option<String>)],
    sources: &[Source],
    (setup, plan): (&mut Setup, &Plan),
    streams: Streams,
) -> Result<()> {
    let mut errors = Vec::new();
    for (position, nearest) in unfound {
        let Some(claim) = plan.claims.get(*position) else { continue };
        let folder = setup.workspace.folder_of(claim).to_owned();
        if setup.workspace.is_named() || covers(setup, vec![folder], sources)? {
            let kind = ConfigErrorKind::NoFunction {
                at: claim.value.at.clone(),
                nearest: nearest.clone(),
            };
            errors.push(ConfigError { kind, file: claim.file, range: claim.range.clone() });
        }
    }
    setup.reject(errors, streams)
}

/// Whether every file below `folders` that findings can be in is among `sources`.
pub(super) fn covers(setup: &mut Setup, folders: Vec<PathBuf>, sources: &[Source]) -> Result<bool> {
    let read: BTreeSet<PathBuf> =
        sources.iter().map(|it| setup.workspace.path_of(&it.path)).collect();
    let request = Request { cwd: &setup.cwd, paths: &folders };
    let all = discover::list(&request, &mut setup.workspace)?;
    Ok(all.iter().all(|it| read.contains(it)))
}
