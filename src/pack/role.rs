//! A role as written in a `[[call]]` row or in its `also`, with the keys that this role takes.

use super::access::{parse_access, position};
use super::error::PackErrorKind;
use super::raw::{Complaints, Reader, Word};
use crate::model::{
    Access, Comparison, Engine, HandlerVerdict, LockKind, LockSpec, MessageRole, Role, RowSource,
    StatementKind, Verb, Yield,
};

/// The words of all roles.
const ROLES: &[&str] = &[
    "same",
    "make",
    "query",
    "where",
    "set",
    "select",
    "lock-rows",
    "load",
    "update",
    "insert",
    "delete",
    "prepare",
    "bind",
    "push-sql",
    "execute",
    "fetch",
    "count",
    "expect",
    "save",
    "assign",
    "read",
    "check",
    "refresh",
    "lock-row",
    "flush",
    "begin",
    "commit",
    "rollback",
    "transaction",
    "acquire",
    "release",
    "expr",
    "join",
    "test",
    "format",
    "merge",
    "implode",
    "keys",
    "log",
    "abort",
    "call",
    "receive",
    "ack",
    "nack",
    "publish",
    "register",
    "auto-ack",
    "extend",
    "statement",
    "engine",
];

const YIELDS: &[(&str, Yield)] = &[
    ("void", Yield::Void),
    ("bool", Yield::Bool),
    ("rows", Yield::Rows),
    ("won", Yield::Won),
    ("outcome", Yield::Outcome),
    ("fails", Yield::Fails),
    ("row", Yield::Row),
    ("list", Yield::List),
    ("scalar", Yield::Scalar),
    ("number", Yield::Number),
    ("statement", Yield::Statement),
    ("query", Yield::Query),
];

const COMPARISONS: &[(&str, Comparison)] = &[
    ("by-argument", Comparison::ByArgument),
    ("eq", Comparison::Eq),
    ("ne", Comparison::Ne),
    ("in", Comparison::In),
    ("not-in", Comparison::NotIn),
    ("is-null", Comparison::IsNull),
    ("is-not-null", Comparison::IsNotNull),
    ("less", Comparison::Less),
    ("greater", Comparison::Greater),
    ("other", Comparison::Other),
];

const VERBS: &[(&str, Verb)] = &[
    ("unknown", Verb::Unknown),
    ("select", Verb::Select),
    ("update", Verb::Update),
    ("insert", Verb::Insert),
    ("upsert", Verb::Upsert),
    ("delete", Verb::Delete),
];

const LOCKS: &[(&str, LockKind)] = &[
    ("row", LockKind::Row),
    ("row-shared", LockKind::RowShared),
    ("named", LockKind::Named),
    ("process", LockKind::Process),
];

const STATEMENTS: &[(&str, StatementKind)] = &[
    ("select", StatementKind::Select),
    ("update", StatementKind::Update),
    ("insert", StatementKind::Insert),
    ("upsert", StatementKind::Upsert),
    ("insert-ignore", StatementKind::InsertIgnore),
    ("delete", StatementKind::Delete),
    ("begin", StatementKind::Begin),
    ("begin-immediate", StatementKind::BeginImmediate),
    ("commit", StatementKind::Commit),
    ("rollback", StatementKind::Rollback),
    ("lock", StatementKind::Lock),
    ("unlock", StatementKind::Unlock),
    ("isolation", StatementKind::Isolation),
    ("other", StatementKind::Other),
];

pub(super) const ENGINES: &[(&str, Engine)] = &[
    ("postgres", Engine::Postgres),
    ("mysql", Engine::MySql),
    ("sqlite", Engine::Sqlite),
    ("mssql", Engine::MsSql),
    ("oracle", Engine::Oracle),
];

pub(super) const VERDICTS: &[(&str, HandlerVerdict)] = &[
    ("ack-on-return", HandlerVerdict::AckOnReturn),
    ("by-value", HandlerVerdict::ByValue),
    ("explicit", HandlerVerdict::Explicit),
];

/// The value that goes with `word`; complains when there is none.
pub(super) fn choose<T: Copy>(
    word: &Word<'_>,
    what: &'static str,
    allowed: &[(&'static str, T)],
    out: &mut Complaints,
) -> Option<T> {
    let found = allowed.iter().find(|(it, _)| *it == word.value).map(|(_, it)| *it);
    if found.is_none() {
        let words: Vec<&str> = allowed.iter().map(|(it, _)| *it).collect();
        out.unknown_word(word, what, &words);
    }
    found
}

/// Reads the role of one table and its keys.
pub(super) struct RoleReader<'r, 't> {
    pub(super) reader: &'r mut Reader<'t>,
    pub(super) out: &'r mut Complaints,
    /// The greatest number of arguments that the row admits.
    pub(super) most: u32,
}

impl RoleReader<'_, '_> {
    /// The role; none when it was complained about.
    pub(super) fn role(&mut self) -> Option<Role> {
        let word = self.reader.need_word("role", self.out)?;
        if !ROLES.contains(&word.value) {
            self.out.unknown_word(&word, "role", ROLES);
            return None;
        }
        self.reader.within = format!("role `{}`", word.value);
        let found = self
            .query_role(word.value)
            .or_else(|| self.statement_role(word.value))
            .or_else(|| self.row_role(word.value))
            .or_else(|| self.scope_role(word.value))
            .or_else(|| self.message_role(word.value))
            .unwrap_or(Attempt::Failed);
        match found {
            Attempt::Read(role) => Some(role),
            Attempt::Failed => None,
        }
    }

    /// Roles of query builders.
    fn query_role(&mut self, word: &str) -> Option<Attempt> {
        Some(match word {
            "query" => {
                let verb = self.choice("verb", "verb", VERBS).unwrap_or(Verb::Unknown);
                Role::Query { verb, source: self.source() }.into()
            }
            "where" => self.where_role().into(),
            "set" => {
                let (column, value) = (self.need("column"), self.access("value"));
                let relative = self.flag("relative");
                column.map(|column| Role::Set { column, value, relative }).into()
            }
            "select" => self.need("columns").map(|columns| Role::Select { columns }).into(),
            "lock-rows" => {
                let lock = self.lock_spec("lock", Some(LockKind::Row));
                let when = self.access("when");
                lock.map(|lock| Role::LockRows { lock, when }).into()
            }
            "expr" => {
                let (column, value) = (self.need("column"), self.access("value"));
                let comparison = self.need_choice("comparison", "comparison", COMPARISONS);
                let role = |column, comparison| Role::Expr { column, value, comparison };
                column.zip(comparison).map(|(column, it)| role(column, it)).into()
            }
            "join" => {
                if !self.reader.has("parts") {
                    self.reader.missing("parts", self.out);
                }
                Role::Join { parts: self.accesses("parts"), any: self.flag("any") }.into()
            }
            _ => return None,
        })
    }

    fn where_role(&mut self) -> Option<Role> {
        let by_name = self.flag("by-name");
        let column = match self.access("column") {
            // The name itself says the column; nothing else does.
            None if by_name => Some(Access::Literal("".into())),
            Some(column) => Some(column),
            None => self.need("column"),
        };
        let (op, value) = (self.access("op"), self.access("value"));
        let comparison = self.choice("comparison", "comparison", COMPARISONS);
        let any = self.flag("any");
        Some(Role::Where {
            column: column?,
            op,
            value,
            comparison: comparison.unwrap_or(Comparison::ByArgument),
            any,
            by_name,
        })
    }

    /// Roles that read or write by statement.
    fn statement_role(&mut self, word: &str) -> Option<Attempt> {
        Some(match word {
            "load" => {
                let (source, gives) = (self.source(), self.gives());
                let (lock, cached) = (self.read_lock(), self.flag("cached"));
                gives.map(|gives| Role::Load { source, gives, lock, cached }).into()
            }
            "update" => {
                let (source, sets) = (self.source(), self.access("sets"));
                let (gives, relative) = (self.gives(), self.flag("relative"));
                gives.map(|gives| Role::Update { source, sets, gives, relative }).into()
            }
            "insert" => {
                let (source, upsert) = (self.source(), self.flag("upsert"));
                self.gives().map(|gives| Role::Insert { source, gives, upsert }).into()
            }
            "delete" => {
                let source = self.source();
                self.gives().map(|gives| Role::Delete { source, gives }).into()
            }
            "prepare" => {
                let (sql, binds) = (self.need("sql"), self.access("binds"));
                sql.map(|sql| Role::Prepare { sql, binds }).into()
            }
            "bind" => {
                let (key, value) = (self.access("key"), self.need("value"));
                let to = self.access("to");
                value.map(|value| Role::Bind { key, value, to }).into()
            }
            "push-sql" => {
                let (sql, value) = (self.access("sql"), self.access("value"));
                Role::PushSql { sql, value, to: self.access("to") }.into()
            }
            "execute" => {
                let (sql, binds) = (self.access("sql"), self.access("binds"));
                let (executor, gives) = (self.access("executor"), self.gives());
                gives.map(|gives| Role::Execute { sql, binds, executor, gives }).into()
            }
            "fetch" => {
                let (from, gives) = (self.need("from"), self.gives());
                from.zip(gives).map(|(from, gives)| Role::Fetch { from, gives }).into()
            }
            "count" => self.need("from").map(|from| Role::Count { from }).into(),
            "expect" => self.need("from").map(|from| Role::Expect { from }).into(),
            _ => return None,
        })
    }

    /// Roles that speak of one row object or one value.
    fn row_role(&mut self, word: &str) -> Option<Attempt> {
        Some(match word {
            "same" => self.need("from").map(|from| Role::Same { from }).into(),
            "make" => Role::Make { class: self.access("class") }.into(),
            "test" => {
                let (left, right) = (self.need("left"), self.access("right"));
                let negated = self.flag("negated");
                left.map(|left| Role::Test { left, right, negated }).into()
            }
            "format" => {
                let (template, args) = (self.access("template"), self.need("values"));
                args.map(|args| Role::Format { template, args }).into()
            }
            "merge" => self.need("parts").map(|parts| Role::Merge { parts }).into(),
            "implode" => {
                let (glue, parts) = (self.access("glue"), self.need("parts"));
                parts.map(|parts| Role::Implode { glue, parts }).into()
            }
            "keys" => self.need("of").map(|of| Role::Keys { of }).into(),
            "save" => {
                let (row, sets) = (self.need("row"), self.access("sets"));
                let (whole, exists) = (self.flag("whole"), self.flag("exists"));
                let gives = self.gives();
                let role = |row, gives| Role::Save { row, sets, whole, exists, gives };
                row.zip(gives).map(|(row, gives)| role(row, gives)).into()
            }
            "assign" => self.assign_role().into(),
            "read" => {
                let (row, column) = (self.need("row"), self.access("column"));
                let by_name = self.flag("by-name");
                row.map(|row| Role::Read { row, column, by_name }).into()
            }
            "check" => {
                let (row, column) = (self.need("row"), self.access("column"));
                let value = self.access("value");
                row.map(|row| Role::Check { row, column, value }).into()
            }
            "refresh" => {
                let (row, lock) = (self.need("row"), self.read_lock());
                row.map(|row| Role::Refresh { row, lock }).into()
            }
            "lock-row" => {
                let row = self.need("row");
                let lock = self.lock_spec("lock", Some(LockKind::Row));
                let when = self.access("when");
                row.zip(lock).map(|(row, lock)| Role::LockRow { row, lock, when }).into()
            }
            _ => return None,
        })
    }

    fn assign_role(&mut self) -> Option<Role> {
        let by_name = self.flag("by-name");
        let row = self.need("row");
        let column = match self.access("column") {
            None if by_name => Some(Access::Literal("".into())),
            Some(column) => Some(column),
            None => self.need("column"),
        };
        let value = self.access("value");
        Some(Role::Assign { row: row?, column: column?, value, by_name })
    }

    /// Roles of transactions, locks, callables and ways out.
    fn scope_role(&mut self, word: &str) -> Option<Attempt> {
        Some(match word {
            "flush" => Role::Flush.into(),
            "begin" => {
                let (strict, guard) = (self.flag("strict"), self.flag("guard"));
                Role::Begin { strict, level: self.access("level"), guard }.into()
            }
            "commit" => Role::Commit.into(),
            "rollback" => Role::Rollback.into(),
            "transaction" => {
                let (body, strict) = (self.need("body"), self.flag("strict"));
                let (level, flushes) = (self.access("level"), self.flag("flushes"));
                let role = |body| Role::Transaction { body, strict, level, flushes };
                body.map(role).into()
            }
            "acquire" => {
                let (lock, body) = (self.lock_spec("lock", None), self.access("body"));
                let (guard, when) = (self.flag("guard"), self.access("when"));
                lock.map(|lock| Role::Acquire { lock, body, guard, when }).into()
            }
            "release" => Role::Release.into(),
            "log" => Role::Log.into(),
            "abort" => {
                Role::Abort { when: self.access("when"), negated: self.flag("negated") }.into()
            }
            "call" => {
                let (body, with) = (self.need("body"), self.access("with"));
                let gives = self.access("gives");
                let (each, later, filters) =
                    (self.flag("each"), self.flag("later"), self.flag("filters"));
                let role = |body| Role::CallWith { body, with, gives, each, later, filters };
                body.map(role).into()
            }
            "statement" => self
                .need_choice("kind", "kind of statement", STATEMENTS)
                .map(Role::Statement)
                .into(),
            "engine" => self.need_choice("engine", "engine", ENGINES).map(Role::Engine).into(),
            _ => return None,
        })
    }

    /// Roles of messages.
    fn message_role(&mut self, word: &str) -> Option<Attempt> {
        let role = match word {
            "receive" => {
                let (message, destructive) = (self.need("message"), self.flag("destructive"));
                let queue = self.access("queue");
                message.map(|message| MessageRole::Receive { message, destructive, queue })
            }
            "ack" => Some(MessageRole::Ack { message: self.access("message") }),
            "nack" => Some(MessageRole::Nack { message: self.access("message") }),
            "publish" => {
                let (message, queue) = (self.access("message"), self.access("queue"));
                Some(MessageRole::Publish { message, queue })
            }
            "register" => {
                let handler = self.need("handler");
                let verdict = self.need_choice("verdict", "verdict", VERDICTS);
                let auto_ack = self.access("auto-ack");
                let queue = self.access("queue");
                let if_published = self.flag("if-published");
                handler.zip(verdict).map(|(handler, verdict)| MessageRole::Register {
                    handler,
                    verdict,
                    auto_ack,
                    queue,
                    if_published,
                })
            }
            "auto-ack" => Some(MessageRole::AutoAck),
            "extend" => Some(MessageRole::Extend),
            _ => return None,
        };
        Some(role.map(Role::Message).into())
    }

    fn source(&mut self) -> RowSource {
        RowSource {
            model: self.access("model"),
            table: self.access("table"),
            key: self.access("key"),
            criteria: self.access("criteria"),
            binds: self.access("criteria-binds"),
            by_name: self.flag("by-name"),
        }
    }

    fn gives(&mut self) -> Option<Yield> {
        self.need_choice("gives", "result", YIELDS)
    }

    /// The lock that a read takes, and the argument that decides whether it does.
    fn read_lock(&mut self) -> Option<(LockSpec, Option<Access>)> {
        let when = self.access("lock-when");
        if self.reader.has("lock") {
            return self.lock_spec("lock", None).map(|it| (it, when));
        }
        if when.is_some() {
            self.reader.missing("lock", self.out);
        }
        None
    }

    fn lock_spec(&mut self, key: &'static str, default: Option<LockKind>) -> Option<LockSpec> {
        let kind = match default {
            Some(default) if !self.reader.has(key) => Some(default),
            _ => self.need_choice(key, "lock", LOCKS),
        };
        let (tries, throws_outside) = (self.flag("tries"), self.flag("throws-outside"));
        kind.map(|kind| LockSpec { kind, tries, throws_outside })
    }

    fn flag(&mut self, key: &'static str) -> bool {
        self.reader.flag(key, self.out)
    }

    fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        what: &'static str,
        allowed: &[(&'static str, T)],
    ) -> Option<T> {
        let word = self.reader.word(key, self.out)?;
        choose(&word, what, allowed, self.out)
    }

    fn need_choice<T: Copy>(
        &mut self,
        key: &'static str,
        what: &'static str,
        allowed: &[(&'static str, T)],
    ) -> Option<T> {
        if !self.reader.has(key) {
            self.reader.missing(key, self.out);
        }
        self.choice(key, what, allowed)
    }

    fn need(&mut self, key: &'static str) -> Option<Access> {
        let word = self.reader.need_word(key, self.out)?;
        self.read_access(&word)
    }

    fn access(&mut self, key: &'static str) -> Option<Access> {
        let word = self.reader.word(key, self.out)?;
        self.read_access(&word)
    }

    fn accesses(&mut self, key: &'static str) -> Vec<Access> {
        let words = self.reader.words(key, self.out);
        words.iter().filter_map(|it| self.read_access(it)).collect()
    }

    fn read_access(&mut self, word: &Word<'_>) -> Option<Access> {
        let Some(access) = parse_access(word.value) else {
            let help = "write `receiver`, `result`, `arg0`, `arg0:name`, `args0` or `=text`, \
                        and `.elements` or `.field` behind it";
            let kind = PackErrorKind::Access(word.value.to_owned());
            self.out.add_with_help(word.span.clone(), kind, help.to_owned());
            return None;
        };
        if position(&access).is_some_and(|it| it >= self.most) {
            let access = word.value.to_owned();
            let kind = PackErrorKind::NoArgument { access, most: self.most };
            self.out.add(word.span.clone(), kind);
            return None;
        }
        Some(access)
    }
}

/// What came of reading a role whose word is known.
enum Attempt {
    Read(Role),
    /// It was complained about.
    Failed,
}

impl From<Role> for Attempt {
    fn from(role: Role) -> Self {
        Self::Read(role)
    }
}

impl From<Option<Role>> for Attempt {
    fn from(role: Option<Role>) -> Self {
        role.map_or(Self::Failed, Self::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::DeTable;

    /// Reads one role from a document of its keys; the complaints, when there are any.
    fn read(text: &str) -> Result<Role, Vec<String>> {
        let document = DeTable::parse(text).unwrap();
        let mut out = Complaints::new("a.toml", text);
        let mut reader = Reader::new(document.get_ref(), document.span(), "the row");
        let role = RoleReader { reader: &mut reader, out: &mut out, most: 9 }.role();
        if role.is_some() {
            reader.finish(&mut out);
        }
        match role {
            Some(role) if out.errors.is_empty() => Ok(role),
            _ => Err(out.errors.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn every_role_reads_with_its_least_keys() {
        for word in ROLES {
            let keys = match *word {
                "same" | "fetch" | "count" | "expect" => "from = \"arg0\"\ngives = \"row\"",
                "where" | "set" => "column = \"arg0\"",
                "expr" => "column = \"arg0\"\ncomparison = \"eq\"",
                "select" => "columns = \"arg0\"",
                "join" => "parts = [\"args0\"]",
                "load" | "update" | "insert" | "delete" | "execute" => "gives = \"row\"",
                "prepare" => "sql = \"arg0\"",
                "test" => "left = \"arg0\"",
                "format" => "values = \"args1\"",
                "merge" | "implode" => "parts = \"args0\"",
                "keys" => "of = \"arg0\"",
                "bind" => "value = \"arg0\"",
                "save" => "row = \"arg0\"\ngives = \"row\"",
                "assign" => "row = \"arg0\"\ncolumn = \"arg1\"",
                "read" | "check" | "refresh" | "lock-row" => "row = \"arg0\"",
                "transaction" | "call" => "body = \"arg0\"",
                "acquire" => "lock = \"named\"",
                "receive" => "message = \"result\"",
                "register" => "handler = \"arg0\"\nverdict = \"explicit\"",
                "statement" => "kind = \"isolation\"",
                "engine" => "engine = \"sqlite\"",
                _ => "",
            };
            let keys =
                if matches!(*word, "same" | "count" | "expect") { "from = \"arg0\"" } else { keys };
            let role = read(&format!("role = \"{word}\"\n{keys}")).unwrap();
            assert_eq!(role.word(), *word);
        }
    }

    #[test]
    fn a_missing_key_is_named() {
        assert_eq!(read("role = \"same\"").unwrap_err(), ["a.toml: role `same` needs `from`"]);
        let wanted = ["a.toml: role `load` needs `gives`"];
        assert_eq!(read("role = \"load\"").unwrap_err(), wanted);
    }

    #[test]
    fn a_key_of_another_role_is_refused() {
        let text = "role = \"flush\"\nrow = \"arg0\"";
        assert_eq!(read(text).unwrap_err(), ["a.toml: role `flush` has no key `row`"]);
    }

    #[test]
    fn arguments_beyond_the_row_are_refused() {
        let text = "role = \"same\"\nfrom = \"arg9\"";
        let wanted = ["a.toml: `arg9` is beyond the 9 arguments of this row"];
        assert_eq!(read(text).unwrap_err(), wanted);
    }

    #[test]
    fn a_read_lock_keeps_its_mode_argument() {
        let text = "role = \"load\"\ngives = \"row\"\nlock = \"row\"\nlock-when = \"arg2\"\n\
                    throws-outside = true";
        let Ok(Role::Load { lock: Some((lock, when)), .. }) = read(text) else { panic!() };
        assert_eq!(lock, LockSpec { kind: LockKind::Row, tries: false, throws_outside: true });
        assert_eq!(when, Some(Access::Arg(2, None)));
        let text = "role = \"load\"\ngives = \"row\"\nlock-when = \"arg2\"";
        assert_eq!(read(text).unwrap_err(), ["a.toml: role `load` needs `lock`"]);
    }
}
