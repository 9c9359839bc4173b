//! What type does a doc comment write down?
//!
//! Reads what documentation tools and analysers have in common: unions, generics, `X[]`, shapes,
//! literals. What it cannot read is no type at all, never a guess.

use super::names::Names;
use crate::base::{Name, last_segment};
use crate::ir::TypeRef;
use rustc_hash::FxHashMap;

/// How deep a documented type may nest.
const MAX_DEPTH: usize = 20;

/// Type parameters by name, with the bound that stands for them.
pub(super) type Templates = FxHashMap<String, TypeRef>;

/// The class around the code that is read.
#[derive(Clone, Debug)]
pub(super) struct ClassScope {
    /// Resolved name.
    pub(super) name: Name,
    /// Resolved name of the parent.
    pub(super) parent: Option<Name>,
    /// In a trait `self` is the class that uses it, which is not known here.
    pub(super) is_trait: bool,
    /// Type parameters of the class.
    pub(super) templates: Templates,
}

/// Where a type is written, as far as its names depend on it.
#[derive(Clone, Copy)]
pub(super) struct TypeScope<'n> {
    pub(super) names: &'n Names,
    pub(super) class: Option<&'n ClassScope>,
    pub(super) templates: &'n Templates,
}

impl TypeScope<'_> {
    /// The type that a single name stands for.
    pub(super) fn named(&self, written: &str) -> TypeRef {
        let lower = written.to_lowercase();
        match lower.as_str() {
            "self" => return TypeRef::named(self.self_name()),
            "parent" => {
                let parent = self.class.and_then(|it| it.parent.clone());
                return TypeRef::named(parent.unwrap_or_else(|| "parent".into()));
            }
            "integer" => return TypeRef::named("int"),
            "boolean" => return TypeRef::named("bool"),
            "double" => return TypeRef::named("float"),
            _ => (),
        }
        if is_builtin(&lower) {
            return TypeRef::named(lower);
        }
        if lower.contains('-') {
            return TypeRef::named(plain_name(&lower));
        }
        let template =
            self.templates.get(written).or_else(|| self.class?.templates.get(written)).cloned();
        template.unwrap_or_else(|| TypeRef::named(self.names.class(written)))
    }

    fn self_name(&self) -> Name {
        self.class.filter(|it| !it.is_trait).map_or_else(|| "self".into(), |it| it.name.clone())
    }
}

/// Types that are no classes.
pub(super) fn is_builtin(lower: &str) -> bool {
    matches!(
        lower,
        "int"
            | "string"
            | "bool"
            | "float"
            | "array"
            | "list"
            | "object"
            | "mixed"
            | "void"
            | "never"
            | "null"
            | "true"
            | "false"
            | "callable"
            | "iterable"
            | "resource"
            | "scalar"
            | "static"
            | "self"
            | "parent"
    )
}

/// `non-empty-list` as `list`, `positive-int` as `int`; `class-string` stays.
fn plain_name(lower: &str) -> &str {
    match lower.rsplit('-').next() {
        Some(kind @ ("int" | "string" | "array" | "list")) if lower != "class-string" => kind,
        _ if matches!(lower, "class-string" | "array-key") => lower,
        _ => "mixed",
    }
}

/// The type at the beginning of `text`, and what follows it.
pub(super) fn parse<'t>(text: &'t str, scope: TypeScope<'_>) -> (Option<TypeRef>, &'t str) {
    let mut parser = TypeParser { rest: text.trim_start(), scope, depth: 0 };
    let ty = parser.union();
    (ty, parser.rest)
}

struct TypeParser<'t, 'n> {
    rest: &'t str,
    scope: TypeScope<'n>,
    depth: usize,
}

impl<'t> TypeParser<'t, '_> {
    fn union(&mut self) -> Option<TypeRef> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let members = self.members();
        self.depth -= 1;
        combine(members?)
    }

    fn members(&mut self) -> Option<Vec<TypeRef>> {
        let mut out = vec![self.postfix()?];
        loop {
            let after = self.rest.trim_start();
            let Some(next) = after.strip_prefix(['|', '&']) else { break };
            let next = next.trim_start();
            // `Job &$job` is a by-reference parameter.
            if next.starts_with('$') && !next.starts_with("$this") || next.starts_with('.') {
                break;
            }
            self.rest = next;
            out.push(self.postfix()?);
        }
        Some(out)
    }

    fn postfix(&mut self) -> Option<TypeRef> {
        let mut ty = self.atom()?;
        while self.eat("[]") {
            ty = TypeRef::list(ty);
        }
        Some(ty)
    }

    fn atom(&mut self) -> Option<TypeRef> {
        let first = self.rest.chars().next()?;
        match first {
            '?' => {
                self.eat("?");
                self.postfix()
            }
            '(' => {
                self.eat("(");
                let inner = self.union()?;
                self.skip_space();
                self.eat(")").then_some(inner)
            }
            '\'' | '"' => {
                let end = self.rest[1..].find(first)? + 2;
                self.rest = &self.rest[end..];
                Some(TypeRef::named("string"))
            }
            '-' | '0'..='9' => {
                self.take(|it| it.is_ascii_digit() || matches!(it, '-' | '.' | '_'));
                Some(TypeRef::named("int"))
            }
            '$' if self.eat("$this") => Some(TypeRef::named("static")),
            _ => self.name(),
        }
    }

    fn name(&mut self) -> Option<TypeRef> {
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '\\' | '-');
        let written = self.take(is_name);
        if written.is_empty() {
            return None;
        }
        if self.eat("::") {
            self.take(|it| is_name(it) || it == '*');
            return Some(TypeRef::named("mixed"));
        }
        let args = self.generic_args()?;
        self.skip_balanced('{', '}');
        if matches!(written.to_lowercase().trim_start_matches('\\'), "callable" | "closure") {
            self.callable_signature();
        }
        Some(apply(self.scope.named(written), args))
    }

    fn generic_args(&mut self) -> Option<Vec<TypeRef>> {
        let mut args = Vec::new();
        if !self.eat("<") {
            return Some(args);
        }
        loop {
            self.skip_space();
            if self.eat(">") {
                return Some(args);
            }
            self.skip_variance();
            args.push(self.union()?);
            self.skip_space();
            if !self.eat(",") && !self.rest.starts_with('>') {
                return None;
            }
        }
    }

    fn skip_variance(&mut self) {
        for word in ["covariant ", "contravariant "] {
            self.eat(word);
        }
    }

    fn callable_signature(&mut self) {
        if !self.skip_balanced('(', ')') {
            return;
        }
        let before = self.rest;
        self.skip_space();
        if self.eat(":") {
            self.skip_space();
            self.union();
        } else {
            self.rest = before;
        }
    }

    fn skip_balanced(&mut self, open: char, close: char) -> bool {
        if !self.rest.starts_with(open) {
            return false;
        }
        let mut depth = 0_usize;
        for (at, it) in self.rest.char_indices() {
            if it == open {
                depth += 1;
            } else if it == close {
                depth -= 1;
            }
            if depth == 0 {
                self.rest = &self.rest[at + it.len_utf8()..];
                return true;
            }
        }
        self.rest = "";
        true
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|it| !wanted(it)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn eat(&mut self, word: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(word) else { return false };
        self.rest = rest;
        true
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

/// Gives a named type its arguments; arrays and iterables become lists of their elements.
fn apply(ty: TypeRef, args: Vec<TypeRef>) -> TypeRef {
    if args.is_empty() {
        return ty;
    }
    let element = match &*ty.name {
        "array" | "list" | "iterable" | "Traversable" | "Iterator" | "IteratorAggregate"
        | "ArrayIterator" => args.last(),
        "Generator" => args.get(1).or_else(|| args.first()),
        "int" | "string" => return ty,
        _ => None,
    };
    match element {
        Some(element) => TypeRef::list(element.clone()),
        None => TypeRef { args, ..ty },
    }
}

/// One type for the members of a union, without `null`.
pub(super) fn combine(members: Vec<TypeRef>) -> Option<TypeRef> {
    let mut flat: Vec<TypeRef> = Vec::with_capacity(members.len());
    for mut it in members {
        let nested = std::mem::take(&mut it.alternatives);
        for member in std::iter::once(it).chain(nested) {
            if !flat.contains(&member) {
                flat.push(member);
            }
        }
    }
    if flat.len() > 1 {
        flat.retain(|it| &*it.name != "null");
    }
    if let Some(collection) = typed_collection(&flat) {
        return Some(collection);
    }
    let mut flat = flat.into_iter();
    let first = flat.next()?;
    Some(TypeRef { alternatives: flat.collect(), ..first })
}

/// The old way of writing `Collection<Job>`: `Collection|Job[]`.
fn typed_collection(members: &[TypeRef]) -> Option<TypeRef> {
    let [a, b] = members else { return None };
    let (list, class) = if &*a.name == "list" { (a, b) } else { (b, a) };
    let short = last_segment(&class.name);
    let holds_elements =
        ["Collection", "Iterator", "Traversable", "Paginator"].iter().any(|it| short.ends_with(it));
    let fits = &*list.name == "list" && !list.args.is_empty() && class.args.is_empty();
    (fits && holds_elements).then(|| apply(class.clone(), list.args.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::names::Import;
    use super::*;
    use crate::ir::dump;

    fn read(text: &str) -> String {
        let mut names = Names::default();
        names.enter_namespace("App");
        names.import(Import::Class, "Doctrine\\Common\\Collections\\Collection", "Collection");
        let templates = Templates::from_iter([("T".to_owned(), TypeRef::named("App\\Job"))]);
        let class = ClassScope {
            name: "App\\Runner".into(),
            parent: Some("App\\Base".into()),
            is_trait: false,
            templates: Templates::default(),
        };
        let scope = TypeScope { names: &names, class: Some(&class), templates: &templates };
        parse(text, scope).0.map_or_else(|| "none".to_owned(), |it| dump::type_ref(&it))
    }

    #[test]
    fn types_of_doc_comments() {
        for (text, wanted) in [
            ("Job", "App\\Job"),
            ("?Job", "App\\Job"),
            ("Job|null", "App\\Job"),
            ("null|Job $job", "App\\Job"),
            ("Job | false", "App\\Job|false"),
            ("Job[]", "list<App\\Job>"),
            ("Job[][]", "list<list<App\\Job>>"),
            ("(Job|Task)[]", "list<App\\Job|App\\Task>"),
            ("list<Job>", "list<App\\Job>"),
            ("non-empty-list<Job>", "list<App\\Job>"),
            ("array<int, Job>", "list<App\\Job>"),
            ("iterable<Job>", "list<App\\Job>"),
            ("\\Generator<int, Job, mixed, void>", "list<App\\Job>"),
            ("Collection<int, Job>", "Doctrine\\Common\\Collections\\Collection<int, App\\Job>"),
            ("Collection|Job[]", "Doctrine\\Common\\Collections\\Collection<App\\Job>"),
            ("Job|Job[]", "App\\Job|list<App\\Job>"),
            ("array{status: string, id: int}|null", "array"),
            ("callable(Job): bool|null", "callable"),
            ("class-string<T>", "class-string<App\\Job>"),
            ("int<0, max>", "int"),
            ("positive-int", "int"),
            ("'a'|'b'", "string"),
            ("self", "App\\Runner"),
            ("static", "static"),
            ("$this", "static"),
            ("parent", "App\\Base"),
            ("T", "App\\Job"),
            ("Job &$job", "App\\Job"),
            ("($x is int ? Job : Task)", "none"),
            ("", "none"),
            ("Job<", "none"),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        assert_eq!(read(&"(".repeat(100_000)), "none");
        assert_eq!(read(&"?".repeat(50)), "none");
        assert_eq!(read(&"list<".repeat(100_000)), "none");
    }
}
