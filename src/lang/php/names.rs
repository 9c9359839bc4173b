//! What does a name in the text stand for, given the namespace and the imports around it?

use crate::base::Name;
use rustc_hash::FxHashMap;

/// What a `use` imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Import {
    Class,
    Function,
    Const,
}

/// The namespace and its imports. Classes and functions are looked up without regard to case.
#[derive(Debug, Default)]
pub(super) struct Names {
    namespace: String,
    classes: FxHashMap<String, Name>,
    functions: FxHashMap<String, Name>,
    consts: FxHashMap<String, Name>,
}

impl Names {
    /// Begins another namespace; imports do not carry over.
    pub(super) fn enter_namespace(&mut self, name: &str) {
        *self = Self { namespace: clean(name), ..Self::default() };
    }

    /// The namespace, empty for the global one.
    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Records `use full as alias`.
    pub(super) fn import(&mut self, what: Import, full: &str, alias: &str) {
        let full: Name = full.into();
        match what {
            Import::Class => self.classes.insert(alias.to_lowercase(), full),
            Import::Function => self.functions.insert(alias.to_lowercase(), full),
            Import::Const => self.consts.insert(alias.to_owned(), full),
        };
    }

    /// The full name of something that is declared here.
    pub(super) fn declared(&self, short: &str) -> Name {
        if self.namespace.is_empty() {
            return short.into();
        }
        format!("{}\\{short}", self.namespace).into()
    }

    /// The full name of a class.
    pub(super) fn class(&self, written: &str) -> Name {
        let written = clean_ref(written);
        if let Some(full) = self.absolute(&written) {
            return full;
        }
        let (head, tail) = split_head(&written);
        match (self.classes.get(&head.to_lowercase()), tail) {
            (Some(full), None) => full.clone(),
            (Some(full), Some(tail)) => format!("{full}\\{tail}").into(),
            (None, _) => self.declared(&written),
        }
    }

    /// The full name of a function. An unqualified name that is neither imported nor `known` to be
    /// declared here stays as it is: nearly always it is one of PHP's own.
    pub(super) fn function(&self, written: &str, known: bool) -> Name {
        let imported = |it: &str| self.functions.get(&it.to_lowercase()).cloned();
        self.with_fallback(written, known, imported)
    }

    /// The full name of a free constant, with the same fallback as functions.
    pub(super) fn constant(&self, written: &str) -> Name {
        self.with_fallback(written, false, |it| self.consts.get(it).cloned())
    }

    fn with_fallback(
        &self,
        written: &str,
        known: bool,
        imported: impl Fn(&str) -> Option<Name>,
    ) -> Name {
        let written = clean_ref(written);
        if let Some(full) = self.absolute(&written) {
            return full;
        }
        if written.contains('\\') {
            return self.class(&written);
        }
        match imported(&written) {
            Some(full) => full,
            None if known => self.declared(&written),
            None => written.as_ref().into(),
        }
    }

    /// `\A\B` and `namespace\B`.
    fn absolute(&self, written: &str) -> Option<Name> {
        if let Some(rest) = written.strip_prefix('\\') {
            return Some(rest.into());
        }
        let (head, tail) = split_head(written);
        let tail = tail.filter(|_| head.eq_ignore_ascii_case("namespace"))?;
        Some(self.declared(tail))
    }
}

/// `\A\B` as `A\B`, without the white space that old PHP allows inside of names.
pub(super) fn clean(name: &str) -> String {
    clean_ref(name).trim_start_matches('\\').to_owned()
}

fn clean_ref(name: &str) -> std::borrow::Cow<'_, str> {
    if name.contains(char::is_whitespace) {
        name.split_whitespace().collect::<String>().into()
    } else {
        name.into()
    }
}

fn split_head(name: &str) -> (&str, Option<&str>) {
    name.split_once('\\').map_or((name, None), |(head, tail)| (head, Some(tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        names.enter_namespace("App\\Jobs");
        names.import(Import::Class, "App\\Model\\Job", "Job");
        names.import(Import::Class, "Doctrine\\ORM\\Mapping", "ORM");
        names.import(Import::Function, "App\\claim", "claim");
        names
    }

    #[test]
    fn classes_follow_imports_and_the_namespace() {
        let names = names();
        for (written, wanted) in [
            ("job", "App\\Model\\Job"),
            ("ORM\\Column", "Doctrine\\ORM\\Mapping\\Column"),
            ("Runner", "App\\Jobs\\Runner"),
            ("\\PDO", "PDO"),
            ("namespace\\Runner", "App\\Jobs\\Runner"),
            ("Sub\\Runner", "App\\Jobs\\Sub\\Runner"),
        ] {
            assert_eq!(&*names.class(written), wanted, "{written}");
        }
    }

    #[test]
    fn functions_fall_back_to_the_global_ones() {
        let names = names();
        assert_eq!(&*names.function("mysqli_query", false), "mysqli_query");
        assert_eq!(&*names.function("helper", true), "App\\Jobs\\helper");
        assert_eq!(&*names.function("Claim", false), "App\\claim");
        assert_eq!(&*names.constant("PHP_EOL"), "PHP_EOL");
    }
}
