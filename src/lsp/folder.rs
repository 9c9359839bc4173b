//! What does one workspace folder hold: its configuration, its sources, and what was last found in them?

use super::plan::{Plan, Planner, complaint};
use super::shift::Shift;
use crate::base::{Language, Source, SourceId};
use crate::discover::{self, Request};
use crate::engine::{Engine, Interrupt, Memo};
use crate::finding::Edit;
use crate::triage::{Triaged, expecting, triage};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    planner: Planner,
    /// How the sources are analysed; of an earlier configuration while that of now is broken.
    plan: Plan,
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
            planner: Planner::isolated(&root),
            root,
            plan: Plan::default(),
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
        let before = std::mem::replace(&mut self.planner, Planner::new(&self.root));
        let complaint = self.rescan()?;
        self.planner = before;
        // What is wrong was found already.
        let _ = self.rescan();
        Some(complaint)
    }

    /// Reads the sources anew. Gives why that was not possible.
    pub(super) fn rescan(&mut self) -> Option<String> {
        let request = Request { cwd: &self.root, paths: &[PathBuf::from(".")] };
        let found = match discover::discover(&request, &mut self.planner.workspace) {
            Ok(found) => found,
            Err(error) => return Some(complaint(error)),
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
        self.replan()
    }

    fn replan(&mut self) -> Option<String> {
        match self.planner.plan(&self.sources) {
            Ok(plan) => {
                self.plan = plan;
                None
            }
            Err(complaint) => Some(complaint),
        }
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
        // What is wrong with the configuration was said when it was read.
        let _ = self.replan();
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
        let engine = &self.plan.engine;
        let outcome = engine.analyze_again(&self.sources, &mut self.memo, interrupt);
        if let Some(outcome) = outcome {
            let configs = &self.plan.configs;
            self.findings = triage(outcome.findings, &self.sources, configs).findings;
            self.is_stale = false;
        }
    }

    /// The comment that answers for `found`. Until the user writes a reason in the place of the dots, it
    /// is itself complained of.
    pub(super) fn expecting(&self, found: &Triaged) -> Vec<Edit> {
        expecting(std::slice::from_ref(found), &self.sources, "...").0
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
