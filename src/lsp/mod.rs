//! What does the editor server do? It answers the language server protocol over standard input and
//! output, with the engine that the command line uses.
//!
//! Three threads: one reads messages, this one answers them, one analyses. An edit stops the analysis
//! that is under way; results of an older text are never shown.

mod action;
mod diagnostic;
mod documents;
mod folder;
mod frames;
mod plan;
mod position;
mod pull;
mod server;
mod session;
mod shift;
mod worker;
mod workspace;

use anyhow::{Context as _, Result, anyhow};
use frames::Frame;
use lsp_server::Connection;
use std::io::{self, BufReader, Write as _};
use std::thread;

/// Serves the client at standard input and output until it says goodbye. Gives whether it did so in good
/// order.
pub fn serve() -> Result<bool> {
    let (server, client) = Connection::memory();
    let writer = thread::Builder::new().name("writer".to_owned()).spawn({
        let outgoing = client.receiver;
        move || {
            let mut out = io::stdout().lock();
            for message in outgoing {
                if message.write(&mut out).and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        }
    })?;
    thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut input = BufReader::new(io::stdin().lock());
        loop {
            let message = match frames::read(&mut input) {
                Ok(Frame::Message(message)) => message,
                Ok(Frame::Broken(id, error)) => session::broken(id, &error),
                Ok(Frame::End) | Err(_) => return,
            };
            if client.sender.send(message).is_err() {
                return;
            }
        }
    })?;
    let is_orderly = session::run(server).context("the language server failed")?;
    // The reader may wait for input for ever; the writer ends with what it was given.
    writer.join().map_err(|_| anyhow!("the writer failed"))?;
    Ok(is_orderly)
}
