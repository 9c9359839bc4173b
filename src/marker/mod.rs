//! What do the markers in a test program say, and how do findings answer to them?
//!
//! ```text
//! $repo->update($job);            //~ unguarded-transition
//! //~^^ unguarded-update          for two lines above
//! $model->save();                 //~ MISSING stale-write-back       does not fire yet
//! $row->save();                   //~ SPURIOUS unguarded-transition  fires, but should not
//! ```
//!
//! A finding answers to a marker of its rule within two lines; of a long span twelve lines count.
//! Notes need no marker.

mod role;

use crate::base::{Lines, Source};
use crate::finding::{Finding, Severity};
pub use role::{RoleMarker, role_corrections, role_markers};
use std::fmt;
use std::ops::Range;

/// How far a finding may stand from its marker.
const TOLERANCE: usize = 2;
/// How many lines of a finding count.
const SPAN_LINES: usize = 12;
const OPENERS: [&str; 3] = ["//~", "--~", "#~"];

/// What a marker says of the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It fires.
    Fires,
    /// It should fire, and does not.
    Missing,
    /// It fires, and should not.
    Spurious,
}

/// One marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Path of the file, as in [`Source::path`].
    pub path: String,
    /// Line that it speaks of, from 1.
    pub line: usize,
    /// Id of the rule.
    pub rule: String,
    /// What it says of the finding.
    pub kind: Kind,
    /// Line that it stands in, from 1.
    pub at: usize,
    /// Its bytes in that line.
    pub range: Range<usize>,
    /// Bytes of the kind and the rule in that line.
    pub words: Range<usize>,
}

/// A finding as markers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Path of the file, as in [`Source::path`].
    pub path: String,
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line, from 1.
    pub end_line: usize,
    /// Id of the rule.
    pub rule: String,
    /// Whether it may stand without a marker.
    pub is_note: bool,
}

impl Found {
    /// `finding` as markers see it; `None` when it points into none of `sources`.
    pub fn of(finding: &Finding, sources: &[Source]) -> Option<Self> {
        let source = sources.get(finding.primary.source.0 as usize)?;
        let lines = Lines::of(&source.text);
        Some(Self {
            path: source.path.clone(),
            line: lines.line_index(finding.primary.start) + 1,
            end_line: lines.line_index(finding.primary.end) + 1,
            rule: finding.rule.to_string(),
            is_note: finding.severity == Severity::Note,
        })
    }
}

/// What has to change in the markers for them to say what is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correction {
    /// The marker has another kind; `None` when it has to go.
    Mark(Marker, Option<Kind>),
    /// A finding has no marker.
    Add(Found),
}

/// All markers of a file, in order.
pub fn markers(path: &str, text: &str) -> Vec<Marker> {
    let lines = text.lines().enumerate();
    lines.flat_map(|(idx, line)| markers_of_line(path, idx + 1, line)).collect()
}

fn markers_of_line(path: &str, at: usize, line: &str) -> Vec<Marker> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some((start, opener)) = next_opener(line, from) {
        from = start + opener.len();
        let carets = line[from..].len() - line[from..].trim_start_matches('^').len();
        let rest = line[from + carets..].trim_start();
        let words = line.len() - rest.len();
        let (kind, name) = kind_of(rest);
        let rule: String =
            name.chars().take_while(|it| it.is_ascii_lowercase() || *it == '-').collect();
        let is_role = name[rule.len()..].starts_with(':');
        if !rule.starts_with(|it: char| it.is_ascii_lowercase()) || is_role || carets >= at {
            continue;
        }
        let end = line.len() - name.len() + rule.len();
        out.push(Marker {
            path: path.to_owned(),
            line: at - carets,
            rule,
            kind,
            at,
            range: start..end,
            words: words..end,
        });
        from = end;
    }
    out
}

fn next_opener(line: &str, from: usize) -> Option<(usize, &'static str)> {
    let found = OPENERS.iter().filter_map(|&it| Some((from + line[from..].find(it)?, it)));
    found.min()
}

fn kind_of(rest: &str) -> (Kind, &str) {
    for (word, kind) in [("MISSING ", Kind::Missing), ("SPURIOUS ", Kind::Spurious)] {
        if let Some(name) = rest.strip_prefix(word) {
            return (kind, name.trim_start());
        }
    }
    (Kind::Fires, rest)
}

/// Where `markers` and `found` disagree. Each finding answers to one marker: first to those that say it
/// fires, so that the outcome is that of a reader who knows no other kind.
pub fn corrections(markers: &[Marker], found: &[Found]) -> Vec<Correction> {
    let mut left: Vec<&Found> = found.iter().collect();
    let mut out = Vec::new();
    for kind in [Kind::Fires, Kind::Spurious, Kind::Missing] {
        for marker in markers.iter().filter(|it| it.kind == kind) {
            let hit = left.iter().position(|it| answers(it, marker));
            if let Some(idx) = hit {
                left.remove(idx);
            }
            out.extend(correction(marker, hit.is_some()));
        }
    }
    out.extend(left.into_iter().filter(|it| !it.is_note).cloned().map(Correction::Add));
    out
}

fn correction(marker: &Marker, has_fired: bool) -> Option<Correction> {
    let kind = match (marker.kind, has_fired) {
        (Kind::Fires | Kind::Spurious, true) | (Kind::Missing, false) => return None,
        (Kind::Fires, false) => Some(Kind::Missing),
        (Kind::Spurious, false) => None,
        (Kind::Missing, true) => Some(Kind::Fires),
    };
    Some(Correction::Mark(marker.clone(), kind))
}

fn answers(found: &Found, marker: &Marker) -> bool {
    let last = found.end_line.min(found.line + SPAN_LINES);
    found.path == marker.path
        && found.rule == marker.rule
        && found.line <= marker.line + TOLERANCE
        && marker.line <= last + TOLERANCE
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark(marker, kind) => {
                let Marker { path, line, rule, .. } = marker;
                let what = match kind {
                    Some(Kind::Missing) => "missing",
                    Some(Kind::Fires) => "fires, drop the word MISSING:",
                    Some(Kind::Spurious) | None => "no longer fires, drop the marker: SPURIOUS",
                };
                write!(f, "{path}:{line}: {what} {rule}")
            }
            Self::Add(found) => {
                write!(f, "{}:{}: noisy {}", found.path, found.line, found.rule)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_read() {
        let text =
            "a; //~ one-rule //~ MISSING two\n--~^ three\n#~^^^ four\nb //~ SPURIOUS five x\n//~ ?";
        let read = markers("a.php", text);
        let seen: Vec<_> = read.iter().map(|it| (it.line, &*it.rule, it.kind)).collect();
        let wanted = [
            (1, "one-rule", Kind::Fires),
            (1, "two", Kind::Missing),
            (1, "three", Kind::Fires),
            (4, "five", Kind::Spurious),
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn a_finding_answers_within_two_lines_and_twelve_of_its_own() {
        let marked = |line: usize| markers("a.php", &format!("{}//~ r", "\n".repeat(line - 1)));
        let found = |line, end_line| Found {
            path: "a.php".to_owned(),
            line,
            end_line,
            rule: "r".to_owned(),
            is_note: false,
        };
        for (line, end_line, at, wanted) in [
            (10, 10, 8, true),
            (10, 10, 7, false),
            (10, 10, 12, true),
            (10, 10, 13, false),
            (10, 40, 24, true),
            (10, 40, 25, false),
        ] {
            let right = corrections(&marked(at), &[found(line, end_line)]).is_empty();
            assert_eq!(right, wanted, "{line}..{end_line} for a marker in {at}");
        }
    }
}
