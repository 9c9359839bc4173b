//! Which files of a tree would the walk have found below the paths that the user named?

use super::super::exempt::is_exempt;
use super::super::language::Hint;
use super::super::walk::{self, Candidate};
use super::super::{DiscoverError, Discovered, Request, Workspace};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The paths that the user named, and what is left out of them.
pub(super) struct Selection {
    roots: Vec<Root>,
    /// Files that the walk found and read.
    found: BTreeSet<PathBuf>,
}

/// One path that the user named.
struct Root {
    path: PathBuf,
    shown: PathBuf,
}

impl Selection {
    pub(super) fn new(request: &Request<'_>, found: &Discovered) -> Self {
        let cwd = walk::canonical(request.cwd);
        let root = |given: &PathBuf| {
            let path = walk::canonical(&cwd.join(given));
            Root { shown: walk::shown_root(given, &path, &cwd), path }
        };
        Self {
            roots: request.paths.iter().map(root).collect(),
            found: found.files.iter().cloned().collect(),
        }
    }

    /// Where to look for the repository.
    pub(super) fn start(&self) -> &Path {
        self.roots.first().map_or(Path::new("."), |it| &it.path)
    }

    /// The candidate at `file`, which need not exist any more; `None` when it is not asked for.
    pub(super) fn candidate(
        &self,
        file: &Path,
        workspace: &mut Workspace,
    ) -> Result<Option<Candidate>, DiscoverError> {
        let is_found = self.found.contains(file);
        // The walk has already decided about files that are there.
        if !is_found && fs::symlink_metadata(file).is_ok() {
            return Ok(None);
        }
        let ways = self.roots.iter().filter_map(|it| Self::below(it, file));
        let candidate = ways.reduce(|a, b| {
            let exempt = a.exempt && b.exempt;
            let mut first = if b.shown < a.shown { b } else { a };
            first.exempt = exempt;
            first
        });
        if candidate.is_some() && !is_found && workspace.excluded(file, false)?.is_some() {
            return Ok(None);
        }
        Ok(candidate)
    }

    fn below(root: &Root, file: &Path) -> Option<Candidate> {
        let relative = file.strip_prefix(&root.path).ok()?;
        if relative.as_os_str().is_empty() {
            let hint = Hint::of(file).unwrap_or(Hint::PhpByFirstLine);
            let exempt = file.file_name().is_some_and(|it| is_exempt(Path::new(it)));
            return Some(Candidate::new(walk::slashed(&root.shown), file, hint, exempt));
        }
        let hint = Hint::of(file)?;
        let is_hidden = |it: Component<'_>| it.as_os_str().as_encoded_bytes().starts_with(b".");
        let folders = relative.parent().into_iter().flat_map(Path::components);
        let is_left_out = relative.components().any(is_hidden)
            || folders.into_iter().any(|it| walk::is_skipped_name(it.as_os_str()));
        let shown = walk::slashed(&root.shown.join(relative));
        (!is_left_out).then(|| Candidate::new(shown, file, hint, is_exempt(relative)))
    }
}
