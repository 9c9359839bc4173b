//! What does the binary do for its user: exit codes, messages, what is read and what is shown?
//!
//! Most files here carry an expect comment without a reason: a warning that needs no rule to fire.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Fires `expect-without-reason` at column 9 of its second line.
const FIRES: &str = "<?php\n$x = 1; // rowrace: expect[some-rule]\n";
const CLEAN: &str = "<?php\n$x = 1;\n";

/// A folder to run in.
struct Tree {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { folder: TempDir::new().expect("a folder") };
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, bytes).expect("written");
    }

    fn run(&self, args: &[&str]) -> Run {
        run_in(self.folder.path(), args)
    }

    /// Paths of the findings, in order, as the JSON report has them.
    fn found(&self, args: &[&str]) -> Vec<String> {
        let report = self.json(args);
        let findings = report["findings"].as_array().expect("a list").iter();
        findings.map(|it| it["path"].as_str().expect("a path").to_owned()).collect()
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        let run = self.run(&[&["check", "--format", "json"], args].concat());
        assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
        serde_json::from_str(&run.out).expect("JSON")
    }
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    command.args(args).current_dir(folder).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let output = command(folder, args).output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn exit_codes_tell_clean_findings_and_failure_apart() {
    let tree = Tree::new(&[("clean/a.php", CLEAN), ("fires/a.php", FIRES), ("docs/a.txt", "")]);
    for (args, code, message) in [
        (&["check", "clean"][..], 0, "No findings in 1 file\n"),
        (&["check"], 1, "Found 1 finding (1 warning) in 2 files\n"),
        (&["check", "fires/a.php"], 1, "Found 1 finding (1 warning) in 1 file\n"),
        (&["check", "--exit-zero"], 0, "Found 1 finding"),
        (&["check", "nowhere"], 2, "error: cannot read `nowhere`: No such file"),
        (&["check", "clean", "nowhere"], 2, "cannot read `nowhere`"),
        (&["check", "docs"], 2, "error: nothing to analyse: no PHP, Rust or SQL file in `docs`"),
        (&["check", "docs/a.txt"], 2, "nothing to analyse"),
        (&["check", "--rules", "nowhere"], 2, "cannot read `nowhere`"),
        (&["check", "--rules", "clean/a.php"], 2, "cannot read `clean/a.php`: Not a directory"),
        (&["check", "--rules", "clean"], 2, "no `.toml` file in `clean`"),
        (&["check", "--config", "nowhere.toml"], 2, "nowhere.toml"),
        (&["check", "--frobnicate"], 2, "unexpected argument '--frobnicate'"),
        (&["check", "--format", "xml"], 2, "invalid value 'xml'"),
        (&["explain", "unused-expekt"], 2, "did you mean `unused-expect`?"),
        (&["explain", "zzz"], 2, "`rowrace rules` lists all rules"),
        (&["dump", "lower"], 2, "required"),
        (&[], 2, "Usage: rowrace"),
    ] {
        let run = tree.run(args);
        assert_eq!(run.code, Some(code), "{args:?}: {run:?}");
        assert!(run.err.contains(message), "{args:?}: {run:?}");
    }
}

#[test]
fn help_version_rules_and_explain_go_to_standard_output() {
    let tree = Tree::new(&[]);
    let version = concat!("rowrace ", env!("CARGO_PKG_VERSION"), "\n");
    for (args, part) in [
        (&["--version"][..], version),
        (&["--help"], "Exit codes:"),
        (&["check", "--help"], "--min-confidence"),
        (&["rules"], "expect-without-reason"),
        (&["explain", "unused-expect"], "unused-expect: an expect comment matches no finding\n"),
    ] {
        let run = tree.run(args);
        assert_eq!((run.code, &*run.err), (Some(0), ""), "{args:?}");
        assert!(run.out.contains(part), "{args:?}: {}", run.out);
    }
}

#[test]
fn json_has_exactly_the_fields_of_version_1() {
    let tree = Tree::new(&[("src/a.php", FIRES)]);
    let report = tree.json(&[]);
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<_> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(keys(&report), "findings problems stats version");
    assert_eq!(report["version"], 1);
    let finding = &report["findings"][0];
    assert_eq!(
        keys(finding),
        "column confidence end_column end_line fingerprint help line message path rule schedule severity steps why"
    );
    let place = ["line", "column", "end_line", "end_column"].map(|it| finding[it].as_u64());
    assert_eq!(place, [Some(2), Some(12), Some(2), Some(38)]);
    assert_eq!(finding["path"], "src/a.php");
    assert_eq!(finding["rule"], "expect-without-reason");
    assert_eq!(finding["severity"], "warning");
    assert_eq!(finding["confidence"], "high");
    let fingerprint = finding["fingerprint"].as_str().expect("a string");
    assert!(fingerprint.len() == 16 && fingerprint.bytes().all(|it| it.is_ascii_hexdigit()));
    assert_eq!(report["stats"]["files"], 1);
}

#[test]
fn output_is_findings_and_the_rest_goes_to_standard_error() {
    let tree = Tree::new(&[("a.php", FIRES)]);
    let concise = tree.run(&["check", "--format", "concise"]);
    let line = "a.php:2:12: warning[expect-without-reason] an expect comment needs a reason\n";
    assert_eq!(concise.out, line);
    let text = tree.run(&["check"]);
    assert!(text.out.starts_with("warning[expect-without-reason]: an expect comment"), "{text:?}");
    assert!(text.out.contains("┌─ a.php:2:12\n"), "{text:?}");
    let json = tree.run(&["check", "--format", "json"]);
    assert_eq!(json.err, "");
    let quiet = tree.run(&["check", "--quiet", "--format", "concise"]);
    assert_eq!((&*quiet.out, &*quiet.err, quiet.code), (line, "", Some(1)));
}

#[test]
fn notes_are_shown_when_asked_for_and_always_in_json() {
    let tree = Tree::new(&[
        ("a.php", "<?php // rowrace: expect[some-rule] there is a reason\n"),
        ("rowrace.toml", "[levels]\nunused-expect = \"note\"\n"),
    ]);
    let run = tree.run(&["check"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""));
    assert_eq!(run.err, "No findings in 1 file; 1 note hidden, show with --notes\n");
    for args in [&["check", "--notes"][..], &["check", "--min-confidence", "low"]] {
        let run = tree.run(args);
        assert_eq!(run.code, Some(0));
        assert!(run.out.contains("note[unused-expect]"), "{run:?}");
    }
    assert_eq!(tree.found(&[]), ["a.php"]);
}

#[test]
fn colour_is_for_terminals_or_on_demand() {
    let tree = Tree::new(&[("a.php", FIRES)]);
    assert!(!tree.run(&["check"]).out.contains('\u{1b}'));
    assert!(tree.run(&["check", "--color", "always"]).out.contains('\u{1b}'));
    assert!(!tree.run(&["check", "--color", "never"]).out.contains('\u{1b}'));
    let mut command = command(tree.folder.path(), &["--color=always", "check"]);
    let output = command.env("NO_COLOR", "1").output().expect("the binary starts");
    assert!(output.stdout.contains(&0x1b), "what is asked for outright wins");
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let many = FIRES.replace("<?php", "<?php\n").repeat(2000);
    let tree = Tree::new(&[("a.php", &many)]);
    let mut command = command(tree.folder.path(), &["check"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(!err.contains("panicked") && !err.to_lowercase().contains("pipe"), "{err}");
}

#[test]
fn ignored_hidden_and_vendor_folders_are_left_out_unless_named() {
    let tree = Tree::new(&[
        (".gitignore", "generated/\n*.gen.php\n"),
        ("src/a.php", FIRES),
        ("src/b.gen.php", FIRES),
        ("generated/a.php", FIRES),
        (".hidden/a.php", FIRES),
        ("vendor/x/a.php", FIRES),
        ("node_modules/x/a.php", FIRES),
        ("Cargo.toml", ""),
        ("target/a.rs", "fn f() {} // rowrace: expect[x]"),
        ("app/target/a.php", FIRES),
    ]);
    assert_eq!(tree.found(&[]), ["app/target/a.php", "src/a.php"]);
    assert_eq!(tree.found(&["vendor"]), ["vendor/x/a.php"]);
    assert_eq!(tree.found(&["generated"]), ["generated/a.php"]);
    assert_eq!(tree.found(&[".hidden/a.php"]), [".hidden/a.php"]);
}

#[test]
fn tests_and_migrations_are_read_but_not_reported_in() {
    let tree = Tree::new(&[
        ("src/a.php", FIRES),
        ("src/JobTest.php", FIRES),
        ("tests/a.php", FIRES),
        ("database/migrations/a.php", FIRES),
    ]);
    assert_eq!(tree.found(&[]), ["src/a.php"]);
    assert_eq!(tree.json(&[])["stats"]["files"], 4);
    assert_eq!(tree.found(&["tests"]), ["tests/a.php"], "named outright");
    assert_eq!(tree.found(&[".", "tests"]), ["src/a.php", "tests/a.php"]);
}

#[test]
fn files_are_known_by_name_or_first_line() {
    let sql = "-- rowrace: expect[x]\n";
    let tree = Tree::new(&[
        ("a.PHP", FIRES),
        ("b.phtml", FIRES),
        ("c.inc", FIRES),
        ("d.inc", "# rowrace: expect[x]\n"),
        ("e.module", FIRES),
        ("f.sql", sql),
        ("g.rs", "// rowrace: expect[x]\n"),
        ("h", "#!/usr/bin/env php\n<?php // rowrace: expect[x]\n"),
        ("i", "#!/bin/sh\n# rowrace: expect[x]\n"),
        ("j.txt", FIRES),
    ]);
    let wanted = ["a.PHP", "b.phtml", "c.inc", "e.module", "f.sql", "g.rs", "h"];
    assert_eq!(tree.found(&[]), wanted);
    assert_eq!(tree.found(&["j.txt"]), ["j.txt"], "named outright, and PHP by its first line");
}

#[test]
fn a_file_reached_twice_is_read_once_and_order_does_not_matter() {
    let tree = Tree::new(&[("src/a.php", FIRES), ("src/lib/b.php", FIRES), ("x.php", FIRES)]);
    let wanted = ["src/a.php", "src/lib/b.php", "x.php"];
    let absolute = tree.path("src");
    let absolute = absolute.to_str().expect("UTF-8");
    for paths in [&["."][..], &["src/lib", "./src", "x.php"], &["x.php", "src/lib/..", absolute]] {
        assert_eq!(tree.found(paths), wanted, "{paths:?}");
    }
    let run = run_in(&tree.path("src/lib"), &["check", "--format", "concise", "../../x.php"]);
    assert!(run.out.starts_with("../../x.php:2:12:"), "{run:?}");
}

#[test]
fn every_encoding_gives_the_right_place() {
    let utf16: Vec<u8> = "\u{FEFF}<?php\n$ü = 1; # rowrace: expect[x]"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, bytes) in [
        ("bom", &b"\xEF\xBB\xBF<?php\n$x = 1; # rowrace: expect[x]"[..]),
        ("crlf", b"<?php\r\n$x = 1; # rowrace: expect[x]\r\n"),
        ("nul", b"<?php\n$\0 = 1; # rowrace: expect[x]"),
        ("latin1", b"<?php\n$\xFC = 1; # rowrace: expect[x]"),
        ("utf16", &utf16),
    ] {
        let tree = Tree::new(&[]);
        tree.write("a.php", bytes);
        let finding = &tree.json(&[])["findings"][0];
        let place = ["line", "column", "end_line", "end_column"].map(|it| finding[it].as_u64());
        assert_eq!(place, [Some(2), Some(11), Some(2), Some(29)], "{name}");
        assert_eq!(tree.run(&["check"]).code, Some(1), "{name}");
    }
}

#[test]
fn a_file_above_the_limit_is_a_problem() {
    let tree = Tree::new(&[("a.php", CLEAN), ("big.php", CLEAN)]);
    let big = fs::OpenOptions::new().write(true).open(tree.path("big.php")).expect("opened");
    big.set_len(10_000_001).expect("grown");
    let problems = &tree.json(&[])["problems"];
    assert_eq!(problems.as_array().map(Vec::len), Some(1));
    assert_eq!(problems[0]["kind"], "limit");
    assert_eq!(problems[0]["path"], "big.php");
    assert_eq!(problems[0]["line"], serde_json::Value::Null);
    let run = tree.run(&["check"]);
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("big.php: limit: larger than 10 MB"), "{run:?}");
    assert!(run.err.contains("No findings in 1 file; 1 problem"), "{run:?}");
}

#[test]
fn a_config_file_is_found_upwards_and_holds_for_its_folder() {
    let tree = Tree::new(&[
        ("rowrace.toml", "version = 1\nexclude = [\"/app/legacy\"]\n"),
        ("app/src/a.php", FIRES),
        ("app/legacy/a.php", FIRES),
    ]);
    assert_eq!(tree.found(&[]), ["app/src/a.php"]);
    let run = run_in(&tree.path("app"), &["check", "--format", "concise"]);
    assert!(run.out.starts_with("src/a.php:2:12:") && run.out.lines().count() == 1, "{run:?}");
    tree.write("rowrace.toml", b"[levels]\nexpect-without-reason = \"off\"\n");
    assert_eq!(tree.run(&["check"]).code, Some(0));
    tree.write("rowrace.toml", b"[levels]\nexpect-without-reason = { high = \"error\" }\n");
    assert!(tree.run(&["check"]).out.starts_with("error[expect-without-reason]"));
    tree.write("rowrace.toml", b"fail-on = \"error\"\n");
    assert_eq!(tree.run(&["check"]).code, Some(0));
}

#[test]
fn a_wrong_key_is_pointed_at() {
    let tree = Tree::new(&[("a.php", CLEAN)]);
    for (text, parts) in [
        (
            "version = 1\nexlude = []\n",
            &["unknown key `exlude`", "rowrace.toml:2:1", "did you mean `exclude`?"][..],
        ),
        (
            "[levels]\nunused-expct = \"off\"\n",
            &["unknown rule `unused-expct`", "`unused-expect`?"],
        ),
        ("exclude = [\"a\", \"[z-a]\"]\n", &["not a glob", "rowrace.toml:1:17"]),
        ("version = 2\n", &["version 2 is not known"]),
        ("version = \n", &["rowrace.toml:1:"]),
    ] {
        tree.write("rowrace.toml", text.as_bytes());
        let run = tree.run(&["check"]);
        assert_eq!((run.code, &*run.out), (Some(2), ""), "{text}: {run:?}");
        for part in parts.iter().chain(&["error: `rowrace.toml` is not valid"]) {
            assert!(run.err.contains(part), "{part}: {}", run.err);
        }
    }
}

#[test]
fn stages_can_be_printed() {
    let tree = Tree::new(&[("a.php", CLEAN)]);
    for stage in ["lower", "bind", "program", "summaries"] {
        let run = tree.run(&["dump", stage, "a.php"]);
        assert_eq!((run.code, &*run.err), (Some(0), ""), "{stage}");
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn loops_and_dangling_links_are_survived() {
        let tree = Tree::new(&[("src/a.php", FIRES)]);
        symlink("..", tree.path("src/up")).expect("a link");
        symlink("self.php", tree.path("src/self.php")).expect("a link");
        symlink("nowhere", tree.path("src/dangling.php")).expect("a link");
        let report = tree.json(&[]);
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(1));
        let problems = report["problems"].as_array().expect("a list");
        let paths: Vec<_> = problems.iter().map(|it| it["path"].as_str()).collect();
        assert_eq!(paths, [Some("src/dangling.php"), Some("src/self.php")]);
        assert_eq!(problems[0]["kind"], "unreadable");
    }

    #[test]
    fn linked_files_are_read_once_and_linked_folders_not_at_all() {
        let tree = Tree::new(&[("src/a.php", FIRES), ("other/b.php", FIRES)]);
        symlink("a.php", tree.path("src/z.php")).expect("a link");
        symlink("../other/b.php", tree.path("src/b.php")).expect("a link");
        symlink("../other", tree.path("src/other")).expect("a link");
        assert_eq!(tree.found(&[]), ["other/b.php", "src/a.php"]);
        assert_eq!(tree.found(&["src"]), ["src/a.php", "src/b.php"]);
    }

    #[test]
    fn what_is_no_regular_file_is_never_opened() {
        let tree = Tree::new(&[("a.php", CLEAN)]);
        let made = Command::new("mkfifo").arg(tree.path("x.php")).status().expect("mkfifo");
        assert!(made.success());
        symlink("/dev/zero", tree.path("zero.php")).expect("a link");
        fs::create_dir(tree.path("folder.php")).expect("a folder");
        let run = tree.run(&["check"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.err.contains("x.php: unreadable: not a regular file"), "{run:?}");
        assert!(run.err.contains("zero.php: unreadable: not a regular file"), "{run:?}");
        assert_eq!(tree.run(&["check", "x.php"]).code, Some(2), "nothing else to analyse");
    }

    #[test]
    fn nothing_in_the_tree_speaks_to_the_terminal() {
        let tree = Tree::new(&[]);
        let escape = "\u{1b}]0;owned\u{7}";
        let text = format!("<?php\n$x = '{escape}'; # rowrace: expect[x]\r\u{9b}\n");
        tree.write(&format!("a{escape}.php"), text.as_bytes());
        symlink("nowhere", tree.path(&format!("b{escape}.php"))).expect("a link");
        for args in [&["check"][..], &["check", "--format", "concise"]] {
            let run = tree.run(args);
            for text in [&run.out, &run.err] {
                let active = |it: char| it.is_control() && it != '\n';
                assert!(!text.contains(active), "{args:?}: {text:?}");
            }
            assert!(run.out.contains("a␛]0;owned␇.php:2:"), "{}", run.out);
        }
    }
}
