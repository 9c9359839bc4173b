//! What is known of the sources from an earlier run, and how is a run told to stop?

use crate::base::{Problem, Source};
use crate::ir;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lowered files of an earlier run. A source whose content is as it was is not lowered again.
#[derive(Debug, Default)]
pub struct Memo {
    hashes: Vec<u64>,
    files: Vec<ir::File>,
}

impl Memo {
    /// Brings the memo up to date with `sources`, whose ids are their positions.
    pub(super) fn update(
        &mut self,
        sources: &[Source],
        lower: impl FnOnce(&[&Source]) -> Vec<ir::File>,
    ) {
        let hashes: Vec<u64> = sources.iter().map(Source::content_hash).collect();
        let is_stale = |it: &usize| self.hashes.get(*it) != Some(&hashes[*it]);
        let stale: Vec<usize> = (0..sources.len()).filter(is_stale).collect();
        let lowered = lower(&stale.iter().map(|it| &sources[*it]).collect::<Vec<_>>());
        self.files.truncate(sources.len());
        for (idx, file) in stale.into_iter().zip(lowered) {
            match self.files.get_mut(idx) {
                Some(old) => *old = file,
                None => self.files.push(file),
            }
        }
        self.hashes = hashes;
    }

    /// One file for each source.
    pub(super) fn files(&self) -> &[ir::File] {
        &self.files
    }

    /// What could not be lowered.
    pub(super) fn problems(&self) -> Vec<Problem> {
        self.files.iter().flat_map(|it| it.problems.iter().cloned()).collect()
    }
}

/// A flag by which another thread stops a run whose result nobody needs any more.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks for the run to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to stop.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId};

    fn sources(texts: &[&str]) -> Vec<Source> {
        let source = |(idx, text): (usize, &&str)| Source {
            id: SourceId(u32::try_from(idx).expect("few")),
            path: format!("{idx}.php"),
            language: Language::Php,
            text: (*text).to_owned(),
            exempt: false,
        };
        texts.iter().enumerate().map(source).collect()
    }

    #[test]
    fn only_what_changed_is_lowered_again() {
        let mut memo = Memo::default();
        for (texts, lowered) in [
            (&["<?php a();", "<?php b();"][..], &[0, 1][..]),
            (&["<?php a();", "<?php c();"], &[1]),
            (&["<?php a();"], &[]),
            (&["<?php a();", "<?php c();"], &[1]),
        ] {
            let sources = sources(texts);
            let mut seen = Vec::new();
            memo.update(&sources, |stale| {
                seen.extend(stale.iter().map(|it| it.id.0));
                stale.iter().map(|it| ir::File::empty(it.id, it.language)).collect()
            });
            assert_eq!(seen, lowered);
            let ids: Vec<u32> = memo.files().iter().map(|it| it.source.0).collect();
            assert_eq!(ids, sources.iter().map(|it| it.id.0).collect::<Vec<_>>());
        }
    }
}
