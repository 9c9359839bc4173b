//! Which files are in the binary, and how a user's files join them.
//!
//! Built-in files come first. A user's rule takes the place of the built-in one with the same id and
//! fault; a user's pack takes the place of the built-in one with the same id, or stands beside it;
//! column patterns and words are added. Within one of the two groups nothing may be defined twice.

use super::columns::NameRules;
use super::error::{PackError, PackErrorKind, PackErrors};
use super::load::{Loaded, load_file};
use super::rule::RuleDraft;
use super::{Packs, raw::Complaints};
use crate::base::Name;
use crate::model::{Pack, Vocabulary};
use crate::rule::{FaultKind, Rule, RuleId};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{Hash, Hasher};

#[expect(unreachable_pub, reason = "the build script writes it")]
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
}

/// Path below `rules/` and text of every built-in file.
pub(super) fn files() -> &'static [(&'static str, &'static str)] {
    embedded::BUILTIN
}

/// What was merged so far.
#[derive(Debug, Default)]
struct Merged {
    packs: BTreeMap<Name, Pack>,
    rules: BTreeMap<(RuleId, FaultKind), Rule>,
    names: NameRules,
}

/// What one group of files defines.
#[derive(Debug, Default)]
struct Group {
    packs: BTreeMap<Name, Pack>,
    rules: BTreeMap<(RuleId, FaultKind), (RuleDraft, Complaints, std::ops::Range<usize>)>,
    names: NameRules,
}

/// Loads built-in and user files; all complaints at once.
pub(super) fn merge(user: &[(String, String)], off: &[String]) -> Result<Packs, PackErrors> {
    let mut errors = Vec::new();
    let mut merged = Merged::default();
    let group = read_group(files().iter().copied(), &mut errors);
    merged.absorb(group, &mut errors);
    let user_files = user.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let group = read_group(user_files.clone(), &mut errors);
    merged.absorb(group, &mut errors);
    for id in off {
        if merged.packs.remove(id.as_str()).is_none() {
            errors.push(no_pack(id, &merged));
        }
    }
    if !errors.is_empty() {
        return Err(PackErrors(errors));
    }
    let mut hasher = rustc_hash::FxHasher::default();
    for file in files().iter().copied().chain(user_files) {
        file.hash(&mut hasher);
    }
    off.hash(&mut hasher);
    Ok(merged.finish(hasher.finish()))
}

fn read_group<'f>(
    files: impl Iterator<Item = (&'f str, &'f str)>,
    errors: &mut Vec<PackError>,
) -> Group {
    let mut group = Group::default();
    for (path, text) in files {
        let Some((loaded, mut out)) = Loaded::check(load_file(path, text), errors) else {
            continue;
        };
        match loaded {
            Loaded::Columns(names) => group.names.extend(names),
            Loaded::Pack(pack) => {
                let id = pack.value.id.clone();
                if group.packs.insert(id.clone(), pack.value).is_some() {
                    let kind = PackErrorKind::Twice { what: "pack", id: id.to_string() };
                    out.add(pack.span, kind);
                    errors.append(&mut out.errors);
                }
            }
            Loaded::Rule(rule) => {
                let key = (rule.value.id.clone(), rule.value.fault);
                match group.rules.entry(key) {
                    Entry::Vacant(entry) => {
                        entry.insert((rule.value, out, rule.span));
                    }
                    Entry::Occupied(entry) => {
                        let id = entry.key().0.to_string();
                        out.add(rule.span, PackErrorKind::Twice { what: "rule", id });
                        errors.append(&mut out.errors);
                    }
                }
            }
        }
    }
    group
}

fn no_pack(id: &str, merged: &Merged) -> PackError {
    let known: Vec<&str> = merged.packs.keys().map(|it| &**it).collect();
    let help = Some(super::raw::suggestion(id, &known));
    PackError { kind: PackErrorKind::NoPack(id.to_owned()), place: None, help }
}

impl Merged {
    fn absorb(&mut self, group: Group, errors: &mut Vec<PackError>) {
        self.packs.extend(group.packs);
        self.names.extend(group.names);
        let mut rules = Vec::new();
        for (key, (draft, mut out, span)) in group.rules {
            if let Some(rule) = draft.finish(self.base_of(&key)) {
                rules.push((key, rule));
            } else {
                // Only a built-in rule has no other of its fault to lean on.
                let within = "the rule".to_owned();
                out.add(span, PackErrorKind::MissingKey { key: "text", within });
                errors.append(&mut out.errors);
            }
        }
        self.rules.extend(rules);
    }

    /// The rule that a draft takes its texts from: its namesake, or any of the same fault.
    fn base_of(&self, key: &(RuleId, FaultKind)) -> Option<&Rule> {
        self.rules.get(key).or_else(|| self.rules.values().find(|it| it.fault == key.1))
    }

    fn finish(self, hash: u64) -> Packs {
        let packs: Vec<Pack> = self.packs.into_values().collect();
        Packs {
            rules: self.rules.into_values().collect(),
            vocabulary: Vocabulary::new(&packs),
            columns: self.names.columns().expect("each pattern was compiled when it was read"),
            words: self.names.words(),
            pack_ids: packs.iter().map(|it| it.id.clone()).collect(),
            hash,
        }
    }
}
