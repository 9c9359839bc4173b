//! Do `--since` and `--staged` report what is new, wherever it shows, and nothing else?
//!
//! The tests build repositories with the `git` program; the binary runs without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const MODEL: &str = "src/Execution.php";
const WORKER: &str = "src/Worker.php";
const OLD: &str = "src/Old.php";

/// Its mutator does not touch the status yet.
const MODEL_TEXT: &str = "<?php
final class Execution
{
    public function __construct(
        private int $id,
        private string $status,
        private ?string $startedAt = null,
    ) {
    }

    public ?string $note = null;

    public function getId(): int
    {
        return $this->id;
    }

    public function getStatus(): string
    {
        return $this->status;
    }

    public function getStartedAt(): ?string
    {
        return $this->startedAt;
    }

    public function markStarted(): void
    {
        $this->note = 'started';
    }
}
";

const WORKER_TEXT: &str = "<?php
final class Worker
{
    public function __construct(private ExecutionRepository $executions)
    {
    }

    public function run(int $id): void
    {
        $execution = $this->executions->find($id);
        if ($execution->getStatus() !== 'pending') {
            return;
        }
        $execution->markStarted();
        $this->executions->update($execution);
    }
}
";

const REPOSITORY_TEXT: &str = "<?php
final class ExecutionRepository
{
    public function __construct(private PDO $db)
    {
    }

    public function find(int $id): Execution
    {
        $stmt = $this->db->prepare('SELECT id, status, started_at FROM executions WHERE id = :id');
        $stmt->execute(['id' => $id]);
        $row = $stmt->fetch(PDO::FETCH_ASSOC);

        return new Execution((int) $row['id'], $row['status'], $row['started_at']);
    }

    public function update(Execution $execution): void
    {
        $stmt = $this->db->prepare(
            'UPDATE executions SET status = :status, started_at = :started_at WHERE id = :id'
        );
        $stmt->execute([
            'status' => $execution->getStatus(),
            'started_at' => $execution->getStartedAt(),
            'id' => $execution->getId(),
        ]);
    }
}
";

/// A race that was always there.
const OLD_TEXT: &str = "<?php
function claim(PDO $db, int $id): void
{
    $row = $db->query(\"SELECT status FROM orders WHERE id = $id\")->fetch();
    if ($row['status'] === 'open') {
        $db->exec(\"UPDATE orders SET status = 'paid' WHERE id = $id\");
    }
}
";

/// A repository in a folder of its own.
struct Tree {
    folder: TempDir,
}

/// What a run reports: rule and place of each finding, and the rest.
struct Run {
    code: Option<i32>,
    found: Vec<String>,
    err: String,
}

impl Tree {
    /// Branch `main` with one commit, and branch `work` on it.
    fn new() -> Self {
        let tree = Self::empty();
        tree.write(MODEL, MODEL_TEXT);
        tree.write(WORKER, WORKER_TEXT);
        tree.write("src/ExecutionRepository.php", REPOSITORY_TEXT);
        tree.write(OLD, OLD_TEXT);
        tree.commit();
        tree.git(&["checkout", "-q", "-b", "work"]);
        tree
    }

    fn empty() -> Self {
        let tree = Self { folder: TempDir::new().expect("a folder") };
        tree.git(&["init", "-q", "-b", "main"]);
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }

    /// The mutator changes the status as well: the race.
    fn add_race(&self) {
        let start = "        $this->note = 'started';";
        let text =
            MODEL_TEXT.replace(start, &format!("        $this->status = 'running';\n{start}"));
        self.write(MODEL, &text);
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "change"]);
    }

    fn git(&self, args: &[&str]) -> String {
        git(self.folder.path(), args)
    }

    fn check(&self, args: &[&str]) -> Run {
        check(self.folder.path(), args)
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ] {
        command.env(name, value);
    }
    let output = command.args(args).current_dir(folder).output().expect("git starts");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    command.args(["check", "--format", "concise"]).args(args).current_dir(folder);
    // Without a path there is no `git` that could be run.
    command.env("PATH", "").env_remove("GIT_INDEX_FILE").stdin(Stdio::null());
    command
}

fn check(folder: &Path, args: &[&str]) -> Run {
    let output = command(folder, args).output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let shown = |line: &str| {
        let (place, rest) = line.split_once(": ").expect("a place");
        let rule = rest.split(['[', ']']).nth(1).expect("a rule");
        format!("{rule} {}", place.rsplit_once(':').expect("a column").0)
    };
    let found = text(output.stdout).lines().map(shown).collect();
    Run { code: output.status.code(), found, err: text(output.stderr) }
}

/// Line of the write in [`WORKER_TEXT`].
const RACE: &str = "unguarded-transition src/Worker.php:15";
/// The old race.
const OLD_RACE: &str = "unguarded-update src/Old.php:6";

#[test]
fn a_pull_request_is_told_of_its_race_where_it_shows() {
    let tree = Tree::new();
    tree.add_race();
    tree.commit();
    assert_eq!(tree.git(&["diff", "--name-only", "main"]), MODEL, "only the model was changed");
    let all = tree.check(&[]);
    assert_eq!(all.found, [OLD_RACE, RACE]);
    let run = tree.check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(1), &[RACE.to_owned()][..]), "{}", run.err);
    assert!(run.err.contains("in 4 files; 1 old finding not shown"), "{}", run.err);
}

#[test]
fn a_pull_request_without_a_race_is_told_nothing() {
    let tree = Tree::new();
    tree.write(MODEL, &MODEL_TEXT.replace("'started'", "'began'"));
    tree.write(OLD, &OLD_TEXT.replace("<?php\n", "<?php\n\n// Orders.\n"));
    tree.commit();
    let run = tree.check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(0), &[][..]), "{}", run.err);
    assert!(run.err.contains("No findings in 4 files; 1 old finding not shown"), "{}", run.err);
}

#[test]
fn an_unchanged_tree_has_nothing_new() {
    let run = Tree::new().check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(0), &[][..]), "{}", run.err);
}

#[test]
fn work_that_is_not_committed_counts() {
    let tree = Tree::new();
    tree.add_race();
    tree.write("src/Untracked.php", &OLD_TEXT.replace("claim", "other"));
    let run = tree.check(&["--since", "HEAD"]);
    assert_eq!(run.found, ["unguarded-update src/Untracked.php:6", RACE], "{}", run.err);
}

#[test]
fn what_happened_on_the_other_branch_is_not_ours() {
    let tree = Tree::new();
    tree.git(&["checkout", "-q", "main"]);
    fs::remove_file(tree.path(OLD)).expect("removed");
    tree.commit();
    tree.git(&["checkout", "-q", "work"]);
    let run = tree.check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(0), &[][..]), "the old race is at the merge base");
}

#[test]
fn taking_a_guard_away_is_new() {
    let tree = Tree::new();
    let guarded = OLD_TEXT
        .replace("WHERE id = $id\");\n    }", "WHERE id = $id AND status = 'open'\");\n    }");
    tree.write(OLD, &guarded);
    tree.commit();
    tree.write(OLD, OLD_TEXT);
    let run = tree.check(&["--since", "HEAD"]);
    assert!(run.found.iter().any(|it| it == OLD_RACE), "{:?}", run.found);
}

#[test]
fn an_old_race_on_a_changed_line_is_shown() {
    let tree = Tree::new();
    tree.write(OLD, &OLD_TEXT.replace("=== 'open'", "=== 'open' && $id > 0"));
    let run = tree.check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(1), &[OLD_RACE.to_owned()][..]), "{}", run.err);
}

#[test]
fn a_moved_file_keeps_its_old_races() {
    let tree = Tree::new();
    tree.git(&["mv", OLD, "src/Moved.php"]);
    tree.commit();
    let run = tree.check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(0), &[][..]), "{}", run.err);
    let rust = "use sqlx::PgPool;
pub async fn claim(pool: &PgPool, id: i64) -> sqlx::Result<()> {
    let status: String =
        sqlx::query_scalar(\"SELECT status FROM jobs WHERE id = $1\").bind(id).fetch_one(pool).await?;
    if status == \"pending\" {
        sqlx::query(\"UPDATE jobs SET status = 'running' WHERE id = $1\").bind(id).execute(pool).await?;
    }
    Ok(())
}
";
    tree.write("src/before.rs", rust);
    tree.commit();
    tree.git(&["mv", "src/before.rs", "src/after.rs"]);
    assert_eq!(tree.check(&[]).found.len(), 2, "the race is found");
    let run = tree.check(&["--since", "HEAD"]);
    assert_eq!((run.code, &*run.found), (Some(0), &[][..]), "{}", run.err);
}

#[test]
fn what_is_deleted_is_known_at_the_base() {
    let tree = Tree::new();
    tree.add_race();
    tree.commit();
    tree.git(&["branch", "-f", "main"]);
    fs::remove_file(tree.path(WORKER)).expect("removed");
    let run = tree.check(&["--since", "main"]);
    assert_eq!((run.code, &*run.found), (Some(0), &[][..]), "{}", run.err);
}

#[test]
fn staged_is_what_is_in_the_index() {
    let tree = Tree::new();
    tree.add_race();
    assert_eq!(tree.check(&["--staged"]).found, [""; 0], "not staged yet");
    tree.git(&["add", MODEL]);
    tree.write(MODEL, MODEL_TEXT);
    tree.write("src/Untracked.php", &OLD_TEXT.replace("claim", "other"));
    let run = tree.check(&["--staged"]);
    assert_eq!((run.code, &*run.found), (Some(1), &[RACE.to_owned()][..]), "{}", run.err);
    fs::remove_file(tree.path(MODEL)).expect("removed");
    assert_eq!(tree.check(&["--staged"]).found, [RACE], "the working tree does not matter");
    tree.git(&["rm", "-q", "--cached", WORKER]);
    assert_eq!(tree.check(&["--staged"]).found, [""; 0], "the worker is staged for removal");
}

#[test]
fn the_first_commit_is_new_as_a_whole() {
    let tree = Tree::empty();
    tree.write(OLD, OLD_TEXT);
    tree.git(&["add", "-A"]);
    assert_eq!(tree.check(&["--staged"]).found, [OLD_RACE]);
    let run = tree.check(&["--since", "HEAD"]);
    assert_eq!(run.code, Some(2), "{}", run.err);
}

#[test]
fn a_hook_may_bring_its_own_index() {
    let tree = Tree::new();
    tree.add_race();
    tree.git(&["add", MODEL]);
    fs::copy(tree.path(".git/index"), tree.path("other-index")).expect("copied");
    tree.git(&["reset", "-q"]);
    assert_eq!(tree.check(&["--staged"]).found, [""; 0]);
    let mut command = command(tree.folder.path(), &["--staged"]);
    let output = command.env("GIT_INDEX_FILE", "other-index").output().expect("starts");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn paths_and_excludes_hold_for_the_base_too() {
    let tree = Tree::new();
    tree.write("rowrace.toml", "exclude = [\"/src/Old.php\"]\n");
    tree.write(".gitignore", "/ignored\n");
    tree.write("ignored/a.php", OLD_TEXT);
    tree.write("vendor/a.php", OLD_TEXT);
    tree.git(&["add", "-f", "-A"]);
    tree.commit();
    tree.add_race();
    let run = tree.check(&["--since", "HEAD"]);
    assert_eq!(run.found, [RACE], "{}", run.err);
    assert!(run.err.contains("in 3 files\n"), "{}", run.err);
    let run = check(&tree.path("src"), &["--since", "HEAD", "."]);
    assert_eq!(run.found, ["unguarded-transition Worker.php:15"], "{}", run.err);
    let named = tree.check(&["--since", "HEAD", MODEL, "vendor"]);
    assert_eq!((named.code, &*named.found), (Some(0), &[][..]), "{}", named.err);
    let submodule_like = TempDir::new().expect("a folder");
    fs::write(submodule_like.path().join("a.php"), OLD_TEXT).expect("written");
    let outside = submodule_like.path().to_str().expect("UTF-8");
    let run = tree.check(&["--since", "HEAD", "src", outside]);
    assert_eq!(run.found, [RACE], "what git does not keep counts as unchanged: {}", run.err);
}

#[test]
fn a_repository_that_cannot_answer_says_why() {
    let tree = Tree::new();
    tree.git(&["update-ref", "refs/remotes/origin/develop", "main"]);
    tree.git(&["checkout", "-q", "--orphan", "alone"]);
    tree.write("src/Alone.php", "<?php\n");
    tree.commit();
    let tree_id = tree.git(&["rev-parse", "main^{tree}"]);
    for (name, message) in [
        ("nowhere", "error: `nowhere` is not a commit of this repository\n"),
        ("develop", "`develop` is not a commit of this repository, did you mean `origin/develop`?"),
        ("main", "`main` and HEAD have no commit in common"),
        ("", "`` is not a commit of this repository"),
        ("a..b", "`a..b` is not a commit"),
        (&tree_id, "is not a commit of this repository"),
    ] {
        let run = tree.check(&["--since", name]);
        assert_eq!(run.code, Some(2), "{name}: {}", run.err);
        assert!(run.err.contains(message), "{name}: {}", run.err);
    }
    let alone = TempDir::new().expect("a folder");
    fs::write(alone.path().join("a.php"), OLD_TEXT).expect("written");
    for args in [&["--since", "main"][..], &["--staged"]] {
        let run = check(alone.path(), args);
        assert_eq!(run.code, Some(2), "{}", run.err);
        assert!(run.err.contains("is not in a git repository"), "{}", run.err);
    }
    let both = tree.check(&["--since", "main", "--staged"]);
    assert_eq!(both.code, Some(2));
}

#[test]
fn a_shallow_clone_without_the_merge_base_says_so() {
    let tree = Tree::new();
    tree.add_race();
    tree.commit();
    tree.git(&["checkout", "-q", "main"]);
    tree.write("src/Other.php", "<?php\n");
    tree.commit();
    let clones = TempDir::new().expect("a folder");
    let url = format!("file://{}", tree.folder.path().display());
    let clone = |depth: &str, name: &str| {
        let args =
            ["clone", "-q", "--depth", depth, "--no-single-branch", "-b", "work", &url, name];
        git(clones.path(), &args);
        check(&clones.path().join(name), &["--since", "origin/main"])
    };
    let run = clone("1", "shallow");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(
        run.err.contains("shallow clone without the merge base of `origin/main`"),
        "{}",
        run.err
    );
    assert!(run.err.contains("fetch-depth: 0"), "{}", run.err);
    assert_eq!(clone("2", "deeper").found, [RACE], "the merge base is there");
}

/// Spoils the object that `name` stands for.
fn spoil(tree: &Tree, name: &str) {
    let id = tree.git(&["rev-parse", name]);
    let path = tree.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let mut permissions = fs::metadata(&path).expect("a loose object").permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "a file of this test")]
    permissions.set_readonly(false);
    fs::set_permissions(&path, permissions).expect("writable");
    fs::write(&path, b"not zlib").expect("written");
}

#[test]
fn a_corrupt_file_is_a_problem_and_the_rest_is_compared() {
    let tree = Tree::new();
    tree.add_race();
    tree.commit();
    spoil(&tree, &format!("main:{MODEL}"));
    let run = tree.check(&["--since", "main"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.found.iter().any(|it| it == RACE), "{:?}", run.found);
    assert!(!run.found.iter().any(|it| it == OLD_RACE), "{:?}", run.found);
    let message = "src/Execution.php: unreadable: git object ";
    assert!(run.err.contains(message), "{}", run.err);
    assert!(run.err.contains("what is found in it counts as new"), "{}", run.err);
}

#[test]
fn a_corrupt_folder_is_a_problem_and_a_corrupt_commit_a_failure() {
    for (name, code, message) in [
        ("main:src", 1, "src: unreadable: the git tree of this folder cannot be read"),
        ("main^{tree}", 2, "cannot be read from the git repository"),
        ("main", 2, "cannot be read from the git repository"),
    ] {
        let tree = Tree::new();
        tree.add_race();
        tree.commit();
        spoil(&tree, name);
        let run = tree.check(&["--since", "main"]);
        assert_eq!(run.code, Some(code), "{name}: {}", run.err);
        assert!(run.err.contains(message), "{name}: {}", run.err);
    }
}

#[test]
fn a_corrupt_index_is_a_failure() {
    let tree = Tree::new();
    fs::write(tree.path(".git/index"), "no index").expect("written");
    let run = tree.check(&["--staged"]);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("the index cannot be read"), "{}", run.err);
}

#[test]
fn a_merge_conflict_is_a_problem_of_what_is_staged() {
    let tree = Tree::new();
    tree.write(OLD, &OLD_TEXT.replace("paid", "ours"));
    tree.commit();
    tree.git(&["checkout", "-q", "main"]);
    tree.write(OLD, &OLD_TEXT.replace("paid", "theirs"));
    tree.commit();
    let mut merge = Command::new("git");
    let merge = merge.args(["merge", "-q", "work"]).current_dir(tree.folder.path()).status();
    assert!(!merge.expect("git starts").success(), "a conflict");
    let run = tree.check(&["--staged"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("src/Old.php: unreadable: has a merge conflict"), "{}", run.err);
}
