//! What does a run find in a few sources, as the markers see it?

use crate::markers::{self, Correction, Found};
use rowrace::base::{Language, Source, SourceId};
use rowrace::config::Config;
use rowrace::engine::{Engine, Options};
use rowrace::pack::Packs;
use rowrace::triage::triage;
use std::path::{Path, PathBuf};

/// Speaks of a whole program, which a fixture is not.
pub(crate) const WHOLE_PROGRAM_RULE: &str = "unswept-state";

/// An engine with the built-in packs.
pub(crate) fn engine() -> Engine {
    Engine::new(packs(), Options::default())
}

/// The built-in packs.
pub(crate) fn packs() -> Packs {
    Packs::load(&[], &[]).unwrap_or_else(|errors| panic!("built-in packs: {errors}"))
}

/// What is reported in the sources, notes included.
pub(crate) fn findings(engine: &Engine, sources: &[Source]) -> Vec<Found> {
    let outcome = engine.analyze(sources);
    let triaged = triage(outcome.findings, sources, &Config::default().into());
    triaged.findings.iter().filter_map(|it| Found::of(&it.finding, sources)).collect()
}

/// Where the markers in the sources and the findings disagree; `keeps` says which findings count.
pub(crate) fn corrections(
    engine: &Engine,
    sources: &[Source],
    keeps: impl Fn(&Found) -> bool,
) -> Vec<Correction> {
    let marked: Vec<_> =
        sources.iter().flat_map(|it| markers::markers(&it.path, &it.text)).collect();
    let mut found = findings(engine, sources);
    found.retain(keeps);
    markers::corrections(&marked, &found)
}

/// A source on its own.
pub(crate) fn source(path: &str, text: String, language: Language) -> Source {
    Source { id: SourceId(0), path: path.to_owned(), language, text, exempt: false }
}

/// Every file below `folder` with that ending, in order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { out.push(path) }
        }
    }
    out.sort();
    out
}

/// The language by the file's ending.
pub(crate) fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "php" => Some(Language::Php),
        "rs" => Some(Language::Rust),
        "sql" => Some(Language::Sql),
        _ => None,
    }
}
