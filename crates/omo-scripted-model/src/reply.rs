//! What a scripted model answers, as plain data.

use std::time::Duration;

use serde_json::Value;

/// The answer to one request.
#[derive(Clone, Debug)]
pub enum ModelReply {
    /// The model says something.
    Message(ModelMessage),
    /// The API refuses.
    Error {
        /// The status of the answer.
        status: u16,
        /// The kind of the error, such as `rate_limit_error`.
        kind: String,
        /// Its text.
        message: String,
        /// Header fields besides.
        headers: Vec<(&'static str, String)>,
    },
    /// No answer: the connection ends.
    Silence,
}

impl ModelReply {
    /// An error without header fields of its own.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::Error { status, kind: kind.to_owned(), message: message.to_owned(), headers: Vec::new() }
    }
}

/// A message of the model, and how it is delivered.
#[derive(Clone, Debug)]
pub struct ModelMessage {
    /// What it consists of.
    pub blocks: Vec<ReplyBlock>,
    /// Fields of `usage` that differ from the usual ones.
    pub usage: Value,
    /// The stop reason, where it is neither `end_turn` nor `tool_use`.
    pub stop_reason: Option<String>,
    /// In how many pieces each text is streamed.
    pub chunks: usize,
    /// The wait behind each piece.
    pub chunk_delay: Duration,
}

impl ModelMessage {
    /// A message of these blocks, delivered at once.
    pub fn new(blocks: Vec<ReplyBlock>) -> Self {
        Self { blocks, usage: Value::Null, stop_reason: None, chunks: 1, chunk_delay: Duration::ZERO }
    }
}

/// One content block of a message.
#[derive(Clone, Debug)]
pub enum ReplyBlock {
    /// What the model thinks.
    Thinking(String),
    /// What it says.
    Text(String),
    /// A call of a tool.
    Tool {
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
}
