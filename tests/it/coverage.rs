//! Does `rowrace coverage` list what a run could not resolve, and nothing that it could?

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const UNKNOWN_CALLS: &str = "<?php
function book($ledger, $gate, $job, PDO $db, $order) {
    $ledger->save($order);
    $ledger->saveEntry($order);
    $gate->acquire('book');
    $job->redeliver();
    $db->query(\"UPDATE orders SET status = 'booked' WHERE id = 1\");
    $order->isSaved();
    $order->total();
}
function again($ledger, $order) {
    $ledger->saveEntry($order);
}
";

const UNKNOWN_SQL: &str = "<?php
function sweep(PDO $db, array $texts, string $name) {
    $db->exec($texts[$name]);
    $db->exec(\"UPDATE jobs SET status = 'done' WHERE id = 4\");
    $db->exec(\"UPDATE jobs SET status = 'done' \" . $name);
    $db->exec(\"UPDATE mails SET sent = 1 WHERE id = 4\");
}
";

#[test]
fn unknown_calls_are_listed_by_kind_and_name() {
    let found = coverage(&[("a.php", UNKNOWN_CALLS)]);
    assert_eq!(
        gaps(&found, &["write", "lock", "ack"]),
        [
            "write 2 ->saveEntry() a.php:4:14",
            "write 1 ->save() a.php:3:14",
            "lock 1 ->acquire() a.php:5:12",
            "ack 1 ->redeliver() a.php:6:11",
        ]
    );
    assert_eq!(share(&found, "write"), (0, 3));
    assert_eq!(share(&found, "text"), (1, 1));
}

#[test]
fn calls_that_the_program_declares_are_known() {
    let ledger = "<?php class Ledger { public function save($it) { } }\n";
    let caller = "<?php function book(Ledger $ledger) { $ledger->save(1); }\n";
    let found = coverage(&[("a.php", ledger), ("b.php", caller)]);
    assert_eq!(gaps(&found, &["write"]), [""; 0]);
    assert_eq!(share(&found, "write"), (1, 1));
}

#[test]
fn a_library_is_named_by_its_type() {
    let text = "<?php function book(Acme\\Ledger $ledger) { $ledger->save(1); }\n";
    let found = coverage(&[("a.php", text)]);
    assert_eq!(gaps(&found, &["write"]), ["write 1 Acme\\Ledger::save() a.php:1:53"]);
}

#[test]
fn sql_is_listed_when_its_text_or_its_condition_is_not_known() {
    let found = coverage(&[("a.php", UNKNOWN_SQL)]);
    assert_eq!(
        gaps(&found, &["text", "where"]),
        ["text 1 PDO::exec() a.php:3:10", "where 1 jobs a.php:5:16"]
    );
    assert_eq!(share(&found, "text"), (3, 4));
    assert_eq!(share(&found, "where"), (2, 3));
}

#[test]
fn what_a_caller_knows_is_known() {
    let text = "<?php
function run(PDO $db, string $sql) { $db->exec($sql); }
function finish(PDO $db) { run($db, \"UPDATE jobs SET status = 'done' WHERE id = 4\"); }
";
    let found = coverage(&[("a.php", text)]);
    assert_eq!(gaps(&found, &["text", "where"]), [""; 0]);
}

#[test]
fn files_that_do_not_parse_are_listed() {
    let found =
        coverage(&[("a.php", "<?php function f() {}\n"), ("b.php", "<?php function {{{\n")]);
    assert_eq!(share(&found, "file"), (1, 2));
    assert_eq!(found["problems"][0]["path"], "b.php");
}

#[test]
fn tests_and_migrations_do_not_count() {
    let found = coverage(&[("tests/ATest.php", UNKNOWN_CALLS), ("a.php", "<?php f();\n")]);
    assert_eq!(gaps(&found, &["write", "lock", "ack"]), [""; 0]);
}

#[test]
fn people_see_shares_and_first_places() {
    let folder = tree(&[("a.php", UNKNOWN_CALLS)]);
    let output = run(folder.path(), &["coverage"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for line in [
        "Understood\n",
        "  files, read whole                           1 of 1 (100 %)\n",
        "  calls that look like writes                 0 of 3 (0 %)\n",
        "\nLook like writes, and are in no pack\n     2  ->saveEntry()  a.php:4:14\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn check_tells_the_shares_when_asked() {
    let folder = tree(&[("a.php", UNKNOWN_CALLS)]);
    let with = run(folder.path(), &["check", "--stats", "--exit-zero"]);
    let without = run(folder.path(), &["check", "--exit-zero"]);
    let text = |it: Output| String::from_utf8(it.stderr).expect("UTF-8");
    let line = "  calls that look like acks                   0 of 1 (0 %)\n";
    assert!(text(with).contains(line));
    assert!(!text(without).contains("Understood"));
}

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    folder
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    command.args(args).current_dir(folder).stdin(Stdio::null()).output().expect("it starts")
}

fn coverage(files: &[(&str, &str)]) -> Value {
    let folder = tree(files);
    let output = run(folder.path(), &["coverage", "--format", "json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// The gaps of these kinds, one line each.
fn gaps(found: &Value, kinds: &[&str]) -> Vec<String> {
    let all = found["gaps"].as_array().expect("a list").iter();
    let word = |it: &Value, key: &str| it[key].as_str().expect("a word").to_owned();
    all.filter(|it| kinds.contains(&&*word(it, "kind")))
        .map(|it| {
            let (line, column) = (&it["line"], &it["column"]);
            let place = format!("{}:{line}:{column}", word(it, "path"));
            format!("{} {} {} {place}", word(it, "kind"), it["count"], word(it, "name"))
        })
        .collect()
}

fn share(found: &Value, kind: &str) -> (u64, u64) {
    let share = &found["shares"][kind];
    let number = |key: &str| share[key].as_u64().expect("a number");
    (number("known"), number("all"))
}
