//! What does one workspace folder hold: its configuration, its sources, and what was last found in them?

use super::shift::Shift;
use crate::base::{Language, Source, SourceId};
use crate::config::{self, Config};
use crate::discover::{self, Request};
use crate::engine::{Engine, Interrupt, Memo, Options};
use crate::pack::Packs;
use crate::triage::{Triaged, triage};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Read once for all folders.
static BUILTIN: LazyLock<Packs> = LazyLock::new(Packs::builtin);

/// A document of the editor, in place of what the disk holds.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    /// Its text.
    pub(super) text: Arc<str>,
    /// Its language, when the editor names one that is analysed.
    pub(super) language: Option<Language>,
    /// The editor's number of it.
    pub(super) version: i32,
}

/// A workspace folder.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    engine: Option<Engine>,
    config: Config,
    /// Positions are ids, which stay the same as long as the folder is open.
    sources: Vec<Source>,
    /// What the disk holds, by position.
    on_disk: Vec<Arc<str>>,
    /// The last text of an open document that could be read whole.
    intact: BTreeMap<usize, Arc<str>>,
    by_path: BTreeMap<PathBuf, usize>,
    memo: Memo,
    findings: Vec<Triaged>,
    is_stale: bool,
}

impl Folder {
    /// A folder of which nothing has been read.
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            engine: None,
            config: Config::default(),
            sources: Vec::new(),
            on_disk: Vec::new(),
            intact: BTreeMap::new(),
            by_path: BTreeMap::new(),
            memo: Memo::default(),
            findings: Vec::new(),
            is_stale: true,
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether something changed since the last analysis.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Reads configuration, packs and sources anew. Gives what is wrong with the configuration, in which
    /// case the earlier one stays.
    pub(super) fn reload(&mut self) -> Option<String> {
        let loaded = load(&self.root);
        let complaint = match loaded {
            Ok((config, packs)) => {
                self.engine = Some(engine(packs, &config));
                self.config = config;
                None
            }
            Err(complaint) => {
                let builtin = || engine(BUILTIN.clone(), &Config::default());
                self.engine.get_or_insert_with(builtin);
                Some(complaint)
            }
        };
        complaint.or(self.rescan())
    }

    /// Reads the sources anew. Gives why that was not possible.
    pub(super) fn rescan(&mut self) -> Option<String> {
        let exclude: Vec<String> = self.config.exclude.iter().map(|it| it.value.clone()).collect();
        let request = Request {
            cwd: &self.root,
            paths: &[PathBuf::from(".")],
            exclude: &exclude,
            exclude_root: &self.root,
        };
        let found = match discover::discover(&request) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        let mut gone: Vec<bool> = vec![true; self.sources.len()];
        for source in found.sources {
            let path = self.root.join(&source.path);
            match self.by_path.get(&path).copied() {
                Some(at) => {
                    gone[at] = false;
                    self.on_disk[at] = source.text.as_str().into();
                    self.sources[at] = Source { id: self.sources[at].id, ..source };
                }
                None => self.add(path, source),
            }
        }
        for (at, _) in gone.iter().enumerate().filter(|it| *it.1) {
            self.empty(at);
        }
        self.is_stale = true;
        None
    }

    fn add(&mut self, path: PathBuf, source: Source) {
        let at = self.sources.len();
        let id = SourceId(u32::try_from(at).unwrap_or(u32::MAX));
        self.on_disk.push(source.text.as_str().into());
        self.sources.push(Source { id, ..source });
        self.by_path.insert(path, at);
    }

    /// A file that is gone keeps its id.
    fn empty(&mut self, at: usize) {
        self.on_disk[at] = "".into();
        self.sources[at].text.clear();
    }

    /// Puts `overlay` in the place of what the disk holds at `path`.
    pub(super) fn cover(&mut self, path: &Path, overlay: &Overlay) {
        let at = match self.by_path.get(path).copied() {
            Some(at) => at,
            None => match self.add_unsaved(path, overlay) {
                Some(at) => at,
                None => return,
            },
        };
        let source = &mut self.sources[at];
        let before = std::mem::replace(&mut source.text, overlay.text.to_string());
        // While something is being typed, what the file said before stands in.
        if Engine::parses(source) {
            self.intact.insert(at, Arc::clone(&overlay.text));
        } else {
            let kept = self.intact.get(&at).or(Some(&self.on_disk[at]));
            let stand_in = kept.filter(|it| {
                let old = Source { text: it.to_string(), ..source.clone() };
                !it.is_empty() && Engine::parses(&old)
            });
            if let Some(text) = stand_in.cloned() {
                source.text = text.to_string();
                self.intact.insert(at, text);
            }
        }
        self.is_stale |= self.sources[at].text != before;
    }

    /// A document that the disk does not hold yet. One that it holds was left out on purpose.
    fn add_unsaved(&mut self, path: &Path, overlay: &Overlay) -> Option<usize> {
        let relative = path.strip_prefix(&self.root).ok()?;
        let language = overlay.language.filter(|_| !path.exists())?;
        let path_shown = relative.to_string_lossy().replace('\\', "/");
        let source = Source {
            id: SourceId(0),
            path: path_shown,
            language,
            text: String::new(),
            exempt: false,
        };
        self.add(path.to_owned(), source);
        Some(self.sources.len() - 1)
    }

    /// What the disk holds at `path` counts again.
    pub(super) fn uncover(&mut self, path: &Path) {
        let Some(&at) = self.by_path.get(path) else { return };
        self.intact.remove(&at);
        if self.sources[at].text != *self.on_disk[at] {
            self.sources[at].text = self.on_disk[at].to_string();
            self.is_stale = true;
        }
    }

    /// Analyses the folder, unless `interrupt` is raised meanwhile; then it stays stale.
    pub(super) fn analyze(&mut self, interrupt: &Interrupt) {
        let Some(engine) = &self.engine else { return };
        let outcome = engine.analyze_again(&self.sources, &mut self.memo, interrupt);
        if let Some(outcome) = outcome {
            self.findings = triage(outcome.findings, &self.sources, &self.config).findings;
            self.is_stale = false;
        }
    }

    pub(super) fn findings(&self) -> &[Triaged] {
        &self.findings
    }

    /// The path of a source.
    pub(super) fn path(&self, id: SourceId) -> PathBuf {
        let shown = self.sources.get(id.0 as usize).map_or("", |it| &it.path);
        self.root.join(shown)
    }

    /// What was analysed of a source.
    pub(super) fn text(&self, id: SourceId) -> &str {
        self.sources.get(id.0 as usize).map_or("", |it| &it.text)
    }

    /// How what was analysed of a source became `current`.
    pub(super) fn shift(&self, id: SourceId, current: &str) -> Shift {
        Shift::between(self.text(id), current)
    }
}

/// Configuration and packs of the folder at `root`, or what is wrong with them.
fn load(root: &Path) -> Result<(Config, Packs), String> {
    let path = discover::find_upwards(root, config::FILE_NAME);
    let text = match &path {
        Some(path) => discover::read_text(path).map_err(|error| error.to_string())?,
        None => String::new(),
    };
    let shown = path.unwrap_or_default();
    let complain = |message: String| format!("{}: {message}", shown.display());
    let config = Config::parse(&text).map_err(|errors| {
        complain(errors.first().map(|it| it.kind.to_string()).unwrap_or_default())
    })?;
    let off: Vec<String> = config.packs_off.iter().map(|it| it.value.clone()).collect();
    if off.is_empty() {
        return Ok((config, BUILTIN.clone()));
    }
    let packs = Packs::load(&[], &off).map_err(|errors| {
        complain(errors.0.first().map(|it| it.kind.to_string()).unwrap_or_default())
    })?;
    Ok((config, packs))
}

fn engine(packs: Packs, config: &Config) -> Engine {
    let options = Options {
        state_columns: config.state_columns.clone(),
        never_columns: config.never_columns.clone(),
    };
    Engine::new(packs, options)
}
