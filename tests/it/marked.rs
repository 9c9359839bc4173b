//! Does `rowrace test` say what is missing and what is noisy?

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const FIRES: &str = "<?php\n$x = 1; // rowrace: expect[some-rule]\n";

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn tree(files: &[(&str, &str)]) -> TempDir {
    let tree = TempDir::new().expect("a folder");
    for (path, text) in files {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    tree
}

fn run(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    let output = command.arg("test").args(args).current_dir(folder).output().expect("starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// [`FIRES`] with this marker at its end.
fn marked(marker: &str) -> String {
    format!("{FIRES}//~^ {marker}\n")
}

#[test]
fn what_is_marked_and_fires_is_right() {
    let right = marked("expect-without-reason");
    let tree = tree(&[("t/a.php", &right), ("t/clean.php", "<?php\n"), ("t/README", "no program")]);
    let run = run(tree.path(), &["t"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""), "{}", run.err);
    assert_eq!(run.err, "All markers hold: 1 marked file in 2 programs\n");
}

#[test]
fn missing_and_noisy_are_told_with_their_place() {
    let missing = "<?php\n$x = 1; //~ unguarded-update\n";
    let tree = tree(&[
        ("t/a.php", missing),
        ("t/b.php", FIRES),
        ("t/c.php", &marked("MISSING expect-without-reason")),
        ("t/d.php", "<?php\n$x = 1; //~ SPURIOUS stale-check\n"),
        ("t/e.php", "<?php\n$x = 1; //~ stale-chek\n"),
        ("t/f.sql", "--~ unguarded-update\nSELECT 1;\n"),
        ("t/g.php", "<?php\nf(); //~ role:save\n"),
    ]);
    let run = run(tree.path(), &["t"]);
    let wanted = "\
t/a.php:2: missing unguarded-update
t/b.php:2: noisy expect-without-reason
t/c.php:2: fires, drop the word MISSING: expect-without-reason
t/d.php:2: no longer fires, drop the marker: SPURIOUS stale-check
t/e.php:2: missing stale-chek (no such rule, did you mean `stale-check`?)
t/f.sql:1: missing unguarded-update
t/g.php:2: missing role:save, found no role
";
    assert_eq!((run.code, &*run.out), (Some(1), wanted));
    assert_eq!(run.err, "4 missing, 1 noisy, 2 other: 6 marked files in 7 programs\n");
}

#[test]
fn a_folder_is_one_program_and_a_file_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/story/before");
    let text = |name: &str| fs::read_to_string(root.join(name)).expect("a fixture");
    let tree = tree(&[
        ("t/story/Execution.php", &text("Execution.php")),
        ("t/story/ExecutionRepository.php", &text("ExecutionRepository.php")),
        ("t/story/worker/ExecutionWorker.php", &text("ExecutionWorker.php")),
    ]);
    let run = run(tree.path(), &["t"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""), "{}", run.err);
    assert_eq!(run.err, "All markers hold: 1 marked file in 1 program\n");
}

#[test]
fn packs_of_the_user_are_tested() {
    let pack = "[pack]\nid = \"own\"\nlang = \"php\"\n\n[[call]]\non = [\"JobStore\"]\nname = \"zap\"\n\
                role = \"save\"\nrow = \"arg0\"\ngives = \"bool\"\n";
    let program =
        "<?php\nfunction f(JobStore $jobs, Job $job) {\n    $jobs->zap($job); //~ role:save\n}\n";
    let tree = tree(&[("own/own.toml", pack), ("t/a.php", program)]);
    let without = run(tree.path(), &["t"]);
    assert_eq!(without.code, Some(1), "{}", without.err);
    assert!(without.out.starts_with("t/a.php:3: missing role:save, found"), "{}", without.out);
    let with = run(tree.path(), &["t", "--rules", "own"]);
    assert_eq!((with.code, &*with.out), (Some(0), ""), "{}", with.err);
}

#[test]
fn the_configuration_holds_in_tests() {
    let tree = tree(&[
        ("rowrace.toml", "[levels]\nexpect-without-reason = \"off\"\n"),
        ("t/a.php", &marked("expect-without-reason")),
    ]);
    let run = run(tree.path(), &["t"]);
    let wanted = "t/a.php:2: missing expect-without-reason\n";
    assert_eq!((run.code, &*run.out), (Some(1), wanted));
}

#[test]
fn nothing_marked_is_a_failure() {
    let tree = tree(&[("t/a.php", "<?php\n"), ("u/README", "")]);
    for (args, message) in [
        (&["t"][..], "error: nothing to test: no file with a marker such as `//~ rule-id` in `t`"),
        (&["u"], "nothing to test"),
        (&["nowhere"], "cannot read `nowhere`"),
        (&["t/a.php"], "cannot read `t/a.php`: Not a directory"),
        (&[], "required"),
    ] {
        let run = run(tree.path(), args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.out);
        assert!(run.err.contains(message), "{args:?}: {}", run.err);
    }
}
