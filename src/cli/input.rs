//! What is read besides the paths on the command line: a list of paths, or the text of one file on
//! standard input.

use super::Streams;
use super::setup::Setup;
use crate::base::Source;
use crate::discover::Discovered;
use crate::finding::Finding;
use anyhow::{Context as _, Result};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// Read the text of this file from standard input; the paths are its surroundings, and only
    /// findings with a step in it are shown
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files_from", "fix", "add_expect"])]
    stdin_filename: Option<PathBuf>,

    /// Read paths from this file, one a line or parted by NUL; `-` is standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
}

/// There is no source below the paths.
#[derive(Debug, thiserror::Error)]
#[error("nothing to analyse: no PHP, Rust or SQL file in {0}")]
pub(super) struct NothingToAnalyse(pub(super) String);

/// What a run looks at.
pub(super) struct Input {
    pub(super) found: Discovered,
    pub(super) focus: Focus,
}

/// The file whose findings are wanted; all files when there is none.
pub(super) struct Focus(Option<String>);

impl InputArgs {
    /// The paths to look below: those given, those listed, else the working directory.
    pub(super) fn paths(&self, given: &[PathBuf], cwd: &Path) -> Result<Vec<PathBuf>> {
        let mut paths = given.to_vec();
        if let Some(list) = &self.files_from {
            let bytes = read(list, cwd)?;
            // A list is often that of a change, which names what it removed.
            paths.extend(listed(&bytes).into_iter().filter(|it| cwd.join(it).exists()));
        } else if paths.is_empty() {
            paths.push(PathBuf::from("."));
        }
        Ok(paths)
    }

    /// Reads what is to be analysed.
    pub(super) fn read(
        &self,
        paths: &[PathBuf],
        setup: &mut Setup,
        streams: Streams,
    ) -> Result<Input> {
        // A list without sources, or a buffer that is alone, is no mistake.
        let may_be_empty = self.files_from.is_some() || self.stdin_filename.is_some();
        let mut found = match setup.discover(paths, streams) {
            Err(error) if may_be_empty && error.is::<NothingToAnalyse>() => Discovered::default(),
            found => found?,
        };
        let Some(name) = &self.stdin_filename else {
            return Ok(Input { found, focus: Focus(None) });
        };
        let focus = found.put(&setup.cwd, name, &read(Path::new("-"), &setup.cwd)?)?;
        Ok(Input { found, focus: Focus(Some(focus)) })
    }
}

impl Focus {
    /// Whether a finding is wanted.
    pub(super) fn wants(&self, sources: &[Source], finding: &Finding) -> bool {
        let Some(focus) = &self.0 else { return true };
        let is_there = |span: crate::base::Span| {
            sources.get(span.source.0 as usize).is_some_and(|it| it.path == *focus)
        };
        is_there(finding.primary) || finding.steps.iter().any(|it| is_there(it.span))
    }
}

fn read(path: &Path, cwd: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).context("standard input cannot be read")?;
    } else {
        #[expect(clippy::disallowed_methods, reason = "the command line reads what it is told to")]
        let file = std::fs::File::open(cwd.join(path));
        let read = file.and_then(|mut it| it.read_to_end(&mut bytes));
        read.with_context(|| format!("cannot read `{}`", path.display()))?;
    }
    Ok(bytes)
}

/// The paths in a list: parted by NUL when there is one, else one a line.
fn listed(bytes: &[u8]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(bytes);
    let paths: Vec<&str> =
        if text.contains('\0') { text.split('\0').collect() } else { text.lines().collect() };
    paths.into_iter().filter(|it| !it.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::listed;
    use std::path::PathBuf;

    #[test]
    fn lists_are_parted_by_nul_or_by_line() {
        let paths = |them: &[&str]| them.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(listed(b"a.php\r\nb c.php\n\n"), paths(&["a.php", "b c.php"]));
        assert_eq!(listed(b"a\nb.php\0c.php\0"), paths(&["a\nb.php", "c.php"]));
        assert!(listed(b"").is_empty());
    }
}
