//! Tells a person's prompt from others: the client sends its notices, other agents' words and
//! banners of loops as prompts without a mark of their origin.

use super::mask;
use super::notes::{starts_with, without_leading_notes};

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

/// The prompt without the notes in front; `None` for a text that no person wrote.
pub(super) fn text_of_person(prompt: &str) -> Option<&str> {
    let text = without_leading_notes(prompt.trim_start());
    let only_notes = text.is_empty() && !prompt.trim().is_empty();
    let foreign = NOT_A_PERSON.iter().any(|prefix| starts_with(text, prefix));
    if only_notes || foreign || mask::is_only_a_banner(text) {
        None
    } else {
        Some(text)
    }
}
