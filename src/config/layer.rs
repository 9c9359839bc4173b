//! What does a file that extends another ask for in the end, and what holds for one of its sources?
//!
//! A single value of the upper file counts; lists are the lower one's and then the upper one's; levels
//! are laid over each other rule by rule, and confidence by confidence.

use super::{Config, Located, RuleLevels};
use crate::finding::RuleId;
use std::collections::BTreeMap;

type Levels = BTreeMap<RuleId, Located<RuleLevels>>;

impl Config {
    /// This one laid over `base`.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        // A pack that this file names is what this file says of it.
        let says = |list: &[Located<String>], id: &str| list.iter().any(|it| it.value == id);
        let mut packs_off = base.packs_off;
        packs_off.retain(|it| !says(&self.packs_on, &it.value));
        let mut packs_on = base.packs_on;
        packs_on.retain(|it| !says(&self.packs_off, &it.value));
        Self {
            extends: self.extends,
            exclude: joined(base.exclude, self.exclude),
            rules: joined(base.rules, self.rules),
            baseline: self.baseline.or(base.baseline),
            dialect: self.dialect.or(base.dialect),
            min_confidence: self.min_confidence.or(base.min_confidence),
            fail_on: self.fail_on.or(base.fail_on),
            levels: laid_over(base.levels, self.levels),
            state_columns: joined(base.state_columns, self.state_columns),
            never_columns: joined(base.never_columns, self.never_columns),
            only_tables: joined(base.only_tables, self.only_tables),
            ignored_tables: joined(base.ignored_tables, self.ignored_tables),
            packs_off: joined(packs_off, self.packs_off),
            packs_on: joined(packs_on, self.packs_on),
            overrides: joined(base.overrides, self.overrides),
            claims: joined(base.claims, self.claims),
        }
    }

    /// What holds for a source that fits the overrides at those positions, in order; all are gone.
    #[must_use]
    pub fn for_source(&self, fitting: &[usize]) -> Self {
        let mut out = Self { overrides: Vec::new(), ..self.clone() };
        for it in fitting.iter().filter_map(|it| self.overrides.get(*it)).cloned() {
            out.dialect = it.dialect.or(out.dialect);
            out.min_confidence = it.min_confidence.or(out.min_confidence);
            out.fail_on = it.fail_on.or(out.fail_on);
            out.levels = laid_over(out.levels, it.levels);
        }
        out
    }
}

fn joined<T>(mut lower: Vec<T>, upper: Vec<T>) -> Vec<T> {
    lower.extend(upper);
    lower
}

fn laid_over(mut lower: Levels, upper: Levels) -> Levels {
    for (rule, mut levels) in upper {
        if let Some(below) = lower.get(&rule).map(|it| it.value) {
            let own = levels.value;
            levels.value = RuleLevels {
                low: own.low.or(below.low),
                medium: own.medium.or(below.medium),
                high: own.high.or(below.high),
            };
        }
        lower.insert(rule, levels);
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Level;
    use crate::finding::Severity;

    #[test]
    fn the_upper_file_counts_and_lists_are_joined() {
        let base = Config::parse(
            "exclude = [\"a\"]\nfail-on = \"note\"\n[levels]\nx = { low = \"off\", high = \"note\" }",
        );
        let own = Config::parse(
            "exclude = [\"b\"]\nfail-on = \"error\"\n[levels]\nx = { high = \"error\" }",
        );
        let both = own.expect("valid").over(base.expect("valid"));
        assert_eq!(both.exclude.iter().map(|it| &*it.value).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(both.fail_on(), Some(Severity::Error));
        let levels = both.levels[&RuleId("x".into())].value;
        assert_eq!(levels.low, Some(Level::Off));
        assert_eq!(levels.high, Some(Level::Show(Severity::Error)));
    }
}
