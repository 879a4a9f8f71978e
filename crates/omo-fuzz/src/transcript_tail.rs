//! `TranscriptTail` of a file that the client writes and that anything may have replaced.

use std::collections::BTreeSet;
use std::path::Path;

use omo_core::keyword::is_from_a_person;
use omo_core::review::REVIEWER;
use omo_core::session::TranscriptMark;
use omo_core::stop::TranscriptTail;
use omo_core::timestamp::Timestamp;
use omo_state::transcript::{
    TAIL_BYTES, has_caught_up, last_assistant_text, model_has_spoken, read_agent_reports,
    read_conversation, read_tail,
};
use serde_json::Value;

use crate::scratch;

const FILE: &str = "transcript.jsonl";
/// One input in 16 is tried at the end of a file that is longer than the window.
const LONG_ONES: usize = 16;

/// Reads stay within the file and never go back, half a line means nothing, two reads give the result of one, and only
/// the line of the right author counts.
pub fn check(data: &[u8]) {
    let tail = scratch::with_file(FILE, data, |folder| of_a_file(data, &folder.join(FILE)));
    let whole = data.get(..last_line_end(data)).unwrap_or_default();
    assert_eq!(tail_of(whole), tail, "half a line counted");
    if data.len().is_multiple_of(LONG_ONES) {
        is_the_same_at_the_end_of_a_long_file(data);
    }
}

fn of_a_file(data: &[u8], path: &Path) -> TranscriptTail {
    let length = data.len() as u64;
    for offset in [0, length / 2, length, length + 9] {
        stays_within(
            data,
            path,
            TranscriptMark {
                offset,
                block_offset: length / 3,
            },
        );
    }
    let tail = read_tail(path, TranscriptMark::default(), None);
    goes_on_where_it_was(path, tail);
    counts_only_whose_it_is(data, path, tail);
    tail
}

fn block() -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000)
}

fn tail_of(data: &[u8]) -> TranscriptTail {
    scratch::with_file(FILE, data, |folder| {
        read_tail(&folder.join(FILE), TranscriptMark::default(), None)
    })
}

fn last_line_end(data: &[u8]) -> usize {
    data.iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}

fn stays_within(data: &[u8], path: &Path, mark: TranscriptMark) {
    let length = data.len() as u64;
    let tail = read_tail(path, mark, None);
    assert!(
        tail.next_offset <= tail.end && tail.end <= length,
        "{tail:?} of {length}"
    );
    // A file shorter than before is another one, and read from its start.
    let from = if mark.offset <= length {
        mark.offset
    } else {
        0
    };
    assert!(tail.next_offset >= from, "{tail:?} went back behind {from}");
    let before = |at: u64| {
        usize::try_from(at)
            .ok()
            .and_then(|at| data.get(..at))
            .unwrap_or_default()
    };
    let is_line_end = |at: u64| at == from || last_line_end(before(at)) as u64 == at;
    assert!(
        is_line_end(tail.end) && is_line_end(tail.next_offset),
        "{tail:?} lies within a line"
    );
    let since_block = read_tail(path, mark, Some(block()));
    assert!(
        !since_block.tool_called_since_block || tail.tool_called_since_block,
        "later is more"
    );
    let text = last_assistant_text(path, mark);
    assert!(
        text.is_none() || model_has_spoken(path, mark) == Some(true),
        "{text:?}, and the model was silent"
    );
}

/// A waiting prompt still waits for a reader that goes on at the end of this read.
fn goes_on_where_it_was(path: &Path, tail: TranscriptTail) {
    let again = read_tail(
        path,
        TranscriptMark {
            offset: tail.next_offset,
            block_offset: tail.end,
        },
        None,
    );
    let waiting = |tail: TranscriptTail| (tail.input_waiting, tail.next_offset, tail.end);
    assert_eq!(waiting(again), waiting(tail), "read on");
    assert!(
        !again.tool_called_since_block,
        "a tool was called after the end"
    );
}

/// Author of a line in the view of a general parser.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Model,
    User,
    Hook,
    ApiError,
    /// A prompt in the queue.
    Waiting,
    /// Refused by a general parser; any of the others is possible.
    Unclear,
}

fn whose(data: &[u8]) -> BTreeSet<Whose> {
    let whole = data.get(..last_line_end(data)).unwrap_or_default();
    whole
        .split(|byte| *byte == b'\n')
        .flat_map(whose_line)
        .flatten()
        .collect()
}

fn whose_line(line: &[u8]) -> [Option<Whose>; 2] {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return [line.contains(&b'{').then_some(Whose::Unclear), None];
    };
    let is_set = |name: &str| value.get(name) == Some(&Value::Bool(true));
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let is_own = !is_set("isSidechain");
    let is_error = is_set("isApiErrorMessage");
    let whose = match text("type") {
        Some("assistant") => Some(Whose::Model).filter(|_| is_own && !is_error),
        Some("user") => Some(Whose::User).filter(|_| is_own),
        Some("attachment") => Some(Whose::Hook),
        Some("queue-operation") => {
            let is_typed = text("operation") == Some("enqueue")
                && is_from_a_person(text("content").unwrap_or_default());
            is_typed.then_some(Whose::Waiting)
        }
        _ => None,
    };
    [whose, is_error.then_some(Whose::ApiError)]
}

fn counts_only_whose_it_is(data: &[u8], path: &Path, tail: TranscriptTail) {
    let lines = whose(data);
    if lines.contains(&Whose::Unclear) {
        return;
    }
    let has = |whose: Whose| lines.contains(&whose);
    let mark = TranscriptMark::default();
    assert!(
        has(Whose::Waiting) || !tail.input_waiting,
        "nothing was typed"
    );
    assert!(
        has(Whose::User) || has(Whose::Hook) || tail.interrupted.is_none(),
        "nothing was interrupted"
    );
    let spoke = has(Whose::Model);
    assert!(
        spoke || model_has_spoken(path, mark) == Some(false),
        "the model said nothing"
    );
    assert!(
        spoke || !tail.tool_called_since_block,
        "the model called nothing"
    );
    assert!(
        spoke || last_assistant_text(path, mark).is_none(),
        "the model said nothing"
    );
    assert!(
        spoke || !has_caught_up(path, mark, None, "any"),
        "the model said nothing"
    );
    assert!(
        has(Whose::User) || read_agent_reports(path, 0, REVIEWER).is_empty(),
        "nothing was reported"
    );
    let conversation = read_conversation(path);
    assert!(
        has(Whose::Hook) || !conversation.holds_contract,
        "no hook said anything"
    );
    assert!(
        has(Whose::ApiError) || !conversation.context_pressure,
        "there was no error"
    );
}

/// The window begins in the middle of the input: the result is as if the file began with the first whole line in it.
fn is_the_same_at_the_end_of_a_long_file(data: &[u8]) {
    let middle = data.len() / 2;
    let second = data.get(middle..).unwrap_or_default();
    let cut = second
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(second.len(), |at| at + 1);
    let window = usize::try_from(TAIL_BYTES).unwrap_or_default();
    let filler = vec![b'\n'; window.saturating_sub(second.len())];
    let long = tail_of(&[data, &filler].concat());
    let short = tail_of(&[second.get(cut..).unwrap_or_default(), b"\n"].concat());
    let said = |tail: TranscriptTail| {
        (
            tail.input_waiting,
            tail.interrupted,
            tail.tool_called_since_block,
        )
    };
    assert_eq!(said(long), said(short), "cut at {middle}");
    assert!(
        long.next_offset >= middle as u64,
        "{long:?} begins before what was read"
    );
}
