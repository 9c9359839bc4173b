//! What has to be typed to be rid of a finding, when that is certain?

use crate::base::Span;

/// A place and the text that takes its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// What goes; empty for a pure insertion.
    pub span: Span,
    /// What comes.
    pub replacement: String,
}
