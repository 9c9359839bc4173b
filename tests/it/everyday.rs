//! What does the binary do beside finding: where reports go, what is read, colour, and what shells and
//! readers are told?

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Fires `expect-without-reason`, a warning.
const FIRES: &str = "<?php\n$x = 1; // rowrace: expect[some-rule]\n";
const REPOSITORY: &str = "<?php
final class Jobs {
    public function __construct(private PDO $db) {}
    public function find(int $id): ?Job {
        $read = $this->db->prepare('SELECT id, status FROM jobs WHERE id = ?');
        $read->execute([$id]);
        return $read->fetchObject(Job::class) ?: null;
    }
    public function update(Job $job): void {
        $this->db->prepare('UPDATE jobs SET status = ? WHERE id = ?')
            ->execute([$job->status, $job->id]);
    }
}
final class Job { public int $id; public string $status; }
";
const WORKER: &str = "<?php
final class Worker {
    public function __construct(private Jobs $jobs, private Mailer $mailer) {}
    public function handle(int $id): void {
        $job = $this->jobs->find($id);
        if ($job->status !== 'pending') { return; }
        $job->status = 'running';
        $this->jobs->update($job);
        $this->mailer->send($job);
    }
}
";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    folder
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GITHUB_STEP_SUMMARY"] {
        command.env_remove(name);
    }
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn run(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the binary starts")
}

fn run_with_input(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut command = command(folder, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    child.wait_with_output().expect("it ends")
}

#[test]
fn reports_go_to_files_beside_the_terminal() {
    let folder = tree(&[("a.php", FIRES)]);
    let outputs = [
        "json=out/a.json",
        "jsonl=out/a.jsonl",
        "sarif=out/a.sarif",
        "gitlab=out/a.gitlab",
        "checkstyle=out/a.checkstyle",
        "junit=out/a.junit",
        "concise=out/a.txt",
        "github=out/a.github",
        "lsp=out/a.lsp",
        "full=out/a.full",
    ];
    let args: Vec<&str> =
        ["check"].into_iter().chain(outputs.iter().flat_map(|it| ["--output", it])).collect();
    let output = run(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("warning[expect-without-reason]"));
    for target in outputs {
        let path = target.split_once('=').expect("a path").1;
        let written = fs::read_to_string(folder.path().join(path)).expect("a report");
        assert!(written.contains("expect-without-reason"), "{target}: {written}");
        assert!(!written.contains('\u{1b}'), "{target}");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let folder = tree(&[("a.php", FIRES)]);
    for (target, message) in [
        ("sarif=a.php/x", "cannot write `a.php/x`"),
        ("sarif", "write it as FORMAT=FILE"),
        ("sarif=", "the file has no name"),
        ("xml=x", "invalid"),
    ] {
        let output = run(folder.path(), &["check", "--output", target]);
        assert_eq!(output.status.code(), Some(2), "{target}");
        assert!(text(&output.stderr).contains(message), "{target}: {}", text(&output.stderr));
    }
}

#[test]
fn a_job_summary_is_added_to_what_other_steps_wrote() {
    let folder = tree(&[("Worker.php", WORKER), ("Jobs.php", REPOSITORY), ("s.md", "before\n")]);
    let mut command = command(folder.path(), &["check", "--format", "github"]);
    let output = command.env("GITHUB_STEP_SUMMARY", "s.md").output().expect("it starts");
    let out = text(&output.stdout);
    assert!(out.starts_with("::error file=Worker.php,line=8,"), "{out}");
    let summary = fs::read_to_string(folder.path().join("s.md")).expect("a summary");
    assert!(summary.starts_with("before\n## rowrace\n\n1 finding in 2 files.\n"), "{summary}");
    assert!(summary.contains("| error | unguarded-transition | <code>Worker.php:8</code> |"));
    assert!(summary.contains("both continue"), "{summary}");
    let quiet = run(folder.path(), &["check", "--format", "github"]);
    assert_eq!(text(&quiet.stdout), out);
}

#[test]
fn standard_input_stands_for_a_file_among_the_others() {
    let folder = tree(&[("src/Jobs.php", REPOSITORY), ("src/Other.php", FIRES)]);
    let args = ["check", "--format", "concise", "--stdin-filename"];
    // The file need not exist; its fault lies in both files, that of the third is not its own.
    let output =
        run_with_input(folder.path(), &[&args[..], &["./src/Worker.php"]].concat(), WORKER);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}{}", text(&output.stderr));
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(out.starts_with("src/Worker.php:8:9: error[unguarded-transition]"), "{out}");
    // What the editor holds takes the place of what the disk has.
    fs::write(folder.path().join("src/Worker.php"), WORKER).expect("written");
    let good = WORKER.replace("$this->jobs->update($job);", "");
    let output = run_with_input(folder.path(), &[&args[..], &["src/Worker.php"]].concat(), &good);
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(0), ""));
    // Alone it may be the first file of a program.
    let empty = tree(&[]);
    let output = run_with_input(empty.path(), &[&args[..], &["a.php"]].concat(), FIRES);
    assert!(text(&output.stdout).starts_with("a.php:2:"), "{}", text(&output.stderr));
    let output = run_with_input(empty.path(), &[&args[..], &["a.txt"]].concat(), FIRES);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`a.txt` is no PHP, Rust or SQL file by its name"));
}

#[test]
fn paths_may_come_from_a_list() {
    let folder = tree(&[("a.php", FIRES), ("b c.php", FIRES), ("d.php", FIRES), ("e.md", "")]);
    fs::write(folder.path().join("list"), "a.php\ngone.php\ne.md\n").expect("written");
    let args = ["check", "--format", "concise", "--files-from"];
    let output = run(folder.path(), &[&args[..], &["list"]].concat());
    assert_eq!(text(&output.stdout).lines().count(), 1, "{}", text(&output.stderr));
    let listed = run_with_input(folder.path(), &[&args[..], &["-"]].concat(), "a.php\0b c.php\0");
    assert_eq!(text(&listed.stdout).lines().count(), 2);
    let more = run_with_input(folder.path(), &[&args[..], &["-", "d.php"]].concat(), "a.php\n");
    assert_eq!(text(&more.stdout).lines().count(), 2);
    let none = run_with_input(folder.path(), &[&args[..], &["-"]].concat(), "");
    assert_eq!(none.status.code(), Some(0), "{}", text(&none.stderr));
    let missing = run(folder.path(), &[&args[..], &["nowhere"]].concat());
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn statistics_count_by_rule() {
    let folder = tree(&[("a.php", FIRES), ("b.php", FIRES)]);
    let output = run(folder.path(), &["check", "--statistics"]);
    assert_eq!(text(&output.stdout), "2  warning  expect-without-reason\n");
    assert_eq!(output.status.code(), Some(1));
    let json = run(folder.path(), &["check", "--statistics", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json[0]["count"], 2);
    let other = run(folder.path(), &["check", "--statistics", "--format", "sarif"]);
    assert_eq!(other.status.code(), Some(2));
}

#[test]
fn colour_is_asked_for_or_refused() {
    let folder = tree(&[("a.php", FIRES)]);
    for (args, variables, is_colored) in [
        (&[][..], &[][..], false),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
    ] {
        let mut command = command(folder.path(), &[&["check"][..], args].concat());
        let output = command.envs(variables.iter().copied()).output().expect("it starts");
        let shown = text(&output.stdout);
        assert_eq!(shown.contains('\u{1b}'), is_colored, "{args:?} {variables:?}");
    }
}

#[test]
fn names_and_texts_cannot_speak_to_the_terminal() {
    let folder = tree(&[("a\u{1b}]0;x\u{7}.php", FIRES)]);
    for format in [
        "text",
        "concise",
        "json",
        "jsonl",
        "sarif",
        "github",
        "gitlab",
        "checkstyle",
        "junit",
        "lsp",
    ] {
        let output = run(folder.path(), &["check", "--format", format]);
        let shown = text(&output.stdout) + &text(&output.stderr);
        let active = |it: char| it.is_control() && it != '\n';
        assert!(!shown.contains(active), "{format}: {shown:?}");
        assert!(shown.contains("expect-without-reason"), "{format}");
    }
}

#[test]
fn nobody_sees_progress_through_a_pipe() {
    let long = format!("<?php\n{}", "$x = 1;\n".repeat(60_000));
    let folder = tree(&[("a.php", &*long)]);
    let output = run(folder.path(), &["check"]);
    assert_eq!(text(&output.stderr), "No findings in 1 file\n");
}

#[test]
fn shells_and_man_are_told_of_the_options() {
    let folder = tree(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(folder.path(), &["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(text(&output.stdout).contains("stdin-filename"), "{shell}");
    }
    let page = text(&run(folder.path(), &["man"]).stdout);
    assert!(page.contains(".TH rowrace 1") && page.contains("rowrace\\-check(1)"), "{page}");
    let page = text(&run(folder.path(), &["man", "check"]).stdout);
    assert!(page.contains(".TH rowrace-check 1") && page.contains("min\\-confidence"), "{page}");
    assert_eq!(run(folder.path(), &["man", "chekc"]).status.code(), Some(2));
}

#[test]
fn rules_are_listed_for_programs() {
    let folder = tree(&[]);
    let output = run(folder.path(), &["rules", "--format", "json"]);
    let rules: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(rules["version"], 1);
    let rules = rules["rules"].as_array().expect("a list");
    let gate = rules.iter().find(|it| it["id"] == "loose-gate").expect("a rule");
    assert!(gate["severity"]["high"].is_string() && gate["bad"][0]["code"].is_string());
    let plain = text(&run(folder.path(), &["rules"]).stdout);
    assert_eq!(plain.lines().count(), rules.len());
}

/// `UPDATE=1 cargo test docs` writes the page anew.
#[test]
fn the_page_of_rules_in_the_docs_is_fresh() {
    let folder = tree(&[]);
    let page = text(&run(folder.path(), &["rules", "--format", "markdown"]).stdout);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, page).expect("written");
    } else {
        assert_eq!(fs::read_to_string(&path).expect("docs/rules.md"), page);
    }
}
