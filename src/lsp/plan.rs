//! How are the sources of a folder analysed: which configuration and which packs hold for each of them?

use crate::base::Source;
use crate::config::{Config, Configs};
use crate::discover::{self, DiscoverError, Holding, Origin, Workspace};
use crate::engine::{Engine, Options};
use crate::model::Claim;
use crate::pack::Packs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Read once for all folders.
static BUILTIN: LazyLock<Packs> = LazyLock::new(Packs::builtin);

/// What holds for the sources of a folder.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) configs: Configs,
    pub(super) engine: Engine,
}

impl Default for Plan {
    fn default() -> Self {
        let engine = Engine::new(BUILTIN.clone(), Options::default());
        Self { configs: Config::default().into(), engine }
    }
}

/// Reads configurations and packs, each once.
#[derive(Debug)]
pub(super) struct Planner {
    pub(super) workspace: Workspace,
    packs: BTreeMap<(Vec<PathBuf>, Vec<String>), Packs>,
}

impl Planner {
    /// A planner for the folder at `root`, which has read nothing.
    pub(super) fn new(root: &Path) -> Self {
        let workspace = Workspace::open(root, None).unwrap_or_else(|_| Workspace::isolated(root));
        Self { workspace, packs: BTreeMap::new() }
    }

    /// A planner that reads no configuration.
    pub(super) fn isolated(root: &Path) -> Self {
        Self { workspace: Workspace::isolated(root), packs: BTreeMap::new() }
    }

    /// What holds for `sources`, or what is wrong with a configuration.
    pub(super) fn plan(&mut self, sources: &[Source]) -> Result<Plan, String> {
        let paths = sources.iter().map(|it| &*it.path);
        let Holding { keys, of, .. } = self.workspace.holding(paths).map_err(complaint)?;
        if keys.is_empty() {
            return Ok(Plan::default());
        }
        self.plan_of(&keys, of)
    }

    fn plan_of(&mut self, keys: &[(Origin, Vec<usize>)], of: Vec<usize>) -> Result<Plan, String> {
        let mut configs = Vec::new();
        let mut tongues = Vec::new();
        let mut claims: Vec<Claim> = Vec::new();
        for (origin, fitting) in keys {
            let whole = self.workspace.config(*origin);
            let packs = self.packs_of(&whole)?;
            let config = whole.for_source(fitting);
            for claim in whole.claims.iter().map(|it| it.value.clone()) {
                if !claims.contains(&claim) {
                    claims.push(claim);
                }
            }
            tongues.push((packs, Options::of(&config)));
            configs.push(config);
        }
        let engine = Engine::of_many(tongues, of.clone()).with_claims(claims);
        Ok(Plan { configs: Configs::new(configs, of), engine })
    }

    fn packs_of(&mut self, config: &Config) -> Result<Packs, String> {
        let folders = self.workspace.rule_folders(config).map_err(complaint)?;
        let off: Vec<String> = config.packs_off().into_iter().map(|it| it.value).collect();
        if folders.is_empty() && off.is_empty() {
            return Ok(BUILTIN.clone());
        }
        let wanted = (folders, off);
        if let Some(known) = self.packs.get(&wanted) {
            return Ok(known.clone());
        }
        let mut files = Vec::new();
        for folder in &wanted.0 {
            files.extend(discover::read_toml_folder(folder).map_err(complaint)?);
        }
        let packs = Packs::load(&files, &wanted.1).map_err(|errors| {
            let first = errors.0.first();
            let place = first.and_then(|it| it.place.as_ref()).map(|it| format!("{}: ", it.path));
            let message = first.map(|it| it.kind.to_string()).unwrap_or_default();
            format!("{}{message}", place.unwrap_or_default())
        })?;
        self.packs.insert(wanted, packs.clone());
        Ok(packs)
    }
}

/// One line for the user.
pub(super) fn complaint(error: DiscoverError) -> String {
    match error {
        DiscoverError::Config(fault) => {
            let kind = fault.errors.first().map(|it| it.kind.to_string()).unwrap_or_default();
            format!("{}: {kind}", fault.file.shown)
        }
        error => error.to_string(),
    }
}
