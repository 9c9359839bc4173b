//! What the TOML files say: rules, vocabulary, column patterns and words, typed and checked.
//!
//! TOML is known here only; every later stage sees typed values.

mod access;
mod builtin;
mod columns;
mod error;
mod load;
mod raw;
mod role;
mod rule;

#[cfg(test)]
mod tests;

pub use error::{PackError, PackErrorKind, PackErrors, Place};

use crate::base::Name;
use crate::model::{ColumnClass, ColumnRules, Vocabulary, Words};
use crate::rule::{Placeholder, Rule};

/// All rules and packs of a run.
#[derive(Clone, Debug)]
pub struct Packs {
    /// The rules, by id and fault. An id can stand for several faults.
    pub rules: Vec<Rule>,
    /// What calls mean.
    pub vocabulary: Vocabulary,
    /// Which columns are states.
    pub columns: ColumnRules,
    /// Which names speak of workers, states on the way, and the like.
    pub words: Words,
    /// Ids of the packs that are on, sorted.
    pub pack_ids: Vec<Name>,
    /// Changes whenever any of the texts does.
    pub hash: u64,
}

impl Packs {
    /// The built-in rules and packs.
    ///
    /// # Panics
    ///
    /// When a built-in file is wrong, which a test rules out.
    pub fn builtin() -> Self {
        match Self::load(&[], &[]) {
            Ok(packs) => packs,
            Err(errors) => panic!("built-in rules are wrong:\n{errors}"),
        }
    }

    /// The built-in rules and packs, joined by a user's files (path and text), without the packs that
    /// are `off`.
    pub fn load(user: &[(String, String)], off: &[String]) -> Result<Self, PackErrors> {
        builtin::merge(user, off)
    }

    /// Puts columns whose `table.column` fits into a class, as a project's configuration may ask.
    pub fn add_columns(
        &mut self,
        class: ColumnClass,
        patterns: &[String],
    ) -> Result<(), regex::Error> {
        self.columns.add_own(class, patterns)
    }

    /// The rules of that id.
    pub fn rules_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Rule> {
        self.rules.iter().filter(move |it| *it.id.0 == *id)
    }
}

/// What to write instead of an unknown placeholder.
fn placeholder_help(name: &str) -> String {
    let words = Placeholder::ALL.map(Placeholder::word);
    raw::suggestion(name, &words)
}
