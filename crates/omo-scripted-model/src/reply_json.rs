//! JSON of a reply: one message, or the events of a stream.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::ids::tagged_id;
use crate::reply::{ModelMessage, ReplyBlock};

/// One event of a stream and the wait behind it.
pub(crate) struct ReplyEvent {
    pub(crate) name: &'static str,
    pub(crate) data: Value,
    pub(crate) pause: Duration,
}

/// The message as one value.
pub(crate) fn message(reply: &ModelMessage, model: &str) -> Value {
    let content: Vec<_> = reply.blocks.iter().map(content_block).collect();
    let calls_tool = reply
        .blocks
        .iter()
        .any(|block| matches!(block, ReplyBlock::Tool { .. }));
    let default_reason = if calls_tool { "tool_use" } else { "end_turn" };
    let stop_reason = reply.stop_reason.as_deref().unwrap_or(default_reason);
    json!({
        "id": tagged_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(reply),
    })
}

/// The message as events of a stream, from `message_start` to `message_stop`.
pub(crate) fn events(reply: &ModelMessage, model: &str) -> Vec<ReplyEvent> {
    let message = message(reply, model);
    let mut opening = message.clone();
    if let Some(opening) = opening.as_object_mut() {
        opening.insert("content".into(), json!([]));
        opening.insert("stop_reason".into(), Value::Null);
    }
    let mut events = vec![event("message_start", json!({"message": opening}))];
    let content = message.get("content").and_then(Value::as_array);
    for (index, block) in content.into_iter().flatten().enumerate() {
        let (empty, deltas) = opened(block, reply);
        events.push(event(
            "content_block_start",
            json!({"index": index, "content_block": empty}),
        ));
        for (delta, pause) in deltas {
            let data = json!({"index": index, "delta": delta});
            events.push(ReplyEvent {
                pause,
                ..event("content_block_delta", data)
            });
        }
        events.push(event("content_block_stop", json!({"index": index})));
    }
    let field = |name: &str| message.get(name).cloned().unwrap_or_default();
    events.push(event(
        "message_delta",
        json!({
            "delta": {"stop_reason": field("stop_reason"), "stop_sequence": null},
            "usage": field("usage"),
        }),
    ));
    events.push(event("message_stop", json!({})));
    events
}

pub(crate) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn event(name: &'static str, mut data: Value) -> ReplyEvent {
    if let Some(fields) = data.as_object_mut() {
        fields.insert("type".into(), name.into());
    }
    ReplyEvent {
        name,
        data,
        pause: Duration::ZERO,
    }
}

fn usage(reply: &ModelMessage) -> Value {
    let mut usage = Map::from_iter([
        ("input_tokens".into(), 100.into()),
        ("output_tokens".into(), 20.into()),
        ("cache_creation_input_tokens".into(), 0.into()),
        ("cache_read_input_tokens".into(), 0.into()),
        ("service_tier".into(), "standard".into()),
    ]);
    if let Some(changes) = reply.usage.as_object() {
        usage.extend(changes.clone());
    }
    Value::Object(usage)
}

fn content_block(block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="})
        }
        ReplyBlock::Text(text) => json!({"type": "text", "text": text}),
        ReplyBlock::Tool { name, input } => {
            json!({"type": "tool_use", "id": tagged_id("toolu_"), "name": name, "input": input})
        }
    }
}

/// The empty form of a block and the deltas that fill it.
fn opened(block: &Value, reply: &ModelMessage) -> (Value, Vec<(Value, Duration)>) {
    let field = |name: &str| block.get(name).cloned().unwrap_or_default();
    let mut empty = block.clone();
    let mut clear = |name: &str, value: Value| {
        if let Some(fields) = empty.as_object_mut() {
            fields.insert(name.into(), value);
        }
    };
    let deltas = match block.get("type").and_then(Value::as_str) {
        Some("thinking") => {
            clear("thinking", "".into());
            clear("signature", "".into());
            vec![
                json!({"type": "thinking_delta", "thinking": field("thinking")}),
                json!({"type": "signature_delta", "signature": field("signature")}),
            ]
        }
        Some("tool_use") => {
            clear("input", json!({}));
            let input = field("input").to_string();
            vec![json!({"type": "input_json_delta", "partial_json": input})]
        }
        _ => {
            clear("text", "".into());
            let text = field("text");
            let pieces = pieces(text.as_str().unwrap_or_default(), reply.chunks);
            let delta = |piece| {
                (
                    json!({"type": "text_delta", "text": piece}),
                    reply.chunk_delay,
                )
            };
            return (empty, pieces.into_iter().map(delta).collect());
        }
    };
    let at_once = |delta| (delta, Duration::ZERO);
    (empty, deltas.into_iter().map(at_once).collect())
}

/// `text` in at most `count` pieces of like length.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(count.max(1)).max(1);
    letters.chunks(size).map(String::from_iter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_text_between_letters() {
        assert_eq!(pieces("añb", 2), ["añ", "b"]);
        assert_eq!(pieces("", 3), Vec::<String>::new());
        assert_eq!(pieces("ab", 9), ["a", "b"]);
    }

    #[test]
    fn streams_text_and_tool() {
        let tool = ReplyBlock::Tool {
            name: "Bash".into(),
            input: json!({"command": "ls"}),
        };
        let reply = ModelMessage::new(vec![ReplyBlock::Text("hello".into()), tool]);
        assert_eq!(message(&reply, "m")["stop_reason"], "tool_use");
        let events = events(&reply, "m");
        let names: Vec<_> = events.iter().map(|event| event.name).collect();
        assert_eq!(
            names,
            [
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop"
            ]
        );
        assert_eq!(events[4].data["content_block"]["input"], json!({}));
        assert_eq!(
            events[5].data["delta"]["partial_json"],
            r#"{"command":"ls"}"#
        );
    }
}
