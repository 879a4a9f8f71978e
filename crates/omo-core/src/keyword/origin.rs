//! Whether a person wrote a prompt. The client sends its own notices, other agents' words and
//! loops' banners through the same event with no mark of origin, so the text has to tell.

use std::ops::Range;

use super::mask;
use crate::text::masked_text::find;

/// How prompts begin that no person typed.
const NOT_A_PERSON: [&str; 28] = [
    "<task-notification",
    "<cross-session-message",
    "<teammate-message",
    "<agent-message",
    "<agent-notification",
    "<channel",
    "<bash-",
    "<command-",
    "<local-command-",
    "<user-prompt-submit-hook",
    "<session-start-hook",
    "<post-tool-use-hook",
    "<mcp-resource-update",
    "<mcp-polling-update",
    "<tool_use_error",
    "<persisted-output",
    "<tick>",
    "[system notification",
    "[request interrupted",
    "stop hook feedback",
    "subagentstop hook feedback",
    "userpromptsubmit hook",
    "caveat: the messages below",
    "this session is being continued",
    "another claude session",
    "another claude code session",
    "base directory for this skill",
    "the coordinator sent a message",
];

/// The client's notes and our own injected block: they are taken out, and the rest is read.
const NOTES: [(&str, &str); 2] =
    [("<system-reminder>", "</system-reminder>"), ("<ultrawork-mode>", "</ultrawork-mode>")];

/// The prompt from its first own word on, the notes before it left out. `None` where no person
/// wrote it.
pub(super) fn text_of_person(prompt: &str) -> Option<&str> {
    let text = without_leading_notes(prompt.trim_start());
    let only_notes = text.is_empty() && !prompt.trim().is_empty();
    let foreign = NOT_A_PERSON.iter().any(|prefix| starts_with(text, prefix));
    if only_notes || foreign || mask::is_only_a_banner(text) { None } else { Some(text) }
}

/// Where the notes are, wherever they stand.
pub(super) fn notes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (open, close) in NOTES {
        let mut from = 0;
        while let Some(start) = find(text, open, from) {
            let end = find(text, close, start).map_or(text.len(), |end| end + close.len());
            found.push(start..end);
            from = end;
        }
    }
    found
}

fn without_leading_notes(mut text: &str) -> &str {
    loop {
        let note = NOTES.iter().find(|(open, _)| starts_with(text, open));
        let Some((_, close)) = note else { return text };
        // A note that never ends leaves nothing to read.
        text = text.split_once(close).map_or("", |(_, rest)| rest).trim_start();
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
