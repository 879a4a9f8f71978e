//! Reads a subagent's transcript: its prompts, folder, file reads, and the call that started it.
//!
//! The agent's transcript lies in a folder with the session's name, and may appear after the
//! agent's end and its `SubagentStop` (measured on 2.1.328).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use omo_core::review::{AgentCall, HookIntervention};
use omo_core::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::each_line;
use super::line::{AgentResult, Content, TranscriptLine};
use crate::files::regular_file;

const MAX_META_BYTES: u64 = 64 * 1024;

/// Facts from the start of a subagent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStart {
    pub prompts: Vec<String>,
    pub began: Option<Timestamp>,
    pub cwd: Option<PathBuf>,
    pub reads: Vec<(PathBuf, String)>,
    pub hooks: Vec<HookIntervention>,
}

/// Path of a subagent's transcript; `None` for an `id` of no agent.
pub fn agent_transcript_path(session: &Path, id: &str) -> Option<PathBuf> {
    let is_id = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_id.then(|| {
        session
            .with_extension("")
            .join(format!("subagents/agent-{id}.jsonl"))
    })
}

/// Facts in the agent's transcript; empty without one.
pub fn read_agent_start(agent: &Path) -> AgentStart {
    let mut agent_start = AgentStart::default();
    let mut calls = BTreeMap::new();
    let is_whole = each_line(
        agent,
        0,
        &[b"user", b"queued_command", b"tool_use", b"attachment"],
        |line| {
            calls.extend(line.reads());
            agent_start.reads.extend(
                line.results()
                    .into_iter()
                    .filter_map(|(id, text)| Some((calls.remove(&id)?, text))),
            );
            if let Some(hook) = line.intervention() {
                // Text that a hook added has a line beside that of its command.
                if hook.command.is_some()
                    || !agent_start
                        .hooks
                        .iter()
                        .any(|known| known.event == hook.event)
                {
                    agent_start.hooks.push(hook);
                }
            }
            let Some(prompt) = line.prompt() else { return };
            if agent_start.prompts.is_empty() {
                agent_start.began = line.time();
                agent_start.cwd = line.cwd.as_deref().map(PathBuf::from);
            }
            agent_start.prompts.push(prompt);
        },
    );
    if !is_whole {
        // An unread part may hold another prompt.
        agent_start.prompts.push(String::new());
    }
    agent_start
}

pub fn find_start_call(session: &Path, from: u64, id: &str) -> Option<AgentCall> {
    let (mut calls, mut result) = (BTreeMap::new(), None);
    let is_whole = each_line(session, from, &[b"subagent_type", id.as_bytes()], |line| {
        calls.extend(line.agent_starts());
        if result.is_none() {
            result = line.result_of(id);
        }
    });
    calls.remove(&result?).filter(|_| is_whole)
}

/// `true` for an agent of another agent, or in its own work tree; `None` without the client's note.
pub fn is_isolated(agent: &Path) -> Option<bool> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        parent_agent_id: Option<IgnoredAny>,
        worktree_path: Option<IgnoredAny>,
    }
    let mut bytes = Vec::new();
    let file = regular_file::open(&agent.with_extension("meta.json")).ok()??;
    file.take(MAX_META_BYTES).read_to_end(&mut bytes).ok()?;
    let meta = serde_json::from_slice::<Meta>(&bytes);
    Some(meta.map_or(true, |meta| {
        meta.parent_agent_id.is_some() || meta.worktree_path.is_some()
    }))
}

/// Attachments of hooks that no model reads.
const SILENT_HOOKS: [&str; 5] = [
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
];

fn intervenes(answer: &Value) -> bool {
    let fields = answer
        .as_object()
        .into_iter()
        .chain(answer.get("hookSpecificOutput").and_then(Value::as_object));
    fields
        .flat_map(|fields| fields.keys())
        .any(|name| name == "additionalContext" || name.starts_with("updated"))
}

impl TranscriptLine<'_> {
    /// Text of a prompt; `None` for a line of a tool or the client itself.
    fn prompt(&self) -> Option<String> {
        if self.kind == "attachment" {
            return self
                .attachment()
                .filter(|it| it.kind == "queued_command")
                .map(|it| it.queued_prompt());
        }
        if self.kind != "user" || self.is_compact_summary {
            return None;
        }
        match self.content()? {
            Content::Text(text) => Some(text),
            Content::Blocks(blocks) => {
                let texts: Vec<String> = blocks
                    .into_iter()
                    .filter(|block| block.kind == "text")
                    .filter_map(|block| block.text)
                    .collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        }
    }

    fn agent_starts(&self) -> Vec<(String, AgentCall)> {
        self.calls()
            .filter(|call| self.is_of_the_model() && matches!(call.name, "Agent" | "Task"))
            .filter_map(|call| {
                let input: Value = call.input()?;
                let options = input
                    .as_object()?
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(name, _)| name.clone())
                    .collect();
                Some((call.id.to_owned(), AgentCall { options }))
            })
            .collect()
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.calls()
            .filter(|call| self.kind == "assistant" && call.name == "Read")
            .filter_map(|call| {
                let input: Value = call.input()?;
                let path = PathBuf::from(input.get("file_path")?.as_str()?);
                Some((call.id.to_owned(), path))
            })
            .collect()
    }

    fn results(&self) -> Vec<(String, String)> {
        let blocks = if self.kind == "user" {
            self.blocks()
        } else {
            Vec::new()
        };
        blocks
            .into_iter()
            .filter(|block| !block.tool_use_id.is_empty())
            .filter_map(|block| Some((block.tool_use_id.to_owned(), block.result_text()?)))
            .collect()
    }

    fn intervention(&self) -> Option<HookIntervention> {
        let ran = self.attachment()?;
        let is_one = match ran.kind {
            "hook_success" => ran.printed().is_some_and(|answer| intervenes(&answer)),
            kind => kind.contains("hook") && !SILENT_HOOKS.contains(&kind),
        };
        let event = ran.hook_event.unwrap_or_default().to_owned();
        is_one.then_some(HookIntervention {
            event,
            command: ran.command(),
        })
    }

    fn result_of(&self, agent: &str) -> Option<String> {
        let result: AgentResult = self.tool_result()?;
        let blocks = if result.agent_id.as_deref() == Some(agent) {
            self.blocks()
        } else {
            Vec::new()
        };
        blocks
            .iter()
            .map(|block| block.tool_use_id)
            .find(|id| !id.is_empty())
            .map(str::to_owned)
    }
}
