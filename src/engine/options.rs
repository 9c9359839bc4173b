//! What can the analysis be told besides its packs?

use crate::config::{Config, Located};
use crate::model;

/// What a run can be told besides its packs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Regular expressions for columns that are states besides the built-in ones.
    pub state_columns: Vec<String>,
    /// Regular expressions for columns that are never states.
    pub never_columns: Vec<String>,
    /// The engine that statements go to, where the code does not tell.
    pub dialect: Option<model::Engine>,
}

impl Options {
    /// What `config` says of columns and engine.
    pub fn of(config: &Config) -> Self {
        let patterns =
            |names: &[Located<String>]| names.iter().map(|it| column_pattern(&it.value)).collect();
        Self {
            state_columns: patterns(&config.state_columns),
            never_columns: patterns(&config.never_columns),
            dialect: config.dialect.as_ref().map(|it| it.value),
        }
    }
}

/// `phase`, `*_stage` or `jobs.kind`, in which `*` stands for anything, as a regular expression over
/// table and column: `job.phase`. A table is named as such or as its model.
fn column_pattern(name: &str) -> String {
    let name = name.to_lowercase();
    match name.split_once('.') {
        None => format!("^[^.]*\\.{}$", any(&name)),
        Some((table, column)) => {
            let table = table.strip_suffix('s').unwrap_or(table);
            format!("^{}s?\\.{}$", any(table), any(column))
        }
    }
}

fn any(name: &str) -> String {
    let mut pattern = String::new();
    for it in name.chars() {
        match it {
            '*' => pattern.push_str("[^.]*"),
            it if it.is_alphanumeric() || it == '_' => pattern.push(it),
            it if it.is_ascii() => {
                pattern.push('\\');
                pattern.push(it);
            }
            it => pattern.push(it),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::column_pattern;

    #[test]
    fn a_column_name_means_itself() {
        assert_eq!(column_pattern("Phase"), "^[^.]*\\.phase$");
        assert_eq!(column_pattern("*_state"), "^[^.]*\\.[^.]*_state$");
        assert_eq!(column_pattern("jobs.kind"), "^jobs?\\.kind$");
        assert_eq!(column_pattern("a-b"), "^[^.]*\\.a\\-b$");
    }
}
