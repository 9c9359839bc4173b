//! Which findings were there when somebody last looked?
//!
//! ```text
//! 0123456789abcdef unguarded-update jobs.status App\Jobs\Runner::start
//! ```
//!
//! A baseline has one line per finding, sorted: the fingerprint, and for people the rule, the table and
//! column, and the function. Nothing in it moves when code does, and no line says how many others there
//! are: what two branches add to it can be put together line by line.

use super::own::DEAD_ENTRY;
use super::{Triaged, fingerprint, levels, order};
use crate::base::{Source, SourceId, Span};
use crate::config::Config;
use crate::finding::{Confidence, Edit, FindingBuilder, RuleId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const HEADER: &str = "# rowrace baseline 1: findings that are known; `rowrace baseline --help`\n";
const PRINT_LENGTH: usize = 16;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The fingerprint.
    pub fingerprint: String,
    /// The whole line.
    pub line: String,
    /// Its bytes in the file, with the end of the line.
    pub range: Range<usize>,
}

/// A baseline as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<String, Entry>,
}

impl Baseline {
    /// Reads a file in any order, with lines twice: that is what a merge leaves. Gives the bytes of all
    /// lines that are none.
    pub fn parse(text: &str) -> Result<Self, Vec<Range<usize>>> {
        let mut out = Self::default();
        let mut wrong = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            let line = line.trim_end();
            let print = line.split(' ').next().unwrap_or_default();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if print.len() == PRINT_LENGTH && print.bytes().all(|it| it.is_ascii_hexdigit()) {
                let fingerprint = print.to_owned();
                let entry = Entry { fingerprint, line: line.to_owned(), range };
                out.entries.entry(print.to_owned()).or_insert(entry);
            } else {
                wrong.push(range.start..range.start + line.len());
            }
        }
        if wrong.is_empty() { Ok(out) } else { Err(wrong) }
    }

    /// The baseline that knows all of `findings`.
    pub fn of<'t>(findings: impl IntoIterator<Item = &'t Triaged>) -> Self {
        let mut out = Self::default();
        for it in findings.into_iter().filter(|it| *it.finding.rule.0 != *DEAD_ENTRY.id) {
            let (fingerprint, line) = (it.fingerprint.clone(), line_of(it));
            let entry = Entry { fingerprint, line, range: 0..0 };
            out.entries.insert(it.fingerprint.clone(), entry);
        }
        out
    }

    /// This one with the entries of `other`.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (print, entry) in other.entries {
            self.entries.entry(print).or_insert(entry);
        }
        self
    }

    /// Only the entries that are among `seen`; nothing is ever added.
    #[must_use]
    pub fn pruned(mut self, seen: &BTreeSet<&str>) -> Self {
        self.entries.retain(|print, _| seen.contains(&**print));
        self
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let mut out = HEADER.to_owned();
        for entry in self.entries.values() {
            out.push_str(&entry.line);
            out.push('\n');
        }
        out
    }

    /// Whether it knows a finding.
    pub fn knows(&self, triaged: &Triaged) -> bool {
        self.entries.contains_key(&triaged.fingerprint)
    }

    /// All entries, sorted.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// How many entries there are.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Findings that report the entries which are not among `seen`. `source` is the baseline's own file.
    pub fn dead(&self, seen: &BTreeSet<&str>, source: SourceId) -> Vec<crate::finding::Finding> {
        let dead = self.entries.values().filter(|it| !seen.contains(&*it.fingerprint));
        let finding = |it: &Entry| {
            let Range { start, end } = it.range;
            let id = RuleId(DEAD_ENTRY.id.into());
            let span = Span::new(source, start, start + it.line.len());
            let whole = Span::new(source, start, end);
            FindingBuilder::new(id, DEAD_ENTRY.severity, Confidence::High, span)
                .text(
                    "this entry of the baseline matches no finding".to_owned(),
                    DEAD_ENTRY.why.to_owned(),
                    DEAD_ENTRY.help.to_owned(),
                )
                .edit(Edit { span: whole, replacement: String::new() })
                .build()
        };
        dead.map(finding).collect()
    }
}

/// Adds findings about what is said of findings, in the order of the report.
pub fn joined(
    mut findings: Vec<Triaged>,
    more: Vec<crate::finding::Finding>,
    sources: &[Source],
    config: &Config,
) -> Vec<Triaged> {
    let more = fingerprint::fingerprinted(more, sources);
    findings.extend(more.into_iter().filter_map(|it| levels::leveled(it, config)));
    order::reordered(findings, sources)
}

fn line_of(triaged: &Triaged) -> String {
    let finding = &triaged.finding;
    let subject = match (&*finding.table, &*finding.column) {
        ("", "") => "-".to_owned(),
        (table, "") => table.to_owned(),
        ("", column) => format!("*.{column}"),
        (table, column) => format!("{table}.{column}"),
    };
    let symbol = if finding.symbol.is_empty() { "-" } else { &finding.symbol };
    let line = format!("{} {} {subject} {symbol}", triaged.fingerprint, finding.rule);
    line.chars().filter(|it| !it.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0000000000000001 a-rule jobs.status f";
    const B: &str = "0000000000000002 a-rule jobs.status g";

    #[test]
    fn what_a_merge_leaves_is_read() {
        let text = format!("# x\n{B}\r\n\n{A}\n{B}\n");
        let read = Baseline::parse(&text).expect("a baseline");
        assert_eq!(read.render(), format!("{HEADER}{A}\n{B}\n"));
        let conflict = format!("<<<<<<< ours\n{A}\n=======\n{B}\n>>>>>>> theirs\n");
        let wrong = Baseline::parse(&conflict).expect_err("a conflict");
        assert_eq!(wrong.len(), 3);
        assert_eq!(&conflict[wrong[0].clone()], "<<<<<<< ours");
    }

    #[test]
    fn pruning_never_adds() {
        let read = Baseline::parse(A).expect("a baseline");
        let seen = BTreeSet::from(["0000000000000002"]);
        assert_eq!(read.dead(&seen, SourceId(0)).len(), 1);
        assert_eq!(read.pruned(&seen).render(), HEADER);
    }
}
