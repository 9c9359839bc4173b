//! What does a `rowrace.toml` do: where is it found, what does it change, what is said of mistakes?

use crate::tree::{RACE, Tree};

const A: &str = "a/run.php unguarded-transition error";
const B: &str = "b/run.php unguarded-transition error";

/// The race twice, in two classes.
fn twice() -> Tree {
    Tree::new(&[("a/run.php", RACE), ("b/run.php", &other("Job", "Runner"))])
}

/// The race of another model and class.
fn other(model: &str, runner: &str) -> String {
    let (model, runner) = (format!("{model}B"), format!("{runner}B"));
    RACE.replace("Job", &model).replace("Runner", &runner)
}

#[test]
fn the_nearest_file_holds_for_each_source() {
    let tree = twice();
    assert_eq!(tree.found(&[]), [A, B]);
    tree.write("rowrace.toml", "[levels]\nunguarded-transition = \"note\"\n");
    assert_eq!(tree.found(&[]), [A.replace("error", "note"), B.replace("error", "note")]);
    tree.write("b/rowrace.toml", "min-confidence = \"high\"\n");
    assert_eq!(tree.found(&[]), [A.replace("error", "note"), B.to_owned()], "no cascade");
    tree.write("b/rowrace.toml", "extends = \"../rowrace.toml\"\n");
    assert_eq!(tree.found(&[]), [A.replace("error", "note"), B.replace("error", "note")]);
    // The file of the working directory plays no part.
    let run = tree.run_in("a", &["check", "--format", "concise", "--notes", "../b"]);
    assert!(run.out.contains("../b/run.php:18:9: note[unguarded-transition]"), "{run:?}");
    assert_eq!(tree.found(&["--isolated"]), [A, B]);
    tree.write("ci.toml", "[levels]\nunguarded-transition = \"warning\"\n");
    let named = tree.found(&["--config", "ci.toml"]);
    assert_eq!(named, [A.replace("error", "warning"), B.replace("error", "warning")]);
}

#[test]
fn extended_files_are_laid_under_each_other() {
    let tree = twice();
    tree.write("base/rowrace.toml", "fail-on = \"never\"\n[levels]\nloose-gate = \"off\"\n");
    tree.write("rowrace.toml", "extends = [\"base\"]\nexclude = [\"/a\"]\n");
    let run = tree.run(&["check", "--format", "concise"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 1), "{run:?}");
    for (path, text, message) in [
        ("rowrace.toml", "extends = \"rowrace.toml\"\n", "it extends this file itself"),
        ("rowrace.toml", "extends = \"nowhere.toml\"\n", "cannot extend this: No such file"),
        ("rowrace.toml", "extends = \"a/run.php\"\n", "cannot extend this: not a TOML file"),
        ("base/rowrace.toml", "extends = \"../rowrace.toml\"\n", "base/rowrace.toml:1:11"),
        ("base/rowrace.toml", "fail-no = \"never\"\n", "did you mean `fail-on`?"),
    ] {
        tree.write("rowrace.toml", "extends = \"base/rowrace.toml\"\n");
        tree.write(path, text);
        let run = tree.run(&["check"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(message), "{message}: {}", run.err);
    }
}

#[test]
fn overrides_hold_for_what_their_globs_pick() {
    let tree = twice();
    tree.write(
        "rowrace.toml",
        "[[overrides]]\npaths = [\"/a\", \"*.gen.php\"]\nlevels = { unguarded-transition = \"off\" }\n\
         [[overrides]]\npaths = [\"/a/kept.php\"]\n[overrides.levels]\nunguarded-transition = \"note\"\n",
    );
    tree.write("a/kept.php", &other("Kept", "Keeper"));
    assert_eq!(tree.found(&[]), ["a/kept.php unguarded-transition note", B]);
    tree.write("rowrace.toml", "[[overrides]]\npaths = [\"/b\"]\nfail-on = \"never\"\n");
    assert_eq!(tree.run(&["check", "b"]).code, Some(0));
    assert_eq!(tree.run(&["check", "a"]).code, Some(1));
    // The globs of a file that is extended are relative to where that file stands.
    tree.write("rowrace.toml", "[[overrides]]\npaths = [\"/b/run.php\"]\nmin-confidence = \"high\"\nlevels = { unguarded-transition = \"note\" }\n");
    tree.write("b/rowrace.toml", "extends = \"../rowrace.toml\"\n");
    assert_eq!(tree.found(&["b"]), [B.replace("error", "note")]);
}

#[test]
fn nested_files_exclude_for_themselves() {
    let tree = twice();
    tree.write("rowrace.toml", "exclude = [\"run.php\"]\n");
    tree.write("b/rowrace.toml", "");
    tree.write("b/c/run.php", &other("Third", "Thirdly"));
    assert_eq!(tree.found(&[]), ["b/c/run.php unguarded-transition error", B]);
    tree.write("b/rowrace.toml", "exclude = [\"/c\"]\n");
    tree.write("b/c/rowrace.toml", "");
    assert_eq!(tree.found(&[]), [B], "nobody gets into an excluded folder");
    assert_eq!(tree.found(&["a/run.php"]), [A], "named outright");
}

#[test]
fn columns_and_tables_are_named() {
    let tree = Tree::new(&[("run.php", &RACE.replace("status", "blorp"))]);
    assert_eq!(tree.found(&["--min-confidence", "high"]), [""; 0]);
    for (state, wanted) in [
        ("blorp", &["run.php unguarded-transition error"][..]),
        ("jobs.bl*", &["run.php unguarded-transition error"]),
        ("orders.blorp", &[]),
    ] {
        tree.write("rowrace.toml", &format!("[columns]\nstate = [\"{state}\"]\n"));
        assert_eq!(tree.found(&["--min-confidence", "high"]), wanted, "{state}");
    }
    let tree = twice();
    for (columns, wanted) in [
        ("[columns]\nnever = [\"status\"]", &[][..]),
        ("[columns]\nnever = [\"jobs.status\"]", &[B]),
        ("[tables]\nignore = [\"job_*\"]", &[A]),
        ("[tables]\nonly = [\"jobs\"]", &[A]),
    ] {
        tree.write("rowrace.toml", columns);
        assert_eq!(tree.found(&[]), wanted, "{columns}");
    }
}

#[test]
fn packs_go_off_per_file() {
    let tree = twice();
    tree.write("b/rowrace.toml", "[packs]\noff = [\"eloquent\"]\n");
    let wanted = tree.run(&["check", "--format", "json"]);
    assert!(wanted.err.contains("there is no pack `eloquent`") || wanted.code == Some(1));
    tree.write("b/rowrace.toml", "[packs]\noff = [\"laravel\"]\n");
    assert_eq!(tree.found(&["--min-confidence", "high"]), [A]);
    tree.write("rowrace.toml", "[packs]\noff = [\"laravel\"]\n");
    tree.write("b/rowrace.toml", "extends = \"../rowrace.toml\"\n[packs]\non = [\"laravel\"]\n");
    assert_eq!(tree.found(&["--min-confidence", "high"]), [B]);
    for (text, parts) in [
        ("[packs]\noff = [\"larvel\"]\n", ["b/rowrace.toml:2:8", "laravel"]),
        ("[packs]\non = [\"larvel\"]\n", ["b/rowrace.toml:2:7", "no pack `larvel`"]),
    ] {
        tree.write("b/rowrace.toml", text);
        let run = tree.run(&["check"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(parts.iter().all(|it| run.err.contains(it)), "{run:?}");
    }
}

const OWN_RULE: &str = "\
id = \"job-claim\"
fault = \"unguarded-transition\"
title = \"A job is claimed by hand\"
tables = [\"jobs\", \"job\"]
";

#[test]
fn own_rules_are_read_inside_of_the_tree_only() {
    let tree = twice();
    tree.write("ci/rowrace/job-claim.toml", OWN_RULE);
    tree.write("rowrace.toml", "rules = [\"ci/rowrace\"]\n[levels]\njob-claim = \"warning\"\n");
    assert!(tree.found(&[]).contains(&"a/run.php job-claim warning".to_owned()));
    tree.write("b/rowrace.toml", "");
    tree.write("rowrace.toml", "rules = [\"ci/rowrace\"]\n");
    let found = tree.found(&[]);
    assert!(found.iter().any(|it| it == "a/run.php job-claim error"), "{found:?}");

    let inner = "rules = [\"../ci/rowrace\"]\n";
    tree.write("a/rowrace.toml", inner);
    let run = tree.run(&["check"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("it lies outside of the tree"), "{run:?}");
    assert!(run.err.contains("a/rowrace.toml:1:10") && run.err.contains("--rules"), "{run:?}");
    // A repository is one tree, and a file that is named outright answers for itself.
    let named = tree.found(&["--config", "a/rowrace.toml"]);
    assert!(named.iter().any(|it| it == "a/run.php job-claim error"), "{named:?}");
    tree.write(".git/HEAD", "");
    assert!(tree.found(&[]).iter().any(|it| it == "a/run.php job-claim error"));
}

#[test]
fn a_dialect_decides_what_a_sub_select_is_worth() {
    let code = "<?php\nclass Queue\n{\n    public function __construct(private PDO $db) {}\n\n    public function claimNext(): void\n    {\n        \
        $claim = $this->db->prepare(\"UPDATE jobs SET status = 'running' WHERE id = (SELECT id FROM jobs WHERE status = 'pending' LIMIT 1)\");\n        \
        $claim->execute();\n        if ($claim->rowCount() === 1) {\n            $this->work();\n        }\n    }\n}\n";
    let tree = Tree::new(&[("queue.php", code)]);
    for (dialect, wanted) in [("postgres", 1), ("sqlite", 0), ("mariadb", 0)] {
        tree.write("rowrace.toml", &format!("dialect = \"{dialect}\"\n"));
        assert_eq!(tree.found(&["--min-confidence", "medium"]).len(), wanted, "{dialect}");
    }
}

#[test]
fn mistakes_are_pointed_at_in_every_file() {
    let tree = twice();
    for (text, parts) in [
        ("version = 1\nexlude = []\n", &["b/rowrace.toml:2:1", "did you mean `exclude`?"][..]),
        ("[levels]\nlose-gate = \"off\"\n", &["b/rowrace.toml:2:1", "did you mean `loose-gate`?"]),
        ("[rules]\nloose-gate = \"off\"\n", &["expected a list of folders", "`[levels]`"]),
        ("fail-level = \"error\"\n", &["did you mean `fail-on`?"]),
        ("exclude = [\"a\", \"[z-a]\"]\n", &["not a glob", "b/rowrace.toml:1:17"]),
        ("[[overrides]]\nlevels = {}\n", &["`[[overrides]]` needs `paths`", "b/rowrace.toml:1:1"]),
        ("[[overrides]]\npaths = []\nlevels = { x = \"off\" }\n", &["unknown rule `x`"]),
        ("dialect = \"postgresql\"\n", &["did you mean `postgres`?"]),
        ("[[claim]]\ntable = \"jobs\"\n", &["`[[claim]]` needs `at`"]),
    ] {
        tree.write("b/rowrace.toml", text);
        let run = tree.run(&["check"]);
        assert_eq!((run.code, &*run.out), (Some(2), ""), "{text}: {run:?}");
        for part in parts.iter().chain(&["error: `b/rowrace.toml` is not valid"]) {
            assert!(run.err.contains(part), "{part}: {}", run.err);
        }
    }
}

#[test]
fn show_says_what_holds_and_where_it_is_written() {
    let tree = twice();
    tree.write(
        "rowrace.toml",
        "version = 1\nfail-on = \"error\"\nexclude = [\"*.gen.php\"]\n\n[[overrides]]\npaths = [\"/b/run.php\"]\nlevels = { lost-update = \"note\" }\n",
    );
    tree.write("b/rowrace.toml", "extends = \"../rowrace.toml\"\n[levels]\nloose-gate = \"off\"\n");
    tree.write("b/x.gen.php", "<?php\n");
    let run = tree.run(&["config", "show", "b/run.php"]);
    let wanted = "\
# What holds for b/run.php
# from b/rowrace.toml
# extends ../rowrace.toml  # b/rowrace.toml:1
# [[overrides]] fits  # rowrace.toml:6
exclude = [
    \"*.gen.php\",  # rowrace.toml:3
]
min-confidence = \"low\"  # default
fail-on = \"error\"  # rowrace.toml:2

[levels]
loose-gate = \"off\"  # b/rowrace.toml:3
lost-update = \"note\"  # rowrace.toml:7
";
    assert_eq!((run.code, &*run.out), (Some(0), wanted), "{run:?}");
    let run = tree.run(&["config", "show", "b/x.gen.php"]);
    assert!(run.out.contains("left out by `exclude` of b/rowrace.toml"), "{run:?}");
    assert_eq!(tree.run(&["config", "show", "nowhere.php"]).code, Some(2));
    let tree = twice();
    let run = tree.run(&["config", "show", "a"]);
    assert!(run.out.contains("everything is as built in"), "{run:?}");
}

#[test]
fn a_first_file_speaks_of_what_the_tree_uses_and_is_valid() {
    let tree = twice();
    tree.write(
        "composer.json",
        r#"{"require": {"php": "^8.2", "laravel/framework": "^12", "ext-pdo_mysql": "*"}}"#,
    );
    tree.write(
        "tools/Cargo.toml",
        "[dependencies]\nsqlx = { version = \"0.8\", features = [\"mysql\"] }\n",
    );
    let run = tree.run(&["init"]);
    assert_eq!((run.code, &*run.err), (Some(0), "Wrote `rowrace.toml`\n"));
    let written = tree.read("rowrace.toml");
    for part in [
        "\ndialect = \"mysql\"\n",
        "# laravel: laravel/framework in composer.json\n",
        "# sqlx: sqlx in tools/Cargo.toml\n",
    ] {
        assert!(written.contains(part), "{part}: {written}");
    }
    assert_eq!(tree.found(&[]), [A, B]);
    let run = tree.run(&["init"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("already there"), "{run:?}");
    assert_eq!(tree.read("rowrace.toml"), written);
    assert_eq!(tree.run(&["init", "b"]).err, "Wrote `b/rowrace.toml`\n");
}

#[test]
fn the_published_schema_is_fresh() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rowrace.schema.json");
    let printed = twice().run(&["config", "schema"]).out;
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &printed).expect("written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == printed, "`rowrace config schema > docs/rowrace.schema.json`");
}

#[test]
fn the_pages_show_what_is_read() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut shown = 0;
    for page in ["docs/config.md", "README.md"] {
        let text = std::fs::read_to_string(root.join(page)).expect("a page");
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().expect("an end");
            let parsed = rowrace::config::Config::parse(block);
            assert!(parsed.is_ok(), "{page}: {parsed:?}\n{block}");
            shown += 1;
        }
    }
    assert!(shown >= 4, "{shown}");
}
