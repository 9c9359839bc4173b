//! How does a session with a client go: greeting, messages, goodbye?

use super::server::{Client, Server};
use super::worker::Worker;
use super::workspace::Event;
use anyhow::Result;
use crossbeam_channel::select;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{InitializeParams, Url};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Stands for a message that was none.
const BROKEN: &str = "rowrace/broken";

/// The message that stands for one that could not be read.
pub(super) fn broken(id: Option<RequestId>, error: &str) -> Message {
    let method = BROKEN.to_owned();
    Message::Notification(Notification { method, params: json!({ "id": id, "error": error }) })
}

/// Serves until the client says goodbye or is gone. Gives whether it said goodbye.
pub(super) fn run(connection: Connection) -> Result<bool> {
    let Some((id, params)) = greeting(&connection)? else { return Ok(false) };
    let params: InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let client = Client::of(&params);
    let greeting = json!({
        "capabilities": client.server_capabilities(),
        "serverInfo": { "name": "rowrace", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.sender.send(Response::new_ok(id, greeting).into())?;
    let mut worker = Worker::start(client.encoding)?;
    worker.send(Event::Folders { added: folders(&params), removed: Vec::new() });
    let mut server = Server::new(client, worker, connection.sender.clone());
    serve(&connection, &mut server)
}

/// Answers everything before the client's greeting with an error.
fn greeting(connection: &Connection) -> Result<Option<(RequestId, serde_json::Value)>> {
    for message in &connection.receiver {
        match message {
            Message::Request(it) if it.method == "initialize" => {
                return Ok(Some((it.id, it.params)));
            }
            Message::Request(it) => {
                let code = ErrorCode::ServerNotInitialized as i32;
                let text = "the first request is `initialize`".to_owned();
                connection.sender.send(Response::new_err(it.id, code, text).into())?;
            }
            Message::Notification(it) if it.method == "exit" => return Ok(None),
            _ => (),
        }
    }
    Ok(None)
}

fn folders(params: &InitializeParams) -> Vec<Url> {
    let folders = params.workspace_folders.iter().flatten();
    let folders: Vec<Url> = folders.map(|it| it.uri.clone()).collect();
    #[expect(deprecated, reason = "clients without workspace folders still send it")]
    let root = params.root_uri.clone();
    if folders.is_empty() { root.into_iter().collect() } else { folders }
}

fn serve(connection: &Connection, server: &mut Server) -> Result<bool> {
    let mut is_closing = false;
    loop {
        select! {
            recv(connection.receiver) -> message => match message {
                Err(_) => return Ok(is_closing),
                Ok(Message::Notification(it)) if it.method == "exit" => return Ok(is_closing),
                Ok(Message::Notification(it)) if it.method == BROKEN => server.broken(&it.params),
                Ok(Message::Request(it)) if it.method == "shutdown" => {
                    is_closing = true;
                    connection.sender.send(Response::new_ok(it.id, ()).into())?;
                }
                Ok(Message::Request(it)) if is_closing => {
                    let code = ErrorCode::InvalidRequest as i32;
                    let text = "the server is shutting down".to_owned();
                    connection.sender.send(Response::new_err(it.id, code, text).into())?;
                }
                Ok(message) => handle(server, connection, message)?,
            },
            recv(server.news()) -> news => match news {
                Ok(news) => server.tell(news),
                Err(_) => anyhow::bail!("the analysis ended"),
            },
        }
    }
}

/// Lets `server` handle `message`; a panic costs that message only.
fn handle(server: &mut Server, connection: &Connection, message: Message) -> Result<()> {
    let id = match &message {
        Message::Request(Request { id, .. }) => Some(id.clone()),
        _ => None,
    };
    let handled = catch_unwind(AssertUnwindSafe(|| match message {
        Message::Request(it) => server.request(it),
        Message::Notification(it) => server.notification(it),
        Message::Response(_) => (),
    }));
    if let (Err(_), Some(id)) = (handled, id) {
        let code = ErrorCode::InternalError as i32;
        let text = "this is a fault of rowrace, not of your code: please report it".to_owned();
        connection.sender.send(Response::new_err(id, code, text).into())?;
    }
    Ok(())
}
