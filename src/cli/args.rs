//! Which words does the command line understand?

use super::fresh::FreshArgs;
use super::input::InputArgs;
use super::output::{FormatArg, OutputArgs};
use super::shell::{CompletionsArgs, ManArgs};
use super::test::TestArgs;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  rowrace check                       what is below the working directory
  rowrace check src app/Jobs          some folders, as one program
  rowrace check --format json > out   for programs
  rowrace check --output sarif=a.sarif for code scanning, beside the terminal
  rowrace explain unguarded-update    a fault and its repair
  rowrace coverage                    what a run cannot resolve

Exit codes:
  0  no findings at warning or above
  1  findings at warning or above
  2  bad usage, bad configuration, nothing to analyse, or a fault of rowrace";

/// Finds row races: check-then-act state changes of database rows that two workers can both win.
#[derive(Debug, Parser)]
#[command(name = "rowrace", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,

    /// Colour the output
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Analyse files and folders as one program
    Check(CheckArgs),
    /// Keep the findings of today apart from those of tomorrow
    Baseline(super::baseline::Args),
    /// Say what holds for a file, and what can be configured
    Config(super::config::ConfigArgs),
    /// Write a first `rowrace.toml` after a look at what the tree uses
    Init(super::config::InitArgs),
    /// List all rules
    Rules(RulesArgs),
    /// Explain a rule: the fault, a bad and a good example
    Explain(ExplainArgs),
    /// Show what a run cannot resolve: unknown writes, locks and acks, unknown SQL, files not read
    Coverage(CoverageArgs),
    /// Print what a stage of the analysis makes of files
    Dump(DumpArgs),
    /// Serve an editor over standard input and output
    Lsp,
    /// Run rules and packs on marked programs: what is missing, what is noisy
    Test(TestArgs),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArgs),
    /// Print the manual page of the program or of one command
    Man(ManArgs),
}

/// Which rules and configuration are used.
#[derive(Debug, clap::Args)]
pub(super) struct SetupArgs {
    /// Add the rules and packs of a folder; one with the id of a built-in takes its place
    #[arg(long, value_name = "DIR")]
    pub(super) rules: Vec<PathBuf>,

    /// Read this file for all sources instead of the nearest `rowrace.toml` upwards from each
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(super) config: Option<PathBuf>,

    /// Read no `rowrace.toml` and no baseline
    #[arg(long)]
    pub(super) isolated: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Files and folders; the working directory when none is named
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) input: InputArgs,

    /// How findings are written
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(super) format: FormatArg,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    pub(super) setup: SetupArgs,

    /// Leave out findings with weaker evidence; `low` shows notes as well
    #[arg(long, value_enum, value_name = "CONFIDENCE")]
    pub(super) min_confidence: Option<ConfidenceArg>,

    /// Show notes too; JSON always has them
    #[arg(long)]
    pub(super) notes: bool,

    #[command(flatten)]
    pub(super) baseline: super::baseline::BaselineArgs,

    /// Write a comment that expects it for each finding into the sources, with this reason
    #[arg(long, value_name = "REASON")]
    pub(super) add_expect: Option<String>,

    /// Make the edits that findings come with: remove unused expect comments and dead baseline entries
    #[arg(long, conflicts_with = "add_expect")]
    pub(super) fix: bool,

    /// Exit with 0 even when there are findings
    #[arg(long)]
    pub(super) exit_zero: bool,

    /// Tell how much was understood, on standard error; `rowrace coverage` tells what was not
    #[arg(long)]
    pub(super) stats: bool,

    /// Print findings only: no summary, no problems
    #[arg(short, long)]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) fresh: FreshArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct RulesArgs {
    /// How rules are listed
    #[arg(long, value_enum, default_value_t = RulesFormatArg::Text)]
    pub(super) format: RulesFormatArg,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// Id of the rule, as in `error[unguarded-update]`
    pub(super) rule: String,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct CoverageArgs {
    /// Files and folders
    #[arg(default_value = ".")]
    pub(super) paths: Vec<PathBuf>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t = CoverageFormatArg::Text)]
    pub(super) format: CoverageFormatArg,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct DumpArgs {
    /// The stage
    #[arg(value_enum)]
    pub(super) stage: StageArg,

    /// Files and folders
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

/// How rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RulesFormatArg {
    /// One line per rule
    Text,
    /// One object
    Json,
    /// A page with a section for each rule
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CoverageFormatArg {
    /// Shares, and the most frequent names
    Text,
    /// One object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ConfidenceArg {
    Low,
    Medium,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StageArg {
    /// What the code says: functions, blocks, instructions
    Lower,
    /// What its calls mean: loads, checks, writes, locks
    Bind,
    /// All files joined
    Program,
    /// What each function does to the rows of its caller
    Summaries,
}
