//! Which lines of a program were changed since an earlier state, and which files were moved?
//!
//! A file that is new stands for one that is gone when both have most lines in common.

use crate::base::Source;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::BTreeMap;
use std::ops::Range;

/// More new or gone files than these are not compared with each other.
const MAX_MOVED: usize = 500;
/// Of hundred lines of both files, so many must be common for the one to be the other.
const COMMON_PERCENT: usize = 60;

/// Lines of a file that were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChangedLines {
    /// The file is new.
    All,
    /// Lines from 0, in order; an empty range where lines were only taken out.
    Some(Vec<Range<usize>>),
}

/// All changes of a program.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// By path of the later state; a file that is not here is unchanged.
    lines: BTreeMap<String, ChangedLines>,
    /// From path of the later state to path of the earlier one, of files that were moved.
    moved: BTreeMap<String, String>,
}

impl Changes {
    /// What leads from `base` to `head`.
    pub(super) fn between(base: &[Source], head: &[Source]) -> Self {
        let old: BTreeMap<&str, &Source> = base.iter().map(|it| (&*it.path, it)).collect();
        let new: BTreeMap<&str, &Source> = head.iter().map(|it| (&*it.path, it)).collect();
        let is_new = |it: &&&Source| !old.contains_key(&*it.path);
        let added: Vec<&Source> = new.values().filter(is_new).copied().collect();
        let is_gone = |it: &&&Source| !new.contains_key(&*it.path);
        let gone: Vec<&Source> = old.values().filter(is_gone).copied().collect();
        let mut changes = Self { lines: BTreeMap::new(), moved: moved(&added, &gone) };
        for source in head {
            let path = changes.old_path(&source.path).unwrap_or(&source.path);
            let lines = match old.get(path) {
                Some(before) if before.text == source.text => continue,
                Some(before) => ChangedLines::Some(hunks(&before.text, &source.text)),
                None => ChangedLines::All,
            };
            changes.lines.insert(source.path.clone(), lines);
        }
        changes
    }

    /// The changed lines of the file at `path` of the later state.
    pub(super) fn lines(&self, path: &str) -> &ChangedLines {
        const NONE: &ChangedLines = &ChangedLines::Some(Vec::new());
        self.lines.get(path).unwrap_or(NONE)
    }

    /// Where a moved file was; `None` for one that was not moved.
    pub(super) fn old_path(&self, path: &str) -> Option<&str> {
        self.moved.get(path).map(|it| &**it)
    }
}

/// The lines of `after` that differ from `before`. Line ends do not count: git may have changed them.
fn hunks(before: &str, after: &str) -> Vec<Range<usize>> {
    let mut input = InternedInput::default();
    input.update_before(before.lines());
    input.update_after(after.lines());
    let diff = Diff::compute(Algorithm::Histogram, &input);
    diff.hunks().map(|it| it.after.start as usize..it.after.end as usize).collect()
}

/// Pairs each of `added` with the most similar of `gone`, each of these once.
fn moved(added: &[&Source], gone: &[&Source]) -> BTreeMap<String, String> {
    if added.len() > MAX_MOVED || gone.len() > MAX_MOVED {
        return BTreeMap::new();
    }
    let counted: Vec<_> = gone.iter().map(|it| (it, line_counts(&it.text))).collect();
    let mut pairs = Vec::new();
    for new in added {
        let counts = line_counts(&new.text);
        for (old, old_counts) in counted.iter().filter(|it| it.0.language == new.language) {
            let percent = common_percent(&counts, old_counts);
            if percent >= COMMON_PERCENT {
                pairs.push((percent, &new.path, &old.path));
            }
        }
    }
    // The best pair first; names decide between equals, so that the result is always the same.
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let mut taken = std::collections::BTreeSet::new();
    for (_, new, old) in pairs {
        if !out.contains_key(new) && taken.insert(old) {
            out.insert(new.clone(), old.clone());
        }
    }
    out
}

/// How often each line stands in `text`; lines without a word tell nothing.
fn line_counts(text: &str) -> BTreeMap<&str, usize> {
    let mut out = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if line.contains(char::is_alphanumeric) {
            *out.entry(line).or_default() += 1;
        }
    }
    out
}

fn common_percent(a: &BTreeMap<&str, usize>, b: &BTreeMap<&str, usize>) -> usize {
    let common: usize = a.iter().map(|(line, n)| b.get(line).map_or(0, |it| (*it).min(*n))).sum();
    let total = a.values().sum::<usize>() + b.values().sum::<usize>();
    (common * 200).checked_div(total).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId};

    fn source(path: &str, text: &str) -> Source {
        let language = Language::Php;
        let text = text.to_owned();
        Source { id: SourceId(0), path: path.to_owned(), language, text, exempt: false }
    }

    #[test]
    fn lines_that_differ_are_changed() {
        for (before, after, wanted) in [
            ("a\nb\nc\n", "a\nb\nc\n", &[][..]),
            ("a\nb\nc\n", "a\nx\nc\n", &[(1, 2)]),
            ("a\nb\nc\n", "a\nc\n", &[(1, 1)]),
            ("a\nc\n", "a\nb\nc\n", &[(1, 2)]),
            ("a\r\nb\r\n", "a\nb\n", &[]),
            ("", "a\n", &[(0, 1)]),
        ] {
            let found: Vec<_> = hunks(before, after).iter().map(|it| (it.start, it.end)).collect();
            assert_eq!(found, wanted, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_moved_file_is_compared_with_what_it_was() {
        let text = "<?php\nclass A\n{\n    function f() {}\n    function g() {}\n}\n";
        let base = [source("a.php", text), source("same.php", "x")];
        let head = [
            source("b.php", &text.replace("class A", "class B")),
            source("new.php", "<?php\nother\n"),
            source("same.php", "x"),
        ];
        let changes = Changes::between(&base, &head);
        assert_eq!(changes.old_path("b.php"), Some("a.php"));
        assert_eq!(changes.old_path("new.php"), None);
        let second = Range { start: 1, end: 2 };
        assert_eq!(*changes.lines("b.php"), ChangedLines::Some(vec![second]));
        assert_eq!(*changes.lines("new.php"), ChangedLines::All);
        assert_eq!(*changes.lines("same.php"), ChangedLines::Some(Vec::new()));
    }
}
