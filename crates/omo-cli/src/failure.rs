//! What can go wrong, the exit status it gives, and what is said about it.

use std::fmt;
use std::io;
use std::process::ExitCode;

use omo_exec::claude::ClaudeError;
use omo_store::config::Problem;
use omo_store::document::DocumentError;
use omo_store::folder::FolderError;
use omo_store::lock::LockError;
use omo_store::state::StateError;
use omo_store::trust::TrustError;

/// The kinds of failure. Their exit status is part of the interface; `omo --help` and the guide list
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file could not be read or written.
    Io,
    /// The command line was wrong, or names no session.
    User,
    /// The configuration is wrong.
    Config,
    /// Another process held the state all the time.
    Busy,
    /// A check is not green, or there is none.
    NotGreen,
    /// Claude Code is missing, too old, or did not do what it was asked.
    Client,
    /// Whoever read our output is gone. No failure of ours.
    BrokenPipe,
}

impl Kind {
    /// One kind for each exit status, in ascending order.
    pub const ALL: [Self; 7] =
        [Self::BrokenPipe, Self::Io, Self::User, Self::Config, Self::Busy, Self::NotGreen, Self::Client];

    /// The exit status, as a number.
    pub fn status(self) -> u8 {
        match self {
            Self::BrokenPipe => 0,
            Self::Io => 1,
            Self::User => 2,
            Self::Config => 3,
            Self::Busy => 4,
            Self::NotGreen => 5,
            Self::Client => 6,
        }
    }

    /// What the exit status means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::BrokenPipe => "done",
            Self::Io => "a file could not be read or written",
            Self::User => "the command line was wrong, or names no session",
            Self::Config => "the configuration is wrong",
            Self::Busy => "another process held the state all the time",
            Self::NotGreen => "a check is not green, or there is none; of doctor: one is bad",
            Self::Client => "Claude Code is missing, too old, or did not do what it was asked",
        }
    }

    /// The exit status.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(self.status())
    }
}

/// A failure: what was wrong, and what to do.
#[derive(Debug)]
pub struct Failure {
    /// Which kind.
    pub kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The command line was wrong, or names no session.
    pub fn user(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::User, message: message.into(), hint: Some(hint.into()) }
    }

    /// A file could not be read or written.
    pub fn io(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Io, message: message.into(), hint: Some(hint.into()) }
    }

    /// Another process is at the same work.
    pub fn busy(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Busy, message: message.into(), hint: Some(hint.into()) }
    }

    /// Claude Code is missing, too old, or did not do what it was asked.
    pub fn client(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Client, message: message.into(), hint: Some(hint.into()) }
    }

    /// A check is not green, or there is none.
    pub fn not_green(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::NotGreen, message: message.into(), hint: Some(hint.into()) }
    }

    /// The configuration is wrong.
    pub fn config(problem: &Problem) -> Self {
        let hint = "mend the file, or remove the line to use the default";
        Self { kind: Kind::Config, message: problem.to_string(), hint: Some(hint.to_owned()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
        write!(f, "{red}error:{red:#} {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n\n{cyan}hint:{cyan:#} {hint}")?;
        }
        Ok(())
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        let (kind, hint) = match &error {
            StateError::Lock(LockError::Busy(_)) => (
                Kind::Busy,
                "try again; if it lasts, a stopped process holds `.sisyphus/cc-omo/runtime.lock`, and while it does omo holds no session",
            ),
            StateError::Document { source: DocumentError::TooNew(_), .. } => (
                Kind::Io,
                "a newer omo wrote it: use that one here, or remove the file; until then omo holds no session",
            ),
            StateError::Document { .. } => (
                Kind::Io,
                "while it cannot be read omo holds no session; `omo stop --session ID` moves it aside and begins afresh",
            ),
            StateError::Folder(FolderError::Refused { .. }) => {
                (Kind::Io, "move it away; while it is there omo holds no session")
            }
            _ => (Kind::Io, "check the rights of the project folder and the space on its disk"),
        };
        Self { kind, message: error.to_string(), hint: Some(hint.to_owned()) }
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Folder(error) => error.into(),
            TrustError::Lock(error) => StateError::from(error).into(),
            error => Self { kind: Kind::Io, message: error.to_string(), hint: None },
        }
    }
}

impl From<ClaudeError> for Failure {
    fn from(error: ClaudeError) -> Self {
        let hint = match error {
            ClaudeError::Missing => {
                "install Claude Code (`npm install -g @anthropic-ai/claude-code`), or put the folder of its `claude` on PATH"
            }
            ClaudeError::NotStarted { .. } => "see that it runs: `claude --version`",
            ClaudeError::TooLong { .. } | ClaudeError::Failed { .. } | ClaudeError::Unknown { .. } => {
                "run that yourself to see why, and then this again; what worked before still works"
            }
        };
        Self::client(error.to_string(), hint)
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        StateError::from(error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { Kind::BrokenPipe } else { Kind::Io };
        Self { kind, message: error.to_string(), hint: None }
    }
}
