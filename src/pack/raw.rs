//! The TOML of a pack or rule as written: tables whose keys are asked for one by one, each value with
//! its place.
//!
//! Which keys a `[[call]]` row may have depends on its role, so that no one struct can mirror it. A
//! [`Reader`] therefore remembers what it was asked for; `finish` complains about everything else.
//! A complaint never stops the reading: one run shows all of them.

use super::error::{PackError, PackErrorKind, Place};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file that is read, and what was found wrong with it.
#[derive(Debug)]
pub(super) struct Complaints {
    path: Arc<str>,
    text: Arc<str>,
    pub(super) errors: Vec<PackError>,
}

impl Complaints {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into(), errors: Vec::new() }
    }

    pub(super) fn place(&self, span: Range<usize>) -> Place {
        Place { path: self.path.clone(), text: self.text.clone(), span }
    }

    pub(super) fn add(&mut self, span: Range<usize>, kind: PackErrorKind) {
        self.push(span, kind, None);
    }

    pub(super) fn add_with_help(&mut self, span: Range<usize>, kind: PackErrorKind, help: String) {
        self.push(span, kind, Some(help));
    }

    /// Complains about a word outside of `allowed`, with the nearest one or all of them as help.
    pub(super) fn unknown_word(&mut self, word: &Word<'_>, what: &'static str, allowed: &[&str]) {
        let kind = PackErrorKind::UnknownWord { what, word: word.value.to_owned() };
        self.push(word.span.clone(), kind, Some(suggestion(word.value, allowed)));
    }

    /// The place of `needle` inside the value at `span`; the whole value when it does not stand there.
    pub(super) fn narrow(&self, span: Range<usize>, needle: &str) -> Range<usize> {
        let value = self.text.get(span.clone()).unwrap_or_default();
        match value.find(needle) {
            Some(at) if !needle.is_empty() => span.start + at..span.start + at + needle.len(),
            _ => span,
        }
    }

    fn push(&mut self, span: Range<usize>, kind: PackErrorKind, help: Option<String>) {
        let place = Some(self.place(span));
        self.errors.push(PackError { kind, place, help });
    }
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Field<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

/// A string value.
pub(super) type Word<'t> = Field<&'t str>;

/// One table, read key by key.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    table: &'t DeTable<'t>,
    /// The table's place; for a `[[table]]` its header.
    pub(super) span: Range<usize>,
    /// What the table is, for complaints.
    pub(super) within: String,
    asked: BTreeSet<&'static str>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(table: &'t DeTable<'t>, span: Range<usize>, within: &str) -> Self {
        Self { table, span, within: within.to_owned(), asked: BTreeSet::new() }
    }

    /// The value of a key.
    pub(super) fn value(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.insert(key);
        self.table.get(key)
    }

    /// Whether there is such a key.
    pub(super) fn has(&mut self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    /// A string.
    pub(super) fn word(&mut self, key: &'static str, out: &mut Complaints) -> Option<Word<'t>> {
        word_of(key, self.value(key)?, out)
    }

    /// A string that must be there.
    pub(super) fn need_word(
        &mut self,
        key: &'static str,
        out: &mut Complaints,
    ) -> Option<Word<'t>> {
        if !self.has(key) {
            self.missing(key, out);
        }
        self.word(key, out)
    }

    /// A string, or a list of strings; empty when absent.
    pub(super) fn words(&mut self, key: &'static str, out: &mut Complaints) -> Vec<Word<'t>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().filter_map(|it| word_of(key, it, out)).collect(),
            _ => word_of(key, value, out).into_iter().collect(),
        }
    }

    /// A bool; false when absent.
    pub(super) fn flag(&mut self, key: &'static str, out: &mut Complaints) -> bool {
        self.maybe_flag(key, out).unwrap_or(false)
    }

    /// A bool, or none when absent.
    pub(super) fn maybe_flag(&mut self, key: &'static str, out: &mut Complaints) -> Option<bool> {
        let value = self.value(key)?;
        let found = value.get_ref().as_bool();
        if found.is_none() {
            wrong_type(key, value, "`true` or `false`", out);
        }
        found
    }

    /// A small whole number.
    pub(super) fn number(&mut self, key: &'static str, out: &mut Complaints) -> Option<u32> {
        let value = self.value(key)?;
        let found = value.get_ref().as_integer().and_then(|it| it.as_str().parse().ok());
        if found.is_none() {
            wrong_type(key, value, "a whole number", out);
        }
        found
    }

    /// A table.
    pub(super) fn table(&mut self, key: &'static str, out: &mut Complaints) -> Option<Self> {
        let value = self.value(key)?;
        let found = value.get_ref().as_table();
        if found.is_none() {
            wrong_type(key, value, "a table", out);
        }
        found.map(|it| Self::new(it, value.span(), &format!("`[{key}]`")))
    }

    /// A list of tables; empty when absent.
    pub(super) fn tables(&mut self, key: &'static str, out: &mut Complaints) -> Vec<Self> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            wrong_type(key, value, "a list of tables", out);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.get_ref().as_table() {
                Some(it) => tables.push(Self::new(it, item.span(), &format!("`[[{key}]]`"))),
                None => wrong_type(key, item, "a table", out),
            }
        }
        tables
    }

    /// Says that a key is missing.
    pub(super) fn missing(&self, key: &'static str, out: &mut Complaints) {
        let kind = PackErrorKind::MissingKey { key, within: self.within.clone() };
        out.add(self.span.clone(), kind);
    }

    /// Complains about every key that nobody asked for.
    pub(super) fn finish(self, out: &mut Complaints) {
        let allowed: Vec<&str> = self.asked.iter().copied().collect();
        for key in self.table.keys().filter(|it| !allowed.contains(&it.get_ref().as_ref())) {
            let name = key.get_ref().to_string();
            let help = suggestion(&name, &allowed);
            let kind = PackErrorKind::UnknownKey { key: name, within: self.within.clone() };
            out.add_with_help(key.span(), kind, help);
        }
    }
}

fn word_of<'t>(
    key: &str,
    value: &'t Spanned<DeValue<'t>>,
    out: &mut Complaints,
) -> Option<Word<'t>> {
    let found = value.get_ref().as_str();
    if found.is_none() {
        wrong_type(key, value, "a string", out);
    }
    found.map(|it| Field { value: it, span: value.span() })
}

fn wrong_type(key: &str, value: &Spanned<DeValue<'_>>, wanted: &'static str, out: &mut Complaints) {
    let found = value.get_ref().type_str();
    out.add(value.span(), PackErrorKind::WrongType { key: key.to_owned(), wanted, found });
}

/// `did you mean …?` when one of `allowed` is near, else the whole list.
pub(super) fn suggestion(word: &str, allowed: &[&str]) -> String {
    let limit = (word.chars().count() / 3).max(1);
    let nearest =
        allowed.iter().map(|it| (distance(word, it), *it)).filter(|(far, _)| *far <= limit).min();
    if let Some((_, it)) = nearest {
        return format!("did you mean `{it}`?");
    }
    let list: Vec<String> = allowed.iter().map(|it| format!("`{it}`")).collect();
    format!("known are {}", list.join(", "))
}

/// Number of characters to insert, drop, replace or swap with the next to make `right` of `left`.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for at in 1..=left.len() {
        let mut next = vec![at];
        for idx in 1..=right.len() {
            let replaced = row[idx - 1] + usize::from(left[at - 1] != right[idx - 1]);
            let mut least = replaced.min(row[idx] + 1).min(next[idx - 1] + 1);
            let swapped = at > 1
                && idx > 1
                && left[at - 1] == right[idx - 2]
                && left[at - 2] == right[idx - 1];
            if swapped {
                least = least.min(before[idx - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested() {
        assert_eq!(suggestion("recever", &["receiver", "result"]), "did you mean `receiver`?");
        assert_eq!(suggestion("x", &["receiver", "result"]), "known are `receiver`, `result`");
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("laod", "load"), 1);
    }
}
