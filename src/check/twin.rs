//! Where does the same transition of the same table stand guarded? A program that knows better in one
//! place is the best argument for the other.
//!
//! ```text
//! $db->exec("UPDATE jobs SET status = 'running' WHERE id = $id");                        the finding
//! $n = $db->exec("UPDATE jobs SET status = 'running' WHERE id = $id AND status = 'new'"); its twin
//! ```

use super::Input;
use super::column::{Target, same_column, targets};
use super::guard::{self, Guard, same_state};
use super::protect::{Protection, protection};
use crate::analysis::Value;
use crate::analysis::fact::{CheckFact, Look, WriteFact};
use crate::base::Span;
use std::collections::BTreeMap;

/// Guarded transitions by table stem, in the order of the program.
#[derive(Debug, Default)]
pub(super) struct Twins {
    tables: BTreeMap<String, Vec<Twin>>,
}

/// A transition that one worker wins.
#[derive(Debug)]
struct Twin {
    target: Target,
    span: Span,
    how: How,
}

/// Why only one worker wins.
#[derive(Clone, Copy, Debug)]
enum How {
    /// The WHERE tests the old state, and somebody looks at the count.
    Guarded,
    /// The check and the write stand under one lock.
    Locked,
}

impl How {
    fn message(self) -> &'static str {
        match self {
            Self::Guarded => "the same transition stands guarded here",
            Self::Locked => "the same transition is made under a lock here",
        }
    }
}

impl Twins {
    /// Keeps what a write changes, where only one worker can.
    pub(super) fn note(&mut self, input: &Input<'_>, table: &str, write: &WriteFact) {
        if write.fresh {
            return;
        }
        for target in targets(input, write) {
            if target.relative || !is_one_state(&target) {
                continue;
            }
            let Some(how) = how(input, write, &target) else { continue };
            let twin = Twin { target, span: write.primary, how };
            self.tables.entry(table.to_owned()).or_default().push(twin);
        }
    }

    /// Where the transition that `target` is stands guarded, in the same file if it does, and what to
    /// say of it.
    pub(super) fn of(
        &self,
        input: &Input<'_>,
        write: &WriteFact,
        target: &Target,
    ) -> Option<(Span, &'static str)> {
        let twins = self.tables.get(&write.table.stem()?)?;
        let same = |it: &&Twin| {
            it.span != write.primary
                && same_column(&it.target.column, &target.column)
                && is_same_change(input, &it.target, target)
        };
        let near = |it: &&Twin| same(it) && it.span.source == write.primary.source;
        let found = twins.iter().find(near).or_else(|| twins.iter().find(same))?;
        Some((found.span, found.how.message()))
    }
}

fn how(input: &Input<'_>, write: &WriteFact, target: &Target) -> Option<How> {
    if write.may_claim() && write.look == Look::Looked {
        return (guard::judge(input, write, &target.column) == Guard::Holds)
            .then_some(How::Guarded);
    }
    let checks: Vec<&CheckFact> =
        write.checks.iter().filter(|it| same_column(&it.column, &target.column)).collect();
    let locked = !checks.is_empty()
        && !write.versioned
        && write.claims.is_empty()
        && protection(write, &checks) == Protection::Safe;
    locked.then_some(How::Locked)
}

/// A state that has a name, or the current time.
fn is_one_state(target: &Target) -> bool {
    target.now || target.value.is_constant()
}

fn is_same_change(input: &Input<'_>, a: &Target, b: &Target) -> bool {
    let is_null = |it: &Target| !it.now && it.value == Value::Null;
    a.now && b.now || !is_null(a) && same_state(input, &a.value, &b.value)
}
