//! Answers of a scripted model, as plain data.

use std::time::Duration;

use serde_json::Value;

/// Answer to one request.
#[derive(Clone, Debug)]
pub enum ModelReply {
    /// A message of the model.
    Message(ModelMessage),
    /// An API error.
    Error {
        /// HTTP status.
        status: u16,
        /// Error type, such as `rate_limit_error`.
        kind: String,
        /// Error text.
        message: String,
        /// Additional header fields.
        headers: Vec<(&'static str, String)>,
    },
    /// No answer: the connection ends.
    Silence,
}

impl ModelReply {
    /// An error without additional headers.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::Error {
            status,
            kind: kind.to_owned(),
            message: message.to_owned(),
            headers: Vec::new(),
        }
    }
}

/// A message of the model, with its delivery.
#[derive(Clone, Debug)]
pub struct ModelMessage {
    /// Content blocks.
    pub blocks: Vec<ReplyBlock>,
    /// Fields of `usage` that differ from the usual ones.
    pub usage: Value,
    /// Stop reason other than `end_turn` and `tool_use`.
    pub stop_reason: Option<String>,
    /// Number of streamed pieces of each text.
    pub chunks: usize,
    /// Wait behind each piece.
    pub chunk_delay: Duration,
}

impl ModelMessage {
    /// A message of these blocks, delivered at once.
    pub fn new(blocks: Vec<ReplyBlock>) -> Self {
        Self {
            blocks,
            usage: Value::Null,
            stop_reason: None,
            chunks: 1,
            chunk_delay: Duration::ZERO,
        }
    }
}

/// One content block of a message.
#[derive(Clone, Debug)]
pub enum ReplyBlock {
    /// A `thinking` block.
    Thinking(String),
    /// A `text` block.
    Text(String),
    /// A `tool_use` block.
    Tool {
        /// Tool name.
        name: String,
        /// Tool input.
        input: Value,
    },
}
