//! Does each program in `fixtures/messages` lose its message exactly where it is marked?
//!
//! Each file, or folder of files, is a program of its own; only the rules of messages count.

use crate::markers::{self, Found};
use rowrace::base::{Language, Source, SourceId};
use rowrace::engine::{Engine, Options};
use rowrace::pack::Packs;
use std::fs;
use std::path::{Path, PathBuf};

const RULES: [&str; 4] = ["strand-on-throw", "swallowed-failure", "early-ack", "unswept-state"];

#[test]
fn messages_are_lost_where_marked() {
    let packs = Packs::load(&[], &[]).unwrap_or_else(|errors| panic!("built-in packs: {errors}"));
    let engine = Engine::new(packs, Options::default());
    let mut wrong = Vec::new();
    for program in fixtures() {
        let sources: Vec<Source> =
            program.iter().enumerate().map(|(idx, path)| source(idx, path)).collect();
        let marked: Vec<_> =
            sources.iter().flat_map(|it| markers::markers(&it.path, &it.text)).collect();
        let is_sweep = program.iter().flat_map(|it| it.components());
        let is_sweep = is_sweep.into_iter().any(|it| it.as_os_str() == "unswept");
        let mut found = findings(&engine, &sources);
        found.retain(|it| it.rule != "unswept-state" || is_sweep);
        let corrections = markers::corrections(&marked, &found);
        wrong.extend(corrections.iter().map(ToString::to_string));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Programs, each as its files.
fn fixtures() -> Vec<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/messages");
    let programs = entries(&root).into_iter().flat_map(|it| entries(&it));
    programs.map(|it| if it.is_dir() { entries(&it) } else { vec![it] }).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).expect("a folder");
    let mut out: Vec<PathBuf> = found.map(|it| it.expect("an entry").path()).collect();
    out.sort();
    out
}

fn source(idx: usize, path: &Path) -> Source {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/messages");
    let is_rust = path.extension().is_some_and(|it| it == "rs");
    Source {
        id: SourceId(u32::try_from(idx).expect("few files")),
        path: path.strip_prefix(root).unwrap_or(path).display().to_string(),
        language: if is_rust { Language::Rust } else { Language::Php },
        text: fs::read_to_string(path).expect("a fixture"),
        exempt: false,
    }
}

fn findings(engine: &Engine, sources: &[Source]) -> Vec<Found> {
    let outcome = engine.analyze(sources);
    let of_messages =
        outcome.findings.into_iter().filter(|it| RULES.contains(&&*it.rule.to_string()));
    of_messages.filter_map(|it| Found::of(&it, sources)).collect()
}
