//! `rowrace baseline`, and what `check` makes of one: which findings are known, and which entries dead?
//!
//! The baseline stands beside the `rowrace.toml` that holds for a finding's file, or where that says.
//! An entry is called dead only by a run that saw every file it may be about.

use super::args::SetupArgs;
use super::setup::{Plan, Setup, shown};
use super::{Exit, Streams, note, write};
use crate::base::{Language, Lines, Source, SourceId};
use crate::config::{BASELINE_NAME, Config};
use crate::discover;
use crate::report::{Complaint, count, plain, write_complaints};
use crate::triage::{Baseline, Suppressed, SuppressedBy, Triage, Triaged, joined, triage};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which baseline is used.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct BaselineArgs {
    /// Read this baseline instead of `rowrace-baseline.txt` beside the configuration
    #[arg(long, value_name = "FILE", conflicts_with = "ignore_baseline")]
    pub(super) baseline: Option<PathBuf>,

    /// Report what the baseline knows, too
    #[arg(long)]
    pub(super) ignore_baseline: bool,
}

/// Arguments of `rowrace baseline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
One line per finding, no line numbers, no counts: moved code still matches, and what two branches add
can be merged line by line. With this line in .gitattributes git does it by itself:

  rowrace-baseline.txt merge=union")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make everything that is found now known; on a part of the tree, keep what is known of the rest
    Write(Common),
    /// Remove entries that match no finding; never adds any
    Prune(Common),
    /// List the entries, each with the place of its finding today
    Show(Common),
}

#[derive(Debug, clap::Args)]
struct Common {
    /// Files and folders
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,

    /// The file, instead of `rowrace-baseline.txt` beside the configuration
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    #[command(flatten)]
    setup: SetupArgs,
}

pub(super) fn run(args: &Args, streams: Streams) -> Result<Exit> {
    let (Command::Write(common) | Command::Prune(common) | Command::Show(common)) = &args.command;
    let mut setup = Setup::load(&common.setup, streams)?;
    let found = setup.discover(&common.paths, streams)?;
    let plan = setup.plan(found.sources.iter().map(|it| &*it.path), streams)?;
    let outcome = plan.engine.analyze(&found.sources);
    let triage = triage(outcome.findings, &found.sources, &plan.configs);
    let named = BaselineArgs { baseline: common.baseline.clone(), ignore_baseline: false };
    let baselines = Baselines::read(&named, &mut setup, &plan, streams)?;
    let state = State { setup, plan, sources: found.sources, triage };
    match &args.command {
        Command::Write(_) => baselines.write(state),
        Command::Prune(_) => baselines.prune(state),
        Command::Show(_) => baselines.show(&state, streams),
    }
}

/// What a run found.
struct State {
    setup: Setup,
    plan: Plan,
    sources: Vec<Source>,
    triage: Triage,
}

/// One baseline.
struct File {
    path: PathBuf,
    shown: String,
    text: Option<String>,
    baseline: Baseline,
    /// What it may be about lies below one of these.
    folders: BTreeSet<PathBuf>,
}

/// All baselines of a run.
#[derive(Default)]
pub(super) struct Baselines {
    files: Vec<File>,
    /// For each configuration its baseline.
    of: Vec<usize>,
}

impl Baselines {
    /// Reads the baselines of all configurations.
    pub(super) fn read(
        args: &BaselineArgs,
        setup: &mut Setup,
        plan: &Plan,
        streams: Streams,
    ) -> Result<Self> {
        let mut out = Self::default();
        if args.ignore_baseline || setup.workspace.is_isolated() {
            return Ok(out);
        }
        for (config, origin) in plan.configs.all().iter().zip(&plan.origins) {
            let own = setup.workspace.file(*origin).map(|it| it.folder().to_owned());
            let cwd = setup.workspace.cwd();
            let path = match (&args.baseline, &config.baseline, &own) {
                (Some(named), ..) => cwd.join(named),
                (None, Some(it), _) => setup.workspace.folder_of(it).join(&it.value),
                (None, None, Some(own)) => own.join(BASELINE_NAME),
                (None, None, None) => find_upwards(cwd),
            };
            let folder = own.unwrap_or_else(|| match &args.baseline {
                Some(_) => cwd.to_owned(),
                None => path.parent().unwrap_or(cwd).to_owned(),
            });
            let known = out.files.iter().position(|it| it.path == path);
            let number = match known {
                Some(it) => it,
                None => out.add(path, cwd, streams)?,
            };
            out.files[number].folders.insert(folder);
            out.of.push(number);
        }
        if let Some(named) = &args.baseline
            && out.files.iter().all(|it| it.text.is_none())
        {
            // Only `write` makes one.
            note(&format!("`{}` does not exist yet", named.display()));
        }
        Ok(out)
    }

    fn add(&mut self, path: PathBuf, cwd: &Path, streams: Streams) -> Result<usize> {
        let shown = shown(&path, cwd);
        let text = if path.is_file() { Some(discover::read_text(&path)?) } else { None };
        let baseline = Baseline::parse(text.as_deref().unwrap_or_default()).or_else(|wrong| {
            let complaint = |range| Complaint {
                message: "this is no line of a baseline".to_owned(),
                range,
                help: Some(
                    "settle the merge, or write it anew: `rowrace baseline write`".to_owned(),
                ),
            };
            let complaints: Vec<_> = wrong.into_iter().map(complaint).collect();
            let text = text.as_deref().unwrap_or_default();
            streams.err(|out| write_complaints(&shown, text, &complaints, out));
            bail!("`{}` is not valid", plain(&shown))
        })?;
        self.files.push(File { path, shown, text, baseline, folders: BTreeSet::new() });
        Ok(self.files.len() - 1)
    }

    /// Takes out what is known, and reports what is dead. Gives the number of known findings.
    pub(super) fn settle(
        &self,
        triage: &mut Triage,
        sources: &mut Vec<Source>,
        setup: &mut Setup,
        plan: &Plan,
    ) -> Result<usize> {
        let mut more = Vec::new();
        let mut files = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let seen = self.seen(number, triage, plan);
            let id = SourceId(u32::try_from(sources.len() + files.len()).unwrap_or(u32::MAX));
            let dead = file.baseline.dead(&seen, id);
            if !dead.is_empty() && covers(file, sources, setup)? {
                more.extend(dead);
                files.push(file.source(id));
            }
        }
        let known: Vec<Triaged> = triage
            .findings
            .extract_if(.., |it| self.of_finding(it, plan).is_some_and(|file| file.knows(it)))
            .collect();
        let n_known = known.len();
        let by = SuppressedBy::Baseline;
        let known =
            known.into_iter().map(|triaged| Suppressed { triaged, by, reason: String::new() });
        triage.suppressed.extend(known);
        sources.extend(files);
        let findings = std::mem::take(&mut triage.findings);
        let config = plan.configs.all().first().cloned().unwrap_or_else(Config::default);
        triage.findings = joined(findings, more, sources, &config);
        Ok(n_known)
    }

    /// The baseline that a finding would be known by.
    fn of_finding(&self, triaged: &Triaged, plan: &Plan) -> Option<&File> {
        let number = plan.configs.number_of(triaged.finding.primary.source);
        self.of.get(number).and_then(|it| self.files.get(*it))
    }

    /// Fingerprints of all findings that the baseline of that number may be about.
    fn seen<'t>(&self, number: usize, triage: &'t Triage, plan: &Plan) -> BTreeSet<&'t str> {
        let is_own = |it: &&Triaged| {
            let config = plan.configs.number_of(it.finding.primary.source);
            self.of.get(config) == Some(&number)
        };
        let all = triage.findings.iter().chain(&triage.hidden);
        all.filter(is_own).map(|it| &*it.fingerprint).collect()
    }

    fn write(&self, mut state: State) -> Result<Exit> {
        for (number, file) in self.files.iter().enumerate() {
            let is_own = |it: &&Triaged| {
                let config = state.plan.configs.number_of(it.finding.primary.source);
                self.of.get(config) == Some(&number)
            };
            let mut baseline = Baseline::of(state.triage.findings.iter().filter(is_own));
            if file.text.is_some() && !covers(file, &state.sources, &mut state.setup)? {
                baseline = baseline.with(file.baseline.clone());
            }
            if file.text.is_none() && baseline.count() == 0 {
                note("No findings, nothing to write");
                continue;
            }
            file.put(&baseline)?;
            note(&format!("Wrote {} to `{}`", entries(baseline.count()), plain(&file.shown)));
        }
        Ok(Exit::Clean)
    }

    fn prune(&self, mut state: State) -> Result<Exit> {
        for (number, file) in self.files.iter().enumerate().filter(|it| it.1.text.is_some()) {
            if !covers(file, &state.sources, &mut state.setup)? {
                bail!(
                    "`{}` speaks of more files than these: prune it with all of them",
                    plain(&file.shown)
                );
            }
            let pruned =
                file.baseline.clone().pruned(&self.seen(number, &state.triage, &state.plan));
            let gone = file.baseline.count() - pruned.count();
            if gone > 0 {
                file.put(&pruned)?;
            }
            note(&format!("Removed {} from `{}`", entries(gone), plain(&file.shown)));
        }
        if self.files.iter().all(|it| it.text.is_none()) {
            note("There is no baseline to prune");
        }
        Ok(Exit::Clean)
    }

    fn show(&self, state: &State, streams: Streams) -> Result<Exit> {
        let mut lines = Vec::new();
        for (number, file) in self.files.iter().enumerate().filter(|it| it.1.text.is_some()) {
            let all = || state.triage.findings.iter().chain(&state.triage.hidden);
            lines.push(format!("{}:", file.shown));
            for entry in file.baseline.entries() {
                let is_own = |it: &&Triaged| {
                    let config = state.plan.configs.number_of(it.finding.primary.source);
                    it.fingerprint == entry.fingerprint && self.of.get(config) == Some(&number)
                };
                let place = all().find(is_own).map(|it| place(it, &state.sources));
                let place = place.unwrap_or_else(|| "no finding".to_owned());
                lines.push(format!("{place}: {}", entry.line));
            }
        }
        if lines.is_empty() {
            note("There is no baseline");
        }
        streams.out(|out| lines.iter().try_for_each(|it| writeln!(out, "{}", plain(it))))?;
        Ok(Exit::Clean)
    }
}

impl File {
    fn knows(&self, triaged: &Triaged) -> bool {
        self.baseline.knows(triaged)
    }

    fn source(&self, id: SourceId) -> Source {
        let text = self.text.clone().unwrap_or_default();
        // No front end reads it; it is only pointed into.
        Source { id, path: self.shown.clone(), language: Language::Sql, text, exempt: true }
    }

    fn put(&self, baseline: &Baseline) -> Result<()> {
        write::replace(&self.path, baseline.render().as_bytes())
    }
}

fn entries(number: usize) -> String {
    count(number, "entry").replace("entrys", "entries")
}

fn place(triaged: &Triaged, sources: &[Source]) -> String {
    let primary = triaged.finding.primary;
    let Some(source) = sources.get(primary.source.0 as usize) else { return String::new() };
    let line = Lines::of(&source.text).line_index(primary.start) + 1;
    format!("{}:{line}", source.path)
}

/// Whether every file that the baseline may be about is among `sources`.
fn covers(file: &File, sources: &[Source], setup: &mut Setup) -> Result<bool> {
    let folders = file.folders.iter().cloned().collect();
    super::contract::covers(setup, folders, sources)
}

fn find_upwards(cwd: &Path) -> PathBuf {
    let found = cwd.ancestors().map(|it| it.join(BASELINE_NAME)).find(|it| it.is_file());
    found.unwrap_or_else(|| cwd.join(BASELINE_NAME))
}
