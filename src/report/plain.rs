//! How is text of the analysed code shown without letting it speak to the terminal?

use std::borrow::Cow;

/// `text` with every character that a terminal would act on replaced by one that it shows.
/// The number of characters stays the same; tabs and line ends are kept.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_active) {
        Cow::Owned(text.chars().map(plain_char).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// As [`plain`], on one line.
pub(super) fn plain_line(text: &str) -> Cow<'_, str> {
    let is_break = |it: char| matches!(it, '\n' | '\r' | '\t');
    match plain(text) {
        Cow::Borrowed(it) if !it.contains(is_break) => Cow::Borrowed(it),
        shown => Cow::Owned(shown.replace(is_break, " ")),
    }
}

fn is_active(it: char) -> bool {
    (it.is_control() && !matches!(it, '\n' | '\t')) || is_direction(it)
}

/// Marks that make a line read otherwise than it is written.
fn is_direction(it: char) -> bool {
    matches!(it, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn plain_char(it: char) -> char {
    match it {
        '\n' | '\t' => it,
        '\u{7F}' => '\u{2421}',
        // Control pictures stand in the order of what they picture.
        it if it < ' ' => char::from_u32(0x2400 + u32::from(it)).unwrap_or('\u{FFFD}'),
        it if is_active(it) => '\u{FFFD}',
        it => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_is_left() {
        assert_eq!(plain("\u{1b}[31mred\u{7f}\r\n\tx"), "␛[31mred␡␍\n\tx");
        assert_eq!(plain("a\u{202E}b\u{9b}c"), "a\u{FFFD}b\u{FFFD}c");
        assert_eq!(plain_line("a\nb\tc"), "a b c");
        assert!(matches!(plain("größe 状態"), Cow::Borrowed(_)));
    }
}
