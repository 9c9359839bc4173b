//! What can be wrong with a `rowrace.toml`, where, and what should stand there instead?

use super::{FileNumber, nearest};
use std::ops::Range;

/// A complaint about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong.
    pub kind: ConfigErrorKind,
    /// In which file.
    pub file: FileNumber,
    /// Where.
    pub range: Range<usize>,
}

/// What can be wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigErrorKind {
    /// It is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that does not exist.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// As written.
        key: String,
        /// Keys that exist there.
        known: &'static [&'static str],
    },
    /// A key that must be there.
    #[error("`{within}` needs `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The table that needs it.
        within: &'static str,
    },
    /// A word that does not exist.
    #[error("unknown value `{word}`")]
    UnknownWord {
        /// As written.
        word: String,
        /// Words that exist there.
        known: &'static [&'static str],
    },
    /// A value of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What was wanted.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A version that this binary does not know.
    #[error("version {0} is not known; this is rowrace for version 1")]
    Version(String),
    /// A rule that no pack defines.
    #[error("unknown rule `{id}`")]
    UnknownRule {
        /// As written.
        id: String,
        /// The nearest rule that exists.
        nearest: Option<String>,
    },
    /// A glob that is none.
    #[error("not a glob: {0}")]
    Glob(String),
    /// A file that is extended and cannot be.
    #[error("cannot extend this: {0}")]
    Extends(String),
    /// A folder of rules that cannot be used.
    #[error("cannot use these rules: {0}")]
    Rules(String),
    /// A pack that is switched off and does not exist.
    #[error("{0}")]
    Pack(String),
    /// A claim whose function is not in the program.
    #[error("there is no function `{at}`")]
    NoFunction {
        /// As written.
        at: String,
        /// The nearest one that exists.
        nearest: Option<String>,
    },
}

impl ConfigErrorKind {
    /// What to write instead.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownKey { key: word, known } | Self::UnknownWord { word, known } => {
                Some(match foreign(word, known).or_else(|| nearest(word, known)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("one of `{}`", known.join("`, `")),
                })
            }
            Self::UnknownRule { nearest: Some(near), .. }
            | Self::NoFunction { nearest: Some(near), .. } => {
                Some(format!("did you mean `{near}`?"))
            }
            Self::UnknownRule { nearest: None, .. } => {
                Some("`rowrace rules` lists all rules".to_owned())
            }
            Self::NoFunction { nearest: None, .. } => {
                Some("write `Class::method`, or the name of a function".to_owned())
            }
            Self::Version(_) => Some("write `version = 1`".to_owned()),
            Self::WrongType { expected: RULE_FOLDERS, found: "table" } => {
                Some("levels of rules stand in `[levels]`".to_owned())
            }
            Self::Rules(_) => Some(
                "a folder below the file, or elsewhere in its repository; others can be named on \
                 the command line with `--rules`"
                    .to_owned(),
            ),
            Self::Syntax(_)
            | Self::MissingKey { .. }
            | Self::WrongType { .. }
            | Self::Glob(_)
            | Self::Extends(_)
            | Self::Pack(_) => None,
        }
    }
}

/// What `rules` must be; a table is a common mistake.
pub(super) const RULE_FOLDERS: &str = "a list of folders";

/// The key by which other linters, or other tools, call one of `known`.
fn foreign(word: &str, known: &[&'static str]) -> Option<&'static str> {
    let ours = match word {
        "fail-level" | "fail_level" | "minimum-fail-level" => "fail-on",
        "extend" | "inherits" => "extends",
        "excludes" | "ignore" | "extend-exclude" if known.contains(&"exclude") => "exclude",
        "per-file-ignores" | "override" | "per-path" => "overrides",
        "lints" | "severity" | "severities" | "lint" | "linter" => "levels",
        "claims" | "contracts" | "contract" => "claim",
        "excludes" | "exclude" => "ignore",
        "rule-dirs" | "ruleDirs" | "plugins" => "rules",
        "engine" | "database" => "dialect",
        "files" | "includes" | "include" | "path" => "paths",
        "disable" | "disabled" => "off",
        "include-only" | "select" => "only",
        _ => return None,
    };
    known.iter().copied().find(|it| *it == ours)
}
