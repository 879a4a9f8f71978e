//! The HTTP side of the scripted model: one thread accepts, one thread answers each request.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

use super::request::RecordedRequest;
use super::turn::{Body, ModelTurn};
use super::{Shared, wire};
use crate::ids;

/// Longer than any test; a turn that hangs ends when the model closes.
const FOREVER: Duration = Duration::from_secs(3600);

/// A computed turn may give a computed turn; a longer chain is a mistake of the test.
const MOST_COMPUTED: usize = 4;

/// Accepts until the server is unblocked, then waits for the answers that are under way.
pub(super) fn start(server: Arc<Server>, shared: Arc<Shared>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut answering = Vec::new();
        for request in server.incoming_requests() {
            let shared = Arc::clone(&shared);
            answering.push(thread::spawn(move || {
                // The client may be gone, for example after Esc; its own output tells.
                answer(request, &shared).ok();
            }));
            answering.retain(|thread| !thread.is_finished());
        }
        for thread in answering {
            thread.join().ok();
        }
    })
}

fn answer(mut http: Request, shared: &Shared) -> io::Result<()> {
    let path = http.url().split('?').next().unwrap_or_default().to_owned();
    let (method, is_post) = (http.method().clone(), *http.method() == Method::Post);
    if method == Method::Head {
        return respond(http, 200, &Value::Null);
    }
    if method == Method::Get && path.starts_with("/v1/models") {
        let empty = json!({"data": [], "has_more": false, "first_id": null, "last_id": null});
        return respond(http, 200, &empty);
    }

    let agent = header(&http, "x-claude-code-agent-id");
    let mut text = Vec::new();
    http.as_reader().read_to_end(&mut text)?;
    let body = serde_json::from_slice(&text).unwrap_or_default();
    let request = RecordedRequest::new(&path, agent, body);
    let turn = shared.record(request.clone());
    match path.as_str() {
        "/v1/messages" if is_post => deliver(http, shared, &request, &turn, 0),
        "/v1/messages/count_tokens" if is_post => respond(http, 200, &json!({"input_tokens": text.len().div_ceil(4)})),
        _ => respond(http, 404, &wire::error("not_found_error", "not found")),
    }
}

fn deliver(
    http: Request,
    shared: &Shared,
    request: &RecordedRequest,
    turn: &ModelTurn,
    computed: usize,
) -> io::Result<()> {
    if !turn.delay.is_zero() && !shared.pause(turn.delay) {
        return Ok(());
    }
    match &turn.body {
        Body::Hang => {
            shared.pause(FOREVER);
            Ok(())
        }
        Body::Failure { status, kind, message, headers } => {
            respond_with(http, *status, &wire::error(kind, message), headers)
        }
        Body::Computed(answer) if computed < MOST_COMPUTED => {
            deliver(http, shared, request, &answer(request), computed + 1)
        }
        Body::Computed(_) => {
            let endless = wire::error("api_error", "the script computes turns without end");
            respond(http, 500, &endless)
        }
        Body::Message(blocks) => {
            let message = wire::message(turn, blocks, request.model());
            if request.streams() { stream(http, shared, turn, &message) } else { respond(http, 200, &message) }
        }
    }
}

/// Writes the events by hand, each as one HTTP chunk, so that waits fall between them.
fn stream(http: Request, shared: &Shared, turn: &ModelTurn, message: &Value) -> io::Result<()> {
    let mut out = http.into_writer();
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
         cache-control: no-cache\r\nrequest-id: {}\r\ntransfer-encoding: chunked\r\n\r\n",
        ids::tagged("req_")
    )?;
    for event in wire::events(message, turn) {
        let text = format!("event: {}\ndata: {}\n\n", event.name, event.data);
        write!(out, "{:x}\r\n{text}\r\n", text.len())?;
        out.flush()?;
        if !event.pause.is_zero() && !shared.pause(event.pause) {
            return Ok(());
        }
    }
    write!(out, "0\r\n\r\n")?;
    out.flush()
}

fn respond(http: Request, status: u16, body: &Value) -> io::Result<()> {
    respond_with(http, status, body, &[])
}

fn respond_with(http: Request, status: u16, body: &Value, more: &[(&str, String)]) -> io::Result<()> {
    let fields = [("content-type", "application/json".to_owned()), ("request-id", ids::tagged("req_"))];
    let mut response = Response::from_string(body.to_string()).with_status_code(status);
    for (name, value) in fields.iter().chain(more) {
        if let Ok(header) = Header::from_bytes(name.as_bytes(), value.as_bytes()) {
            response.add_header(header);
        }
    }
    http.respond(response)
}

fn header(http: &Request, name: &str) -> Option<String> {
    let found = http.headers().iter().find(|header| header.field.as_str().as_str().eq_ignore_ascii_case(name))?;
    Some(found.value.as_str().to_owned())
}
