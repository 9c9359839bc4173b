//! What does a client get that asks for diagnostics instead of being told?
//!
//! The id of a result is a hash of it, so that a client is told *unchanged* across restarts as well.

use super::diagnostic::FileReport;
use super::workspace::Reports;
use lsp_types::{
    Diagnostic, DocumentDiagnosticReport, FullDocumentDiagnosticReport, PreviousResultId,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport, Url, WorkspaceDiagnosticReport,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};
use rustc_hash::FxHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

/// The answer for one document.
pub(super) fn document(
    reports: &Reports,
    url: &Url,
    previous: Option<&str>,
) -> DocumentDiagnosticReport {
    let items = diagnostics(reports.get(url));
    let id = result_id(&items);
    if previous == Some(&*id) {
        let report = UnchangedDocumentDiagnosticReport { result_id: id };
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: report,
        });
    }
    let report = FullDocumentDiagnosticReport { result_id: Some(id), items };
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: report,
    })
}

/// The answer for all documents: those with findings, and those that the client thinks have some.
pub(super) fn workspace(
    reports: &Reports,
    previous: Vec<PreviousResultId>,
) -> WorkspaceDiagnosticReport {
    let previous: BTreeMap<Url, String> =
        previous.into_iter().map(|it| (it.uri, it.value)).collect();
    let urls: BTreeSet<&Url> = reports.keys().chain(previous.keys()).collect();
    let items = urls.into_iter().map(|uri| {
        let report = reports.get(uri);
        let version = report.and_then(|it| it.version).map(i64::from);
        let items = diagnostics(report);
        let id = result_id(&items);
        let uri = uri.clone();
        if previous.get(&uri) == Some(&id) {
            let report = UnchangedDocumentDiagnosticReport { result_id: id };
            WorkspaceDocumentDiagnosticReport::Unchanged(
                WorkspaceUnchangedDocumentDiagnosticReport {
                    uri,
                    version,
                    unchanged_document_diagnostic_report: report,
                },
            )
        } else {
            let report = FullDocumentDiagnosticReport { result_id: Some(id), items };
            WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
                uri,
                version,
                full_document_diagnostic_report: report,
            })
        }
    });
    WorkspaceDiagnosticReport { items: items.collect() }
}

/// The diagnostics of a file; none for one without findings.
pub(super) fn diagnostics(report: Option<&FileReport>) -> Vec<Diagnostic> {
    let found = report.map_or(&[][..], |it| &it.found);
    found.iter().map(|it| it.diagnostic.clone()).collect()
}

fn result_id(items: &[Diagnostic]) -> String {
    let mut hasher = FxHasher::default();
    serde_json::to_string(items).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
