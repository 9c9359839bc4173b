//! From the TOML as written to a [`Config`]: one reader per table, complaints collected on the way.

use super::{Config, ConfigError, ConfigErrorKind, Level, Located, RuleLevels};
use crate::finding::{Confidence, RuleId, Severity};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: &[&str] =
    &["version", "exclude", "min-confidence", "fail-level", "rules", "columns", "packs"];
const COLUMN_KEYS: &[&str] = &["state", "never"];
const PACK_KEYS: &[&str] = &["off"];
const CONFIDENCE_WORDS: &[&str] = &["low", "medium", "high"];
const LEVEL_WORDS: &[&str] = &["off", "note", "warning", "error"];
const FAIL_WORDS: &[&str] = &["note", "warning", "error", "never"];

type Value<'t> = Spanned<DeValue<'t>>;

/// Reads the whole file.
pub(super) fn parse(text: &str) -> Result<Config, Vec<ConfigError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut ctx = Ctx { errors: Vec::new() };
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
    errors: Vec<ConfigError>,
}

impl Ctx {
    fn config(&mut self, table: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        for (key, value) in table {
            match &**key.get_ref() {
                "version" => self.version(value),
                "exclude" => config.exclude = self.words(value),
                "min-confidence" => {
                    config.min_confidence = self.confidence(value).unwrap_or(Confidence::Low);
                }
                "fail-level" => config.fail_level = self.fail_level(value),
                "rules" => self.rules(value, &mut config),
                "columns" => self.columns(value, &mut config),
                "packs" => self.packs(value, &mut config),
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

    fn rules(&mut self, value: &Value<'_>, config: &mut Config) {
        let Some(table) = self.table(value) else { return };
        for (key, value) in table {
            let levels = self.rule_levels(value);
            let id = RuleId(key.get_ref().as_ref().into());
            config.rules.insert(id, Located { value: levels, range: key.span() });
        }
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
        let Some(table) = self.table(value) else { return };
        for (key, value) in table {
            match &**key.get_ref() {
                "state" => config.state_columns = values(self.words(value)),
                "never" => config.never_columns = values(self.words(value)),
                other => self.unknown_key(key.span(), other, COLUMN_KEYS),
            }
        }
    }

    fn packs(&mut self, value: &Value<'_>, config: &mut Config) {
        let Some(table) = self.table(value) else { return };
        for (key, value) in table {
            match &**key.get_ref() {
                "off" => config.packs_off = self.words(value),
                other => self.unknown_key(key.span(), other, PACK_KEYS),
            }
        }
    }

    fn level(&mut self, value: &Value<'_>) -> Option<Level> {
        Some(match self.word(value, LEVEL_WORDS)? {
            "off" => Level::Off,
            word => Level::Show(severity(word)),
        })
    }

    fn fail_level(&mut self, value: &Value<'_>) -> Option<Severity> {
        match self.word(value, FAIL_WORDS)? {
            "never" => None,
            word => Some(severity(word)),
        }
    }

    fn confidence(&mut self, value: &Value<'_>) -> Option<Confidence> {
        Some(match self.word(value, CONFIDENCE_WORDS)? {
            "low" => Confidence::Low,
            "medium" => Confidence::Medium,
            _ => Confidence::High,
        })
    }

    /// The member of `known` that `value` spells.
    fn word(&mut self, value: &Value<'_>, known: &'static [&'static str]) -> Option<&'static str> {
        let Some(word) = value.get_ref().as_str() else {
            self.wrong_type(value, "a string");
            return None;
        };
        let found = known.iter().copied().find(|&it| it == word);
        if found.is_none() {
            let kind = ConfigErrorKind::UnknownWord { word: word.to_owned(), known };
            self.complain(value.span(), kind);
        }
        found
    }

    fn words(&mut self, value: &Value<'_>) -> Vec<Located<String>> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(value, "a list of strings");
            return Vec::new();
        };
        let mut words = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(word) => words.push(Located { value: word.to_owned(), range: item.span() }),
                None => self.wrong_type(item, "a string"),
            }
        }
        words
    }

    fn table<'v, 't>(&mut self, value: &'v Value<'t>) -> Option<&'v DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(value, "a table");
        }
        table
    }

    fn unknown_key(&mut self, range: Range<usize>, key: &str, known: &'static [&'static str]) {
        self.complain(range, ConfigErrorKind::UnknownKey { key: key.to_owned(), known });
    }

    fn wrong_type(&mut self, value: &Value<'_>, expected: &'static str) {
        let found = value.get_ref().type_str();
        self.complain(value.span(), ConfigErrorKind::WrongType { expected, found });
    }

    fn complain(&mut self, range: Range<usize>, kind: ConfigErrorKind) {
        self.errors.push(ConfigError { kind, range });
    }
}

fn values(located: Vec<Located<String>>) -> Vec<String> {
    located.into_iter().map(|it| it.value).collect()
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

    fn complaints(text: &str) -> Vec<(String, String)> {
        let errors = parse(text).expect_err("the text is wrong");
        let shown = |it: &ConfigError| (text[it.range.clone()].to_owned(), it.kind.to_string());
        errors.iter().map(shown).collect()
    }

    #[test]
    fn every_key_is_read() {
        let config = parse(
            r#"
            version = 1
            exclude = ["legacy/**"]
            min-confidence = "medium"
            fail-level = "never"
            [rules]
            loose-gate = "off"
            unguarded-update = { high = "error", low = "note" }
            [columns]
            state = ["phase"]
            never = ["seen_at"]
            [packs]
            off = ["laravel"]
            "#,
        )
        .expect("valid");
        assert_eq!(config.exclude[0].value, "legacy/**");
        assert_eq!((config.min_confidence, config.fail_level), (Confidence::Medium, None));
        assert_eq!(config.state_columns, ["phase"]);
        assert_eq!(config.never_columns, ["seen_at"]);
        assert_eq!(config.packs_off[0].value, "laravel");
        let levels = |id: &str| config.rules[&RuleId(id.into())].value;
        assert_eq!(levels("loose-gate").medium, Some(Level::Off));
        let update = levels("unguarded-update");
        assert_eq!(update.high, Some(Level::Show(Severity::Error)));
        assert_eq!(update.medium, None);
    }

    #[test]
    fn complaints_point_at_what_is_wrong() {
        let text = "versoin = 1\nmin-confidence = \"hihg\"\nexclude = [1]\n[rules]\na = 3\n";
        let wanted = [
            ("versoin", "unknown key `versoin`"),
            ("\"hihg\"", "unknown value `hihg`"),
            ("1", "expected a string, found integer"),
            ("3", "expected a string, found integer"),
        ];
        let wanted = wanted.map(|(at, message)| (at.to_owned(), message.to_owned()));
        assert_eq!(complaints(text), wanted);
    }

    #[test]
    fn a_wrong_word_gets_the_nearest_right_one() {
        let help = |text: &str| parse(text).expect_err("wrong")[0].kind.help();
        assert_eq!(help("exlude = []").as_deref(), Some("did you mean `exclude`?"));
        assert_eq!(help("fail-level = \"eror\"").as_deref(), Some("did you mean `error`?"));
        assert_eq!(help("[packs]\nqqq = 1").as_deref(), Some("one of `off`"));
        assert_eq!(help("version = 2").as_deref(), Some("write `version = 1`"));
    }

    #[test]
    fn a_syntax_error_is_the_only_complaint() {
        assert_eq!(complaints("version = \nrulez = 1").len(), 1);
    }
}
