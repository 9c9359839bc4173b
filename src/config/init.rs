//! Which `rowrace.toml` does a tree begin with? One whose comments speak of what the tree uses.

use crate::model::Engine;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use toml::de::{DeTable, DeValue};

/// What a manifest says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Names of packages, each with the file that asks for it.
    packages: Vec<(String, String)>,
    /// Engines that the packages or their features name.
    engines: BTreeSet<Engine>,
}

/// Beginnings of package names and the pack that reads what they offer.
const STACKS: &[(&str, &str)] = &[
    ("laravel/framework", "laravel"),
    ("illuminate/database", "laravel"),
    ("hyperf/", "laravel"),
    ("doctrine/dbal", "doctrine"),
    ("doctrine/orm", "doctrine"),
    ("doctrine/doctrine-bundle", "doctrine"),
    ("symfony/messenger", "messenger"),
    ("symfony/lock", "symfony"),
    ("php-amqplib/php-amqplib", "amqp"),
    ("bunny/bunny", "amqp"),
    ("enqueue/", "enqueue"),
    ("yiisoft/yii2", "yii2"),
    ("yiisoft/yii2-queue", "yii2-queue"),
    ("cakephp/", "cakephp"),
    ("codeigniter4/", "codeigniter"),
    ("cycle/", "cycle"),
    ("drupal/core", "drupal"),
    ("magento/", "magento"),
    ("typo3/cms-core", "typo3"),
    ("silverstripe/framework", "silverstripe"),
    ("propel/propel", "propel"),
    ("laminas/laminas-db", "zend-db"),
    ("nette/database", "nette"),
    ("gabordemooij/redbean", "redbean"),
    ("catfan/medoo", "medoo"),
    ("topthink/", "thinkphp"),
    ("ext-pdo", "pdo"),
    ("ext-mysqli", "mysqli"),
    ("ext-pgsql", "pgsql"),
    ("sqlx", "sqlx"),
    ("diesel", "diesel"),
    ("sea-orm", "sea-orm"),
    ("sea-query", "sea-query"),
    ("rusqlite", "rusqlite"),
    ("tokio-postgres", "tokio-postgres"),
    ("deadpool-postgres", "tokio-postgres"),
    ("mysql_async", "mysql-async"),
    ("rbatis", "rbatis"),
    ("welds", "welds"),
    ("libsql", "libsql"),
    ("lapin", "rust-amqp"),
    ("rdkafka", "rust-brokers"),
    ("async-nats", "rust-brokers"),
    ("apalis", "rust-jobs"),
];

/// Words in package and feature names, and the engine that they mean.
const ENGINES: &[(&str, Engine)] = &[
    ("postgres", Engine::Postgres),
    ("pgsql", Engine::Postgres),
    ("mysql", Engine::MySql),
    ("mariadb", Engine::MySql),
    ("sqlite", Engine::Sqlite),
    ("sqlsrv", Engine::MsSql),
    ("oci8", Engine::Oracle),
];

impl Uses {
    /// Adds what a `composer.json` at `path` asks for; one that cannot be read asks for nothing.
    pub fn composer(&mut self, path: &str, text: &str) {
        let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return };
        let required = manifest.get("require").and_then(serde_json::Value::as_object);
        for name in required.into_iter().flat_map(serde_json::Map::keys) {
            self.package(path, name);
        }
    }

    /// Adds what a `Cargo.toml` at `path` asks for.
    pub fn cargo(&mut self, path: &str, text: &str) {
        let Ok(manifest) = DeTable::parse(text) else { return };
        let manifest = manifest.get_ref();
        let workspace = manifest.get("workspace").and_then(|it| it.get_ref().as_table());
        for table in [Some(manifest), workspace].into_iter().flatten() {
            let needed = table.get("dependencies").and_then(|it| it.get_ref().as_table());
            for (name, value) in needed.into_iter().flatten() {
                self.package(path, name.get_ref());
                let features = value.get_ref().get("features").and_then(|it| match it.get_ref() {
                    DeValue::Array(items) => Some(items),
                    _ => None,
                });
                for feature in features.into_iter().flatten() {
                    feature.get_ref().as_str().into_iter().for_each(|it| self.engine(it));
                }
            }
        }
    }

    fn package(&mut self, path: &str, name: &str) {
        if STACKS.iter().any(|it| fits(it.0, name)) {
            self.packages.push((name.to_owned(), path.to_owned()));
        }
        // A migration tool or a driver for tests is no evidence; a driver that is required is.
        if name.starts_with("ext-") || !name.contains('/') {
            self.engine(name);
        }
    }

    fn engine(&mut self, word: &str) {
        let found = ENGINES.iter().filter(|it| word.contains(it.0));
        self.engines.extend(found.map(|it| it.1));
    }

    /// The packs that read what is used, each with the packages that it is for.
    fn packs(&self) -> Vec<(&'static str, Vec<String>)> {
        let ids: BTreeSet<&str> = self
            .packages
            .iter()
            .flat_map(|(name, _)| STACKS.iter().filter(|it| fits(it.0, name)).map(|it| it.1))
            .collect();
        let of = |id: &str| {
            let own = |name: &str| STACKS.iter().any(|it| it.1 == id && fits(it.0, name));
            let named = self.packages.iter().filter(|it| own(&it.0));
            named.map(|(name, path)| format!("{name} in {path}")).collect()
        };
        ids.into_iter().map(|id| (id, of(id))).collect()
    }
}

/// Whether a package is meant: by its whole name, or by its vendor.
fn fits(stack: &str, name: &str) -> bool {
    stack == name || (stack.ends_with('/') && name.starts_with(stack))
}

/// The text to begin with.
pub fn starter(uses: &Uses) -> String {
    let mut out = String::from(
        "# Configuration of rowrace; `rowrace config show FILE` says what holds for a file and why.\n\
         version = 1\n\n",
    );
    out.push_str(&dialect_lines(uses));
    out.push_str(
        "# What is not read, as in .gitignore. Tests, migrations and vendored code are known by their names.\n\
         # exclude = [\"/legacy\", \"*.generated.php\"]\n\n\
         # Findings with weaker evidence are dropped: \"low\", \"medium\" or \"high\".\n\
         # min-confidence = \"low\"\n\n\
         # What fails a run: \"note\", \"warning\", \"error\" or \"never\".\n\
         # fail-on = \"warning\"\n\n\
         # Folders of your own rules and packs.\n\
         # rules = [\"ci/rowrace\"]\n\n\
         # Levels by rule, or by rule and confidence; `rowrace rules` lists the rules.\n\
         [levels]\n\
         # loose-gate = \"off\"\n\
         # unguarded-update = { high = \"error\", medium = \"warning\", low = \"off\" }\n\n\
         # Columns that are states though nobody would think so, and the other way round.\n\
         [columns]\n\
         # state = [\"phase\", \"*_stage\", \"orders.kind\"]\n\
         # never = [\"last_seen_status\"]\n\n\
         # Tables that do not matter.\n\
         [tables]\n\
         # ignore = [\"cache\", \"sessions\", \"*_log\"]\n\n",
    );
    out.push_str(&pack_lines(uses));
    out.push_str(
        "# What holds for some files only.\n\
         # [[overrides]]\n\
         # paths = [\"/app/Admin\"]\n\
         # levels = { unguarded-update = \"note\" }\n\n\
         # A contract: this function alone makes this change, guarded, by key, and looks whether it won.\n\
         # [[claim]]\n\
         # table = \"jobs\"\n\
         # column = \"status\"\n\
         # from = [\"pending\"]\n\
         # to = \"running\"\n\
         # at = \"JobRepository::claim\"\n",
    );
    out
}

fn dialect_lines(uses: &Uses) -> String {
    let head = "# The database: what a sub-select or a transaction is worth depends on it.\n";
    match Vec::from_iter(&uses.engines).as_slice() {
        [one] => format!("{head}dialect = \"{}\"\n\n", super::show::engine_word(**one)),
        [] => format!("{head}# dialect = \"postgres\"\n\n"),
        several => {
            let words: Vec<_> = several.iter().map(|it| super::show::engine_word(**it)).collect();
            format!(
                "{head}# This tree uses {}: set it per folder in [[overrides]].\n# dialect = \"{}\"\n\n",
                words.join(" and "),
                words[0]
            )
        }
    }
}

fn pack_lines(uses: &Uses) -> String {
    let mut out =
        String::from("# All packs are on; what a framework's calls mean is found by its types.\n");
    for (id, packages) in uses.packs() {
        let _ = writeln!(out, "# {id}: {}", packages.join(", "));
    }
    out.push_str("[packs]\n# off = [\"wordpress\"]\n\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn every_pack_and_key_that_is_spoken_of_exists() {
        let mut uses = Uses::default();
        uses.composer(
            "composer.json",
            r#"{"require": {"laravel/framework": "^12", "ext-pdo_pgsql": "*"}}"#,
        );
        let text = starter(&uses);
        let config = Config::parse(&text).expect("valid");
        assert_eq!(config.dialect.map(|it| it.value), Some(Engine::Postgres));
        assert!(text.contains("# laravel: laravel/framework in composer.json\n"), "{text}");
        // With the comments taken for what they offer, it is valid, too.
        let is_key = |it: &str| it.contains(" = ") || it.starts_with("[[");
        let offered: Vec<&str> = text
            .lines()
            .map(|it| it.strip_prefix("# ").filter(|it| is_key(it)).unwrap_or(it))
            .filter(|it| !it.starts_with("dialect"))
            .collect();
        let config = Config::parse(&offered.join("\n")).expect("valid");
        assert_eq!((config.claims.len(), config.overrides.len(), config.levels.len()), (1, 1, 2));
    }

    #[test]
    fn features_name_the_engine() {
        let mut uses = Uses::default();
        uses.cargo(
            "Cargo.toml",
            "[dependencies]\nsqlx = { version = \"0.8\", features = [\"postgres\"] }\n",
        );
        assert!(starter(&uses).contains("\ndialect = \"postgres\"\n"));
        uses.cargo("b/Cargo.toml", "[workspace.dependencies]\nrusqlite = \"0.3\"\n");
        let text = starter(&uses);
        assert!(text.contains("# This tree uses postgres and sqlite"), "{text}");
        assert!(text.contains("# rusqlite: rusqlite in b/Cargo.toml\n"), "{text}");
    }
}
