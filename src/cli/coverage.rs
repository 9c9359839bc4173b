//! `rowrace coverage`: what a run could not resolve.

use super::args::{CoverageArgs, CoverageFormatArg};
use super::setup::Setup;
use super::{Exit, Streams};
use crate::base::ProblemKind;
use crate::report::{CoverageReport, write_coverage, write_coverage_json};
use anyhow::Result;

pub(super) fn run(args: &CoverageArgs, streams: Streams) -> Result<Exit> {
    let mut setup = Setup::load(&args.setup, streams)?;
    let found = setup.discover(&args.paths, streams)?;
    let plan = setup.plan(found.sources.iter().map(|it| &*it.path), streams)?;
    let outcome = plan.engine.analyze(&found.sources);
    let mut problems = found.problems;
    problems.extend(outcome.problems);
    problems.sort();
    let report = CoverageReport {
        sources: &found.sources,
        coverage: &outcome.coverage,
        problems: &problems,
    };
    streams.out(|out| match args.format {
        CoverageFormatArg::Text => write_coverage(&report, out),
        CoverageFormatArg::Json => write_coverage_json(&report, out),
    })?;
    let is_broken = problems.iter().any(|it| it.kind == ProblemKind::Internal);
    Ok(if is_broken { Exit::Failure } else { Exit::Clean })
}
