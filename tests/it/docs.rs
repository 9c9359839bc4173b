//! Is what the README shows what the binary does?
//!
//! Below `<!-- checked -->` stands a `console` block: a command behind `$ `, then all that it prints.
//! `UPDATE=1 cargo test docs` writes what is true today.

use std::fs;
use std::path::Path;
use std::process::Command;

const MARK: &str = "<!-- checked -->\n```console\n$ ";
const CARGO: &str = "cargo run --quiet -- ";

#[test]
fn the_readme_shows_what_the_binary_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let text = fs::read_to_string(&path).expect("a README");
    let (head, block) = text.split_once(MARK).expect("a checked block");
    let (block, tail) = block.split_once("```\n").expect("an end of the block");
    let (command, shown) = block.split_once('\n').expect("a command");
    let args = command.strip_prefix(CARGO).expect("a command for cargo").split(' ');
    let mut binary = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    let output = binary.args(args).current_dir(root).output().expect("the binary starts");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8(printed).expect("UTF-8");
    if std::env::var_os("UPDATE").is_some() {
        let updated = format!("{head}{MARK}{command}\n{printed}```\n{tail}");
        fs::write(&path, updated).expect("written");
    } else {
        assert_eq!(shown, printed);
    }
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/architecture.md",
        "docs/ci.md",
        "docs/config.md",
        "docs/packs.md",
        "docs/formats.md",
        "docs/rules.md",
        "fixtures/cases/README.md",
    ] {
        let text = fs::read_to_string(root.join(page)).expect("a page");
        let folder = root.join(page);
        let folder = folder.parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|it| it.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let is_local = !target.contains("://") && !target.is_empty();
            assert!(!is_local || folder.join(target).exists(), "{page}: {link}");
        }
    }
}
