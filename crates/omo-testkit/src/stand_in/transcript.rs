//! A transcript with the lines that the client writes, to write what happened in a session.
//!
//! Shapes and the order of fields are those of client 2.1.328; what no reader of ours needs, such
//! as token usage, is left out.

mod client_lines;
mod conversation_lines;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::environment::timestamp;
use crate::ids;
use crate::json::Object;

pub use conversation_lines::notification;

/// The transcript of one session. The file comes into being with its first line.
#[derive(Debug, Clone)]
pub struct ScriptedTranscript {
    path: PathBuf,
    project: String,
    session: String,
    prompt_id: String,
    parent: Option<String>,
}

impl ScriptedTranscript {
    pub(super) fn new(home: &Path, project: &Path, session: &str) -> Self {
        let project = project.to_string_lossy().into_owned();
        let folder: String = project
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        Self {
            path: home
                .join(".claude/projects")
                .join(folder)
                .join(format!("{session}.jsonl")),
            project,
            session: session.to_owned(),
            prompt_id: ids::uuid(),
            parent: None,
        }
    }

    /// Path of the transcript.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Any text as one line.
    pub fn raw(&self, line: &str) -> Result<()> {
        self.raw_bytes(format!("{line}\n").as_bytes())
    }

    /// Any bytes, for example half a line.
    pub fn raw_bytes(&self, bytes: &[u8]) -> Result<()> {
        let write = || {
            fs::create_dir_all(self.path.parent().unwrap_or(Path::new(".")))?;
            let mut options = OpenOptions::new();
            let mut file = options.create(true).append(true).open(&self.path)?;
            file.write_all(bytes)
        };
        write().with_context(|| format!("write {}", self.path.display()))
    }

    pub(super) fn prompt_id(&mut self, id: &str) {
        id.clone_into(&mut self.prompt_id);
    }

    pub(super) fn of_agent(&self, id: &str) -> PathBuf {
        self.path
            .with_extension("")
            .join(format!("subagents/agent-{id}.jsonl"))
    }

    /// A line of the role `user`; `content` is JSON.
    fn user(&mut self, content: &str, flags: &Object, late: &Object) -> Result<()> {
        let message = Object::new().field("role", "user").raw("content", content);
        let fields = Object::new()
            .field("promptId", &self.prompt_id)
            .field("type", "user")
            .object("message", message)
            .extend(flags);
        self.chained(&fields, late)
    }

    /// A line of the model; `content` is JSON.
    fn model(&mut self, content: &str, stop_reason: &str) -> Result<()> {
        let message = Object::new()
            .field("id", &ids::tagged("msg_"))
            .field("type", "message")
            .field("role", "assistant")
            .field("model", "claude-opus-5-5")
            .raw("content", content)
            .field("stop_reason", stop_reason);
        let fields = Object::new()
            .object("message", message)
            .field("type", "assistant");
        self.chained(&fields, &Object::new().field("madeBy", "model"))
    }

    /// A line of the conversation, linked to the one before.
    fn chained(&mut self, fields: &Object, late: &Object) -> Result<()> {
        let id = ids::uuid();
        let line = Object::new()
            .field("parentUuid", &self.parent)
            .field("isSidechain", &false)
            .extend(fields)
            .field("uuid", &id)
            .field("timestamp", &timestamp())
            .extend(late)
            .field("session_id", &self.session)
            .field("userType", "external")
            .field("entrypoint", "cli")
            .field("cwd", &self.project)
            .field("sessionId", &self.session)
            .field("version", "2.1.328")
            .field("gitBranch", "main");
        self.parent = Some(id);
        self.raw(&line.end())
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn text_blocks(text: &str) -> String {
    let block = Object::new().field("type", "text").field("text", text);
    format!("[{}]", block.end())
}
