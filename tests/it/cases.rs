//! Does each case in `fixtures/cases` fire where it is marked before its repair, and nowhere after it?
//!
//! `UPDATE=1 cargo test cases` rewrites the markers to what is true today; the difference is then read in
//! review.

use crate::markers::{self, Correction, Kind};
use crate::run::{self, WHOLE_PROGRAM_RULE};
use rowrace::base::Source;
use rowrace::discover::{Request, Workspace, discover};
use rowrace::engine::Engine;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn cases_fire_where_marked_and_are_silent_after_the_repair() {
    let engine = run::engine();
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        for side in ["before", "after"] {
            let folder = case.join(side);
            if folder.is_dir() {
                let corrections = disagreements(&engine, &case, &folder);
                if is_update {
                    update(&folder, &corrections);
                }
                let name = shown(&folder);
                wrong.extend(corrections.iter().map(|it| format!("{name}/{it}")));
            }
        }
    }
    assert!(is_update || wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn repaired_code_holds_no_fault_to_find() {
    let mut wrong = Vec::new();
    for case in cases() {
        for source in sources(&case.join("after")) {
            let marks = markers::markers(&source.path, &source.text);
            let bad = marks.iter().filter(|it| it.kind != Kind::Spurious);
            wrong.extend(bad.map(|it| format!("{}/{}:{}", shown(&case), it.path, it.at)));
        }
    }
    assert!(wrong.is_empty(), "a marker in after/:\n{}\n", wrong.join("\n"));
}

#[test]
fn every_case_says_where_it_comes_from() {
    for case in cases() {
        let text = fs::read_to_string(case.join("case.toml")).expect("a case.toml");
        for key in ["title", "source", "why"] {
            assert!(text.contains(&format!("{key} = ")), "{}: no `{key}`", shown(&case));
        }
        assert!(case.join("before").is_dir() || case.join("after").is_dir(), "{}", shown(&case));
    }
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let entries = fs::read_dir(root).expect("fixtures");
    let mut cases: Vec<_> = entries.map(|it| it.expect("an entry").path()).collect();
    cases.retain(|it| it.is_dir());
    cases.sort();
    cases
}

fn shown(path: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn sources(folder: &Path) -> Vec<Source> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let paths = [PathBuf::from(".")];
    let request = Request { cwd: folder, paths: &paths };
    discover(&request, &mut Workspace::isolated(folder)).expect("a folder").sources
}

/// Where the markers of a side and its findings disagree. A rule over whole programs counts only where
/// the case names it.
fn disagreements(engine: &Engine, case: &Path, folder: &Path) -> Vec<Correction> {
    let toml = fs::read_to_string(case.join("case.toml")).expect("a case.toml");
    run::corrections(engine, &sources(folder), |it| {
        it.rule != WHOLE_PROGRAM_RULE || toml.contains(WHOLE_PROGRAM_RULE)
    })
}

fn update(folder: &Path, corrections: &[Correction]) {
    let mut paths: Vec<&str> = corrections
        .iter()
        .map(|it| match it {
            Correction::Mark(marker, _) => &*marker.path,
            Correction::Add(found) => &*found.path,
        })
        .collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let file = folder.join(path);
        let text = fs::read_to_string(&file).expect("a fixture");
        fs::write(&file, markers::corrected(path, &text, corrections)).expect("writable");
    }
}
