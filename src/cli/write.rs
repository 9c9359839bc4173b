//! How are files of the user changed? As a whole or not at all, and never one that changed meanwhile or
//! that was read in another encoding.

#![expect(clippy::disallowed_methods, reason = "this is the part of the command line that writes")]

use crate::base::Source;
use crate::finding::Edit;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// A byte order mark in front of a text in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Applies `edits` to the files of `sources`; gives the number of files that were changed.
pub(super) fn apply(edits: &[Edit], sources: &[Source], cwd: &Path) -> Result<usize> {
    let mut by_source: BTreeMap<u32, Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        by_source.entry(edit.span.source.0).or_default().push(edit);
    }
    let mut texts = Vec::new();
    for (id, edits) in by_source {
        if let Some(source) = sources.get(id as usize) {
            let path = cwd.join(&source.path);
            texts.push((edited(&path, source, edits)?, path));
        }
    }
    for (bytes, path) in &texts {
        replace(path, bytes)?;
    }
    Ok(texts.len())
}

fn edited(path: &Path, source: &Source, mut edits: Vec<&Edit>) -> Result<Vec<u8>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", source.path))?;
    let body = bytes.strip_prefix(MARK).unwrap_or(&bytes);
    let text = source.text.strip_prefix('\u{FEFF}').unwrap_or(&source.text);
    if body != text.as_bytes() {
        bail!("`{}` is not in UTF-8, or has changed: it is left alone", source.path);
    }
    edits.sort_by_key(|it| std::cmp::Reverse((it.span.start, it.span.end)));
    edits.dedup();
    let mut out = source.text.clone();
    let mut before = usize::MAX;
    for edit in edits {
        let range = edit.span.range();
        // Of two edits of one place only the first is made; the next run makes the other.
        if range.end <= before && out.get(range.clone()).is_some() {
            out.replace_range(range.clone(), &edit.replacement);
            before = range.start;
        }
    }
    let has_mark = bytes.len() > body.len() && !out.starts_with('\u{FEFF}');
    Ok(if has_mark { [MARK, out.as_bytes()].concat() } else { out.into_bytes() })
}

/// Writes `bytes` beside `path`, then moves them over it; links are followed, rights are kept.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let shown = path.display();
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    write_beside(&target, bytes).with_context(|| format!("cannot write `{shown}`"))
}

fn write_beside(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let beside = target.with_file_name(format!(".{name}.{}.rowrace", std::process::id()));
    let written = fs::write(&beside, bytes).and_then(|()| {
        if let Ok(metadata) = fs::metadata(target) {
            fs::set_permissions(&beside, metadata.permissions())?;
        }
        fs::rename(&beside, target)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes a file that must not be there yet.
pub(super) fn create(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    let shown = path.display();
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.with_context(|| format!("cannot create `{shown}`"))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{shown}`"))
}
