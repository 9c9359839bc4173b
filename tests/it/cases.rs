//! Does each case in `fixtures/cases` fire where it is marked before its repair, and nowhere after it?
//!
//! `UPDATE=1 cargo test cases` rewrites the markers to what is true today; the difference is then read in
//! review.

use crate::markers::{self, Correction, Found, Kind};
use rowrace::base::{Lines, Source};
use rowrace::config::Config;
use rowrace::discover::{Request, discover};
use rowrace::engine::{Engine, Options};
use rowrace::finding::{Finding, Severity};
use rowrace::pack::Packs;
use rowrace::triage::triage;
use std::fs;
use std::path::{Path, PathBuf};

/// Speaks of a whole program, which a case is not: it counts only where the case names it.
const WHOLE_PROGRAM_RULE: &str = "unswept-state";

#[test]
fn cases_fire_where_marked_and_are_silent_after_the_repair() {
    let packs = Packs::load(&[], &[]).unwrap_or_else(|errors| panic!("built-in packs: {errors}"));
    let engine = Engine::new(packs, Options::default());
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        for side in ["before", "after"] {
            let folder = case.join(side);
            if folder.is_dir() {
                let corrections = run(&engine, &case, &folder);
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
    let request = Request { cwd: folder, paths: &paths, exclude: &[], exclude_root: folder };
    discover(&request).expect("a folder").sources
}

/// Where the markers of a side and its findings disagree.
fn run(engine: &Engine, case: &Path, folder: &Path) -> Vec<Correction> {
    let toml = fs::read_to_string(case.join("case.toml")).expect("a case.toml");
    let sources = sources(folder);
    let marked: Vec<_> =
        sources.iter().flat_map(|it| markers::markers(&it.path, &it.text)).collect();
    let outcome = engine.analyze(&sources);
    let triaged = triage(outcome.findings, &sources, &Config::default());
    let mut found: Vec<Found> =
        triaged.findings.iter().map(|it| found(&it.finding, &sources)).collect();
    found.retain(|it| it.rule != WHOLE_PROGRAM_RULE || toml.contains(WHOLE_PROGRAM_RULE));
    markers::corrections(&marked, &found)
}

fn found(finding: &Finding, sources: &[Source]) -> Found {
    let source = &sources[finding.primary.source.0 as usize];
    let lines = Lines::of(&source.text);
    Found {
        path: source.path.clone(),
        line: lines.line_index(finding.primary.start) + 1,
        end_line: lines.line_index(finding.primary.end) + 1,
        rule: finding.rule.to_string(),
        is_note: finding.severity == Severity::Note,
    }
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
