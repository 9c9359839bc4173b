//! Is every file short, opened by the question that it answers, and written in the words of the house?

use crate::layering::rust_files;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file under `src`, inline tests left out.
const MAX_LINES: usize = 600;

/// Ends of type names that say nothing.
const VAGUE_TYPES: [&str; 8] =
    ["Manager", "Helper", "Helpers", "Util", "Utils", "Processor", "Service", "Factory"];

/// Beginnings of function names that say nothing.
const VAGUE_FUNCTIONS: [&str; 4] = ["get_", "do_", "process_", "handle_"];

#[test]
fn files_are_short() {
    let long = our_files().into_iter().filter_map(|(path, text)| {
        let lines = text.split("\n#[cfg(test)]\nmod ").next().map_or(0, |it| it.lines().count());
        let is_code = path.starts_with("src") && !path.ends_with("tests.rs");
        (is_code && lines > MAX_LINES).then(|| format!("{}: {lines} lines", path.display()))
    });
    expect_none(long);
}

#[test]
fn files_say_which_question_they_answer() {
    let silent = our_files().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    expect_none(silent.map(|(path, _)| format!("{}: no `//!` on its first line", path.display())));
}

#[test]
fn names_say_something() {
    let named = lines_of(&our_files());
    expect_none(named.filter(|(_, line)| is_vague(line)).map(|(at, line)| format!("{at}: {line}")));
}

#[test]
fn what_is_left_to_do_has_an_issue() {
    let mark = ["TO", "DO"].concat();
    let fixme = ["FIX", "ME"].concat();
    let left = lines_of(&our_files()).filter(move |(_, line)| {
        let rest = line.split_once(&mark).map(|it| it.1);
        line.contains(&fixme) || rest.is_some_and(|it| !it.starts_with("(#"))
    });
    expect_none(left.map(|(at, line)| format!("{at}: {line}")));
}

#[test]
fn lines_end_cleanly() {
    let bad = lines_of(&our_files()).filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
    expect_none(bad.map(|(at, _)| format!("{at}: white space at the end")));
}

#[test]
fn vague_names_are_seen() {
    for line in [
        "pub(crate) struct RowManager {",
        "mod utils;",
        "    fn get_row(&self) {",
        "enum StringUtil {",
    ] {
        assert!(is_vague(line), "{line}");
    }
    for line in ["struct Row {", "fn getter() {", "let get_row = 1;", "// struct RowManager"] {
        assert!(!is_vague(line), "{line}");
    }
}

fn is_vague(line: &str) -> bool {
    // A line of a list of strings declares nothing.
    if line.trim_start().starts_with(['"', '[']) {
        return false;
    }
    let mut words = line
        .split(|it: char| !(it.is_alphanumeric() || it == '_' || it == '/'))
        .filter(|it| !it.is_empty());
    while let Some(word) = words.next() {
        let name = match word {
            "struct" | "enum" | "trait" | "type" | "fn" | "mod" => words.next().unwrap_or_default(),
            "pub" | "crate" | "super" | "async" | "const" => continue,
            _ => return false,
        };
        return match word {
            "fn" => VAGUE_FUNCTIONS.iter().any(|it| name.starts_with(it)),
            "mod" => matches!(name, "util" | "utils" | "helper" | "helpers" | "common" | "misc"),
            _ => VAGUE_TYPES.iter().any(|it| name.ends_with(it)),
        };
    }
    false
}

/// Path relative to the package, and text, of all Rust files that are ours.
fn our_files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches"].map(|it| root.join(it)) {
        if folder.is_dir() {
            rust_files(&folder, &mut paths);
        }
    }
    paths.push(root.join("build.rs"));
    let relative = |it: &PathBuf| it.strip_prefix(root).expect("below the root").to_owned();
    let read = |it: PathBuf| (relative(&it), fs::read_to_string(&it).expect("readable"));
    paths.into_iter().map(read).collect()
}

fn lines_of(files: &[(PathBuf, String)]) -> impl Iterator<Item = (String, String)> + use<> {
    let mut lines = Vec::new();
    for (path, text) in files {
        for (idx, line) in text.split('\n').enumerate() {
            lines.push((format!("{}:{}", path.display(), idx + 1), line.to_owned()));
        }
    }
    lines.into_iter()
}

fn expect_none(wrong: impl Iterator<Item = String>) {
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
