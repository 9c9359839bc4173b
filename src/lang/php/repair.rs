//! Which spellings does the grammar not know, and how can they be respelled in place?
//!
//! `$word{0}` of PHP 5 is respelled `$word[0]`, `<?= $a, $b ?>` as `<?= $a. $b ?>`, and `(void)` of PHP
//! 8.5 as another cast; `<?xml` is no open tag. All mean the same, and every byte keeps its place. Done only when a text does
//! not parse, and kept only when it then parses better.

/// The text respelled; none when there is nothing to respell. ASCII takes the place of ASCII.
pub(super) fn respell(text: &str) -> Option<String> {
    let mut scanner = Scanner { bytes: text.as_bytes().to_vec(), at: 0, changed: false };
    scanner.run();
    if scanner.changed { String::from_utf8(scanner.bytes).ok() } else { None }
}

struct Scanner {
    bytes: Vec<u8>,
    at: usize,
    changed: bool,
}

impl Scanner {
    fn run(&mut self) {
        while let Some(open) = self.find(b"<?") {
            self.at = open + 2;
            if self.bytes[self.at..].starts_with(b"xml") {
                self.bytes[open + 1] = b'!';
                self.changed = true;
                continue;
            }
            let echoes = self.bytes[self.at..].starts_with(b"=");
            self.code(echoes);
        }
    }

    /// From an open tag to behind its close tag.
    fn code(&mut self, echoes: bool) {
        // Open brackets; true for a brace that is an old subscript.
        let mut open: Vec<bool> = Vec::new();
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'?' if self.next() == Some(b'>') => {
                    self.at += 2;
                    return;
                }
                b'\'' | b'"' | b'`' => self.skip_string(byte),
                b'#' | b'/' if self.skip_comment() => continue,
                b'(' | b'[' => {
                    if self.bytes[self.at..].starts_with(b"(void)") {
                        self.bytes[self.at + 1..self.at + 5].copy_from_slice(b"bool");
                        self.changed = true;
                    }
                    open.push(false);
                }
                b'{' => open.push(self.is_subscript()),
                b')' | b']' => {
                    open.pop();
                }
                b'}' if open.pop() == Some(true) => self.put(b']'),
                b',' if echoes && open.is_empty() => self.put(b'.'),
                _ => (),
            }
            if byte == b'{' && open.last() == Some(&true) {
                self.put(b'[');
            }
            self.at += 1;
        }
    }

    fn next(&self) -> Option<u8> {
        self.bytes.get(self.at + 1).copied()
    }

    fn put(&mut self, byte: u8) {
        self.bytes[self.at] = byte;
        self.changed = true;
    }

    fn find(&self, word: &[u8]) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        rest.windows(word.len()).position(|it| it == word).map(|it| self.at + it)
    }

    /// Whether the brace follows `$word`, `->word` or `]` directly.
    fn is_subscript(&self) -> bool {
        let before = &self.bytes[..self.at];
        if before.last() == Some(&b']') {
            return true;
        }
        let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_' || *it >= 0x80;
        let start = before.iter().rposition(|it| !is_word(it)).map_or(0, |it| it + 1);
        let head = &before[..start];
        start < before.len() && (head.ends_with(b"$") || head.ends_with(b"->"))
    }

    /// To the closing quote.
    fn skip_string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == quote {
                return;
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
    }

    /// Whether a comment begins here; goes behind it.
    fn skip_comment(&mut self) -> bool {
        let end = match (self.bytes[self.at], self.next()) {
            (b'/', Some(b'*')) => self.find(b"*/").map(|it| it + 2),
            (b'#', Some(b'[')) => return false,
            (b'#', _) | (b'/', Some(b'/')) => {
                let line = self.find(b"\n");
                let close = self.find(b"?>");
                line.into_iter().chain(close).min()
            }
            _ => return false,
        };
        self.at = end.unwrap_or(self.bytes.len());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_spellings_keep_their_places() {
        for (text, wanted) in [
            ("<?php $a{0} = $b->c{$i{1}};", Some("<?php $a[0] = $b->c[$i[1]];")),
            ("<?php $a['x']{0};", Some("<?php $a['x'][0];")),
            ("a, b <?= $a, f($b, 'c, d') ?>", Some("a, b <?= $a. f($b, 'c, d') ?>")),
            ("<?xml version='1' ?><?php f();", Some("<!xml version='1' ?><?php f();")),
            ("<?php (void) f();", Some("<?php (bool) f();")),
            ("<?php class A{ function f(){ if ($a){} else{} } }", None),
            ("<?php '$a{0}'; // $a{0}\n/* $a{0} */ # $a{0}", None),
            ("<?php \"$a{0}\\\"$a{0}\"; f($a, $b);", None),
        ] {
            assert_eq!(respell(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn open_ends_end() {
        for text in ["<?", "<?php '", "<?php \"\\", "<?php /*", "<?php #", "<?php $a{"] {
            respell(text);
        }
    }
}
