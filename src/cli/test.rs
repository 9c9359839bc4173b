//! `rowrace test`: do the rules and packs find in marked programs what the markers say, and nothing else?
//!
//! Each file directly in a folder that is named is a program of its own; each folder directly in it is
//! one program of all files below. A program without a marker must be silent.

use super::args::SetupArgs;
use super::setup::{Plan, Setup};
use super::{Exit, Streams, note};
use crate::base::{Lines, ProblemKind, Source, SourceId};
use crate::config::nearest;
use crate::discover;
use crate::engine::Engine;
use crate::marker::{self, Correction, Found, Kind, Marker};
use crate::report::{count, plain};
use crate::triage::triage;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// Folders of marked programs: each file in one, and each folder in one, is a program
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,

    #[command(flatten)]
    setup: SetupArgs,
}

/// What all programs came to.
#[derive(Default)]
struct Tally {
    lines: Vec<String>,
    n_missing: usize,
    n_noisy: usize,
    n_marked: usize,
    n_programs: usize,
}

pub(super) fn run(args: &TestArgs, streams: Streams) -> Result<Exit> {
    let mut setup = Setup::load(&args.setup, streams)?;
    let mut tally = Tally::default();
    for folder in &args.folders {
        for program in discover::entries(&setup.cwd, folder)? {
            let found = setup.find(&[program], streams)?;
            // A README beside the programs is none.
            if !found.sources.is_empty() {
                let plan = setup.plan(found.sources.iter().map(|it| &*it.path), streams)?;
                tally.program(&setup, &plan, &found.sources);
            }
        }
    }
    if tally.n_marked == 0 {
        let shown: Vec<_> = args.folders.iter().map(|it| format!("`{}`", it.display())).collect();
        bail!(
            "nothing to test: no file with a marker such as `//~ rule-id` in {}",
            shown.join(", ")
        );
    }
    streams.out(|out| tally.lines.iter().try_for_each(|it| writeln!(out, "{}", plain(it))))?;
    note(&tally.summary());
    Ok(if tally.lines.is_empty() { Exit::Clean } else { Exit::Findings })
}

impl Tally {
    fn program(&mut self, setup: &Setup, plan: &Plan, sources: &[Source]) {
        self.n_programs += 1;
        let markers: Vec<Marker> =
            sources.iter().flat_map(|it| marker::markers(&it.path, &it.text)).collect();
        let marked: BTreeSet<&str> = markers.iter().map(|it| &*it.path).collect();
        self.n_marked += marked.len();
        self.n_marked += self.roles(&plan.engine, sources, &marked);
        let outcome = plan.engine.analyze(sources);
        let triage = triage(outcome.findings, sources, &plan.configs);
        let found: Vec<Found> = triage
            .findings
            .iter()
            .filter_map(|it| Found::of(&it.finding, sources))
            .filter(|it| {
                !setup.is_of_program(&it.rule) || markers.iter().any(|m| m.rule == it.rule)
            })
            .collect();
        for correction in marker::corrections(&markers, &found) {
            self.correction(setup, &correction);
        }
        let internal = outcome.problems.iter().filter(|it| it.kind == ProblemKind::Internal);
        self.lines.extend(internal.map(|it| format!("{}: {}", it.path, it.message)));
    }

    fn correction(&mut self, setup: &Setup, correction: &Correction) {
        let is_missing = matches!(correction, Correction::Mark(_, Some(Kind::Missing)));
        self.n_missing += usize::from(is_missing);
        self.n_noisy += usize::from(matches!(correction, Correction::Add(_)));
        let mut line = correction.to_string();
        if let Correction::Mark(marker, _) = correction {
            let ids = setup.rule_ids();
            if !ids.contains(&&*marker.rule) {
                line.push_str(" (no such rule");
                let near = nearest(&marker.rule, &ids);
                line.extend(near.map(|it| format!(", did you mean `{it}`?")));
                line.push(')');
            }
        }
        self.lines.push(line);
    }

    /// The markers that name roles: what a pack says of a call. Gives the number of files that have no
    /// other markers.
    fn roles(&mut self, engine: &Engine, sources: &[Source], marked: &BTreeSet<&str>) -> usize {
        let all = sources.iter().map(|it| (it, marker::role_markers(&it.text)));
        let all: Vec<_> = all.filter(|(_, markers)| !markers.is_empty()).collect();
        if all.is_empty() {
            return 0;
        }
        let found = roles_by_line(engine, sources);
        let none = BTreeMap::new();
        for (source, markers) in &all {
            let found = found.get(&source.id).unwrap_or(&none);
            let wrong = marker::role_corrections(&source.path, markers, found);
            self.n_missing += wrong.len();
            self.lines.extend(wrong);
        }
        all.iter().filter(|(source, _)| !marked.contains(&*source.path)).count()
    }

    fn summary(&self) -> String {
        let programs = count(self.n_programs, "program");
        let marked = count(self.n_marked, "marked file");
        if self.lines.is_empty() {
            return format!("All markers hold: {marked} in {programs}");
        }
        let (missing, noisy) = (self.n_missing, self.n_noisy);
        let others = self.lines.len() - missing - noisy;
        let others = if others == 0 { String::new() } else { format!(", {others} other") };
        format!("{missing} missing, {noisy} noisy{others}: {marked} in {programs}")
    }
}

/// The words of the roles of all calls, by source and line.
fn roles_by_line(
    engine: &Engine,
    sources: &[Source],
) -> BTreeMap<SourceId, BTreeMap<usize, BTreeSet<&'static str>>> {
    let mut found: BTreeMap<SourceId, BTreeMap<usize, BTreeSet<&str>>> = BTreeMap::new();
    let lines: Vec<Lines> = sources.iter().map(|it| Lines::of(&it.text)).collect();
    for (span, roles) in engine.roles(sources) {
        let Some(lines) = lines.get(span.source.0 as usize) else { continue };
        let line = lines.line_index(span.start) + 1;
        found.entry(span.source).or_default().entry(line).or_default().extend(roles);
    }
    found
}
