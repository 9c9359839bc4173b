//! Embeds every `rules/**/*.toml` in the binary: `OUT_DIR/builtin.rs` declares `BUILTIN`, pairs of
//! path below `rules/` and text, sorted by path. There is no list to keep.

#![expect(clippy::disallowed_methods, reason = "a build script reads files and the environment")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut paths = Vec::new();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=rules");
    if root.join("rules").is_dir() {
        collect(&root, Path::new("rules"), &mut paths)?;
    }
    paths.sort();
    fs::write(Path::new(&variable("OUT_DIR")?).join("builtin.rs"), table(&paths))
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

/// Appends the TOML files below `folder`, with `/`, relative to `root`.
fn collect(root: &Path, folder: &Path, out: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let shown = path.to_string_lossy().replace('\\', "/");
        if entry.file_type()?.is_dir() {
            println!("cargo::rerun-if-changed={shown}");
            collect(root, &path, out)?;
        } else if path.extension().is_some_and(|it| it == "toml") {
            println!("cargo::rerun-if-changed={shown}");
            out.push(shown);
        }
    }
    Ok(())
}

fn table(paths: &[String]) -> String {
    let mut out = String::from(
        "/// Path below `rules/` and text of every built-in rule and pack, sorted by path.\n\
         pub static BUILTIN: &[(&str, &str)] = &[\n",
    );
    for path in paths {
        let file = format!("/{path}");
        let name = path.strip_prefix("rules/").unwrap_or(path);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),"
        );
    }
    out.push_str("];\n");
    out
}
