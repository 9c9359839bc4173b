//! What can be done about a finding, at a key press?
//!
//! Nothing here changes what the program does: the reason of a suppression is the user's to write.

use super::diagnostic::Shown;
use lsp_types::{CodeAction, CodeActionKind, Url, WorkspaceEdit};
use std::collections::HashMap;

/// The actions for `found` in the document at `url`.
pub(super) fn actions(url: &Url, found: &Shown) -> Vec<CodeAction> {
    let remedies = found.remedies.iter();
    remedies
        .map(|it| CodeAction {
            title: it.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![found.diagnostic.clone()]),
            edit: Some(WorkspaceEdit::new(HashMap::from([(url.clone(), it.edits.clone())]))),
            ..CodeAction::default()
        })
        .collect()
}
