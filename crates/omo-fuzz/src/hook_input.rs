//! Input of a hook from the client.

use std::path::{Component, Path};

use omo_claude::hook_input::json_end::JsonEndFinder;
use omo_claude::hook_input::{HookInput, LossyText};
use omo_claude::hook_output::HookAnswer;
use omo_core::session::HookEvent;
use omo_core::session::id::SessionId;
use serde::de::IgnoredAny;
use serde_json::Value;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// `JsonEndFinder` finds the end of the value where a parser does, in any pieces; the parsed value is the written one;
/// and only a valid `SessionId` belongs to a session.
pub fn check(data: &[u8]) {
    let end = JsonEndFinder::default().feed(data);
    is_found_in_pieces_as_well(data, end);
    is_where_a_parser_finds_it(data, end);
    let Some(value) = end.and_then(|end| data.get(..end)) else {
        assert!(
            HookInput::parse(data).is_err(),
            "an input without an end was read"
        );
        return;
    };
    // A hook never waits for bytes behind the value, so nothing there may matter.
    match (HookInput::parse(data), HookInput::parse(value)) {
        (Ok(whole), Ok(cut)) => assert_eq!(format!("{whole:?}"), format!("{cut:?}")),
        (Ok(_), Err(error)) => assert!(
            value.is_empty(),
            "readable only with what follows it: {error}"
        ),
        (Err(_), _) => {}
    }
    let marked = HookInput::parse(&[BYTE_ORDER_MARK, value].concat());
    assert!(
        marked.is_ok() || value.starts_with(BYTE_ORDER_MARK) || HookInput::parse(value).is_err(),
        "{marked:?}"
    );
    if let Ok(input) = HookInput::parse(value) {
        is_what_was_written(value, &input);
        belongs_to_a_name_or_is_refused(input.session_id.as_deref().unwrap_or_default());
        is_answered_in_one_value(input.prompt.as_deref().unwrap_or_default());
        is_answered_in_one_value(input.last_assistant_message.as_deref().unwrap_or_default());
    }
}

fn is_found_in_pieces_as_well(data: &[u8], end: Option<usize>) {
    let size = 1 + usize::from(data.first().copied().unwrap_or_default()) % 7;
    let (mut follower, mut before) = (JsonEndFinder::default(), 0);
    let found = data.chunks(size).find_map(|piece| {
        let found = follower.feed(piece).map(|at| before + at);
        before += piece.len();
        found
    });
    assert_eq!(found, end, "in pieces of {size}");
}

/// Only for an object or a list: nothing else is an input.
fn is_where_a_parser_finds_it(data: &[u8], end: Option<usize>) {
    let text = data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data);
    if !text.trim_ascii_start().starts_with(b"{") && !text.trim_ascii_start().starts_with(b"[") {
        return;
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    if let Some(Ok(_)) = values.next() {
        assert_eq!(end, Some(data.len() - text.len() + values.byte_offset()));
    }
}

fn is_what_was_written(value: &[u8], input: &HookInput) {
    let text = value.strip_prefix(BYTE_ORDER_MARK).unwrap_or(value);
    // A general parser refuses halves of surrogate pairs, which JavaScript writes and this one reads.
    let Ok(Value::Object(fields)) = serde_json::from_slice(text) else {
        return;
    };
    let written = |name: &str| fields.get(name).and_then(Value::as_str);
    for (name, read) in [
        ("session_id", &input.session_id),
        ("prompt_id", &input.prompt_id),
        ("permission_mode", &input.permission_mode),
        ("agent_id", &input.agent_id),
        ("agent_type", &input.agent_type),
        ("prompt", &input.prompt),
        ("last_assistant_message", &input.last_assistant_message),
        ("error", &input.error),
        ("reason", &input.reason),
    ] {
        assert_eq!(
            read.as_ref().map(|text: &LossyText| &**text),
            written(name),
            "{name}"
        );
    }
    assert_eq!(
        &*input.hook_event_name,
        written("hook_event_name").unwrap_or_default()
    );
    let listed = |name: &str| fields.get(name).and_then(Value::as_array).map(Vec::len);
    assert_eq!(
        input.background_tasks.as_ref().map(|tasks| tasks.0.len()),
        listed("background_tasks")
    );
    assert_eq!(
        input.session_crons.as_ref().map(Vec::len),
        listed("session_crons")
    );
    assert_eq!(input.is_from_subagent(), written("agent_id").is_some());
}

fn belongs_to_a_name_or_is_refused(text: &str) {
    let is_plain = |char| matches!(char, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-');
    let is_name = !text.is_empty() && text.len() <= 128 && text.chars().all(is_plain);
    assert_eq!(SessionId::parse(text).is_ok(), is_name, "{text:?}");
    let mut parts = Path::new(text).components();
    let is_one_part = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    assert!(!is_name || is_one_part, "{text:?} leads elsewhere");
}

/// For any text in a `HookAnswer`, the client reads one JSON value with exactly that text.
fn is_answered_in_one_value(text: &str) {
    let said = |answer: HookAnswer, place: &str| {
        let printed = answer.to_output(HookEvent::Stop);
        let value: Result<Value, _> = serde_json::from_str(&printed);
        let found = value
            .as_ref()
            .ok()
            .and_then(|value| value.pointer(place))
            .and_then(Value::as_str);
        assert_eq!(found, Some(text), "{printed}");
    };
    said(HookAnswer::RejectPrompt(text.to_owned()), "/reason");
    said(HookAnswer::Block(text.to_owned()), "/reason");
    said(
        HookAnswer::Notify {
            user: text.to_owned(),
            terminal: String::new(),
        },
        "/systemMessage",
    );
    said(
        HookAnswer::ContinueWithContext(text.to_owned()),
        "/hookSpecificOutput/additionalContext",
    );
}
