//! How are the files read that are not analysed: configuration, and rules of the user?

use super::DiscoverError;
use std::fs;
use std::path::{Path, PathBuf};

/// The nearest file called `name` in `folder` or above it.
pub fn find_upwards(folder: &Path, name: &str) -> Option<PathBuf> {
    folder.ancestors().map(|it| it.join(name)).find(|it| it.is_file())
}

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

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
