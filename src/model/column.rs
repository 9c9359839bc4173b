//! Which columns are states: by name, through the patterns of the column rules.

use crate::base::snake_case;
use regex::{Regex, RegexSet};

/// What a column's name says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColumnClass {
    /// Nothing.
    Plain,
    /// A state only where the program tests it.
    Weak,
    /// Set once: a second writer repeats a side effect (`sent_at`, `is_paid`).
    Done,
    /// A claim token or nullable timestamp: free while empty (`locked_by`, `reserved_at`).
    Claim,
    /// A state (`status`, `order_state`).
    Strong,
    /// A counter with a limit (`stock`, `balance`, `usage_count`).
    Counter,
    /// A version that makes a compare-and-swap.
    Version,
    /// Never a state, whatever else matches.
    Never,
}

impl ColumnClass {
    /// Whether a write of such a column is a transition by name alone.
    pub fn is_state(self) -> bool {
        matches!(self, Self::Done | Self::Claim | Self::Strong)
    }
}

/// The patterns, compiled; all on the snake-case name.
#[derive(Clone, Debug)]
pub struct ColumnRules {
    sets: Vec<(ColumnClass, RegexSet)>,
    /// Table and class words that make `state` a postal state.
    address: RegexSet,
    /// What a project says of its own, on `table.column`; the first that fits counts before all else.
    own: Vec<(ColumnClass, Regex)>,
}

impl ColumnRules {
    /// Compiles the patterns of each class; the order of `classes` is the order of precedence.
    pub fn new(
        classes: &[(ColumnClass, Vec<String>)],
        address_tables: &[String],
    ) -> Result<Self, regex::Error> {
        let mut sets = Vec::with_capacity(classes.len());
        for (class, patterns) in classes {
            sets.push((*class, RegexSet::new(patterns)?));
        }
        Ok(Self { sets, address: RegexSet::new(address_tables)?, own: Vec::new() })
    }

    /// Puts columns whose `table.column` fits one of the patterns into a class, whatever else is said.
    pub fn add_own(&mut self, class: ColumnClass, patterns: &[String]) -> Result<(), regex::Error> {
        for pattern in patterns {
            self.own.push((class, Regex::new(pattern)?));
        }
        Ok(())
    }

    /// The class of `column`; `table` (or model, or empty) tells postal states apart.
    pub fn classify(&self, table: &str, column: &str) -> ColumnClass {
        let name = snake_case(column);
        if !self.own.is_empty() {
            let both = format!("{}.{name}", snake_case(table));
            if let Some((class, _)) = self.own.iter().find(|it| it.1.is_match(&both)) {
                return *class;
            }
        }
        let class = self
            .sets
            .iter()
            .find(|(_, set)| set.is_match(&name))
            .map_or(ColumnClass::Plain, |(class, _)| *class);
        let postal = matches!(&*name, "state" | "state_id");
        if postal && self.address.is_match(&snake_case(table)) { ColumnClass::Never } else { class }
    }
}
