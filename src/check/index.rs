//! What the whole program does to columns: which of them it tests somewhere, and which it claims with a
//! guarded statement. A write of such a column matters even where no test is in sight, and a row that is
//! written back whole undoes such a claim.

use super::column::{same_column, targets};
use super::guard::{Guard, judge};
use super::Input;
use crate::analysis::fact::{CheckKind, Look, WriteFact, WriteKind, stem};
use crate::base::{Name, Span};
use crate::model::ColumnClass;
use std::collections::{BTreeMap, BTreeSet};

/// Columns by table stem.
#[derive(Debug, Default)]
pub(super) struct Index {
    tested: BTreeSet<(String, String)>,
    claimed: BTreeMap<String, BTreeMap<Name, Span>>,
}

impl Index {
    pub(super) fn of(input: &Input<'_>) -> Self {
        let mut out = Self::default();
        for facts in input.settled.facts.values() {
            for write in &facts.writes {
                let Some(table) = write.table.stem() else { continue };
                for check in write.checks.iter().filter(|it| it.kind != CheckKind::Vague) {
                    out.tested.insert((table.clone(), check.column.to_lowercase()));
                }
                out.note_claim(input, &table, write);
            }
            for load in &facts.loads {
                let Some(table) = load.table.stem() else { continue };
                for filter in load.filters.iter().filter(|it| !it.vague) {
                    out.tested.insert((table.clone(), filter.column.to_lowercase()));
                }
            }
        }
        out
    }

    /// A guarded statement whose count somebody looks at.
    fn note_claim(&mut self, input: &Input<'_>, table: &str, write: &WriteFact) {
        let looked = matches!(write.look, Look::Looked | Look::Returned);
        if write.kind != WriteKind::Statement || !looked {
            return;
        }
        let Some((stmt, _)) = &write.statement else { return };
        let guards = |column: &str| stmt.conditions.iter().any(|it| same_column(&it.column, column));
        for target in targets(input, write) {
            let plain = matches!(target.class, ColumnClass::Weak | ColumnClass::Plain);
            let may_be = target.class.is_state() || plain && guards(&target.column);
            if may_be && judge(input, write, &target.column) == Guard::Holds {
                let columns = self.claimed.entry(table.to_owned()).or_default();
                columns.entry(target.column).or_insert(write.primary);
            }
        }
    }

    /// Whether the program tests that column of that table somewhere.
    pub(super) fn has(&self, table: &str, column: &str) -> bool {
        self.tested.contains(&(stem(table), column.to_lowercase()))
    }

    /// Columns of a table that guarded statements claim, and where.
    pub(super) fn claimed(&self, table: &str) -> impl Iterator<Item = (&Name, Span)> {
        self.claimed.get(&stem(table)).into_iter().flatten().map(|(name, span)| (name, *span))
    }
}
