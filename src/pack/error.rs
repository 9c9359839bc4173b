//! What can be wrong with a pack or rule file, and where exactly.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A place in a pack or rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path of the file, as it was given.
    pub path: Arc<str>,
    /// Its whole text.
    pub text: Arc<str>,
    /// The bytes that are wrong.
    pub span: Range<usize>,
}

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackError {
    /// What is wrong.
    pub kind: PackErrorKind,
    /// Where; none when it comes from no file.
    pub place: Option<Place>,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}: ", place.path)?;
        }
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for PackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.kind)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackErrorKind {
    /// The text is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// Neither a pack nor a rule nor column rules.
    #[error("this is neither a pack nor a rule")]
    NoKind,
    /// A key that nothing reads.
    #[error("{within} has no key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// What it stands in, as a phrase.
        within: String,
    },
    /// A key that must be there.
    #[error("{within} needs `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What it should stand in, as a phrase.
        within: String,
    },
    /// A value of another type.
    #[error("`{key}` must be {wanted}, not {found}")]
    WrongType {
        /// The key.
        key: String,
        /// The type that is wanted, as a phrase.
        wanted: &'static str,
        /// The type that stands there.
        found: &'static str,
    },
    /// A word that is not one of a fixed list.
    #[error("unknown {what} `{word}`")]
    UnknownWord {
        /// What it should be.
        what: &'static str,
        /// What stands there.
        word: String,
    },
    /// An access path that cannot be read.
    #[error("`{0}` is no access path")]
    Access(String),
    /// An argument that the call never has.
    #[error("`{access}` is beyond the {most} arguments of this row")]
    NoArgument {
        /// The access path.
        access: String,
        /// The greatest number of arguments.
        most: u32,
    },
    /// A number of arguments that cannot be read.
    #[error("`{0}` is no number of arguments")]
    ArgumentCount(String),
    /// An empty name, or one with several `*`.
    #[error("`{0}` is no name pattern")]
    NamePattern(String),
    /// An id that is not in kebab-case.
    #[error("`{0}` is no id")]
    Id(String),
    /// A regular expression that does not compile.
    #[error("this is no regular expression: {0}")]
    Regex(String),
    /// A text with a wrong placeholder.
    #[error(transparent)]
    Template(#[from] crate::rule::TemplateError),
    /// The same rule or pack again.
    #[error("{what} `{id}` is defined twice")]
    Twice {
        /// `rule` or `pack`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// A pack that is switched off and does not exist.
    #[error("there is no pack `{0}` to switch off")]
    NoPack(String),
}

/// All complaints about all files of a run; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(.0))]
pub struct PackErrors(pub Vec<PackError>);

fn list(errors: &[PackError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
