//! Template and placeholder marks that are left inside literals: what `sprintf`, `strtr`, a query
//! builder or a driver will put a value or a name for.
//!
//! | mark | read as |
//! |---|---|
//! | `{jobs}`, `{{%jobs}}`, `[[state]]`, `#__jobs` | the name inside, where a name stands |
//! | `{id}`, `${id}`, `#{id}`, `{$id}`, `{{ id }}`, `%%prefix%%` | a named parameter |
//! | `%s`, `%d`, `%1$s`, `{}` | a parameter by position |
//! | `:id`, `@id`, `$id`, `$1`, `:1`, `:'id'` | the driver's own parameters |

use super::token::{Atom, Mark, is_word_part, is_word_start};
use crate::base::Name;
use crate::ir::ParamRef;

/// A mark at the beginning of a text.
#[derive(Debug)]
pub(super) enum Leftover<'a> {
    /// A name in marks; `len` counts the marks too.
    Name { text: &'a str, len: usize },
    /// A value.
    Param { mark: Mark, len: usize },
}

/// What a mark may take up: searches for its end go no further.
pub(super) fn window(rest: &str) -> &str {
    let mut end = rest.len().min(200);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    &rest[..end]
}

/// Names that stand for a table without being one.
pub(super) fn is_generic(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "table"
            | "tablename"
            | "table_name"
            | "tbl"
            | "prefix"
            | "schema"
            | "database"
            | "db"
            | "name"
    )
}

/// A mark that may be a part of a word. `start`: the word begins with it.
pub(super) fn in_word(rest: &str, start: bool) -> Option<Leftover<'_>> {
    let rest = window(rest);
    let bytes = rest.as_bytes();
    match (bytes.first()?, bytes.get(1)) {
        (b'{', Some(b'{')) => double_braces(rest),
        (b'{', _) => braces(rest),
        (b'$' | b'#', Some(b'{')) => {
            let len = balanced(&rest[1..])?;
            Some(named(&rest[2..len], 1 + len))
        }
        (b'[', Some(b'[')) if start => {
            let inner = &rest[2..2 + rest[2..].find("]]")?];
            is_name(inner).then_some(Leftover::Name { text: inner, len: inner.len() + 4 })
        }
        (b'#', _) if start && rest.starts_with("#__") => Some(Leftover::Name { text: "", len: 3 }),
        (b'%', _) => percent(rest, start),
        _ => None,
    }
}

fn double_braces(rest: &str) -> Option<Leftover<'_>> {
    let inner = &rest[2..2 + rest[2..].find("}}")?];
    let len = inner.len() + 4;
    if let Some(name) = inner.strip_prefix('%') {
        return is_name(name).then_some(Leftover::Name { text: name, len });
    }
    let inner = inner.strip_suffix('%').unwrap_or(inner);
    if is_name(inner) {
        return Some(Leftover::Name { text: inner, len });
    }
    (!inner.contains(';')).then(|| named(inner.trim(), len))
}

fn braces(rest: &str) -> Option<Leftover<'_>> {
    let len = balanced(rest)?;
    let inner = &rest[1..len - 1];
    if inner.is_empty() {
        return Some(Leftover::Param { mark: Mark::Printf, len });
    }
    if is_name(inner) {
        return Some(Leftover::Name { text: inner, len });
    }
    Some(named(inner, len))
}

/// The length of `{ .. }` with its braces, on one line.
fn balanced(rest: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, it) in rest.char_indices() {
        match it {
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            '\n' | ';' => return None,
            _ => {}
        }
    }
    None
}

/// `%s` and its kin; `%%prefix%%`, `%prefix%`.
fn percent(rest: &str, start: bool) -> Option<Leftover<'_>> {
    if let Some((mark, len)) = printf(rest) {
        let after = rest[len..].chars().next();
        let ends = after.is_none_or(|it| it == '_' || !is_word_part(it));
        if ends && (start || rest[..len].ends_with('s')) {
            return Some(Leftover::Param { mark, len });
        }
    }
    let fence = if rest.starts_with("%%") { "%%" } else { "%" };
    let inner = &rest[fence.len()..];
    let len = inner.find(fence)?;
    let name = &inner[..len];
    let is_mark = is_name(name) && name.len() >= 3;
    is_mark.then(|| named(name, len + 2 * fence.len()))
}

/// A conversion of `sprintf`, `wpdb::prepare` or Python, and its length.
fn printf(rest: &str) -> Option<(Mark, usize)> {
    let body = rest.strip_prefix('%')?;
    if let Some(inner) = body.strip_prefix('(') {
        let len = inner.find(")s")?;
        let param = ParamRef::Named(Name::from(&inner[..len]));
        return is_name(&inner[..len]).then_some((Mark::Known(param), len + 4));
    }
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let (mark, from) = if digits > 0 && body[digits..].starts_with('$') {
        let number: u32 = body[..digits].parse().ok()?;
        (Mark::Known(ParamRef::Position(number.saturating_sub(1))), digits + 1)
    } else {
        (Mark::Printf, digits)
    };
    body[from..].starts_with(['s', 'd', 'i', 'f', 'F', 'u']).then_some((mark, from + 2))
}

/// A placeholder of a driver at the beginning of `rest`, and its length.
pub(super) fn param(rest: &str) -> Option<(usize, Mark)> {
    let rest = window(rest);
    let sign = rest.chars().next()?;
    match sign {
        ':' | '@' | '$' => {}
        _ => return None,
    }
    let body = &rest[1..];
    if sign == ':'
        && let Some(quote) = body.chars().next().filter(|it| matches!(it, '\'' | '"'))
    {
        let name = &body[1..=body[1..].find(quote)?];
        return is_name(name).then(|| (name.len() + 3, known(name)));
    }
    if sign == '@' && body.starts_with('@') {
        let name = name_len(&body[1..]);
        return (name > 0).then(|| (name + 2, known(&body[..=name])));
    }
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let number: u32 = body[..digits].parse().ok()?;
        let position = Mark::Known(ParamRef::Position(number.saturating_sub(1)));
        return (sign != '@').then_some((1 + digits, position));
    }
    let name = name_len(body);
    if name == 0 {
        return None;
    }
    let mut len = 1 + name;
    if sign == '$' {
        len += chain_len(&rest[len..]);
    }
    let mark = known(&rest[1..len]);
    if sign == ':' && rest[len..].starts_with(':') && !rest[len..].starts_with("::") {
        len += 1;
    }
    Some((len, mark))
}

/// `->p`, `[..]` behind a PHP variable.
fn chain_len(rest: &str) -> usize {
    let mut len = 0;
    loop {
        let at = &rest[len..];
        if let Some(property) = at.strip_prefix("->").filter(|it| it.starts_with(is_word_start)) {
            len += 2 + name_len(property);
        } else if at.starts_with('[') {
            let Some(close) = at.find(']').filter(|it| *it < 60) else { return len };
            len += close + 1;
        } else {
            return len;
        }
    }
}

/// The parameters in a quoted text `content` that begins at byte `base`: one that is the whole
/// text, or conversions of `sprintf` between other characters.
pub(super) fn in_quotes(content: &str, base: usize) -> Vec<Atom> {
    // A long text is no value with marks in it.
    if content.len() > 200 {
        return Vec::new();
    }
    let whole = |mark| vec![Atom::new(base, base + content.len(), mark)];
    match in_word(content, true) {
        Some(Leftover::Param { mark, len }) if len == content.len() && is_sure(content) => {
            return whole(mark);
        }
        _ => {}
    }
    if content.starts_with('$')
        && let Some((len, mark)) = param(content)
        && len == content.len()
    {
        return whole(mark);
    }
    let mut atoms = Vec::new();
    let mut at = 0;
    while let Some(found) = content[at..].find('%') {
        at += found;
        if content[at..].starts_with("%%") {
            at += 2;
            continue;
        }
        let Some((mark, len)) = printf(&content[at..]) else { return Vec::new() };
        let ends = !content[at + len..].starts_with(|it: char| it.is_alphanumeric() || it == '%');
        if !ends || !content[at..at + len].ends_with(['s', 'd']) {
            return Vec::new();
        }
        atoms.push(Atom::new(base + at, base + at + len, mark));
        at += len;
    }
    atoms
}

/// `'{}'` and `'{status}'` are an array and a path in PostgreSQL.
fn is_sure(content: &str) -> bool {
    !content.starts_with('{') || content.starts_with("{$") || content.starts_with("{{")
}

fn named(text: &str, len: usize) -> Leftover<'_> {
    Leftover::Param { mark: known(text), len }
}

fn known(name: &str) -> Mark {
    Mark::Known(ParamRef::Named(Name::from(name)))
}

fn name_len(text: &str) -> usize {
    if !text.starts_with(is_word_start) {
        return 0;
    }
    text.find(|it| !is_word_part(it)).unwrap_or(text.len())
}

fn is_name(text: &str) -> bool {
    name_len(text) == text.len() && !text.is_empty()
}
