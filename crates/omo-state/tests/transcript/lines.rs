//! Lines of a transcript as client 2.1.328 writes them, for staging; no rule is in here.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use omo_core::session::TranscriptMark;
use omo_core::stop::TranscriptTail;
use omo_state::transcript::read_tail;
use serde_json::json;

/// The time that every line carries.
pub(crate) const AT: &str = "2026-11-21T04:22:30.063Z";

/// A JSON text.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A transcript in a folder of its own.
pub(crate) struct Transcript {
    folder: tempfile::TempDir,
}

impl Transcript {
    /// One with these lines.
    pub(crate) fn of(lines: &[String]) -> std::io::Result<Self> {
        let transcript = Self {
            folder: tempfile::tempdir()?,
        };
        transcript.add(lines)?;
        Ok(transcript)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    /// Adds lines.
    pub(crate) fn add(&self, lines: &[String]) -> std::io::Result<()> {
        lines
            .iter()
            .try_for_each(|line| self.add_bytes(format!("{line}\n").as_bytes()))
    }

    /// Adds bytes, half a line for example.
    pub(crate) fn add_bytes(&self, bytes: &[u8]) -> std::io::Result<()> {
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path())?
            .write_all(bytes)
    }

    /// How long it is.
    pub(crate) fn len(&self) -> std::io::Result<u64> {
        Ok(std::fs::metadata(self.path())?.len())
    }

    /// What its tail says to a session that has read nothing of it.
    pub(crate) fn tail(&self) -> TranscriptTail {
        read_tail(&self.path(), TranscriptMark::default(), None)
    }

    /// What its tail says after these marks.
    pub(crate) fn tail_from(&self, offset: u64, block_offset: u64) -> TranscriptTail {
        read_tail(
            &self.path(),
            TranscriptMark {
                offset,
                block_offset,
            },
            None,
        )
    }
}

/// What a list of lines says.
pub(crate) fn tail_of(lines: &[String]) -> std::io::Result<TranscriptTail> {
    Ok(Transcript::of(lines)?.tail())
}

fn queue(operation: &str, rest: &str) -> String {
    format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"{AT}","sessionId":"s"{rest}}}"#
    )
}

/// Something waits.
pub(crate) fn enqueue(content: &str) -> String {
    queue("enqueue", &format!(r#","content":{}"#, quoted(content)))
}

/// The first gets its turn; the line does not say what it was.
pub(crate) fn dequeue() -> String {
    queue("dequeue", "")
}

/// Something was given to the model within the turn.
pub(crate) fn remove(content: &str) -> String {
    let rest = r#","reason":"absorbed_mid_turn","commandUuid":"u","deliveryId":"d""#;
    queue(
        "remove",
        &format!(r#","content":{}{rest}"#, quoted(content)),
    )
}

/// The person took the queue back.
pub(crate) fn pop_all(content: &str) -> String {
    queue("popAll", &format!(r#","content":{}"#, quoted(content)))
}

/// A line of the conversation; `message` and what is in `late` are JSON.
fn chained(kind: &str, message: impl Display, late: &str) -> String {
    format!(
        r#"{{"parentUuid":"p","isSidechain":false,"promptId":"q","type":"{kind}","message":{message},"uuid":"u","timestamp":"{AT}"{late},"userType":"external","cwd":"/p","sessionId":"s","version":"2.1.328"}}"#
    )
}

/// A prompt that a person typed.
pub(crate) fn human(text: &str) -> String {
    let late = r#","permissionMode":"default","origin":{"kind":"human"},"promptSource":"typed""#;
    chained("user", json!({"role": "user", "content": text}), late)
}

/// A line of the role `user` with one text block, as the client writes its own.
pub(crate) fn user_block(text: &str) -> String {
    chained(
        "user",
        json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        "",
    )
}

/// The client's line for Esc.
pub(crate) fn interrupted() -> String {
    user_block("[Request interrupted by user]")
}

/// What a tool gave.
pub(crate) fn tool_result(text: &str) -> String {
    let block = json!({"tool_use_id": "toolu_1", "type": "tool_result", "content": text, "is_error": false});
    let late = format!(
        r#","toolUseResult":{{"stdout":{},"stderr":"","interrupted":false}}"#,
        quoted(text)
    );
    chained("user", json!({"role": "user", "content": [block]}), &late)
}

/// A text of the model.
pub(crate) fn assistant(text: &str) -> String {
    let message = json!({"id": "m", "role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"});
    chained("assistant", message, r#","madeBy":"model""#)
}

/// A tool call of the model.
pub(crate) fn tool_use(name: &str, input: &str) -> String {
    let block =
        json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {"command": input}});
    chained(
        "assistant",
        json!({"role": "assistant", "content": [block], "stop_reason": "tool_use"}),
        "",
    )
}

/// An attachment; `fields` is JSON without its braces.
pub(crate) fn attachment(fields: &str) -> String {
    format!(
        r#"{{"parentUuid":"p","isSidechain":false,"attachment":{{{fields}}},"type":"attachment","uuid":"u","timestamp":"{AT}","sessionId":"s"}}"#
    )
}

/// A hook that was ended, by Esc or by its time.
pub(crate) fn hook_cancelled(event: &str, timed_out: bool) -> String {
    attachment(&format!(
        r#""type":"hook_cancelled","hookName":"{event}","toolUseID":"t","hookEvent":"{event}","command":"h","durationMs":1761,"timedOut":{timed_out},"timeoutMs":600000"#
    ))
}

/// A compaction.
pub(crate) fn compacted() -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","timestamp":"{AT}"}}"#
    )
}

/// A copy of a request, which repeats what all said.
pub(crate) fn request_copy(text: &str) -> String {
    format!(
        r#"{{"type":"api-request-blob","sessionId":"s","hash":"0","message":{{"role":"user","content":[{{"type":"text","text":{}}}]}}}}"#,
        quoted(text)
    )
}
