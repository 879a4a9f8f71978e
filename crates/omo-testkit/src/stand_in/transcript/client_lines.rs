//! The queue, interruptions, hooks and compactions, as lines of a transcript.

use anyhow::Result;

use super::{ScriptedTranscript, quoted, text_blocks};
use crate::environment::timestamp;
use crate::ids;
use crate::json::Object;

/// The client's text for the result of a tool call that the person ended.
const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was \
                        rejected (eg. if it was a file edit, the new_string was NOT written to \
                        the file). STOP what you are doing and wait for the user to tell you how \
                        to proceed.";

impl ScriptedTranscript {
    /// Something waits in the queue: a typed prompt, a slash command, or a
    /// [`notification`](super::notification).
    pub fn enqueue(&mut self, content: &str) -> Result<()> {
        self.queue("enqueue", Some(content), &Object::new())
    }

    /// The first of the queue gets its own turn. The line does not say what it was.
    pub fn dequeue(&mut self) -> Result<()> {
        self.queue("dequeue", None, &Object::new())
    }

    /// Something of the queue was given to the model within the running turn.
    pub fn remove(&mut self, content: &str) -> Result<()> {
        let why = Object::new()
            .field("reason", "absorbed_mid_turn")
            .field("commandUuid", &ids::uuid())
            .field("deliveryId", &ids::uuid());
        self.queue("remove", Some(content), &why)
    }

    /// The person took the queue back into the input box; one line for each entry.
    pub fn pop_all(&mut self, contents: &[&str]) -> Result<()> {
        contents
            .iter()
            .try_for_each(|content| self.queue("popAll", Some(content), &Object::new()))
    }

    /// The person pressed Esc while the model wrote or a hook ran.
    pub fn interrupted(&mut self) -> Result<()> {
        self.user(
            &text_blocks("[Request interrupted by user]"),
            &Object::new(),
            &Object::new(),
        )
    }

    /// The person pressed Esc while the tool call `id` ran.
    pub fn interrupted_in_tool(&mut self, id: &str) -> Result<()> {
        let block = Object::new()
            .field("type", "tool_result")
            .field("content", REJECTED)
            .field("is_error", &true)
            .field("tool_use_id", id);
        let denied = Object::new()
            .field("toolUseResult", "User rejected tool use")
            .field("toolDenialKind", "user-rejected");
        let content = format!("[{}]", block.end());
        self.user(&content, &Object::new(), &denied)?;
        self.user(
            &text_blocks("[Request interrupted by user for tool use]"),
            &Object::new(),
            &Object::new(),
        )
    }

    /// A hook that was ended by Esc; the client writes `StagedTranscript::interrupted` behind it.
    pub fn hook_cancelled(&mut self, event: &str) -> Result<()> {
        let details = Object::new()
            .field("command", "hook")
            .field("durationMs", &1757)
            .field("timedOut", &false)
            .field("timeoutMs", &600_000);
        self.attachment("hook_cancelled", event, &Object::new(), &details)
    }

    /// Lines of a `Stop` hook that blocks.
    pub fn stop_feedback(&mut self, reason: &str) -> Result<()> {
        let meta = Object::new().field("isMeta", &true);
        let feedback = quoted(&format!("Stop hook feedback:\n{reason}"));
        self.user(&feedback, &meta, &Object::new())?;
        let error = Object::new()
            .field("blockingError", reason)
            .field("command", "hook");
        let error = Object::new().object("blockingError", error);
        self.attachment("hook_blocking_error", "Stop", &Object::new(), &error)?;
        self.stop_hook_summary(&[reason])
    }

    /// Lines of a hook with additional context.
    pub fn hook_context(&mut self, event: &str, context: &str) -> Result<()> {
        let texts = Object::new().field("content", &[context]);
        self.attachment("hook_additional_context", event, &texts, &Object::new())
    }

    /// The line behind each `Stop` hook, with the reasons of those that blocked.
    pub fn stop_hook_summary(&mut self, errors: &[&str]) -> Result<()> {
        let fields = Object::new()
            .field("type", "system")
            .field("subtype", "stop_hook_summary")
            .field("hookCount", &1)
            .field("hookErrors", errors)
            .field("preventedContinuation", &false)
            .field("stopReason", "")
            .field("level", "suggestion");
        self.chained(&fields, &Object::new())
    }

    /// The conversation was compacted, `manual` or `auto`, to `summary`.
    pub fn compacted(&mut self, trigger: &str, summary: &str) -> Result<()> {
        let metadata = Object::new()
            .field("trigger", trigger)
            .field("preTokens", &120)
            .field("postTokens", &60);
        let fields = Object::new()
            .field("type", "system")
            .field("subtype", "compact_boundary")
            .field("content", "Conversation compacted")
            .field("level", "info")
            .object("compactMetadata", metadata);
        self.chained(&fields, &Object::new())?;
        let text = format!(
            "This session is being continued from a previous conversation that ran out of \
             context. The summary below covers the earlier portion of the conversation.\n\n{summary}"
        );
        let flags = Object::new()
            .field("isVisibleInTranscriptOnly", &true)
            .field("isCompactSummary", &true);
        self.user(&quoted(&text), &flags, &Object::new())
    }

    fn attachment(&mut self, kind: &str, event: &str, early: &Object, late: &Object) -> Result<()> {
        let attachment = Object::new()
            .field("type", kind)
            .extend(early)
            .field("hookName", event)
            .field("toolUseID", &ids::uuid())
            .field("hookEvent", event)
            .extend(late);
        let fields = Object::new()
            .object("attachment", attachment)
            .field("type", "attachment");
        self.chained(&fields, &Object::new())
    }

    fn queue(&mut self, operation: &str, content: Option<&str>, late: &Object) -> Result<()> {
        let line = Object::new()
            .field("type", "queue-operation")
            .field("operation", operation)
            .field("timestamp", &timestamp())
            .field("sessionId", &self.session);
        let line = match content {
            Some(content) => line.field("content", content),
            None => line,
        };
        self.raw(&line.extend(late).end())
    }
}
