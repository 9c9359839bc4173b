//! Which WHERE guards what its SET changes, statement by statement and engine by engine.

use rowrace::base::{SourceId, Span};
use rowrace::ir::{Engine, ParamRef, SqlExpr, Statement};
use rowrace::lang::sql::{SqlText, parse};
use rowrace::model::guard::{Guard, GuardPlace, Resolved, judge, key_of};

const PG: Option<Engine> = Some(Engine::Postgres);
const MY: Option<Engine> = Some(Engine::MySql);
const LITE: Option<Engine> = Some(Engine::Sqlite);
const MSSQL: Option<Engine> = Some(Engine::MsSql);
const ORACLE: Option<Engine> = Some(Engine::Oracle);
const UNKNOWN: Option<Engine> = None;

fn statement(sql: &str, engine: Option<Engine>) -> Statement {
    let span = Span::new(SourceId(0), 0, sql.len());
    let mut found = parse(&SqlText::literal(sql, span), engine);
    assert_eq!(found.len(), 1, "{sql}: {found:#?}");
    found.remove(0)
}

fn opaque(_: &ParamRef) -> Resolved {
    Resolved::Unknown
}

fn guard(sql: &str, column: &str, engine: Option<Engine>) -> String {
    word(&judge(&statement(sql, engine), column, engine, &opaque))
}

/// A verdict in a word.
fn word(guard: &Guard) -> String {
    match guard {
        Guard::None => "none".to_owned(),
        Guard::Holds { columns, place, .. } => {
            let place = match place {
                GuardPlace::Target => "claim",
                GuardPlace::LockedSource => "locked claim",
                GuardPlace::Source => "engine claim",
            };
            format!("{place} {}", columns.join(" "))
        }
        Guard::Fence { column } => format!("fence {column}"),
        Guard::Reservation { column } => format!("reservation {column}"),
        Guard::Version { column } => format!("version {column}"),
        Guard::Unknown => "unknown".to_owned(),
        Guard::NotFalsified { column } => format!("kept {column}"),
        Guard::SubqueryOnly { column } => format!("sub-select {column}"),
    }
}

/// `SET | WHERE | what the second worker finds`, asked about the first column that is set.
const SHAPES: &[(&str, &str, &str)] = &[
    ("s = 'running'", "s = 'pending'", "claim s"),
    ("s = 'running'", "s IN ('pending','failed')", "claim s"),
    ("s = 'running'", "s <> 'running'", "claim s"),
    ("s = 'running'", "s IS DISTINCT FROM 'running'", "claim s"),
    ("s = 'running'", "NOT (s = 'running')", "claim s"),
    ("s = 'running'", "s NOT IN ('running','done')", "claim s"),
    ("s = 'running'", "s IN ('pending','running')", "kept s"),
    ("s = 'running'", "s = 'running'", "kept s"),
    ("s = 'running'", "s <> 'done'", "kept s"),
    ("s = 'running'", "s NOT IN ('done', 'failed')", "kept s"),
    ("s = :s", "s = :s", "kept s"),
    ("s = :new", "s = :old", "claim s"),
    ("s = :new", "s = 'pending'", "claim s"),
    ("s = ?", "s = ?", "claim s"),
    ("s = $2", "s = $2", "kept s"),
    ("s = 'running'", "(s = 'pending' OR s = 'failed')", "claim s"),
    ("s = 'running'", "(s = 'pending' OR (s = 'running' AND locked_at < :t))", "kept s"),
    (
        "s = 'running', locked_at = now()",
        "(s = 'pending' OR (s = 'running' AND locked_at < :t))",
        "claim s",
    ),
    ("locked_at = now()", "locked_at IS NULL", "claim locked_at"),
    ("worker = :me", "worker IS NULL", "claim worker"),
    (
        "locked_at = now() + interval '5 min'",
        "(locked_at IS NULL OR locked_at < now())",
        "claim locked_at",
    ),
    ("worker = :me", "locked_at < now() - interval '5 min'", "kept locked_at"),
    ("worker = :me", "locked_at IS NULL", "kept locked_at"),
    ("version = version + 1", "version = :v", "version version"),
    ("version = :fresh", "version = :v", "version version"),
    ("s = 'running'", "xmin = :x", "version xmin"),
    ("s = 'running'", "version = :v", "kept version"),
    ("s = 'x', updated_at = now()", "updated_at = :u", "version updated_at"),
    ("s = 'x'", "updated_at = :u", "kept updated_at"),
    ("worker = :me", "s = 'pending'", "none"),
    ("worker = :me", "state = 'pending'", "kept state"),
    ("attempts = attempts + 1", "attempts < 3", "reservation attempts"),
    ("s = 'x', attempts = attempts + 1", "attempts < 3", "none"),
    ("qty = qty - :n", "qty >= :n", "reservation qty"),
    ("s = 'done'", "owner = :me", "fence owner"),
    ("s = 'done'", "locked_by = :me AND s = 'running'", "claim s"),
    ("s = 'running'", "lock_token = :t", "fence lock_token"),
    ("heartbeat = now()", "worker = :me AND state = 'running'", "fence worker"),
    ("worker = :me, s = 'r'", "(worker IS NULL OR worker = :me)", "claim worker"),
    ("done = true", "NOT done", "claim done"),
    ("done = true", "done = false", "claim done"),
    ("done = 1", "done = 0", "claim done"),
    ("done = '1'", "done = 0", "claim done"),
    ("done = true", "done IS NOT TRUE", "claim done"),
    ("s = 'r'", "s = s", "kept s"),
    ("s = 'r'", "s IS NOT NULL", "kept s"),
    ("s = 'r'", "1 = 1", "none"),
    ("s = 'r'", "s LIKE '%'", "kept s"),
    ("s = 'r'", "s = COALESCE(NULL, s)", "kept s"),
    ("s = 'running'", "s LIKE 'pend%'", "claim s"),
    ("s = 'running'", "s LIKE 'r%g'", "kept s"),
    ("s = 'running'", "(s = 'pending' OR :force)", "kept s"),
    ("s = 'running'", "(s = 'pending' OR 1 = 1)", "kept s"),
    ("s = 'running'", "(:s IS NULL OR s = :s)", "kept s"),
    ("s = 'running'", "LENGTH(s) > 3", "unknown"),
    ("s = 'running'", "s = CONCAT('x', :x)", "unknown"),
    ("s = 'running'", "s <> :other", "unknown"),
    ("s = :to", "s <> :other", "unknown"),
    ("s = :to", "s <> :to", "claim s"),
    ("s = 'r'", "s = NULL", "unknown"),
    ("s = NULL", "s IS NOT NULL", "claim s"),
    ("s = NULL", "s IS NULL", "kept s"),
    ("s = 2", "s < 2", "claim s"),
    ("s = 2", "s <= 2", "kept s"),
    ("s = 2", "s BETWEEN 0 AND 1", "claim s"),
    ("s = 2", "s > 1", "kept s"),
    ("s = 3", "s = 1", "claim s"),
    ("s = CASE WHEN s = 'p' THEN 'r' ELSE s END", "1 = 1", "none"),
    ("s = 'r'", "COALESCE(s, 'p') = 'p'", "claim s"),
    ("s = 'r'", "LOWER(s) = 'p'", "claim s"),
    ("s = 'r'", "s::text = 'p'", "claim s"),
    ("s = 'r'", "s = ANY(ARRAY['p','f'])", "claim s"),
    ("s = 'r'", "s = ANY(ARRAY['p','r'])", "kept s"),
    ("s = 'r'", "s = ANY($1)", "claim s"),
    ("last_event = :e", "last_event < :e", "claim last_event"),
    ("next_run_at = :next", "next_run_at <= NOW()", "claim next_run_at"),
    ("next_run_at = NOW()", "next_run_at <= NOW()", "kept next_run_at"),
    ("locked_until = NOW() + interval '1 min'", "locked_until < NOW()", "claim locked_until"),
    ("locked_until = NOW() + interval '1 min'", "locked_until > NOW()", "kept locked_until"),
    ("token_hash = NULL", "token_hash = :h", "claim token_hash"),
    ("meta = jsonb_set(meta, '{status}', '\"r\"')", "meta->>'status' = 'p'", "claim meta->status"),
    ("meta = jsonb_set(meta, '{status}', '\"r\"')", "meta->>'status' = 'r'", "kept meta->status"),
    // Look-alikes.
    ("s = 'r'", "deleted_at IS NULL", "none"),
    ("deleted_at = now()", "deleted_at IS NULL", "claim deleted_at"),
    ("s = 'r'", "tenant_id = :t", "none"),
    ("s = 'r'", "user_id = :u AND type = 'x'", "none"),
    ("s = 'r', updated_at = now()", "updated_at < :now", "none"),
    ("s = 'r'", "updated_at < :now", "none"),
];

#[test]
fn every_shape_of_guard_and_set() {
    for (set, condition, wanted) in SHAPES {
        let sql = format!("UPDATE t SET {set} WHERE id = :id AND {condition}");
        let column = set.split(' ').next().unwrap_or_default();
        let stmt = statement(&sql, UNKNOWN);
        let column = stmt.sets.first().map_or(column, |it| it.column.as_ref());
        assert_eq!(guard(&sql, column, UNKNOWN), *wanted, "{sql}");
    }
}

#[test]
fn an_or_beside_the_key_is_no_guard() {
    let sql = "UPDATE t SET s = 'r' WHERE id = :id AND s = :s OR :force";
    assert_eq!(guard(sql, "s", PG), "kept s");
    let sql = "UPDATE t SET s = 'r' WHERE id = 1 AND s = 'a' OR s = 'b'";
    assert_eq!(guard(sql, "s", PG), "claim s");
}

#[test]
fn a_sweep_is_guarded_by_construction() {
    assert_eq!(guard("UPDATE t SET s = 'done' WHERE s = 'running'", "s", PG), "claim s");
}

#[test]
fn what_is_incomplete_is_unknown() {
    for sql in [
        "UPDATE t SET s = 'r' WHERE id = 1 AND",
        "UPDATE t SET s = 'r' WHERE CURRENT OF c",
        "UPDATE t SET s = 'r' WHERE",
    ] {
        assert_eq!(guard(sql, "s", PG), "unknown", "{sql}");
    }
}

/// The shapes of "pick a row and take it", by engine.
#[test]
#[expect(clippy::too_many_lines, reason = "one row for each shape")]
fn where_the_guard_stands_matters_by_engine() {
    let key = "UPDATE t SET s='r' WHERE id=:id";
    let picked = "UPDATE t SET s='r' WHERE id = (SELECT id FROM t WHERE s='p' LIMIT 1";
    let cte = |lock: &str, more: &str| {
        format!(
            "WITH c AS (SELECT id FROM t WHERE s='p' LIMIT 1 {lock}) \
             UPDATE t SET s='r' FROM c WHERE t.id=c.id {more}"
        )
    };
    let exists = "UPDATE t SET s='r' WHERE id=:id AND EXISTS \
                  (SELECT 1 FROM t t2 WHERE t2.id=t.id AND t2.s='p')";
    let scalar = "UPDATE t SET s='r' WHERE id=:id AND (SELECT s FROM t WHERE id=:id)='p'";
    let own_join = "UPDATE t SET s='r' FROM t t2 WHERE t2.id=t.id AND t2.s='p' AND t.id=:id";
    let other = "UPDATE t SET s='r' FROM w WHERE w.id=t.w AND w.s='idle'";
    let rows: Vec<(u32, String, [&str; 5])> = vec![
        (1, format!("{key} AND s='p'"), ["claim s"; 5]),
        (2, key.to_owned(), ["none"; 5]),
        (3, format!("{picked})"), ["sub-select s", "engine claim s", "engine claim s", "sub-select s", "sub-select s"]),
        (4, format!("{picked}) AND s='p'"), ["claim s"; 5]),
        (5, format!("{picked} FOR UPDATE)"), ["locked claim s"; 5]),
        (6, format!("{picked} FOR UPDATE SKIP LOCKED)"), ["locked claim s"; 5]),
        (7, cte("", ""), ["sub-select s", "engine claim s", "engine claim s", "sub-select s", "sub-select s"]),
        (8, cte("", "AND t.s='p'"), ["claim s"; 5]),
        (9, cte("FOR UPDATE SKIP LOCKED", ""), ["locked claim s"; 5]),
        (
            10,
            "UPDATE t SET s='r' WHERE id IN (SELECT id FROM t WHERE s='p' LIMIT 1 FOR UPDATE SKIP LOCKED)".to_owned(),
            ["locked claim s"; 5],
        ),
        (11, exists.to_owned(), ["sub-select s", "engine claim s", "engine claim s", "sub-select s", "sub-select s"]),
        (12, scalar.to_owned(), ["sub-select s", "engine claim s", "engine claim s", "sub-select s", "sub-select s"]),
        (13, own_join.to_owned(), ["sub-select s", "engine claim s", "engine claim s", "sub-select s", "sub-select s"]),
        (14, other.to_owned(), ["none"; 5]),
        (
            15,
            "WITH c AS (SELECT id, s FROM t WHERE id=:id FOR UPDATE) \
             UPDATE t SET s='r' FROM c WHERE t.id=c.id AND c.s='p'".to_owned(),
            ["locked claim s"; 5],
        ),
        (
            16,
            "UPDATE t SET s='r' FROM (SELECT id FROM t WHERE id=:id AND s='p' FOR UPDATE) c WHERE t.id=c.id".to_owned(),
            ["locked claim s"; 5],
        ),
        (17, "UPDATE t SET s='r' WHERE s='p' ORDER BY id LIMIT 1".to_owned(), ["claim s"; 5]),
        (18, "UPDATE t SET s='r' WHERE (id, s) = (:id,'p')".to_owned(), ["claim s"; 5]),
        (18, "UPDATE t SET s='r' WHERE (id, s) IN ((:id,'p'))".to_owned(), ["claim s"; 5]),
        (19, "UPDATE t SET s='r' WHERE id IN (:ids) AND s='p' RETURNING id".to_owned(), ["claim s"; 5]),
        (
            20,
            "UPDATE t SET s='r' FROM (VALUES (1),(2)) v(id) WHERE t.id=v.id AND t.s='p'".to_owned(),
            ["claim s"; 5],
        ),
        (
            21,
            "WITH u AS (UPDATE t SET s='r' WHERE id=:id AND s='p' RETURNING id) SELECT count(*) FROM u".to_owned(),
            ["claim s"; 5],
        ),
        (22, "UPDATE t SET s='r' WHERE ctid = (SELECT ctid FROM t WHERE s='p' LIMIT 1)".to_owned(), ["version ctid"; 5]),
    ];
    for (number, sql, wanted) in rows {
        for (engine, wanted) in [PG, MY, LITE, MSSQL, ORACLE].into_iter().zip(wanted) {
            assert_eq!(guard(&sql, "s", engine), wanted, "shape {number}, {engine:?}: {sql}");
        }
        assert_eq!(guard(&sql, "s", UNKNOWN), wanted[0], "shape {number}, unknown engine: {sql}");
    }
}

#[test]
fn sql_server_updates_its_cte_directly() {
    let sql = "WITH c AS (SELECT TOP (1) * FROM t WITH (UPDLOCK, READPAST) WHERE s='p') UPDATE c SET s='r'";
    assert_eq!(guard(sql, "s", MSSQL), "claim s");
    assert_eq!(guard("UPDATE TOP (1) t SET s='r' WHERE s='p'", "s", MSSQL), "claim s");
}

#[test]
fn a_lock_on_another_table_is_no_guard_of_this_one() {
    let sql = "WITH c AS (SELECT id FROM w WHERE s='p' FOR UPDATE) UPDATE t SET s='r' FROM c WHERE t.w=c.id";
    assert_eq!(guard(sql, "s", PG), "none");
}

#[test]
fn an_ambiguous_column_of_a_join_is_unknown() {
    let sql = "UPDATE jobs j JOIN w ON w.id = j.w SET j.status='r' WHERE j.id=1 AND status='p'";
    assert_eq!(guard(sql, "status", MY), "unknown");
}

#[test]
fn a_wrapped_sub_select_is_seen_through() {
    let sql = "UPDATE t SET s='r' WHERE id IN \
               (SELECT id FROM (SELECT id FROM t WHERE s='p' LIMIT 1 FOR UPDATE) x)";
    assert_eq!(guard(sql, "s", MY), "locked claim s");
}

#[test]
fn upserts_are_judged_by_their_action() {
    let upsert = |tail: &str| {
        let sql = format!("INSERT INTO t (k, s) VALUES (1, 'r') ON CONFLICT (k) {tail}");
        guard(&sql, "s", PG)
    };
    assert_eq!(upsert("DO UPDATE SET s = EXCLUDED.s WHERE t.s = 'p'"), "claim s");
    assert_eq!(upsert("DO UPDATE SET s = EXCLUDED.s WHERE t.s <> EXCLUDED.s"), "claim s");
    assert_eq!(upsert("DO UPDATE SET s = EXCLUDED.s"), "none");
    assert_eq!(upsert("WHERE deleted_at IS NULL DO UPDATE SET s = EXCLUDED.s"), "none");
    let merge =
        "MERGE INTO t USING x ON t.id = x.id WHEN MATCHED AND t.s='p' THEN UPDATE SET s='r'";
    assert_eq!(guard(merge, "s", PG), "claim s");
    assert_eq!(guard("REPLACE INTO t (k, s) VALUES (1, 'r')", "s", MY), "none");
}

#[test]
fn a_delete_is_exclusive_by_itself() {
    assert_eq!(guard("DELETE FROM t WHERE id = :id", "s", PG), "claim id");
    let picked = "DELETE FROM t WHERE id = (SELECT id FROM t LIMIT 1)";
    assert_eq!(guard(picked, "s", PG), "claim id");
}

#[test]
fn what_the_caller_knows_of_parameters_counts() {
    let stmt = statement("UPDATE t SET s = :to WHERE id = :id AND s = :from", PG);
    let known = |to: &'static str, from: &'static str| {
        move |it: &ParamRef| match it {
            ParamRef::Named(name) if name.as_ref() == "to" => {
                Resolved::Literal(SqlExpr::Str(to.into()))
            }
            ParamRef::Named(name) if name.as_ref() == "from" => {
                Resolved::Literal(SqlExpr::Str(from.into()))
            }
            _ => Resolved::Unknown,
        }
    };
    assert_eq!(word(&judge(&stmt, "s", PG, &known("r", "p"))), "claim s");
    assert_eq!(word(&judge(&stmt, "s", PG, &known("r", "r"))), "kept s");
    let one = |_: &ParamRef| Resolved::Identity(7);
    assert_eq!(word(&judge(&stmt, "s", PG, &one)), "kept s");
    let stmt = statement("UPDATE t SET s = 'r' WHERE id = :id AND s <> :final", PG);
    let finals = |_: &ParamRef| {
        Resolved::OneOf(vec![SqlExpr::Str("done".into()), SqlExpr::Str("failed".into())])
    };
    assert_eq!(word(&judge(&stmt, "s", PG, &finals)), "kept s");
}

#[test]
fn bound_says_that_a_difference_is_assumed() {
    let bound = |sql: &str| match judge(&statement(sql, PG), "s", PG, &opaque) {
        Guard::Holds { bound, .. } => bound,
        other => panic!("{sql}: {other:?}"),
    };
    assert!(!bound("UPDATE t SET s = 'r' WHERE s = 'p'"));
    assert!(bound("UPDATE t SET s = :to WHERE s = :from"));
}

#[test]
fn the_key_is_the_row() {
    for (condition, wanted) in [
        ("id = :id AND s = 'p'", Some("id")),
        ("user_id = :u AND id = :id", Some("id")),
        ("user_id = :u AND job_id = :id", Some("job_id")),
        ("uuid = :u AND tenant_id = :t", Some("uuid")),
        ("tenant_id = :t AND code = :c", Some("code")),
        ("choreID = :c", Some("choreID")),
        ("reset_token = :t", Some("reset_token")),
        ("status = 'p'", None),
        ("status = :old AND name = :n", Some("name")),
        ("id IN (:ids) AND s = 'p'", Some("id")),
        ("id = (SELECT id FROM jobs LIMIT 1)", Some("id")),
        ("locked_by = :me", None),
        ("id = :id OR x = 1", None),
    ] {
        let stmt = statement(&format!("UPDATE jobs SET status = 'r' WHERE {condition}"), PG);
        let key = key_of(&stmt).map(|it| it.column.as_ref());
        assert_eq!(key, wanted, "{condition}");
    }
}
