//! SQL statements, reduced to what decides a race: table, SET, WHERE, locks and what comes back.

use crate::base::{Name, Span};

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// SELECT.
    Select,
    /// UPDATE, MERGE with an update.
    Update,
    /// INSERT without an upsert clause.
    Insert,
    /// INSERT that updates or replaces the row when it exists.
    Upsert,
    /// INSERT that does nothing when the row exists.
    InsertIgnore,
    /// DELETE.
    Delete,
    /// BEGIN, START TRANSACTION.
    Begin,
    /// BEGIN IMMEDIATE, BEGIN EXCLUSIVE (SQLite).
    BeginImmediate,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// LOCK TABLE, `pg_advisory_lock`, `GET_LOCK` and the like; see `Statement::lock`.
    Lock,
    /// Releases such a lock.
    Unlock,
    /// SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, REPEATABLE READ or SNAPSHOT; the level, in
    /// small letters, is the only one of `Statement::columns`.
    Isolation,
    /// Everything else.
    Other,
}

/// Locks that a statement takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockClause {
    /// FOR UPDATE, FOR NO KEY UPDATE, UPDLOCK, XLOCK.
    Exclusive,
    /// FOR SHARE, LOCK IN SHARE MODE.
    Shared,
    /// The same as `Exclusive`, skipping rows that others hold.
    SkipLocked,
    /// LOCK TABLE, LOCK TABLES.
    Table,
    /// `pg_advisory_xact_lock`: until the transaction ends.
    AdvisoryXact,
    /// `pg_try_advisory_xact_lock`: the same, answers whether it got it.
    AdvisoryXactTry,
    /// `pg_advisory_lock`, `GET_LOCK`, `sp_getapplock`: until released or the session ends.
    Session,
    /// `pg_try_advisory_lock`, `GET_LOCK` with a timeout: answers whether it got it.
    SessionTry,
}

/// A value that the statement is given from outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParamRef {
    /// Hole number `n` of the text, from 0.
    Hole(u32),
    /// `:name`, `@name`, `$name` (without the sign).
    Named(Name),
    /// `?` number `n` from 0, or `$1`/`?1`/`%1$s` as 0. `%s` count as `?` do, unless the text has
    /// both: then the conversions are `Named("%0")` and so on.
    Position(u32),
}

/// An expression, as far as it matters.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlExpr {
    /// String literal.
    Str(Name),
    /// Integer literal.
    Int(i64),
    /// TRUE or FALSE.
    Bool(bool),
    /// NULL.
    Null,
    /// A bound value or hole.
    Param(ParamRef),
    /// A quoted text with holes in it (`'{$state}'`): the parameters inside; one alone is `Param`.
    Mixed(Vec<ParamRef>),
    /// A column, lower-cased as written, without qualifier.
    Column(Name),
    /// The current time: `NOW()`, `CURRENT_TIMESTAMP`, `UNIX_TIMESTAMP()`.
    Now,
    /// An expression over the column that is set itself: `attempts + 1`, `qty - :n`.
    /// Holds the parameters in it.
    Relative(Vec<ParamRef>),
    /// CASE, IF, COALESCE over the set column: the value depends on the old one, the write does not.
    Conditional,
    /// Anything else, with the parameters in it.
    Other(Vec<ParamRef>),
}

/// `column = value` in SET, VALUES or DO UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// Column, unquoted, as written otherwise; empty for a hole (columns unknown). What is set inside
    /// a document (`jsonb_set(meta, '{status}', ..)`) also stands as `meta->status`.
    pub column: Name,
    /// The hole that stands for the column, or for the whole list.
    pub column_param: Option<ParamRef>,
    /// What it is set to.
    pub value: SqlExpr,
    /// In the source of the text.
    pub span: Span,
}

/// How a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionOp {
    /// `=`, `IS`, `<=>`.
    Eq,
    /// `<>`, `!=`, `IS DISTINCT FROM`.
    Ne,
    /// `IN (...)`, `= ANY(...)`.
    In,
    /// `NOT IN (...)`.
    NotIn,
    /// `IS NULL`.
    IsNull,
    /// `IS NOT NULL`.
    IsNotNull,
    /// `<`, `<=`; with an integer literal always `<` (`<= 2` is `< 3`).
    Less,
    /// `>`, `>=`; with an integer literal always `>`.
    Greater,
    /// `LIKE` and the like.
    Like,
    /// `IN (SELECT ...)` or `= (SELECT ...)`: the sub-select picks the rows.
    InSelect,
    /// Anything else over the column.
    Other,
}

/// A top-level conjunct of WHERE (or of the WHERE of DO UPDATE) on one column of the target, or an
/// OR of such. A conjunct that is not understood stands once for each column that it reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Column of the target, unquoted; empty for a hole or an expression without a column.
    /// `meta->>'status'` is `meta->status`.
    pub column: Name,
    /// The hole that stands for the column or for the whole condition.
    pub column_param: Option<ParamRef>,
    /// How it compares.
    pub op: ConditionOp,
    /// What it compares with; several for IN.
    pub values: Vec<SqlExpr>,
    /// For an OR: the branches, each a conjunction; one without conditions is always true. `column` is then that of the first branch if all
    /// branches name the same column, otherwise empty.
    pub any: Vec<Vec<Condition>>,
    /// The column belongs to another table of the statement (a join, USING, FROM).
    pub foreign: bool,
    /// In the source of the text.
    pub span: Span,
}

/// What an INSERT does about an existing row.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct UpsertAction {
    /// Columns of the conflict target.
    pub keys: Vec<Name>,
    /// Assignments of DO UPDATE / ON DUPLICATE KEY.
    pub sets: Vec<Assign>,
    /// WHERE of DO UPDATE.
    pub conditions: Vec<Condition>,
    /// Where `DO UPDATE` or `ON DUPLICATE` stands.
    pub span: Option<Span>,
}

/// A statement, with every place in it pointing into the source that holds the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Table without quotes, schema and alias, as written; with hole filler text left out
    /// (`{$prefix}jobs` gives `jobs`). Empty when the whole name is a hole.
    pub table: Name,
    /// The hole that stands for the table, alone or as a part of it.
    pub table_param: Option<ParamRef>,
    /// SET of an UPDATE, or VALUES of an INSERT.
    pub sets: Vec<Assign>,
    /// Top-level conjuncts of WHERE.
    pub conditions: Vec<Condition>,
    /// False when a part of WHERE (or its presence) is not known: an open tail, an optional hole,
    /// the token-level reader.
    pub complete: bool,
    /// Hole numbers that stand where WHERE conjuncts or a tail would stand.
    pub condition_holes: Vec<u32>,
    /// Selected columns of a SELECT, `*` included.
    pub columns: Vec<Name>,
    /// SELECT COUNT(*), EXISTS and other aggregates: the result is no row.
    pub aggregate: bool,
    /// LIMIT 1 / FETCH FIRST ROW.
    pub limit_one: bool,
    /// Locks taken by the statement itself.
    pub lock: Option<LockClause>,
    /// A sub-select or CTE that picks the rows: its own conditions, table and lock.
    pub source: Option<Box<Statement>>,
    /// INSERT's conflict clause.
    pub upsert: Option<UpsertAction>,
    /// RETURNING or OUTPUT.
    pub returning: bool,
    /// Number of `?` (or `%s`) in the whole text; positions are numbered through all its statements.
    pub positions: u32,
    /// Evidence of the engine in the text (`$1`, `::`, backticks, `ON DUPLICATE KEY`, `?1`).
    pub engine: Option<Engine>,
    /// The verb: `UPDATE`, `SELECT`, `INSERT`.
    pub verb_span: Span,
    /// From the verb to the end, where known.
    pub span: Span,
}

impl Statement {
    /// Whether WHERE has conditions that the text does not tell: a hole, an open tail.
    pub fn has_unknown_condition(&self) -> bool {
        !self.complete
            || !self.condition_holes.is_empty()
            || self.conditions.iter().any(|it| it.column_param.is_some())
    }
}

/// A family of database engines with the same isolation behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// PostgreSQL, `CockroachDB`.
    Postgres,
    /// MySQL, MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
    /// SQL Server.
    MsSql,
    /// Oracle.
    Oracle,
}
