//! How are messages read from and written to a stream? What is no message costs that message only.
//!
//! The base protocol: header lines, of which `Content-Length` counts, an empty line, and that many bytes
//! of JSON.

use lsp_server::{Message, RequestId};
use serde_json::Value;
use std::io::{self, BufRead, Read as _};

/// Longer bodies are skipped: no document of that size is analysed.
const BODY_LIMIT: u64 = 256 << 20;

/// Header lines that are longer are none.
const LINE_LIMIT: u64 = 4096;

/// What stands next in the stream.
#[derive(Debug)]
pub(super) enum Frame {
    /// A message.
    Message(Message),
    /// Something else: the request it may have been, and what is wrong with it.
    Broken(Option<RequestId>, String),
    /// Nothing: the other side has gone.
    End,
}

/// Reads the next frame.
pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Frame> {
    let Some(length) = read_headers(input)? else { return Ok(Frame::End) };
    if length > BODY_LIMIT {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(Frame::Broken(None, "the message is too long".to_owned()));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Ok(Frame::End);
    }
    Ok(match serde_json::from_slice(&body) {
        Ok(message) => Frame::Message(message),
        Err(error) => Frame::Broken(request_id(&body), error.to_string()),
    })
}

/// The length of the body; lines that are no headers are passed over. `None` at the end.
fn read_headers(input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(LINE_LIMIT).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if let (true, Some(length)) = (line.is_empty(), length) {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim_end().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

/// The id of what is JSON but no message.
fn request_id(body: &[u8]) -> Option<RequestId> {
    let value: Value = serde_json::from_slice(body).ok()?;
    match value.get("id")? {
        Value::String(id) => Some(RequestId::from(id.clone())),
        id => i32::try_from(id.as_i64()?).ok().map(RequestId::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<Frame> {
        let mut input = text.as_bytes();
        let mut out = Vec::new();
        loop {
            match read(&mut input).expect("memory") {
                Frame::End => return out,
                frame => out.push(frame),
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_costs_that_message_only() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        for bad in [
            framed("{"),
            framed("[1, 2]"),
            framed("\u{fffd}"),
            "no header\r\n\r\n".to_owned(),
            "Content-Length: many\r\n\r\n".to_owned(),
        ] {
            let found = frames(&format!("{good}{bad}{good}"));
            let is_message = |it: &&Frame| matches!(it, Frame::Message(_));
            assert_eq!(found.iter().filter(is_message).count(), 2, "{bad}: {found:?}");
        }
    }

    #[test]
    fn a_broken_request_is_known_by_its_id() {
        let found = frames(&framed(r#"{"jsonrpc":"2.0","id":"a","method":7}"#));
        let [Frame::Broken(Some(id), _)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(*id, RequestId::from("a".to_owned()));
    }

    #[test]
    fn other_headers_are_passed_over() {
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!(
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:{}\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(frames(&text).len(), 1);
    }

    #[test]
    fn a_stream_that_breaks_off_ends() {
        assert!(frames("Content-Length: 99\r\n\r\n{}").is_empty());
        assert!(frames("Content-Len").is_empty());
    }
}
