//! Which files does a run read, and what do they say? The only code that reads files.
//!
//! Folders are walked with their ignore files, hidden and vendor folders left out; files named outright
//! are always read. What cannot be read is a [`Problem`], never an end of the run.
//! The result is sorted by path, each file once, whatever the order and overlap of the paths given.

#![expect(clippy::disallowed_methods, reason = "this is the module that reads files")]

mod buffer;
mod decode;
mod exempt;
mod files;
mod git;
mod globs;
mod language;
mod walk;
mod workspace;

use crate::base::{Problem, ProblemKind, Source, SourceId};
pub use files::{entries, manifests, read_text, read_toml_folder};
pub use git::{Comparison, GitError, Reach, compare};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use walk::Candidate;
pub use workspace::{ConfigFault, ConfigText, Holding, Origin, Workspace};

/// Files above this size are not read.
pub const SIZE_LIMIT: u64 = 10_000_000;

/// Where to look, and what to leave out.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The working directory: paths are shown relative to it.
    pub cwd: &'a Path,
    /// Files and folders to read.
    pub paths: &'a [PathBuf],
}

/// What was found.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Sources in path order; their ids are their positions.
    pub sources: Vec<Source>,
    /// Files and folders that were not read.
    pub problems: Vec<Problem>,
    /// The file that each source was read from, links resolved.
    pub files: Vec<PathBuf>,
}

/// Why nothing can be looked for.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// A path that was named cannot be reached.
    #[error("cannot read `{path}`")]
    Path {
        /// The path as given.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A text whose name tells no language.
    #[error("`{path}` is no PHP, Rust or SQL file by its name")]
    Language {
        /// The path as it is shown.
        path: String,
    },
    /// A configuration that is not valid.
    #[error(transparent)]
    Config(Box<ConfigFault>),
    /// Globs that are too many, or too large, together.
    #[error("the globs cannot be used: {message}")]
    NoGlobs {
        /// Why.
        message: String,
    },
    /// A repository that cannot be asked.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A folder of rules without one.
    #[error("no `.toml` file in `{path}`")]
    NoRules {
        /// The folder as given.
        path: String,
    },
}

/// Finds and reads all sources of `request`.
pub fn discover(
    request: &Request<'_>,
    workspace: &mut Workspace,
) -> Result<Discovered, DiscoverError> {
    let mut found = Discovered::default();
    let pruned = workspace.pruned()?;
    for candidate in walk::candidates(request, pruned, &mut found.problems)? {
        if !candidate.is_named && workspace.excluded(&candidate.path, false)?.is_some() {
            continue;
        }
        match read(&candidate) {
            Ok(Some(source)) => found.push(source, candidate.path),
            Ok(None) => (),
            Err(problem) => found.problems.push(problem),
        }
    }
    found.problems.sort();
    Ok(found)
}

/// The files of `request` that findings can be in, by their canonical paths; none of them is opened.
pub fn list(
    request: &Request<'_>,
    workspace: &mut Workspace,
) -> Result<Vec<PathBuf>, DiscoverError> {
    let mut out = Vec::new();
    let pruned = workspace.pruned()?;
    for candidate in walk::candidates(request, pruned, &mut Vec::new())? {
        let is_sure = matches!(candidate.hint, language::Hint::Certain(_));
        if is_sure && !candidate.exempt && workspace.excluded(&candidate.path, false)?.is_none() {
            out.push(candidate.path);
        }
    }
    Ok(out)
}

impl Discovered {
    fn push(&mut self, source: Source, file: PathBuf) {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Source { id, ..source });
        self.files.push(file);
    }
}

/// Reads one file; `None` when it turns out to be of no language.
fn read(candidate: &Candidate) -> Result<Option<Source>, Problem> {
    let unreadable = |error: io::Error| problem(candidate, ProblemKind::Unreadable, &error);
    let mut file = std::fs::File::open(&candidate.path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.by_ref().take(language::HEAD).read_to_end(&mut bytes).map_err(unreadable)?;
    if !candidate.hint.admits_head(&bytes) {
        return Ok(None);
    }
    let length = file.metadata().map_err(unreadable)?.len();
    if length <= SIZE_LIMIT {
        let rest = SIZE_LIMIT.saturating_sub(language::HEAD) + 1;
        file.take(rest).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if length > SIZE_LIMIT || bytes.len() as u64 > SIZE_LIMIT {
        return Err(problem(candidate, ProblemKind::Limit, &too_large()));
    }
    Ok(source_of(candidate, &bytes))
}

fn too_large() -> String {
    format!("larger than {} MB, not analysed", SIZE_LIMIT / 1_000_000)
}

/// The source that `bytes` hold; `None` when they are of no language.
fn source_of(candidate: &Candidate, bytes: &[u8]) -> Option<Source> {
    let text = decode::decode(bytes);
    let language = candidate.hint.language(&text)?;
    Some(Source {
        id: SourceId(0),
        path: candidate.shown.clone(),
        language,
        text,
        exempt: candidate.exempt,
    })
}

fn problem(candidate: &Candidate, kind: ProblemKind, message: &dyn ToString) -> Problem {
    Problem { kind, path: candidate.shown.clone(), span: None, message: message.to_string() }
}
