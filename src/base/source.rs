//! A file as the analysis sees it: path, language and text.

use std::hash::{Hash, Hasher};

/// Index of a [`Source`] in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// Which front end reads a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// PHP 5.3 to 8.5, inline HTML included.
    Php,
    /// Rust, edition 2015 to 2024.
    Rust,
    /// A script of SQL statements.
    Sql,
}

impl Language {
    /// Whether a call that fails throws, instead of giving back a failed result.
    pub fn throws(self) -> bool {
        match self {
            Self::Php => true,
            Self::Rust | Self::Sql => false,
        }
    }
}

/// One file: where it came from and what it says.
#[derive(Clone, Debug)]
pub struct Source {
    /// Position in the run; spans refer to it.
    pub id: SourceId,
    /// Path for people, relative to the working directory, with `/`.
    pub path: String,
    /// The front end that lowers it.
    pub language: Language,
    /// The whole text; bytes that were not UTF-8 stand as U+FFFD.
    pub text: String,
    /// Tests, migrations, seeders: read for their declarations, never reported in.
    pub exempt: bool,
}

impl Source {
    /// Hash of path, language and text: equal hashes give equal IR.
    pub fn content_hash(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        (&self.path, self.language, &self.text, self.exempt).hash(&mut hasher);
        hasher.finish()
    }
}
