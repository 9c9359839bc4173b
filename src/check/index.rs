//! What the whole program does to each table: which columns it claims with a guarded statement, so that
//! a row that is written back whole undoes the claim, and which transitions it guards.

use super::Input;
use super::column::{same_column, targets};
use super::guard::{Guard, judge};
use super::twin::Twins;
use crate::analysis::fact::{Look, WriteFact};
use crate::analysis::stem::stem;
use crate::base::{Name, Span};
use crate::model::ColumnClass;
use std::collections::BTreeMap;

/// By table stem.
#[derive(Debug, Default)]
pub(super) struct Index {
    claimed: BTreeMap<String, BTreeMap<Name, Span>>,
    pub(super) twins: Twins,
}

impl Index {
    pub(super) fn of(input: &Input<'_>) -> Self {
        let mut out = Self::default();
        let facts = input.settled.facts.iter().filter(|it| !input.program.is_exempt(*it.0));
        for (_, facts) in facts {
            for write in &facts.writes {
                let Some(table) = write.table.stem() else { continue };
                let input = &input.at(write.primary.source);
                out.note_claim(input, &table, write);
                out.twins.note(input, &table, write);
            }
        }
        out
    }

    /// A guarded statement whose count somebody looks at.
    fn note_claim(&mut self, input: &Input<'_>, table: &str, write: &WriteFact) {
        if !write.may_claim() || write.look != Look::Looked {
            return;
        }
        let Some((stmt, _)) = &write.statement else { return };
        let guards =
            |column: &str| stmt.conditions.iter().any(|it| same_column(&it.column, column));
        for target in targets(input, write) {
            let plain = matches!(target.class, ColumnClass::Weak | ColumnClass::Plain);
            let may_be = target.class.is_state() || plain && guards(&target.column);
            if may_be && judge(input, write, &target.column) == Guard::Holds {
                let columns = self.claimed.entry(table.to_owned()).or_default();
                columns.entry(target.column).or_insert(write.primary);
            }
        }
    }

    /// Columns of a table that guarded statements claim, and where.
    pub(super) fn claimed(&self, table: &str) -> impl Iterator<Item = (&Name, Span)> {
        self.claimed.get(&*stem(table)).into_iter().flatten().map(|(name, span)| (name, *span))
    }
}
