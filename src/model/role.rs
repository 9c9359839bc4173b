//! Role: what a call means. The packs' `[[call]]` rows are these, one variant for each `role = "…"`.

use crate::base::Name;
use crate::ir::{Engine, StatementKind};

/// Where a value goes in or comes out of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// `receiver`: the object before the arrow; for static calls the class itself.
    Receiver,
    /// `arg0`: an argument by position, or by name when the call names its arguments: `arg0:name`.
    Arg(u32, Option<Name>),
    /// `args1`: all arguments from that position on, as a list.
    ArgsFrom(u32),
    /// `result`: what the call gives back.
    Result,
    /// `=text`: a fixed value.
    Literal(Name),
    /// `arg0.elements`: each element of a list.
    Elements(Box<Access>),
    /// `arg0.name`: a field, property or array element. Of a value that a column holds, `{owner}` is the
    /// row and `{column}` the column.
    Field(Box<Access>, Name),
}

/// What a call that reads or writes gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Yield {
    /// `void`: nothing that tells anything.
    Void,
    /// `bool`: whether it ran, not whether a row changed.
    Bool,
    /// `rows`: the number of rows affected, as a number.
    Rows,
    /// `won`: a bool that is true exactly when a row was affected.
    Won,
    /// `outcome`: an object or connection state that a `count` call reads the number from.
    Outcome,
    /// `fails`: returns normally only when a row was affected; otherwise `Err` or an exception.
    Fails,
    /// `row`: one row, or none.
    Row,
    /// `list`: rows.
    List,
    /// `scalar`: one value of one row.
    Scalar,
    /// `number`: a COUNT or an EXISTS: nothing of a row.
    Number,
    /// `statement`: a statement or cursor to bind, run or fetch from.
    Statement,
    /// `query`: the query object itself, for more.
    Query,
}

/// How a builder's condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// Decided by an operator argument, or equality when there is none.
    ByArgument,
    /// `=`.
    Eq,
    /// `<>`.
    Ne,
    /// In a list.
    In,
    /// Not in a list.
    NotIn,
    /// Is null.
    IsNull,
    /// Is not null.
    IsNotNull,
    /// `<`, `<=`.
    Less,
    /// `>`, `>=`.
    Greater,
    /// A test that is no guard: like, between, exists.
    Other,
}

/// What a query object will do when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Not said yet.
    Unknown,
    /// SELECT.
    Select,
    /// UPDATE.
    Update,
    /// INSERT.
    Insert,
    /// INSERT that updates or replaces the row when it exists.
    Upsert,
    /// DELETE.
    Delete,
}

/// What a lock excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    /// A row lock for the rest of the transaction, exclusive.
    Row,
    /// A shared row lock: two holders deadlock instead of both winning.
    RowShared,
    /// A named lock across processes: advisory, cache, Redis, file on a shared disk, cron lock.
    Named,
    /// Holds inside this process only: `std::sync::Mutex`.
    Process,
}

/// A lock taken by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LockSpec {
    /// What it excludes.
    pub kind: LockKind,
    /// The call answers whether it got the lock, and the answer must be looked at.
    pub tries: bool,
    /// It throws when no transaction is open (Doctrine), instead of being a silent no-op.
    pub throws_outside: bool,
}

/// Where the rows of a load come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct RowSource {
    /// Class of the model, or the value that names it (`arg0` holds `Job::class`).
    pub model: Option<Access>,
    /// Table.
    pub table: Option<Access>,
    /// Key value.
    pub key: Option<Access>,
    /// Criteria: array of column to value, or SQL text of conditions.
    pub criteria: Option<Access>,
    /// Values of the parameters in criteria that are text.
    pub binds: Option<Access>,
    /// Column that a magic finder names: the part of the method name that `*` matched.
    pub by_name: bool,
}

/// Kinds of handles that statements run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExecutorKind {
    /// A connection; it may be inside a transaction.
    Connection,
    /// A pool: each statement runs on its own, in autocommit.
    Pool,
    /// A transaction handle: runs inside.
    Transaction,
}

/// What a handler's way of returning says to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HandlerVerdict {
    /// A normal return settles the message.
    AckOnReturn,
    /// A return of `true`, `ACK` or nothing settles; `false`, `REQUEUE` or the like gives back.
    ByValue,
    /// Only an explicit call settles.
    Explicit,
}

/// What a call does to a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessageRole {
    /// Takes a message (or several) from the queue.
    Receive {
        /// `result`, `result.elements`, `arg0` for an out parameter.
        message: Access,
        /// Taking it removes it: LPOP, `no_ack`.
        destructive: bool,
        /// The queue's name.
        queue: Option<Access>,
    },
    /// Settles it for good.
    Ack {
        /// The message, or its tag or receipt.
        message: Option<Access>,
    },
    /// Gives it back or dead-letters it: a deliberate disposition.
    Nack {
        /// The message, or its tag or receipt.
        message: Option<Access>,
    },
    /// Publishes a message, or a copy to a retry or dead-letter queue.
    Publish {
        /// What is published.
        message: Option<Access>,
        /// The queue's name.
        queue: Option<Access>,
    },
    /// Makes a callable the handler of a queue.
    Register {
        /// The callable.
        handler: Access,
        /// What its return says.
        verdict: HandlerVerdict,
        /// An argument whose truth switches on automatic acknowledgement.
        auto_ack: Option<Access>,
        /// The queue's name.
        queue: Option<Access>,
        /// It takes messages only when somebody publishes to a queue of that name: hooks that are also
        /// called at once.
        if_published: bool,
    },
    /// A setting that acknowledges at hand-over.
    AutoAck,
    /// Keeps it longer; settles nothing.
    Extend,
}

/// What a call means.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// `same`: the result is that value (fluent setters, `tap`, wrappers, conversions).
    Same {
        /// The value.
        from: Access,
    },
    /// `make`: the result is an instance of a type: container look-ups, factories, accessors.
    Make {
        /// A class name argument, or none when `returns` of the row says it.
        class: Option<Access>,
    },
    /// `query`: starts a query object on a table or model.
    Query {
        /// What it will do.
        verb: Verb,
        /// Table or model, and conditions given at once.
        source: RowSource,
    },
    /// `where`: adds a condition to the receiver (or to the connection's pending query).
    Where {
        /// Column: a name, `table.column`, an expression (then `value` is none), an array of pairs, or
        /// raw SQL text.
        column: Access,
        /// Operator argument.
        op: Option<Access>,
        /// Compared value.
        value: Option<Access>,
        /// How it compares when no operator says otherwise.
        comparison: Comparison,
        /// OR with what stands before.
        any: bool,
        /// The column is the part of the method name that `*` matched (`whereStatus`).
        by_name: bool,
    },
    /// `set`: adds an assignment to the receiver query.
    Set {
        /// Column, expression, or array of pairs when `value` is none.
        column: Access,
        /// Value.
        value: Option<Access>,
        /// `increment`-like: relative change.
        relative: bool,
    },
    /// `select`: the query gives only these columns.
    Select {
        /// One, or a list.
        columns: Access,
    },
    /// `lock-rows`: the query will lock what it reads.
    LockRows {
        /// Which lock.
        lock: LockSpec,
        /// A value that must be true (or a lock mode) for the lock to be taken.
        when: Option<Access>,
    },
    /// `load`: runs a query, or finds by key or criteria.
    Load {
        /// Rows of what; nothing set: of the receiver query.
        source: RowSource,
        /// `row`, `list`, `scalar`, `number`.
        gives: Yield,
        /// Lock taken by the read, when the argument says so.
        lock: Option<(LockSpec, Option<Access>)>,
        /// Answers from an identity map: a row loaded before stays as it was.
        cached: bool,
    },
    /// `update`: runs an UPDATE of a table, model or receiver query.
    Update {
        /// Table, model, criteria, key.
        source: RowSource,
        /// Assignments: array of column to value, or text.
        sets: Option<Access>,
        /// What comes back.
        gives: Yield,
        /// The array holds changes relative to the old value (`increment`).
        relative: bool,
    },
    /// `insert`: makes rows; the result is fresh when it is a row.
    Insert {
        /// Table or model.
        source: RowSource,
        /// What comes back.
        gives: Yield,
        /// Gives back an existing row instead (`firstOrCreate`, `updateOrCreate`).
        upsert: bool,
    },
    /// `delete`: deletes by query, key or row; exclusive by itself.
    Delete {
        /// Table or model.
        source: RowSource,
        /// What comes back.
        gives: Yield,
    },
    /// `prepare`: makes a statement of SQL text.
    Prepare {
        /// The text.
        sql: Access,
        /// Bound values given at once.
        binds: Option<Access>,
    },
    /// `bind`: gives a value to a parameter of the receiver statement.
    Bind {
        /// Name or position; none: the next position.
        key: Option<Access>,
        /// The value, or a list of values (`args1`), or an array by name.
        value: Access,
        /// The statement, when it is an argument; none: the receiver.
        to: Option<Access>,
    },
    /// `push-sql`: appends text to the receiver statement under construction (`QueryBuilder::push`).
    PushSql {
        /// The text; none with `binds` for `push_bind`.
        sql: Option<Access>,
        /// A bound value.
        value: Option<Access>,
        /// The statement or text, when it is an argument; none: the receiver.
        to: Option<Access>,
    },
    /// `execute`: runs SQL text or the receiver statement.
    Execute {
        /// The text or statement; none: the receiver.
        sql: Option<Access>,
        /// Bound values.
        binds: Option<Access>,
        /// The handle it runs on, when it is an argument.
        executor: Option<Access>,
        /// What comes back when it writes; a SELECT gives a statement to fetch from unless this says
        /// `row`, `list`, `scalar`.
        gives: Yield,
    },
    /// `fetch`: rows from an executed statement, result or receiver query.
    Fetch {
        /// The statement or result; the receiver when none is given.
        from: Access,
        /// `row`, `list`, `scalar`, `number`.
        gives: Yield,
    },
    /// `count`: how many rows the last write on that statement, outcome or connection affected.
    Count {
        /// The statement, outcome or connection.
        from: Access,
    },
    /// `expect`: fails unless the given count or outcome is as expected: a look.
    Expect {
        /// The count or outcome.
        from: Access,
    },
    /// `save`: writes a row object back by its key.
    Save {
        /// The row.
        row: Access,
        /// Columns set and saved in one go (`$model->update([...])`).
        sets: Option<Access>,
        /// Writes every column (`true`) or the changed ones.
        whole: bool,
        /// It never inserts: an object made here with a key stands for the row of that key.
        exists: bool,
        /// What comes back.
        gives: Yield,
    },
    /// `assign`: changes a column of a row object in memory.
    Assign {
        /// The row.
        row: Access,
        /// Column, or an array of pairs when `value` is none.
        column: Access,
        /// Value.
        value: Option<Access>,
        /// The column is the part of the method name that `*` matched.
        by_name: bool,
    },
    /// `read`: reads a column of a row object.
    Read {
        /// The row.
        row: Access,
        /// The column; none with `by_name`.
        column: Option<Access>,
        /// The column is the part of the method name that `*` matched (`getStatus`).
        by_name: bool,
    },
    /// `check`: a bool that tests a column of a row (`$model->isPending()` of a library,
    /// `$workflow->can($order, 'pay')`).
    Check {
        /// The row.
        row: Access,
        /// The column, when it is known.
        column: Option<Access>,
        /// The value it is compared with.
        value: Option<Access>,
    },
    /// `refresh`: reads the row again into the same object.
    Refresh {
        /// The row.
        row: Access,
        /// Lock taken by the read.
        lock: Option<(LockSpec, Option<Access>)>,
    },
    /// `lock-row`: locks an object's row without reading it (`EntityManager::lock`).
    LockRow {
        /// The row.
        row: Access,
        /// Which lock.
        lock: LockSpec,
        /// A value that must be an exclusive lock mode.
        when: Option<Access>,
    },
    /// `flush`: writes back every changed row object that is managed.
    Flush,
    /// `begin`: opens a transaction.
    Begin {
        /// Strict isolation: the loser fails (SERIALIZABLE, REPEATABLE READ on PostgreSQL, IMMEDIATE).
        strict: bool,
        /// A value that names the isolation level or SQLite mode: SQL text, or a constant such as
        /// `IsolationLevel::Serializable` or `TransactionBehavior::Immediate`, perhaps in `Some`.
        /// What it does not name is not strict.
        level: Option<Access>,
        /// The transaction lives as long as the result does: one that nobody keeps is over at once.
        guard: bool,
    },
    /// `commit`.
    Commit,
    /// `rollback`.
    Rollback,
    /// `transaction`: runs a callable inside a transaction.
    Transaction {
        /// The callable.
        body: Access,
        /// As in `Begin`.
        strict: bool,
        /// As in `Begin`.
        level: Option<Access>,
        /// Changed row objects are written back before it ends.
        flushes: bool,
    },
    /// `acquire`: takes a lock that is no row lock; held until `release`, the closure's end, or the
    /// end of the guard object's life.
    Acquire {
        /// Which lock.
        lock: LockSpec,
        /// Runs this callable under the lock and releases it.
        body: Option<Access>,
        /// The lock lives as long as the receiver does: a receiver that nobody keeps lets it go at once.
        guard: bool,
        /// A value that must be true, or name such a mode (`NX`), for it to be a lock.
        when: Option<Access>,
    },
    /// `release`.
    Release,
    /// `expr`: a condition over a column, as a value (diesel's `eq`, sea-orm's `Column::X.eq`).
    Expr {
        /// The column.
        column: Access,
        /// The compared value.
        value: Option<Access>,
        /// How.
        comparison: Comparison,
    },
    /// `all` and `any`: conditions joined.
    Join {
        /// The conditions.
        parts: Vec<Access>,
        /// OR instead of AND.
        any: bool,
    },
    /// `test`: a bool: whether a value is one of others (`in_array`, `is_null`, `contains`).
    Test {
        /// The tested value.
        left: Access,
        /// What it is compared with (elements of a list count each); none: null.
        right: Option<Access>,
        /// True when it is none of them.
        negated: bool,
    },
    /// `format`: a text put together from a template with `%s`, `%d` and arguments (`sprintf`), or,
    /// without a template, from the arguments one after the other.
    Format {
        /// The template.
        template: Option<Access>,
        /// The values (`args1`, or a list).
        args: Access,
    },
    /// `implode`: a text of the elements of a list, one after the other.
    Implode {
        /// What stands between the elements.
        glue: Option<Access>,
        /// The list.
        parts: Access,
    },
    /// `keys`: the keys of an array, as a list.
    Keys {
        /// The array.
        of: Access,
    },
    /// `merge`: an array with the entries of several (`array_merge`, `$a + $b`).
    Merge {
        /// The arrays, later ones win.
        parts: Access,
    },
    /// `log`: looks at nothing, changes nothing.
    Log,
    /// `abort`: never returns normally; with `when`, only if that value is true (`abort_if`), and with
    /// `unless` only if it is false.
    Abort {
        /// A condition.
        when: Option<Access>,
        /// Leaves when it is false.
        negated: bool,
    },
    /// `call`: calls the callable once, now, with the receiver's payload or elements, and gives back
    /// what it gives (`map`, `each`, `and_then`, `then`, `array_map`).
    CallWith {
        /// The callable.
        body: Access,
        /// What it is given.
        with: Option<Access>,
        /// The result is that instead of the callable's (`tap`, `each`).
        gives: Option<Access>,
        /// It runs for each element.
        each: bool,
        /// It runs later, on its own (`tokio::spawn`, `dispatch`).
        later: bool,
        /// Only what it says yes to is given on (`filter`): what comes behind depends on it.
        filters: bool,
    },
    /// `message`: what happens to a queue message.
    Message(MessageRole),
    /// `sql-kind`: opens, commits or locks as if that statement had been sent.
    Statement(StatementKind),
    /// `engine`: the receiver or result talks to that engine.
    Engine(Engine),
}

impl Role {
    /// The word of packs, dumps and fixture markers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Same { .. } => "same",
            Self::Make { .. } => "make",
            Self::Query { .. } => "query",
            Self::Where { .. } => "where",
            Self::Set { .. } => "set",
            Self::Select { .. } => "select",
            Self::LockRows { .. } => "lock-rows",
            Self::Load { .. } => "load",
            Self::Update { .. } => "update",
            Self::Insert { .. } => "insert",
            Self::Delete { .. } => "delete",
            Self::Prepare { .. } => "prepare",
            Self::Bind { .. } => "bind",
            Self::PushSql { .. } => "push-sql",
            Self::Execute { .. } => "execute",
            Self::Fetch { .. } => "fetch",
            Self::Count { .. } => "count",
            Self::Expect { .. } => "expect",
            Self::Save { .. } => "save",
            Self::Assign { .. } => "assign",
            Self::Read { .. } => "read",
            Self::Check { .. } => "check",
            Self::Refresh { .. } => "refresh",
            Self::LockRow { .. } => "lock-row",
            Self::Flush => "flush",
            Self::Begin { .. } => "begin",
            Self::Commit => "commit",
            Self::Rollback => "rollback",
            Self::Transaction { .. } => "transaction",
            Self::Acquire { .. } => "acquire",
            Self::Release => "release",
            Self::Expr { .. } => "expr",
            Self::Join { .. } => "join",
            Self::Test { .. } => "test",
            Self::Format { .. } => "format",
            Self::Implode { .. } => "implode",
            Self::Keys { .. } => "keys",
            Self::Merge { .. } => "merge",
            Self::Log => "log",
            Self::Abort { .. } => "abort",
            Self::CallWith { .. } => "call",
            Self::Message(MessageRole::Receive { .. }) => "receive",
            Self::Message(MessageRole::Ack { .. }) => "ack",
            Self::Message(MessageRole::Nack { .. }) => "nack",
            Self::Message(MessageRole::Publish { .. }) => "publish",
            Self::Message(MessageRole::Register { .. }) => "register",
            Self::Message(MessageRole::AutoAck) => "auto-ack",
            Self::Message(MessageRole::Extend) => "extend",
            Self::Statement(_) => "statement",
            Self::Engine(_) => "engine",
        }
    }
}
