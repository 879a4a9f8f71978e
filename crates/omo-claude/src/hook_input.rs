//! JSON input of hooks: one struct with the fields that omo reads of all events. A field of a wrong type makes the
//! whole input unreadable, and the hook ignores it; unknown fields are skipped.

pub mod json_end;
pub mod stdin;

use std::fmt;
use std::path::PathBuf;

use omo_core::bounded_vec::BoundedVec;
use serde::de::{self, Deserialize, Deserializer, Visitor};

const MAX_TASKS: usize = 1_000;

/// One JSON object on `stdin`.
#[derive(Debug, serde::Deserialize)]
pub struct HookInput {
    /// Id of the session; a text that is no `SessionId` names none.
    #[serde(default)]
    pub session_id: Option<LossyText>,
    #[serde(default)]
    pub hook_event_name: LossyText,
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Path of the transcript, which may not exist yet.
    #[serde(default)]
    pub transcript_path: Option<PathBuf>,
    /// Id of the prompt, the same for all of its Stops.
    #[serde(default)]
    pub prompt_id: Option<LossyText>,
    /// `default`, `plan`, `acceptEdits`, …
    #[serde(default)]
    pub permission_mode: Option<LossyText>,
    #[serde(default)]
    pub agent_id: Option<LossyText>,
    /// Only in `SubagentStop`.
    #[serde(default)]
    pub agent_type: Option<LossyText>,
    /// Only in `SubagentStop`; the file may not exist yet.
    #[serde(default)]
    pub agent_transcript_path: Option<LossyText>,
    /// The literal prompt, only in `UserPromptSubmit`.
    #[serde(default)]
    pub prompt: Option<LossyText>,
    /// Source of a prompt, where a client names it.
    #[serde(default)]
    pub source: Option<LossyText>,
    /// Only in `Stop` and `SubagentStop`.
    #[serde(default)]
    pub last_assistant_message: Option<LossyText>,
    /// Only in `Stop`.
    #[serde(default)]
    pub background_tasks: Option<BoundedVec<BackgroundTaskInput, MAX_TASKS>>,
    /// Scheduled wakeups, only in `Stop`.
    #[serde(default)]
    pub session_crons: Option<Vec<de::IgnoredAny>>,
    /// Only in `StopFailure`.
    #[serde(default)]
    pub error: Option<LossyText>,
    /// Only in `SessionEnd`.
    #[serde(default)]
    pub reason: Option<LossyText>,
}

#[derive(Debug, serde::Deserialize)]
pub struct BackgroundTaskInput {
    #[serde(default)]
    pub id: LossyText,
    /// `shell`, `subagent`, …
    #[serde(default, rename = "type")]
    pub kind: LossyText,
    /// `running`, …
    #[serde(default)]
    pub status: LossyText,
    #[serde(default)]
    pub command: Option<LossyText>,
    #[serde(default)]
    pub description: Option<LossyText>,
}

impl HookInput {
    /// Parses one JSON object; a byte order mark before it is skipped.
    pub fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii_start().starts_with(b"[") {
            // serde would take a list for a struct, field by field.
            return Err(de::Error::invalid_type(de::Unexpected::Seq, &"an object"));
        }
        serde_json::from_slice(bytes)
    }

    pub fn is_plan_mode(&self) -> bool {
        self.permission_mode.as_deref() == Some("plan")
    }

    /// `true` where the client asks its user for no permission.
    pub fn is_without_permissions(&self) -> bool {
        self.permission_mode.as_deref() == Some("bypassPermissions")
    }

    pub fn is_from_subagent(&self) -> bool {
        self.agent_id.is_some()
    }
}

/// A string that JavaScript wrote: half of a surrogate pair, as of a cut emoji, is replaced instead of refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossyText(String);

impl std::ops::Deref for LossyText {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<&str> for LossyText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = LossyText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<LossyText, E> {
                let text = std::str::from_utf8(bytes).map(str::to_owned);
                Ok(LossyText(text.unwrap_or_else(|_| {
                    String::from_utf8_lossy(bytes).into_owned()
                })))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LossyText, E> {
                Ok(LossyText(text.to_owned()))
            }
        }
        // serde_json accepts half a surrogate pair only as bytes.
        deserializer.deserialize_bytes(Bytes)
    }
}

impl fmt::Display for LossyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_stop_is_read() {
        let input = HookInput::parse(
            br#"{"session_id":"dd79366c","transcript_path":"/t.jsonl","cwd":"/p","prompt_id":"e6","permission_mode":"bypassPermissions",
                "effort":{"level":"medium"},"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"ok",
                "background_tasks":[{"id":"b8","type":"shell","status":"running","description":"bg","command":"npm run dev"}],
                "session_crons":[{"id":"ebfc3f1b","schedule":"36 4 * * *"}],"new_field":[1,{"x":null}]}"#,
        )
        .unwrap();
        assert_eq!(input.hook_event_name, "Stop");
        assert_eq!(
            input.background_tasks.unwrap().0[0].command.as_deref(),
            Some("npm run dev")
        );
        assert_eq!(input.session_crons.unwrap().len(), 1);
    }

    #[test]
    fn half_a_surrogate_pair_a_nul_and_a_byte_order_mark_are_no_errors() {
        let input = HookInput::parse(b"\xef\xbb\xbf{\"prompt\":\"ulw \\ud83d x\\u0000\"}").unwrap();
        let prompt = input.prompt.unwrap();
        assert!(
            prompt.starts_with("ulw ") && prompt.ends_with(" x\0"),
            "{prompt:?}"
        );
    }

    #[test]
    fn wrong_types_and_what_is_no_object_are_unreadable() {
        for text in [
            "",
            "[]",
            "1",
            "null",
            "{",
            r#"{"prompt":5}"#,
            r#"{"session_id":[]}"#,
            r#"{"background_tasks":"x"}"#,
            r#"{"background_tasks":[1]}"#,
        ] {
            assert!(HookInput::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn null_is_as_good_as_absent() {
        let input = HookInput::parse(
            br#"{"session_id":null,"prompt":null,"agent_id":null,"background_tasks":null}"#,
        )
        .unwrap();
        assert!(input.session_id.is_none() && input.prompt.is_none() && !input.is_from_subagent());
    }
}
