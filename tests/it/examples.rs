//! Do the examples that `rowrace explain` shows do what it says: the bad ones fire exactly where they are
//! marked, the good ones are silent?

use crate::markers::{self, Correction, Kind};
use crate::run::{self, WHOLE_PROGRAM_RULE};
use rowrace::base::Language;
use rowrace::rule::Example;

#[test]
fn bad_examples_fire_where_marked_and_good_ones_are_silent() {
    let mut engine = run::engine();
    let mut wrong = Vec::new();
    for rule in &run::packs().rules {
        let id = rule.id.to_string();
        for (kind, examples) in [("bad", &rule.bad), ("good", &rule.good)] {
            for (idx, example) in examples.iter().enumerate() {
                let path = format!("{id}-{kind}-{idx}.{}", ending(example.language));
                let sources = [run::source(&path, example.code.clone(), example.language)];
                engine = engine.with_claims(example.claims.clone());
                let keeps = |it: &markers::Found| it.rule != WHOLE_PROGRAM_RULE || it.rule == id;
                let corrections = run::corrections(&engine, &sources, keeps);
                wrong.extend(corrections.iter().map(Correction::to_string));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_bad_and_a_good_example() {
    for rule in &run::packs().rules {
        let id = rule.id.to_string();
        assert!(!rule.good.is_empty(), "{id}: no good example");
        let fires = |it: &Example| {
            let marks = markers::markers(&id, &it.code);
            marks.iter().any(|mark| mark.rule == id && mark.kind != Kind::Spurious)
        };
        assert!(!rule.bad.is_empty(), "{id}: no bad example");
        assert!(rule.bad.iter().all(fires), "{id}: a bad example without its marker");
        let is_marked = |it: &Example| !markers::markers(&id, &it.code).is_empty();
        assert!(!rule.good.iter().any(is_marked), "{id}: a good example with a marker");
    }
}

fn ending(language: Language) -> &'static str {
    match language {
        Language::Php => "php",
        Language::Rust => "rs",
        Language::Sql => "sql",
    }
}
