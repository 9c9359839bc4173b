//! Which configuration and packs does a run use? Complaints are printed where they arise.

use super::args::SetupArgs;
use super::input::NothingToAnalyse;
use super::packs::Loader;
use super::{Streams, note};
use crate::config::{Config, ConfigError, Configs, Located};
use crate::discover::{
    self, Comparison, ConfigFault, DiscoverError, Discovered, Holding, Origin, Reach, Request,
    Workspace,
};
use crate::engine::{Engine, Options};
use crate::model::Claim;
use crate::pack::Packs;
use crate::report::{Complaint, plain, write_complaints};
use crate::triage::OWN_RULES;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// Everything that is settled before a source is read.
pub(super) struct Setup {
    pub(super) cwd: PathBuf,
    /// Of the working directory.
    pub(super) packs: Packs,
    pub(super) workspace: Workspace,
    loader: Loader,
}

/// How the sources of a run are analysed, and how what is found in them is shown.
pub(super) struct Plan {
    pub(super) configs: Configs,
    pub(super) engine: Engine,
    /// For each of the configurations where it comes from.
    pub(super) origins: Vec<Origin>,
    /// All contracts, in the order of the engine's.
    pub(super) claims: Vec<Located<Claim>>,
}

impl Setup {
    /// Reads configuration and packs.
    pub(super) fn load(args: &SetupArgs, streams: Streams) -> Result<Self> {
        let cwd = working_directory()?;
        let opened = Workspace::open(&cwd, args.config.as_deref());
        let mut workspace = accept(opened, streams)?;
        if args.isolated {
            workspace = Workspace::isolated(&cwd);
        }
        let here = workspace.cwd().to_owned();
        let origin = accept(workspace.nearest(&here), streams)?;
        let mut loader = Loader::new(&args.rules);
        let packs = loader.packs(&workspace.config(origin), &workspace, streams)?;
        let setup = Self { cwd, packs, workspace, loader };
        setup.check_rules(&setup.workspace.config(origin), &setup.packs, streams)?;
        Ok(setup)
    }

    /// Ids of all rules that can be configured, sorted.
    pub(super) fn rule_ids(&self) -> Vec<&str> {
        rule_ids(&self.packs)
    }

    /// Whether all rules with this id speak of a whole program.
    pub(super) fn is_of_program(&self, id: &str) -> bool {
        let mut rules = self.packs.rules.iter().filter(|it| &*it.id.0 == id).peekable();
        rules.peek().is_some() && rules.all(|it| it.fault.is_of_program())
    }

    /// Reads the sources below `paths`; there must be at least one.
    pub(super) fn discover(&mut self, paths: &[PathBuf], streams: Streams) -> Result<Discovered> {
        let found = self.find(paths, streams)?;
        if found.sources.is_empty() {
            for problem in &found.problems {
                note(&format!("{}: {}", plain(&problem.path), plain(&problem.message)));
            }
            let shown: Vec<_> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
            return Err(NothingToAnalyse(shown.join(", ")).into());
        }
        Ok(found)
    }

    /// Reads the sources below `paths`.
    pub(super) fn find(&mut self, paths: &[PathBuf], streams: Streams) -> Result<Discovered> {
        let request = Request { cwd: &self.cwd, paths };
        accept(discover::discover(&request, &mut self.workspace), streams)
    }

    /// What of `found`, the sources below `paths`, is compared with what of an earlier state.
    pub(super) fn compare(
        &mut self,
        paths: &[PathBuf],
        found: Discovered,
        reach: &Reach,
        streams: Streams,
    ) -> Result<Comparison> {
        let request = Request { cwd: &self.cwd, paths };
        accept(discover::compare(&request, &mut self.workspace, found, reach), streams)
    }

    /// Settles what holds for each of the sources shown under `paths`, in the order of their ids.
    pub(super) fn plan<'p>(
        &mut self,
        paths: impl IntoIterator<Item = &'p str>,
        streams: Streams,
    ) -> Result<Plan> {
        let mut holding = accept(self.workspace.holding(paths), streams)?;
        if holding.keys.is_empty() {
            let here = self.workspace.cwd().to_owned();
            holding.add((accept(self.workspace.nearest(&here), streams)?, Vec::new()));
        }
        self.plan_of(holding, streams)
    }

    fn plan_of(&mut self, holding: Holding, streams: Streams) -> Result<Plan> {
        let mut configs = Vec::new();
        let mut claims: Vec<Located<Claim>> = Vec::new();
        let mut tongues: Vec<(Packs, Options)> = Vec::new();
        let mut tongue_of = Vec::new();
        for (origin, fitting) in &holding.keys {
            let whole = self.workspace.config(*origin);
            let packs = self.loader.packs(&whole, &self.workspace, streams)?;
            self.check_rules(&whole, &packs, streams)?;
            let config = whole.for_source(fitting);
            claims.extend(whole.claims.iter().cloned());
            let options = Options::of(&config);
            let same = |it: &(Packs, Options)| it.0.hash == packs.hash && it.1 == options;
            tongue_of.push(tongues.iter().position(same).unwrap_or(tongues.len()));
            if tongue_of.last() == Some(&tongues.len()) {
                tongues.push((packs, options));
            }
            configs.push(config);
        }
        let speaks = holding.of.iter().map(|it| tongue_of[*it]).collect();
        claims.sort_by_key(|it| (it.file, it.range.start));
        claims.dedup();
        let contracts = claims.iter().map(|it| it.value.clone()).collect();
        let engine = Engine::of_many(tongues, speaks).with_claims(contracts);
        let origins = holding.keys.into_iter().map(|it| it.0).collect();
        Ok(Plan { configs: Configs::new(configs, holding.of), engine, origins, claims })
    }

    fn check_rules(&self, config: &Config, packs: &Packs, streams: Streams) -> Result<()> {
        let unknown = config.unknown_rules(&rule_ids(packs));
        self.reject(unknown, streams)
    }

    /// Shows what is wrong with a configuration, if anything is.
    pub(super) fn reject(&self, errors: Vec<ConfigError>, streams: Streams) -> Result<()> {
        if errors.is_empty() {
            return Ok(());
        }
        reject(&self.workspace.fault(errors), streams)
    }
}

/// The working directory.
pub(super) fn working_directory() -> Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the command line knows where it was started")]
    let cwd = std::env::current_dir().context("the working directory cannot be read")?;
    Ok(cwd)
}

fn rule_ids(packs: &Packs) -> Vec<&str> {
    let ids = packs.rules.iter().map(|it| &*it.id.0);
    let mut ids: Vec<&str> = ids.chain(OWN_RULES.iter().map(|it| it.id)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The result; a configuration that is not valid is shown first.
pub(super) fn accept<T>(result: Result<T, DiscoverError>, streams: Streams) -> Result<T> {
    match result {
        Err(DiscoverError::Config(fault)) => reject(&fault, streams),
        result => Ok(result?),
    }
}

/// Shows `fault` in its file; never gives a value.
fn reject<T>(fault: &ConfigFault, streams: Streams) -> Result<T> {
    let complaints: Vec<_> = fault
        .errors
        .iter()
        .map(|it| Complaint {
            message: it.kind.to_string(),
            range: it.range.clone(),
            help: it.kind.help(),
        })
        .collect();
    let shown = &fault.file.shown;
    streams.err(|out| write_complaints(shown, &fault.file.text, &complaints, out));
    bail!("`{}` is not valid", plain(shown))
}

/// The path for people: relative to the working directory where it lies below.
pub(super) fn shown(path: &Path, cwd: &Path) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}
