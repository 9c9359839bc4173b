//! Tests of the Rust front end: pinned dumps, places of texts, and that no input breaks it.

use super::lower;
use crate::base::{Language, ProblemKind, Source, SourceId};
use crate::ir::dump::dump_file;
use crate::ir::{self, Callee, InstrKind, Piece, Rvalue};
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

fn lowered(text: &str) -> ir::File {
    lower(&source("src/shop/jobs.rs", text))
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

#[test]
fn dumps_are_pinned() {
    #[expect(clippy::disallowed_methods, reason = "tests are told to rewrite their fixtures")]
    let update = std::env::var("UPDATE").is_ok();
    for path in fixtures() {
        let text = read(&path);
        let name = path.file_name().expect("a file").to_string_lossy();
        let file = lower(&source(&format!("fixtures/lang/rust/{name}"), &text));
        let actual = dump_file(&file, &text);
        let pinned = path.with_extension("ir");
        if update {
            #[expect(clippy::disallowed_methods, reason = "tests rewrite their fixtures")]
            std::fs::write(&pinned, &actual).expect("the fixture is writable");
        }
        assert_eq!(actual, read(&pinned), "{} (UPDATE=1 rewrites it)", path.display());
    }
}

/// Runs where deep recursion has the room that the engine's threads give it.
fn with_engine_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    thread.expect("a thread").join().expect("no panic");
}

fn instrs(file: &ir::File) -> impl Iterator<Item = &ir::Instr> {
    file.functions.iter().flat_map(|it| &it.cfg.blocks).flat_map(|it| &it.instrs)
}

/// Pieces of all texts, those of constants included.
fn pieces(file: &ir::File) -> Vec<Piece> {
    let texts = instrs(file).filter_map(|it| match &it.kind {
        InstrKind::Assign(_, Rvalue::Text(text)) => Some(text),
        _ => None,
    });
    let consts = file.consts.iter().chain(file.types.iter().flat_map(|it| &it.consts));
    let consts = consts.filter_map(|it| it.text.as_ref());
    texts.chain(consts).flat_map(|it| &it.pieces).cloned().collect()
}

/// Every letter of a literal must be found where its offset says.
fn assert_places(text: &str) -> usize {
    let file = lowered(text);
    let mut n_letters = 0;
    for piece in pieces(&file) {
        let Piece::Lit { value, span, .. } = &piece else { continue };
        assert!(text.get(span.range()).is_some(), "{span:?}");
        for (at, letter) in value.char_indices().filter(|(_, it)| it.is_ascii_alphabetic()) {
            let source = piece.source_offset(u32::try_from(at).expect("small")) as usize;
            let found = text[source..].chars().next();
            assert_eq!(found, Some(letter), "{at} of {value:?} in {:?}", &text[span.range()]);
            n_letters += 1;
        }
    }
    n_letters
}

#[test]
fn letters_of_texts_are_where_they_stand() {
    let code = "/* ü */ fn f() {
        let a = \"UPDATE \\
                 jobs\\n  SET \\\"q\\\" \\\\ tail\";
        let b = r##\"SELECT \"x\"#
            FROM jobs\"##;
        let c = format!(\"ü {{a}} {x} \\
            b {y:?} {{{z}}} \\n end\", y = 1);
        let d = \"CRLF line\r\n next line\";
        let e = concat!(\"one \", \"two\\t\", \"three\");
        let g = \"\\0 \\t \\r SET\" ;
    }
    const SQL: &str = \"UPDATE jobs\\n SET a\";";
    assert!(assert_places(code) > 70);
    assert!(assert_places(&format!("\u{feff}{code}")) > 70);
    assert!(assert_places(&format!("#!/usr/bin/env run\n{code}")) > 70);
    assert!(assert_places(&code.replace("\r\n", "\n").replace('\n', "\r\n")) > 70);
}

#[test]
fn places_hold_in_all_fixtures_and_in_any_order_of_parses() {
    let texts: Vec<_> = fixtures().iter().map(|it| read(it)).collect();
    for text in texts.iter().chain(texts.iter().rev()) {
        assert_places(text);
        let file = lowered(text);
        for instr in instrs(&file) {
            assert!(text.get(instr.span.range()).is_some(), "{:?}", instr.span);
            if let InstrKind::Call(call) = &instr.kind
                && let Callee::Method { name, .. } | Callee::Static { name, .. } = &call.callee
            {
                assert_eq!(text[call.name_span.range()], **name);
            }
        }
    }
}

#[test]
fn a_syntax_error_is_one_problem_with_its_line() {
    for (text, line, left) in [
        ("fn f() {}\nfn g( {}\n", 2, 1),
        ("fn f() {\n", 1, 0),
        ("fn f() {}\n\nfn g() { let = 1; }\n", 3, 1),
        ("fn f() { \"open }\n", 1, 0),
        ("\u{feff}#!/bin/run\nfn f() ]\n", 2, 0),
        ("struct A\n", 2, 0),
    ] {
        let file = lowered(text);
        assert_eq!(file.problems.len(), 1, "{text:?}");
        let problem = &file.problems[0];
        assert_eq!(problem.kind, ProblemKind::Syntax, "{text:?}");
        let start = problem.span.expect("a place").start as usize;
        assert_eq!(text[..start].matches('\n').count() + 1, line, "{text:?}: {problem:?}");
        assert_eq!(file.functions.len() + file.types.len(), left, "{text:?}");
    }
}

fn assert_sound(text: &str) {
    for func in &lowered(text).functions {
        if let Err(error) = func.cfg.validate() {
            assert!(func.is_abstract, "{}: {error}\n{text}", func.name);
        }
        for block in &func.cfg.blocks {
            for instr in &block.instrs {
                assert!(text.get(instr.span.range()).is_some(), "{:?}", instr.span);
            }
        }
    }
}

#[test]
fn mangled_fixtures_break_nothing() {
    for path in fixtures() {
        let text = read(&path);
        let lines: Vec<_> = text.lines().collect();
        for idx in 0..lines.len() {
            let without: Vec<_> =
                lines.iter().enumerate().filter(|it| it.0 != idx).map(|it| *it.1).collect();
            assert_sound(&without.join("\n"));
            if idx % 5 == 0 {
                assert_sound(&lines[..idx].join("\n"));
            }
        }
        for (at, _) in text.char_indices().step_by(97) {
            assert_sound(&format!("{}{}", &text[..at], &text[(at + 1..).start..]));
        }
    }
}

#[test]
fn tokens_may_go_missing_where_the_rest_still_parses() {
    // What is left parses often enough when single words are dropped.
    for path in fixtures() {
        let text = read(&path);
        let words: Vec<_> = text.split_inclusive(' ').collect();
        for idx in (0..words.len()).step_by(7) {
            let mut words = words.clone();
            words.remove(idx);
            assert_sound(&words.concat());
        }
    }
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    with_engine_stack(|| {
        let body = |expr: String| format!("fn f() {{ let x = {expr}; g(x); }}");
        let nested = |open: &str, inner: &str, close: &str, n: usize| {
            format!("{}{inner}{}", open.repeat(n), close.repeat(n))
        };
        for refused in [
            nested("(", "1", ")", 5000),
            nested("{", "1", "}", 5000),
            nested("f(|x| ", "1", ")", 5000),
            nested("!", "x", "", 100_000),
            nested("&", "x", "", 100_000),
            nested("|a| ", "x", "", 100_000),
            nested("return ", "x", "", 100_000),
            nested("x as Box<", "u8", ">", 100_000),
            nested("a = ", "b", "", 100_000),
        ] {
            let file = lowered(&body(refused));
            assert_eq!(file.problems.len(), 1);
            assert_eq!(file.problems[0].kind, ProblemKind::Limit);
            assert!(file.functions.is_empty());
        }
        for accepted in [
            nested("(", "1", ")", 150),
            nested("{", "1", "}", 150),
            nested("f(|x| ", "1", ")", 90),
            nested("if a { b } else ", "{ c }", "", 1000),
            nested("a + ", "b", "", 3000),
            nested("a && ", "b", "", 1500),
            nested("\"a b\".to_string() + ", "b", "", 1500),
            nested("x", "", ".y(1)", 5000),
            nested("x", "", ".y(1)?.z", 3000),
            nested("!", "x", "", 3000),
            nested("a = ", "b", "", 3000),
            nested("|a| ", "x", "", 1500),
            nested("return ", "x", "", 3000),
            nested("vec![", "x", "]", 150),
        ] {
            let start = accepted[..10].to_owned();
            let file = lowered(&body(accepted));
            assert!(!file.functions.is_empty(), "{start}: {:?}", file.problems);
            assert!(file.problems.iter().all(|it| it.kind == ProblemKind::Limit), "{start}");
            assert!(file.functions.iter().all(|it| it.cfg.validate().is_ok()), "{start}");
        }
    });
}

#[test]
fn deep_types_and_patterns_are_bounded() {
    with_engine_stack(|| {
        let types = format!("fn f(x: {}u8{}) {{}}", "Box<".repeat(1500), ">".repeat(1500));
        assert_sound(&types);
        assert_sound(&format!("fn f() {{ let {}x = y; }}", "&".repeat(3000)));
        assert_sound(&format!("fn f() {{ let {}x{} = y; }}", "(".repeat(150), ")".repeat(150)));
        assert_sound(&format!("use a{}::b;", "::c".repeat(1500)));
        let cases = (0..1500).map(|it| it.to_string()).collect::<Vec<_>>().join(" | ");
        assert_sound(&format!("fn f() {{ match x {{ {cases} => 1, _ => 2 }} }}"));
    });
}

#[test]
fn many_ways_out_of_many_scopes_are_bounded() {
    let guards = "let a = JobGuard::new();".repeat(400);
    let exits = "x()?;".repeat(400);
    let file = lowered(&format!("fn f() -> R {{ {guards} {exits} Ok(()) }}"));
    assert_eq!(file.problems.len(), 1);
    assert_eq!(file.problems[0].kind, ProblemKind::Limit);
}

#[test]
fn imports_tell_the_libraries() {
    let file = lowered(
        "use sqlx::{PgPool, Row as _}; use diesel::prelude::*; use crate::x;
        fn f(db: &sea_orm::DatabaseConnection) { rusqlite::open(); sqlx::query!(\"x\"); }",
    );
    let imports: Vec<_> = file.imports.iter().map(|it| &**it).collect();
    assert_eq!(
        imports,
        [
            "sqlx::PgPool",
            "sqlx::Row",
            "diesel::prelude::*",
            "crate::x",
            "sea_orm::DatabaseConnection",
            "rusqlite::open",
            "sqlx::query"
        ]
    );
}

#[test]
fn test_code_is_exempt() {
    let file =
        lowered(&read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/lang/rust/exempt.rs")));
    let exempt: Vec<_> =
        file.functions.iter().filter(|it| it.exempt).map(|it| &*it.short).collect();
    assert_eq!(exempt, ["unit", "helper", "alone", "{closure#0}", "slow"]);
    assert!(lowered("#![cfg(test)] fn f() {}").exempt);
}
