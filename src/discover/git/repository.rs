//! What do a repository's commits, trees, blobs and index hold? The only code that speaks to git.

use super::{GitError, Listing};
use crate::base::{Problem, ProblemKind};
use git2::{ErrorCode, ObjectType, Oid};
use std::path::{Path, PathBuf};

/// Modes of a plain and of an executable file; links and submodules have others.
const FILE_MODES: [u32; 2] = [0o100_644, 0o100_755];
/// No tree of sources is nested this deep.
const MAX_DEPTH: usize = 250;
/// The entry is only announced (`git add --intent-to-add`): it has no text yet.
const INTENT_TO_ADD: u16 = 1 << 13;

/// A file that git keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where it stands, or would stand, in the working tree.
    pub(super) file: PathBuf,
    /// Its text.
    pub(super) id: Oid,
}

/// An open repository with a working tree.
pub(super) struct Repository {
    inner: git2::Repository,
    workdir: PathBuf,
}

impl Repository {
    /// The repository that `start`, a file or a folder, lies in.
    pub(super) fn open(start: &Path) -> Result<Self, GitError> {
        let path = || start.display().to_string();
        let inner = git2::Repository::discover(start).map_err(|error| match error.code() {
            ErrorCode::NotFound => GitError::NoRepository { path: path() },
            ErrorCode::Owner => GitError::Owner { path: path() },
            _ => GitError::Unusable { path: path(), message: said(&error) },
        })?;
        let Some(workdir) = inner.workdir() else { return Err(GitError::Bare { path: path() }) };
        let workdir = super::super::walk::canonical(workdir);
        Ok(Self { inner, workdir })
    }

    /// What is listed at the merge base of `name` and HEAD.
    pub(super) fn tree_at_merge_base(&self, name: &str) -> Result<Listing, GitError> {
        let commit = self.commit(name)?;
        let head = self.head()?.ok_or(GitError::Unborn)?;
        let base = self.inner.merge_base(commit, head).map_err(|error| {
            let name = name.to_owned();
            match error.code() {
                ErrorCode::NotFound if self.inner.is_shallow() => GitError::Shallow { name },
                ErrorCode::NotFound => GitError::NoMergeBase { name },
                _ => GitError::Object {
                    what: format!("the history of `{name}`"),
                    message: said(&error),
                },
            }
        })?;
        self.tree_of(base)
    }

    /// What is listed at HEAD; nothing when there is no commit yet.
    pub(super) fn tree_at_head(&self) -> Result<Listing, GitError> {
        match self.head()? {
            Some(head) => self.tree_of(head),
            None => Ok(Listing::default()),
        }
    }

    fn commit(&self, name: &str) -> Result<Oid, GitError> {
        let object = self.inner.revparse_single(name);
        match object.and_then(|it| it.peel_to_commit()) {
            Ok(commit) => Ok(commit.id()),
            Err(error) if is_absent(&error) => {
                Err(GitError::NoCommit { name: name.to_owned(), hint: self.hint(name) })
            }
            Err(error) => {
                Err(GitError::Object { what: format!("`{name}`"), message: said(&error) })
            }
        }
    }

    /// What else `name` could mean.
    fn hint(&self, name: &str) -> String {
        let remote = format!("origin/{name}");
        if self.inner.find_reference(&format!("refs/remotes/{remote}")).is_ok() {
            return format!(", did you mean `{remote}`?");
        }
        let is_shallow = self.inner.is_shallow();
        let hint = if is_shallow { "; this is a shallow clone, fetch it first" } else { "" };
        hint.to_owned()
    }

    /// The commit at HEAD; `None` when there is none yet.
    fn head(&self) -> Result<Option<Oid>, GitError> {
        match self.inner.head().and_then(|it| it.peel_to_commit()) {
            Ok(commit) => Ok(Some(commit.id())),
            Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
            Err(error) => Err(GitError::Object { what: "HEAD".to_owned(), message: said(&error) }),
        }
    }

    fn tree_of(&self, commit: Oid) -> Result<Listing, GitError> {
        let tree = self.inner.find_commit(commit).and_then(|it| it.tree());
        let tree = tree.map_err(|error| GitError::Object {
            what: format!("the tree of commit {commit}"),
            message: said(&error),
        })?;
        let mut listing = Listing::default();
        self.list(&tree, &self.workdir, 0, &mut listing);
        Ok(listing)
    }

    fn list(&self, tree: &git2::Tree<'_>, folder: &Path, depth: usize, out: &mut Listing) {
        for entry in tree {
            let Some(path) = joined(folder, entry.name_bytes()) else { continue };
            let mode = u32::try_from(entry.filemode()).unwrap_or_default();
            match entry.kind() {
                Some(ObjectType::Blob) if FILE_MODES.contains(&mode) => {
                    out.entries.push(Entry { file: path, id: entry.id() });
                }
                Some(ObjectType::Commit) => out.submodules.push(path),
                Some(ObjectType::Tree) if depth < MAX_DEPTH => {
                    match self.inner.find_tree(entry.id()) {
                        Ok(tree) => self.list(&tree, &path, depth + 1, out),
                        Err(error) => out.problems.push(self.unlisted(&path, &said(&error))),
                    }
                }
                Some(ObjectType::Tree) => {
                    out.problems.push(self.unlisted(&path, "nested too deep"));
                }
                _ => (),
            }
        }
    }

    fn unlisted(&self, folder: &Path, message: &str) -> Problem {
        Problem {
            kind: ProblemKind::Unreadable,
            path: folder.strip_prefix(&self.workdir).unwrap_or(folder).display().to_string(),
            span: None,
            message: format!(
                "the git tree of this folder cannot be read at the base ({message}); \
                 what is found in it counts as new"
            ),
        }
    }

    /// What is listed in the index at `path`, or in the repository's own.
    pub(super) fn staged(&self, path: Option<&Path>) -> Result<Listing, GitError> {
        let index = match path {
            Some(path) => git2::Index::open(path),
            None => self.inner.index(),
        };
        let index = index.map_err(|error| GitError::Object {
            what: "the index".to_owned(),
            message: said(&error),
        })?;
        let mut listing = Listing::default();
        for entry in index.iter() {
            let Some(file) = joined(&self.workdir, &entry.path) else { continue };
            let stage = (entry.flags >> 12) & 3;
            if stage > 0 {
                listing.conflict(file.strip_prefix(&self.workdir).unwrap_or(&file));
            } else if entry.mode == 0o160_000 {
                listing.submodules.push(file);
            } else if FILE_MODES.contains(&entry.mode) && entry.flags_extended & INTENT_TO_ADD == 0
            {
                listing.entries.push(Entry { file, id: entry.id });
            }
        }
        Ok(listing)
    }

    /// Whether `bytes` are the blob `id`, without reading it.
    pub(super) fn is_blob(&self, id: Oid, bytes: &[u8]) -> bool {
        Oid::hash_object(ObjectType::Blob, bytes).is_ok_and(|it| it == id)
    }

    /// The bytes of a blob of at most `limit` bytes.
    pub(super) fn blob(&self, id: Oid, limit: u64) -> Result<Vec<u8>, String> {
        let unreadable =
            |error: git2::Error| format!("git object {id} cannot be read ({})", said(&error));
        let objects = self.inner.odb().map_err(unreadable)?;
        let (size, kind) = objects.read_header(id).map_err(unreadable)?;
        if kind != ObjectType::Blob {
            return Err(format!("git object {id} is not a file"));
        }
        if size as u64 > limit {
            return Err(format!("git object {id} is larger than {} MB", limit / 1_000_000));
        }
        Ok(objects.read(id).map_err(unreadable)?.data().to_vec())
    }

    /// Whether git keeps what stands at `file` itself.
    pub(super) fn keeps(&self, file: &Path, submodules: &[PathBuf]) -> bool {
        file.starts_with(&self.workdir) && !submodules.iter().any(|it| file.starts_with(it))
    }
}

impl Listing {
    fn conflict(&mut self, path: &Path) {
        let path = path.display().to_string();
        if self.problems.iter().all(|it| it.path != path) {
            let message = "has a merge conflict, not analysed as staged".to_owned();
            self.problems.push(Problem {
                kind: ProblemKind::Unreadable,
                path,
                span: None,
                message,
            });
        }
    }
}

/// `name`, which is one name or a path with `/`, below `folder`; `None` for what would lead out of it.
fn joined(folder: &Path, name: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    let name = Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name));
    #[cfg(not(unix))]
    let name = Path::new(std::str::from_utf8(name).ok()?);
    let is_plain = name.components().all(|it| matches!(it, std::path::Component::Normal(_)));
    is_plain.then(|| folder.join(name))
}

/// Whether `error` says that there is no such thing, or that it could not be one.
fn is_absent(error: &git2::Error) -> bool {
    let is_question = matches!(
        error.code(),
        ErrorCode::NotFound
            | ErrorCode::Ambiguous
            | ErrorCode::InvalidSpec
            | ErrorCode::Peel
            | ErrorCode::UnbornBranch
    );
    // A reference whose object is gone is not found either, but that is the repository's fault.
    is_question && error.class() != git2::ErrorClass::Odb
}

/// What the library says, in one line without full stop.
fn said(error: &git2::Error) -> String {
    error.message().trim_end_matches('.').replace('\n', " ")
}
