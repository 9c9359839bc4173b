//! How are the files read that are not analysed: configuration, and rules of the user?

use super::DiscoverError;
use std::fs;
use std::path::{Path, PathBuf};

/// The text of the file at `path`.
pub fn read_text(path: &Path) -> Result<String, DiscoverError> {
    fs::read_to_string(path).map_err(|source| DiscoverError::Path { path: shown(path), source })
}

/// Path and text of every TOML file below `folder`, sorted by path.
pub fn read_toml_folder(folder: &Path) -> Result<Vec<(String, String)>, DiscoverError> {
    let mut paths = Vec::new();
    collect_toml(folder, 0, &mut paths)?;
    if paths.is_empty() {
        return Err(DiscoverError::NoRules { path: shown(folder) });
    }
    paths.sort();
    paths.iter().map(|path| Ok((shown(path), read_text(path)?))).collect()
}

/// The folders and files directly in `folder`, hidden ones left out, sorted by name.
pub fn entries(cwd: &Path, folder: &Path) -> Result<Vec<PathBuf>, DiscoverError> {
    let failed = |source| DiscoverError::Path { path: shown(folder), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(cwd.join(folder)).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names.iter().map(|it| folder.join(it)).filter(|it| cwd.join(it).exists()).collect())
}

/// Path and text of the manifests of package managers in `folder` and not far below, sorted by path.
pub fn manifests(folder: &Path) -> Vec<(String, String)> {
    let walk = ignore::WalkBuilder::new(folder)
        .require_git(false)
        .max_depth(Some(3))
        .filter_entry(|it| !matches!(it.file_name().to_str(), Some("vendor" | "node_modules")))
        .build();
    let is_manifest = |path: &Path| path.ends_with("composer.json") || path.ends_with("Cargo.toml");
    let paths = walk.flatten().map(ignore::DirEntry::into_path).filter(|it| is_manifest(it));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        Some((shown(path.strip_prefix(folder).unwrap_or(&path)), text))
    };
    let mut found: Vec<_> = paths.filter_map(read).collect();
    found.sort();
    found
}

fn collect_toml(folder: &Path, depth: usize, out: &mut Vec<PathBuf>) -> Result<(), DiscoverError> {
    let failed = |source| DiscoverError::Path { path: shown(folder), source };
    // A link may lead back up: no folder of rules is nested this deep.
    if depth > 16 {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() && !path.is_symlink() {
            collect_toml(&path, depth + 1, out)?;
        } else if path.extension().is_some_and(|it| it == "toml") && path.is_file() {
            out.push(path);
        }
    }
    Ok(())
}

/// The path for people.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
