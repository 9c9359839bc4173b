//! Does each program in `fixtures/rules`, alone, fire where it is marked and nowhere else?
//!
//! `UPDATE=1 cargo test rules` rewrites the markers to what is true today; the difference is then read in
//! review.

use crate::markers::{self, Kind};
use crate::run::{self, WHOLE_PROGRAM_RULE};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn programs_fire_where_marked() {
    let engine = run::engine();
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for path in programs() {
        let name = shown(&path);
        let text = fs::read_to_string(&path).expect("a fixture");
        let language = run::language(&path).unwrap_or_else(|| panic!("{name}: no language"));
        let sources = [run::source(&name, text.clone(), language)];
        let is_own = name.contains(WHOLE_PROGRAM_RULE);
        let corrections =
            run::corrections(&engine, &sources, |it| it.rule != WHOLE_PROGRAM_RULE || is_own);
        if is_update && !corrections.is_empty() {
            fs::write(&path, markers::corrected(&name, &text, &corrections)).expect("writable");
        }
        wrong.extend(corrections.iter().map(ToString::to_string));
    }
    assert!(is_update || wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn names_say_whether_a_program_holds_a_fault() {
    let ids: Vec<String> = run::packs().rules.iter().map(|it| it.id.to_string()).collect();
    for path in programs() {
        let name = shown(&path);
        let text = fs::read_to_string(&path).expect("a fixture");
        let marks = markers::markers(&name, &text);
        let faults = marks.iter().filter(|it| it.kind != Kind::Spurious).count();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        assert!(ids.iter().any(|it| **it == *folder.to_string_lossy()), "{name}: no such rule");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        match (file.starts_with("bad"), file.starts_with("good")) {
            (true, false) => assert!(faults > 0, "{name}: no marker"),
            (false, true) => assert_eq!(faults, 0, "{name}: a marker"),
            _ => panic!("{name}: neither bad nor good"),
        }
    }
}

fn programs() -> Vec<PathBuf> {
    run::files(&root().join("fixtures/rules"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
