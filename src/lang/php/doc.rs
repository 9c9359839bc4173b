//! What does a doc comment say: tags with types, templates, and annotations?

use super::doc_type::{self, Templates, TypeScope};
use super::names::Names;
use crate::ir::{Attr, TypeRef};

/// A tag with everything up to the next one: `@param Job $job the job`.
#[derive(Debug, PartialEq)]
pub(super) struct Tag {
    /// Without `@`: `param`, `phpstan-return`, `ORM\Column`.
    pub(super) name: String,
    /// The rest, on one line.
    pub(super) body: String,
}

/// The tags of a doc comment whose delimiters and line stars are stripped.
pub(super) fn tags(text: &str) -> Vec<Tag> {
    let mut out: Vec<Tag> = Vec::new();
    for line in text.lines() {
        let inside_annotation = out.last().is_some_and(is_open_annotation);
        match line.strip_prefix('@') {
            Some(rest) if !inside_annotation => out.push(tag(rest)),
            _ => {
                if let Some(last) = out.last_mut() {
                    last.body.push(' ');
                    last.body.push_str(line);
                }
            }
        }
    }
    out
}

fn tag(rest: &str) -> Tag {
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '\\' | '-');
    let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
    Tag { name: rest[..end].to_owned(), body: rest[end..].trim().to_owned() }
}

fn is_annotation(tag: &Tag) -> bool {
    let last = tag.name.rsplit('\\').next().unwrap_or_default();
    tag.name.contains('\\') || last.starts_with(|it: char| it.is_uppercase())
}

fn is_open_annotation(tag: &Tag) -> bool {
    is_annotation(tag)
        && tag.body.starts_with('(')
        && tag.body.matches('(').count() > tag.body.matches(')').count()
}

/// Annotations such as `@ORM\Column(type="string")`.
pub(super) fn annotations(tags: &[Tag], names: &Names) -> Vec<Attr> {
    tags.iter()
        .filter(|it| is_annotation(it))
        .map(|it| Attr { name: names.class(&it.name), args: parenthesized(&it.body) })
        .collect()
}

/// The text between the first parentheses, white space folded.
pub(super) fn parenthesized(text: &str) -> String {
    let Some(rest) = text.trim_start().strip_prefix('(') else { return String::new() };
    let mut depth = 1_usize;
    let mut end = rest.len();
    for (at, it) in rest.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            end = at;
            break;
        }
    }
    rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Type parameters that the tags declare, by name; an unbound one stands for anything.
pub(super) fn templates(tags: &[Tag], scope: TypeScope<'_>) -> Templates {
    let mut out = Templates::default();
    for tag in tags.iter().filter(|it| plain(&it.name).starts_with("template")) {
        let mut words = tag.body.splitn(3, char::is_whitespace);
        let Some(name) = words.next().filter(|it| !it.is_empty()) else { continue };
        let bound = match words.next() {
            Some("of" | "as") => doc_type::parse(words.next().unwrap_or_default(), scope).0,
            _ => None,
        };
        if !matches!(plain(&tag.name), "template-extends" | "template-implements" | "template-use")
        {
            out.insert(name.to_owned(), bound.unwrap_or_else(|| TypeRef::named("mixed")));
        }
    }
    out
}

/// `phpstan-param` and `psalm-param` as `param`.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("phpstan-").unwrap_or(name);
    let name = name.strip_prefix("psalm-").unwrap_or(name);
    match name {
        "property-read" | "property-write" => "property",
        "returns" => "return",
        _ => name,
    }
}

/// Tags of one meaning; those of the analysers, which are more exact, come last.
pub(super) fn named<'t>(tags: &'t [Tag], name: &'t str) -> impl Iterator<Item = &'t Tag> {
    let matching = move |it: &&Tag| plain(&it.name) == name;
    let prefixed = |it: &&Tag| it.name.starts_with("phpstan-") || it.name.starts_with("psalm-");
    tags.iter()
        .filter(matching)
        .filter(move |it| !prefixed(it))
        .chain(tags.iter().filter(matching).filter(prefixed))
}

/// A type and the variable it is for, in either order: `Job $job`, `$job Job`, `Job`.
pub(super) fn typed_variable(body: &str, scope: TypeScope<'_>) -> Option<(String, TypeRef)> {
    let body = body.trim_start();
    if body.starts_with('$') && !body.starts_with("$this") {
        let (name, rest) = variable(body);
        let ty = doc_type::parse(rest, scope).0?;
        return Some((name, ty));
    }
    let (ty, rest) = doc_type::parse(body, scope);
    let rest = rest.trim_start().trim_start_matches('&').trim_start_matches("...");
    let is_by_ref = rest.trim_start().trim_start_matches('&').starts_with('$');
    let name = if is_by_ref { variable(rest.trim_start()).0 } else { String::new() };
    Some((name, ty?))
}

/// Name of the variable at the beginning, without `$`, and the rest.
fn variable(text: &str) -> (String, &str) {
    let text = text.trim_start_matches(['&', '$']);
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(text.len());
    (text[..end].to_owned(), &text[end..])
}

/// The type that the last tag of this name gives.
pub(super) fn type_of(tags: &[Tag], name: &str, scope: TypeScope<'_>) -> Option<TypeRef> {
    named(tags, name).filter_map(|it| doc_type::parse(&it.body, scope).0).last()
}

/// A method that only the doc comment declares.
pub(super) struct DocMethod {
    pub(super) name: String,
    pub(super) is_static: bool,
    pub(super) ret: Option<TypeRef>,
}

/// `@method static Job find(int $id)`.
pub(super) fn method(body: &str, scope: TypeScope<'_>) -> Option<DocMethod> {
    let head = body.split_once('(').map_or(body, |(head, _)| head).trim_end();
    let (signature, is_static) =
        head.strip_prefix("static ").map_or((head, false), |rest| (rest, true));
    let (written, name) = match signature.trim().rsplit_once(char::is_whitespace) {
        Some((written, name)) => (Some(written), name),
        None => (None, signature.trim()),
    };
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let ret = written.and_then(|it| doc_type::parse(it, scope).0);
    is_name.then(|| DocMethod { name: name.to_owned(), is_static, ret })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::dump;

    fn scope<'n>(names: &'n Names, templates: &'n Templates) -> TypeScope<'n> {
        TypeScope { names, class: None, templates }
    }

    #[test]
    fn variables_stand_before_or_behind_their_type() {
        let (names, none) = (Names::default(), Templates::default());
        for (body, wanted) in [
            ("Job $job the job", "job: Job"),
            ("$job Job", "job: Job"),
            ("Job &$job", "job: Job"),
            ("Job ...$jobs", "jobs: Job"),
            ("Job|null", ": Job"),
            ("list<Job> $jobs", "jobs: list<Job>"),
        ] {
            let (name, ty) = typed_variable(body, scope(&names, &none)).expect(body);
            assert_eq!(format!("{name}: {}", dump::type_ref(&ty)), wanted);
        }
    }

    #[test]
    fn annotations_keep_their_arguments() {
        let text = "A job.\n\n@ORM\\Table(\n  name=\"jobs\",\n  @ORM\\Index(a)\n)\n@Version\n@param int $id";
        let tags = tags(text);
        let attrs = annotations(&tags, &Names::default());
        let attrs: Vec<_> = attrs.iter().map(|it| format!("{}({})", it.name, it.args)).collect();
        assert_eq!(attrs, ["ORM\\Table(name=\"jobs\", @ORM\\Index(a))", "Version()"]);
        assert_eq!(tags.last().map(|it| it.name.as_str()), Some("param"));
    }

    #[test]
    fn the_analysers_tags_win() {
        let (names, none) = (Names::default(), Templates::default());
        let tags = tags("@phpstan-return list<Job>\n@return array");
        let ty = type_of(&tags, "return", scope(&names, &none)).expect("a type");
        assert_eq!(dump::type_ref(&ty), "list<Job>");
    }

    #[test]
    fn documented_methods() {
        let (names, none) = (Names::default(), Templates::default());
        let it = method("static Job|null find(int $id)", scope(&names, &none)).expect("a method");
        assert!(it.is_static);
        assert_eq!(it.name, "find");
        assert_eq!(it.ret.map(|it| dump::type_ref(&it)).as_deref(), Some("Job"));
        assert!(method("", scope(&names, &none)).is_none());
    }
}
