//! Lineage: a type's own name, what it extends, implements, uses or derives, and what the packs say of
//! those, nearest first.
//!
//! A class that the program does not declare but that stands in a namespace of models (`App\Models\Job`)
//! is taken for a row of the framework whose names the program imports.

use super::Interp;
use crate::base::{Language, Name};
use crate::model::{TypeFact, TypeKindHint};
use std::sync::Arc;

/// Namespace segments that hold row classes by convention.
const MODEL_SEGMENTS: &[&str] =
    &["models", "model", "entity", "entities", "records", "document", "documents", "activerecord"];

/// Namespace segments that hold repositories, tables and queries by convention.
const REPOSITORY_SEGMENTS: &[&str] = &[
    "repository",
    "repositories",
    "table",
    "tables",
    "query",
    "queries",
    "models",
    "model",
    "entity",
    "entities",
];

impl Interp<'_> {
    /// Names under which the vocabulary may know the type, nearest first.
    #[expect(clippy::rc_buffer, reason = "the list is shared with the cache as it was found")]
    pub(super) fn lineage(&self, class: &str) -> Arc<Vec<Name>> {
        let key: (Language, Name) = (self.language, class.into());
        if let Some(found) = self.shared.store.lineages.borrow().get(&key) {
            return Arc::clone(found);
        }
        let found = Arc::new(self.find_lineage(class));
        self.shared.store.lineages.borrow_mut().insert(key, Arc::clone(&found));
        found
    }

    fn find_lineage(&self, class: &str) -> Vec<Name> {
        let program = self.shared.program;
        let mut out: Vec<Name> = Vec::new();
        for ty in program.ancestry(class).iter() {
            push(&mut out, &ty.name);
            let decls = program.type_decls(&ty.name);
            for attr in decls.iter().flat_map(|it| &it.attrs) {
                push(&mut out, &attr.name);
            }
            if decls.is_empty() {
                self.implied_parents(class, &ty.name).iter().for_each(|it| push(&mut out, it));
            }
        }
        let mut next = 0;
        while next < out.len() && out.len() < 64 {
            let current = out[next].clone();
            next += 1;
            if let Some(fact) = self.shared.vocabulary.type_fact(self.language, &current) {
                push(&mut out, &fact.name);
                fact.parents.iter().for_each(|it| push(&mut out, it));
            }
        }
        out
    }

    /// What the frameworks would call an undeclared class: a row by its namespace or by the static
    /// methods that the program calls on it, a repository or query by its name.
    fn implied_parents(&self, original: &str, class: &str) -> Vec<Name> {
        let vocabulary = self.shared.vocabulary;
        if self.language != Language::Php || vocabulary.type_fact(self.language, class).is_some() {
            return Vec::new();
        }
        let kinds = [TypeKindHint::Row, TypeKindHint::Repository, TypeKindHint::Query];
        let facts: Vec<&TypeFact> =
            kinds.iter().flat_map(|it| vocabulary.types_of_kind(self.language, *it)).collect();
        let hints: Vec<(&TypeFact, Hint)> =
            facts.iter().map(|fact| (*fact, self.hint(original, class, fact))).collect();
        let elsewhere = hints.iter().any(|(fact, hint)| hint.placed && !is_row(fact));
        let fitting =
            hints.iter().filter(|(fact, hint)| hint.fits(fact) && !(elsewhere && is_row(fact)));
        if let Some(best) = fitting.clone().map(|it| it.1.rank()).max() {
            let best = fitting.filter(|it| it.1.rank() == best);
            return best.map(|(fact, _)| fact.name.clone()).collect();
        }
        // Nothing is imported that would tell: the name must fit one framework alone.
        let named: Vec<&TypeFact> =
            hints.iter().filter(|it| it.1.suffix && it.1.named).map(|it| it.0).collect();
        let sole = named.windows(2).all(|it| it[0].pack == it[1].pack);
        if !named.is_empty() {
            return named.into_iter().filter(|_| sole).map(|it| it.name.clone()).collect();
        }
        let homed = hints.iter().filter(|(_, hint)| hint.homed);
        homed.map(|(fact, _)| fact.name.clone()).collect()
    }

    fn hint(&self, original: &str, class: &str, fact: &TypeFact) -> Hint {
        let program = self.shared.program;
        let called = |method: &Name| {
            program.calls_static(class, method)
                || class != original && program.calls_static(original, method)
        };
        let statics = fact.implied_by.iter().filter(|it| called(it)).count();
        let mut segments = class.rsplit('\\');
        let last = segments.next().unwrap_or(class);
        let direct = segments.clone().next().unwrap_or_default();
        let is_placed = |it: &str| fact.implied_in.iter().any(|name| name.eq_ignore_ascii_case(it));
        let placed = segments.clone().any(is_placed);
        let directly = is_placed(direct);
        let below = |home: &Name| {
            class.get(..home.len()).is_some_and(|it| it.eq_ignore_ascii_case(home))
                && class[home.len()..].starts_with('\\')
        };
        let homed = fact.implied_in.iter().filter(|it| it.contains('\\')).any(below);
        let suffix = fact.model_from.iter().any(|it| {
            let suffix = it.strip_prefix("name:");
            suffix.is_some_and(|it| last.strip_suffix(it).is_some_and(|it| !it.is_empty()))
        });
        let namespaces = match fact.kind {
            Some(TypeKindHint::Row) => MODEL_SEGMENTS,
            _ => REPOSITORY_SEGMENTS,
        };
        let named = if fact.implied_in.iter().all(|it| it.contains('\\')) {
            segments.any(|it| namespaces.contains(&it.to_lowercase().as_str()))
        } else {
            placed
        };
        let used = fact.name.split_once('\\').is_some_and(|it| program.imports_root(it.0));
        let own = program.is_own_class(class);
        Hint {
            statics: if own || named { statics } else { 0 },
            suffix,
            named,
            placed,
            directly,
            homed,
            used,
        }
    }
}

/// What speaks for a class being of a library type.
#[derive(Clone, Copy, Debug)]
struct Hint {
    /// How many of the type's static methods are called on it.
    statics: usize,
    /// Its name ends as such types are named.
    suffix: bool,
    /// It stands in a namespace where such types stand.
    named: bool,
    /// It stands somewhere below a namespace of this type.
    placed: bool,
    /// It stands directly below it.
    directly: bool,
    /// It stands below the namespace that the framework gives such types.
    homed: bool,
    /// The program imports something of the library.
    used: bool,
}

impl Hint {
    fn fits(self, fact: &TypeFact) -> bool {
        match fact.kind {
            Some(TypeKindHint::Row) => self.statics > 0 || self.named && self.used,
            _ => self.suffix && (self.used || self.statics > 0) || self.directly && self.used,
        }
    }

    fn rank(self) -> (usize, bool, bool) {
        (self.statics, self.used, self.suffix)
    }
}

fn is_row(fact: &TypeFact) -> bool {
    fact.kind == Some(TypeKindHint::Row)
}

fn push(out: &mut Vec<Name>, name: &Name) {
    if !out.iter().any(|it| it == name) {
        out.push(name.clone());
    }
}
