//! From the TOML as written to a [`Config`]: one reader per table, complaints collected on the way.

use super::error::RULE_FOLDERS;
use super::{
    Config, ConfigError, ConfigErrorKind, FileNumber, Level, Located, Override, RuleLevels,
};
use crate::finding::{Confidence, RuleId, Severity};
use crate::model::{Claim, Engine};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) const KEYS: &[&str] = &[
    "version",
    "extends",
    "exclude",
    "rules",
    "baseline",
    "dialect",
    "min-confidence",
    "fail-on",
    "levels",
    "columns",
    "tables",
    "packs",
    "overrides",
    "claim",
];
pub(super) const COLUMN_KEYS: &[&str] = &["state", "never"];
pub(super) const TABLE_KEYS: &[&str] = &["only", "ignore"];
pub(super) const PACK_KEYS: &[&str] = &["on", "off"];
pub(super) const OVERRIDE_KEYS: &[&str] =
    &["paths", "dialect", "min-confidence", "fail-on", "levels"];
pub(super) const CLAIM_KEYS: &[&str] = &["table", "column", "from", "to", "at"];
pub(super) const CONFIDENCE_WORDS: &[&str] = &["low", "medium", "high"];
pub(super) const LEVEL_WORDS: &[&str] = &["off", "note", "warning", "error"];
pub(super) const FAIL_WORDS: &[&str] = &["note", "warning", "error", "never"];
pub(super) const DIALECT_WORDS: &[&str] =
    &["postgres", "mysql", "mariadb", "sqlite", "mssql", "oracle"];

type Value<'t> = Spanned<DeValue<'t>>;

/// Reads the whole file.
pub(super) fn parse(text: &str, file: FileNumber) -> Result<Config, Vec<ConfigError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut ctx = Ctx { file, errors: Vec::new() };
    for error in errors {
        let range = error.span().unwrap_or(0..0);
        ctx.complain(range, ConfigErrorKind::Syntax(error.message().to_owned()));
    }
    // What a parser guesses behind a syntax error would only be complained about twice.
    if ctx.errors.is_empty() {
        let config = ctx.config(table.get_ref());
        if ctx.errors.is_empty() {
            return Ok(config);
        }
    }
    ctx.errors.sort_by_key(|it| (it.range.start, it.range.end));
    Err(ctx.errors)
}

struct Ctx {
    file: FileNumber,
    errors: Vec<ConfigError>,
}

impl Ctx {
    fn config(&mut self, table: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        for (key, value) in table {
            match &**key.get_ref() {
                "version" => self.version(value),
                "extends" => config.extends = self.one_or_more(value),
                "exclude" => config.exclude = self.words(value, "a list of globs"),
                "rules" => config.rules = self.words(value, RULE_FOLDERS),
                "baseline" => config.baseline = self.text(value),
                "dialect" => config.dialect = self.dialect(value),
                "min-confidence" => config.min_confidence = self.confidence(value),
                "fail-on" => config.fail_on = self.fail_on(value),
                "levels" => config.levels = self.levels(value),
                "columns" => self.columns(value, &mut config),
                "tables" => self.tables(value, &mut config),
                "packs" => self.packs(value, &mut config),
                "overrides" => {
                    let tables = self.list_of_tables(value);
                    config.overrides = tables.map(|it| self.one_override(it)).collect();
                }
                "claim" => {
                    let tables = self.list_of_tables(value);
                    config.claims = tables.filter_map(|it| self.claim(it)).collect();
                }
                other => self.unknown_key(key.span(), other, KEYS),
            }
        }
        config
    }

    fn version(&mut self, value: &Value<'_>) {
        match value.get_ref().as_integer() {
            Some(version) if version.as_str() == "1" => (),
            Some(version) => {
                self.complain(value.span(), ConfigErrorKind::Version(version.as_str().to_owned()));
            }
            None => self.wrong_type(value, "a whole number"),
        }
    }

    fn levels(&mut self, value: &Value<'_>) -> BTreeMap<RuleId, Located<RuleLevels>> {
        let mut levels = BTreeMap::new();
        for (key, value) in self.table(value).into_iter().flatten() {
            let value = self.rule_levels(value);
            let id = RuleId(key.get_ref().as_ref().into());
            levels.insert(id, Located { value, file: self.file, range: key.span() });
        }
        levels
    }

    /// `"off"`, or `{ high = "error", low = "off" }`.
    fn rule_levels(&mut self, value: &Value<'_>) -> RuleLevels {
        let mut levels = RuleLevels::default();
        let Some(table) = value.get_ref().as_table() else {
            let level = self.level(value);
            return RuleLevels { low: level, medium: level, high: level };
        };
        for (key, value) in table {
            match &**key.get_ref() {
                "low" => levels.low = self.level(value),
                "medium" => levels.medium = self.level(value),
                "high" => levels.high = self.level(value),
                other => self.unknown_key(key.span(), other, CONFIDENCE_WORDS),
            }
        }
        levels
    }

    fn columns(&mut self, value: &Value<'_>, config: &mut Config) {
        for (key, value) in self.table(value).into_iter().flatten() {
            match &**key.get_ref() {
                "state" => config.state_columns = self.words(value, "a list of columns"),
                "never" => config.never_columns = self.words(value, "a list of columns"),
                other => self.unknown_key(key.span(), other, COLUMN_KEYS),
            }
        }
    }

    fn tables(&mut self, value: &Value<'_>, config: &mut Config) {
        for (key, value) in self.table(value).into_iter().flatten() {
            match &**key.get_ref() {
                "only" => config.only_tables = self.words(value, "a list of tables"),
                "ignore" => config.ignored_tables = self.words(value, "a list of tables"),
                other => self.unknown_key(key.span(), other, TABLE_KEYS),
            }
        }
    }

    fn packs(&mut self, value: &Value<'_>, config: &mut Config) {
        for (key, value) in self.table(value).into_iter().flatten() {
            match &**key.get_ref() {
                "off" => config.packs_off = self.words(value, "a list of packs"),
                "on" => config.packs_on = self.words(value, "a list of packs"),
                other => self.unknown_key(key.span(), other, PACK_KEYS),
            }
        }
    }

    fn one_override(&mut self, (at, table): (Range<usize>, &DeTable<'_>)) -> Override {
        let mut out = Override::default();
        let mut has_paths = false;
        for (key, value) in table {
            match &**key.get_ref() {
                "paths" => {
                    out.paths = self.words(value, "a list of globs");
                    has_paths = true;
                }
                "dialect" => out.dialect = self.dialect(value),
                "min-confidence" => out.min_confidence = self.confidence(value),
                "fail-on" => out.fail_on = self.fail_on(value),
                "levels" => out.levels = self.levels(value),
                other => self.unknown_key(key.span(), other, OVERRIDE_KEYS),
            }
        }
        if !has_paths {
            self.missing(at, "paths", "[[overrides]]");
        }
        out
    }

    fn claim(&mut self, (at, table): (Range<usize>, &DeTable<'_>)) -> Option<Located<Claim>> {
        let (mut name, mut column, mut from, mut to, mut place) = (None, None, None, None, None);
        for (key, value) in table {
            match &**key.get_ref() {
                "table" => name = self.text(value),
                "column" => column = self.text(value),
                "from" => from = Some(self.states(value)),
                "to" => to = self.states(value).pop(),
                "at" => place = self.text(value),
                other => self.unknown_key(key.span(), other, CLAIM_KEYS),
            }
        }
        for key in CLAIM_KEYS.iter().filter(|it| !table.contains_key(**it)) {
            self.missing(at.clone(), key, "[[claim]]");
        }
        let place = place?;
        let claim = Claim {
            table: name?.value,
            column: column?.value,
            from: from?,
            to: to?,
            at: place.value,
        };
        Some(Located { value: claim, file: self.file, range: place.range })
    }

    /// A state, or a list of them: strings, numbers, `true`, `false`.
    fn states(&mut self, value: &Value<'_>) -> Vec<String> {
        let items = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![value],
        };
        let mut states = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(it) => states.push(it.to_string()),
                DeValue::Integer(it) => states.push(it.as_str().to_owned()),
                DeValue::Boolean(it) => states.push(it.to_string()),
                _ => self.wrong_type(item, "a state: a string, a whole number or a bool"),
            }
        }
        states
    }

    fn level(&mut self, value: &Value<'_>) -> Option<Level> {
        Some(match self.word(value, LEVEL_WORDS)? {
            "off" => Level::Off,
            word => Level::Show(severity(word)),
        })
    }

    fn fail_on(&mut self, value: &Value<'_>) -> Option<Located<Option<Severity>>> {
        let level = match self.word(value, FAIL_WORDS)? {
            "never" => None,
            word => Some(severity(word)),
        };
        Some(self.located(level, value))
    }

    fn confidence(&mut self, value: &Value<'_>) -> Option<Located<Confidence>> {
        let confidence = match self.word(value, CONFIDENCE_WORDS)? {
            "low" => Confidence::Low,
            "medium" => Confidence::Medium,
            _ => Confidence::High,
        };
        Some(self.located(confidence, value))
    }

    fn dialect(&mut self, value: &Value<'_>) -> Option<Located<Engine>> {
        let engine = match self.word(value, DIALECT_WORDS)? {
            "postgres" => Engine::Postgres,
            "mysql" | "mariadb" => Engine::MySql,
            "sqlite" => Engine::Sqlite,
            "mssql" => Engine::MsSql,
            _ => Engine::Oracle,
        };
        Some(self.located(engine, value))
    }

    /// The member of `known` that `value` spells.
    fn word(&mut self, value: &Value<'_>, known: &'static [&'static str]) -> Option<&'static str> {
        let word = self.text(value)?.value;
        let found = known.iter().copied().find(|&it| it == word);
        if found.is_none() {
            let kind = ConfigErrorKind::UnknownWord { word, known };
            self.complain(value.span(), kind);
        }
        found
    }

    fn text(&mut self, value: &Value<'_>) -> Option<Located<String>> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(value, "a string");
        }
        text.map(|it| self.located(it.to_owned(), value))
    }

    fn one_or_more(&mut self, value: &Value<'_>) -> Vec<Located<String>> {
        match value.get_ref() {
            DeValue::Array(_) => self.words(value, "a list of files"),
            _ => self.text(value).into_iter().collect(),
        }
    }

    fn words(&mut self, value: &Value<'_>, expected: &'static str) -> Vec<Located<String>> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(value, expected);
            return Vec::new();
        };
        items.iter().filter_map(|it| self.text(it)).collect()
    }

    fn table<'v, 't>(&mut self, value: &'v Value<'t>) -> Option<&'v DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(value, "a table");
        }
        table
    }

    fn list_of_tables<'v, 't>(
        &mut self,
        value: &'v Value<'t>,
    ) -> std::vec::IntoIter<(Range<usize>, &'v DeTable<'t>)> {
        let mut tables = Vec::new();
        match value.get_ref().as_array() {
            Some(items) => {
                for item in items {
                    tables.extend(self.table(item).map(|it| (item.span(), it)));
                }
            }
            None => self.wrong_type(value, "a list of tables"),
        }
        tables.into_iter()
    }

    fn located<T>(&self, value: T, at: &Value<'_>) -> Located<T> {
        Located { value, file: self.file, range: at.span() }
    }

    fn unknown_key(&mut self, range: Range<usize>, key: &str, known: &'static [&'static str]) {
        self.complain(range, ConfigErrorKind::UnknownKey { key: key.to_owned(), known });
    }

    fn missing(&mut self, range: Range<usize>, key: &'static str, within: &'static str) {
        self.complain(range, ConfigErrorKind::MissingKey { key, within });
    }

    fn wrong_type(&mut self, value: &Value<'_>, expected: &'static str) {
        let found = value.get_ref().type_str();
        self.complain(value.span(), ConfigErrorKind::WrongType { expected, found });
    }

    fn complain(&mut self, range: Range<usize>, kind: ConfigErrorKind) {
        self.errors.push(ConfigError { kind, file: self.file, range });
    }
}

fn severity(word: &str) -> Severity {
    match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Vec<ConfigError>> {
        super::parse(text, FileNumber(0))
    }

    fn complaints(text: &str) -> Vec<(String, String)> {
        let errors = parse(text).expect_err("the text is wrong");
        let shown = |it: &ConfigError| (text[it.range.clone()].to_owned(), it.kind.to_string());
        errors.iter().map(shown).collect()
    }

    fn values(list: &[Located<String>]) -> Vec<&str> {
        list.iter().map(|it| &*it.value).collect()
    }

    #[test]
    fn every_key_is_read() {
        let config = parse(
            r#"
            version = 1
            extends = "../rowrace.toml"
            exclude = ["legacy/**"]
            rules = ["ci/rowrace"]
            baseline = "ci/known.txt"
            dialect = "mariadb"
            min-confidence = "medium"
            fail-on = "never"
            [levels]
            loose-gate = "off"
            unguarded-update = { high = "error", low = "note" }
            [columns]
            state = ["phase"]
            never = ["seen_at"]
            [tables]
            only = ["jobs"]
            ignore = ["cache_*"]
            [packs]
            off = ["laravel"]
            on = ["pdo"]
            [[overrides]]
            paths = ["/admin"]
            dialect = "sqlite"
            min-confidence = "high"
            fail-on = "error"
            levels = { lost-update = "note" }
            [[claim]]
            table = "executions"
            column = "status"
            from = ["pending", 0]
            to = "running"
            at = "ExecutionRepository::markStartedAtomic"
            "#,
        )
        .expect("valid");
        assert_eq!(values(&config.extends), ["../rowrace.toml"]);
        assert_eq!(values(&config.exclude), ["legacy/**"]);
        assert_eq!(values(&config.rules), ["ci/rowrace"]);
        assert_eq!(config.baseline.as_ref().map(|it| &*it.value), Some("ci/known.txt"));
        assert_eq!(config.dialect.as_ref().map(|it| it.value), Some(Engine::MySql));
        assert_eq!((config.min_confidence(), config.fail_on()), (Confidence::Medium, None));
        assert_eq!(values(&config.state_columns), ["phase"]);
        assert_eq!(values(&config.never_columns), ["seen_at"]);
        assert_eq!(values(&config.only_tables), ["jobs"]);
        assert_eq!(values(&config.ignored_tables), ["cache_*"]);
        assert_eq!(
            (values(&config.packs_off), values(&config.packs_on)),
            (vec!["laravel"], vec!["pdo"])
        );
        let levels = |id: &str| config.levels[&RuleId(id.into())].value;
        assert_eq!(levels("loose-gate").medium, Some(Level::Off));
        let update = levels("unguarded-update");
        assert_eq!(update.high, Some(Level::Show(Severity::Error)));
        assert_eq!(update.medium, None);
        let inside = config.for_source(&[0]);
        assert_eq!(inside.min_confidence(), Confidence::High);
        assert_eq!(inside.levels.len(), 3);
        let claim = &config.claims[0].value;
        assert_eq!((&*claim.from.join(" "), &*claim.to), ("pending 0", "running"));
    }

    #[test]
    fn complaints_point_at_what_is_wrong() {
        let text = "versoin = 1\nmin-confidence = \"hihg\"\nexclude = [1]\n[levels]\na = 3\n";
        let wanted = [
            ("versoin", "unknown key `versoin`"),
            ("\"hihg\"", "unknown value `hihg`"),
            ("1", "expected a string, found integer"),
            ("3", "expected a string, found integer"),
        ];
        let wanted = wanted.map(|(at, message)| (at.to_owned(), message.to_owned()));
        assert_eq!(complaints(text), wanted);
        let text = "[[claim]]\ntable = \"a\"\ncolumn = \"b\"\nfrom = [\"c\"]\nto = \"d\"\n";
        assert_eq!(complaints(text)[0].1, "`[[claim]]` needs `at`");
    }

    #[test]
    fn a_wrong_word_gets_the_nearest_right_one() {
        let help = |text: &str| parse(text).expect_err("wrong")[0].kind.help();
        for (text, wanted) in [
            ("exlude = []", "did you mean `exclude`?"),
            ("fail-on = \"eror\"", "did you mean `error`?"),
            ("[packs]\nqqq = 1", "one of `on`, `off`"),
            ("version = 2", "write `version = 1`"),
            ("fail-level = \"error\"", "did you mean `fail-on`?"),
            ("[rules]\nloose-gate = \"off\"", "levels of rules stand in `[levels]`"),
            ("per-file-ignores = 1", "did you mean `overrides`?"),
            ("[tables]\nexclude = []", "did you mean `ignore`?"),
        ] {
            assert_eq!(help(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn a_syntax_error_is_the_only_complaint() {
        assert_eq!(complaints("version = \nrulez = 1").len(), 1);
    }
}
