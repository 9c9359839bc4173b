//! Tests of the Rust front end: pinned dumps, places of texts, and that no input breaks it.

use super::lower;
use crate::base::{Language, Source, SourceId};
use crate::ir::dump::dump_file;
use crate::ir::{self, InstrKind, Piece, Rvalue};
use std::path::{Path, PathBuf};

fn source(path: &str, text: &str) -> Source {
    Source {
        id: SourceId(0),
        path: path.to_owned(),
        language: Language::Rust,
        text: text.to_owned(),
        exempt: false,
    }
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/lang/rust");
    #[expect(clippy::disallowed_methods, reason = "tests read their fixtures")]
    let entries = std::fs::read_dir(folder).expect("the fixtures are there");
    let mut out: Vec<_> = entries.map(|it| it.expect("an entry").path()).collect();
    out.retain(|it| it.extension().is_some_and(|it| it == "rs"));
    out.sort();
    out
}

#[expect(clippy::disallowed_methods, reason = "tests read their fixtures")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn dump(text: &str) -> String {
    dump_file(&lower(&source("src/shop/jobs.rs", text)), text)
}

#[test]
fn dumps_are_pinned() {
    #[expect(clippy::disallowed_methods, reason = "tests are told to rewrite their fixtures")]
    let update = std::env::var("UPDATE").is_ok();
    for path in fixtures() {
        let text = read(&path);
        let actual = dump(&text);
        let pinned = path.with_extension("ir");
        if update {
            #[expect(clippy::disallowed_methods, reason = "tests rewrite their fixtures")]
            std::fs::write(&pinned, &actual).expect("the fixture is writable");
        }
        assert_eq!(actual, read(&pinned), "{} (UPDATE=1 rewrites it)", path.display());
    }
}
