//! What does the whole workspace say: its folders, with the open documents laid over them?

use super::diagnostic::{FileReport, Page, convert};
use super::folder::{Folder, Overlay};
use super::position::Encoding;
use crate::base::{Language, SourceId};
use crate::engine::Interrupt;
use lsp_types::Url;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Something that may change what is found.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// A document was opened or edited.
    Edited(Url, Overlay),
    /// A document was closed: the disk counts again.
    Closed(Url),
    /// Files were created, changed or deleted.
    FilesChanged(Vec<Url>),
    /// The configuration may be another.
    Configured,
    /// Folders came and went.
    Folders {
        /// New ones.
        added: Vec<Url>,
        /// Those that are gone.
        removed: Vec<Url>,
    },
}

/// The findings of all files that have some, by file.
pub(super) type Reports = BTreeMap<Url, FileReport>;

/// Folders and open documents.
#[derive(Debug)]
pub(super) struct Workspace {
    encoding: Encoding,
    folders: Vec<Folder>,
    open: BTreeMap<PathBuf, Overlay>,
    /// What the user should be told.
    messages: Vec<String>,
}

impl Workspace {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self { encoding, folders: Vec::new(), open: BTreeMap::new(), messages: Vec::new() }
    }

    /// What the user should be told since the last call.
    pub(super) fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// Whether something changed since the last analysis.
    pub(super) fn is_stale(&self) -> bool {
        self.folders.iter().any(Folder::is_stale)
    }

    pub(super) fn apply(&mut self, event: Event) {
        match event {
            Event::Edited(url, overlay) => self.edited(&url, overlay),
            Event::Closed(url) => self.closed(&url),
            Event::FilesChanged(urls) => self.files_changed(&urls),
            Event::Configured => (0..self.folders.len()).for_each(|it| self.reload(it)),
            Event::Folders { added, removed } => self.folders_changed(&added, &removed),
        }
    }

    fn edited(&mut self, url: &Url, overlay: Overlay) {
        let Some(path) = path_of(url) else { return };
        if self.folder_of(&path).is_none() {
            // A single file without a workspace is a program of its own.
            let Some(parent) = path.parent() else { return };
            self.folders.push(Folder::new(parent.to_owned()));
            self.reload(self.folders.len() - 1);
        }
        if let Some(at) = self.folder_of(&path) {
            self.folders[at].cover(&path, &overlay);
        }
        self.open.insert(path, overlay);
    }

    fn closed(&mut self, url: &Url) {
        let Some(path) = path_of(url) else { return };
        self.open.remove(&path);
        if let Some(at) = self.folder_of(&path) {
            self.folders[at].uncover(&path);
        }
    }

    fn files_changed(&mut self, urls: &[Url]) {
        let paths: Vec<PathBuf> = urls.iter().filter_map(path_of).collect();
        let is_toml = |it: &PathBuf| it.extension().is_some_and(|it| it == "toml");
        let is_ignore = |it: &PathBuf| it.file_name().is_some_and(|it| it == ".gitignore");
        for at in 0..self.folders.len() {
            let inside = |it: &&PathBuf| it.starts_with(self.folders[at].root());
            let inside: Vec<&PathBuf> = paths.iter().filter(inside).collect();
            if inside.iter().any(|it| is_toml(it)) {
                self.reload(at);
            } else if inside.iter().any(|it| is_ignore(it) || !self.open.contains_key(*it)) {
                let complaint = self.folders[at].rescan();
                self.messages.extend(complaint);
                self.cover_open(at);
            }
        }
    }

    fn folders_changed(&mut self, added: &[Url], removed: &[Url]) {
        let removed: Vec<PathBuf> = removed.iter().filter_map(path_of).collect();
        self.folders.retain(|it| !removed.iter().any(|root| root == it.root()));
        for root in added.iter().filter_map(path_of) {
            if self.folders.iter().all(|it| it.root() != root) {
                self.folders.push(Folder::new(root));
                self.reload(self.folders.len() - 1);
            }
        }
    }

    fn reload(&mut self, at: usize) {
        let complaint = self.folders[at].reload();
        self.messages.extend(complaint);
        self.cover_open(at);
    }

    fn cover_open(&mut self, at: usize) {
        for (path, overlay) in &self.open {
            if path.starts_with(self.folders[at].root()) {
                self.folders[at].cover(path, overlay);
            }
        }
    }

    /// The innermost folder that holds `path`.
    fn folder_of(&self, path: &Path) -> Option<usize> {
        let holds = |it: &(usize, &Folder)| path.starts_with(it.1.root());
        let length = |it: &(usize, &Folder)| it.1.root().as_os_str().len();
        self.folders.iter().enumerate().filter(holds).max_by_key(length).map(|it| it.0)
    }

    /// Analyses what is stale.
    pub(super) fn analyze(&mut self, interrupt: &Interrupt) {
        for folder in self.folders.iter_mut().filter(|it| it.is_stale()) {
            folder.analyze(interrupt);
        }
    }

    /// All findings, as the editor wants them.
    pub(super) fn reports(&self) -> Reports {
        let mut out = Reports::new();
        for folder in &self.folders {
            let mut pages: BTreeMap<SourceId, Page> = BTreeMap::new();
            for found in folder.findings() {
                let spans = found.finding.steps.iter().map(|it| it.span.source);
                for id in spans.chain([found.finding.primary.source]) {
                    pages.entry(id).or_insert_with(|| self.page(folder, id));
                }
                convert(found, &folder.expecting(found), &pages, &mut out);
            }
        }
        out
    }

    fn page(&self, folder: &Folder, id: SourceId) -> Page {
        let path = folder.path(id);
        let open = self.open.get(&path);
        let text = open.map_or(folder.text(id), |it| &*it.text);
        Page::new(&path, text, folder.shift(id, text), self.encoding)
            .with_version(open.map(|it| it.version))
    }
}

/// The language of a document, by the editor's word for it.
pub(super) fn language_of(word: &str) -> Option<Language> {
    match word {
        "php" => Some(Language::Php),
        "rust" => Some(Language::Rust),
        "sql" | "mysql" | "postgres" => Some(Language::Sql),
        _ => None,
    }
}

/// The path of a file; `None` for what lies elsewhere.
fn path_of(url: &Url) -> Option<PathBuf> {
    url.to_file_path().ok()
}
