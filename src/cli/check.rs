//! `rowrace check`: analyse, report, and judge.

use super::args::{CheckArgs, ConfidenceArg};
use super::progress::Progress;
use super::setup::Setup;
use super::{Exit, Streams, note, output, rules};
use crate::base::{Problem, ProblemKind};
use crate::config::Config;
use crate::engine::Stats;
use crate::finding::{Confidence, Severity};
use crate::report::{Report, count, write_problems};
use crate::triage::{Triaged, triage};
use anyhow::Result;

/// How many problems are shown to people.
const SHOWN_PROBLEMS: usize = 10;

pub(super) fn run(args: &CheckArgs, streams: Streams) -> Result<Exit> {
    let mut setup = Setup::load(&args.setup, streams)?;
    if let Some(confidence) = args.min_confidence {
        setup.config.min_confidence = confidence.into();
    }
    let paths = args.input.paths(&args.paths, &setup.cwd)?;
    let input = args.input.read(&paths, &setup.cwd, |paths| setup.discover(paths, streams))?;
    let found = &input.found;
    let progress = Progress::start(&found.sources, args.quiet);
    let outcome = setup.engine().analyze(&found.sources);
    drop(progress);
    let mut triage = triage(outcome.findings, &found.sources, &setup.config);
    triage.findings.retain(|it| input.wants(&it.finding));
    triage.suppressed.retain(|it| input.wants(&it.triaged.finding));
    let mut problems = found.problems.clone();
    problems.extend(outcome.problems);
    problems.sort();
    let stats = stats(&outcome.stats, triage.expected);
    let shown: Vec<Triaged> =
        triage.findings.iter().filter(|it| shows(args, it)).cloned().collect();
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
    if !args.quiet && !args.format.has_problems() {
        let report = Report { findings: &shown, ..report };
        streams.err(|out| write_problems(&report, SHOWN_PROBLEMS, out));
        note(&summary(&triage.findings, shown.len(), &report));
    }
    Ok(judge(args, &setup.config, &triage.findings, &problems))
}

/// Whether a finding is shown in the format asked for.
fn shows(args: &CheckArgs, triaged: &Triaged) -> bool {
    args.format.has_notes()
        || args.notes
        || args.min_confidence == Some(ConfidenceArg::Low)
        || triaged.finding.severity > Severity::Note
}

fn stats(stats: &Stats, expected: usize) -> [(&'static str, usize); 6] {
    [
        ("files", stats.files),
        ("bytes", stats.bytes),
        ("functions", stats.functions),
        ("statements", stats.statements),
        ("unresolved_calls", stats.unresolved_calls),
        ("expected", expected),
    ]
}

/// `Found 3 findings (1 error, 2 warnings) in 120 files; 4 notes hidden, show them with --notes`.
fn summary(findings: &[Triaged], n_shown: usize, report: &Report<'_>) -> String {
    let files = count(report.sources.len(), "file");
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
    if !report.problems.is_empty() {
        line = format!("{line}; {}", count(report.problems.len(), "problem"));
    }
    line
}

fn number_of(severity: Severity, findings: &[Triaged]) -> usize {
    findings.iter().filter(|it| it.finding.severity == severity).count()
}

fn judge(args: &CheckArgs, config: &Config, findings: &[Triaged], problems: &[Problem]) -> Exit {
    let fails = |it: &Triaged| config.fail_level.is_some_and(|level| it.finding.severity >= level);
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
