//! From a file's text to a typed pack: types, call patterns, handlers. Every complaint points into the
//! file.

use super::columns::{NameRules, read_columns};
use super::error::{PackError, PackErrorKind};
use super::raw::{Complaints, Field, Reader, Word};
use super::role::{ENGINES, RoleReader, VERDICTS, choose};
use super::rule::{RuleDraft, read_rule};
use crate::base::{Language, Name};
use crate::model::{
    CallPattern, ExecutorKind, HandlerPattern, NamePattern, Pack, Role, TypeFact, TypeKindHint,
};
use toml::de::DeTable;

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Loaded {
    /// A vocabulary, and the place of its id.
    Pack(Field<Pack>),
    /// A rule, and the place of its id.
    Rule(Box<Field<RuleDraft>>),
    /// Column patterns and word lists.
    Columns(NameRules),
}

/// Languages that packs and examples may name.
pub(super) const LANGUAGES: &[(&str, Language)] =
    &[("php", Language::Php), ("rust", Language::Rust), ("sql", Language::Sql)];

const KINDS: &[(&str, TypeKindHint)] = &[
    ("row", TypeKindHint::Row),
    ("rows", TypeKindHint::Rows),
    ("query", TypeKindHint::Query),
    ("connection", TypeKindHint::Executor(ExecutorKind::Connection)),
    ("pool", TypeKindHint::Executor(ExecutorKind::Pool)),
    ("transaction", TypeKindHint::Executor(ExecutorKind::Transaction)),
    ("statement", TypeKindHint::Statement),
    ("outcome", TypeKindHint::Outcome),
    ("repository", TypeKindHint::Repository),
    ("lock", TypeKindHint::Lock),
    ("message", TypeKindHint::Message),
    ("queue", TypeKindHint::Queue),
    ("inert", TypeKindHint::Inert),
];

/// Reads one file. What it holds is given even when some of it was complained about.
pub(super) fn load_file(path: &str, text: &str) -> (Option<Loaded>, Complaints) {
    let mut out = Complaints::new(path, text);
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().replace('\n', ", ");
            out.add(span, PackErrorKind::Syntax(message));
            return (None, out);
        }
    };
    let start = 0..text.find('\n').unwrap_or(text.len());
    let mut reader = Reader::new(document.get_ref(), start.clone(), "the file");
    let loaded = if reader.has("pack") {
        read_pack(&mut reader, &mut out).map(Loaded::Pack)
    } else if reader.has("fault") {
        read_rule(&mut reader, &mut out).map(|it| Loaded::Rule(Box::new(it)))
    } else if reader.has("columns") || reader.has("words") {
        Some(Loaded::Columns(read_columns(&mut reader, &mut out)))
    } else {
        let help = "a pack has `[pack]`, a rule has `fault`, column rules have `[columns]`";
        out.add_with_help(start, PackErrorKind::NoKind, help.to_owned());
        return (None, out);
    };
    reader.finish(&mut out);
    (loaded, out)
}

fn read_pack(file: &mut Reader<'_>, out: &mut Complaints) -> Option<Field<Pack>> {
    let Some(mut head) = file.table("pack", out) else {
        // One complaint is enough: what follows are the keys of a pack.
        for key in ["type", "call", "handler"] {
            file.value(key);
        }
        return None;
    };
    let id = head.need_word("id", out).and_then(|it| read_id(&it, out));
    let language = head.word("lang", out).and_then(|it| choose(&it, "language", LANGUAGES, out));
    head.word("title", out);
    head.finish(out);
    // Without an id, the rest is still read for its complaints.
    let pack = id.as_ref().map_or_else(|| "".into(), |it| it.value.clone());
    let types = file.tables("type", out);
    let types = types.into_iter().filter_map(|it| read_type(it, &pack, out)).collect();
    let calls = file.tables("call", out);
    let calls = calls.into_iter().flat_map(|it| read_call(it, &pack, out)).collect();
    let handlers = file.tables("handler", out);
    let handlers = handlers.into_iter().filter_map(|it| read_handler(it, &pack, out)).collect();
    let id = id?;
    Some(Field { value: Pack { id: id.value, language, calls, types, handlers }, span: id.span })
}

/// An id in kebab-case.
pub(super) fn read_id(word: &Word<'_>, out: &mut Complaints) -> Option<Field<Name>> {
    let allowed = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    let fits = word.value.bytes().all(allowed)
        && word.value.starts_with(|it: char| it.is_ascii_lowercase())
        && !word.value.ends_with('-');
    if !fits {
        let help = "ids are lower-case words joined by `-`".to_owned();
        let kind = PackErrorKind::Id(word.value.to_owned());
        out.add_with_help(word.span.clone(), kind, help);
        return None;
    }
    Some(Field { value: word.value.into(), span: word.span.clone() })
}

fn read_type(mut row: Reader<'_>, pack: &Name, out: &mut Complaints) -> Option<TypeFact> {
    let name = row.need_word("name", out).map(|it| it.value.into());
    let kind = row.word("kind", out).and_then(|it| choose(&it, "kind of type", KINDS, out));
    let engine = row.word("engine", out).and_then(|it| choose(&it, "engine", ENGINES, out));
    let model_from = row.words("model-from", out);
    for word in &model_from {
        let fits = word.value == "generic" || word.value.strip_prefix("name:").is_some();
        if !fits {
            out.unknown_word(word, "source of a model", &["generic", "name:Repository"]);
        }
    }
    let fact = name.map(|name| TypeFact {
        pack: pack.clone(),
        name,
        kind,
        parents: names(&mut row, "parents", out),
        words: names(&mut row, "words", out),
        aliases: names(&mut row, "aliases", out),
        engine,
        version_by: names(&mut row, "version-by", out),
        saves_whole: row.flag("saves-whole", out),
        table_from: names(&mut row, "table-from", out),
        model_from: model_from.iter().map(|it| it.value.into()).collect(),
        implied_by: names(&mut row, "implied-by", out),
        scopes: names(&mut row, "scopes", out),
        implied_in: names(&mut row, "implied-in", out),
    })?;
    row.finish(out);
    Some(fact)
}

/// The patterns of one row, one for each name.
fn read_call(mut row: Reader<'_>, pack: &Name, out: &mut Complaints) -> Vec<CallPattern> {
    let n_errors = out.errors.len();
    let on = names(&mut row, "on", out);
    let patterns = read_patterns(&mut row, "name", out);
    if patterns.is_empty() && out.errors.len() == n_errors {
        row.missing("name", out);
    }
    let args = read_args(&mut row, out).unwrap_or((0, u32::MAX));
    let role = RoleReader { reader: &mut row, out, most: args.1 }.role();
    let also = read_also(&mut row, args.1, out);
    let returns = row.word("returns", out).map(|it| Name::from(it.value));
    let is_static = row.maybe_flag("static", out);
    let weak = row.flag("weak", out);
    let receiver_words = names(&mut row, "receiver-words", out);
    let Some(role) = role else { return Vec::new() };
    row.finish(out);
    let also = with_identity(&role, also, returns.as_deref());
    patterns
        .into_iter()
        .map(|name| CallPattern {
            pack: pack.clone(),
            on: on.clone(),
            name,
            args,
            is_static,
            role: role.clone(),
            also: also.clone(),
            returns: returns.clone(),
            weak,
            receiver_words: receiver_words.clone(),
        })
        .collect()
}

fn read_also(row: &mut Reader<'_>, most: u32, out: &mut Complaints) -> Vec<Role> {
    let mut roles = Vec::new();
    for mut reader in row.tables("also", out) {
        if let Some(role) = (RoleReader { reader: &mut reader, out, most }).role() {
            reader.finish(out);
            roles.push(role);
        }
    }
    roles
}

/// A call that changes its receiver and `returns = "receiver"` gives back that very object, so the row
/// need not say `same` as well.
fn with_identity(role: &Role, mut also: Vec<Role>, returns: Option<&str>) -> Vec<Role> {
    use crate::model::Access::Receiver;
    let changes_receiver = matches!(
        role,
        Role::Where { .. }
            | Role::Set { .. }
            | Role::Select { .. }
            | Role::LockRows { .. }
            | Role::Bind { .. }
            | Role::PushSql { .. }
            | Role::Assign { row: Receiver, .. }
            | Role::Refresh { row: Receiver, .. }
    );
    let same = Role::Same { from: Receiver };
    if changes_receiver && returns == Some("receiver") && !also.contains(&same) {
        also.push(same);
    }
    also
}

/// `2`, `1-3` or `2+`.
fn read_args(row: &mut Reader<'_>, out: &mut Complaints) -> Option<(u32, u32)> {
    let word = row.word("args", out)?;
    let parse = |it: &str| it.parse::<u32>().ok();
    let range = if let Some(least) = word.value.strip_suffix('+') {
        parse(least).map(|it| (it, u32::MAX))
    } else if let Some((least, most)) = word.value.split_once('-') {
        parse(least).zip(parse(most)).filter(|(least, most)| least <= most)
    } else {
        parse(word.value).map(|it| (it, it))
    };
    if range.is_none() {
        let help = "write \"2\", \"1-3\" or \"2+\"".to_owned();
        let kind = PackErrorKind::ArgumentCount(word.value.to_owned());
        out.add_with_help(word.span.clone(), kind, help);
    }
    range
}

fn read_patterns(
    row: &mut Reader<'_>,
    key: &'static str,
    out: &mut Complaints,
) -> Vec<NamePattern> {
    let mut patterns = Vec::new();
    for word in row.words(key, out) {
        if word.value.is_empty() || word.value.matches('*').count() > 1 {
            let kind = PackErrorKind::NamePattern(word.value.to_owned());
            out.add_with_help(word.span, kind, "a name may hold one `*`".to_owned());
        } else {
            patterns.push(NamePattern::parse(word.value));
        }
    }
    patterns
}

fn read_handler(mut row: Reader<'_>, pack: &Name, out: &mut Complaints) -> Option<HandlerPattern> {
    let verdict =
        row.need_word("verdict", out).and_then(|it| choose(&it, "verdict", VERDICTS, out));
    let pattern = verdict.map(|verdict| HandlerPattern {
        pack: pack.clone(),
        implements: names(&mut row, "implements", out),
        attributes: names(&mut row, "attributes", out),
        methods: read_patterns(&mut row, "methods", out),
        param_types: names(&mut row, "param-types", out),
        message_param: row.number("message-param", out),
        verdict,
        ack_values: names(&mut row, "ack-values", out),
        nack_values: names(&mut row, "nack-values", out),
        locks_from: names(&mut row, "locks-from", out),
        throw_redelivers: row.maybe_flag("throw-redelivers", out).unwrap_or(true),
    })?;
    row.finish(out);
    Some(pattern)
}

/// A list of names.
pub(super) fn names(row: &mut Reader<'_>, key: &'static str, out: &mut Complaints) -> Vec<Name> {
    row.words(key, out).iter().map(|it| it.value.into()).collect()
}

impl Loaded {
    /// Complaints become the result when there are any.
    pub(super) fn check(
        (loaded, out): (Option<Self>, Complaints),
        errors: &mut Vec<PackError>,
    ) -> Option<(Self, Complaints)> {
        if out.errors.is_empty() {
            return loaded.map(|it| (it, out));
        }
        errors.extend(out.errors);
        None
    }
}
