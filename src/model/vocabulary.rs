//! Vocabulary: call patterns to roles, typed and indexed by method name.

use super::role::{ExecutorKind, HandlerVerdict, Role};
use crate::base::{Language, Name};
use crate::ir::Engine;
use rustc_hash::FxHashMap;

/// A name, or a pattern with one `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamePattern {
    /// Before the `*`; the whole name when there is none.
    pub prefix: Name,
    /// Behind the `*`; none: an exact name.
    pub suffix: Option<Name>,
}

impl NamePattern {
    /// Reads `find*By`, `save`.
    pub fn parse(text: &str) -> Self {
        match text.split_once('*') {
            None => Self { prefix: text.into(), suffix: None },
            Some((prefix, suffix)) => Self { prefix: prefix.into(), suffix: Some(suffix.into()) },
        }
    }

    /// What the `*` stood for (empty for an exact name), or none when the name does not match.
    /// PHP compares without case. A `*` behind a lower-case letter starts at an upper-case letter or
    /// `_`, so that `set*` takes `setStatus` and not `settle`.
    pub fn matches<'a>(&self, name: &'a str, ignore_case: bool) -> Option<&'a str> {
        let Some(suffix) = &self.suffix else {
            let same = if ignore_case {
                name.eq_ignore_ascii_case(&self.prefix)
            } else {
                *name == *self.prefix
            };
            return same.then_some("");
        };
        let head = name.get(..self.prefix.len())?;
        let rest = name.get(self.prefix.len()..)?;
        let middle = rest.strip_suffix(&**suffix)?;
        let boundary = match (self.prefix.chars().last(), middle.chars().next()) {
            (Some(before), Some(after)) => !before.is_lowercase() || !after.is_lowercase(),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let same = if ignore_case {
            head.eq_ignore_ascii_case(&self.prefix)
        } else {
            head == &*self.prefix
        };
        (same && boundary).then_some(middle)
    }
}

/// One name of one `[[call]]` row.
#[derive(Clone, Debug)]
pub struct CallPattern {
    /// The pack that says so.
    pub pack: Name,
    /// Types that the receiver may have (itself, through a parent, a trait or a Rust derive), or of the
    /// static call; empty for functions and macros; `*` for a receiver of unknown type.
    pub on: Vec<Name>,
    /// The method, function or macro. Functions have their full name (`mysqli_query`, `sqlx::query`).
    pub name: NamePattern,
    /// Least and greatest number of arguments.
    pub args: (u32, u32),
    /// The call must be static (true), on an instance (false), or either.
    pub is_static: Option<bool>,
    /// What it means.
    pub role: Role,
    /// Further meanings of the same call, applied in order after `role`.
    pub also: Vec<Role>,
    /// Type of the result: a name, or `receiver`, or `model` for the model of the query.
    pub returns: Option<Name>,
    /// Evidence by name only: may raise a finding one step lower, never silence one.
    pub weak: bool,
    /// The receiver's variable or property must have one of these words in its name (`weak` rows).
    pub receiver_words: Vec<Name>,
}

/// What sort of thing a library type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TypeKindHint {
    /// A row object: model, entity, active record.
    Row,
    /// A collection or iterator of rows.
    Rows,
    /// A query under construction.
    Query,
    /// A handle that statements run on.
    Executor(ExecutorKind),
    /// A prepared or executed statement, or a cursor.
    Statement,
    /// A result whose count can be read.
    Outcome,
    /// Loads and stores rows.
    Repository,
    /// A lock or its factory.
    Lock,
    /// A queue message.
    Message,
    /// A queue, channel or consumer.
    Queue,
    /// Nothing of interest, known so that its methods are not mistaken.
    Inert,
}

/// `[[type]]`: what is known of a library type.
#[derive(Clone, Debug)]
pub struct TypeFact {
    /// The pack that says so.
    pub pack: Name,
    /// Full name; `*::ActiveModel` speaks of every type of that last segment that has no fact of its
    /// own (Rust types that a derive or macro makes in the module of the user).
    pub name: Name,
    /// What sort it is.
    pub kind: Option<TypeKindHint>,
    /// Library parents.
    pub parents: Vec<Name>,
    /// Variable and property names that suggest it when no type is known (weak).
    pub words: Vec<Name>,
    /// Names that stand for the same type (facades, global aliases).
    pub aliases: Vec<Name>,
    /// The engine behind it.
    pub engine: Option<Engine>,
    /// For rows: a property or attribute that makes every save compare a version, by attribute name
    /// (`Doctrine\ORM\Mapping\Version`) or method name (`optimisticLock`).
    pub version_by: Vec<Name>,
    /// For rows: saving writes every column, not the changed ones.
    pub saves_whole: bool,
    /// For rows: the property, method or attribute that names the table (`table`, `tableName`).
    pub table_from: Vec<Name>,
    /// For repositories and query types: which model they speak of: `name` strips the suffix
    /// (`JobRepository` gives `Job`), `generic` takes the first type argument.
    pub model_from: Vec<Name>,
    /// For rows: prefixes of methods that add conditions to a query, and are called without it on the
    /// class or on a query of it (`scope`).
    pub scopes: Vec<Name>,
    /// Static methods whose call on a class that the program does not declare says that the class is
    /// one of these.
    pub implied_by: Vec<Name>,
    /// Namespace segments directly below which undeclared classes are of this type; a whole namespace
    /// (`App\Models`) says so even where nothing of the library is imported.
    pub implied_in: Vec<Name>,
}

/// `[[handler]]`: how worker code is told from other code.
#[derive(Clone, Debug)]
pub struct HandlerPattern {
    /// The pack that says so.
    pub pack: Name,
    /// Parents, interfaces, traits or Rust traits, one of which the class must have.
    pub implements: Vec<Name>,
    /// Attributes, one of which the class or method must have.
    pub attributes: Vec<Name>,
    /// The method; empty for free functions.
    pub methods: Vec<NamePattern>,
    /// A parameter of this type makes it one.
    pub param_types: Vec<Name>,
    /// Which parameter is the message.
    pub message_param: Option<u32>,
    /// What its return says.
    pub verdict: HandlerVerdict,
    /// Values that settle when returned (`ByValue`).
    pub ack_values: Vec<Name>,
    /// Values that give back when returned (`ByValue`).
    pub nack_values: Vec<Name>,
    /// Methods of the class whose locks are held while the handler runs (`middleware`).
    pub locks_from: Vec<Name>,
    /// Exceptions go back to the queue (false: they settle as well, as for Yii2's single attempt).
    pub throw_redelivers: bool,
}

/// A loaded pack.
#[derive(Clone, Debug)]
pub struct Pack {
    /// Its id.
    pub id: Name,
    /// The language it speaks of; none for both.
    pub language: Option<Language>,
    /// Its `[[call]]` rows, one pattern for each name.
    pub calls: Vec<CallPattern>,
    /// Its `[[type]]` rows.
    pub types: Vec<TypeFact>,
    /// Its `[[handler]]` rows.
    pub handlers: Vec<HandlerPattern>,
}

/// All packs of a run, indexed.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    calls: Vec<(Option<Language>, CallPattern)>,
    by_name: FxHashMap<String, Vec<usize>>,
    globbed: Vec<usize>,
    /// Facts of library types by full name; PHP names are lower-cased.
    types: FxHashMap<(Language, String), TypeFact>,
    words: FxHashMap<(Language, String), Vec<Name>>,
    /// The engine of crates and namespaces whose types all speak of one; none for those of several.
    engines: FxHashMap<(Language, String), Option<Engine>>,
    /// All handler patterns in pack order.
    pub handlers: Vec<(Option<Language>, HandlerPattern)>,
}

impl Vocabulary {
    /// Indexes the packs; later packs win where two say something of one type.
    pub fn new(packs: &[Pack]) -> Self {
        let mut out = Self::default();
        for pack in packs {
            for call in &pack.calls {
                let idx = out.calls.len();
                match call.name.suffix {
                    None => {
                        let key = short_key(&call.name.prefix);
                        out.by_name.entry(key).or_default().push(idx);
                    }
                    Some(_) => out.globbed.push(idx),
                }
                out.calls.push((pack.language, call.clone()));
            }
            let languages = pack.language.as_ref().map_or(&BOTH[..], std::slice::from_ref);
            for (language, fact) in pairs(languages, &pack.types) {
                for alias in fact.aliases.iter().chain([&fact.name]) {
                    out.types.insert((language, type_key(language, alias)), fact.clone());
                    out.note_engine(language, alias, fact.engine);
                }
                for word in &fact.words {
                    let names = out.words.entry((language, short_key(word))).or_default();
                    names.push(fact.name.clone());
                }
            }
            out.handlers.extend(pack.handlers.iter().map(|it| (pack.language, it.clone())));
        }
        out
    }

    /// Patterns that a call of this name may match, exact names first, and what the `*` stood for.
    /// `name` is a method name or a full function name.
    pub fn candidates<'v, 'n>(
        &'v self,
        language: Language,
        name: &'n str,
    ) -> impl Iterator<Item = (&'v CallPattern, &'n str)> + use<'v, 'n> {
        let ignore_case = language == Language::Php;
        let exact = self.by_name.get(&short_key(name)).map(Vec::as_slice).unwrap_or_default();
        exact.iter().chain(&self.globbed).filter_map(move |&idx| {
            let (of, call) = &self.calls[idx];
            if of.is_some_and(|it| it != language) {
                return None;
            }
            call.name.matches(name, ignore_case).map(|rest| (call, rest))
        })
    }

    /// Whether any pattern could match a call of that name: the cheap test before all others.
    pub fn knows_name(&self, language: Language, name: &str) -> bool {
        self.candidates(language, name).next().is_some()
    }

    /// What is known of a library type, or of every type with that last segment (`*::ActiveModel`).
    pub fn type_fact(&self, language: Language, name: &str) -> Option<&TypeFact> {
        let key = type_key(language, name);
        let last = key.rsplit_once("::").map_or(&*key, |(_, last)| last);
        let any = format!("*::{last}");
        self.types.get(&(language, key)).or_else(|| self.types.get(&(language, any)))
    }

    /// Facts of that kind in one language, by name.
    pub fn types_of_kind(
        &self,
        language: Language,
        kind: TypeKindHint,
    ) -> impl Iterator<Item = &TypeFact> {
        let mut found: Vec<&TypeFact> = self
            .types
            .iter()
            .filter(|((of, _), fact)| *of == language && fact.kind == Some(kind))
            .map(|(_, fact)| fact)
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found.dedup_by(|a, b| a.name == b.name);
        found.into_iter()
    }

    fn note_engine(&mut self, language: Language, name: &str, engine: Option<Engine>) {
        let (Some(engine), Some(root)) = (engine, root_of(name)) else { return };
        let known = self.engines.entry((language, root.to_owned())).or_insert(Some(engine));
        if *known != Some(engine) {
            *known = None;
        }
    }

    /// The engine that a library name speaks of: that of the type, or of everything in its crate.
    pub fn engine_of(&self, language: Language, name: &str) -> Option<Engine> {
        let by_type = self.type_fact(language, name).and_then(|it| it.engine);
        let by_crate = || {
            let root = root_of(name)?;
            self.engines.get(&(language, root.to_owned())).copied().flatten()
        };
        by_type.or_else(by_crate)
    }

    /// Types that a variable or property of this name suggests.
    pub fn types_by_word(&self, language: Language, word: &str) -> &[Name] {
        self.words.get(&(language, short_key(word))).map(Vec::as_slice).unwrap_or_default()
    }

    /// All call patterns in pack order, for listings and coverage tests.
    pub fn calls(&self) -> impl Iterator<Item = &CallPattern> {
        self.calls.iter().map(|(_, call)| call)
    }
}

/// What a pack without a language speaks of.
const BOTH: [Language; 2] = [Language::Php, Language::Rust];

fn pairs<'f>(
    languages: &'f [Language],
    facts: &'f [TypeFact],
) -> impl Iterator<Item = (Language, &'f TypeFact)> {
    languages.iter().flat_map(|language| facts.iter().map(|it| (*language, it)))
}

/// The crate of a path; none for a bare name, or one of the program itself.
fn root_of(name: &str) -> Option<&str> {
    let (root, _) = name.split_once("::")?;
    (!matches!(root, "*" | "crate" | "self" | "super" | "std")).then_some(root)
}

fn short_key(name: &str) -> String {
    name.to_lowercase()
}

/// `jobs::table` is no `Table`: Rust tells case apart.
fn type_key(language: Language, name: &str) -> String {
    if language == Language::Php { name.to_lowercase() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str) -> TypeFact {
        TypeFact {
            pack: "p".into(),
            name: name.into(),
            kind: None,
            parents: Vec::new(),
            words: vec!["db".into()],
            aliases: Vec::new(),
            engine: None,
            version_by: Vec::new(),
            saves_whole: false,
            table_from: Vec::new(),
            model_from: Vec::new(),
            implied_by: Vec::new(),
            scopes: Vec::new(),
            implied_in: Vec::new(),
        }
    }

    fn vocabulary(language: Language, types: Vec<TypeFact>) -> Vocabulary {
        let (calls, handlers) = (Vec::new(), Vec::new());
        let id = "p".into();
        Vocabulary::new(&[Pack { id, language: Some(language), calls, types, handlers }])
    }

    #[test]
    fn last_segment_speaks_for_types_without_a_fact() {
        let facts = vec![fact("*::Entity"), fact("engine::Entity"), fact("*::table")];
        let vocabulary = vocabulary(Language::Rust, facts);
        let found = |name| vocabulary.type_fact(Language::Rust, name).map(|it| it.name.to_string());
        assert_eq!(found("crate::jobs::Entity").as_deref(), Some("*::Entity"));
        assert_eq!(found("engine::Entity").as_deref(), Some("engine::Entity"));
        assert_eq!(found("Entity").as_deref(), Some("*::Entity"));
        assert_eq!(found("crate::Entities"), None);
        assert_eq!(found("crate::jobs::table").as_deref(), Some("*::table"));
        assert_eq!(found("crate::Table"), None);
    }

    #[test]
    fn facts_and_words_stay_with_their_language() {
        let rust = vocabulary(Language::Rust, vec![fact("*::Model")]);
        assert!(rust.type_fact(Language::Php, "Model").is_none());
        assert!(rust.types_by_word(Language::Php, "db").is_empty());
        assert_eq!(rust.types_by_word(Language::Rust, "DB").len(), 1);
        let php = vocabulary(Language::Php, vec![fact("PDO")]);
        assert!(php.type_fact(Language::Php, "pdo").is_some());
        assert!(php.type_fact(Language::Rust, "PDO").is_none());
    }

    #[test]
    fn star_starts_at_a_word() {
        let set = NamePattern::parse("set*");
        assert_eq!(set.matches("setStatus", true), Some("Status"));
        assert_eq!(set.matches("set_status", true), Some("_status"));
        assert_eq!(set.matches("settle", true), None);
        assert_eq!(set.matches("set", true), None);
        assert_eq!(NamePattern::parse("find").matches("FIND", true), Some(""));
        assert_eq!(NamePattern::parse("find").matches("FIND", false), None);
        assert_eq!(NamePattern::parse("*Repository").matches("JobRepository", true), Some("Job"));
    }
}
