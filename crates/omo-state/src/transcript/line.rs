//! Parses a line of a transcript; no other file knows the client's field names.
//!
//! Each part is parsed on demand; a part of another shape counts as missing.

use std::borrow::Cow;

use omo_core::messages::CONTRACT_MARK;
use omo_core::session::Interruption;
use omo_core::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TranscriptLine<'a> {
    #[serde(rename = "type")]
    pub kind: &'a str,
    pub subtype: Option<&'a str>,
    pub operation: Option<&'a str>,
    timestamp: Option<&'a str>,
    #[serde(default)]
    pub is_sidechain: bool,
    #[serde(default)]
    is_api_error_message: bool,
    #[serde(default)]
    pub is_compact_summary: bool,
    #[serde(borrow)]
    pub cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    permission_decision: Option<&'a RawValue>,
    #[serde(borrow)]
    origin: Option<&'a RawValue>,
}

pub(super) enum Content<'a> {
    Text(String),
    Blocks(Vec<Block<'a>>),
}

/// Block of a message: `text`, `tool_use` or `tool_result`.
#[derive(Default, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(rename = "type")]
    pub kind: &'a str,
    pub text: Option<String>,
    #[serde(default)]
    pub id: &'a str,
    #[serde(default)]
    pub name: &'a str,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    pub tool_use_id: &'a str,
    pub is_error: Option<bool>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type")]
    pub kind: &'a str,
    pub hook_event: Option<&'a str>,
    timed_out: Option<bool>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    blocking_error: Option<&'a RawValue>,
    #[serde(borrow)]
    stdout: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
}

/// Field `toolUseResult` of a call that started an agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentResult<'a> {
    pub status: Option<String>,
    pub agent_type: Option<String>,
    pub agent_id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl<'a> TranscriptLine<'a> {
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.timestamp.and_then(Timestamp::parse)
    }

    pub(super) fn is_of_the_model(&self) -> bool {
        self.kind == "assistant" && !self.is_sidechain && !self.is_api_error_message
    }

    /// Id and tokens of a model's message, without those that the client reads from its cache.
    pub(super) fn usage(&self) -> Option<(&'a str, u64)> {
        #[derive(Deserialize)]
        struct Message<'a> {
            id: &'a str,
            usage: Usage,
        }
        #[derive(Deserialize)]
        struct Usage {
            #[serde(rename = "input_tokens")]
            input: Option<u64>,
            #[serde(rename = "cache_creation_input_tokens")]
            cached: Option<u64>,
            #[serde(rename = "output_tokens")]
            output: Option<u64>,
        }
        let Message { id, usage } = parse(self.message.filter(|_| self.kind == "assistant"))?;
        let parts = [usage.input, usage.cached, usage.output];
        let tokens = parts.into_iter().flatten().fold(0, u64::saturating_add);
        Some((id, tokens))
    }

    pub(super) fn is_to_the_model(&self) -> bool {
        self.kind == "user" && !self.is_sidechain
    }

    pub(super) fn queued_text(&self) -> Option<String> {
        string(self.content)
    }

    pub(super) fn content(&self) -> Option<Content<'a>> {
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            content: &'a RawValue,
        }
        let content = serde_json::from_str::<Message>(self.message?.get())
            .ok()?
            .content
            .get();
        let blocks: Option<Vec<&RawValue>> = serde_json::from_str(content).ok();
        let Some(blocks) = blocks else {
            return serde_json::from_str(content).ok().map(Content::Text);
        };
        // A block of another shape keeps its place: some lines count by their only block.
        let blocks = blocks
            .into_iter()
            .map(|raw| parse(Some(raw)).unwrap_or_default())
            .collect();
        Some(Content::Blocks(blocks))
    }

    pub(super) fn blocks(&self) -> Vec<Block<'a>> {
        match self.content() {
            Some(Content::Blocks(blocks)) => blocks,
            Some(Content::Text(_)) | None => Vec::new(),
        }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = Block<'a>> {
        self.blocks()
            .into_iter()
            .filter(|block| block.kind == "tool_use")
    }

    pub(super) fn attachment(&self) -> Option<Attachment<'a>> {
        parse(self.attachment.filter(|_| self.kind == "attachment"))
    }

    pub(super) fn goal(&self) -> Option<Value> {
        let note: Value = parse(self.attachment.filter(|_| self.kind == "attachment"))?;
        (note.get("type")? == "goal_status").then_some(note)
    }

    pub(super) fn tool_result<T: Deserialize<'a>>(&self) -> Option<T> {
        parse(self.tool_use_result.filter(|_| self.is_to_the_model()))
    }

    /// `true` where the user permitted the call of a tool, or an older client does not tell.
    pub(super) fn is_allowed_by_user(&self) -> bool {
        #[derive(Deserialize)]
        struct Permission {
            source: String,
        }
        self.permission_decision.is_none_or(|raw| {
            parse(Some(raw))
                .is_some_and(|permission: Permission| permission.source.starts_with("user_"))
        })
    }

    pub(super) fn notification(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Origin<'a> {
            kind: &'a str,
        }
        let origin: Origin = parse(
            self.origin
                .filter(|_| self.is_to_the_model() && self.tool_use_result.is_none()),
        )?;
        match self
            .content()
            .filter(|_| origin.kind == "task-notification")?
        {
            Content::Text(text) => Some(text.strip_prefix("<task-notification>")?.to_owned()),
            Content::Blocks(_) => None,
        }
    }

    pub(super) fn is_compaction(&self) -> bool {
        self.kind == "system" && self.subtype == Some("compact_boundary")
    }

    pub(super) fn says_prompt_too_long(&self) -> bool {
        self.is_api_error_message
            && self.blocks().iter().any(|block| {
                block
                    .text
                    .as_deref()
                    .is_some_and(|text| text.starts_with("Prompt is too long"))
            })
    }

    pub(super) fn interruption(&self) -> Interruption {
        self.time()
            .map_or(Interruption::AtSomeTime, Interruption::At)
    }

    /// `true` for the client's line after Esc: one block with exactly these words, and no
    /// `tool_result`.
    pub(super) fn is_interruption(&self) -> bool {
        if !self.is_to_the_model() || self.tool_use_result.is_some() {
            return false;
        }
        let [block] = &*self.blocks() else {
            return false;
        };
        matches!(
            block.text.as_deref(),
            Some("[Request interrupted by user]" | "[Request interrupted by user for tool use]")
        )
    }

    pub(super) fn is_cancelled_stop(&self) -> bool {
        self.attachment().is_some_and(|attachment| {
            attachment.kind == "hook_cancelled"
                && attachment.hook_event == Some("Stop")
                && !attachment.timed_out.unwrap_or_default()
        })
    }

    pub(super) fn is_own_block(&self) -> bool {
        let Some(attachment) = self.attachment().filter(|it| it.hook_event == Some("Stop")) else {
            return false;
        };
        let text = match attachment.kind {
            "hook_blocking_error" => attachment.blocking_error,
            "hook_additional_context" => attachment.content,
            _ => None,
        };
        text.is_some_and(|raw| raw.get().contains("\"[omo] "))
    }

    /// `true` for the contract from a hook; the same words from elsewhere do not count.
    pub(super) fn is_contract(&self) -> bool {
        self.attachment().is_some_and(|attachment| {
            matches!(attachment.kind, "hook_success" | "hook_additional_context")
                && matches!(
                    attachment.hook_event,
                    Some("UserPromptSubmit" | "SessionStart")
                )
                && attachment
                    .content
                    .is_some_and(|raw| raw.get().contains(CONTRACT_MARK))
        })
    }
}

impl Block<'_> {
    pub(super) fn input<T: DeserializeOwned>(&self) -> Option<T> {
        parse(self.input)
    }

    pub(super) fn result_text(&self) -> Option<String> {
        self.content.map(text_of)
    }
}

impl Attachment<'_> {
    pub(super) fn command(&self) -> Option<String> {
        string(self.command)
    }

    pub(super) fn printed(&self) -> Option<Value> {
        serde_json::from_str(&string(self.stdout)?).ok()
    }

    pub(super) fn queued_prompt(&self) -> String {
        string(self.prompt)
            .or_else(|| self.prompt.map(ToString::to_string))
            .unwrap_or_default()
    }
}

impl AgentResult<'_> {
    pub(super) fn text(&self) -> String {
        self.content.map(text_of).unwrap_or_default()
    }
}

fn parse<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn string(raw: Option<&RawValue>) -> Option<String> {
    parse(raw)
}

fn text_of(content: &RawValue) -> String {
    let Some(blocks) = parse::<Vec<Value>>(Some(content)) else {
        return string(Some(content)).unwrap_or_default();
    };
    blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
