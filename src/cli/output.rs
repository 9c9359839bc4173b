//! Where a result goes, and in which form: the terminal, files, the summary of a job.

use super::Streams;
use super::args::CheckArgs;
use crate::report::{
    Format, Report, colored, write_report, write_statistics, write_statistics_json, write_summary,
};
use crate::triage::Triaged;
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct OutputArgs {
    /// Write a further report to a file, as in `sarif=rowrace.sarif`; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = target)]
    output: Vec<Target>,

    /// Show how many findings there are of each rule, as text or JSON, instead of the findings
    #[arg(long)]
    statistics: bool,

    /// Leave expected findings out of SARIF; GitHub shows suppressed results as open ones
    #[arg(long)]
    hide_suppressed: bool,
}

/// A report that goes to a file.
#[derive(Clone, Debug)]
struct Target {
    format: FormatArg,
    path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    /// With excerpts of the source
    #[value(alias = "full")]
    Text,
    /// One line per finding
    Concise,
    /// One object
    Json,
    /// One object a line
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions, and a job summary
    Github,
    /// GitLab code quality
    Gitlab,
    /// Checkstyle XML
    Checkstyle,
    /// JUnit XML
    Junit,
    /// Diagnostics of the language server protocol, one object a line for each file
    Lsp,
}

impl FormatArg {
    /// Whether it has all notes, asked for or not.
    pub(super) fn has_notes(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// Whether problems are a part of it.
    pub(super) fn has_problems(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl | Self::Sarif)
    }
}

/// `FORMAT=FILE`.
fn target(text: &str) -> Result<Target, String> {
    let (format, path) = text.split_once('=').ok_or("write it as FORMAT=FILE")?;
    if path.is_empty() {
        return Err("the file has no name".to_owned());
    }
    Ok(Target { format: FormatArg::from_str(format, true)?, path: path.into() })
}

/// Writes `report`, which has all findings, to all places that were asked for; `shown` are those for
/// people.
pub(super) fn write(
    args: &CheckArgs,
    report: &Report<'_>,
    shown: &[Triaged],
    streams: Streams,
) -> Result<()> {
    let suppressed = if args.output.hide_suppressed { &[] } else { report.suppressed };
    let report = Report { suppressed, ..*report };
    let for_people = Report { findings: shown, ..report };
    let of = |format: FormatArg| if format.has_notes() { &report } else { &for_people };
    terminal(args, of(args.format), streams)?;
    for Target { format, path } in &args.output.output {
        file(path, of(*format), *format)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let is_github = |it: FormatArg| it == FormatArg::Github;
    let asked = is_github(args.format) || args.output.output.iter().any(|it| is_github(it.format));
    match std::env::var_os("GITHUB_STEP_SUMMARY").filter(|it| asked && !it.is_empty()) {
        Some(path) => summary(&path, &for_people).context("cannot write the job summary"),
        None => Ok(()),
    }
}

fn terminal(args: &CheckArgs, report: &Report<'_>, streams: Streams) -> Result<()> {
    match (args.output.statistics, args.format) {
        (false, format) => streams.out(|out| write_report(report, format.into(), out)),
        (true, FormatArg::Text) => streams.out(|out| write_statistics(report, out)),
        (true, FormatArg::Json) => streams.out(|out| write_statistics_json(report, out)),
        (true, _) => bail!("`--statistics` comes as text or json"),
    }
}

fn file(path: &Path, report: &Report<'_>, format: FormatArg) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut out = colored(BufWriter::new(File::create(path)?), false);
    write_report(report, format.into(), &mut *out)?;
    Ok(out.flush()?)
}

/// Other steps of the job write to the same file.
fn summary(path: &OsString, report: &Report<'_>) -> Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().append(true).create(true).open(path)?);
    write_summary(report, &mut out)?;
    Ok(out.flush()?)
}

impl From<FormatArg> for Format {
    fn from(arg: FormatArg) -> Self {
        match arg {
            FormatArg::Text => Self::Text,
            FormatArg::Concise => Self::Concise,
            FormatArg::Json => Self::Json,
            FormatArg::Jsonl => Self::Jsonl,
            FormatArg::Sarif => Self::Sarif,
            FormatArg::Github => Self::Github,
            FormatArg::Gitlab => Self::Gitlab,
            FormatArg::Checkstyle => Self::Checkstyle,
            FormatArg::Junit => Self::Junit,
            FormatArg::Lsp => Self::Lsp,
        }
    }
}
