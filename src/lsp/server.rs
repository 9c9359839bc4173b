//! How is each message of a client handled?

use super::action;
use super::diagnostic::{FileReport, Shown};
use super::documents::{Document, Documents};
use super::folder::Overlay;
use super::position::Encoding;
use super::pull;
use super::worker::{News, Worker};
use super::workspace::{Event, Reports, language_of};
use crossbeam_channel::{Receiver, Sender};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability,
    DeclarationCapability, DiagnosticOptions, DiagnosticServerCapabilities,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentDiagnosticParams, Hover,
    HoverContents, HoverProviderCapability, InitializeParams, Location, MarkupContent, MarkupKind,
    OneOf, Position, PublishDiagnosticsParams, Range, ServerCapabilities,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, Url, WorkDoneProgressOptions, WorkspaceDiagnosticParams,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The token of the progress that is shown until the first result is there.
const PROGRESS: &str = "rowrace/analysis";

/// Which files may change what is found.
const WATCHED: &str = "**/*.{php,phtml,inc,module,install,rs,sql,toml}";

/// What the client can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    /// The units of columns.
    pub(super) encoding: Encoding,
    /// It asks for diagnostics, and asks again when told that they changed.
    pulls: bool,
    watches: bool,
    shows_progress: bool,
}

impl Client {
    /// What `params` say of it.
    pub(super) fn of(params: &InitializeParams) -> Self {
        // Most clients say nothing of most things: as JSON, that is the same as false.
        let all = serde_json::to_value(&params.capabilities).unwrap_or_default();
        let can = |path: &str| all.pointer(path).is_some_and(|it| *it != Value::Bool(false));
        let offered = params.capabilities.general.as_ref();
        let offered = offered.and_then(|it| it.position_encodings.clone()).unwrap_or_default();
        Self {
            encoding: Encoding::choose(&offered),
            pulls: can("/textDocument/diagnostic") && can("/workspace/diagnostic/refreshSupport"),
            watches: can("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            shows_progress: can("/window/workDoneProgress"),
        }
    }

    /// What the server does for it.
    pub(super) fn server_capabilities(self) -> ServerCapabilities {
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        };
        let actions = CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        };
        let diagnostics = DiagnosticOptions {
            identifier: Some("rowrace".to_owned()),
            inter_file_dependencies: true,
            workspace_diagnostics: true,
            work_done_progress_options: WorkDoneProgressOptions::default(),
        };
        let folders = WorkspaceFoldersServerCapabilities {
            supported: Some(true),
            change_notifications: Some(OneOf::Left(true)),
        };
        ServerCapabilities {
            position_encoding: Some(self.encoding.kind()),
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            code_action_provider: Some(CodeActionProviderCapability::Options(actions)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            declaration_provider: Some(DeclarationCapability::Simple(true)),
            diagnostic_provider: self
                .pulls
                .then_some(DiagnosticServerCapabilities::Options(diagnostics)),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(folders),
                file_operations: None,
            }),
            ..ServerCapabilities::default()
        }
    }
}

/// A request that waits for the analysis of what was sent before it.
#[derive(Debug)]
enum Waiting {
    Document(RequestId, DocumentDiagnosticParams),
    Workspace(RequestId, WorkspaceDiagnosticParams),
}

impl Waiting {
    fn id(&self) -> &RequestId {
        match self {
            Self::Document(id, _) | Self::Workspace(id, _) => id,
        }
    }
}

/// The state of a session.
#[derive(Debug)]
pub(super) struct Server {
    client: Client,
    worker: Worker,
    outgoing: Sender<Message>,
    documents: Documents,
    reports: Reports,
    /// Number of the last event that `reports` know.
    known: u64,
    waiting: Vec<Waiting>,
    requests: i32,
    shows_progress: bool,
}

impl Server {
    pub(super) fn new(client: Client, worker: Worker, outgoing: Sender<Message>) -> Self {
        Self {
            client,
            worker,
            outgoing,
            documents: Documents::default(),
            reports: Reports::new(),
            known: 0,
            waiting: Vec::new(),
            requests: 0,
            shows_progress: false,
        }
    }

    /// What the analysis has to say.
    pub(super) fn news(&self) -> &Receiver<News> {
        &self.worker.news
    }

    /// Takes what the analysis said.
    pub(super) fn tell(&mut self, news: News) {
        match news {
            News::Message(text) => {
                self.notify(
                    "window/showMessage",
                    json!({ "type": 2, "message": format!("rowrace: {text}") }),
                );
            }
            News::Found { generation, reports } if generation == self.worker.generation() => {
                self.known = generation;
                self.publish(reports);
                self.end_progress();
                for it in std::mem::take(&mut self.waiting) {
                    self.answer(it);
                }
            }
            // A newer result is on its way.
            News::Found { .. } => (),
        }
    }

    fn publish(&mut self, reports: Reports) {
        let before = std::mem::replace(&mut self.reports, reports);
        let urls: BTreeSet<&Url> = before.keys().chain(self.reports.keys()).collect();
        // The number of a text that says the same is no news.
        let changed = |it: &&Url| {
            let [old, new] = [&before, &self.reports].map(|all| all.get(it).map(|it| &it.found));
            old != new
        };
        let changed: Vec<Url> = urls.into_iter().filter(changed).cloned().collect();
        if self.client.pulls {
            if !changed.is_empty() {
                self.ask("workspace/diagnostic/refresh", Value::Null);
            }
            return;
        }
        for uri in changed {
            let diagnostics = pull::diagnostics(self.reports.get(&uri));
            let version = self.documents.get(&uri).map(|it| it.version);
            let params = PublishDiagnosticsParams { uri, diagnostics, version };
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    /// Handles a notification.
    pub(super) fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match &*method {
            "initialized" => self.initialized(),
            "textDocument/didOpen" => self.with(params, &method, Self::opened),
            "textDocument/didChange" => self.with(params, &method, Self::changed),
            "textDocument/didClose" => self.with(params, &method, Self::closed),
            "workspace/didChangeWatchedFiles" => self.with(params, &method, Self::files_changed),
            "workspace/didChangeWorkspaceFolders" => {
                self.with(params, &method, Self::folders_changed);
            }
            "workspace/didChangeConfiguration" => self.worker.send(Event::Configured),
            "$/cancelRequest" => self.cancel(&params),
            // What nobody asked for is passed over, as the protocol wants it.
            _ => (),
        }
    }

    /// Calls `handle` with the parameters of a notification; wrong ones are logged.
    fn with<P: DeserializeOwned>(
        &mut self,
        params: Value,
        method: &str,
        handle: impl FnOnce(&mut Self, P),
    ) {
        match serde_json::from_value(params) {
            Ok(params) => handle(self, params),
            Err(error) => self.log(&format!("{method}: {error}")),
        }
    }

    fn initialized(&mut self) {
        if self.client.watches {
            let watcher = json!({ "globPattern": WATCHED });
            let options = json!({ "watchers": [watcher] });
            let method = "workspace/didChangeWatchedFiles";
            let registration =
                json!({ "id": "rowrace/files", "method": method, "registerOptions": options });
            self.ask("client/registerCapability", json!({ "registrations": [registration] }));
        }
        if self.client.shows_progress && self.known == 0 {
            self.shows_progress = true;
            self.ask("window/workDoneProgress/create", json!({ "token": PROGRESS }));
            let begin =
                json!({ "kind": "begin", "title": "rowrace", "message": "reading the workspace" });
            self.notify("$/progress", json!({ "token": PROGRESS, "value": begin }));
        }
    }

    fn end_progress(&mut self) {
        if std::mem::take(&mut self.shows_progress) {
            let end = json!({ "kind": "end" });
            self.notify("$/progress", json!({ "token": PROGRESS, "value": end }));
        }
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let it = params.text_document;
        let document =
            Document { text: it.text.into(), version: it.version, language: it.language_id.into() };
        self.worker.send(Event::Edited(it.uri.clone(), overlay(&document)));
        self.documents.open(it.uri, document);
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let it = params.text_document;
        let encoding = self.client.encoding;
        let changes = &params.content_changes;
        if let Some(document) = self.documents.change(&it.uri, it.version, changes, encoding) {
            self.worker.send(Event::Edited(it.uri, overlay(document)));
        }
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        self.documents.close(&uri);
        self.worker.send(Event::Closed(uri));
    }

    fn files_changed(&mut self, params: DidChangeWatchedFilesParams) {
        let urls = params.changes.into_iter().map(|it| it.uri).collect();
        self.worker.send(Event::FilesChanged(urls));
    }

    fn folders_changed(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let urls = |it: Vec<lsp_types::WorkspaceFolder>| it.into_iter().map(|it| it.uri).collect();
        let added = urls(params.event.added);
        self.worker.send(Event::Folders { added, removed: urls(params.event.removed) });
    }

    fn cancel(&mut self, params: &Value) {
        let Ok(id) = serde_json::from_value::<RequestId>(params["id"].clone()) else { return };
        let (stopped, left) =
            std::mem::take(&mut self.waiting).into_iter().partition(|it| *it.id() == id);
        self.waiting = left;
        let stopped: Vec<Waiting> = stopped;
        for it in stopped {
            let code = ErrorCode::RequestCanceled as i32;
            self.send(Response::new_err(it.id().clone(), code, "cancelled".to_owned()));
        }
    }

    /// Says that a message could not be read.
    pub(super) fn broken(&mut self, params: &Value) {
        let error = params["error"].as_str().unwrap_or_default();
        self.log(&format!("a message could not be read: {error}"));
        if let Ok(id) = serde_json::from_value(params["id"].clone()) {
            self.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, error.to_owned()));
        }
    }

    /// Handles a request.
    pub(super) fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        match &*method {
            "textDocument/diagnostic" => self.park(id, params, Waiting::Document),
            "workspace/diagnostic" => self.park(id, params, Waiting::Workspace),
            "textDocument/codeAction" => self.reply(id, params, Self::actions),
            "textDocument/hover" => self.reply(id, params, Self::hover),
            "textDocument/declaration" => self.reply(id, params, Self::declaration),
            _ => {
                let text = format!("`{method}` is not known here");
                self.send(Response::new_err(id, ErrorCode::MethodNotFound as i32, text));
            }
        }
    }

    fn reply<P: DeserializeOwned, R: Serialize>(
        &mut self,
        id: RequestId,
        params: Value,
        answer: impl FnOnce(&Self, P) -> R,
    ) {
        let response = match serde_json::from_value(params) {
            Ok(params) => Response::new_ok(id, answer(self, params)),
            Err(error) => invalid(id, &error),
        };
        self.send(response);
    }

    fn park<P: DeserializeOwned>(
        &mut self,
        id: RequestId,
        params: Value,
        wait: impl FnOnce(RequestId, P) -> Waiting,
    ) {
        match serde_json::from_value(params) {
            Ok(params) => {
                let waiting = wait(id, params);
                if self.known == self.worker.generation() {
                    self.answer(waiting);
                } else {
                    self.waiting.push(waiting);
                }
            }
            Err(error) => self.send(invalid(id, &error)),
        }
    }

    fn answer(&mut self, waiting: Waiting) {
        let response = match waiting {
            Waiting::Document(id, it) => {
                let previous = it.previous_result_id.as_deref();
                Response::new_ok(id, pull::document(&self.reports, &it.text_document.uri, previous))
            }
            Waiting::Workspace(id, it) => {
                Response::new_ok(id, pull::workspace(&self.reports, it.previous_result_ids))
            }
        };
        self.send(response);
    }

    fn actions(&self, params: CodeActionParams) -> Vec<lsp_types::CodeAction> {
        let uri = &params.text_document.uri;
        let found = self.found(uri).iter().filter(|it| touches(it.diagnostic.range, params.range));
        found.flat_map(|it| action::actions(uri, it)).collect()
    }

    fn hover(&self, params: TextDocumentPositionParams) -> Option<Hover> {
        let found = self.at(&params);
        let first = found.first()?.diagnostic.range;
        let value: Vec<&str> = found.iter().map(|it| &*it.witness).collect();
        let value = value.join("\n---\n\n");
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(first) })
    }

    /// Where the steps of the findings at a place stand.
    fn declaration(&self, params: TextDocumentPositionParams) -> Vec<Location> {
        self.at(&params).iter().flat_map(|it| it.steps.clone()).collect()
    }

    fn at(&self, params: &TextDocumentPositionParams) -> Vec<&Shown> {
        let here = Range::new(params.position, params.position);
        let found = self.found(&params.text_document.uri).iter();
        found.filter(|it| touches(it.diagnostic.range, here)).collect()
    }

    fn found(&self, url: &Url) -> &[Shown] {
        self.reports.get(url).map_or(&[], |it: &FileReport| &it.found)
    }

    fn log(&mut self, text: &str) {
        self.notify("window/logMessage", json!({ "type": 1, "message": text }));
    }

    fn notify(&mut self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request { id, method: method.to_owned(), params });
    }

    /// A client that is gone needs no answer; its silence ends the session elsewhere.
    fn send(&mut self, message: impl Into<Message>) {
        let _ = self.outgoing.send(message.into());
    }
}

fn overlay(document: &Document) -> Overlay {
    Overlay {
        text: document.text.clone(),
        language: language_of(&document.language),
        version: document.version,
    }
}

fn invalid(id: RequestId, error: &serde_json::Error) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
}

fn touches(a: Range, b: Range) -> bool {
    let before = |it: Position, other: Position| it <= other;
    before(a.start, b.end) && before(b.start, a.end)
}
