//! Why can a repository not be asked what the program said before?

/// What is wrong with the repository, or with the question.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no repository.
    #[error("`{path}` is not in a git repository")]
    NoRepository {
        /// Where it was looked for.
        path: String,
    },
    /// There is one that cannot be opened.
    #[error("the git repository of `{path}` cannot be opened: {message}")]
    Unusable {
        /// Where it was looked for.
        path: String,
        /// What the library says.
        message: String,
    },
    /// It belongs to somebody else, so that what it says is not trusted.
    #[error(
        "the git repository of `{path}` belongs to another user; \
         `git config --global --add safe.directory {path}` says that you trust it"
    )]
    Owner {
        /// Where it was looked for.
        path: String,
    },
    /// It has no working tree.
    #[error("the git repository of `{path}` has no working tree")]
    Bare {
        /// Where it was looked for.
        path: String,
    },
    /// A revision that leads to no commit.
    #[error("`{name}` is not a commit of this repository{hint}")]
    NoCommit {
        /// As the user wrote it.
        name: String,
        /// What may be meant, with its separator; empty when nothing comes to mind.
        hint: String,
    },
    /// HEAD is on a branch that has no commit.
    #[error("there is no commit yet to compare with")]
    Unborn,
    /// Two commits that share no history.
    #[error("`{name}` and HEAD have no commit in common")]
    NoMergeBase {
        /// As the user wrote it.
        name: String,
    },
    /// The merge base is not among the commits that were fetched.
    #[error(
        "this is a shallow clone without the merge base of `{name}` and HEAD; \
         fetch more of the history (`git fetch --unshallow`, `fetch-depth: 0` in actions/checkout)"
    )]
    Shallow {
        /// As the user wrote it.
        name: String,
    },
    /// An object that everything hangs on cannot be read.
    #[error("{what} cannot be read from the git repository: {message}")]
    Object {
        /// Which one.
        what: String,
        /// What the library says.
        message: String,
    },
}
