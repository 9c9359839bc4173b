//! Does a finding say where the same transition stands guarded, in whatever file that is?

use crate::run;
use rowrace::base::{Language, Lines, Source, SourceId};
use rowrace::finding::{Finding, StepRole};

const UNGUARDED: &str = "<?php
class Payments {
    public function __construct(private PDO $db) {}
    public function capture(int $id): void {
        $row = $this->db->query('SELECT * FROM payments WHERE id = ' . $id)->fetch();
        if ($row['status'] !== 'authorized') { return; }
        $stmt = $this->db->prepare(\"UPDATE payments SET status = 'captured' WHERE id = ?\");
        $stmt->execute([$id]);
        $this->charge($id);
    }
}
";

/// `capture` of another class; `{}` is what follows the key in its WHERE.
fn guarded(to: &str, guard: &str) -> String {
    format!(
        "<?php
class Webhook {{
    public function __construct(private PDO $db) {{}}
    public function captured(int $id): void {{
        $stmt = $this->db->prepare(\"UPDATE payments SET status = '{to}' WHERE id = ?{guard}\");
        $stmt->execute([$id]);
        if ($stmt->rowCount() !== 1) {{ return; }}
        $this->mail($id);
    }}
}}
"
    )
}

const LOCKED: &str = "<?php
class Webhook {
    public function __construct(private PDO $db) {}
    public function captured(int $id): void {
        $this->db->beginTransaction();
        $row = $this->db->query('SELECT * FROM payments WHERE id = ' . $id . ' FOR UPDATE')->fetch();
        if ($row['status'] === 'authorized') {
            $stmt = $this->db->prepare(\"UPDATE payments SET status = 'captured' WHERE id = ?\");
            $stmt->execute([$id]);
        }
        $this->db->commit();
    }
}
";

#[test]
fn a_guarded_statement_in_another_file_is_named() {
    let other = guarded("captured", " AND status = 'authorized'");
    assert_eq!(
        twins(&[("payments.php", UNGUARDED), ("webhook.php", &other)]),
        ["webhook.php:5: the same transition stands guarded here"]
    );
}

#[test]
fn the_order_of_files_does_not_matter() {
    let other = guarded("captured", " AND status = 'authorized'");
    assert_eq!(
        twins(&[("a.php", &other), ("payments.php", UNGUARDED)]),
        ["a.php:5: the same transition stands guarded here"]
    );
}

#[test]
fn a_transition_under_a_lock_is_named() {
    assert_eq!(
        twins(&[("payments.php", UNGUARDED), ("webhook.php", LOCKED)]),
        ["webhook.php:8: the same transition is made under a lock here"]
    );
}

#[test]
fn another_transition_is_no_twin() {
    let other = guarded("failed", " AND status = 'authorized'");
    assert_eq!(twins(&[("payments.php", UNGUARDED), ("webhook.php", &other)]), [""; 0]);
}

#[test]
fn the_same_statement_without_guard_is_no_twin() {
    let other = guarded("captured", "");
    assert_eq!(twins(&[("payments.php", UNGUARDED), ("webhook.php", &other)]), [""; 0]);
}

/// Where the finding in `payments.php` sees its twin.
fn twins(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<Source> = files
        .iter()
        .zip(0..)
        .map(|((path, text), id)| Source {
            id: SourceId(id),
            ..run::source(path, (*text).to_owned(), Language::Php)
        })
        .collect();
    let findings = run::engine().analyze(&sources).findings;
    let path = |it: &Finding| sources[it.primary.source.0 as usize].path.clone();
    let found = findings.iter().find(|it| path(it) == "payments.php").expect("the race is found");
    found
        .steps
        .iter()
        .filter(|it| it.role == StepRole::Twin)
        .map(|it| {
            let source = &sources[it.span.source.0 as usize];
            let line = Lines::of(&source.text).line_index(it.span.start) + 1;
            format!("{}:{line}: {}", source.path, it.message)
        })
        .collect()
}
