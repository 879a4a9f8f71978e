//! Prompts, folder, call and reads of an agent, from the client's files.
//!
//! The agent's own transcript lies beside the session's, in a folder with the session's name, and
//! comes into being a little after the agent has begun (measured on 2.1.328: for one that ends at
//! once, after its `SubagentStop`).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use omo_core::review::{AgentCall, HookIntervention};
use omo_core::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::each_line;
use super::line::{AgentResult, Block, Content, TranscriptLine};
use crate::files::regular_file;

const MAX_META_BYTES: u64 = 64 * 1024;

/// Input of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStart {
    /// Prompts: the first one, and later messages.
    pub prompts: Vec<String>,
    /// Moment of the first prompt.
    pub began: Option<Timestamp>,
    /// Working folder at the start.
    pub cwd: Option<PathBuf>,
    /// The results of its tool `Read`, each with the path that it named.
    pub reads: Vec<(PathBuf, String)>,
    /// The hooks that changed the input of its tools, or added text.
    pub hooks: Vec<HookIntervention>,
}

/// The transcript of an agent of a session; `None` for what is no id of an agent.
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

/// Input of an agent, from its own transcript; empty without one.
pub fn read_agent_start(agent: &Path) -> AgentStart {
    let mut given = AgentStart::default();
    let mut calls = BTreeMap::new();
    let is_whole = each_line(
        agent,
        0,
        &[b"user", b"queued_command", b"tool_use", b"attachment"],
        |line| {
            calls.extend(line.reads());
            given.reads.extend(
                line.results()
                    .into_iter()
                    .filter_map(|(id, text)| Some((calls.remove(&id)?, text))),
            );
            if let Some(hook) = line.intervention() {
                // Text that a hook added has a line of its own beside that of its command.
                if hook.command.is_some()
                    || !given.hooks.iter().any(|known| known.event == hook.event)
                {
                    given.hooks.push(hook);
                }
            }
            let Some(prompt) = line.prompt() else { return };
            if given.prompts.is_empty() {
                given.began = line.time();
                given.cwd = line.cwd.as_deref().map(PathBuf::from);
            }
            given.prompts.push(prompt);
        },
    );
    if !is_whole {
        // An unread part may hold another prompt.
        given.prompts.push(String::new());
    }
    given
}

/// The call of the session that started an agent, from the session's transcript, where it is there.
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

/// An agent that another agent started, or with a work tree of its own; `None` without the client's
/// note.
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

/// Attachments of hooks whose words no model reads.
const SILENT_HOOKS: [&str; 5] = [
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
];

fn intervenes(answer: &Value) -> bool {
    let changes = |name: &String| name == "additionalContext" || name.starts_with("updated");
    let own = answer
        .as_object()
        .into_iter()
        .chain(answer.get("hookSpecificOutput").and_then(Value::as_object));
    own.flat_map(|fields| fields.keys()).any(changes)
}

impl TranscriptLine<'_> {
    /// Prompt in this line; `None` for a tool or the client itself.
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
        let call = |call: Block| {
            let input: Value = call.input()?;
            let given = input
                .as_object()?
                .iter()
                .filter(|(_, value)| !value.is_null());
            Some((
                call.id.to_owned(),
                AgentCall {
                    options: given.map(|(name, _)| name.clone()).collect(),
                },
            ))
        };
        let calls = self
            .calls()
            .filter(|call| self.is_of_the_model() && matches!(call.name, "Agent" | "Task"));
        calls.filter_map(call).collect()
    }

    /// The paths that the tool `Read` is called with in a line of the model, by the ids of the calls.
    fn reads(&self) -> Vec<(String, PathBuf)> {
        let read = |call: Block| {
            Some((
                call.id.to_owned(),
                PathBuf::from(call.input::<Value>()?.get("file_path")?.as_str()?),
            ))
        };
        self.calls()
            .filter(|call| self.kind == "assistant" && call.name == "Read")
            .filter_map(read)
            .collect()
    }

    fn results(&self) -> Vec<(String, String)> {
        let blocks = if self.kind == "user" {
            self.blocks()
        } else {
            Vec::new()
        };
        let result = |block: Block| Some((block.tool_use_id.to_owned(), block.result_text()?));
        blocks
            .into_iter()
            .filter(|block| !block.tool_use_id.is_empty())
            .filter_map(result)
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
