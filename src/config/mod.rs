//! What does `rowrace.toml` ask for? A [`Config`] is valid by construction; every complaint about the
//! file points into it.

mod nearest;
mod raw;

use crate::finding::{Confidence, Finding, RuleId, Severity};
pub use nearest::nearest;
use std::collections::BTreeMap;
use std::ops::Range;

/// The name of the file.
pub const FILE_NAME: &str = "rowrace.toml";

/// What a rule is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not at all.
    Off,
    /// With this severity.
    Show(Severity),
}

/// The level of a rule at each confidence; `None` leaves the rule's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleLevels {
    /// At low confidence.
    pub low: Option<Level>,
    /// At medium confidence.
    pub medium: Option<Level>,
    /// At high confidence.
    pub high: Option<Level>,
}

/// A value and where it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

/// Everything that can be configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Globs in the manner of `.gitignore`, relative to the folder of the file.
    pub exclude: Vec<Located<String>>,
    /// Levels by rule.
    pub rules: BTreeMap<RuleId, Located<RuleLevels>>,
    /// Columns that are states besides the built-in ones.
    pub state_columns: Vec<String>,
    /// Columns that are never states.
    pub never_columns: Vec<String>,
    /// Findings below it are dropped.
    pub min_confidence: Confidence,
    /// Findings from it upwards fail the run; `None` for never.
    pub fail_level: Option<Severity>,
    /// Ids of packs that are not used.
    pub packs_off: Vec<Located<String>>,
}

/// A complaint about the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong.
    pub kind: ConfigErrorKind,
    /// Where.
    pub range: Range<usize>,
}

/// What can be wrong with the file.
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
        /// The keys that exist there.
        known: &'static [&'static str],
    },
    /// A value that is not one of a few.
    #[error("unknown value `{word}`")]
    UnknownWord {
        /// As written.
        word: String,
        /// The values that exist there.
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
}

impl Default for Config {
    fn default() -> Self {
        Self {
            exclude: Vec::new(),
            rules: BTreeMap::new(),
            state_columns: Vec::new(),
            never_columns: Vec::new(),
            min_confidence: Confidence::Low,
            fail_level: Some(Severity::Warning),
            packs_off: Vec::new(),
        }
    }
}

impl Config {
    /// Reads the text of a `rowrace.toml`; gives every complaint, not only the first.
    pub fn parse(text: &str) -> Result<Self, Vec<ConfigError>> {
        raw::parse(text)
    }

    /// The level that the file gives to `finding`; `None` leaves the rule's own.
    pub fn level_of(&self, finding: &Finding) -> Option<Level> {
        let levels = &self.rules.get(&finding.rule)?.value;
        match finding.confidence {
            Confidence::Low => levels.low,
            Confidence::Medium => levels.medium,
            Confidence::High => levels.high,
        }
    }

    /// Complaints about rules that are not among `known`.
    pub fn unknown_rules(&self, known: &[&str]) -> Vec<ConfigError> {
        let unknown = self.rules.iter().filter(|(id, _)| !known.contains(&&*id.0));
        unknown
            .map(|(id, levels)| ConfigError {
                kind: ConfigErrorKind::UnknownRule {
                    id: id.to_string(),
                    nearest: nearest(&id.0, known).map(str::to_owned),
                },
                range: levels.range.clone(),
            })
            .collect()
    }
}

impl ConfigErrorKind {
    /// What to write instead.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownKey { key: word, known } | Self::UnknownWord { word, known } => {
                Some(match nearest(word, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("one of `{}`", known.join("`, `")),
                })
            }
            Self::UnknownRule { nearest: Some(near), .. } => {
                Some(format!("did you mean `{near}`?"))
            }
            Self::UnknownRule { nearest: None, .. } => {
                Some("`rowrace rules` lists all rules".to_owned())
            }
            Self::Version(_) => Some("write `version = 1`".to_owned()),
            Self::Syntax(_) | Self::WrongType { .. } | Self::Glob(_) => None,
        }
    }
}
