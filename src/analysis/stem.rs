//! Stem: under which word do a table and the models of its rows meet?
//!
//! `orders`, `Order` and `App\\Entity\\OrderEntity` are one entity. A program has few such names and
//! compares them often, so that each thread remembers what it has worked out.

use crate::base::{Name, folded, last_segment};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

thread_local! {
    static STEMS: RefCell<FxHashMap<Box<str>, Name>> = RefCell::default();
}

/// Lower-case singular of the last segment.
pub fn stem(name: &str) -> Name {
    STEMS.with_borrow_mut(|known| {
        if let Some(found) = known.get(name) {
            return Name::clone(found);
        }
        let found: Name = singular(name).into();
        known.insert(name.into(), Name::clone(&found));
        found
    })
}

/// Whether both names mean one entity.
pub(super) fn same_stem(a: &str, b: &str) -> bool {
    a == b || stem(a) == stem(b)
}

fn singular(name: &str) -> String {
    let name = folded(last_segment(name));
    let name =
        name.strip_suffix("_entity").or_else(|| name.strip_suffix("_model")).unwrap_or(&name);
    if let Some(base) = name.strip_suffix("ies") {
        return format!("{base}y");
    }
    for ending in ["sses", "xes", "ches", "shes"] {
        if name.ends_with(ending) {
            return name[..name.len() - 2].to_owned();
        }
    }
    match name.strip_suffix('s') {
        Some(base) if !base.ends_with('s') && !base.ends_with("statu") => base.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_models_of_one_entity_meet() {
        for (name, wanted) in [
            ("orders", "order"),
            ("App\\Entity\\OrderEntity", "order"),
            ("JobModel", "job"),
            ("categories", "category"),
            ("boxes", "box"),
            ("addresses", "address"),
            ("process", "process"),
            ("order_status", "order_status"),
        ] {
            assert_eq!(&*stem(name), wanted, "{name}");
            assert_eq!(&*stem(name), wanted, "{name}, remembered");
        }
        assert!(same_stem("Job", "jobs") && !same_stem("job", "order"));
    }
}
