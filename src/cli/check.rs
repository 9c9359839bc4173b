//! `rowrace check`: analyse, report, and judge.

use super::args::{CheckArgs, ConfidenceArg};
use super::baseline::Baselines;
use super::input::Input;
use super::progress::Progress;
use super::setup::Setup;
use super::{Exit, Streams, contract, expect, note, output, rules};
use crate::base::{Problem, ProblemKind};
use crate::config::Configs;
use crate::engine::Stats;
use crate::finding::{Confidence, Coverage, Severity};
use crate::report::{CoverageReport, Report, count, write_problems, write_shares};
use crate::triage::{DEAD_ENTRY_ID, Triaged, triage};
use anyhow::Result;

/// How many problems are shown to people.
const SHOWN_PROBLEMS: usize = 10;

pub(super) fn run(args: &CheckArgs, streams: Streams) -> Result<Exit> {
    args.add_expect.iter().try_for_each(|it| expect::check_reason(it))?;
    let mut setup = Setup::load(&args.setup, streams)?;
    let paths = args.input.paths(&args.paths, &setup.cwd)?;
    let Input { found, focus } = args.input.read(&paths, &mut setup, streams)?;
    let (mut found, before) = args.fresh.compare(&mut setup, &paths, found, streams)?;
    let mut plan = setup.plan(found.sources.iter().map(|it| &*it.path), streams)?;
    if let Some(confidence) = args.min_confidence {
        plan.configs.for_each(|it| it.set_min_confidence(confidence.into()));
    }
    let baselines = Baselines::read(&args.baseline, &mut setup, &plan, streams)?;
    let progress = Progress::start(&found.sources, args.quiet);
    let outcome = plan.engine.analyze(&found.sources);
    drop(progress);
    let mut triage = triage(outcome.findings, &found.sources, &plan.configs);
    let known = baselines.settle(&mut triage, &mut found.sources, &mut setup, &plan)?;
    let n_old = match before {
        Some(before) => {
            before.keep_fresh(args, &mut setup, &found.sources, &mut triage, streams)?
        }
        None => 0,
    };
    if args.fix {
        triage.findings = expect::fix(triage.findings, &found.sources, &setup.cwd)?;
    }
    triage.findings.retain(|it| focus.wants(&found.sources, &it.finding));
    triage.suppressed.retain(|it| focus.wants(&found.sources, &it.triaged.finding));
    let mut problems = found.problems;
    problems.extend(outcome.problems);
    problems.sort();
    let stats = stats(&outcome.stats, triage.expected, known);
    let shown: Vec<Triaged> =
        triage.findings.iter().filter(|it| shows(args, it)).cloned().collect();
    if let Some(reason) = &args.add_expect {
        return expect::add(&shown, &found.sources, reason, &setup.cwd);
    }
    let report = Report {
        sources: &found.sources,
        findings: &triage.findings,
        problems: &problems,
        stats: &stats,
        suppressed: &triage.suppressed,
        rules: &rules::cards(&setup),
        root: &setup.cwd.to_string_lossy().replace('\\', "/"),
    };
    output::write(args, &report, &shown, streams)?;
    if args.stats {
        shares(&report, &outcome.coverage, streams);
    }
    if !args.quiet && !args.format.has_problems() {
        let report = Report { findings: &shown, ..report };
        streams.err(|out| write_problems(&report, SHOWN_PROBLEMS, out));
        note(&summary(&triage.findings, shown.len(), &report, outcome.stats.files, (known, n_old)));
    }
    contract::check(&outcome.unfound, &found.sources, (&mut setup, &plan), streams)?;
    Ok(judge(args, &plan.configs, &triage.findings, &problems))
}

/// How much of the program was understood.
fn shares(report: &Report<'_>, coverage: &Coverage, streams: Streams) {
    let Report { sources, problems, .. } = *report;
    let coverage = CoverageReport { sources, coverage, problems };
    streams.err(|out| write_shares(&coverage, out));
}

/// Whether a finding is shown to people; programs are given notes as well.
fn shows(args: &CheckArgs, triaged: &Triaged) -> bool {
    args.notes
        || args.min_confidence == Some(ConfidenceArg::Low)
        || triaged.finding.severity > Severity::Note
}

fn stats(stats: &Stats, expected: usize, known: usize) -> [(&'static str, usize); 7] {
    [
        ("files", stats.files),
        ("bytes", stats.bytes),
        ("functions", stats.functions),
        ("statements", stats.statements),
        ("unresolved_calls", stats.unresolved_calls),
        ("expected", expected),
        ("known", known),
    ]
}

/// `Found 3 findings (1 error, 2 warnings) in 120 files; 4 notes hidden, show them with --notes`.
fn summary(
    findings: &[Triaged],
    n_shown: usize,
    report: &Report<'_>,
    n_files: usize,
    (known, n_old): (usize, usize),
) -> String {
    let files = count(n_files, "file");
    let mut line = if n_shown == 0 {
        format!("No findings in {files}")
    } else {
        let kinds =
            [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        let parts: Vec<String> = kinds
            .iter()
            .map(|(severity, noun)| (number_of(*severity, report.findings), noun))
            .filter(|(number, _)| *number > 0)
            .map(|(number, noun)| count(number, noun))
            .collect();
        format!("Found {} ({}) in {files}", count(n_shown, "finding"), parts.join(", "))
    };
    let hidden = findings.len() - n_shown;
    if hidden > 0 {
        line = format!("{line}; {} hidden, show with --notes", count(hidden, "note"));
    }
    if n_old > 0 {
        line = format!("{line}; {} not shown", count(n_old, "old finding"));
    }
    if known > 0 {
        line = format!("{line}; {known} known by the baseline");
    }
    let dead = findings.iter().filter(|it| *it.finding.rule.0 == *DEAD_ENTRY_ID).count();
    if dead > 0 {
        let entries = if dead == 1 { "entry" } else { "entries" };
        line = format!("{line}; {dead} dead {entries}, `rowrace baseline prune` removes them");
    }
    if !report.problems.is_empty() {
        line = format!("{line}; {}", count(report.problems.len(), "problem"));
    }
    line
}

fn number_of(severity: Severity, findings: &[Triaged]) -> usize {
    findings.iter().filter(|it| it.finding.severity == severity).count()
}

fn judge(args: &CheckArgs, configs: &Configs, findings: &[Triaged], problems: &[Problem]) -> Exit {
    let fails = |it: &Triaged| {
        let config = configs.of(it.finding.primary.source);
        config.fail_on().is_some_and(|level| it.finding.severity >= level)
    };
    if problems.iter().any(|it| it.kind == ProblemKind::Internal) {
        Exit::Failure
    } else if !args.exit_zero && findings.iter().any(fails) {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

impl From<ConfidenceArg> for Confidence {
    fn from(arg: ConfidenceArg) -> Self {
        match arg {
            ConfidenceArg::Low => Self::Low,
            ConfidenceArg::Medium => Self::Medium,
            ConfidenceArg::High => Self::High,
        }
    }
}
