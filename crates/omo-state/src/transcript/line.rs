//! A line of a transcript, as the client writes it: the only place that knows its fields.
//!
//! Each part is parsed when it is asked for, and one of another shape says nothing.

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

/// `content` of a message.
pub(super) enum Content<'a> {
    Text(String),
    Blocks(Vec<Block<'a>>),
}

/// Part of a message: `text`, `tool_use` or `tool_result`.
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

/// `attachment`: a note of the client between the messages.
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

/// `toolUseResult` of a call that started an agent.
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

    /// The message of a model, by its id, with the tokens that it has used: written, and read anew. What the client reads
    /// from its cache does not count.
    pub(super) fn usage(&self) -> Option<(&'a str, u64)> {
        #[derive(Deserialize)]
        struct Message<'a> {
            id: &'a str,
            usage: Usage,
        }
        #[derive(Deserialize)]
        struct Usage {
            #[serde(default, rename = "input_tokens")]
            input: u64,
            #[serde(default, rename = "cache_creation_input_tokens")]
            cached: u64,
            #[serde(default, rename = "output_tokens")]
            output: u64,
        }
        let Message { id, usage } = parse(self.message.filter(|_| self.kind == "assistant"))?;
        let read = usage.input.saturating_add(usage.cached);
        Some((id, read.saturating_add(usage.output)))
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
        // A block of another shape keeps its place: some lines count by their only block.
        let blocks = |raws: Vec<&'a RawValue>| {
            raws.into_iter()
                .map(|raw| parse(Some(raw)).unwrap_or_default())
                .collect()
        };
        let text = || serde_json::from_str(content).ok().map(Content::Text);
        serde_json::from_str(content)
            .ok()
            .map(blocks)
            .map(Content::Blocks)
            .or_else(text)
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

    /// Permission by the user for a call of a tool; an older client says nothing of it, and counts
    /// as `true`.
    pub(super) fn is_allowed_by_user(&self) -> bool {
        #[derive(Deserialize)]
        struct Permission {
            source: String,
        }
        let is_user = |known: Option<Permission>| {
            known.is_some_and(|known| known.source.starts_with("user_"))
        };
        self.permission_decision
            .is_none_or(|raw| is_user(parse(Some(raw))))
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
        let too_long = |block: &Block| {
            block
                .text
                .as_deref()
                .is_some_and(|text| text.starts_with("Prompt is too long"))
        };
        self.is_api_error_message && self.blocks().iter().any(too_long)
    }

    pub(super) fn interruption(&self) -> Interruption {
        self.time()
            .map_or(Interruption::AtSomeTime, Interruption::At)
    }

    /// Line of the client for Esc: one block with exactly these words, and no `tool_result`.
    pub(super) fn is_interruption(&self) -> bool {
        let words = |block: &Block| {
            let text = block.text.as_deref();
            matches!(
                text,
                Some(
                    "[Request interrupted by user]" | "[Request interrupted by user for tool use]"
                )
            )
        };
        let own = self.is_to_the_model() && self.tool_use_result.is_none();
        own && matches!(&*self.blocks(), [block] if words(block))
    }

    pub(super) fn is_cancelled_stop(&self) -> bool {
        let cancelled = |it: Attachment| {
            it.kind == "hook_cancelled"
                && it.hook_event == Some("Stop")
                && !it.timed_out.unwrap_or_default()
        };
        self.attachment().is_some_and(cancelled)
    }

    pub(super) fn is_own_block(&self) -> bool {
        let says = |text: Option<&RawValue>| text.is_some_and(|raw| raw.get().contains("\"[omo] "));
        let is_block = |it: Attachment| match it.kind {
            "hook_blocking_error" => says(it.blocking_error),
            "hook_additional_context" => says(it.content),
            _ => false,
        };
        self.attachment()
            .is_some_and(|it| it.hook_event == Some("Stop") && is_block(it))
    }

    /// Contract from a hook. The same words from another source do not count.
    pub(super) fn is_contract(&self) -> bool {
        let contract = |it: Attachment| {
            let from_hook = matches!(it.kind, "hook_success" | "hook_additional_context");
            let told = matches!(it.hook_event, Some("UserPromptSubmit" | "SessionStart"));
            from_hook
                && told
                && it
                    .content
                    .is_some_and(|raw| raw.get().contains(CONTRACT_MARK))
        };
        self.attachment().is_some_and(contract)
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
    let blocks: Option<Vec<Value>> = parse(Some(content));
    let texts = |blocks: Vec<Value>| {
        blocks
            .iter()
            .filter_map(|block| block.get("text")?.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    };
    blocks
        .map(texts)
        .or_else(|| string(Some(content)))
        .unwrap_or_default()
}
