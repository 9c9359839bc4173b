//! Which paths do the globs of a configuration pick? They are read as `.gitignore` reads them: one
//! without a slash fits at any depth, one with a slash is anchored, `!` takes back.

use crate::config::ConfigErrorKind;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// Globs, each relative to some folder; a later one outweighs an earlier one.
#[derive(Clone, Debug, Default)]
pub(super) struct Globs {
    building: Vec<(PathBuf, GitignoreBuilder)>,
    ready: Vec<Gitignore>,
}

impl Globs {
    /// Adds one that is relative to `root`.
    pub(super) fn add(&mut self, root: &Path, glob: &str) -> Result<(), ignore::Error> {
        if self.building.last().is_none_or(|it| it.0 != root) {
            self.building.push((root.to_owned(), GitignoreBuilder::new(root)));
        }
        if let Some((_, builder)) = self.building.last_mut() {
            builder.add_line(None, glob)?;
        }
        Ok(())
    }

    /// Ready to be asked.
    pub(super) fn finish(mut self) -> Result<Self, ignore::Error> {
        for (_, builder) in std::mem::take(&mut self.building) {
            self.ready.push(builder.build()?);
        }
        Ok(self)
    }

    /// Whether `path`, or a folder that it lies in, is picked.
    pub(super) fn picks(&self, path: &Path, is_dir: bool) -> bool {
        for globs in self.ready.iter().rev().filter(|it| path.starts_with(it.path())) {
            match globs.matched_path_or_any_parents(path, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => (),
            }
        }
        false
    }
}

/// What to say of a glob that is none.
pub(super) fn glob_error(error: &ignore::Error) -> ConfigErrorKind {
    ConfigErrorKind::Glob(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_read_as_git_reads_them() {
        let mut globs = Globs::default();
        for (root, glob) in
            [("/a", "/legacy"), ("/a", "*.gen.php"), ("/a/b", "/x"), ("/a/b", "!kept.gen.php")]
        {
            globs.add(Path::new(root), glob).expect("a glob");
        }
        let globs = globs.finish().expect("globs");
        for (path, wanted) in [
            ("/a/legacy/x.php", true),
            ("/a/b/legacy/x.php", false),
            ("/a/b/c/d.gen.php", true),
            ("/a/b/c/kept.gen.php", false),
            ("/a/kept.gen.php", true),
            ("/a/b/x/y.php", true),
            ("/a/x/y.php", false),
            ("/other/d.gen.php", false),
        ] {
            assert_eq!(globs.picks(Path::new(path), false), wanted, "{path}");
        }
    }
}
