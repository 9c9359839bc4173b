//! What can be done about a finding, at a key press?
//!
//! Nothing here changes what the program does: the reason of a suppression is the user's to write.

use super::diagnostic::Shown;
use super::documents::Document;
use super::position::Encoding;
use lsp_types::{CodeAction, Url};

/// The actions for `found` in `document`.
pub(super) fn actions(
    _url: &Url,
    _document: &Document,
    _found: &Shown,
    _encoding: Encoding,
) -> Vec<CodeAction> {
    Vec::new()
}
