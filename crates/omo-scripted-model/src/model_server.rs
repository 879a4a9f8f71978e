//! The HTTP server of a scripted model: reads a request, asks the script, and writes the answer.

use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response};

use crate::ids::tagged_id;
use crate::loopback::LoopbackServer;
use crate::reply::{ModelMessage, ModelReply};
use crate::reply_json;

/// Maximum bytes of a request.
const MAX_REQUEST: u64 = 64 * 1024 * 1024;

/// The needed part of a request.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Path without the query.
    pub path: String,
    /// Subagent id in the client's header.
    pub agent: Option<String>,
    /// JSON body; `null` without one.
    pub body: Value,
    /// `true` for a request of a message. The server answers other requests, whatever the script says.
    pub wants_message: bool,
}

/// A running scripted model, ended by drop.
pub struct ModelServer {
    end: Arc<ServerEnd>,
    server: LoopbackServer,
}

impl ModelServer {
    /// Begins to listen. `script` is called for each `POST`, in a thread of its own; it may wait.
    ///
    /// # Errors
    ///
    /// No free port.
    pub fn start(
        script: impl Fn(ModelRequest, &ServerEnd) -> ModelReply + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let end = Arc::new(ServerEnd::default());
        let waits = Arc::clone(&end);
        let server = LoopbackServer::start(move |request| {
            // The client may be gone, which its own output tells.
            let _ = answer(request, &script, &waits);
        })?;
        Ok(Self { end, server })
    }

    /// Value for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        self.server.url()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.end.announce();
    }
}

/// The end of a server, which ends every wait of its answers.
#[derive(Debug, Default)]
pub struct ServerEnd {
    is_near: Mutex<bool>,
    changed: Condvar,
}

impl ServerEnd {
    /// Waits for `duration`; `false` when the server ends meanwhile.
    pub fn wait(&self, duration: Duration) -> bool {
        let is_near = self.is_near.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_near, _) = self
            .changed
            .wait_timeout_while(is_near, duration, |is_near| !*is_near)
            .unwrap_or_else(PoisonError::into_inner);
        !*is_near
    }

    fn announce(&self) {
        *self.is_near.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

fn answer(
    mut http: Request,
    script: &impl Fn(ModelRequest, &ServerEnd) -> ModelReply,
    end: &ServerEnd,
) -> io::Result<()> {
    let path = http.url().split('?').next().unwrap_or_default().to_owned();
    match http.method() {
        Method::Head => return respond(http, 200, &Value::Null, &[]),
        Method::Get if path.starts_with("/v1/models") => {
            let empty = json!({"data": [], "has_more": false, "first_id": null, "last_id": null});
            return respond(http, 200, &empty, &[]);
        }
        _ => {}
    }
    let is_post = *http.method() == Method::Post;
    let agent = http
        .headers()
        .iter()
        .find(|header| header.field.equiv("x-claude-code-agent-id"));
    let agent = agent.map(|header| header.value.as_str().to_owned());
    let mut text = Vec::new();
    http.as_reader().take(MAX_REQUEST).read_to_end(&mut text)?;
    let body: Value = serde_json::from_slice(&text).unwrap_or_default();
    let model = body
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or("scripted")
        .to_owned();
    let is_stream = body.get("stream") == Some(&Value::Bool(true));
    let wants_message = is_post && path == "/v1/messages";
    let counts_tokens = is_post && path == "/v1/messages/count_tokens";
    let reply = script(
        ModelRequest {
            path,
            agent,
            body,
            wants_message,
        },
        end,
    );
    if counts_tokens {
        return respond(
            http,
            200,
            &json!({"input_tokens": text.len().div_ceil(4)}),
            &[],
        );
    }
    if !wants_message {
        return respond(
            http,
            404,
            &reply_json::error("not_found_error", "not found"),
            &[],
        );
    }
    match reply {
        ModelReply::Silence => Ok(()),
        ModelReply::Error {
            status,
            kind,
            message,
            headers,
        } => respond(http, status, &reply_json::error(&kind, &message), &headers),
        ModelReply::Message(reply) if is_stream => stream(http, &reply, &model, end),
        ModelReply::Message(reply) => respond(http, 200, &reply_json::message(&reply, &model), &[]),
    }
}

/// Writes the events by hand, each as one HTTP chunk, so that waits fall between them.
fn stream(http: Request, reply: &ModelMessage, model: &str, end: &ServerEnd) -> io::Result<()> {
    let mut out = http.into_writer();
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
         cache-control: no-cache\r\nrequest-id: {}\r\ntransfer-encoding: chunked\r\n\r\n",
        tagged_id("req_")
    )?;
    for event in reply_json::events(reply, model) {
        let text = format!("event: {}\ndata: {}\n\n", event.name, event.data);
        write!(out, "{:x}\r\n{text}\r\n", text.len())?;
        out.flush()?;
        if !event.pause.is_zero() && !end.wait(event.pause) {
            return Ok(());
        }
    }
    write!(out, "0\r\n\r\n")?;
    out.flush()
}

fn respond(http: Request, status: u16, body: &Value, more: &[(&str, String)]) -> io::Result<()> {
    let fields = [
        ("content-type", "application/json".to_owned()),
        ("request-id", tagged_id("req_")),
    ];
    let mut response = Response::from_string(body.to_string()).with_status_code(status);
    for (name, value) in fields.iter().chain(more) {
        if let Ok(header) = Header::from_bytes(name.as_bytes(), value.as_bytes()) {
            response.add_header(header);
        }
    }
    http.respond(response)
}
