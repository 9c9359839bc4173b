//! Where are the comments? The parser drops them, so a scan that knows strings, characters and
//! lifetimes finds them in a text that is known to have parsed.

use crate::base::{Comment, Source, Span};

/// Every comment in order, doc comments included.
pub(super) fn scan(source: &Source) -> Vec<Comment> {
    let mut scanner = Scanner { source, bytes: source.text.as_bytes(), at: 0, out: Vec::new() };
    while scanner.at < scanner.bytes.len() {
        scanner.step();
    }
    scanner.out
}

struct Scanner<'a> {
    source: &'a Source,
    bytes: &'a [u8],
    at: usize,
    out: Vec<Comment>,
}

impl Scanner<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        match (self.byte(0), self.byte(1)) {
            (b'/', b'/') => self.line_comment(),
            (b'/', b'*') => self.block_comment(),
            (b'"', _) => self.string(),
            (b'\'', _) => self.quote(),
            (it, _) if it.is_ascii_alphanumeric() || it == b'_' => self.word(),
            _ => self.at += 1,
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        while self.at < self.bytes.len() && self.byte(0) != b'\n' {
            self.at += 1;
        }
        let text = self.source.text[start..self.at].trim_start_matches('/');
        self.push(start, text);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match (self.byte(0), self.byte(1)) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at = (self.at + 2).min(self.bytes.len());
            if depth == 0 {
                break;
            }
        }
        let text = self.source.text[start..self.at].trim_start_matches('/');
        let text = text.trim_start_matches('*').strip_suffix('/').unwrap_or(text);
        self.push(start, text.trim_end_matches('*'));
    }

    fn push(&mut self, start: usize, text: &str) {
        let text = text.strip_prefix('!').unwrap_or(text).trim().to_owned();
        self.out.push(Comment { span: Span::new(self.source.id, start, self.at), text });
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// A character, or a lifetime or label.
    fn quote(&mut self) {
        self.at += 1;
        if self.byte(0) == b'\\' {
            self.at += 2;
            while self.at < self.bytes.len() && self.byte(0) != b'\'' {
                self.at += 1;
            }
            self.at += 1;
            return;
        }
        let length = self.source.text[self.at.min(self.bytes.len())..]
            .chars()
            .next()
            .map_or(1, char::len_utf8);
        self.at += if self.byte(length) == b'\'' { length + 1 } else { 0 };
    }

    /// A name, a number, or the prefix of a raw string.
    fn word(&mut self) {
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric() || self.byte(0) == b'_' {
            self.at += 1;
        }
        if matches!(&self.bytes[start..self.at], b"r" | b"br" | b"cr") {
            let n_hashes = self.bytes[self.at..].iter().take_while(|it| **it == b'#').count();
            if self.byte(n_hashes) == b'"' {
                self.raw_string(n_hashes);
            }
        }
    }

    fn raw_string(&mut self, n_hashes: usize) {
        let body = self.at + n_hashes + 1;
        let end = format!("\"{}", "#".repeat(n_hashes));
        let length = self.source.text[body..].find(&end).map(|it| it + end.len());
        self.at = length.map_or(self.bytes.len(), |it| body + it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Language, SourceId};

    fn texts(text: &str) -> Vec<String> {
        let source = Source {
            id: SourceId(0),
            path: "a.rs".to_owned(),
            language: Language::Rust,
            text: text.to_owned(),
            exempt: false,
        };
        let spans_hold = |it: &Comment| source.text[it.span.range()].starts_with('/');
        let out = scan(&source);
        assert!(out.iter().all(spans_hold));
        out.into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn comments_of_all_kinds() {
        let text = "//! inner\n/// doc\nfn f() {} // end\n/* a /* b */ c */ /** d */ //~^ mark\n";
        assert_eq!(texts(text), ["inner", "doc", "end", "a /* b */ c", "d", "~^ mark"]);
    }

    #[test]
    fn strings_and_characters_hold_no_comments() {
        let text = r###"
            let a = "// no \" // no"; let b = r#"// no " // no"#; let c = '"'; let d = '\'';
            let e = b"// no"; let f = br##"/* " "# no"##; fn g<'a>(x: &'a str) {} // yes
            let r#type = '/'; let h = 'ü'; let i = b'"'; // also
        "###;
        assert_eq!(texts(text), ["yes", "also"]);
    }

    #[test]
    fn an_open_end_is_no_trouble() {
        for text in ["/* a", "\"a", "'", "r#\"a", "// a", "'\\", "/**/"] {
            let _ = texts(text);
        }
    }
}
