//! Which words does a file speak? Files of one tree can be configured differently: what a call means and
//! which columns are states is asked for by the file that holds the code.

use super::{ColumnRules, Engine, Vocabulary, Words};
use crate::base::SourceId;

/// What calls, columns and names mean.
#[derive(Clone, Copy, Debug)]
pub struct Lexicon<'a> {
    /// Packs.
    pub vocabulary: &'a Vocabulary,
    /// What columns are.
    pub columns: &'a ColumnRules,
    /// What names speak of.
    pub words: &'a Words,
    /// The engine that statements go to, where the code does not tell.
    pub dialect: Option<Engine>,
}

/// The lexica of a program.
#[derive(Clone, Debug)]
pub struct Lexica<'a> {
    first: Lexicon<'a>,
    others: Vec<Lexicon<'a>>,
    of: &'a [usize],
}

impl<'a> Lexica<'a> {
    /// `first`, number 0, and `others`; `of` has the number for each source, those left out have 0.
    pub fn new(first: Lexicon<'a>, others: Vec<Lexicon<'a>>, of: &'a [usize]) -> Self {
        Self { first, others, of }
    }

    /// The lexicon of a source.
    pub fn of(&self, source: SourceId) -> Lexicon<'a> {
        self.numbered(self.number_of(source))
    }

    /// The number of a source's lexicon.
    pub fn number_of(&self, source: SourceId) -> usize {
        self.of.get(source.0 as usize).copied().unwrap_or(0)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// The lexicon of that number.
    pub fn numbered(&self, number: usize) -> Lexicon<'a> {
        let other = number.checked_sub(1).and_then(|it| self.others.get(it));
        other.copied().unwrap_or(self.first)
    }
}
