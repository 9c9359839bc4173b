//! How a rule's words become a finding's words: templates with placeholders, and the values that fill
//! them.
//!
//! ```text
//! `{column}` of {subject} is set{? to `{to}`} without a guard
//! ```
//! `{name}` is a placeholder. `{?…}` is an optional part: it vanishes when a placeholder in it has no
//! value. Backticks directly around a placeholder belong to it: without a value a plain phrase stands
//! there instead (`the state`), so that a text reads well whatever the analysis knows.

use std::collections::BTreeMap;

/// What a text may speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placeholder {
    /// `{table}`: the table's bare name.
    Table,
    /// `{subject}`: table or model as a phrase that brings its own backticks; falls back on the table.
    Subject,
    /// `{column}`: the column's bare name.
    Column,
    /// `{from}`: the old state's value as the code writes it.
    From,
    /// `{to}`: the new state's value as the code writes it.
    To,
    /// `{key}`: what the write finds the row by, as a column or condition.
    Key,
    /// `{call}`: the call that the finding is about, as the code writes it.
    Call,
    /// `{guard}`: the condition that is missing, ready to be copied: `AND status = 'pending'`.
    Guard,
    /// `{api}`: where this API tells the number of affected rows, as a phrase with its own backticks.
    Api,
    /// `{queue}`: the queue's bare name.
    Queue,
    /// `{message}`: the variable that holds the message.
    Message,
    /// `{lock}`: the call that takes the lock.
    Lock,
    /// `{engine-note}`: a sentence on how the database engine at hand behaves.
    EngineNote,
    /// `{lost}`: what the function of a contract has lost, as a phrase.
    Lost,
}

impl Placeholder {
    /// All of them, in the order of their definition.
    pub const ALL: [Self; 14] = [
        Self::Table,
        Self::Subject,
        Self::Column,
        Self::From,
        Self::To,
        Self::Key,
        Self::Call,
        Self::Guard,
        Self::Api,
        Self::Queue,
        Self::Message,
        Self::Lock,
        Self::EngineNote,
        Self::Lost,
    ];

    /// The name between the braces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Subject => "subject",
            Self::Column => "column",
            Self::From => "from",
            Self::To => "to",
            Self::Key => "key",
            Self::Call => "call",
            Self::Guard => "guard",
            Self::Api => "api",
            Self::Queue => "queue",
            Self::Message => "message",
            Self::Lock => "lock",
            Self::EngineNote => "engine-note",
            Self::Lost => "lost",
        }
    }

    /// What stands there when there is no value.
    fn fallback(self) -> &'static str {
        match self {
            Self::Table => "the table",
            Self::Subject => "the row",
            Self::Column => "the state",
            Self::From => "the old state",
            Self::To => "the new state",
            Self::Key => "its key",
            Self::Call => "the call",
            Self::Guard => "a test of the old state",
            Self::Api => "the number of affected rows",
            Self::Queue => "the queue",
            Self::Message => "the message",
            Self::Lock => "the lock",
            Self::EngineNote => "",
            Self::Lost => "its guard",
        }
    }
}

/// Values for placeholders; an empty value counts as none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    by_name: BTreeMap<Placeholder, String>,
}

impl Values {
    /// With that value too.
    #[must_use]
    pub fn with(mut self, placeholder: Placeholder, value: impl Into<String>) -> Self {
        self.by_name.insert(placeholder, value.into());
        self
    }

    /// The value; `{subject}` falls back on the table.
    pub fn get(&self, placeholder: Placeholder) -> Option<String> {
        let value = |it| self.by_name.get(&it).filter(|it| !it.is_empty());
        match (value(placeholder), placeholder) {
            (Some(found), _) => Some(found.clone()),
            (None, Placeholder::Subject) => value(Placeholder::Table).map(|it| format!("`{it}`")),
            (None, _) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A placeholder, in backticks of its own or not.
    Value(Placeholder, bool),
    Optional(Vec<Part>),
}

/// A text with placeholders, checked when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No placeholder of that name.
    #[error("unknown placeholder `{{{0}}}`")]
    Unknown(String),
    /// A `{` without its `}`, or an optional part inside another.
    #[error("`{{` without its `}}`")]
    Unclosed,
}

impl Template {
    /// Reads a template; line breaks and repeated blanks become one blank.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let source = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts = parse_parts(&source, false)?;
        Ok(Self { source, parts })
    }

    /// The template as written, on one line.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text with the values filled in.
    pub fn render(&self, values: &Values) -> String {
        let mut out = String::with_capacity(self.source.len() + 32);
        render_parts(&self.parts, values, &mut out);
        // A plain phrase may stand at the beginning.
        if let Some(first) = out.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        out
    }
}

fn parse_parts(text: &str, nested: bool) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, inside) = (&rest[..open], &rest[open + 1..]);
        if let Some(optional) = inside.strip_prefix('?').filter(|_| !nested) {
            let close = matching_brace(optional).ok_or(TemplateError::Unclosed)?;
            push_text(&mut parts, before);
            parts.push(Part::Optional(parse_parts(&optional[..close], true)?));
            rest = &optional[close + 1..];
            continue;
        }
        let close = inside.find('}').ok_or(TemplateError::Unclosed)?;
        let name = &inside[..close];
        let placeholder = Placeholder::ALL
            .into_iter()
            .find(|it| it.word() == name)
            .ok_or_else(|| TemplateError::Unknown(name.to_owned()))?;
        let after = &inside[close + 1..];
        let quoted = before.strip_suffix('`').zip(after.strip_prefix('`'));
        let (before, after) = quoted.unwrap_or((before, after));
        push_text(&mut parts, before);
        parts.push(Part::Value(placeholder, quoted.is_some()));
        rest = after;
    }
    push_text(&mut parts, rest);
    Ok(parts)
}

/// The `}` that closes a part whose `{` stands before `text`.
fn matching_brace(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, it) in text.char_indices() {
        match it {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => (),
        }
    }
    None
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

fn render_parts(parts: &[Part], values: &Values, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Optional(inner) if is_known(inner, values) => render_parts(inner, values, out),
            Part::Optional(_) => (),
            Part::Value(placeholder, code) => match values.get(*placeholder) {
                Some(value) if *code => {
                    out.push('`');
                    out.push_str(&value);
                    out.push('`');
                }
                Some(value) => out.push_str(&value),
                None => out.push_str(placeholder.fallback()),
            },
        }
    }
}

/// Whether every placeholder of an optional part has a value.
fn is_known(parts: &[Part], values: &Values) -> bool {
    parts.iter().all(|it| match it {
        Part::Value(placeholder, _) => values.get(*placeholder).is_some(),
        Part::Text(_) | Part::Optional(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(template: &str, values: &Values) -> String {
        Template::parse(template).unwrap().render(values)
    }

    #[test]
    fn values_are_filled_in() {
        let values = Values::default()
            .with(Placeholder::Column, "status")
            .with(Placeholder::Table, "jobs")
            .with(Placeholder::To, "running");
        let text = "`{column}` of {subject} is set{? to `{to}`}\n  by {key}";
        assert_eq!(render(text, &values), "`status` of `jobs` is set to `running` by its key");
    }

    #[test]
    fn what_is_not_known_reads_as_a_phrase() {
        let text = "`{column}` of {subject} is set{? to `{to}`}.{? {engine-note}}";
        assert_eq!(render(text, &Values::default()), "The state of the row is set.");
    }

    #[test]
    fn an_empty_value_is_none() {
        let values = Values::default().with(Placeholder::To, "");
        assert_eq!(render("Set{? to `{to}`}", &values), "Set");
        assert_eq!(render("To `{to}`", &values), "To the new state");
    }

    #[test]
    fn an_optional_part_needs_all_its_values() {
        let values = Values::default().with(Placeholder::From, "pending");
        assert_eq!(render("A{? from {from} to {to}}", &values), "A");
    }

    #[test]
    fn unknown_placeholders_are_refused() {
        let unknown = |name: &str| Err(TemplateError::Unknown(name.to_owned()));
        assert_eq!(Template::parse("{colum}"), unknown("colum"));
        assert_eq!(Template::parse("{?to {tow}}"), unknown("tow"));
        assert_eq!(Template::parse("{?to {?{to}}}"), unknown("?{to"));
        assert_eq!(Template::parse("{to"), Err(TemplateError::Unclosed));
        assert_eq!(Template::parse("{?to {to}"), Err(TemplateError::Unclosed));
    }
}
