//! Does lowering give the IR that is pinned beside each program in `fixtures/lang/<language>`?
//!
//! `topic.php` (or `.rs`, `.sql`) goes in, the printed IR is compared with `topic.ir`. Run with
//! `UPDATE=1` to write the `.ir` files, then read the difference.

use rowrace::base::{Language, Source, SourceId};
use rowrace::ir::{File, dump};
use rowrace::lang;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The front end's answer; none for languages that have no front end yet.
fn lower(source: &Source) -> Option<File> {
    match source.language {
        Language::Php => Some(lang::php::lower(source)),
        Language::Rust | Language::Sql => None,
    }
}

#[test]
fn lowering_gives_the_pinned_ir() {
    let mut failures = String::new();
    let mut n_fixtures = 0;
    for (path, language) in fixtures() {
        let source = source(&path, language);
        let Some(file) = lower(&source) else { continue };
        n_fixtures += 1;
        for func in &file.functions {
            func.cfg.validate().unwrap_or_else(|it| panic!("{}: {}: {it}", source.path, func.name));
        }
        let found = dump::dump_file(&file, &source.text);
        if let Some(difference) = compare(&path.with_extension("ir"), &found) {
            let _ = writeln!(failures, "{}\n{difference}", source.path);
        }
    }
    assert!(n_fixtures > 0, "no fixture was found");
    assert!(failures.is_empty(), "run with UPDATE=1 and read the difference\n{failures}");
}

/// A damaged program costs the damaged part, never the run.
#[test]
fn damaged_programs_are_lowered() {
    for (path, language) in fixtures() {
        let whole = source(&path, language);
        let cuts = cuts(&whole.text);
        // A prime step keeps the run short and meets every kind of token over all fixtures.
        for (start, end) in cuts.iter().copied().step_by(7) {
            check(&whole, &[&whole.text[..start], &whole.text[end..]].concat());
        }
        for (start, _) in cuts.iter().copied().step_by(53) {
            check(&whole, &whole.text[..start]);
        }
    }
}

fn check(whole: &Source, text: &str) {
    let damaged = Source { text: text.to_owned(), ..whole.clone() };
    let Some(file) = lower(&damaged) else { return };
    for func in &file.functions {
        func.cfg.validate().unwrap_or_else(|it| panic!("{it}\n{text}"));
    }
}

/// Ranges of words and of single punctuation characters.
fn cuts(text: &str) -> Vec<(usize, usize)> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut is_inside = false;
    for (at, it) in text.char_indices() {
        let end = at + it.len_utf8();
        match out.last_mut() {
            Some(last) if is_inside && is_word(it) => last.1 = end,
            _ if !it.is_whitespace() => out.push((at, end)),
            _ => (),
        }
        is_inside = is_word(it);
    }
    out
}

/// Every program under `fixtures/lang`, in the order of its path.
fn fixtures() -> Vec<(PathBuf, Language)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/lang");
    let mut out = Vec::new();
    for folder in entries(&root) {
        for path in entries(&folder) {
            let language = match path.extension().and_then(|it| it.to_str()) {
                Some("php") => Language::Php,
                Some("rs") => Language::Rust,
                Some("sql") => Language::Sql,
                _ => continue,
            };
            out.push((path, language));
        }
    }
    out.sort();
    out
}

#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).collect()
}

#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn source(path: &Path, language: Language) -> Source {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path);
    let path = path.to_string_lossy().replace('\\', "/");
    Source { id: SourceId(0), path, language, text, exempt: false }
}

/// The first lines that differ from the pinned dump; with `UPDATE=1` it is written instead.
#[expect(clippy::disallowed_methods, reason = "fixtures are files, UPDATE is the switch")]
fn compare(pinned: &Path, found: &str) -> Option<String> {
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(pinned, found).expect("the fixture folder is writable");
        return None;
    }
    let wanted = std::fs::read_to_string(pinned).unwrap_or_default().replace("\r\n", "\n");
    if wanted == found {
        return None;
    }
    let same = wanted.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    let excerpt = |it: &str, sign| {
        it.lines().skip(same).take(8).fold(String::new(), |mut out, line| {
            let _ = writeln!(out, "  {sign} {line}");
            out
        })
    };
    Some(format!("  line {}:\n{}{}", same + 1, excerpt(&wanted, '-'), excerpt(found, '+')))
}
