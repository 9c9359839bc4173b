//! Does the editor server say what `check` says, follow edits across files, and survive its clients?

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_mins(5);

/// A client, and the server that it talks to.
struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: Receiver<Message>,
    id: i32,
    /// The last diagnostics that were pushed, by URL.
    pushed: BTreeMap<String, Vec<Value>>,
    /// Everything else that was said, by method.
    said: Vec<(String, Value)>,
}

impl Client {
    /// A client that has said hello, with these folders open.
    fn start(folders: &[&Path], capabilities: Value) -> Self {
        let (mut client, _) = Self::greet(folders, capabilities);
        client.notify("initialized", json!({}));
        client
    }

    fn greet(folders: &[&Path], capabilities: Value) -> (Self, Value) {
        let mut client = Self::silent();
        let folders: Vec<Value> =
            folders.iter().map(|it| json!({ "uri": url(it), "name": "folder" })).collect();
        let params = json!({
            "processId": null,
            "rootUri": null,
            "capabilities": capabilities,
            "workspaceFolders": folders,
        });
        let greeting = client.ask("initialize", params).expect("a greeting");
        (client, greeting)
    }

    /// A client that has said nothing.
    fn silent() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_rowrace"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut stdout = BufReader::new(server.stdout.take().expect("piped"));
        let (sender, output) = channel();
        thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = server.stdin.take();
        Self { server, input, output, id: 100, pushed: BTreeMap::new(), said: Vec::new() }
    }

    fn send(&mut self, message: impl Into<Message>) {
        let input = self.input.as_mut().expect("it is open");
        message.into().write(input).expect("sent");
    }

    fn raw(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("sent");
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params });
    }

    /// Sends a request and waits for its answer.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, i32> {
        let id = self.request(method, params);
        self.answer(&id)
    }

    fn request(&mut self, method: &str, params: Value) -> RequestId {
        self.id += 1;
        let id = RequestId::from(self.id);
        self.send(Request { id: id.clone(), method: method.to_owned(), params });
        id
    }

    fn answer(&mut self, id: &RequestId) -> Result<Value, i32> {
        loop {
            if let Message::Response(Response { id: it, response_result }) = self.next()
                && it == *id
            {
                return response_result.map_err(|it| it.code);
            }
        }
    }

    /// The next message; what the server asks is answered, what it says is kept.
    fn next(&mut self) -> Message {
        let message = self.output.recv_timeout(PATIENCE).expect("the server says something");
        match &message {
            Message::Notification(it) if it.method == "textDocument/publishDiagnostics" => {
                let uri = it.params["uri"].as_str().expect("a URL").to_owned();
                let items = it.params["diagnostics"].as_array().expect("a list").clone();
                self.pushed.insert(uri, items);
            }
            Message::Notification(it) => self.said.push((it.method.clone(), it.params.clone())),
            Message::Request(it) => {
                self.said.push((it.method.clone(), it.params.clone()));
                let answer = Response::new_ok(it.id.clone(), Value::Null);
                self.send(answer);
            }
            Message::Response(_) => (),
        }
        message
    }

    /// Waits until diagnostics are pushed for `path`, and gives their rules.
    fn pushed_for(&mut self, path: &Path) -> Vec<String> {
        let uri = url(path);
        self.pushed.remove(&uri);
        while !self.pushed.contains_key(&uri) {
            self.next();
        }
        rules(&self.pushed[&uri])
    }

    fn open(&mut self, path: &Path, text: &str) {
        let document = json!({ "uri": url(path), "languageId": "php", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn replace(&mut self, path: &Path, version: i32, text: &str) {
        let params = json!({
            "textDocument": { "uri": url(path), "version": version },
            "contentChanges": [{ "text": text }],
        });
        self.notify("textDocument/didChange", params);
    }

    /// Says goodbye; gives the exit code.
    fn goodbye(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", Value::Null), Ok(Value::Null));
        assert!(self.ask("textDocument/hover", json!({})).is_err(), "it is closing");
        self.notify("exit", Value::Null);
        self.server.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input.take();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn url(path: &Path) -> String {
    lsp_types::Url::from_file_path(path).expect("an absolute path").to_string()
}

fn rules(items: &[Value]) -> Vec<String> {
    items.iter().map(|it| it["code"].as_str().expect("a rule").to_owned()).collect()
}

/// A copy of the story, which may be edited.
fn story() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let root = fs::canonicalize(folder.path()).expect("it exists");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/story/before");
    for entry in fs::read_dir(from).expect("the story") {
        let entry = entry.expect("a file");
        fs::copy(entry.path(), root.join(entry.file_name())).expect("copied");
    }
    (folder, root)
}

const STORY: [&str; 3] = ["loose-gate", "unguarded-transition", "strand-on-throw"];

#[test]
fn the_server_says_what_check_says() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut folders: Vec<PathBuf> = fs::read_dir(cases)
        .expect("a folder")
        .flat_map(|it| {
            ["before", "after"].map(|side| it.as_ref().expect("a case").path().join(side))
        })
        .filter(|it| it.is_dir())
        .collect();
    folders.sort();
    let pulling = json!({
        "general": { "positionEncodings": ["utf-32"] },
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostic": { "refreshSupport": true } },
    });
    let all: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let mut client = Client::start(&all, pulling);
    let answer = client.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let answer = answer.expect("a report");
    let mut by_folder: BTreeMap<&Path, Vec<(String, u64, u64, String)>> = BTreeMap::new();
    for report in answer["items"].as_array().expect("a list") {
        let uri = lsp_types::Url::parse(report["uri"].as_str().expect("a URL")).expect("a URL");
        let path = uri.to_file_path().expect("a path");
        let folder = all.iter().find(|it| path.starts_with(it)).expect("inside of a folder");
        let shown = path.strip_prefix(folder).expect("inside").to_string_lossy().into_owned();
        for it in report["items"].as_array().expect("a list") {
            let start = &it["range"]["start"];
            by_folder.entry(folder).or_default().push((
                shown.clone(),
                start["line"].as_u64().expect("a line") + 1,
                start["character"].as_u64().expect("a column") + 1,
                it["code"].as_str().expect("a rule").to_owned(),
            ));
        }
    }
    assert!(by_folder.len() > 50, "{}", by_folder.len());
    for folder in all {
        let mut found = by_folder.remove(folder).unwrap_or_default();
        found.sort();
        assert_eq!(found, checked(folder), "{}", folder.display());
    }
}

/// What `check` finds in `folder`.
fn checked(folder: &Path) -> Vec<(String, u64, u64, String)> {
    let run = Command::new(env!("CARGO_BIN_EXE_rowrace"))
        .args(["check", "--format", "json"])
        .current_dir(folder)
        .output()
        .expect("it runs");
    let report: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let text = |it: &Value| it.as_str().expect("a text").to_owned();
    let number = |it: &Value| it.as_u64().expect("a number");
    let findings = report["findings"].as_array().expect("a list").iter();
    let mut found: Vec<_> = findings
        .map(|it| {
            (text(&it["path"]), number(&it["line"]), number(&it["column"]), text(&it["rule"]))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn an_edited_model_changes_what_is_said_of_a_worker_that_is_not_open() {
    let (_folder, root) = story();
    let (worker, model) = (root.join("ExecutionWorker.php"), root.join("Execution.php"));
    let mut client = Client::start(&[&root], json!({}));
    assert_eq!(client.pushed_for(&worker), STORY);
    let text = fs::read_to_string(&model).expect("the model");
    client.open(&model, &text);
    let at = text.find("$this->status = 'running';").expect("the mutator");
    let line = text[..at].matches('\n').count();
    let edit = json!({
        "range": { "start": { "line": line, "character": 0 }, "end": { "line": line + 2, "character": 0 } },
        "text": "",
    });
    let document = json!({ "uri": url(&model), "version": 2 });
    let params = json!({ "textDocument": document, "contentChanges": [edit] });
    client.notify("textDocument/didChange", params);
    let left = client.pushed_for(&worker);
    assert!(!left.contains(&"unguarded-transition".to_owned()), "{left:?}");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": url(&model) } }));
    assert_eq!(client.pushed_for(&worker), STORY);
}

#[test]
fn a_diagnostic_has_all_that_an_editor_can_show() {
    let (_folder, root) = story();
    let worker = root.join("ExecutionWorker.php");
    let mut client = Client::start(&[&root], json!({}));
    client.pushed_for(&worker);
    let items = client.pushed[&url(&worker)].clone();
    let race = items.iter().find(|it| it["code"] == "unguarded-transition").expect("the race");
    assert_eq!((&race["severity"], &race["source"]), (&json!(1), &json!("rowrace")));
    assert!(race["data"]["fingerprint"].is_string(), "{race}");
    let related = race["relatedInformation"].as_array().expect("steps");
    let files: Vec<&str> = related
        .iter()
        .filter_map(|it| it["location"]["uri"].as_str()?.rsplit('/').next())
        .collect();
    assert!(files.contains(&"Execution.php") && files.contains(&"ExecutionRepository.php"));
    let params = json!({
        "textDocument": { "uri": url(&worker) },
        "range": race["range"],
        "context": { "diagnostics": [race] },
    });
    let actions = client.ask("textDocument/codeAction", params).expect("an answer");
    let edit = &actions[0]["edit"]["changes"][&url(&worker)][0];
    let wanted = "            // rowrace: expect[unguarded-transition] ...\n";
    assert_eq!(edit["newText"], wanted, "{actions}");
    assert_eq!(edit["range"]["start"]["line"], race["range"]["start"]["line"]);
    let place =
        json!({ "textDocument": { "uri": url(&worker) }, "position": race["range"]["start"] });
    let hover = client.ask("textDocument/hover", place.clone()).expect("an answer");
    let text = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(text.contains("[Execution.php:33]"), "{text}");
    let steps = client.ask("textDocument/declaration", place).expect("an answer");
    assert_eq!(steps.as_array().map(Vec::len), Some(related.len()));
    let nowhere = json!({ "line": 0, "character": 0 });
    let place = json!({ "textDocument": { "uri": url(&worker) }, "position": nowhere });
    assert_eq!(client.ask("textDocument/hover", place), Ok(Value::Null));
}

#[test]
fn while_a_file_is_broken_its_findings_stay_and_move() {
    let (_folder, root) = story();
    let worker = root.join("ExecutionWorker.php");
    let mut client = Client::start(&[&root], json!({}));
    client.pushed_for(&worker);
    let before = client.pushed[&url(&worker)].clone();
    let text = fs::read_to_string(&worker).expect("the worker");
    client.open(&worker, &text);
    let class = text.find("final class").expect("the class");
    let broken = format!("{}function half( {{\n\n{}", &text[..class], &text[class..]);
    client.replace(&worker, 2, &broken);
    assert_eq!(client.pushed_for(&worker), STORY);
    let line = |it: &Value| it["range"]["start"]["line"].as_u64();
    for (old, new) in before.iter().zip(&client.pushed[&url(&worker)]) {
        assert_eq!(line(old).map(|it| it + 2), line(new));
    }
}

#[test]
fn files_on_disk_are_followed() {
    let (_folder, root) = story();
    let worker = root.join("ExecutionWorker.php");
    let watching =
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut client = Client::start(&[&root], watching);
    assert_eq!(client.pushed_for(&worker), STORY);
    assert!(client.said.iter().any(|it| it.0 == "client/registerCapability"));
    let changed = |client: &mut Client, path: &Path| {
        let params = json!({ "changes": [{ "uri": url(path), "type": 2 }] });
        client.notify("workspace/didChangeWatchedFiles", params);
    };
    let config = root.join("rowrace.toml");
    fs::write(&config, "version = 1\n[levels]\nloose-gate = \"off\"\n").expect("written");
    changed(&mut client, &config);
    assert_eq!(client.pushed_for(&worker), STORY[1..]);
    fs::write(&config, "version = 1\n[rulez]\n").expect("written");
    changed(&mut client, &config);
    while !client.said.iter().any(|it| it.0 == "window/showMessage") {
        client.next();
    }
    fs::remove_file(&worker).expect("removed");
    changed(&mut client, &worker);
    assert!(client.pushed_for(&worker).is_empty());
}

#[test]
fn a_client_that_pulls_gets_the_same_and_is_told_what_did_not_change() {
    let (_folder, root) = story();
    let worker = root.join("ExecutionWorker.php");
    let pulling = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostic": { "refreshSupport": true } },
    });
    let (mut client, greeting) = Client::greet(&[&root], pulling);
    let provider = &greeting["capabilities"]["diagnosticProvider"];
    assert_eq!(provider["interFileDependencies"], true);
    assert_eq!(provider["workspaceDiagnostics"], true);
    client.notify("initialized", json!({}));
    let document = json!({ "uri": url(&worker) });
    let first = client.ask("textDocument/diagnostic", json!({ "textDocument": document }));
    let first = first.expect("a report");
    assert_eq!(rules(first["items"].as_array().expect("a list")), STORY);
    let again = json!({ "textDocument": document, "previousResultId": first["resultId"] });
    let again = client.ask("textDocument/diagnostic", again).expect("a report");
    assert_eq!(again["kind"], "unchanged");
    assert!(client.pushed.is_empty(), "it pulls");
    let id = client.request("textDocument/codeAction", json!({ "nonsense": 1 }));
    assert_eq!(client.answer(&id), Err(-32602));
    assert_eq!(client.goodbye(), Some(0));
}

#[test]
fn nonsense_ends_nothing() {
    let (_folder, root) = story();
    let mut early = Client::silent();
    assert_eq!(early.ask("textDocument/hover", json!({})), Err(-32002));
    early.notify("exit", Value::Null);
    assert_eq!(early.server.wait().expect("it ends").code(), Some(1));

    let mut client = Client::start(&[&root], json!({}));
    client.raw("nonsense\r\n\r\n");
    client.raw("Content-Length: 3\r\n\r\n{]}");
    let body = r#"{"jsonrpc":"2.0","id":5,"method":false}"#;
    client.raw(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    client.notify("textDocument/didChange", json!({ "textDocument": 7 }));
    client.notify("$/unknown", json!([]));
    client.open(Path::new("/nowhere/at/all.php"), "<?php");
    assert_eq!(client.ask("unknown/request", json!({})), Err(-32601));
    assert_eq!(client.pushed_for(&root.join("ExecutionWorker.php")), STORY);
    assert_eq!(client.goodbye(), Some(0));
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let (_folder, root) = story();
    let mut client = Client::start(&[&root], json!({}));
    client.input.take();
    assert_eq!(client.server.wait().expect("it ends").code(), Some(1));
}

#[test]
fn places_count_in_the_units_agreed_upon() {
    let (_folder, root) = story();
    let worker = root.join("ExecutionWorker.php");
    let text = fs::read_to_string(&worker).expect("the worker");
    let wide = text.replace("$this->executions->update(", "/*𝄞*/$this->executions->update(");
    fs::write(&worker, wide).expect("written");
    let column = |encodings: Value| {
        let capabilities = json!({ "general": { "positionEncodings": encodings } });
        let (mut client, greeting) = Client::greet(&[&root], capabilities);
        client.notify("initialized", json!({}));
        client.pushed_for(&worker);
        let items = &client.pushed[&url(&worker)];
        let race = items.iter().find(|it| it["code"] == "unguarded-transition").expect("the race");
        let column = race["range"]["start"]["character"].as_u64().expect("a column");
        (greeting["capabilities"]["positionEncoding"].clone(), column)
    };
    let (utf8, wide) = column(json!(["utf-16", "utf-8"]));
    let (utf16, narrow) = column(json!(["utf-16"]));
    assert_eq!((utf8, utf16, wide), (json!("utf-8"), json!("utf-16"), narrow + 2));
}
