//! How is a text taken in that stands in no file yet: what an editor holds of one?

use super::exempt::is_exempt;
use super::language::Hint;
use super::walk::{shown_root, slashed};
use super::{DiscoverError, Discovered, decode};
use crate::base::{Source, SourceId};
use std::fs;
use std::path::{Component, Path, PathBuf};

impl Discovered {
    /// Takes `bytes` as the content of the file at `given`, which need not exist, whatever was read
    /// of it before. Gives its path as it is shown.
    pub fn put(&mut self, cwd: &Path, given: &Path, bytes: &[u8]) -> Result<String, DiscoverError> {
        let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
        let path = resolved(&cwd.join(given));
        let shown = slashed(&shown_root(given, &path, &cwd));
        let text = decode::decode(bytes);
        let language = Hint::of(&path).and_then(|it| it.language(&text));
        let language = language.ok_or_else(|| DiscoverError::Language { path: shown.clone() })?;
        let exempt = is_exempt(Path::new(&shown));
        let source = Source { id: SourceId(0), path: shown.clone(), language, text, exempt };
        match self.sources.binary_search_by(|it| it.path.as_str().cmp(&shown)) {
            Ok(idx) => {
                let exempt = self.sources[idx].exempt;
                self.sources[idx] = Source { exempt, ..source };
            }
            Err(idx) => self.sources.insert(idx, source),
        }
        for (idx, source) in self.sources.iter_mut().enumerate() {
            source.id = SourceId(u32::try_from(idx).unwrap_or(u32::MAX));
        }
        self.problems.retain(|it| it.path != shown);
        Ok(shown)
    }
}

/// The real path of a file; of one that does not exist the real path of its folder, and its name.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => (),
            part => out.push(part),
        }
    }
    let folder = out.parent().and_then(|it| fs::canonicalize(it).ok());
    match (folder, out.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => out,
    }
}
