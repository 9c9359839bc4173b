//! Which columns of which tables the whole program tests: a write of such a column matters even where
//! no test is in sight.

use super::Input;
use crate::analysis::fact::{CheckKind, stem};
use std::collections::BTreeSet;

/// Tested columns by table stem.
#[derive(Debug, Default)]
pub(super) struct Tested {
    columns: BTreeSet<(String, String)>,
}

impl Tested {
    pub(super) fn of(input: &Input<'_>) -> Self {
        let mut out = Self::default();
        for facts in input.settled.facts.values() {
            for write in &facts.writes {
                let Some(table) = write.table.stem() else { continue };
                for check in write.checks.iter().filter(|it| it.kind != CheckKind::Vague) {
                    out.columns.insert((table.clone(), check.column.to_lowercase()));
                }
            }
            for load in &facts.loads {
                let Some(table) = load.table.stem() else { continue };
                for filter in load.filters.iter().filter(|it| !it.vague) {
                    out.columns.insert((table.clone(), filter.column.to_lowercase()));
                }
            }
        }
        out
    }

    /// Whether the program tests that column of that table somewhere.
    pub(super) fn has(&self, table: &str, column: &str) -> bool {
        self.columns.contains(&(stem(table), column.to_lowercase()))
    }
}
