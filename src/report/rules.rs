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
    /// Severity at high, medium and low confidence; none: off.
    pub severity: [Option<Severity>; 3],
    /// How two workers both win.
    pub why: String,
    /// What to do.
    pub help: String,
    /// Snippets that show the fault.
    pub bad: Vec<(Language, &'a str)>,
    /// Snippets that show its repair.
    pub good: Vec<(Language, &'a str)>,
    /// Whether an expect comment can answer for it.
    pub can_be_expected: bool,
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
    let severities = severities(card);
    let is_one = !severities.contains('/');
    let when = if is_one { "every" } else { "high, medium and low" };
    writeln!(out, "{severities} at {when} confidence\n")?;
    for (word, text) in [("Why", &card.why), ("Help", &card.help)] {
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
    if card.can_be_expected {
        let id = card.id;
        writeln!(out, "Expect it with a comment: rowrace: expect[{id}] why it is harmless here")?;
    }
    Ok(())
}

fn write_code(code: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in plain(code.trim_end()).trim_start_matches('\n').lines() {
        writeln!(out, "{}", format!("    {line}").trim_end())?;
    }
    writeln!(out)
}

/// One word when the confidence makes no difference, three otherwise.
pub(super) fn severities(card: &RuleCard<'_>) -> String {
    let words = card.severity.map(|it| it.map_or("off", severity_word));
    if words.iter().all(|it| *it == words[0]) { words[0].to_owned() } else { words.join("/") }
}

pub(super) fn language_word(language: Language) -> &'static str {
    match language {
        Language::Php => "PHP",
        Language::Rust => "Rust",
        Language::Sql => "SQL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_says_all_there_is_to_say() {
        let card = RuleCard {
            id: "loose-gate",
            title: "the check admits the state that is written",
            severity: [Some(Severity::Warning), Some(Severity::Note), None],
            why: "The second worker passes the check too.".to_owned(),
            help: "Admit only the old state.".to_owned(),
            bad: vec![(Language::Php, "\nif (x) {\n    y();\n}\n")],
            good: Vec::new(),
            can_be_expected: true,
        };
        let mut out = Vec::new();
        write_card(&card, &mut out).expect("written to memory");
        let wanted = "\
loose-gate: the check admits the state that is written
warning/note/off at high, medium and low confidence

Why: The second worker passes the check too.

Help: Admit only the old state.

Bad (PHP):

    if (x) {
        y();
    }

Expect it with a comment: rowrace: expect[loose-gate] why it is harmless here
";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), wanted);
    }
}
