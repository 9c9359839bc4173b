//! What does `rowrace.toml` ask for? A [`Config`] is valid by construction; every complaint about a
//! file points into it.
//!
//! One type stands for one file as read, for a file laid over those that it extends, and for what
//! holds for one source: each value remembers where it was written, and what nobody wrote is empty.

mod error;
mod init;
mod layer;
mod nearest;
mod raw;
mod schema;
mod show;

use crate::finding::{Confidence, Finding, RuleId, Severity};
use crate::model::{Claim, Engine};
pub use error::{ConfigError, ConfigErrorKind};
pub use init::{Uses, starter};
pub use nearest::nearest;
pub use schema::schema;
pub use show::show;
use std::collections::BTreeMap;
use std::ops::Range;

/// The name of the file.
pub const FILE_NAME: &str = "rowrace.toml";

/// The name of the baseline beside it, unless it says otherwise.
pub const BASELINE_NAME: &str = "rowrace-baseline.txt";

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

/// Which of the files of a run, by the order in which they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileNumber(pub u32);

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// The file.
    pub file: FileNumber,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

/// Everything that can be configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Files that this one is laid over, the first one lowest.
    pub extends: Vec<Located<String>>,
    /// Globs in the manner of `.gitignore`, relative to the folder of their file.
    pub exclude: Vec<Located<String>>,
    /// Folders of own rules and packs, relative to the folder of their file.
    pub rules: Vec<Located<String>>,
    /// The baseline, relative to the folder of its file.
    pub baseline: Option<Located<String>>,
    /// The engine that statements go to, where the code does not tell.
    pub dialect: Option<Located<Engine>>,
    /// Findings below it are dropped.
    pub min_confidence: Option<Located<Confidence>>,
    /// Findings from it upwards fail the run; an inner `None` for never.
    pub fail_on: Option<Located<Option<Severity>>>,
    /// Levels by rule.
    pub levels: BTreeMap<RuleId, Located<RuleLevels>>,
    /// Columns that are states besides the built-in ones: `phase`, `*_stage`, `jobs.kind`.
    pub state_columns: Vec<Located<String>>,
    /// Columns that are never states.
    pub never_columns: Vec<Located<String>>,
    /// The only tables that are reported; empty for all.
    pub only_tables: Vec<Located<String>>,
    /// Tables that are not reported.
    pub ignored_tables: Vec<Located<String>>,
    /// Ids of packs that are not used.
    pub packs_off: Vec<Located<String>>,
    /// Ids of packs that are used although a file further down says otherwise.
    pub packs_on: Vec<Located<String>>,
    /// What holds for some files only; of two that fit, the later one counts.
    pub overrides: Vec<Override>,
    /// Contracts.
    pub claims: Vec<Located<Claim>>,
}

/// What holds for the files that fit one of the globs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// Globs as in `exclude`.
    pub paths: Vec<Located<String>>,
    /// As in [`Config`].
    pub dialect: Option<Located<Engine>>,
    /// As in [`Config`].
    pub min_confidence: Option<Located<Confidence>>,
    /// As in [`Config`].
    pub fail_on: Option<Located<Option<Severity>>>,
    /// As in [`Config`].
    pub levels: BTreeMap<RuleId, Located<RuleLevels>>,
}

impl Config {
    /// Reads the text of a `rowrace.toml`; gives every complaint, not only the first.
    pub fn parse(text: &str) -> Result<Self, Vec<ConfigError>> {
        Self::parse_file(text, FileNumber(0))
    }

    /// As [`Config::parse`], for one file of several.
    pub fn parse_file(text: &str, file: FileNumber) -> Result<Self, Vec<ConfigError>> {
        raw::parse(text, file)
    }

    /// Findings below it are dropped.
    pub fn min_confidence(&self) -> Confidence {
        self.min_confidence.as_ref().map_or(Confidence::Low, |it| it.value)
    }

    /// Drops findings below `confidence`, whatever the files say.
    pub fn set_min_confidence(&mut self, confidence: Confidence) {
        let (file, range) = (FileNumber::default(), 0..0);
        self.min_confidence = Some(Located { value: confidence, file, range });
    }

    /// Findings from it upwards fail the run; `None` for never.
    pub fn fail_on(&self) -> Option<Severity> {
        self.fail_on.as_ref().map_or(Some(Severity::Warning), |it| it.value)
    }

    /// Ids of packs that are off in the end.
    pub fn packs_off(&self) -> Vec<Located<String>> {
        let is_on = |id: &str| self.packs_on.iter().any(|it| it.value == id);
        self.packs_off.iter().filter(|it| !is_on(&it.value)).cloned().collect()
    }

    /// The level that the file gives to `finding`; `None` leaves the rule's own.
    pub fn level_of(&self, finding: &Finding) -> Option<Level> {
        let levels = &self.levels.get(&finding.rule)?.value;
        match finding.confidence {
            Confidence::Low => levels.low,
            Confidence::Medium => levels.medium,
            Confidence::High => levels.high,
        }
    }

    /// Whether findings about that table or model are wanted; those about none always are.
    pub fn wants_table(&self, table: &str) -> bool {
        let is_in = |list: &[Located<String>]| list.iter().any(|it| names_table(&it.value, table));
        table.is_empty()
            || (!is_in(&self.ignored_tables)
                && (self.only_tables.is_empty() || is_in(&self.only_tables)))
    }

    /// Complaints about rules that are not among `known`.
    pub fn unknown_rules(&self, known: &[&str]) -> Vec<ConfigError> {
        let levels = self.overrides.iter().map(|it| &it.levels).chain([&self.levels]);
        let unknown = levels.flatten().filter(|(id, _)| !known.contains(&&*id.0));
        unknown
            .map(|(id, levels)| ConfigError {
                kind: ConfigErrorKind::UnknownRule {
                    id: id.to_string(),
                    nearest: nearest(&id.0, known).map(str::to_owned),
                },
                file: levels.file,
                range: levels.range.clone(),
            })
            .collect()
    }
}

/// What holds for each source of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configs {
    all: Vec<Config>,
    of: Vec<usize>,
}

impl Configs {
    /// Different configurations, and for each source which one holds.
    ///
    /// # Panics
    ///
    /// When `all` is empty or `of` speaks of others.
    pub fn new(all: Vec<Config>, of: Vec<usize>) -> Self {
        assert!(!all.is_empty() && of.iter().all(|it| *it < all.len()), "each source has one");
        Self { all, of }
    }

    /// What holds for the source at that position; for one that came later, the first.
    pub fn of(&self, source: crate::base::SourceId) -> &Config {
        &self.all[self.number_of(source)]
    }

    /// Its position among [`Configs::all`].
    pub fn number_of(&self, source: crate::base::SourceId) -> usize {
        self.of.get(source.0 as usize).copied().unwrap_or(0)
    }

    /// All that differ.
    pub fn all(&self) -> &[Config] {
        &self.all
    }

    /// The same change for all.
    pub fn for_each(&mut self, change: impl FnMut(&mut Config)) {
        self.all.iter_mut().for_each(change);
    }
}

impl From<Config> for Configs {
    fn from(config: Config) -> Self {
        Self { all: vec![config], of: Vec::new() }
    }
}

/// Whether `pattern`, in which `*` stands for anything, names a table or its model: `jobs`, `Job`.
fn names_table(pattern: &str, table: &str) -> bool {
    let fold = |name: &str| {
        let name = crate::base::snake_case(crate::base::last_segment(name));
        name.strip_suffix('s').map_or_else(|| name.clone(), str::to_owned)
    };
    let (pattern, table) = (fold(pattern), fold(table));
    is_match(&pattern, &table)
}

/// Whether `text` has the form of `pattern`, in which `*` stands for anything.
fn is_match(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|it| text.strip_prefix(it)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_as_tables_or_models() {
        for (pattern, table, wanted) in [
            ("jobs", "jobs", true),
            ("jobs", "App\\Model\\Job", true),
            ("Job", "jobs", true),
            ("cache_*", "cache_locks", true),
            ("*_log", "audit_logs", true),
            ("cache_*", "caches", false),
            ("jobs", "job_batches", false),
            ("a*b*c", "axxbxxc", true),
            ("a*b*c", "axxcxxb", false),
        ] {
            assert_eq!(names_table(pattern, table), wanted, "{pattern} {table}");
        }
    }

    #[test]
    fn a_pack_can_be_put_on_again() {
        let base = Config::parse("[packs]\noff = [\"wpdb\", \"pdo\"]").expect("valid");
        let own = Config::parse("[packs]\non = [\"pdo\"]").expect("valid");
        let off = own.over(base).packs_off();
        assert_eq!(off.iter().map(|it| &*it.value).collect::<Vec<_>>(), ["wpdb"]);
    }
}
