//! A rule file as written: id, fault, filter, severities, texts and examples.

use super::error::PackErrorKind;
use super::load::{LANGUAGES, read_id};
use super::raw::{Complaints, Field, Reader};
use super::role::choose;
use crate::model::Claim;
use crate::rule::{
    Confidence, Example, FaultKind, Filter, Levels, Rule, RuleId, Severity, Template,
    TemplateError, Texts,
};

const CONFIDENCES: &[(&str, Confidence)] =
    &[("high", Confidence::High), ("medium", Confidence::Medium), ("low", Confidence::Low)];

const SEVERITIES: &[(&str, Option<Severity>)] = &[
    ("error", Some(Severity::Error)),
    ("warning", Some(Severity::Warning)),
    ("note", Some(Severity::Note)),
    ("off", None),
];

/// A rule whose title and texts may still have to come from the built-in rule of the same fault.
#[derive(Clone, Debug)]
pub(super) struct RuleDraft {
    pub(super) id: RuleId,
    pub(super) fault: FaultKind,
    title: Option<String>,
    filter: Filter,
    levels: Option<Levels>,
    texts: Option<Texts>,
    bad: Vec<Example>,
    good: Vec<Example>,
}

impl RuleDraft {
    /// The rule; what it leaves out is taken from `base`. None when neither has it.
    pub(super) fn finish(self, base: Option<&Rule>) -> Option<Rule> {
        Some(Rule {
            title: self.title.or_else(|| base.map(|it| it.title.clone()))?,
            texts: self.texts.or_else(|| base.map(|it| it.texts.clone()))?,
            levels: self.levels.or(base.map(|it| it.levels)).unwrap_or_default(),
            id: self.id,
            fault: self.fault,
            filter: self.filter,
            bad: self.bad,
            good: self.good,
        })
    }
}

pub(super) fn read_rule(file: &mut Reader<'_>, out: &mut Complaints) -> Option<Field<RuleDraft>> {
    "the rule".clone_into(&mut file.within);
    let id = file.need_word("id", out).and_then(|it| read_id(&it, out));
    let fault = file.need_word("fault", out).and_then(|it| {
        let faults = FaultKind::ALL.map(|it| (it.word(), it));
        choose(&it, "fault", &faults, out)
    });
    let title = file.word("title", out).map(|it| it.value.to_owned());
    let filter = read_filter(file, out);
    let levels = read_levels(file, out);
    let texts = read_texts(file, out);
    let bad = read_examples(file, "bad", out);
    let good = read_examples(file, "good", out);
    let (id, fault) = id.zip(fault)?;
    let span = id.span;
    let id = RuleId(id.value);
    Some(Field { value: RuleDraft { id, fault, title, filter, levels, texts, bad, good }, span })
}

fn read_filter(file: &mut Reader<'_>, out: &mut Complaints) -> Filter {
    let mut list = |key| file.words(key, out).iter().map(|it| it.value.to_owned()).collect();
    let (tables, columns, to) = (list("tables"), list("columns"), list("to"));
    let min_confidence = file
        .word("min-confidence", out)
        .and_then(|it| choose(&it, "confidence", CONFIDENCES, out))
        .unwrap_or(Confidence::Low);
    Filter { tables, columns, to, min_confidence }
}

fn read_levels(file: &mut Reader<'_>, out: &mut Complaints) -> Option<Levels> {
    let mut table = file.table("severity", out)?;
    let mut level = |key, default| match table.word(key, out) {
        Some(word) => choose(&word, "severity", SEVERITIES, out).unwrap_or(default),
        None => default,
    };
    let Levels { high, medium, low } = Levels::default();
    let levels = Levels {
        high: level("high", high),
        medium: level("medium", medium),
        low: level("low", low),
    };
    table.finish(out);
    Some(levels)
}

fn read_texts(file: &mut Reader<'_>, out: &mut Complaints) -> Option<Texts> {
    let mut table = file.table("text", out)?;
    let message = read_template(&mut table, "message", out);
    let why = read_template(&mut table, "why", out);
    let help = read_template(&mut table, "help", out);
    table.finish(out);
    Some(Texts { message: message?, why: why?, help: help? })
}

fn read_template(
    table: &mut Reader<'_>,
    key: &'static str,
    out: &mut Complaints,
) -> Option<Template> {
    let word = table.need_word(key, out)?;
    match Template::parse(word.value) {
        Ok(template) => Some(template),
        Err(error) => {
            let span = match &error {
                TemplateError::Unknown(name) => out.narrow(word.span, &format!("{{{name}}}")),
                TemplateError::Unclosed => word.span,
            };
            let help = match &error {
                TemplateError::Unknown(name) => super::placeholder_help(name),
                TemplateError::Unclosed => {
                    "write `{name}`, or `{?…}` for an optional part".to_owned()
                }
            };
            out.add_with_help(span, PackErrorKind::Template(error), help);
            None
        }
    }
}

/// Contracts, written as in a configuration.
fn read_claims(example: &mut Reader<'_>, out: &mut Complaints) -> Vec<Claim> {
    let mut claims = Vec::new();
    for mut table in example.tables("claim", out) {
        let mut word = |key| table.need_word(key, out).map(|it| it.value.to_owned());
        let (name, column, to, at) = (word("table"), word("column"), word("to"), word("at"));
        let from = table.words("from", out).iter().map(|it| it.value.to_owned()).collect();
        table.finish(out);
        if let (Some(table), Some(column), Some(to), Some(at)) = (name, column, to, at) {
            claims.push(Claim { table, column, from, to, at });
        }
    }
    claims
}

fn read_examples(file: &mut Reader<'_>, key: &'static str, out: &mut Complaints) -> Vec<Example> {
    let mut examples = Vec::new();
    for mut table in file.tables(key, out) {
        let language =
            table.need_word("lang", out).and_then(|it| choose(&it, "language", LANGUAGES, out));
        let code = table.need_word("code", out).map(|it| it.value.to_owned());
        let claims = read_claims(&mut table, out);
        table.finish(out);
        if let Some((language, code)) = language.zip(code) {
            examples.push(Example { language, code, claims });
        }
    }
    examples
}
