//! `--add-expect` and `--fix`: the sources are told what is expected of them, and what no longer is.

use super::{Exit, note, write};
use crate::base::Source;
use crate::report::count;
use crate::triage::{Triaged, expecting, is_reason};
use anyhow::{Result, bail};
use std::path::Path;

/// Complains about a reason that no comment can hold.
pub(super) fn check_reason(reason: &str) -> Result<()> {
    if is_reason(reason) {
        return Ok(());
    }
    bail!("the reason must be one line of words without `*/`, `/*` and `?>`")
}

/// Writes a comment for each finding into the sources.
pub(super) fn add(
    findings: &[Triaged],
    sources: &[Source],
    reason: &str,
    cwd: &Path,
) -> Result<Exit> {
    let (edits, answered) = expecting(findings, sources, reason);
    let files = write::apply(&edits, sources, cwd)?;
    let comments = count(edits.len(), "comment");
    note(&format!(
        "Added {comments} for {} in {}",
        count(answered, "finding"),
        count(files, "file")
    ));
    if answered < findings.len() {
        let left = count(findings.len() - answered, "finding");
        note(&format!("No comment can answer for {left}"));
    }
    Ok(Exit::Clean)
}

/// Makes the edits that come with the findings, and gives those that come with none.
pub(super) fn fix(findings: Vec<Triaged>, sources: &[Source], cwd: &Path) -> Result<Vec<Triaged>> {
    let (mended, left): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|it| !it.finding.edits.is_empty());
    let edits: Vec<_> = mended.iter().flat_map(|it| it.finding.edits.clone()).collect();
    let files = write::apply(&edits, sources, cwd)?;
    if !mended.is_empty() {
        note(&format!("Fixed {} in {}", count(mended.len(), "finding"), count(files, "file")));
    }
    Ok(left)
}
