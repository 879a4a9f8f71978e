//! Words of people, the model, tools and agents, as lines of a transcript.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::{ScriptedTranscript, quoted, text_blocks};
use crate::ids;
use crate::json::Object;
use crate::stand_in::PERMISSION_MODE;

impl ScriptedTranscript {
    /// A prompt that a person typed.
    pub fn human(&mut self, text: &str) -> Result<()> {
        let origin = Object::new()
            .field("permissionMode", PERMISSION_MODE)
            .raw("origin", r#"{"kind":"human"}"#)
            .field("promptSource", "typed")
            .field("turnOrigin", "human");
        self.user(&quoted(text), &Object::new(), &origin)
    }

    /// A slash command of the plugin, given without its slash, and the text it stands for.
    pub fn slash_command(&mut self, command: &str, body: &str) -> Result<()> {
        let (name, arguments) = command.split_once(' ').unwrap_or((command, ""));
        let call = format!(
            "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n\
             <command-args>{arguments}</command-args>"
        );
        let origin = Object::new()
            .raw("origin", r#"{"kind":"human"}"#)
            .field("turnOrigin", "human");
        self.user(&quoted(&call), &Object::new(), &origin)?;
        let meta = Object::new()
            .field("isMeta", &true)
            .field("turnCompanion", &true);
        self.user(&text_blocks(body), &meta, &Object::new())
    }

    /// Prompts and last words of an agent of the session, in a transcript of its own.
    pub fn write_agent(
        &self,
        id: &str,
        kind: &str,
        prompts: &[String],
        report: &str,
    ) -> Result<()> {
        let mut agent = self.clone();
        agent.path = self.of_agent(id);
        let _ = std::fs::remove_file(&agent.path);
        let own = Object::new().field("agentId", id);
        for (number, prompt) in prompts.iter().enumerate() {
            let sent = own.clone().extend(
                &Object::new()
                    .field("isMeta", &true)
                    .raw("origin", r#"{"kind":"coordinator"}"#),
            );
            agent.user(
                &quoted(prompt),
                &Object::new(),
                if number == 0 { &own } else { &sent },
            )?;
            if number == 0
                && let Some(path) = file_to_review(prompt)
            {
                agent.reads_file(path)?;
            }
        }
        let said = Object::new()
            .field("role", "assistant")
            .raw("content", &text_blocks(report));
        let fields = Object::new()
            .object("message", said)
            .field("type", "assistant");
        agent.chained(&fields, &own.field("attributionAgent", kind))
    }

    /// The tool `Read` on a file, where that is there: its lines behind their numbers.
    pub fn reads_file(&mut self, path: &Path) -> Result<()> {
        let Ok(text) = std::fs::read_to_string(path) else {
            return Ok(());
        };
        let call = self.tool_use("Read", &serde_json::json!({"file_path": path}))?;
        let lines = text
            .split('\n')
            .enumerate()
            .map(|(at, line)| format!("{}\t{line}", at + 1));
        self.tool_result(&call, &lines.collect::<Vec<_>>().join("\n"))
    }

    /// A text of the model.
    pub fn assistant(&mut self, text: &str) -> Result<()> {
        self.model(&text_blocks(text), "end_turn")
    }

    /// A tool call of the model; gives its id.
    pub fn tool_use(&mut self, name: &str, input: &Value) -> Result<String> {
        let id = ids::tagged("toolu_");
        let block = Object::new()
            .field("type", "tool_use")
            .field("id", &id)
            .field("name", name)
            .field("input", input);
        let content = format!("[{}]", block.end());
        self.model(&content, "tool_use")?;
        Ok(id)
    }

    /// Result of a tool call.
    pub fn tool_result(&mut self, id: &str, text: &str) -> Result<()> {
        let result = Object::new()
            .field("stdout", text)
            .field("stderr", "")
            .field("interrupted", &false);
        let block = Object::new()
            .field("tool_use_id", id)
            .field("type", "tool_result")
            .raw("content", &quoted(text))
            .field("is_error", &false);
        let late = Object::new().object("toolUseResult", result);
        self.user(&format!("[{}]", block.end()), &Object::new(), &late)
    }

    /// The report of a background agent, which comes as a prompt of the client's own.
    pub fn task_notification(&mut self, report: &str) -> Result<()> {
        let origin = Object::new()
            .raw(
                "origin",
                r#"{"kind":"task-notification","producer":"session-task"}"#,
            )
            .field("promptSource", "system")
            .field("turnOrigin", "task_notification");
        self.user(&quoted(&notification(report)), &Object::new(), &origin)
    }

    /// A copy of a request, which repeats what people, hooks and tools said.
    pub fn request_copy(&mut self, text: &str) -> Result<()> {
        let line = Object::new()
            .field("type", "api-request-blob")
            .field("sessionId", &self.session)
            .field("hash", "0")
            .object(
                "message",
                Object::new()
                    .field("role", "user")
                    .raw("content", &text_blocks(text)),
            );
        self.raw(&line.end())
    }
}

/// The text of a background agent's report, as the queue and the prompt carry it.
pub fn notification(report: &str) -> String {
    let escaped = report
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!(
        "<task-notification>\n<task-id>{}</task-id>\n<status>completed</status>\n\
         <summary>Agent \"do work\" finished</summary>\n<result>{escaped}</result>\n\
         </task-notification>",
        ids::agent()
    )
}

/// The file that the prompt of a reviewer names.
fn file_to_review(prompt: &str) -> Option<&Path> {
    Some(Path::new(
        prompt
            .split_once(" described in ")?
            .1
            .split_once(": its task")?
            .0,
    ))
}
