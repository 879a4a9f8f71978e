//! A stand-in for the client: it fires a plugin's hooks as the client does, and keeps a transcript.
//!
//! What it does was measured with client 2.1.328: the fields of each event, the variables of a
//! hook, and which line of the transcript stands there before which hook runs.

mod events;
mod hooks;
mod transcript;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

pub use crate::hook_answer::{HookAnswer, HookRun};
pub use events::{StopInput, SubagentStopInput, background_agent, background_shell, session_cron};
pub use transcript::{ScriptedTranscript, notification};

use crate::json::Object;
use crate::lab::Lab;
use crate::process;
use hooks::Hooks;

/// The permission mode that every event carries: there is no person to ask.
const PERMISSION_MODE: &str = "bypassPermissions";

/// The client's own name for the data of a plugin that was given with `--plugin-dir`.
const PLUGIN_DATA: &str = ".claude/plugins/data/omo-inline";

/// Longer than any of our hooks may take; the client's own limits are longer.
const LIMIT: Duration = Duration::from_secs(120);

/// A stand-in for one session of the client. A clone is the same session at the same point.
#[derive(Debug, Clone)]
pub struct StandIn {
    plugin: PathBuf,
    project: PathBuf,
    data: PathBuf,
    session: String,
    transcript: ScriptedTranscript,
    hooks: Hooks,
    environment: BTreeMap<String, String>,
    prompt_id: String,
    stop_hook_active: bool,
    is_client: bool,
    limit: Duration,
}

impl StandIn {
    /// A session with a new id in the lab's project, with the hooks of `plugin`.
    pub fn new(lab: &Lab, plugin: &Path) -> Result<Self> {
        Self::with_session(lab, plugin, &crate::ids::uuid())
    }

    /// A session with an id of the test's choice.
    pub fn with_session(lab: &Lab, plugin: &Path, session: &str) -> Result<Self> {
        let data = lab.home().join(PLUGIN_DATA);
        fs::create_dir_all(&data).with_context(|| format!("make {}", data.display()))?;
        Ok(Self {
            plugin: plugin.to_owned(),
            project: lab.project().to_owned(),
            data,
            session: session.to_owned(),
            transcript: ScriptedTranscript::new(lab.home(), lab.project(), session),
            hooks: Hooks::read(plugin)?,
            environment: lab.environment().clone(),
            prompt_id: crate::ids::uuid(),
            stop_hook_active: false,
            is_client: false,
            limit: LIMIT,
        })
    }

    /// Sets one variable of the hooks' environment.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The session, but of a client that was started in this folder: its state lies there.
    #[must_use]
    pub fn started_in(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.project);
        self
    }

    /// Sets the time after which a hook is ended.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The session's id.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The id of the prompt that is being worked on.
    pub fn prompt_id(&self) -> &str {
        &self.prompt_id
    }

    /// The project folder.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The value of `CLAUDE_PLUGIN_DATA`.
    pub fn plugin_data(&self) -> &Path {
        &self.data
    }

    /// The transcript, to write what the model and the person did.
    pub fn transcript(&mut self) -> &mut ScriptedTranscript {
        &mut self.transcript
    }

    /// From now on its hooks name this process as the client, as the real one does: what this process starts is then
    /// the model's. Without it the same process may play a person at a terminal.
    pub fn be_the_client(&mut self) {
        self.is_client = true;
    }

    /// A handler of the plugin for `event`.
    pub fn handles(&self, event: &str) -> bool {
        self.hooks.handles(event)
    }

    /// Fires `event` with the fields that every event has and those of `extra`.
    ///
    /// It is an error when the plugin has no handler for the event, or more than one.
    pub fn fire(&self, event: &str, extra: &Value) -> Result<HookRun> {
        let mut fields = Object::new();
        for (name, value) in extra.as_object().into_iter().flatten() {
            fields = fields.field(name, value);
        }
        self.fire_ordered(event, &Object::new(), &fields)
    }

    /// Runs the handler of `event` with exactly `input` on its standard input.
    pub fn fire_raw(&self, event: &str, input: &str) -> Result<HookRun> {
        let handler = self
            .hooks
            .only(event, serde_json::from_str(input).ok().as_ref())?;
        let mut command = handler.command(&self.plugin, &self.data, &self.project);
        command
            .current_dir(&self.project)
            .env_clear()
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            // Output of hooks is compared as text.
            .env("NO_COLOR", "1")
            .envs(&self.environment)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_CHILD_SESSION", "1")
            .env("CLAUDE_CODE_SESSION_ATTENDED", "1")
            .env("CLAUDE_CODE_SESSION_ID", &self.session)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .env("CLAUDE_PLUGIN_ROOT", &self.plugin)
            .env("CLAUDE_PLUGIN_DATA", &self.data)
            .env("AI_AGENT", "claude-code_2-1-328_harness");
        if self.is_client {
            command.env("CLAUDE_PID", std::process::id().to_string());
        }
        if event == "Stop" || event == "SubagentStop" {
            command.env("CLAUDE_EFFORT", "medium");
        }
        let limit = handler.timeout().unwrap_or(self.limit).min(self.limit);
        let done =
            process::run(command, Some(input), limit).with_context(|| format!("fire {event}"))?;
        Ok(HookRun::from(done))
    }

    /// Fires with the fields in the client's order: `early` stand before the event's name.
    fn fire_ordered(&self, event: &str, early: &Object, late: &Object) -> Result<HookRun> {
        let input = Object::new()
            .field("session_id", &self.session)
            .field("transcript_path", &self.transcript.path().to_string_lossy())
            .field("cwd", &self.project.to_string_lossy())
            .extend(early)
            .field("hook_event_name", event)
            .extend(late);
        self.fire_raw(event, &format!("{}\n", input.end()))
    }
}
