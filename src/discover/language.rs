//! Which language is a file in: by its name, and where the name leaves doubt, by its beginning.

use crate::base::Language;
use std::path::Path;

/// How many bytes of a file are read to tell whether it is wanted.
pub(super) const HEAD: u64 = 512;

/// What the name of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// The extension belongs to one language.
    Certain(Language),
    /// PHP when there is an opening tag: other tools use the extension too.
    PhpWithTag,
    /// PHP when the first line says so.
    PhpByFirstLine,
}

impl Hint {
    /// What the name of `path` promises; `None` when the file is of no interest.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let Some(extension) = path.extension() else { return Some(Self::PhpByFirstLine) };
        let hint = match extension.to_str()?.to_ascii_lowercase().as_str() {
            "php" | "phtml" | "php5" | "php7" | "php8" => Self::Certain(Language::Php),
            "inc" | "module" | "install" | "theme" | "profile" | "engine" => Self::PhpWithTag,
            "rs" => Self::Certain(Language::Rust),
            "sql" => Self::Certain(Language::Sql),
            _ => return None,
        };
        Some(hint)
    }

    /// Whether a file that begins with `head` is worth reading on.
    pub(super) fn admits_head(self, head: &[u8]) -> bool {
        match self {
            Self::Certain(_) | Self::PhpWithTag => true,
            Self::PhpByFirstLine => first_line_says_php(head),
        }
    }

    /// The language of a file with this text.
    pub(super) fn language(self, text: &str) -> Option<Language> {
        match self {
            Self::Certain(language) => Some(language),
            Self::PhpWithTag => text.contains("<?").then_some(Language::Php),
            Self::PhpByFirstLine => Some(Language::Php),
        }
    }
}

/// `<?php`, or a shebang that names a PHP binary.
fn first_line_says_php(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let line = head.split(|it| matches!(it, b'\n' | b'\r')).next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    if let Some(command) = line.strip_prefix("#!") {
        return command.split([' ', '\t', '/']).any(is_php_binary);
    }
    line.trim_start().starts_with("<?php")
}

/// `php`, `php8.2`, `php-cgi`.
fn is_php_binary(word: &str) -> bool {
    word.strip_prefix("php").is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(|it: char| it.is_ascii_digit() || it == '-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_language() {
        let php = Hint::Certain(Language::Php);
        for (name, wanted) in [
            ("a.php", Some(php)),
            ("A.PHP", Some(php)),
            ("view.phtml", Some(php)),
            ("jobs.install", Some(Hint::PhpWithTag)),
            ("lib.rs", Some(Hint::Certain(Language::Rust))),
            ("dump.sql", Some(Hint::Certain(Language::Sql))),
            ("artisan", Some(Hint::PhpByFirstLine)),
            ("a.txt", None),
        ] {
            assert_eq!(Hint::of(Path::new(name)), wanted, "{name}");
        }
    }

    #[test]
    fn first_line_tells_php() {
        for (head, wanted) in [
            ("#!/usr/bin/env php\n<?php", true),
            ("#!/usr/bin/php8.2 -q\r\n", true),
            ("#!/usr/local/bin/php-cgi", true),
            ("<?php\n", true),
            ("\u{FEFF}<?PHP echo 1;", true),
            ("#!/bin/sh\nphp x", false),
            ("#!/usr/bin/phpunit", false),
            ("all: build", false),
            ("", false),
        ] {
            assert_eq!(first_line_says_php(head.as_bytes()), wanted, "{head}");
        }
    }

    #[test]
    fn an_inc_file_without_a_tag_is_not_php() {
        assert_eq!(Hint::PhpWithTag.language("mov ax, bx"), None);
        assert_eq!(Hint::PhpWithTag.language("<b><?= $x ?></b>"), Some(Language::Php));
    }
}
