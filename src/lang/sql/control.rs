//! Statements that are read by their words alone: transactions, isolation, table locks.

use super::ctx::Ctx;
use super::query::{blank, lock_function};
use super::token::Lexed;
use crate::base::Name;
use crate::ir::{LockClause, Statement, StatementKind};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token};

/// The statement, when its first words say that it is one of these.
pub(super) fn read(ctx: &Ctx<'_>, tokens: &[Lexed]) -> Option<Vec<Statement>> {
    let concerns = matches!(
        tokens.first()?.keyword(),
        Keyword::BEGIN
            | Keyword::START
            | Keyword::COMMIT
            | Keyword::END
            | Keyword::ROLLBACK
            | Keyword::ABORT
            | Keyword::SET
            | Keyword::LOCK
            | Keyword::UNLOCK
            | Keyword::EXEC
            | Keyword::EXECUTE
            | Keyword::CALL
    );
    if !concerns {
        return None;
    }
    let words: Vec<String> = tokens.iter().take(12).map(word).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let one = |kind| Some(vec![at(ctx, tokens, kind)]);
    match words.as_slice() {
        ["begin", "immediate" | "exclusive", ..] => one(StatementKind::BeginImmediate),
        ["begin"]
        | ["start" | "begin", "transaction" | "tran" | "work", ..]
        | ["begin", "isolation" | "read" | "deferred" | "concurrent" | "not" | "deferrable", ..] => {
            Some(begin(ctx, tokens, &words))
        }
        ["commit", ..] | ["end"] | ["end", "transaction" | "work"] => one(StatementKind::Commit),
        ["rollback" | "abort", rest @ ..] => {
            let partial = rest.contains(&"to");
            one(if partial { StatementKind::Other } else { StatementKind::Rollback })
        }
        ["set", rest @ ..] => set(ctx, tokens, rest),
        ["lock", "table" | "tables", ..] => Some(lock_tables(ctx, tokens, 2)),
        ["lock", name, ..] if !matches!(*name, "in" | "") => Some(lock_tables(ctx, tokens, 1)),
        ["unlock", "tables" | "table", ..] => one(StatementKind::Unlock),
        ["exec" | "execute" | "call", ..] => call(ctx, tokens),
        _ => None,
    }
}

fn word(token: &Lexed) -> String {
    match &token.token {
        Token::Word(it) if it.quote_style.is_none() => it.value.to_lowercase(),
        Token::Eq | Token::Assignment => "=".to_owned(),
        Token::Number(it, _) => it.clone(),
        Token::SingleQuotedString(it) => it.to_lowercase(),
        _ => String::new(),
    }
}

fn at(ctx: &Ctx<'_>, tokens: &[Lexed], kind: StatementKind) -> Statement {
    let start = tokens.first().map_or(0, |it| it.start);
    blank(ctx, kind, Location { line: 1, column: u64::from(start) + 1 })
}

fn begin(ctx: &Ctx<'_>, tokens: &[Lexed], words: &[&str]) -> Vec<Statement> {
    let mut out = Vec::new();
    out.extend(isolation(ctx, tokens, words));
    out.push(at(ctx, tokens, StatementKind::Begin));
    out
}

/// A level above READ COMMITTED; its name stands as the only column.
fn isolation(ctx: &Ctx<'_>, tokens: &[Lexed], words: &[&str]) -> Option<Statement> {
    let level = if words.iter().any(|it| it.contains("serializable")) {
        "serializable"
    } else if words.iter().any(|it| it.contains("repeatable")) {
        "repeatable read"
    } else if words.contains(&"snapshot") && words.contains(&"isolation") {
        "snapshot"
    } else {
        return None;
    };
    let mut stmt = at(ctx, tokens, StatementKind::Isolation);
    stmt.columns.push(Name::from(level));
    Some(stmt)
}

fn set(ctx: &Ctx<'_>, tokens: &[Lexed], words: &[&str]) -> Option<Vec<Statement>> {
    if let [.., "autocommit" | "@autocommit", "=", value] | ["autocommit", value] = words {
        let begins = matches!(*value, "0" | "off" | "false");
        let kind = if begins { StatementKind::Begin } else { StatementKind::Commit };
        return Some(vec![at(ctx, tokens, kind)]);
    }
    let about = words.iter().any(|it| it.contains("transaction") || it.contains("isolation"));
    about.then(|| isolation(ctx, tokens, words).into_iter().collect())
}

/// One lock for each table of the list.
fn lock_tables(ctx: &Ctx<'_>, tokens: &[Lexed], from: usize) -> Vec<Statement> {
    let shared_by_all = tokens.iter().any(|it| it.keyword() == Keyword::MODE);
    let items = tokens[from..].split(|it| it.token == Token::Comma);
    items
        .filter(|it| !it.is_empty())
        .map(|item| {
            let mut stmt = at(ctx, tokens, StatementKind::Lock);
            name_table(item, &mut stmt);
            stmt.lock = Some(table_lock(if shared_by_all { tokens } else { item }));
            stmt
        })
        .collect()
}

fn name_table(item: &[Lexed], stmt: &mut Statement) {
    let mut after_dot = true;
    for token in item {
        match &token.token {
            Token::Word(it) if it.value.eq_ignore_ascii_case("only") => {}
            Token::Word(it) if after_dot => {
                stmt.table = Name::from(if token.is_param() { "" } else { it.value.as_str() });
                stmt.table_param = super::ctx::params(token).into_iter().next();
                after_dot = false;
            }
            Token::Period => after_dot = true,
            _ => return,
        }
    }
}

/// Whether two sessions can both have the lock.
fn table_lock(words: &[Lexed]) -> LockClause {
    let has = |keyword: Keyword| words.iter().any(|it| it.keyword() == keyword);
    let (share, exclusive) = (has(Keyword::SHARE), has(Keyword::EXCLUSIVE));
    let alone = share && has(Keyword::UPDATE) || exclusive && (share || !has(Keyword::ROW));
    if has(Keyword::READ) || ((share || exclusive) && !alone) {
        LockClause::Shared
    } else {
        LockClause::Table
    }
}

/// `EXEC sp_getapplock`, `CALL DBMS_LOCK.REQUEST`.
fn call(ctx: &Ctx<'_>, tokens: &[Lexed]) -> Option<Vec<Statement>> {
    let found = tokens.iter().take(8).find_map(|it| lock_function(&word(it), || false));
    let (lock, release) = found?;
    let kind = if release { StatementKind::Unlock } else { StatementKind::Lock };
    let mut stmt = at(ctx, tokens, kind);
    stmt.lock = Some(lock);
    Some(vec![stmt])
}
