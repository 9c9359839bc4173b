//! Which pattern of the vocabulary a call matches.

use super::Interp;
use super::call::Site;
use super::call::Target;
use super::same::is_key_column;
use crate::analysis::object::{Field, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::{Language, Name};
use crate::ir::{FuncRef, TypeKind, TypeRef};
use crate::model::{Access, CallPattern, Role, TypeKindHint};

impl<'p> Interp<'p> {
    pub(super) fn free_pattern(&self, name: &Name, site: &Site<'_>) -> Option<Target<'p>> {
        let n_args = u32::try_from(site.args.len()).unwrap_or(u32::MAX);
        let vocabulary = self.shared.vocabulary;
        let found = vocabulary.candidates(self.language, name).find_map(|(pattern, rest)| {
            let fits = pattern.on.is_empty() && (pattern.args.0..=pattern.args.1).contains(&n_args);
            fits.then(|| (pattern, Name::from(rest)))
        });
        found.map(|(pattern, rest)| Target::Pattern { pattern, rest, weak: pattern.weak })
    }

    /// The vocabulary's pattern for a method of the very class that it describes: a framework that is
    /// analysed itself, or copied into the program. It tells more than the code below.
    pub(super) fn described(
        &self,
        name: &Name,
        site: &Site<'_>,
        types: &[TypeRef],
        targets: &[FuncRef],
    ) -> Option<Target<'p>> {
        let at = *targets.first()?;
        let class = self.shared.program.function(at).class.as_deref()?;
        let (pattern, rest) = self.best_pattern(name, site, types)?;
        if !pattern.on.iter().any(|it| it.eq_ignore_ascii_case(class)) {
            return None;
        }
        let known = self.shared.vocabulary.type_fact(self.language, class).is_some();
        let own = || self.shared.store.summary(at);
        (known || own().is_none_or(|it| it.is_silent())).then_some(Target::Pattern {
            pattern,
            rest,
            weak: pattern.weak,
        })
    }

    /// The vocabulary's pattern for a call on one of `types`; by words and names when none is known.
    pub(super) fn by_pattern(
        &self,
        state: &State,
        name: &Name,
        site: &Site<'_>,
        types: &[TypeRef],
    ) -> Target<'p> {
        if let Some((pattern, rest)) = self.best_pattern(name, site, types) {
            return Target::Pattern { pattern, rest, weak: pattern.weak };
        }
        // `Option` and `Result` are seen through, so their methods are those of every value.
        let wrapper = [TypeRef::named("Option"), TypeRef::named("Result")];
        if self.language == Language::Rust
            && !site.is_static
            && let Some((pattern, rest)) = self.best_pattern(name, site, &wrapper)
            && admits(state, &pattern.role, site)
        {
            return Target::Pattern { pattern, rest, weak: pattern.weak };
        }
        let is_statement = matches!(
            state.object(&site.receiver).map(|it| &it.kind),
            Some(ObjectKind::Statement(_))
        );
        if is_statement && let Some((pattern, rest)) = self.statement_pattern(name, site) {
            return Target::Pattern { pattern, rest, weak: pattern.weak };
        }
        if let Some(found) = self.inherited_statement(name, site) {
            return found;
        }
        let known = types.iter().any(|it| self.is_known_type(it) && !self.is_bare_interface(it));
        if known && !types.iter().any(|it| self.is_row_class(&it.name)) {
            return self.extension(state, name, site, types).unwrap_or(Target::Unknown);
        }
        if let Some(word) = &site.word {
            let by_word: Vec<TypeRef> = self
                .shared
                .vocabulary
                .types_by_word(self.language, word)
                .iter()
                .map(|it| TypeRef::named(it.clone()))
                .collect();
            if let Some((pattern, rest)) = self.best_pattern(name, site, &by_word) {
                let weak = pattern.weak || by_word.len() > 1;
                return Target::Pattern { pattern, rest, weak };
            }
        }
        if let Some((pattern, rest)) = self.same_pack_pattern(state, name, site) {
            return Target::Pattern { pattern, rest, weak: pattern.weak };
        }
        if let Some(at) = self.unique_target(state, name, site) {
            return Target::Functions(vec![at]);
        }
        self.weak_pattern(state, name, site).unwrap_or(Target::Unknown)
    }

    /// A type of the program has by a derive, a macro or a foreign trait what it does not declare:
    /// `Job::default()`, `job.tap(|it| ..)`.
    fn extension(
        &self,
        state: &State,
        name: &Name,
        site: &Site<'_>,
        types: &[TypeRef],
    ) -> Option<Target<'p>> {
        let own = |it: &TypeRef| self.shared.program.type_decl(&it.name).is_some();
        if self.language != Language::Rust || !types.iter().all(own) {
            return None;
        }
        let found = self.weak_pattern(state, name, site)?;
        let Target::Pattern { pattern, .. } = &found else { return None };
        let fits = site.is_static || matches!(pattern.role, Role::CallWith { .. });
        fits.then_some(found)
    }

    /// `$this->query("UPDATE …")` where a parent is not declared: a method that the program does not have,
    /// by a name that suggests a connection, given a statement.
    fn inherited_statement(&self, name: &Name, site: &Site<'_>) -> Option<Target<'p>> {
        let program = self.shared.program;
        let class = self.root.class.as_deref().filter(|_| site.receiver == Value::This)?;
        let is_foreign = |ty: &TypeRef| program.type_decl(&ty.name).is_none();
        if !program.ancestry(class).iter().any(is_foreign) {
            return None;
        }
        self.given_statement(name, site)
    }

    /// What a name alone suggests of a connection, where the argument is a statement.
    pub(super) fn given_statement(&self, name: &Name, site: &Site<'_>) -> Option<Target<'p>> {
        let vocabulary = self.shared.vocabulary;
        if super::format::parse_value(site.args.first()?).is_empty() {
            return None;
        }
        vocabulary.candidates(self.language, name).find_map(|(pattern, rest)| {
            let runs = matches!(
                pattern.role,
                Role::Execute { sql: Some(Access::Arg(0, _)), .. }
                    | Role::Prepare { sql: Access::Arg(0, _), .. }
            );
            let any = pattern.on.iter().any(|it| &**it == "*" || it.ends_with("::Statement"));
            (any && runs && self.fits(pattern, site)).then(|| Target::Pattern {
                pattern,
                rest: rest.into(),
                weak: true,
            })
        })
    }

    /// A row whose class is not declared is saved as the pack that loaded it says; what a row gives by
    /// an unknown method (a relation) may be a query of the row's pack.
    pub(super) fn same_pack_pattern(
        &self,
        state: &State,
        name: &Name,
        site: &Site<'_>,
    ) -> Option<(&'p CallPattern, Name)> {
        let (pack, kind) = match state.object(&site.receiver).map(|it| &it.kind) {
            Some(ObjectKind::Row(row)) => (row.pack.clone()?, TypeKindHint::Row),
            Some(ObjectKind::Query(query)) => (query.pack.clone()?, TypeKindHint::Query),
            Some(ObjectKind::Statement(_)) => return self.statement_pattern(name, site),
            Some(_) => return None,
            None if let Some(pack) = self.pack_of_row(state, &site.receiver) => {
                (pack, TypeKindHint::Row)
            }
            None => {
                let (base, _) = site.receiver.as_path()?;
                let types = self.types_of(state, base);
                let fact = types.iter().find_map(|it| self.fact_of(&it.name));
                let fact = fact.filter(|it| it.kind == Some(TypeKindHint::Row))?;
                (fact.pack.clone(), TypeKindHint::Query)
            }
        };
        let vocabulary = self.shared.vocabulary;
        let found = vocabulary.candidates(self.language, name).find(|(pattern, _)| {
            pattern.pack == pack
                && self.fits(pattern, site)
                && pattern.on.iter().any(|on| {
                    let fact = vocabulary.type_fact(self.language, on);
                    fact.is_some_and(|it| it.kind == Some(kind))
                })
        });
        found.map(|(pattern, rest)| (pattern, rest.into()))
    }

    /// The pack that a value's row class is known by.
    fn pack_of_row(&self, state: &State, value: &Value) -> Option<Name> {
        let types = self.types_of(state, value);
        let fact = types.iter().find_map(|it| self.fact_of(&it.name))?;
        (fact.kind == Some(TypeKindHint::Row)).then(|| fact.pack.clone())
    }

    /// A statement of a connection of unknown type: statements of all libraries run and give rows alike.
    pub(super) fn statement_pattern(
        &self,
        name: &Name,
        site: &Site<'_>,
    ) -> Option<(&'p CallPattern, Name)> {
        let vocabulary = self.shared.vocabulary;
        let found = vocabulary.candidates(self.language, name).find(|(pattern, _)| {
            let of_statement = pattern.on.iter().any(|on| {
                let fact = vocabulary.type_fact(self.language, on);
                fact.is_some_and(|it| it.kind == Some(TypeKindHint::Statement))
            });
            let runs = matches!(
                pattern.role,
                Role::Execute { .. } | Role::Bind { .. } | Role::Fetch { .. } | Role::Count { .. }
            );
            of_statement && runs && self.fits(pattern, site)
        });
        found.map(|(pattern, rest)| (pattern, rest.into()))
    }

    pub(super) fn is_known_type(&self, ty: &TypeRef) -> bool {
        self.shared.program.type_decl(&ty.name).is_some()
            || self.shared.vocabulary.type_fact(self.language, &ty.name).is_some()
    }

    /// An interface of the program that nothing in it implements.
    fn is_bare_interface(&self, ty: &TypeRef) -> bool {
        let program = self.shared.program;
        let decl = program.type_decl(&ty.name);
        decl.is_some_and(|it| it.kind == TypeKind::Interface)
            && program.descendants(&ty.name).is_empty()
    }

    /// The only method of that name in the program, when it takes so many arguments.
    pub(super) fn unique_target(
        &self,
        state: &State,
        name: &Name,
        site: &Site<'_>,
    ) -> Option<FuncRef> {
        if site.is_static
            || state.object(&site.receiver).is_some_and(|it| it.kind != ObjectKind::Plain)
        {
            return None;
        }
        let at = self.shared.program.unique_method(name)?;
        let func = self.shared.program.function(at);
        if func.class == self.root.class && site.receiver != Value::This {
            // What has a method's own name inside of the class that wraps it is the wrapped thing.
            return None;
        }
        let most = func.params.len();
        let least = func.params.iter().filter(|it| it.default.is_none() && !it.variadic).count();
        let fits = (least..=most).contains(&site.args.len());
        (self.shared.program.language(at) == self.language && fits && name.len() > 3).then_some(at)
    }

    pub(super) fn best_pattern(
        &self,
        name: &Name,
        site: &Site<'_>,
        types: &[TypeRef],
    ) -> Option<(&'p CallPattern, Name)> {
        let mut best: Option<(usize, bool, &CallPattern, Name)> = None;
        let vocabulary = self.shared.vocabulary;
        if types.is_empty() || !vocabulary.knows_name(self.language, name) {
            return None;
        }
        let ancestry: Vec<Name> =
            types.iter().flat_map(|ty| self.lineage(&ty.name).to_vec()).collect();
        for (pattern, rest) in vocabulary.candidates(self.language, name) {
            if !self.fits(pattern, site) {
                continue;
            }
            let distance = ancestry
                .iter()
                .position(|it| pattern.on.iter().any(|on| on.eq_ignore_ascii_case(it)));
            let Some(distance) = distance else { continue };
            let globbed = pattern.name.suffix.is_some();
            let better = match &best {
                Some((best_distance, best_globbed, ..)) => {
                    (globbed, distance) < (*best_globbed, *best_distance)
                }
                None => true,
            };
            if better {
                best = Some((distance, globbed, pattern, rest.into()));
            }
        }
        best.map(|(_, _, pattern, rest)| (pattern, rest))
    }

    /// The pattern of a property that is read, as `$name`.
    pub(super) fn property_pattern(
        &self,
        types: &[TypeRef],
        value: &Value,
        name: &str,
    ) -> Option<&'p CallPattern> {
        let vocabulary = self.shared.vocabulary;
        if !vocabulary.knows_name(self.language, name) {
            return None;
        }
        let ancestry: Vec<Name> =
            types.iter().flat_map(|ty| self.lineage(&ty.name).to_vec()).collect();
        vocabulary.candidates(self.language, name).map(|it| it.0).find(|pattern| {
            let typed =
                pattern.on.iter().any(|on| ancestry.iter().any(|it| it.eq_ignore_ascii_case(on)));
            let counts = matches!(pattern.role, Role::Count { .. });
            typed || counts && types.is_empty() && !matches!(value, Value::This | Value::Param(_))
        })
    }

    pub(super) fn fits(&self, pattern: &CallPattern, site: &Site<'_>) -> bool {
        let n_args = u32::try_from(site.args.len()).unwrap_or(u32::MAX);
        (pattern.args.0..=pattern.args.1).contains(&n_args)
            && pattern.is_static.is_none_or(|it| it == site.is_static)
    }

    pub(super) fn weak_pattern(
        &self,
        state: &State,
        name: &Name,
        site: &Site<'_>,
    ) -> Option<Target<'p>> {
        let text = self.language == Language::Rust && matches!(site.receiver, Value::Text(_));
        let constant =
            site.receiver.is_constant() && !matches!(site.receiver, Value::Case(..)) && !text;
        if constant && !site.is_static {
            return None;
        }
        let kind = state.object(&site.receiver).map(|it| &it.kind);
        if kind.is_some_and(|it| matches!(it, ObjectKind::Array(_) | ObjectKind::Condition(..))) {
            return None;
        }
        let vocabulary = self.shared.vocabulary;
        vocabulary.candidates(self.language, name).find_map(|(pattern, rest)| {
            let any = pattern.on.iter().any(|it| &**it == "*");
            let named = pattern.receiver_words.is_empty() || has_receiver_word(pattern, site);
            let explicit = !site.is_static || pattern.is_static == Some(true);
            let fits = any && named && explicit && self.fits(pattern, site);
            (fits && admits(state, &pattern.role, site)).then(|| Target::Pattern {
                pattern,
                rest: rest.into(),
                weak: true,
            })
        })
    }
}

/// Whether one of the words stands in the receiver's name, or in that of a field that leads to it.
pub(super) fn has_receiver_word(pattern: &CallPattern, site: &Site<'_>) -> bool {
    let mut names: Vec<Name> = site.word.iter().cloned().collect();
    site.receiver.walk(&mut |it| {
        if let Some((_, name)) = it.as_path() {
            names.push(name.clone());
        }
    });
    names.iter().any(|name| pattern.receiver_words.iter().any(|it| has_word(name, it)))
}

/// Whether a role for receivers of unknown type can be meant, by what the call is given: a closure to
/// run, the name of a table to ask.
pub(super) fn admits(state: &State, role: &Role, site: &Site<'_>) -> bool {
    match role {
        Role::CallWith { body: Access::Arg(idx, _), .. } => {
            site.args.get(*idx as usize).is_none_or(|it| may_be_called(state, it))
        }
        Role::Query { source, .. } if source.table == Some(Access::Receiver) => {
            matches!(site.receiver, Value::Static(_) | Value::Case(..) | Value::Class(_))
        }
        Role::Refresh { row: Access::Receiver, .. } => is_made_with_key(state, &site.receiver),
        _ => true,
    }
}

/// An object of a class that nothing is known of, made here and given its key.
fn is_made_with_key(state: &State, value: &Value) -> bool {
    let Some(object) = state.object(value).filter(|it| it.kind == ObjectKind::Plain) else {
        return false;
    };
    let told = |it: (&Name, &Field)| it.1.changed.is_some() && is_key_column(it.0);
    matches!(value, Value::Object(_)) && object.ty.is_some() && object.fields.iter().any(told)
}

pub(super) fn may_be_called(state: &State, value: &Value) -> bool {
    match value {
        Value::Static(_) | Value::Test(_) => false,
        value if value.is_constant() => false,
        value => !matches!(
            state.object(value).map(|it| &it.kind),
            Some(ObjectKind::Condition(..) | ObjectKind::Query(_) | ObjectKind::Row(_))
        ),
    }
}

/// Whether `word` stands in an identifier as a word: `jobRepository` has `repository`, `repo` is not
/// in `report`.
pub(super) fn has_word(identifier: &str, word: &str) -> bool {
    let identifier = format!("_{}_", crate::base::snake_case(identifier));
    let word = crate::base::snake_case(word);
    identifier.contains(&format!("_{word}_")) || identifier.contains(&format!("_{word}s_"))
}
