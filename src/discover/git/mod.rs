//! What did the program say before: at the merge base with another branch, or at the last commit?
//!
//! Two programs come out, to be analysed each on its own. *Head* is what is reported in: the working tree,
//! or what is staged. *Base* is the same paths as of a commit. Everything is read from the objects of the
//! repository; nothing is checked out, fetched or run.
//!
//! What the walk leaves out of the working tree is left out of the base as well. What git does not keep
//! (files outside of the repository, submodules) counts as unchanged; files that git does not know yet
//! count as new. A file whose object cannot be read is missing from the base, so that what is found in it
//! counts as new, and a problem says so.

mod error;
mod repository;
mod select;

use super::walk::Candidate;
use super::{DiscoverError, Discovered, Request, SIZE_LIMIT, Workspace, language, source_of};
use crate::base::{Problem, ProblemKind, Source};
pub use error::GitError;
use repository::{Entry, Repository};
use select::Selection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The working tree with the merge base of this revision and HEAD.
    Since(String),
    /// What is staged with HEAD.
    Staged {
        /// The index to read, when it is not the repository's own.
        index: Option<PathBuf>,
    },
}

/// Two states of a program.
#[derive(Debug, Default)]
pub struct Comparison {
    /// What is reported in.
    pub head: Discovered,
    /// The same before; ids are positions.
    pub base: Discovered,
}

/// The base of what was `found` in the working tree for `request`, and the head that goes with it.
/// Problems of the base stand with those of the head.
pub fn compare(
    request: &Request<'_>,
    workspace: &mut Workspace,
    found: Discovered,
    reach: &Reach,
) -> Result<Comparison, DiscoverError> {
    let selection = Selection::new(request, &found);
    let repository = Repository::open(selection.start())?;
    let mut comparison = match reach {
        Reach::Since(revision) => {
            let tree = repository.tree_at_merge_base(revision)?;
            let reader = Reader::new(&repository, &selection, &found);
            let base = reader.base(tree, workspace)?;
            Comparison { head: found, base }
        }
        Reach::Staged { index } => {
            let staged = repository.staged(index.as_deref())?;
            let tree = repository.tree_at_head()?;
            let reader = Reader::new(&repository, &selection, &found);
            let (head, base) = (reader.head(staged, workspace)?, reader.base(tree, workspace)?);
            Comparison {
                head: Discovered { problems: merged(&found.problems, head.problems), ..head },
                base,
            }
        }
    };
    comparison.head.problems.append(&mut comparison.base.problems);
    comparison.head.problems.sort();
    Ok(comparison)
}

fn merged(found: &[Problem], others: Vec<Problem>) -> Vec<Problem> {
    found.iter().cloned().chain(others).collect()
}

/// Turns entries of a tree or an index into sources.
struct Reader<'a> {
    repository: &'a Repository,
    selection: &'a Selection,
    /// Sources of the working tree by their file.
    known: BTreeMap<&'a Path, &'a Source>,
}

/// What is listed in a tree or an index, and what of it could not be listed.
#[derive(Debug, Default)]
struct Listing {
    entries: Vec<Entry>,
    /// Paths below which git keeps nothing itself.
    submodules: Vec<PathBuf>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn new(repository: &'a Repository, selection: &'a Selection, found: &'a Discovered) -> Self {
        let known = found.files.iter().map(PathBuf::as_path).zip(&found.sources).collect();
        Self { repository, selection, known }
    }

    /// The sources at the base.
    fn base(
        &self,
        listing: Listing,
        workspace: &mut Workspace,
    ) -> Result<Discovered, DiscoverError> {
        self.read(listing, "at the base; what is found in it counts as new", workspace)
    }

    /// The sources that are staged.
    fn head(
        &self,
        listing: Listing,
        workspace: &mut Workspace,
    ) -> Result<Discovered, DiscoverError> {
        self.read(listing, "as staged; it is not analysed", workspace)
    }

    fn read(
        &self,
        listing: Listing,
        consequence: &str,
        workspace: &mut Workspace,
    ) -> Result<Discovered, DiscoverError> {
        let mut sources: BTreeMap<String, (Source, PathBuf)> = BTreeMap::new();
        let mut out = Discovered { problems: listing.problems, ..Discovered::default() };
        for (file, source) in &self.known {
            if !self.repository.keeps(file, &listing.submodules) {
                sources.insert(source.path.clone(), ((*source).clone(), file.to_path_buf()));
            }
        }
        for entry in &listing.entries {
            let Some(candidate) = self.selection.candidate(&entry.file, workspace)? else {
                continue;
            };
            match self.source(&candidate, entry) {
                Ok(Some(source)) => {
                    sources.insert(source.path.clone(), (source, candidate.path));
                }
                Ok(None) => (),
                Err(message) => out.problems.push(Problem {
                    kind: ProblemKind::Unreadable,
                    path: candidate.shown,
                    span: None,
                    message: format!("{message}, so that it is not known {consequence}"),
                }),
            }
        }
        sources.into_values().for_each(|(source, file)| out.push(source, file));
        Ok(out)
    }

    /// The source of one entry; the text of the working tree when it is the same.
    fn source(&self, candidate: &Candidate, entry: &Entry) -> Result<Option<Source>, String> {
        if let Some(known) = self.known.get(&*candidate.path)
            && self.repository.is_blob(entry.id, known.text.as_bytes())
        {
            return Ok(Some(Source { path: candidate.shown.clone(), ..(*known).clone() }));
        }
        let bytes = self.repository.blob(entry.id, SIZE_LIMIT)?;
        let head = &bytes[..bytes.len().min(usize::try_from(language::HEAD).unwrap_or(usize::MAX))];
        Ok(candidate.hint.admits_head(head).then(|| source_of(candidate, &bytes)).flatten())
    }
}
