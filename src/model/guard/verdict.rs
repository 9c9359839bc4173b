//! What becomes of the conditions of a WHERE when the row is written.

use super::key::key_rank;
use super::name::{changes_by_itself, is_lease, is_owner, is_state, is_touch, is_version};
use super::{Guard, GuardPlace, Resolved};
use crate::base::{Name, snake_case};
use crate::ir::{Assign, Condition, ConditionOp, LockClause, ParamRef, SqlExpr, Statement};

/// What becomes of a condition when the row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// False afterwards.
    Falsified {
        bound: bool,
    },
    /// Still true.
    Kept,
    /// True until a limit is reached.
    Reserved,
    /// True for the owner alone.
    Fences,
    /// About something that the statement does not change.
    Unrelated,
    Unknown,
}

/// The verdicts on all conditions.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) falsified: Vec<(Name, bool)>,
    versions: usize,
    pub(super) reserved: Option<Name>,
    pub(super) fence: Option<Name>,
    pub(super) kept: Option<Name>,
    pub(super) unknown: bool,
}

impl Tally {
    pub(super) fn count(&mut self, judge: &Judge<'_>, condition: &Condition, has_other_key: bool) {
        let verdict = judge.verdict(condition);
        let column = || judge.column_of(condition);
        match verdict {
            Verdict::Falsified { bound } => {
                let name = snake_case(&column());
                self.versions += usize::from(is_version(&name) || is_touch(&name));
                self.falsified.push((column(), bound));
            }
            Verdict::Kept => {
                self.kept.get_or_insert_with(column);
            }
            Verdict::Reserved => {
                self.reserved.get_or_insert_with(column);
            }
            Verdict::Fences if has_other_key => {
                self.fence.get_or_insert_with(column);
            }
            Verdict::Unknown => self.unknown = true,
            Verdict::Fences | Verdict::Unrelated => {}
        }
    }

    pub(super) fn claim(&self, place: GuardPlace) -> Option<Guard> {
        let (first, _) = self.falsified.first()?;
        if self.versions == self.falsified.len() {
            return Some(Guard::Version { column: first.clone() });
        }
        let columns = self.falsified.iter().map(|it| it.0.clone()).collect();
        let bound = self.falsified.iter().all(|it| it.1);
        Some(Guard::Holds { columns, bound, place })
    }
}

/// The conditions of another instance of the target.
pub(super) struct Source {
    pub(super) tally: Tally,
    pub(super) locked: bool,
}

impl Source {
    pub(super) fn claim(&self) -> Option<Guard> {
        self.tally.claim(GuardPlace::LockedSource)
    }
}

/// The SET of the statement, and what is known of its parameters.
pub(super) struct Judge<'a> {
    pub(super) sets: &'a [Assign],
    pub(super) set_column: &'a str,
    pub(super) resolve: &'a dyn Fn(&ParamRef) -> Resolved,
}

impl Judge<'_> {
    /// The sub-select that reads the target's table, however deep it is wrapped.
    pub(super) fn source(&self, stmt: &Statement, conditions: &[Condition]) -> Option<Source> {
        let mut source = stmt.source.as_deref();
        let mut locked = false;
        while let Some(it) = source {
            locked |= matches!(
                it.lock,
                Some(LockClause::Exclusive | LockClause::SkipLocked | LockClause::Table)
            );
            let same = it.table.eq_ignore_ascii_case(&stmt.table)
                && (!it.table.is_empty() || it.table_param.is_some());
            if same {
                let mut tally = Tally::default();
                let outer = conditions.iter().filter(|it| it.foreign && locked);
                for condition in it.conditions.iter().filter(|it| !it.foreign).chain(outer) {
                    tally.count(self, condition, true);
                }
                return Some(Source { tally, locked });
            }
            source = it.source.as_deref();
        }
        None
    }

    /// The column of a condition; of an OR one that is set, or the first.
    fn column_of(&self, condition: &Condition) -> Name {
        if condition.any.is_empty() {
            return condition.column.clone();
        }
        let named = || condition.any.iter().flatten().filter(|it| !it.column.is_empty());
        let found = named().find(|it| self.set(it).is_some()).or_else(|| named().next());
        found.map_or_else(|| condition.column.clone(), |it| it.column.clone())
    }

    pub(super) fn set(&self, condition: &Condition) -> Option<&Assign> {
        self.sets.iter().find(|it| it.column.eq_ignore_ascii_case(&condition.column))
    }

    fn verdict(&self, condition: &Condition) -> Verdict {
        if !condition.any.is_empty() {
            return self.alternatives(&condition.any);
        }
        if let Some(param) = &condition.column_param
            && condition.column.is_empty()
        {
            let is_clause = matches!(param, ParamRef::Hole(_));
            return if is_clause { Verdict::Unknown } else { Verdict::Unrelated };
        }
        if condition.column.is_empty() {
            return Verdict::Unrelated;
        }
        match self.set(condition) {
            // The array of columns holds the key as well; it stays what it is.
            Some(_) if condition.op == ConditionOp::Eq && key_rank(condition, "") == Some(0) => {
                Verdict::Unrelated
            }
            Some(set) => self.against(condition, &set.value),
            None => self.untouched(condition),
        }
    }

    /// An OR is false afterwards when every branch is.
    fn alternatives(&self, any: &[Vec<Condition>]) -> Verdict {
        let mut bound = false;
        let (mut falsified, mut unrelated, mut unknown) = (0, 0, 0);
        for branch in any {
            match self.branch(branch) {
                Verdict::Falsified { bound: it } => {
                    bound |= it;
                    falsified += 1;
                }
                Verdict::Fences => falsified += 1,
                Verdict::Unknown => unknown += 1,
                Verdict::Unrelated => unrelated += 1,
                Verdict::Kept | Verdict::Reserved => {}
            }
        }
        if unrelated == any.len() {
            Verdict::Unrelated
        } else if falsified == any.len() {
            Verdict::Falsified { bound }
        } else if falsified + unknown == any.len() {
            Verdict::Unknown
        } else {
            Verdict::Kept
        }
    }

    /// A conjunction is false afterwards when one of its conditions is.
    fn branch(&self, branch: &[Condition]) -> Verdict {
        let verdicts: Vec<Verdict> = branch.iter().map(|it| self.verdict(it)).collect();
        let falsified = verdicts.iter().find(|it| matches!(it, Verdict::Falsified { .. }));
        let has = |verdict| verdicts.contains(&verdict);
        match falsified {
            Some(it) => *it,
            None if has(Verdict::Unknown) => Verdict::Unknown,
            None if has(Verdict::Fences) => Verdict::Fences,
            None if has(Verdict::Kept) || has(Verdict::Reserved) => Verdict::Kept,
            None => Verdict::Unrelated,
        }
    }

    /// A condition on a column that is not set.
    fn untouched(&self, condition: &Condition) -> Verdict {
        let name = snake_case(&condition.column);
        let equals = matches!(condition.op, ConditionOp::Eq | ConditionOp::In);
        if changes_by_itself(&name) {
            let picks = equals || condition.op == ConditionOp::InSelect;
            return if picks { Verdict::Falsified { bound: true } } else { Verdict::Unrelated };
        }
        let unknown_columns = self.sets.iter().any(|it| it.column.is_empty());
        if unknown_columns && key_rank(condition, "").is_none_or(|it| it > 3) {
            return Verdict::Unknown;
        }
        if condition.column.eq_ignore_ascii_case(self.set_column) {
            return Verdict::Kept;
        }
        let by_param =
            matches!(condition.values.first(), Some(SqlExpr::Param(_) | SqlExpr::Mixed(_)));
        if condition.op == ConditionOp::Eq && is_owner(&name) && by_param {
            return Verdict::Fences;
        }
        let half_built = equals && (is_version(&name) || is_touch(&name));
        if half_built || is_state(&name) || is_lease(&name) {
            return Verdict::Kept;
        }
        Verdict::Unrelated
    }
}
