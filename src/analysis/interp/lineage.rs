//! Lineage: a type's own name, what it extends, implements, uses or derives, and what the packs say of
//! those, nearest first.
//!
//! A class that the program does not declare but that stands in a namespace of models (`App\Models\Job`)
//! is taken for a row of the framework whose names the program imports.

use super::Interp;
use crate::base::{Language, Name};
use crate::model::TypeKindHint;
use std::sync::Arc;

/// Namespace segments that hold row classes by convention.
const MODEL_SEGMENTS: &[&str] =
    &["models", "model", "entity", "entities", "records", "document", "documents", "activerecord"];

impl Interp<'_> {
    /// Names under which the vocabulary may know the type, nearest first.
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
        for ty in program.ancestry(class) {
            push(&mut out, &ty.name);
            let decls = program.type_decls(&ty.name);
            for attr in decls.iter().flat_map(|it| &it.attrs) {
                push(&mut out, &attr.name);
            }
            if decls.is_empty() {
                self.implied_parents(&ty.name).iter().for_each(|it| push(&mut out, it));
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

    /// Row types of the frameworks in use, for an undeclared class in a namespace of models.
    fn implied_parents(&self, class: &str) -> Vec<Name> {
        if self.language != Language::Php
            || self.shared.vocabulary.type_fact(self.language, class).is_some()
        {
            return Vec::new();
        }
        let mut segments = class.split('\\').rev();
        let named = segments.next().is_some()
            && segments.any(|it| MODEL_SEGMENTS.contains(&it.to_lowercase().as_str()));
        if !named {
            return Vec::new();
        }
        let used = |name: &str| {
            let root = name.split('\\').next().unwrap_or(name);
            self.shared.program.imports_root(root)
        };
        self.shared
            .vocabulary
            .types_of_kind(self.language, TypeKindHint::Row)
            .filter(|fact| fact.name.contains('\\') && used(&fact.name))
            .map(|fact| fact.name.clone())
            .collect()
    }
}

fn push(out: &mut Vec<Name>, name: &Name) {
    if !out.iter().any(|it| it == name) {
        out.push(name.clone());
    }
}
