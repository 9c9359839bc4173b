//! Does each program in `fixtures/messages` lose its message exactly where it is marked?
//!
//! Each file is a program of its own; only the rules of messages count.

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
    for path in fixtures() {
        let source = source(&path);
        let marked = markers::markers(&source.path, &source.text);
        let is_sweep = path.components().any(|it| it.as_os_str() == "unswept");
        let mut found = findings(&engine, &source);
        found.retain(|it| it.rule != "unswept-state" || is_sweep);
        let corrections = markers::corrections(&marked, &found);
        wrong.extend(corrections.iter().map(ToString::to_string));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/messages");
    let mut out = Vec::new();
    for folder in fs::read_dir(root).expect("fixtures") {
        let folder = folder.expect("an entry").path();
        for file in fs::read_dir(folder).expect("a folder") {
            out.push(file.expect("an entry").path());
        }
    }
    out.sort();
    out
}

fn source(path: &Path) -> Source {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/messages");
    let is_rust = path.extension().is_some_and(|it| it == "rs");
    Source {
        id: SourceId(0),
        path: path.strip_prefix(root).unwrap_or(path).display().to_string(),
        language: if is_rust { Language::Rust } else { Language::Php },
        text: fs::read_to_string(path).expect("a fixture"),
        exempt: false,
    }
}

fn findings(engine: &Engine, source: &Source) -> Vec<Found> {
    let outcome = engine.analyze(std::slice::from_ref(source));
    let of_messages =
        outcome.findings.into_iter().filter(|it| RULES.contains(&&*it.rule.to_string()));
    of_messages.filter_map(|it| Found::of(&it, std::slice::from_ref(source))).collect()
}
