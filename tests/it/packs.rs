//! Does each call that a file in `fixtures/packs` marks with `//~ role:x` mean that to the packs?
//!
//! ```text
//! $card = $database->get('card', '*', ['id' => $id]);   //~ role:load
//! $stmt->getIterator();                                 //~ MISSING role:fetch
//! ```
//!
//! `MISSING` marks a call that is not understood yet; the test fails when it is, so that the word goes.

use crate::run;
use rowrace::base::Lines;
use rowrace::engine::Engine;
use rowrace::marker::{role_corrections, role_markers};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

#[test]
fn calls_mean_what_the_packs_say() {
    let engine = run::engine();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/packs");
    let mut wrong = Vec::new();
    for path in run::files(&folder) {
        let Some(language) = run::language(&path) else { continue };
        let text = fs::read_to_string(&path).expect("a fixture");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = roles(&engine, &name, &text, language);
        wrong.extend(role_corrections(&name, &role_markers(&text), &found));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The roles of the calls in each line.
fn roles(
    engine: &Engine,
    name: &str,
    text: &str,
    language: rowrace::base::Language,
) -> BTreeMap<usize, BTreeSet<&'static str>> {
    let lines = Lines::of(text);
    let mut out: BTreeMap<usize, BTreeSet<&'static str>> = BTreeMap::new();
    for (span, roles) in engine.roles(&[run::source(name, text.to_owned(), language)]) {
        out.entry(lines.line_index(span.start) + 1).or_default().extend(roles);
    }
    out
}
