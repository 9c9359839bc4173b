//! What does a baseline know, through moves, merges and repairs?

use crate::tree::{RACE, Tree};
use std::process::Command;

const NAME: &str = "rowrace-baseline.txt";

fn lines(tree: &Tree, path: &str) -> Vec<String> {
    tree.read(path).lines().filter(|it| !it.starts_with('#')).map(str::to_owned).collect()
}

/// The race of another model and class.
fn other(name: &str) -> String {
    RACE.replace("Job", &format!("Job{name}")).replace("Runner", &format!("Runner{name}"))
}

#[test]
fn what_is_written_is_known_and_what_is_new_is_not() {
    let tree = Tree::new(&[("a.php", RACE)]);
    let run = tree.run(&["baseline", "write"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("Wrote 1 entry to `rowrace-baseline.txt`"), "{run:?}");
    let written = lines(&tree, NAME);
    assert_eq!(written.len(), 1);
    assert!(written[0].ends_with(" unguarded-transition Job.status Runner::start"), "{written:?}");
    let run = tree.run(&["check"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("No findings in 1 file; 1 known by the baseline"), "{run:?}");
    tree.write("b.php", &other("B"));
    assert_eq!(tree.found(&[]), ["b.php unguarded-transition error"]);
    assert_eq!(tree.found(&["--ignore-baseline"]).len(), 2);
    assert_eq!(tree.found(&["--isolated"]).len(), 2);
}

#[test]
fn moved_renamed_and_reformatted_code_is_still_known() {
    let tree = Tree::new(&[("a.php", RACE)]);
    tree.run(&["baseline", "write"]);
    let before = tree.read(NAME);
    let moved = RACE
        .replace("class Runner\n{\n", "class Runner\n{\n    public function first(): void {}\n\n")
        .replace("$job->save();", "// now\n        $job\n            ->save( );")
        .replace("!== 'pending'", "!== /* yet */ \"pending\"");
    std::fs::remove_file(tree.path("a.php")).expect("removed");
    tree.write("src/Deep/Runner.php", &moved);
    assert_eq!(tree.found(&[]), [""; 0]);
    tree.run(&["baseline", "write"]);
    assert_eq!(tree.read(NAME), before);
    // Another check or another function is another finding.
    tree.write("src/Deep/Runner.php", &RACE.replace("!== 'pending'", "=== 'done'"));
    assert_eq!(tree.found(&[]).iter().filter(|it| it.contains("transition")).count(), 1);
    tree.write("src/Deep/Runner.php", &RACE.replace("function start", "function begin"));
    assert_eq!(tree.found(&[]).iter().filter(|it| it.contains("transition")).count(), 1);
}

#[test]
fn a_script_is_known_by_the_name_of_its_file() {
    let script = RACE.split("class Runner").next().expect("a head").to_owned()
        + "$job = Job::findOrFail($id);\nif ($job->status === 'pending') {\n    $job->status = 'running';\n    $job->save();\n    work($job);\n}\n";
    let tree = Tree::new(&[("a/run.php", &script)]);
    tree.run(&["baseline", "write"]);
    tree.write("b/run.php", &script);
    std::fs::remove_dir_all(tree.path("a")).expect("removed");
    assert_eq!(tree.found(&[]), [""; 0]);
    tree.write("b/other.php", &script);
    std::fs::remove_file(tree.path("b/run.php")).expect("removed");
    assert_eq!(tree.found(&[])[0], "b/other.php unguarded-transition error");
}

#[test]
fn dead_entries_are_reported_and_pruned() {
    let tree = Tree::new(&[("a.php", RACE), ("b.php", &other("B"))]);
    tree.run(&["baseline", "write"]);
    assert_eq!(lines(&tree, NAME).len(), 2);
    tree.write("b.php", "<?php\n");
    let run = tree.run(&["check"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.err.contains("1 known by the baseline; 1 dead entry, `rowrace baseline prune`"),
        "{run:?}"
    );
    let found = tree.found(&[]);
    assert_eq!(found, ["rowrace-baseline.txt dead-baseline-entry note"]);
    // A run that does not see everything says nothing of what it does not see.
    assert_eq!(tree.found(&["a.php"]), [""; 0]);
    let run = tree.run(&["baseline", "prune", "a.php"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    tree.write("rowrace.toml", "[levels]\ndead-baseline-entry = \"error\"\n");
    assert_eq!(tree.run(&["check"]).code, Some(1));
    tree.write("c.php", &other("C"));
    let run = tree.run(&["baseline", "prune"]);
    assert!(run.err.contains("Removed 1 entry"), "{run:?}");
    assert_eq!(lines(&tree, NAME).len(), 1, "nothing is added");
    assert_eq!(tree.found(&[]), ["c.php unguarded-transition error"]);
}

#[test]
fn fixing_removes_dead_lines_too() {
    let tree = Tree::new(&[("a.php", RACE)]);
    tree.run(&["baseline", "write"]);
    tree.write("a.php", "<?php\n");
    let run = tree.run(&["check", "--fix"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(lines(&tree, NAME), [""; 0]);
}

#[test]
fn a_part_of_the_tree_keeps_what_is_known_of_the_rest() {
    let tree = Tree::new(&[("a.php", RACE), ("b.php", &other("B"))]);
    tree.run(&["baseline", "write", "a.php"]);
    tree.run(&["baseline", "write", "b.php"]);
    assert_eq!(lines(&tree, NAME).len(), 2);
    tree.write("b.php", "<?php\n");
    tree.run(&["baseline", "write"]);
    assert_eq!(lines(&tree, NAME).len(), 1);
}

#[test]
fn each_package_has_its_own() {
    let tree = Tree::new(&[("a/a.php", RACE), ("b/b.php", &other("B"))]);
    tree.write("rowrace.toml", "");
    tree.write("a/rowrace.toml", "baseline = \"ci/known.txt\"\n");
    tree.write("a/ci/.keep", "");
    tree.run(&["baseline", "write"]);
    assert_eq!((lines(&tree, "a/ci/known.txt").len(), lines(&tree, NAME).len()), (1, 1));
    assert_eq!(tree.found(&[]), [""; 0]);
    let run = tree.run_in("a", &["check"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = tree.run(&["check", "--baseline", "rowrace-baseline.txt", "a"]);
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn entries_are_shown_with_their_places() {
    let tree = Tree::new(&[("a.php", RACE), ("b.php", &other("B"))]);
    tree.run(&["baseline", "write"]);
    tree.write("b.php", "<?php\n");
    let run = tree.run(&["baseline", "show"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("\na.php:18: "), "{run:?}");
    assert!(run.out.contains("\nno finding: "), "{run:?}");
}

#[test]
fn equal_findings_have_a_line_each() {
    let second = RACE.replace("        $this->work($job);\n", "        $this->work($job);\n        $job = Job::findOrFail($id);\n        if ($job->status !== 'pending') {\n            return;\n        }\n        $job->status = 'running';\n        $job->save();\n        $this->work($job);\n");
    let tree = Tree::new(&[("a.php", &second)]);
    tree.run(&["baseline", "write"]);
    assert_eq!(lines(&tree, NAME).len(), 2);
    tree.write("a.php", RACE);
    assert_eq!(tree.found(&[]), ["rowrace-baseline.txt dead-baseline-entry note"]);
}

#[test]
fn two_branches_merge() {
    let tree =
        Tree::new(&[("a.php", RACE), (".gitattributes", "rowrace-baseline.txt merge=union\n")]);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(tree.path("")).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        let output = command.args(args).output().expect("git");
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    tree.run(&["baseline", "write"]);
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "a"]);
    for name in ["B", "C"] {
        git(&["checkout", "-q", "-b", name, "main"]);
        tree.write(&format!("{name}.php"), &other(name));
        tree.run(&["baseline", "write"]);
        assert_eq!(lines(&tree, NAME).len(), 2);
        git(&["add", "."]);
        git(&["commit", "-qm", name]);
    }
    git(&["merge", "-q", "-m", "both", "B"]);
    assert_eq!(lines(&tree, NAME).len(), 3);
    assert_eq!(tree.found(&[]), [""; 0]);

    tree.write(NAME, "<<<<<<< ours\n=======\n>>>>>>> theirs\n");
    let run = tree.run(&["check"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("rowrace-baseline.txt:1:1"), "{run:?}");
}

#[test]
fn a_finding_with_several_witnesses_survives_the_move_of_one() {
    let model = "<?php\nuse Illuminate\\Database\\Eloquent\\Model;\nclass Job extends Model {}\nclass Jobs\n{\n    public function start(Job $job): void\n    {\n        $job->status = 'running';\n        $job->save();\n    }\n}\n";
    let caller = |name: &str, check: &str| {
        format!(
            "<?php\nclass {name}\n{{\n    public function run(Jobs $jobs, int $id): void\n    {{\n        $job = Job::findOrFail($id);\n        \
             if ({check}) {{\n            $jobs->start($job);\n            mail('a', 'b', 'c');\n        }}\n    }}\n}}\n"
        )
    };
    let (one, two) =
        (caller("One", "$job->status === 'pending'"), caller("Two", "$job->status === 'new'"));
    let tree = Tree::new(&[("a.php", &one), ("b.php", &two), ("jobs.php", model)]);
    tree.run(&["baseline", "write"]);
    assert!(tree.found(&["--ignore-baseline"]).iter().any(|it| it.starts_with("jobs.php")));
    std::fs::rename(tree.path("a.php"), tree.path("z.php")).expect("moved");
    assert_eq!(tree.found(&[]), [""; 0]);
}
