//! What a hook may print: nothing, plain text, or one JSON object of a fixed shape.

use omo_core::session::HookEvent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::{Value, json};

/// The answer of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Plain text, which the client hands to the model as context.
    Context(String),
    /// A prompt that the model never sees; its user reads this instead.
    Instead(String),
    /// One line for the user, and context for the model where there is some.
    Notice {
        /// What the user reads.
        user: String,
        /// What the model reads.
        model: Option<String>,
    },
    /// One line for the user, and a bell.
    Bell(String),
    /// The session goes on, as a decision.
    Block(String),
    /// The session goes on, as additional context.
    GoOn(String),
}

impl Answer {
    /// Writes the answer to stdout, now and in one piece. A client that is gone needs none.
    ///
    /// Not through the standard library's stdout, which keeps what follows the last line break until
    /// the process ends: after the lock was given back, when a run may have been stopped already.
    pub fn print(&self, event: HookEvent) {
        let text = self.text(event);
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match rustix::io::write(std::io::stdout(), rest) {
                Ok(0) => return,
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                // Somebody made it a stream that does not wait: half an answer would be none.
                Err(Errno::AGAIN) if can_take_more() => {}
                Err(_) => return,
            }
        }
    }

    /// The answer as it is printed.
    pub fn text(&self, event: HookEvent) -> String {
        let specific = |mut value: Value| {
            if let Value::Object(fields) = &mut value {
                fields.insert("hookEventName".to_owned(), event.name().into());
            }
            value
        };
        match self {
            Self::Context(text) => return text.clone(),
            Self::Instead(reason) => json!({
                "decision": "block",
                "reason": reason,
                "hookSpecificOutput": specific(json!({ "suppressOriginalPrompt": true })),
            }),
            Self::Notice { user, model: None } => json!({ "systemMessage": user }),
            Self::Notice { user, model: Some(model) } => json!({
                "systemMessage": user,
                "hookSpecificOutput": specific(json!({ "additionalContext": model })),
            }),
            Self::Bell(user) => json!({ "systemMessage": user, "terminalSequence": "\u{7}" }),
            Self::Block(reason) => json!({ "decision": "block", "reason": reason }),
            Self::GoOn(context) => json!({
                "hookSpecificOutput": specific(json!({ "additionalContext": context })),
            }),
        }
        .to_string()
    }
}

/// Waits until stdout takes something again; `false` where it does not.
fn can_take_more() -> bool {
    let timeout = Timespec { tv_sec: 1, tv_nsec: 0 };
    let stdout = std::io::stdout();
    matches!(poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], Some(&timeout)), Ok(1) | Err(Errno::INTR))
}
