//! A scripted model for one session: a small part of the Messages API on this machine alone.
//!
//! This is the only file of omo that opens a socket: it listens on 127.0.0.1, on a port that the
//! system chooses, for as long as one session of `omo doctor --live` lasts.

use std::io::Read;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tiny_http::{Header, Request, Response, Server};

/// No request of such a session is larger.
const MAX_REQUEST: u64 = 16 * 1024 * 1024;

/// What the model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// It starts a subagent, and ends once that is done.
    Subagent,
    /// It refuses every request.
    Refusal,
}

/// A model at work. Dropping it ends it.
pub(super) struct ScriptedModel {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    /// Begins to listen.
    pub(super) fn start(script: Script) -> Result<Self, String> {
        let server = Server::http("127.0.0.1:0").map_err(|error| format!("listen on 127.0.0.1: {error}"))?;
        let server = Arc::new(server);
        let listening = Arc::clone(&server);
        let thread = std::thread::spawn(move || {
            for request in listening.incoming_requests() {
                answer(request, script);
            }
        });
        Ok(Self { server, thread: Some(thread) })
    }

    /// Where the client finds it.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers one request. A client that no longer needs the answer is no error.
fn answer(mut request: Request, script: Script) {
    let mut bytes = Vec::new();
    let _ = request.as_reader().take(MAX_REQUEST).read_to_end(&mut bytes);
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let is_agent = request.headers().iter().any(|header| header.field.equiv("x-claude-code-agent-id"));
    let path = request.url().split('?').next().unwrap_or_default();
    let (status, kind, text) = match (path, script) {
        ("/v1/messages", Script::Refusal) => (401, JSON, refusal().to_string()),
        ("/v1/messages", Script::Subagent) => {
            let message = message(&body, is_agent);
            if body.get("stream") == Some(&Value::Bool(true)) {
                (200, "text/event-stream", stream(&message))
            } else {
                (200, JSON, message.to_string())
            }
        }
        ("/v1/messages/count_tokens", _) => (200, JSON, json!({"input_tokens": 100}).to_string()),
        _ => (
            404,
            JSON,
            json!({"type": "error", "error": {"type": "not_found_error", "message": "not here"}}).to_string(),
        ),
    };
    let mut response = Response::from_string(text).with_status_code(status);
    if let Ok(header) = Header::from_bytes("content-type", kind) {
        response.add_header(header);
    }
    let _ = request.respond(response);
}

const JSON: &str = "application/json";

fn refusal() -> Value {
    json!({"type": "error", "error": {"type": "authentication_error", "message": "refused, as omo doctor wants it"}})
}

/// What the model says to a request: in the session's own conversation it first starts a subagent.
fn message(body: &Value, is_agent: bool) -> Value {
    let has_result = body.get("messages").is_some_and(|messages| messages.to_string().contains("\"tool_result\""));
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut names = tools.filter_map(|tool| tool.get("name")?.as_str());
    // Older clients call the tool otherwise.
    let tool = names.find(|name| ["Agent", "Task"].contains(name));
    let (content, reason) = match tool.filter(|_| !is_agent && !has_result) {
        Some(tool) => {
            let input = json!({
                "description": "answer at once", "subagent_type": "general-purpose",
                "prompt": "Answer at once.", "run_in_background": false,
            });
            (json!({"type": "tool_use", "id": "toolu_omo_doctor", "name": tool, "input": input}), "tool_use")
        }
        None => (json!({"type": "text", "text": "All is said."}), "end_turn"),
    };
    json!({
        "id": "msg_omo_doctor", "type": "message", "role": "assistant",
        "model": body.get("model").cloned().unwrap_or_default(), "content": [content],
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

/// The same message as a stream of events.
fn stream(message: &Value) -> String {
    let block = message.pointer("/content/0").cloned().unwrap_or_default();
    let (mut empty, delta) = (
        block.clone(),
        match block.get("input") {
            Some(input) => json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            None => json!({"type": "text_delta", "text": block.get("text")}),
        },
    );
    let (field, nothing) = if block.get("input").is_some() { ("input", json!({})) } else { ("text", json!("")) };
    if let Some(fields) = empty.as_object_mut() {
        fields.insert(field.to_owned(), nothing);
    }
    let mut opening = message.clone();
    if let Some(fields) = opening.as_object_mut() {
        fields.insert("content".to_owned(), json!([]));
        fields.insert("stop_reason".to_owned(), Value::Null);
    }
    let end = json!({"stop_reason": message.get("stop_reason"), "stop_sequence": null});
    let events = [
        json!({"type": "message_start", "message": opening}),
        json!({"type": "content_block_start", "index": 0, "content_block": empty}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": message.get("usage")}),
        json!({"type": "message_stop"}),
    ];
    let told = events.iter().map(|event| {
        let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_is_started_once_and_then_all_is_said() {
        let tools = json!([{"name": "Bash"}, {"name": "Agent"}]);
        let first = json!({"tools": tools, "messages": [{"role": "user", "content": "hello"}]});
        let later = json!({"tools": tools, "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]});
        let kind = |body: &Value, is_agent| message(body, is_agent)["content"][0]["type"].clone();
        assert_eq!(kind(&first, false), "tool_use");
        assert_eq!(kind(&first, true), "text", "a subagent starts no other");
        assert_eq!(kind(&later, false), "text");
        assert_eq!(kind(&json!({}), false), "text", "a small request of the client itself");
    }

    #[test]
    fn a_stream_says_what_the_message_says() {
        for is_agent in [true, false] {
            let message = message(&json!({"tools": [{"name": "Agent"}]}), is_agent);
            let told = stream(&message);
            assert_eq!(told.matches("event: ").count(), 6);
            assert_eq!(told.contains("partial_json"), !is_agent, "{told}");
            assert_eq!(told.contains("All is said."), is_agent, "{told}");
        }
    }
}
