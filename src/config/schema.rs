//! Which keys and values can a `rowrace.toml` have, as a JSON Schema?
//!
//! The types here are never made: the reader in `raw` says where a mistake stands and what was meant,
//! which no derived reader does. A test holds the two together, key by key.

#![expect(dead_code, reason = "the types exist for their schema")]

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use std::collections::BTreeMap;

/// The schema of the file, as text.
pub fn schema() -> String {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    without_null(&mut schema);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// A key is left out or has a value: there is no null in TOML.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|it| it != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    map.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(any)) = map.get_mut("anyOf") {
                any.retain(|it| it.get("type").is_none_or(|it| it != "null"));
            }
            map.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => (),
    }
}

/// Configuration of rowrace, a linter for row races.
#[derive(JsonSchema)]
#[schemars(rename = "rowrace.toml", rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    /// The version of this format; always 1.
    #[schemars(extend("const" = 1))]
    version: Option<u8>,
    /// Files that this one is laid over, relative to it: values of this file count, lists are joined.
    extends: Option<OneOrMore>,
    /// Globs of what is not read, as in .gitignore, relative to the folder of this file.
    exclude: Option<Vec<String>>,
    /// Folders of own rules and packs, relative to this file and inside of its repository.
    rules: Option<Vec<String>>,
    /// The baseline, relative to this file. By default rowrace-baseline.txt beside it.
    baseline: Option<String>,
    /// The engine that statements go to, where the code does not tell.
    dialect: Option<Dialect>,
    /// Findings below it are dropped. By default low.
    min_confidence: Option<Confidence>,
    /// Findings from it upwards fail the run. By default warning.
    fail_on: Option<FailOn>,
    /// Levels by rule; `rowrace rules` lists the rules.
    levels: Option<BTreeMap<String, RuleLevel>>,
    /// Which columns are states.
    columns: Option<Columns>,
    /// Which tables are reported.
    tables: Option<Tables>,
    /// Which built-in packs are used.
    packs: Option<Packs>,
    /// What holds for some files only; of two that fit, the later one counts.
    overrides: Option<Vec<Override>>,
    /// Contracts: which function alone makes which transition.
    claim: Option<Vec<Claim>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Dialect {
    Postgres,
    Mysql,
    Mariadb,
    Sqlite,
    Mssql,
    Oracle,
}

/// How strong the evidence is.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Confidence {
    Low,
    Medium,
    High,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum FailOn {
    Note,
    Warning,
    Error,
    Never,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Level {
    Off,
    Note,
    Warning,
    Error,
}

/// One level, or one for each confidence.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum RuleLevel {
    One(Level),
    Each(EachLevel),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct EachLevel {
    low: Option<Level>,
    medium: Option<Level>,
    high: Option<Level>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Columns {
    /// States besides the well-known ones: `phase`, `*_stage`, `jobs.kind`.
    state: Option<Vec<String>>,
    /// Never states.
    never: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Tables {
    /// The only tables that are reported.
    only: Option<Vec<String>>,
    /// Tables that are not reported.
    ignore: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Packs {
    /// Packs that are used although an extended file says otherwise.
    on: Option<Vec<String>>,
    /// Packs that are not used.
    off: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct Override {
    /// Globs as in exclude.
    paths: Vec<String>,
    /// As above, for these files.
    dialect: Option<Dialect>,
    /// As above, for these files.
    min_confidence: Option<Confidence>,
    /// As above, for these files.
    fail_on: Option<FailOn>,
    /// As above, for these files.
    levels: Option<BTreeMap<String, RuleLevel>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Claim {
    /// Table or model.
    table: String,
    /// The state.
    column: String,
    /// The old states.
    from: Vec<State>,
    /// The new state.
    to: State,
    /// The function that makes the transition: `Class::method`, or a function's name.
    at: String,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum State {
    Text(String),
    Number(i64),
    Flag(bool),
}

#[cfg(test)]
mod tests {
    use super::super::raw;
    use super::*;

    fn keys(value: &Value, at: &str) -> Vec<String> {
        let properties = value.pointer(at).and_then(Value::as_object).expect("properties");
        let mut keys: Vec<_> = properties.keys().cloned().collect();
        keys.sort();
        keys
    }

    fn sorted(words: &[&str]) -> Vec<String> {
        let mut words: Vec<_> = words.iter().map(ToString::to_string).collect();
        words.sort();
        words
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema: Value = serde_json::from_str(&schema()).expect("JSON");
        assert_eq!(keys(&schema, "/properties"), sorted(raw::KEYS));
        for (name, words) in [
            ("Columns", raw::COLUMN_KEYS),
            ("Tables", raw::TABLE_KEYS),
            ("Packs", raw::PACK_KEYS),
            ("Override", raw::OVERRIDE_KEYS),
            ("Claim", raw::CLAIM_KEYS),
            ("EachLevel", raw::CONFIDENCE_WORDS),
        ] {
            let at = format!("/definitions/{name}/properties");
            assert_eq!(keys(&schema, &at), sorted(words), "{name}");
        }
        for (name, words) in [
            ("Confidence", raw::CONFIDENCE_WORDS),
            ("Level", raw::LEVEL_WORDS),
            ("FailOn", raw::FAIL_WORDS),
            ("Dialect", raw::DIALECT_WORDS),
        ] {
            let found = schema.pointer(&format!("/definitions/{name}/enum"));
            let found = found.and_then(Value::as_array).expect("words").iter();
            let found: Vec<_> = found.map(|it| it.as_str().expect("a word")).collect();
            assert_eq!(sorted(&found), sorted(words), "{name}");
        }
    }
}
