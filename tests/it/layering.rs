//! Does every module import only what the architecture lets it, and does every outside crate have its
//! one home? A new edge is a change to a table below, so that a reviewer sees it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Who may import whom. Modules that are not named have no right to anything.
const EDGES: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("finding", &["base"]),
    ("ir", &["base"]),
    ("lang", &["base", "ir", "lang::php", "lang::rust", "lang::sql"]),
    ("lang::php", &["base", "ir"]),
    ("lang::rust", &["base", "ir"]),
    ("lang::sql", &["base", "ir"]),
    ("model", &["base", "ir"]),
    ("rule", &["base", "finding", "model"]),
    ("pack", &["base", "finding", "model", "rule"]),
    // SQL is read where it is run: only there are its pieces known.
    ("analysis", &["base", "finding", "ir", "lang::sql", "model"]),
    ("check", &["base", "finding", "ir", "model", "rule", "analysis"]),
    ("config", &["base", "finding", "model"]),
    ("discover", &["base", "config"]),
    ("triage", &["base", "config", "finding"]),
    ("marker", &["base", "finding"]),
    (
        "engine",
        &[
            "base",
            "finding",
            "ir",
            "lang",
            "lang::sql",
            "model",
            "rule",
            "pack",
            "analysis",
            "check",
            "config",
            "triage",
        ],
    ),
    ("report", &["base", "finding", "rule", "triage"]),
    (
        "cli",
        // The command line starts the server, and nothing else of it.
        &[
            "base", "config", "discover", "engine", "finding", "lsp", "marker", "model", "pack",
            "report", "rule", "triage",
        ],
    ),
    (
        "lsp",
        &[
            "base", "config", "discover", "engine", "finding", "model", "pack", "report", "rule",
            "triage",
        ],
    ),
    ("main", &["cli"]),
];

/// Where each outside crate lives. `std` and its kin live everywhere, and so do the small crates that
/// only spare a few lines: they are listed with `*`.
const HOMES: &[(&str, &[&str])] = &[
    ("tree_sitter", &["lang::php"]),
    ("tree_sitter_php", &["lang::php"]),
    ("syn", &["lang::rust"]),
    ("quote", &["lang::rust"]),
    ("proc_macro2", &["lang::rust"]),
    ("sqlparser", &["lang::sql"]),
    ("toml", &["pack", "config"]),
    ("schemars", &["config"]),
    ("serde", &["pack", "report", "lsp"]),
    ("serde_json", &["config", "report", "triage", "lsp"]),
    ("lsp_server", &["lsp"]),
    ("lsp_types", &["lsp"]),
    ("crossbeam_channel", &["lsp"]),
    ("codespan_reporting", &["report"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("indicatif", &["cli"]),
    ("quick_xml", &["report"]),
    ("anyhow", &["cli", "lsp"]),
    ("mimalloc", &["main"]),
    ("ignore", &["discover"]),
    ("git2", &["discover"]),
    ("imara_diff", &["triage"]),
    ("rayon", &["engine"]),
    ("regex", &["lang::sql", "model", "pack"]),
    ("thiserror", &["*"]),
    ("indexmap", &["*"]),
    ("rustc_hash", &["*"]),
];

#[test]
fn modules_only_look_down() {
    let mut wrong = Vec::new();
    for (path, used) in uses_of_all_files() {
        let module = module_of(&path);
        let allowed = EDGES.iter().find(|(name, _)| *name == module);
        let Some((_, allowed)) = allowed else {
            wrong.push(format!("{}: `{module}` is not in the table", path.display()));
            continue;
        };
        for target in used.modules {
            let is_own = target == module || target.starts_with(&format!("{module}::"));
            if !is_own && !allowed.contains(&target.as_str()) {
                wrong.push(format!("{}: `{module}` may not import `{target}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn outside_crates_stay_at_home() {
    let mut wrong = Vec::new();
    for (path, used) in uses_of_all_files() {
        let module = module_of(&path);
        for name in used.crates {
            let homes = HOMES.iter().find(|(it, _)| *it == name).map_or(&[][..], |it| it.1);
            if !homes.contains(&"*") && !homes.contains(&module.as_str()) {
                wrong.push(format!("{}: `{name}` does not live in `{module}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_dependency_is_in_the_table() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let table = manifest.split("[dependencies]").nth(1).expect("dependencies");
    let table = table.split("\n[").next().expect("a table");
    for line in table.lines().filter(|it| it.contains('=')) {
        let name = line.split('=').next().expect("a name").trim().replace('-', "_");
        assert!(HOMES.iter().any(|it| it.0 == name), "`{name}` has no home");
    }
}

#[test]
fn a_forbidden_import_is_seen_in_every_form() {
    let module = ["lang".to_owned(), "php".to_owned(), "stmt".to_owned()];
    for code in [
        "use crate::lang::sql::Query;",
        "use crate::{base::Span, lang::{sql, rust}};",
        "use super::super::sql;",
        "fn f() { some_macro!(crate::lang::sql::parse(x)); }",
    ] {
        let used = uses(&code.parse().expect("tokens"), &module);
        assert!(used.modules.contains("lang::sql"), "{code}: {used:?}");
    }
    let test = "#[cfg(test)] mod tests { use crate::check::Check; use insta::x; }";
    assert_eq!(uses(&test.parse().expect("tokens"), &module), Uses::default());
    let used =
        uses(&"use sqlparser::ast; self::toml::x(); a.syn();".parse().expect("tokens"), &module);
    assert_eq!(used.crates.iter().collect::<Vec<_>>(), ["sqlparser"]);
}

/// Modules and outside crates that a file speaks of.
#[derive(Debug, Default, PartialEq)]
struct Uses {
    modules: BTreeSet<String>,
    crates: BTreeSet<String>,
}

fn uses_of_all_files() -> Vec<(PathBuf, Uses)> {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    // As inline test modules, files of tests may look wherever they like.
    files.retain(|it| !it.ends_with("tests.rs"));
    let parsed = files.into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("readable");
        let tokens: TokenStream = text.parse().expect("tokens of a file that compiles");
        let used = uses(&tokens, &module_path(&path));
        (path, used)
    });
    parsed.collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Appends all Rust files below `folder`, sorted.
pub(crate) fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|it| it == "rs") {
            out.push(path);
        }
    }
}

/// `src/lang/php/stmt.rs` is `lang::php::stmt`; `mod.rs` is its folder.
fn module_path(path: &Path) -> Vec<String> {
    let relative = path.strip_prefix(root().join("src")).expect("below src").with_extension("");
    let names = relative.iter().map(|it| it.to_string_lossy().into_owned());
    names.filter(|it| it != "mod" && it != "lib").collect()
}

/// The row of the table that a file falls under.
fn module_of(path: &Path) -> String {
    let names = module_path(path);
    // `lib.rs` only declares modules: it imports nothing.
    row(&names).unwrap_or_else(|| "base".to_owned())
}

fn row(names: &[String]) -> Option<String> {
    let first = names.first()?;
    match names.get(1) {
        Some(second) if first == "lang" => {
            let child = format!("lang::{second}");
            Some(if EDGES.iter().any(|it| it.0 == child) { child } else { first.clone() })
        }
        _ => Some(first.clone()),
    }
}

fn uses(tokens: &TokenStream, module: &[String]) -> Uses {
    let mut used = Uses::default();
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    scan(&trees, module, &mut used);
    used
}

fn scan(trees: &[TokenTree], module: &[String], used: &mut Uses) {
    let mut idx = 0;
    while idx < trees.len() {
        if let Some(next) = past_test_module(&trees[idx..]) {
            idx += next;
            continue;
        }
        match &trees[idx] {
            TokenTree::Group(group) => scan(&content(group), module, used),
            TokenTree::Ident(ident) if !is_inside_path(trees, idx) => {
                path_from(&ident.to_string(), &trees[idx + 1..], module, used);
            }
            _ => (),
        }
        idx += 1;
    }
}

/// How many trees `#[cfg(test)] mod name { … }` takes, when `trees` begins with it.
fn past_test_module(trees: &[TokenTree]) -> Option<usize> {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), rest @ ..] = trees else {
        return None;
    };
    let is_test =
        hash.as_char() == '#' && attribute.stream().to_string().replace(' ', "") == "cfg(test)";
    match rest {
        [TokenTree::Ident(word), _, TokenTree::Group(_), ..] if is_test && word == "mod" => Some(5),
        _ => None,
    }
}

/// Whether the identifier at `idx` follows a `::` or a `.`.
fn is_inside_path(trees: &[TokenTree], idx: usize) -> bool {
    let before = idx.checked_sub(1).map(|it| &trees[it]);
    matches!(before, Some(TokenTree::Punct(it)) if it.as_char() == ':' && it.spacing() == proc_macro2::Spacing::Alone && idx >= 2 && is_colon(&trees[idx - 2]))
        || matches!(before, Some(TokenTree::Punct(it)) if it.as_char() == '.')
}

/// Notes what a path that begins with `first` leads to.
fn path_from(first: &str, rest: &[TokenTree], module: &[String], used: &mut Uses) {
    if !starts_with_colons(rest) {
        return;
    }
    match first {
        "crate" => follow(&rest[2..], &mut Vec::new(), used),
        "self" => (),
        "super" => {
            let mut names = module.to_vec();
            names.pop();
            follow(&rest[2..], &mut names, used);
        }
        name if HOMES.iter().any(|it| it.0 == name) => {
            used.crates.insert(name.to_owned());
        }
        _ => (),
    }
}

/// Walks a path, and every branch of a `{…}` in it, as far as a row of the table is decided.
fn follow(trees: &[TokenTree], names: &mut Vec<String>, used: &mut Uses) {
    match trees {
        [TokenTree::Ident(ident), rest @ ..] => {
            let name = ident.to_string();
            if name == "super" {
                names.pop();
            } else {
                names.push(name);
            }
            if starts_with_colons(rest) && names.len() < 2 {
                follow(&rest[2..], names, used);
            } else {
                note(names, used);
            }
        }
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Brace => {
            let trees = content(group);
            for branch in
                trees.split(|it| matches!(it, TokenTree::Punct(it) if it.as_char() == ','))
            {
                follow(branch, &mut names.clone(), used);
            }
        }
        _ => note(names, used),
    }
}

fn note(names: &[String], used: &mut Uses) {
    // Macros of `base` are exported at the root of the crate.
    if names.first().is_some_and(|it| it == "id_type") {
        return;
    }
    used.modules.extend(row(names));
}

fn starts_with_colons(trees: &[TokenTree]) -> bool {
    trees.len() > 2 && is_colon(&trees[0]) && is_colon(&trees[1])
}

fn is_colon(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(it) if it.as_char() == ':')
}

fn content(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}
