//! Does what `docs/packs.md` shows work as it stands there?
//!
//! A block below `<!-- file PATH -->` is written to a folder; a `console` block below `<!-- run -->` holds
//! a command and what it prints, and runs there. `UPDATE=1 cargo test pages` writes what is printed today.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const FILE: &str = "<!-- file ";
const RUN: &str = "<!-- run -->\n```console\n$ rowrace ";

#[test]
fn packs_and_their_tests_work_as_shown() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/packs.md");
    let text = fs::read_to_string(&path).expect("a page");
    let folder = TempDir::new().expect("a folder");
    let n_files = write_files(&text, folder.path());
    let shown = with_output(&text, folder.path());
    assert!(n_files > 0 && text.contains(RUN), "the page shows files and commands");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, shown).expect("written");
    } else {
        assert_eq!(text, shown);
    }
}

/// Writes the files that `text` shows; gives their number.
fn write_files(text: &str, folder: &Path) -> usize {
    let files = text.split(FILE).skip(1);
    let written = files.map(|it| {
        let (name, rest) = it.split_once(" -->\n").expect("a path");
        let body = rest.split_once('\n').expect("a fence").1;
        let body = body.split_once("\n```\n").expect("an end of the block").0;
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, format!("{body}\n")).expect("written");
    });
    written.count()
}

/// `text` with what its commands print.
fn with_output(text: &str, folder: &Path) -> String {
    let mut parts = text.split(RUN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (args, rest) = part.split_once('\n').expect("a command");
        let (_, rest) = rest.split_once("```\n").expect("an end of the block");
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
        let output = command.args(args.split(' ')).current_dir(folder).output().expect("starts");
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8(printed).expect("UTF-8");
        let _ = write!(out, "{RUN}{args}\n{printed}```\n{rest}");
    }
    out
}
