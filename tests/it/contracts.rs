//! What does a contract say when its function loses something, is gone, or gets a rival?

use crate::tree::Tree;

const CONFIG: &str = "\
[[claim]]
table = \"executions\"
column = \"status\"
from = [\"pending\"]
to = \"running\"
at = \"ExecutionRepository::markStarted\"
";

const GUARDED: &str =
    "UPDATE executions SET status = 'running' WHERE id = ? AND status = 'pending'";
const COUNTED: &str = "return $claim->rowCount() === 1;";

/// A repository whose claim says `sql` and ends in `end`, and a worker that calls it.
fn program(sql: &str, end: &str) -> String {
    format!(
        "<?php
final class ExecutionRepository
{{
    public function __construct(private PDO $db) {{}}

    public function markStarted(int $id): bool
    {{
        $claim = $this->db->prepare(\"{sql}\");
        $claim->execute([$id]);
        {end}
    }}
}}

final class Worker
{{
    public function run(ExecutionRepository $executions, Mailer $mailer, int $id): void
    {{
        if ($executions->markStarted($id)) {{
            $mailer->send($id);
        }}
    }}
}}
"
    )
}

fn claims(tree: &Tree) -> Vec<String> {
    let report = tree.json(&[]);
    let findings = report["findings"].as_array().expect("a list").iter();
    let claims = findings.filter(|it| it["rule"].as_str().is_some_and(|it| it.ends_with("-claim")));
    let shown = |it: &serde_json::Value| {
        format!("{}: {} {}", it["line"], it["severity"], it["message"]).replace('"', "")
    };
    claims.filter(|it| it["rule"] != "ignored-claim").map(shown).collect()
}

#[test]
fn a_claim_that_is_in_order_is_silent() {
    let tree = Tree::new(&[("rowrace.toml", CONFIG), ("a.php", &program(GUARDED, COUNTED))]);
    assert_eq!(claims(&tree), [""; 0]);
    assert_eq!(tree.run(&["check"]).code, Some(0));
}

#[test]
fn each_loss_breaks_it() {
    let name = "`ExecutionRepository::markStarted` has lost";
    for (sql, end, lost) in [
        ("UPDATE executions SET status = 'running' WHERE id = ?", COUNTED, "its guard"),
        ("UPDATE executions SET status = 'running' WHERE status = 'pending'", COUNTED, "its key"),
        (GUARDED, "return true;", "its count"),
        (
            "UPDATE executions SET status = 'running' WHERE id = ? AND status IN ('pending', 'failed')",
            COUNTED,
            "its guard, which lets `failed` through",
        ),
    ] {
        let tree = Tree::new(&[("rowrace.toml", CONFIG), ("a.php", &program(sql, end))]);
        assert_eq!(claims(&tree), [format!("8: error {name} {lost}")], "{sql}");
        assert_eq!(tree.run(&["check"]).code, Some(1));
    }
    let other = "UPDATE executions SET started_at = NOW() WHERE id = ?";
    let tree = Tree::new(&[("rowrace.toml", CONFIG), ("a.php", &program(other, COUNTED))]);
    assert_eq!(claims(&tree), [format!("6: error {name} the change itself")]);
}

#[test]
fn what_is_not_known_breaks_nothing() {
    for sql in [
        "UPDATE executions SET status = '{$this->to}' WHERE id = ? AND status = 'pending'",
        "UPDATE executions SET status = 'running' WHERE id = ? {$this->more}",
    ] {
        let tree = Tree::new(&[("rowrace.toml", CONFIG), ("a.php", &program(sql, COUNTED))]);
        assert_eq!(claims(&tree), [""; 0], "{sql}");
    }
}

#[test]
fn a_rival_is_found_where_it_writes() {
    let rival = |body: &str| {
        format!(
            "<?php\nfinal class Admin\n{{\n    public function __construct(private PDO $db) {{}}\n\n    \
             public function force(int $id): void\n    {{\n        {body}\n    }}\n}}\n"
        )
    };
    let update = |guard: &str| {
        format!(
            "$this->db->prepare(\"UPDATE executions SET status = 'running' WHERE id = ?{guard}\")->execute([$id]);"
        )
    };
    let message = "`executions` goes to `running` here without `ExecutionRepository::markStarted`";
    for (body, wanted) in [
        (update(""), Some("error")),
        (update(" AND status <> 'done'"), Some("error")),
        (update(" AND status = 'failed'"), None),
        (update("").replace("'running'", "'done'"), None),
        (update("").replace("executions", "jobs"), None),
        ("(new ExecutionRepository($this->db))->markStarted($id);".to_owned(), None),
        (update(" AND status = 'pending'").replace("$this", "$n = $this").replace("->execute([$id]);", ";\n        $n->execute([$id]);\n        if ($n->rowCount() === 1) { mail('a', 'b', 'c'); }"), Some("note")),
    ] {
        let program = program(GUARDED, COUNTED);
        let files = [("rowrace.toml", CONFIG), ("a.php", &program), ("b.php", &rival(&body))];
        let found = claims(&Tree::new(&files));
        let wanted: Vec<_> = wanted.iter().map(|it| format!("8: {it} {message}")).collect();
        assert_eq!(found, wanted, "{body}");
    }
}

#[test]
fn a_function_that_is_gone_is_pointed_at() {
    let renamed = program(GUARDED, COUNTED).replace("markStarted", "markStart");
    let tree = Tree::new(&[("rowrace.toml", CONFIG), ("a.php", &renamed), ("b/b.php", "<?php\n")]);
    let run = tree.run(&["check"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for part in [
        "there is no function `ExecutionRepository::markStarted`",
        "rowrace.toml:6:6",
        "did you mean `ExecutionRepository::markStart`?",
    ] {
        assert!(run.err.contains(part), "{part}: {run:?}");
    }
    // A part of the tree does not tell.
    assert_eq!(tree.run(&["check", "b"]).code, Some(0));
    let moved = program(GUARDED, COUNTED).replace("ExecutionRepository", "Executions");
    tree.write("a.php", &moved);
    let run = tree.run(&["check"]);
    assert!(run.err.contains("did you mean `Executions::markStarted`?"), "{run:?}");
}

#[test]
fn a_lock_keeps_it_as_well() {
    let code = "<?php
use Illuminate\\Database\\Eloquent\\Model;
use Illuminate\\Support\\Facades\\DB;

class Execution extends Model {}

class ExecutionRepository
{
    public function markStarted(int $id): bool
    {
        return DB::transaction(function () use ($id) {
            $execution = Execution::whereKey($id)->lockForUpdate()->first();
            if ($execution->status !== 'pending') {
                return false;
            }
            $execution->status = 'running';
            $execution->save();

            return true;
        });
    }
}
";
    let tree = Tree::new(&[("rowrace.toml", CONFIG), ("a.php", code)]);
    assert_eq!(claims(&tree), [""; 0]);
    tree.write("a.php", &code.replace("->lockForUpdate()", ""));
    assert_eq!(claims(&tree), ["17: error `ExecutionRepository::markStarted` has lost its guard"]);
}

#[test]
fn rust_functions_are_named_by_type_or_module() {
    let code = |count: &str| {
        format!(
            "use sqlx::PgPool;\n\npub struct Executions {{\n    pool: PgPool,\n}}\n\nimpl Executions {{\n    \
             pub async fn claim(&self, id: i64) -> sqlx::Result<bool> {{\n        \
             let done = sqlx::query(\"UPDATE executions SET status = 'running' WHERE id = $1 AND status = 'pending'\")\n            \
             .bind(id)\n            .execute(&self.pool)\n            .await?;\n        {count}\n    }}\n}}\n\n\
             pub async fn force(pool: &PgPool, id: i64) -> sqlx::Result<()> {{\n    \
             sqlx::query(\"UPDATE executions SET status = 'running' WHERE id = $1\").bind(id).execute(pool).await?;\n    Ok(())\n}}\n"
        )
    };
    let config = CONFIG.replace("ExecutionRepository::markStarted", "Executions::claim");
    let tree = Tree::new(&[("rowrace.toml", &config)]);
    tree.write("src/executions.rs", &code("Ok(done.rows_affected() == 1)"));
    let rival = "18: error `executions` goes to `running` here without `Executions::claim`";
    assert_eq!(claims(&tree), [rival]);
    tree.write("src/executions.rs", &code("drop(done);\n        Ok(true)"));
    let lost = "9: error `Executions::claim` has lost its count";
    assert_eq!(claims(&tree), [lost.to_owned(), rival.replace("18", "19")]);
}
