//! Which rules and packs are in the binary: every `rules/**/*.toml`, embedded in path order.

#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    let rules = root.join("rules");
    let mut files = Vec::new();
    collect(&rules, &mut files)?;
    files.sort();
    let mut text = String::from("/// Path below `rules/` and text of every built-in file.\n");
    text.push_str("pub static BUILTIN: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&rules).map_err(io::Error::other)?;
        let name = name.to_string_lossy().replace('\\', "/");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    ({name:?}, include_str!({:?})),", file.to_string_lossy());
        println!("cargo::rerun-if-changed={}", file.display());
    }
    text.push_str("];\n");
    println!("cargo::rerun-if-changed=build.rs");
    fs::write(out.join("builtin.rs"), text)
}

/// All `.toml` files below `folder`; the folders themselves are watched for new files.
fn collect(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|it| it == "toml") {
            out.push(path);
        }
    }
    Ok(())
}
