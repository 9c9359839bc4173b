//! Comments of the analysed code: expect comments, markers and promises are read from them.

use super::Span;

/// A comment without its delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands, delimiters included.
    pub span: Span,
    /// The words, without `//`, `#`, `--`, `/*` and `*/`.
    pub text: String,
}
