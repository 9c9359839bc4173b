//! How is a rule shown: as a line of a list, and in full?

use super::plain::plain;
use super::severity_word;
use crate::base::Language;
use crate::finding::Severity;
use std::io::{self, Write};

/// What is shown of a rule.
#[derive(Clone, Debug)]
pub struct RuleCard<'a> {
    /// Its id.
    pub id: &'a str,
    /// The fault in one line.
    pub title: &'a str,
    /// Severity at high, medium and low confidence.
    pub severity: [Severity; 3],
    /// How two workers both win.
    pub why: &'a str,
    /// What to do.
    pub help: &'a str,
    /// Snippets that show the fault.
    pub bad: Vec<(Language, &'a str)>,
    /// Snippets that show its repair.
    pub good: Vec<(Language, &'a str)>,
}

/// Writes one line per rule: id, severities, title.
pub fn write_rule_list(cards: &[RuleCard<'_>], out: &mut dyn Write) -> io::Result<()> {
    let width = cards.iter().map(|it| it.id.len()).max().unwrap_or(0);
    for card in cards {
        let (id, severity, title) = (card.id, severities(card), plain(card.title));
        writeln!(out, "{id:width$}  {severity:18}  {title}")?;
    }
    Ok(())
}

/// Writes all that there is to say about a rule.
pub fn write_card(card: &RuleCard<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", card.id, plain(card.title))?;
    writeln!(out, "{} at high, medium and low confidence\n", severities(card))?;
    for (word, text) in [("Why", card.why), ("Help", card.help)] {
        if !text.is_empty() {
            writeln!(out, "{word}: {}\n", plain(text.trim()))?;
        }
    }
    for (word, examples) in [("Bad", &card.bad), ("Good", &card.good)] {
        for (language, code) in examples {
            writeln!(out, "{word} ({}):\n", language_word(*language))?;
            write_code(code, out)?;
        }
    }
    let id = card.id;
    writeln!(out, "Expect it with a comment: rowrace: expect[{id}] why it is harmless here")
}

fn write_code(code: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in plain(code.trim_end()).trim_start_matches('\n').lines() {
        writeln!(out, "{}", format!("    {line}").trim_end())?;
    }
    writeln!(out)
}

/// One word when the confidence makes no difference, three otherwise.
fn severities(card: &RuleCard<'_>) -> String {
    let words = card.severity.map(severity_word);
    if words.iter().all(|it| *it == words[0]) { words[0].to_owned() } else { words.join("/") }
}

fn language_word(language: Language) -> &'static str {
    match language {
        Language::Php => "PHP",
        Language::Rust => "Rust",
        Language::Sql => "SQL",
    }
}
