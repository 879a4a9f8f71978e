//! The events of a session, with their real fields and what the client writes around them.

use anyhow::Result;
use serde_json::{Value, json};

use super::{HookRun, PERMISSION_MODE, StandIn};
use crate::ids;
use crate::json::Object;

/// Fields of a `Stop` event beside those that the stand-in knows itself.
#[derive(Debug, Clone)]
pub struct StopInput {
    /// The model's last text.
    pub last_message: String,
    /// See [`background_agent`] and [`background_shell`].
    pub background_tasks: Vec<Value>,
    /// See [`session_cron`].
    pub session_crons: Vec<Value>,
}

impl StopInput {
    /// A stop with nothing in the background.
    pub fn new(last_message: &str) -> Self {
        Self {
            last_message: last_message.to_owned(),
            background_tasks: Vec::new(),
            session_crons: Vec::new(),
        }
    }

    /// Adds a background task.
    #[must_use]
    pub fn background(mut self, task: Value) -> Self {
        self.background_tasks.push(task);
        self
    }

    /// Adds a planned prompt.
    #[must_use]
    pub fn cron(mut self, cron: Value) -> Self {
        self.session_crons.push(cron);
        self
    }
}

/// Fields of a `SubagentStop` event.
#[derive(Debug, Clone)]
pub struct SubagentStopInput {
    /// The agent's id; an empty one is replaced by a new one.
    pub agent_id: String,
    /// The agent's type, `omo:worker` for an agent of a plugin, empty for the client's own.
    pub agent_type: String,
    /// The agent's last text.
    pub last_message: String,
    /// A hook has sent this agent on already.
    pub stop_hook_active: bool,
    /// Prompts in its own transcript: the first one, and later messages. Without any there is no
    /// transcript.
    pub prompts: Vec<String>,
}

/// A subagent that still runs, as `background_tasks` shows it.
pub fn background_agent(agent_type: &str) -> Value {
    json!({
        "id": ids::agent(),
        "type": "subagent",
        "status": "running",
        "description": "do work",
        "agent_type": agent_type,
    })
}

/// A shell command that still runs, as `background_tasks` shows it.
pub fn background_shell(command: &str) -> Value {
    json!({
        "id": "b8mhtqc04",
        "type": "shell",
        "status": "running",
        "description": "run in the background",
        "command": command,
    })
}

/// A prompt that the session will give itself, as `session_crons` shows it.
pub fn session_cron(prompt: &str) -> Value {
    json!({"id": "ebfc3f1b", "schedule": "36 4 * * *", "recurring": false, "prompt": prompt})
}

impl StandIn {
    /// Fires `SessionStart` with `startup`, `resume`, `clear`, `compact` or `fork`.
    pub fn session_start(&mut self, source: &str) -> Result<HookRun> {
        self.stop_hook_active = false;
        let early = match source {
            "compact" => Object::new().field("prompt_id", &self.prompt_id),
            _ => Object::new(),
        };
        let late = Object::new().field("source", source);
        let late = match source {
            "startup" | "compact" => late.field("model", "claude-opus-5-5"),
            "resume" | "fork" => late
                .field("seconds_since_last_response", &0)
                .field("context_tokens", &120)
                .field("prompt_cache_likely_expired", &false)
                .field("estimated_cache_write_usd", &0.0006),
            _ => late,
        };
        self.fire_ordered("SessionStart", &early, &late)
    }

    /// A person sends `text` while no turn runs: fires `UserPromptSubmit`, and writes the prompt
    /// unless the hook blocks it.
    pub fn prompt(&mut self, text: &str) -> Result<HookRun> {
        self.prompt_id = ids::uuid();
        self.stop_hook_active = false;
        let run = self.submit(text)?;
        if !run.answer()?.blocks() {
            self.transcript.prompt_id(&self.prompt_id);
            match text.strip_prefix('/') {
                Some(command) => self.transcript.slash_command(command, "Command body.")?,
                None => self.transcript.human(text)?,
            }
        }
        Ok(run)
    }

    /// A person types `text` while a turn runs: a slash command is only queued; plain text fires
    /// `UserPromptSubmit` first, with the running prompt's id, and is queued unless blocked.
    pub fn prompt_while_running(&mut self, text: &str) -> Result<Option<HookRun>> {
        if text.starts_with('/') {
            self.transcript.enqueue(text)?;
            return Ok(None);
        }
        let run = self.submit(text)?;
        if !run.answer()?.blocks() {
            self.transcript.enqueue(text)?;
        }
        Ok(Some(run))
    }

    /// Fires `UserPromptSubmit` and nothing else.
    pub fn submit(&self, text: &str) -> Result<HookRun> {
        let late = Object::new().field("prompt", text);
        self.fire_ordered("UserPromptSubmit", &self.prompt_fields(), &late)
    }

    /// The model ends its turn with `last_message` and nothing in the background.
    pub fn stop(&mut self, last_message: &str) -> Result<HookRun> {
        self.stop_with(&StopInput::new(last_message))
    }

    /// The model ends its turn. The text gets into the transcript after the hook, as it mostly
    /// does in a real session; then what the hook's answer leaves there.
    pub fn stop_with(&mut self, input: &StopInput) -> Result<HookRun> {
        let late = Object::new()
            .field("stop_hook_active", &self.stop_hook_active)
            .field("last_assistant_message", &input.last_message)
            .field("background_tasks", &input.background_tasks)
            .field("session_crons", &input.session_crons);
        let early = self.prompt_fields().object("effort", effort());
        let run = self.fire_ordered("Stop", &early, &late)?;
        self.transcript.assistant(&input.last_message)?;
        let answer = run.answer()?;
        self.stop_hook_active = answer.continues();
        if let Some(reason) = answer.reason().filter(|_| answer.blocks()) {
            self.transcript.stop_feedback(reason)?;
        } else if let Some(context) = answer.additional_context() {
            self.transcript.hook_context("Stop", context)?;
        }
        Ok(run)
    }

    /// A subagent ends.
    pub fn subagent_stop(&self, input: &SubagentStopInput) -> Result<HookRun> {
        let id = match input.agent_id.as_str() {
            "" => ids::agent(),
            id => id.to_owned(),
        };
        let early = self
            .prompt_fields()
            .field("agent_id", &id)
            .field("agent_type", &input.agent_type)
            .object("effort", effort());
        let path = self.transcript.of_agent(&id);
        if !input.prompts.is_empty() {
            self.transcript.write_agent(
                &id,
                &input.agent_type,
                &input.prompts,
                &input.last_message,
            )?;
        }
        let late = Object::new()
            .field("stop_hook_active", &input.stop_hook_active)
            .field("agent_transcript_path", &path.to_string_lossy())
            .field("last_assistant_message", &input.last_message)
            .field("background_tasks", &[(); 0])
            .field("session_crons", &[(); 0]);
        self.fire_ordered("SubagentStop", &early, &late)
    }

    /// An error of the API ends the turn, for example `rate_limit` or `server_error`.
    pub fn stop_failure(&mut self, error: &str) -> Result<HookRun> {
        self.stop_hook_active = false;
        let early = Object::new()
            .field("prompt_id", &self.prompt_id)
            .object("effort", effort());
        let late = Object::new()
            .field("error", error)
            .field("last_assistant_message", &format!("API Error: {error}"));
        self.fire_ordered("StopFailure", &early, &late)
    }

    /// The session ends: `clear`, `prompt_input_exit` or `other`.
    pub fn session_end(&self, reason: &str) -> Result<HookRun> {
        let early = Object::new().field("prompt_id", &self.prompt_id);
        let late = Object::new().field("reason", reason);
        self.fire_ordered("SessionEnd", &early, &late)
    }

    /// The conversation is about to be compacted: `manual` or `auto`.
    pub fn pre_compact(&self, trigger: &str) -> Result<HookRun> {
        let early = Object::new().field("prompt_id", &self.prompt_id);
        let late = Object::new()
            .field("trigger", trigger)
            .field("custom_instructions", &Value::Null);
        self.fire_ordered("PreCompact", &early, &late)
    }

    fn prompt_fields(&self) -> Object {
        Object::new()
            .field("prompt_id", &self.prompt_id)
            .field("permission_mode", PERMISSION_MODE)
    }
}

fn effort() -> Object {
    Object::new().field("level", "medium")
}
