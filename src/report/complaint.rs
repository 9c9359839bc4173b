//! How is a mistake in a configuration or pack file shown? As a compiler does: pointing into it.

use super::excerpt::Excerpts;
use super::plain::{plain, plain_line};
use super::text::{Mark, emit};
use super::{Places, WriteColor};
use crate::base::{Language, Source, SourceId, Span};
use codespan_reporting::diagnostic::{Diagnostic, LabelStyle};
use std::io;
use std::ops::Range;

/// Something that is wrong with a file that is not analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the file.
    pub range: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

/// Writes all complaints about the file at `path`, which says `text`.
pub fn write_complaints(
    path: &str,
    text: &str,
    complaints: &[Complaint],
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    let id = SourceId(0);
    let (path, text) = (path.to_owned(), text.to_owned());
    // The excerpt asks for a source; the language of one that is only shown plays no part.
    let sources = [Source { id, path, language: Language::Sql, text, exempt: true }];
    let mut places = Places::new(&sources);
    for complaint in complaints {
        let span = Span::new(id, complaint.range.start, complaint.range.end);
        let marks = [Mark { span, style: LabelStyle::Primary, message: String::new() }];
        let excerpts = Excerpts::of(&marks, &mut places);
        let help = complaint.help.iter().map(|it| format!("help: {}", plain(it)));
        let diagnostic = Diagnostic::error()
            .with_message(plain_line(&complaint.message))
            .with_labels(excerpts.labels(&marks))
            .with_notes(help.collect());
        emit(&diagnostic, &excerpts, out)?;
    }
    Ok(())
}
