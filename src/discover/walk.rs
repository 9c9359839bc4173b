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
use std::sync::{Arc, Mutex};
use std::{fs, io};

/// Folders of other people's code and of build results; walked only when named outright.
const SKIPPED: [&str; 6] =
    ["vendor", "node_modules", "bower_components", "jspm_packages", "__pycache__", "site-packages"];

/// Files that the walk reads on its way.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

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

impl Candidate {
    /// A candidate that is neither named nor a link.
    pub(super) fn new(shown: String, path: &Path, hint: Hint, exempt: bool) -> Self {
        Self { shown, path: path.to_owned(), hint, exempt, is_named: false, is_link: false }
    }
}

/// All candidates below the paths of `request`, sorted by the path shown.
pub(super) fn candidates(
    request: &Request<'_>,
    pruned: Globs,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Candidate>, DiscoverError> {
    let cwd = canonical(request.cwd);
    let mut walk = Walk { cwd, pruned: Arc::new(pruned), found: BTreeMap::new(), problems };
    for given in request.paths {
        walk.root(given)
            .map_err(|source| DiscoverError::Path { path: given.display().to_string(), source })?;
    }
    let mut found: Vec<_> = walk.found.into_values().collect();
    found.sort_by(|a, b| a.shown.cmp(&b.shown));
    Ok(found)
}

/// `path` without links; as it is when it cannot be reached.
pub(super) fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
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
        if let Some(trap) = trap(root) {
            return self.trapped(&trap, root, shown);
        }
        let pruned = Arc::clone(&self.pruned);
        let traps: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
        let seen = Arc::clone(&traps);
        let walk = WalkBuilder::new(root)
            .require_git(false)
            .follow_links(false)
            .parents(!root.ancestors().skip(1).any(|it| trap(it).is_some()))
            .filter_entry(move |entry| is_wanted(entry, &pruned) && !is_trapped(entry, &seen))
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.depth() > 0 => self.entry(&entry, root, shown),
                Ok(_) => (),
                Err(error) => self.unreadable(&error, root, shown),
            }
        }
        let traps = traps.lock().map(|it| it.clone()).unwrap_or_default();
        traps.iter().for_each(|it| self.trapped(it, root, shown));
    }

    fn trapped(&mut self, trap: &Path, root: &Path, shown_root: &Path) {
        let shown = shown_root.join(trap.strip_prefix(root).unwrap_or(trap));
        self.problem(&shown, "not a regular file, so that its folder is not read".to_owned());
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

/// Whether `entry` is a folder that must not be entered; what is in the way is noted.
fn is_trapped(entry: &DirEntry, seen: &Mutex<Vec<PathBuf>>) -> bool {
    let is_dir = entry.file_type().is_some_and(|it| it.is_dir());
    let Some(trap) = is_dir.then(|| trap(entry.path())).flatten() else { return false };
    // The root is looked at before the walk.
    if entry.depth() > 0
        && let Ok(mut seen) = seen.lock()
    {
        seen.push(trap);
    }
    true
}

/// A file of ignore rules in `folder` that is no file: reading a pipe would never end.
fn trap(folder: &Path) -> Option<PathBuf> {
    let paths = IGNORE_FILES.map(|it| folder.join(it));
    paths.into_iter().find(|it| fs::metadata(it).is_ok_and(|it| !it.is_file() && !it.is_dir()))
}

fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    if is_skipped_name(name) {
        return true;
    }
    // A folder called `target` may also be source; Cargo's has a tag, or the manifest beside it.
    let path = entry.path();
    path.join("CACHEDIR.TAG").is_file()
        || (name == OsStr::new("target") && path.with_file_name("Cargo.toml").is_file())
}

/// Whether a folder of this name is walked only when it is named outright.
pub(super) fn is_skipped_name(name: &OsStr) -> bool {
    SKIPPED.iter().any(|it| OsStr::new(it) == name)
}

/// How `root` is shown: relative to the working directory when it lies inside, else as given.
pub(super) fn shown_root(given: &Path, root: &Path, cwd: &Path) -> PathBuf {
    match root.strip_prefix(cwd) {
        Ok(relative) => relative.to_owned(),
        Err(_) => given.components().filter(|it| *it != Component::CurDir).collect(),
    }
}

/// `path` for people.
pub(super) fn slashed(path: &Path) -> String {
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
