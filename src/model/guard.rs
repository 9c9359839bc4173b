//! Does a WHERE guard what its SET changes?
//!
//! A conditional write is an exclusive claim when a conjunct of its WHERE, on the row that is
//! written, is *false* for that row after the SET: then the second worker's statement matches no
//! row. Everything here is that one test, condition by condition:
//!
//! ```text
//! UPDATE jobs SET state = 'running' WHERE id = 7 AND state = 'pending'     falsified: a claim
//! UPDATE jobs SET state = 'running' WHERE id = 7 AND state <> 'done'       kept: both win
//! UPDATE jobs SET worker = 3        WHERE id = 7 AND state = 'pending'     kept: both win
//! ```
//!
//! What is not understood is [`Guard::Unknown`], never a guess.

use crate::base::{Name, snake_case};
use crate::ir::{
    Assign, Condition, ConditionOp, Engine, LockClause, ParamRef, SqlExpr, Statement, StatementKind,
};

/// What a statement's WHERE is worth against a second worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// No condition has to do with what is set: key, scope, tenant, soft delete.
    None,
    /// The SET falsifies a condition: one worker wins.
    Holds {
        /// The columns of the falsified conditions, in order.
        columns: Vec<Name>,
        /// A parameter takes part in the comparison, so that it is only assumed that old and new differ.
        bound: bool,
        /// Where the conditions stand.
        place: GuardPlace,
    },
    /// `owner = :me`: only the owner passes, but nothing is won by it.
    Fence {
        /// The owner, token or lease.
        column: Name,
    },
    /// `qty >= :n` with `qty = qty - :n`: no claim, but the limit is kept.
    Reservation {
        /// The counter.
        column: Name,
    },
    /// `version = :v` with a version that changes: an optimistic lock.
    Version {
        /// The version, revision or time of change.
        column: Name,
    },
    /// A hole, a function or an incomplete WHERE: there may be a guard.
    Unknown,
    /// A condition looks like a guard but is still true after the SET: both workers win.
    NotFalsified {
        /// The column of the condition.
        column: Name,
    },
    /// The condition stands in a sub-select or another instance of the table, without a lock, where
    /// the engine does not look at it again after waiting: both workers win.
    SubqueryOnly {
        /// The column of the condition.
        column: Name,
    },
}

/// Where a condition that holds stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardPlace {
    /// In the WHERE of the statement, on the row that is written.
    Target,
    /// In a sub-select or CTE of the same table that locks its rows.
    LockedSource,
    /// In a sub-select without a lock, which this engine evaluates as it writes.
    Source,
}

/// What is known of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// This literal.
    Literal(SqlExpr),
    /// One of these literals.
    OneOf(Vec<SqlExpr>),
    /// The same value as every parameter with the same number.
    Identity(u64),
    /// Nothing but which parameter it is.
    Unknown,
}

/// Judges the WHERE of an UPDATE, DELETE or upsert; `set_column` is the state that the caller asks
/// about. An unknown engine is taken for PostgreSQL.
pub fn judge(
    stmt: &Statement,
    set_column: &str,
    engine: Option<Engine>,
    resolve: &dyn Fn(&ParamRef) -> Resolved,
) -> Guard {
    let (sets, conditions) = match (stmt.kind, &stmt.upsert) {
        (StatementKind::Update, _) => (&stmt.sets, &stmt.conditions),
        (StatementKind::Upsert, Some(action)) => (&action.sets, &action.conditions),
        (StatementKind::Delete, _) => return judge_delete(stmt),
        _ => return Guard::Unknown,
    };
    let judge = Judge { sets, set_column, resolve };
    let mut tally = Tally::default();
    let keys = conditions.iter().filter(|it| is_key(it)).count();
    for condition in conditions.iter().filter(|it| !it.foreign) {
        let has_other_key = keys > usize::from(is_key(condition));
        tally.count(&judge, condition, has_other_key);
    }
    if let Some(guard) = tally.claim(GuardPlace::Target) {
        return guard;
    }
    let source = judge.source(stmt, conditions);
    if let Some(guard) = source.as_ref().filter(|it| it.locked).and_then(Source::claim) {
        return guard;
    }
    if let Some(column) = tally.reserved.take_if(|it| it.eq_ignore_ascii_case(set_column)) {
        return Guard::Reservation { column };
    }
    let unlocked = source.filter(|it| !it.locked).and_then(|it| it.tally.falsified.into_iter().next());
    let in_source = matches!(engine, Some(Engine::MySql | Engine::Sqlite));
    if let Some((column, bound)) = unlocked.clone().filter(|_| in_source) {
        return Guard::Holds { columns: vec![column], bound, place: GuardPlace::Source };
    }
    if tally.unknown || !stmt.complete {
        return Guard::Unknown;
    }
    if let Some(column) = tally.fence {
        return Guard::Fence { column };
    }
    if let Some((column, _)) = unlocked {
        return Guard::SubqueryOnly { column };
    }
    tally.kept.map_or(Guard::None, |column| Guard::NotFalsified { column })
}

/// Deleting falsifies everything, and of two deletes of a row one finds it gone.
fn judge_delete(stmt: &Statement) -> Guard {
    let own = stmt.conditions.iter().filter(|it| !it.foreign && !it.column.is_empty());
    let columns = own.map(|it| it.column.clone()).collect();
    Guard::Holds { columns, bound: false, place: GuardPlace::Target }
}

/// The condition that says which row is meant.
pub fn key_of(stmt: &Statement) -> Option<&Condition> {
    let fits = |it: &&Condition| {
        !it.foreign
            && it.any.is_empty()
            && matches!(it.op, ConditionOp::Eq | ConditionOp::In | ConditionOp::InSelect)
    };
    stmt.conditions
        .iter()
        .filter(fits)
        .filter_map(|it| Some((key_rank(it, &stmt.table)?, it)))
        .min_by_key(|it| it.0)
        .map(|it| it.1)
}

/// How well a condition serves as a key; smaller is better, none is not at all.
fn key_rank(condition: &Condition, table: &str) -> Option<u32> {
    let name = snake_case(&condition.column);
    let table = snake_case(table);
    let own_id = name.strip_suffix("_id").is_some_and(|it| {
        !it.is_empty() && (table.ends_with(it) || table.trim_end_matches('s').ends_with(it))
    });
    let by_param = || matches!(condition.values.first(), Some(SqlExpr::Param(_) | SqlExpr::Mixed(_)));
    let last = name.rsplit('_').next().unwrap_or_default();
    match name.as_str() {
        "" if condition.column_param.is_some() && by_param() => Some(5),
        "" => None,
        "id" | "ctid" | "rowid" | "pk" | "oid" => Some(0),
        _ if own_id => Some(1),
        _ if is_owner(&name) && !matches!(last, "token") => None,
        _ if matches!(
            last,
            "uuid" | "guid" | "ulid" | "hash" | "key" | "code" | "token" | "number" | "slug" | "reference" | "ref"
        ) =>
        {
            Some(2)
        }
        _ if last == "id" => Some(3),
        _ if is_state(&name) || is_version(&name) || is_lease(&name) => None,
        _ if by_param() && condition.op != ConditionOp::InSelect => Some(6),
        _ => None,
    }
}

fn is_key(condition: &Condition) -> bool {
    !condition.foreign
        && matches!(condition.op, ConditionOp::Eq | ConditionOp::In | ConditionOp::InSelect)
        && key_rank(condition, "").is_some()
}

/// What becomes of a condition when the row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
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
struct Tally {
    falsified: Vec<(Name, bool)>,
    versions: usize,
    reserved: Option<Name>,
    fence: Option<Name>,
    kept: Option<Name>,
    unknown: bool,
}

impl Tally {
    fn count(&mut self, judge: &Judge<'_>, condition: &Condition, has_other_key: bool) {
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

    fn claim(&self, place: GuardPlace) -> Option<Guard> {
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
struct Source {
    tally: Tally,
    locked: bool,
}

impl Source {
    fn claim(&self) -> Option<Guard> {
        self.tally.claim(GuardPlace::LockedSource)
    }
}

struct Judge<'a> {
    sets: &'a [Assign],
    set_column: &'a str,
    resolve: &'a dyn Fn(&ParamRef) -> Resolved,
}

impl Judge<'_> {
    /// The sub-select that reads the target's table, however deep it is wrapped.
    fn source(&self, stmt: &Statement, conditions: &[Condition]) -> Option<Source> {
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

    fn set(&self, condition: &Condition) -> Option<&Assign> {
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
        let by_param = matches!(condition.values.first(), Some(SqlExpr::Param(_) | SqlExpr::Mixed(_)));
        if condition.op == ConditionOp::Eq && is_owner(&name) && by_param {
            return Verdict::Fences;
        }
        let half_built = equals && (is_version(&name) || is_touch(&name));
        if half_built || is_state(&name) || is_lease(&name) {
            return Verdict::Kept;
        }
        Verdict::Unrelated
    }

    /// A condition on a column that becomes `value`.
    fn against(&self, condition: &Condition, value: &SqlExpr) -> Verdict {
        let column = snake_case(&condition.column);
        let itself = |it: &SqlExpr| {
            matches!(it, SqlExpr::Column(it) if it.eq_ignore_ascii_case(&condition.column))
        };
        if itself(value) || condition.values.iter().any(itself) {
            return Verdict::Kept;
        }
        match condition.op {
            ConditionOp::Eq | ConditionOp::In => self.equal(condition, value, &column),
            ConditionOp::Ne | ConditionOp::NotIn => self.unequal(condition, value),
            ConditionOp::IsNull => self.null(value),
            ConditionOp::IsNotNull => match self.is_null(value) {
                Some(true) => Verdict::Falsified { bound: false },
                Some(false) => Verdict::Kept,
                None => Verdict::Unknown,
            },
            ConditionOp::Less => self.ordered(condition, value, true, &column),
            ConditionOp::Greater => self.ordered(condition, value, false, &column),
            ConditionOp::Like => like(condition, value),
            ConditionOp::Other => between(condition, value),
            ConditionOp::InSelect => Verdict::Unrelated,
        }
    }

    fn equal(&self, condition: &Condition, value: &SqlExpr, column: &str) -> Verdict {
        if condition.values.is_empty() || condition.values.contains(&SqlExpr::Null) {
            return Verdict::Unknown;
        }
        match value {
            SqlExpr::Relative(_) => return Verdict::Falsified { bound: true },
            SqlExpr::Conditional | SqlExpr::Column(_) => return Verdict::Unknown,
            _ => {}
        }
        let mut bound = false;
        for it in &condition.values {
            match self.same(it, value) {
                // Another worker comes with another name.
                Same::Yes if is_owner(column) && matches!(it, SqlExpr::Param(_)) => {
                    return Verdict::Fences;
                }
                Same::Yes => return Verdict::Kept,
                Same::No => {}
                Same::Assumed => bound = true,
                Same::Unknown => return Verdict::Unknown,
            }
        }
        Verdict::Falsified { bound }
    }

    fn unequal(&self, condition: &Condition, value: &SqlExpr) -> Verdict {
        if matches!(value, SqlExpr::Relative(_) | SqlExpr::Conditional | SqlExpr::Column(_)) {
            return Verdict::Unknown;
        }
        let found: Vec<Same> = condition.values.iter().map(|it| self.same(it, value)).collect();
        if found.contains(&Same::Yes) {
            Verdict::Falsified { bound: matches!(value, SqlExpr::Param(_)) }
        } else if found.iter().all(|it| *it == Same::No) {
            Verdict::Kept
        } else {
            Verdict::Unknown
        }
    }

    fn null(&self, value: &SqlExpr) -> Verdict {
        match value {
            SqlExpr::Conditional | SqlExpr::Column(_) | SqlExpr::Relative(_) => Verdict::Unknown,
            _ if self.is_null(value) == Some(true) => Verdict::Kept,
            _ => Verdict::Falsified { bound: false },
        }
    }

    fn is_null(&self, value: &SqlExpr) -> Option<bool> {
        match value {
            SqlExpr::Null => Some(true),
            SqlExpr::Conditional | SqlExpr::Column(_) => None,
            SqlExpr::Param(param) => match (self.resolve)(param) {
                Resolved::Literal(it) => Some(it == SqlExpr::Null),
                Resolved::OneOf(them) if them.contains(&SqlExpr::Null) => None,
                _ => Some(false),
            },
            _ => Some(false),
        }
    }

    fn ordered(&self, condition: &Condition, value: &SqlExpr, less: bool, column: &str) -> Verdict {
        let Some(limit) = condition.values.first() else { return Verdict::Unknown };
        let falsified = Verdict::Falsified { bound: false };
        let is_clock = |it: &SqlExpr| matches!(it, SqlExpr::Now | SqlExpr::Other(_));
        match (value, limit) {
            (SqlExpr::Null, _) => falsified,
            (SqlExpr::Int(new), SqlExpr::Int(limit)) => {
                let still = if less { new < limit } else { new > limit };
                if still { Verdict::Kept } else { falsified }
            }
            (SqlExpr::Relative(_), _) => Verdict::Reserved,
            // `t < now()` is true again a moment later; `t > now()` never is.
            (SqlExpr::Now, SqlExpr::Now) if less => Verdict::Kept,
            (SqlExpr::Now, SqlExpr::Now) => falsified,
            (SqlExpr::Now, SqlExpr::Param(param)) if less && is_touch(column) => {
                let is_now = matches!(param, ParamRef::Named(it) if it.to_lowercase().contains("now"));
                if is_now { Verdict::Unrelated } else { Verdict::Unknown }
            }
            (SqlExpr::Now, _) if less => falsified,
            (SqlExpr::Now, _) => Verdict::Kept,
            (SqlExpr::Param(_), SqlExpr::Param(_)) if self.same(value, limit) == Same::Yes => {
                Verdict::Falsified { bound: true }
            }
            (SqlExpr::Param(_), limit) if is_clock(limit) && less => Verdict::Falsified { bound: true },
            (SqlExpr::Other(_), limit) if is_clock(limit) || matches!(limit, SqlExpr::Param(_)) => {
                if less { falsified } else { Verdict::Kept }
            }
            _ => Verdict::Unknown,
        }
    }

    /// Whether two expressions have the same value.
    fn same(&self, left: &SqlExpr, right: &SqlExpr) -> Same {
        let (left, right) = (self.term(left), self.term(right));
        match (&left, &right) {
            (Term::Unknown, _) | (_, Term::Unknown) => Same::Unknown,
            (Term::Literals(left), Term::Literals(right)) => same_literals(left, right),
            (Term::Identity(left), Term::Identity(right)) if left == right => Same::Yes,
            (Term::Param(left), Term::Param(right)) if left == right => Same::Yes,
            (Term::Text(left), Term::Text(right)) if left == right => Same::Yes,
            // Two names for one value would make the condition pointless.
            _ => Same::Assumed,
        }
    }

    fn term(&self, expr: &SqlExpr) -> Term {
        match expr {
            SqlExpr::Param(param) => match (self.resolve)(param) {
                Resolved::Literal(it) => Term::Literals(vec![it]),
                Resolved::OneOf(them) => Term::Literals(them),
                Resolved::Identity(it) => Term::Identity(it),
                Resolved::Unknown => Term::Param(param.clone()),
            },
            SqlExpr::Mixed(params) => Term::Text(params.clone()),
            SqlExpr::Str(_) | SqlExpr::Int(_) | SqlExpr::Bool(_) | SqlExpr::Null | SqlExpr::Now => {
                Term::Literals(vec![expr.clone()])
            }
            SqlExpr::Column(_) | SqlExpr::Relative(_) | SqlExpr::Conditional | SqlExpr::Other(_) => {
                Term::Unknown
            }
        }
    }
}

/// A value to compare.
enum Term {
    Literals(Vec<SqlExpr>),
    Identity(u64),
    Param(ParamRef),
    Text(Vec<ParamRef>),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Same {
    Yes,
    No,
    /// Different names, so different values as far as anyone can tell.
    Assumed,
    Unknown,
}

fn same_literals(left: &[SqlExpr], right: &[SqlExpr]) -> Same {
    let shared = left.iter().any(|l| right.iter().any(|r| same_literal(l, r)));
    match (shared, left, right) {
        (false, ..) => Same::No,
        (true, [_], [_]) => Same::Yes,
        _ => Same::Unknown,
    }
}

/// Whether two literals are equal in the looser of the engines.
fn same_literal(left: &SqlExpr, right: &SqlExpr) -> bool {
    let number = |it: &SqlExpr| match it {
        SqlExpr::Int(it) => Some(*it),
        SqlExpr::Bool(it) => Some(i64::from(*it)),
        SqlExpr::Str(it) => it.parse().ok(),
        _ => None,
    };
    match (left, right) {
        (SqlExpr::Str(left), SqlExpr::Str(right)) => left.eq_ignore_ascii_case(right),
        _ => number(left).is_some_and(|it| number(right) == Some(it)) || left == right,
    }
}

fn like(condition: &Condition, value: &SqlExpr) -> Verdict {
    match (condition.values.first(), value) {
        (Some(SqlExpr::Str(pattern)), SqlExpr::Str(text)) => {
            if matches_like(pattern.as_bytes(), text.as_bytes()) {
                Verdict::Kept
            } else {
                Verdict::Falsified { bound: false }
            }
        }
        (Some(SqlExpr::Str(pattern)), _) if pattern.bytes().all(|it| it == b'%') => Verdict::Kept,
        (_, SqlExpr::Null) => Verdict::Falsified { bound: false },
        _ => Verdict::Unknown,
    }
}

/// LIKE without regard to case; linear in the text for each `%`.
fn matches_like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'%') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(it) if *it == b'_' || it.eq_ignore_ascii_case(&text[t]) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|it| *it == b'%')
}

fn between(condition: &Condition, value: &SqlExpr) -> Verdict {
    match (condition.values.as_slice(), value) {
        ([SqlExpr::Int(low), SqlExpr::Int(high)], SqlExpr::Int(new)) => {
            let still = (low..=high).contains(&new);
            if still { Verdict::Kept } else { Verdict::Falsified { bound: false } }
        }
        _ => Verdict::Unknown,
    }
}

/// Columns that hold what was read, to be compared before writing.
fn is_version(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    matches!(last, "version" | "revision" | "rev" | "etag" | "rowversion" | "optlock" | "generation")
        || matches!(name, "xmin" | "ctid" | "opt_lock" | "ora_rowscn" | "lock_no")
}

/// Columns that the engine changes with every write.
fn changes_by_itself(name: &str) -> bool {
    matches!(name, "xmin" | "ctid" | "rowversion" | "row_version" | "ora_rowscn")
}

/// Columns that say when a row was written.
fn is_touch(name: &str) -> bool {
    let name = name.strip_prefix("last_").unwrap_or(name);
    let stem = name.strip_suffix("_at").or_else(|| name.strip_suffix("_on")).unwrap_or(name);
    matches!(stem, "updated" | "modified" | "changed" | "update" | "mtime" | "update_time" | "modify_time")
}

/// Columns that say who has the row.
fn is_owner(name: &str) -> bool {
    let stem = ["_id", "_token", "_by", "_key", "_uuid"]
        .iter()
        .find_map(|it| name.strip_suffix(it))
        .unwrap_or(name);
    let by = name.ends_with("_by")
        && ["lock", "claim", "reserv", "leas", "taken", "picked", "processed", "held", "own"]
            .iter()
            .any(|it| stem.contains(it));
    let exact = matches!(
        name,
        "owner" | "worker" | "worker_id" | "token" | "holder" | "attempt" | "attempt_id"
            | "attempts" | "fencing_token" | "process_id" | "pid" | "consumer" | "runner_id"
    );
    let lock = ["lock", "claim", "lease", "reservation"].iter().any(|it| stem.ends_with(it));
    by || exact || (lock && stem != name)
}

/// Columns that say until when or whether a row is taken.
fn is_lease(name: &str) -> bool {
    ["lock", "lease", "claim", "reserv", "heartbeat", "taken", "picked"]
        .iter()
        .any(|it| name.contains(it))
}

/// Columns that hold a state.
fn is_state(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    let stem = name.strip_suffix("_at").or_else(|| name.strip_prefix("is_")).unwrap_or(name);
    matches!(last, "status" | "state" | "phase" | "stage")
        || matches!(
            stem,
            "processed" | "done" | "sent" | "handled" | "finished" | "completed" | "used"
                | "redeemed" | "paid" | "started" | "consumed" | "dispatched" | "published"
        )
}
