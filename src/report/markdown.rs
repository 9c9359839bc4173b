//! How is a text written as Markdown, so that nothing in it becomes markup by accident?

use super::rules::{RuleCard, language_word, severities};
use super::{plain, plain_line};
use crate::base::Language;
use std::fmt::Write as _;

/// `text` on one line, every character that Markdown or HTML would act on made a plain one. What
/// stands in backticks becomes code.
pub(super) fn inline(text: &str) -> String {
    let text = plain_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // A backtick without its partner.
        return escaped(&text);
    }
    let mut out = String::new();
    for (idx, part) in parts.iter().enumerate() {
        if idx.is_multiple_of(2) {
            out.push_str(&escaped(part));
        } else {
            out.push_str(&code(part));
        }
    }
    out
}

/// `text` as a span of code that may stand in a table.
pub(super) fn code(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let mut out = String::from("<code>");
    out.push_str(&escaped(&plain_line(text)));
    out.push_str("</code>");
    out
}

/// `text` as a block of code; its fence is longer than any in it.
pub(super) fn block(language: &str, text: &str) -> String {
    let text = plain(text.trim_matches('\n'));
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // As entities, because a backslash does not hide a bar of a table everywhere.
            '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '\\' | '!' | '@' | '$' => {
                let _ = write!(out, "&#{};", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out
}

/// All that there is to say about a rule, below its heading.
pub(super) fn rule_page(card: &RuleCard<'_>) -> String {
    let mut out = String::new();
    let severities = severities(card);
    let when = if severities.contains('/') { "high, medium and low" } else { "every" };
    let _ = writeln!(out, "**{}**", plain_line(card.title));
    let _ = writeln!(out, "\n{severities} at {when} confidence.");
    for text in [&card.why, &card.help] {
        if !text.trim().is_empty() {
            let _ = writeln!(out, "\n{}", plain(text.trim()));
        }
    }
    for (word, examples) in [("Bad", &card.bad), ("Good", &card.good)] {
        for (language, code) in examples {
            let name = language_word(*language);
            let _ = write!(out, "\n{word} ({name}):\n\n{}", block(tag(*language), code));
        }
    }
    if card.can_be_expected {
        let id = card.id;
        let _ = writeln!(out, "\nExpect it: `rowrace: expect[{id}] why it is harmless here`");
    }
    out
}

fn tag(language: Language) -> &'static str {
    match language {
        Language::Php => "php",
        Language::Rust => "rust",
        Language::Sql => "sql",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup_by_accident() {
        let text = "`a|b` <img src=x> [x](y) *z* @team\n| row";
        assert_eq!(
            inline(text),
            "<code>a&#124;b</code> &lt;img src=x&gt; &#91;x&#93;(y) &#42;z&#42; &#64;team &#124; row"
        );
        assert_eq!(inline("one ` alone"), "one &#96; alone");
    }

    #[test]
    fn a_fence_is_longer_than_any_in_the_code() {
        assert_eq!(block("php", "\n  a\n"), "```php\n  a\n```\n");
        assert_eq!(block("text", "```\nb"), "````text\n```\nb\n````\n");
    }
}
