//! What holds for a file, written as a `rowrace.toml`, each value with the place that it comes from.

use super::{Config, Level, Located, RuleLevels};
use crate::finding::{Confidence, Severity};
use crate::model::{Claim, Engine};
use std::fmt::Write as _;

/// The text; `place` says where a value was written, as `path:line`.
pub fn show(config: &Config, place: &dyn Fn(super::FileNumber, usize) -> String) -> String {
    let mut out = Page { out: String::new(), place };
    out.list("exclude", &config.exclude);
    out.list("rules", &config.rules);
    out.one("baseline", config.baseline.as_ref(), |it| quoted(it), None);
    out.one("dialect", config.dialect.as_ref(), |it| quoted(engine_word(*it)), None);
    let confidence = config.min_confidence.as_ref();
    out.one("min-confidence", confidence, |it| quoted(confidence_word(*it)), Some("\"low\""));
    let fail_on = |it: &Option<Severity>| quoted(it.map_or("never", severity_word));
    out.one("fail-on", config.fail_on.as_ref(), fail_on, Some("\"warning\""));
    out.table("levels", !config.levels.is_empty());
    for (rule, levels) in &config.levels {
        out.one(&rule.0, Some(levels), |it| levels_text(*it), None);
    }
    out.table("columns", !config.state_columns.is_empty() || !config.never_columns.is_empty());
    out.list("state", &config.state_columns);
    out.list("never", &config.never_columns);
    out.table("tables", !config.only_tables.is_empty() || !config.ignored_tables.is_empty());
    out.list("only", &config.only_tables);
    out.list("ignore", &config.ignored_tables);
    let off = config.packs_off();
    out.table("packs", !off.is_empty());
    out.list("off", &off);
    for claim in &config.claims {
        out.claim(claim);
    }
    out.out
}

struct Page<'a> {
    out: String,
    place: &'a dyn Fn(super::FileNumber, usize) -> String,
}

impl Page<'_> {
    fn one<T>(
        &mut self,
        key: &str,
        value: Option<&Located<T>>,
        text: impl Fn(&T) -> String,
        default: Option<&str>,
    ) {
        match (value, default) {
            (Some(it), _) => {
                let place = (self.place)(it.file, it.range.start);
                let _ = writeln!(self.out, "{key} = {}  # {place}", text(&it.value));
            }
            (None, Some(default)) => {
                let _ = writeln!(self.out, "{key} = {default}  # default");
            }
            (None, None) => (),
        }
    }

    fn list(&mut self, key: &str, items: &[Located<String>]) {
        if items.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "{key} = [");
        for it in items {
            let place = (self.place)(it.file, it.range.start);
            let _ = writeln!(self.out, "    {},  # {place}", quoted(&it.value));
        }
        self.out.push_str("]\n");
    }

    fn table(&mut self, name: &str, has_keys: bool) {
        if has_keys {
            let _ = writeln!(self.out, "\n[{name}]");
        }
    }

    fn claim(&mut self, claim: &Located<Claim>) {
        let place = (self.place)(claim.file, claim.range.start);
        let Claim { table, column, from, to, at } = &claim.value;
        let from: Vec<String> = from.iter().map(|it| quoted(it)).collect();
        let _ = writeln!(self.out, "\n[[claim]]  # {place}");
        let _ = writeln!(self.out, "table = {}\ncolumn = {}", quoted(table), quoted(column));
        let _ = writeln!(self.out, "from = [{}]\nto = {}", from.join(", "), quoted(to));
        let _ = writeln!(self.out, "at = {}", quoted(at));
    }
}

/// As a string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '"' | '\\' => out.extend(['\\', it]),
            it if it.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out + "\""
}

fn levels_text(levels: RuleLevels) -> String {
    let RuleLevels { low, medium, high } = levels;
    if low == medium && medium == high {
        return quoted(level_word(low).unwrap_or("off"));
    }
    let parts = [("high", high), ("medium", medium), ("low", low)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(key, level)| Some(format!("{key} = {}", quoted(level_word(level)?))))
        .collect();
    format!("{{ {} }}", parts.join(", "))
}

fn level_word(level: Option<Level>) -> Option<&'static str> {
    level.map(|it| match it {
        Level::Off => "off",
        Level::Show(severity) => severity_word(severity),
    })
}

fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn confidence_word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

pub(super) fn engine_word(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => "postgres",
        Engine::MySql => "mysql",
        Engine::Sqlite => "sqlite",
        Engine::MsSql => "mssql",
        Engine::Oracle => "oracle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        let text = "exclude = [\"a\\\\b\"]\ndialect = \"mysql\"\nfail-on = \"never\"\n\
                    levels = { a = \"off\", b = { high = \"note\" } }\n\
                    columns = { state = [\"x\"] }\npacks = { off = [\"y\"] }\n\
                    [[claim]]\ntable = \"t\"\ncolumn = \"c\"\nfrom = [1]\nto = true\nat = \"f\"\n";
        let config = Config::parse(text).expect("valid");
        let shown = show(&config, &|_, at| format!("rowrace.toml:{at}"));
        let again = Config::parse(&shown).expect("valid");
        let plain = |it: &Config| show(it, &|_, _| "default".to_owned());
        assert_eq!(plain(&again), plain(&config));
        assert!(shown.contains("min-confidence = \"low\"  # default\n"), "{shown}");
        assert!(shown.contains("fail-on = \"never\"  # rowrace.toml:"), "{shown}");
    }
}
