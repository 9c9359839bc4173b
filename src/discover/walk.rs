//! Which files stand below the paths that the user named?
//!
//! A *candidate* is a file whose name is of interest; it is not opened here. The *key* of a file is its
//! canonical path: the same file reached twice, over a link or an overlapping path, is read once.

use super::exempt::is_exempt;
use super::globs::Globs;
use super::language::Hint;
use super::{DiscoverError, Request};
use crate::base::{Problem, ProblemKind};
use ignore::{DirEntry, WalkBuilder};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Folders of other people's code and of build results; walked only when named outright.
const SKIPPED: [&str; 6] =
    ["vendor", "node_modules", "bower_components", "jspm_packages", "__pycache__", "site-packages"];

/// A file that will be read.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Path for people.
    pub(super) shown: String,
    /// Path to open.
    pub(super) path: PathBuf,
    /// What its name says.
    pub(super) hint: Hint,
    /// Whether it is read for its declarations only.
    pub(super) exempt: bool,
    /// Whether the user named the file itself.
    pub(super) is_named: bool,
    is_link: bool,
}

/// All candidates below the paths of `request`, sorted by the path shown.
pub(super) fn candidates(
    request: &Request<'_>,
    pruned: Globs,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Candidate>, DiscoverError> {
    let cwd = fs::canonicalize(request.cwd).unwrap_or_else(|_| request.cwd.to_owned());
    let mut walk = Walk { cwd, pruned: Arc::new(pruned), found: BTreeMap::new(), problems };
    for given in request.paths {
        walk.root(given)
            .map_err(|source| DiscoverError::Path { path: given.display().to_string(), source })?;
    }
    let mut found: Vec<_> = walk.found.into_values().collect();
    found.sort_by(|a, b| a.shown.cmp(&b.shown));
    Ok(found)
}

struct Walk<'a> {
    cwd: PathBuf,
    /// Folders that are not entered.
    pruned: Arc<Globs>,
    found: BTreeMap<PathBuf, Candidate>,
    problems: &'a mut Vec<Problem>,
}

impl Walk<'_> {
    /// Adds what the user named: a file, or all of a folder.
    fn root(&mut self, given: &Path) -> io::Result<()> {
        let root = fs::canonicalize(self.cwd.join(given))?;
        let shown = shown_root(given, &root, &self.cwd);
        let metadata = fs::metadata(&root)?;
        if metadata.is_dir() {
            self.folder(&root, &shown);
        } else if metadata.is_file() {
            let hint = Hint::of(&root).unwrap_or(Hint::PhpByFirstLine);
            let exempt = root.file_name().is_some_and(|it| is_exempt(Path::new(it)));
            let shown = slashed(&shown);
            let (is_named, is_link) = (true, false);
            let candidate =
                Candidate { shown, path: root.clone(), hint, exempt, is_named, is_link };
            self.add(root, candidate);
        } else {
            self.not_regular(&shown);
        }
        Ok(())
    }

    fn folder(&mut self, root: &Path, shown: &Path) {
        let pruned = Arc::clone(&self.pruned);
        let walk = WalkBuilder::new(root)
            .require_git(false)
            .follow_links(false)
            .filter_entry(move |entry| is_wanted(entry, &pruned))
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.depth() > 0 => self.entry(&entry, root, shown),
                Ok(_) => (),
                Err(error) => self.unreadable(&error, root, shown),
            }
        }
    }

    fn entry(&mut self, entry: &DirEntry, root: &Path, shown_root: &Path) {
        let Some(kind) = entry.file_type() else { return };
        let path = entry.path();
        let Some(hint) = Hint::of(path) else { return };
        if kind.is_dir() {
            return;
        }
        let relative = path.strip_prefix(root).unwrap_or(path);
        let shown = shown_root.join(relative);
        let is_link = kind.is_symlink();
        let key = if is_link {
            match self.link_target(path, hint, &shown) {
                Some(target) => target,
                None => return,
            }
        } else if kind.is_file() {
            path.to_owned()
        } else {
            if hint != Hint::PhpByFirstLine {
                self.not_regular(&shown);
            }
            return;
        };
        let exempt = is_exempt(relative);
        let shown = slashed(&shown);
        let is_named = false;
        let candidate = Candidate { shown, path: key.clone(), hint, exempt, is_named, is_link };
        self.add(key, candidate);
    }

    /// Where a link leads, when that is a file. Links to folders are not followed.
    fn link_target(&mut self, path: &Path, hint: Hint, shown: &Path) -> Option<PathBuf> {
        let target = fs::canonicalize(path).and_then(|it| Ok((fs::metadata(&it)?, it)));
        match target {
            Ok((metadata, target)) if metadata.is_file() => Some(target),
            Ok((metadata, _)) if metadata.is_dir() => None,
            // A dangling link without an extension is not known to be a source.
            _ if hint == Hint::PhpByFirstLine => None,
            Ok(_) => {
                self.not_regular(shown);
                None
            }
            Err(error) => {
                self.problem(shown, error.to_string());
                None
            }
        }
    }

    /// Keeps one candidate per file: the one that is no link, then the first in order.
    /// Exempt is what every way to the file calls exempt.
    fn add(&mut self, key: PathBuf, candidate: Candidate) {
        let Some(known) = self.found.get_mut(&key) else {
            self.found.insert(key, candidate);
            return;
        };
        let exempt = known.exempt && candidate.exempt;
        let is_named = known.is_named || candidate.is_named;
        if (candidate.is_link, &candidate.shown) < (known.is_link, &known.shown) {
            *known = candidate;
        }
        known.exempt = exempt;
        known.is_named = is_named;
    }

    fn unreadable(&mut self, error: &ignore::Error, root: &Path, shown_root: &Path) {
        let path = error_path(error).unwrap_or(root);
        let shown = shown_root.join(path.strip_prefix(root).unwrap_or(path));
        let message = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
        self.problem(&shown, message);
    }

    fn not_regular(&mut self, shown: &Path) {
        self.problem(shown, "not a regular file, not opened".to_owned());
    }

    fn problem(&mut self, shown: &Path, message: String) {
        let path = slashed(shown);
        self.problems.push(Problem { kind: ProblemKind::Unreadable, path, span: None, message });
    }
}

/// Whether the walk looks at `entry`, and into it.
fn is_wanted(entry: &DirEntry, pruned: &Globs) -> bool {
    let is_dir = entry.file_type().is_some_and(|it| it.is_dir());
    if entry.depth() == 0 {
        return true;
    }
    !(is_dir && (is_skipped(entry) || pruned.picks(entry.path(), true)))
}

fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    if SKIPPED.iter().any(|it| OsStr::new(it) == name) {
        return true;
    }
    // A folder called `target` may also be source; Cargo's has a tag, or the manifest beside it.
    let path = entry.path();
    path.join("CACHEDIR.TAG").is_file()
        || (name == OsStr::new("target") && path.with_file_name("Cargo.toml").is_file())
}

/// How `root` is shown: relative to the working directory when it lies inside, else as given.
fn shown_root(given: &Path, root: &Path, cwd: &Path) -> PathBuf {
    match root.strip_prefix(cwd) {
        Ok(relative) => relative.to_owned(),
        Err(_) => given.components().filter(|it| *it != Component::CurDir).collect(),
    }
}

fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::WithLineNumber { err, .. } | ignore::Error::WithDepth { err, .. } => {
            error_path(err)
        }
        ignore::Error::Partial(errors) => errors.iter().find_map(error_path),
        ignore::Error::Io(_)
        | ignore::Error::Glob { .. }
        | ignore::Error::UnrecognizedFileType(_)
        | ignore::Error::InvalidDefinition => None,
    }
}
