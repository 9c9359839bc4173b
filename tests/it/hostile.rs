//! Does a tree that means harm end in bounded time and memory, with a clear problem, the rest analysed,
//! and the right exit code?
//!
//! Each tree holds a file that fires, so that it shows whether the rest was analysed.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How deep things are nested.
const DEPTH: usize = 100_000;
/// No run may take longer, on a slow machine and without optimisation.
const PATIENCE: Duration = Duration::from_mins(10);
/// Fires `expect-without-reason` in its second line.
const FIRES: &str = "<?php\n$x = 1; // rowrace: expect[some-rule]\n";
/// Sorts after everything else.
const WITNESS: &str = "zz.php";

struct Tree {
    folder: TempDir,
}

#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Tree {
    fn new() -> Self {
        let tree = Self { folder: TempDir::new().expect("a folder") };
        tree.write(WITNESS, FIRES.as_bytes());
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

    /// Runs with 8 GB of address space; most of it is the stack that is reserved, not used.
    fn run(&self, args: &[&str]) -> Run {
        finish(self.start(args))
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = if cfg!(target_os = "linux") {
            let mut shell = Command::new("sh");
            shell.args([
                "-c",
                "ulimit -v 8000000; exec \"$0\" \"$@\"",
                env!("CARGO_BIN_EXE_rowrace"),
            ]);
            shell
        } else {
            Command::new(env!("CARGO_BIN_EXE_rowrace"))
        };
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    /// A run in which the witness fires and nothing else; gives what stands on standard error.
    fn check(&self) -> String {
        let run = self.run(&["check", "--format", "concise", "."]);
        let wanted = format!(
            "{WITNESS}:2:12: warning[expect-without-reason] an expect comment needs a reason\n"
        );
        assert_eq!((run.code, run.out), (Some(1), wanted), "{}", run.err);
        run.err
    }
}

/// Waits for the end of a run, but not for ever.
fn finish(mut child: Child) -> Run {
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || text(stdout.as_mut()));
    let err = thread::spawn(move || text(stderr.as_mut()));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("killed");
            panic!("still running after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(20));
    };
    let read = |it: thread::JoinHandle<String>| it.join().expect("read");
    Run { code: status.code(), out: read(out), err: read(err) }
}

fn text(stream: Option<&mut impl std::io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.read_to_end(&mut bytes).expect("readable");
    }
    String::from_utf8(bytes).expect("UTF-8 whatever the input")
}

/// `open`, so many times, around `inner`.
fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(DEPTH), close.repeat(DEPTH))
}

#[test]
fn deep_php_is_survived() {
    let tree = Tree::new();
    for (name, text) in [
        ("arrays", format!("<?php $x = {};", nested("[", "", "]"))),
        ("concat", format!("<?php $x = {}'a';", "'a' . ".repeat(DEPTH))),
        ("elseifs", format!("<?php if ($a) {{}} {}", "elseif ($a) {} ".repeat(DEPTH))),
        ("ifs", format!("<?php {}", nested("if ($a) { ", "", "} else {}"))),
        ("open", format!("<?php $x = {}", "(".repeat(DEPTH))),
        ("parens", format!("<?php $x = {};", nested("(", "1", ")"))),
        ("sql", format!("<?php $db->exec('DELETE FROM t WHERE {}');", nested("(", "a = 1", ")"))),
    ] {
        tree.write(&format!("{name}.php"), text.as_bytes());
    }
    let err = tree.check();
    // Parentheses alone are taken off while the file is read.
    for name in ["arrays", "ifs", "open"] {
        assert!(err.contains(&format!("{name}.php:")), "{name} has no problem: {err}");
    }
}

#[test]
fn deep_rust_is_survived() {
    let tree = Tree::new();
    for (name, text) in [
        ("arrays", format!("fn f() {{ let x = {}; }}", nested("[", "", "]"))),
        ("comments", nested("/*", "", "*/")),
        ("elseifs", format!("fn f(a: bool) {{ if a {{}} {} }}", "else if a {} ".repeat(DEPTH))),
        ("ifs", format!("fn f(a: bool) {{ {} }}", nested("if a { ", "", "} else {}"))),
        ("open", format!("fn f() {{ {}", "(".repeat(DEPTH))),
        ("parens", format!("fn f() {{ let x = {}; }}", nested("(", "1", ")"))),
        ("plus", format!("fn f() {{ let x = {}1; }}", "1 + ".repeat(DEPTH))),
        ("types", format!("fn f(x: {}) {{}}", nested("Vec<", "u8", ">"))),
    ] {
        tree.write(&format!("{name}.rs"), text.as_bytes());
    }
    let err = tree.check();
    for name in ["arrays", "ifs", "open", "parens"] {
        assert!(err.contains(&format!("{name}.rs:")), "{name} has no problem: {err}");
    }
}

#[test]
fn deep_sql_is_survived() {
    let tree = Tree::new();
    for (name, text) in [
        ("and", format!("DELETE FROM t WHERE {}id = 1;", "a = 1 AND ".repeat(DEPTH))),
        ("arrays", format!("SELECT {};", nested("ARRAY[", "1", "]"))),
        ("case", format!("SELECT {};", nested("CASE WHEN a THEN ", "1", " ELSE 2 END"))),
        ("open", format!("SELECT {}", "(".repeat(DEPTH))),
        ("parens", format!("DELETE FROM t WHERE {};", nested("(", "id = 1", ")"))),
        ("selects", nested("(SELECT * FROM ", "a", ") x")),
        ("semicolons", ";".repeat(DEPTH)),
    ] {
        tree.write(&format!("{name}.sql"), text.as_bytes());
    }
    tree.check();
}

#[test]
fn huge_files_are_problems() {
    let tree = Tree::new();
    let line = format!("<?php $x = [{}];", "1, ".repeat(20_000_000 / 3));
    tree.write("line.php", line.as_bytes());
    let huge = fs::File::create(tree.path("huge.sql")).expect("created");
    huge.set_len(100_000_000).expect("grown");
    let err = tree.check();
    for name in ["huge.sql", "line.php"] {
        assert!(
            err.contains(&format!("{name}: limit: larger than 10 MB, not analysed\n")),
            "{err}"
        );
    }
    tree.write("line.php", format!("<?php $x = \"{}\";", "a".repeat(9_000_000)).as_bytes());
    tree.write("huge.sql", format!("-- {}", "a".repeat(9_000_000)).as_bytes());
    assert!(!tree.check().contains("problem"));
}

#[test]
fn bytes_that_are_no_text_are_read_as_well_as_may_be() {
    let tree = Tree::new();
    let utf16: Vec<u8> = "\u{FEFF}<?php f();".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (name, bytes) in [
        ("nul.php", &b"<?php\0\0\0 f(\0);"[..]),
        ("invalid.php", b"<?php $\xFF\xFE = '\xC3\x28';"),
        ("utf16.php", &utf16),
        ("odd16.php", b"\xFF\xFE<\0?\0p"),
        ("bom.php", b"\xEF\xBB\xBF\xEF\xBB\xBF<?php f();"),
        ("crlf.php", b"<?php\r\n\r\nf();\r"),
        ("nul.rs", b"fn f() { \0 }"),
        ("bom.rs", b"\xEF\xBB\xBFfn f() {}"),
        ("nul.sql", b"SELECT \0 1;"),
        ("binary.sql", &[0x80; 5000]),
        ("empty.php", b""),
    ] {
        tree.write(name, bytes);
    }
    tree.check();
}

#[test]
fn a_configuration_cannot_hang_the_run() {
    for text in [
        format!("exclude = [\"{}b\"]", "**/*a*".repeat(200)),
        format!("exclude = [\"{}\"]", "{a,".repeat(2000)),
        format!("exclude = [\"{}\"]", "[a-z]*".repeat(20_000)),
        format!("[columns]\nstate = [\"{}x\"]", "*a".repeat(5000)),
        format!("exclude = {}", nested("[", "", "]")),
        format!("[{}a]", "a.".repeat(DEPTH)),
        format!("x = {}", nested("{a = ", "1", "}")),
    ] {
        let tree = Tree::new();
        tree.write(&format!("{}.php", "a/".repeat(50) + &"a".repeat(200)), b"<?php f();");
        tree.write("rowrace.toml", text.as_bytes());
        let run = tree.run(&["check", "--format", "concise", "."]);
        let shown = &text[..text.len().min(40)];
        let is_right = match run.code {
            Some(1) => run.out.lines().count() == 1,
            Some(2) => run.err.contains("error: `rowrace.toml` is not valid\n"),
            _ => false,
        };
        assert!(is_right, "{shown}: {run:?}");
        assert!(run.err.len() < 20_000, "{shown}: {} bytes of complaint", run.err.len());
    }
}

#[test]
fn a_pack_cannot_hang_the_run() {
    for pattern in ["(a{1000}){1000}{1000}", "(a*)*(a*)*(a*)*$", "(?:a?){500}a{500}", "("] {
        let tree = Tree::new();
        let text = format!("[columns]\nclaim = ['{pattern}']\n");
        tree.write("own/columns.toml", text.as_bytes());
        let run = tree.run(&["check", "--rules", "own", "--format", "concise", "."]);
        assert!(matches!(run.code, Some(1 | 2)), "{pattern}: {run:?}");
        assert!(!run.err.contains("panicked"), "{pattern}: {}", run.err);
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;
    use std::os::unix::process::ExitStatusExt as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn names_cannot_speak_to_the_terminal() {
        let tree = Tree::new();
        for name in [
            &b"new\nline.php"[..],
            b"\xFF\xFE.php",
            b"\x1b[31mred.php",
            b"a\r.php",
            "a\u{202E}b.php".as_bytes(),
        ] {
            let path = tree.folder.path().join(OsStr::from_bytes(name));
            fs::write(path, FIRES).expect("written");
        }
        for format in ["concise", "text", "json"] {
            let run = tree.run(&["check", "--format", format, "--color", "never", "."]);
            assert_eq!(run.code, Some(1), "{}", run.err);
            let all = format!("{}{}", run.out, run.err);
            assert!(!all.contains(['\u{1b}', '\r', '\u{202E}']) || format == "json", "{all}");
            if format == "concise" {
                assert_eq!(run.out.lines().count(), 6, "{}", run.out);
            }
            if format == "json" {
                assert!(
                    !run.out.contains('\u{1b}') && run.out.lines().all(|it| !it.contains('\r'))
                );
            }
        }
    }

    #[test]
    fn what_is_no_file_is_never_opened() {
        let tree = Tree::new();
        let fifo = |name: &str| {
            let made = Command::new("mkfifo").arg(tree.path(name)).status().expect("mkfifo");
            assert!(made.success());
        };
        fifo("fifo.php");
        fifo("rowrace.toml");
        let _socket = UnixListener::bind(tree.path("socket.php")).expect("a socket");
        symlink("/dev/zero", tree.path("zero.php")).expect("a link");
        symlink("..", tree.path("up")).expect("a link");
        symlink("self.php", tree.path("self.php")).expect("a link");
        let err = tree.check();
        for name in ["fifo.php", "socket.php", "zero.php", "self.php"] {
            assert!(err.contains(&format!("{name}: unreadable: ")), "{name}: {err}");
        }
    }

    #[test]
    fn a_fifo_for_ignore_rules_does_not_stop_the_walk() {
        let tree = Tree::new();
        tree.write("pipe/a.php", FIRES.as_bytes());
        tree.write("zero/a.php", FIRES.as_bytes());
        let made = Command::new("mkfifo").arg(tree.path("pipe/.gitignore")).status();
        assert!(made.expect("mkfifo").success());
        symlink("/dev/zero", tree.path("zero/.ignore")).expect("a link");
        let err = tree.check();
        for name in ["pipe/.gitignore", "zero/.ignore"] {
            let message =
                format!("{name}: unreadable: not a regular file, so that its folder is not read");
            assert!(err.contains(&message), "{err}");
        }
        let run = tree.run(&["check", "pipe"]);
        assert_eq!(run.code, Some(2), "{}", run.err);
    }

    #[test]
    fn what_may_not_be_read_is_a_problem() {
        let tree = Tree::new();
        tree.write("file.php", b"<?php");
        tree.write("folder/a.php", b"<?php");
        for name in ["file.php", "folder"] {
            let none = fs::Permissions::from_mode(0o0);
            fs::set_permissions(tree.path(name), none).expect("changed");
        }
        // To the superuser everything is readable.
        if fs::read(tree.path("file.php")).is_ok() {
            return;
        }
        let err = tree.check();
        assert!(err.contains("file.php: unreadable: Permission denied"), "{err}");
        assert!(err.contains("folder: unreadable: Permission denied"), "{err}");
        let all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(tree.path("folder"), all).expect("changed");
    }

    #[test]
    fn a_tree_that_changes_during_the_run_is_survived() {
        let tree = Tree::new();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for number in 0..300 {
                        tree.write(&format!("come/{number}.php"), b"<?php f();");
                    }
                    fs::remove_dir_all(tree.path("come")).expect("removed");
                }
            });
            let runs = [(); 3].map(|()| tree.run(&["check", "--format", "concise", "."]));
            stop.store(true, Ordering::Relaxed);
            for run in runs {
                assert_eq!((run.code, run.out.lines().count()), (Some(1), 1), "{}", run.err);
            }
        });
    }

    #[test]
    fn a_tree_that_may_not_be_written_is_analysed() {
        let tree = Tree::new();
        let set = |mode: u32| {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(tree.folder.path(), permissions).expect("changed");
        };
        set(0o555);
        tree.check();
        set(0o755);
    }

    #[test]
    fn a_pipe_that_breaks_is_no_error() {
        let tree = Tree::new();
        tree.write("many.php", FIRES.replace("<?php", "<?php\n").repeat(3000).as_bytes());
        let script = format!("{} check . | head -1", env!("CARGO_BIN_EXE_rowrace"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(tree.folder.path());
        let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
        let run = finish(child);
        assert_eq!(run.out.lines().count(), 1, "{}", run.out);
        assert!(!run.err.contains("panicked") && !run.err.contains("ipe"), "{}", run.err);
    }

    /// Whether this process ignores interrupts, as one that a script starts in the background does; its
    /// children then do so as well.
    fn ignores_interrupts() -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
        mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).is_some_and(|it| it & 2 != 0)
    }

    #[test]
    fn an_interrupt_ends_the_run_at_once() {
        if ignores_interrupts() {
            return;
        }
        let tree = Tree::new();
        for number in 0..200 {
            let text = format!("<?php function f{number}() {{ {} }}", "g($a, $b); ".repeat(2000));
            tree.write(&format!("{number}.php"), text.as_bytes());
        }
        let mut child = tree.start(&["check", "."]);
        thread::sleep(Duration::from_millis(300));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.expect("kill").success());
        let start = Instant::now();
        let status = child.wait().expect("an end");
        assert!(start.elapsed() < Duration::from_secs(30));
        assert_eq!(status.signal(), Some(2), "ended by the signal: {status}");
        let mut out = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("readable");
        assert_eq!(out, "", "no half report");
    }

    #[test]
    fn output_may_be_nowhere() {
        let tree = Tree::new();
        if !Path::new("/dev/full").exists() {
            return;
        }
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
        command.args(["check", "."]).current_dir(tree.folder.path()).stdout(full);
        let output = command.output().expect("starts");
        assert_eq!(output.status.code(), Some(2), "a report that is lost is a failure");
        assert!(String::from_utf8_lossy(&output.stderr).contains("No space left"));
    }
}
