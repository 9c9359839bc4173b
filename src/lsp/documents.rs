//! What do the open documents say?

use super::position::{Encoding, LineTable};
use lsp_types::{TextDocumentContentChangeEvent, Url};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A document that the editor holds.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Its text.
    pub(super) text: Arc<str>,
    /// The editor's number of it.
    pub(super) version: i32,
    /// What the editor calls its language.
    pub(super) language: Arc<str>,
}

/// All documents that are open.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents(BTreeMap<Url, Document>);

impl Documents {
    pub(super) fn open(&mut self, url: Url, document: Document) {
        self.0.insert(url, document);
    }

    pub(super) fn close(&mut self, url: &Url) {
        self.0.remove(url);
    }

    pub(super) fn get(&self, url: &Url) -> Option<&Document> {
        self.0.get(url)
    }

    /// Applies edits in order; `None` for a document that is not open.
    pub(super) fn change(
        &mut self,
        url: &Url,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> Option<&Document> {
        let document = self.0.get_mut(url)?;
        let mut text = document.text.to_string();
        for change in changes {
            apply(&mut text, change, encoding);
        }
        document.text = text.into();
        document.version = version;
        Some(document)
    }
}

fn apply(text: &mut String, change: &TextDocumentContentChangeEvent, encoding: Encoding) {
    match change.range {
        None => text.clone_from(&change.text),
        Some(range) => {
            let bytes = LineTable::of(text, encoding).bytes(text, range);
            text.replace_range(bytes, &change.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    fn change(range: Option<(u32, u32, u32, u32)>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|(line, column, end_line, end_column)| {
            Range::new(Position::new(line, column), Position::new(end_line, end_column))
        });
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn edits_apply_in_order() {
        let url = Url::parse("file:///a.php").expect("a URL");
        let mut documents = Documents::default();
        let document = Document { text: "ab\ncd\n".into(), version: 1, language: "php".into() };
        documents.open(url.clone(), document);
        let edits = [
            change(Some((0, 1, 1, 1)), "-𝄞\n"),
            change(Some((0, 4, 0, 4)), "!"),
            change(Some((9, 0, 9, 9)), "end"),
        ];
        let changed = documents.change(&url, 2, &edits, Encoding::Utf16).expect("it is open");
        assert_eq!((&*changed.text, changed.version), ("a-𝄞!\nd\nend", 2));
        let whole = [change(None, "x")];
        let changed = documents.change(&url, 3, &whole, Encoding::Utf16).expect("it is open");
        assert_eq!(&*changed.text, "x");
        documents.close(&url);
        assert!(documents.change(&url, 4, &whole, Encoding::Utf16).is_none());
    }
}
