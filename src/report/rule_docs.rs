//! All rules at once: as a page of Markdown for people, as JSON for programs.

use super::markdown::rule_page;
use super::{RuleCard, severity_word};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    rules: Vec<JsonRule<'a>>,
}

#[derive(Serialize)]
struct JsonRule<'a> {
    id: &'a str,
    title: &'a str,
    severity: JsonLevels,
    why: &'a str,
    help: &'a str,
    bad: Vec<JsonExample<'a>>,
    good: Vec<JsonExample<'a>>,
    can_be_expected: bool,
}

/// Null: off.
#[derive(Serialize)]
struct JsonLevels {
    high: Option<&'static str>,
    medium: Option<&'static str>,
    low: Option<&'static str>,
}

#[derive(Serialize)]
struct JsonExample<'a> {
    language: &'static str,
    code: &'a str,
}

/// Writes one object with all rules.
pub fn write_rules_json(cards: &[RuleCard<'_>], out: &mut dyn Write) -> io::Result<()> {
    let rules = cards.iter().map(json).collect();
    serde_json::to_writer_pretty(&mut *out, &Document { version: super::json::VERSION, rules })?;
    writeln!(out)
}

fn json<'a>(card: &'a RuleCard<'_>) -> JsonRule<'a> {
    let [high, medium, low] = card.severity.map(|it| it.map(severity_word));
    let examples = |them: &'a [(crate::base::Language, &str)]| {
        let example = |it: &'a (crate::base::Language, &str)| JsonExample {
            language: super::rules::language_word(it.0),
            code: it.1,
        };
        them.iter().map(example).collect()
    };
    JsonRule {
        id: card.id,
        title: card.title,
        severity: JsonLevels { high, medium, low },
        why: card.why.trim(),
        help: card.help.trim(),
        bad: examples(&card.bad),
        good: examples(&card.good),
        can_be_expected: card.can_be_expected,
    }
}

/// Writes a page with a section for each rule.
pub fn write_rules_markdown(cards: &[RuleCard<'_>], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Rules\n")?;
    writeln!(out, "Written by `rowrace rules --format markdown`; a test keeps it fresh.\n")?;
    for card in cards {
        writeln!(out, "- [`{0}`](#{0}): {1}", card.id, super::markdown::inline(card.title))?;
    }
    for card in cards {
        write!(out, "\n## {}\n\n{}", card.id, rule_page(card))?;
    }
    Ok(())
}
