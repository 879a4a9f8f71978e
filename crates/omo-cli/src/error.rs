//! `CommandError`: exit status, message and hint of a failed command.

use std::{fmt, io};

use omo_claude::client::ClaudeError;
use omo_engine::parallel::DriveError;
use omo_engine::projection::ProjectionError;
use omo_engine::task_list_store::TaskListError;
use omo_engine::work::{EngineError, PlanFileError};
use omo_engine::{RunStoreError, TransactError};
use omo_git::ownership::DubiousOwnership;
use omo_git::proved_worktree::WorktreeGone;
use omo_git::restore::RestoreError;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_remote::worker::jobs::JobError;
use omo_state::config::ConfigProblem;
use omo_state::files::folder::FolderError;
use omo_state::files::lock::LockError;
use omo_state::files::project_file::ProjectFileError;
use omo_state::state::StateError;
use omo_state::state::document::DocumentError;
use omo_state::trust::TrustError;
use omo_state::trust::pending_approval::PendingError;

use crate::exit_kind::ExitKind;

#[derive(Debug)]
pub(crate) struct CommandError {
    pub kind: ExitKind,
    message: String,
    hint: Option<String>,
}

impl CommandError {
    fn new(kind: ExitKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    pub(crate) fn not_green(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::NotGreen, message, hint)
    }

    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::Usage, message, hint)
    }

    pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::NotFound, message, hint)
    }

    pub(crate) fn invalid_plan(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::InvalidPlan, message, hint)
    }

    pub(crate) fn precondition(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::Precondition, message, hint)
    }

    pub(crate) fn busy(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::Busy, message, hint)
    }

    pub(crate) fn needs_person(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::NeedsPerson, message, hint)
    }

    pub(crate) fn io(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::Io, message, hint)
    }

    pub(crate) fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ExitKind::Conflict, message, hint)
    }

    /// An answer that is on stdout already; only the exit status is left.
    pub(crate) fn already_printed(kind: ExitKind) -> Self {
        Self {
            kind,
            message: String::new(),
            hint: None,
        }
    }

    pub(crate) fn with_kind(self, kind: ExitKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn screen(&self) -> String {
        let hint = self
            .hint
            .as_ref()
            .map(|hint| format!("\n\n{hint}"))
            .unwrap_or_default();
        let text = format!("[omo] Nothing was started: {}{hint}", self.message);
        anstream::adapter::strip_str(&text).to_string()
    }

    pub(crate) fn line(&self) -> String {
        let hint = self
            .hint
            .as_ref()
            .map(|hint| format!("; {hint}"))
            .unwrap_or_default();
        format!("{}{hint}", self.message)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(crate) fn is_printed(&self) -> bool {
        self.message.is_empty()
    }

    pub(crate) fn invalid_config(problem: &ConfigProblem) -> Self {
        Self::precondition(
            problem.to_string(),
            "fix the file, or remove the line to use the default",
        )
    }
}

impl fmt::Display for CommandError {
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

impl From<StateError> for CommandError {
    fn from(error: StateError) -> Self {
        let (kind, hint) = match &error {
            StateError::Lock(LockError::Busy(_)) => (
                ExitKind::Busy,
                "try again; if it lasts, a stopped process holds `.sisyphus/cc-omo/runtime.lock`, and while it does omo holds no session",
            ),
            StateError::Document {
                source: DocumentError::TooNew(_),
                ..
            } => (
                ExitKind::Io,
                "a newer omo wrote it: use that one here, or remove the file; until then omo holds no session",
            ),
            StateError::Document { .. } => (
                ExitKind::Io,
                "while it cannot be read omo holds no session; `omo stop --session ID` moves it aside and starts over",
            ),
            StateError::Folder(FolderError::Refused { .. }) => (
                ExitKind::Io,
                "move it away; while it is there omo holds no session",
            ),
            _ => (
                ExitKind::Io,
                "check the rights of the project folder and the space on its disk",
            ),
        };
        Self::new(kind, error.to_string(), hint)
    }
}

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Folder(error) => error.into(),
            TrustError::Lock(error) => StateError::from(error).into(),
            error => Self {
                kind: ExitKind::Io,
                message: error.to_string(),
                hint: None,
            },
        }
    }
}

impl From<ClaudeError> for CommandError {
    fn from(error: ClaudeError) -> Self {
        let hint = match error {
            ClaudeError::Missing => {
                "install Claude Code (`npm install -g @anthropic-ai/claude-code`), or put the folder of its `claude` on PATH"
            }
            ClaudeError::NotStarted { .. } => "see that it runs: `claude --version`",
            ClaudeError::TimedOut { .. }
            | ClaudeError::Failed { .. }
            | ClaudeError::NotUnderstood { .. } => {
                "run that yourself to see why, and then this again; what worked before still works"
            }
        };
        Self::precondition(error.to_string(), hint)
    }
}

impl From<FolderError> for CommandError {
    fn from(error: FolderError) -> Self {
        StateError::from(error).into()
    }
}

fn kind_of_io(error: &io::Error) -> ExitKind {
    if error.kind() == io::ErrorKind::BrokenPipe {
        ExitKind::Success
    } else {
        ExitKind::Io
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self {
            kind: kind_of_io(&error),
            message: error.to_string(),
            hint: None,
        }
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        let kind = error
            .downcast_ref::<io::Error>()
            .map_or(ExitKind::Io, kind_of_io);
        Self {
            kind,
            message: format!("{error:#}"),
            hint: None,
        }
    }
}

impl From<VerbRefusal> for CommandError {
    fn from(refusal: VerbRefusal) -> Self {
        let kind = match refusal.kind {
            VerbRefusalKind::NotFound => ExitKind::NotFound,
            VerbRefusalKind::Precondition => ExitKind::Precondition,
            VerbRefusalKind::Contention => ExitKind::Busy,
            VerbRefusalKind::NeedsPerson => ExitKind::NeedsPerson,
            VerbRefusalKind::Usage => ExitKind::Usage,
            VerbRefusalKind::ChecksNotGreen => ExitKind::NotGreen,
        };
        Self::new(kind, refusal.message, refusal.hint)
    }
}

impl From<TransactError> for CommandError {
    fn from(error: TransactError) -> Self {
        match error {
            TransactError::Refused(refusal) => refusal.into(),
            TransactError::RunStore(error) => error.into(),
        }
    }
}

impl From<RunStoreError> for CommandError {
    fn from(error: RunStoreError) -> Self {
        let (kind, hint) = match &error {
            RunStoreError::NoRepository(_) => (ExitKind::Precondition, "`git init` makes one"),
            RunStoreError::Id(_) => (
                ExitKind::Usage,
                "`omo run list` names the runs of this repository",
            ),
            RunStoreError::NotFound(_) => (
                ExitKind::NotFound,
                "`omo run list` names the runs of this repository",
            ),
            RunStoreError::Lock(LockError::Busy(_)) => (
                ExitKind::Busy,
                "try again; if it lasts, a stopped process holds the run's lock",
            ),
            RunStoreError::NoKey(_) | RunStoreError::Key(_) => {
                (ExitKind::Io, "`omo doctor` looks at the key")
            }
            RunStoreError::Line { .. } | RunStoreError::Ledger { .. } => (
                ExitKind::Io,
                "the run cannot go on; what is in the files stays, and a new run of the plan can be opened",
            ),
            _ => (
                ExitKind::Io,
                "check the rights and the space of that folder; nothing was changed",
            ),
        };
        Self::new(kind, error.to_string(), hint)
    }
}

impl From<ProjectionError> for CommandError {
    fn from(error: ProjectionError) -> Self {
        let hint =
            "the ledger has everything; once the file can be written, `omo agent next` writes it";
        Self::io(error.to_string(), hint)
    }
}

impl From<PlanFileError> for CommandError {
    fn from(error: PlanFileError) -> Self {
        let message = error.to_string();
        match error {
            PlanFileError::Missing(_) => {
                Self::not_found(message, "name the file from the current folder")
            }
            PlanFileError::Folder { .. } => Self::usage(
                message,
                "name the file of a plan, or a folder with `*-PLAN.md` or one `tasks.md`; `omo plan list` finds plans",
            ),
            PlanFileError::TooLarge(_) => Self::invalid_plan(message, "name one of its files"),
            PlanFileError::Outside(_) => {
                Self::precondition(message, "a run changes the project that its plan is in")
            }
            PlanFileError::NotRegular(_) => Self::io(
                message,
                "a plan is a file that can be read again: save it as one, and name that",
            ),
            PlanFileError::Read { .. } | PlanFileError::Write(_) => {
                Self::io(message, "check the rights of that file")
            }
        }
    }
}

impl From<DriveError> for CommandError {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Engine(error) => error.into(),
            DriveError::RunStore(error) => error.into(),
            error => Self::io(
                error.to_string(),
                "nothing is lost; `omo agent next` tries again once that is fixed",
            ),
        }
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Refused(refusal) => refusal.into(),
            EngineError::RunStore(error) => error.into(),
            EngineError::Projection(error) => error.into(),
            EngineError::PlanFile(error) => error.into(),
            EngineError::Restore(error) => error.into(),
            EngineError::WorktreeGone(gone) => gone.into(),
            EngineError::Cancelled => {
                Self::conflict(error.to_string(), "`omo run resume` goes on with it")
            }
        }
    }
}

impl From<DubiousOwnership> for CommandError {
    fn from(refused: DubiousOwnership) -> Self {
        Self::precondition(refused.to_string(), refused.hint())
    }
}

impl From<WorktreeGone> for CommandError {
    fn from(error: WorktreeGone) -> Self {
        let hint = match &error {
            WorktreeGone::OtherBranch { expected, .. } => {
                format!("`git switch {expected}`, then run it again")
            }
            _ => "end here: nothing that is done now counts, and omo records how the step ended"
                .to_owned(),
        };
        Self::precondition(error.to_string(), hint)
    }
}

impl From<RestoreError> for CommandError {
    fn from(error: RestoreError) -> Self {
        let message = format!("the worktree could not be kept or restored: {error}");
        match error {
            RestoreError::NoWorkTree(_) => Self::precondition(
                message,
                "the plan takes steps back that fail: run it in a git repository",
            ),
            RestoreError::IndexLocked(_) | RestoreError::Lock(_) => {
                Self::busy(message, "nothing was changed; run it again in a moment")
            }
            _ => Self::io(
                message,
                "check the rights in the worktree and the space on the disk, then run it again",
            ),
        }
    }
}

impl From<TaskListError> for CommandError {
    fn from(error: TaskListError) -> Self {
        let message = error.to_string();
        match error {
            TaskListError::NotFound { .. } => Self::not_found(
                message,
                "`omo tasks list` names those that there are; `omo agent tasks create` makes one",
            ),
            TaskListError::NoTask { .. } => Self::not_found(
                message,
                "`omo agent task list` names the tasks of the session",
            ),
            TaskListError::Lock(LockError::Busy(_)) => Self::busy(
                message,
                "try again; if it lasts, a stopped process holds `.lock` in the session's folder",
            ),
            TaskListError::Run(error) => error.into(),
            TaskListError::Folder(FolderError::Refused { .. }) => {
                Self::io(message, "move it away: nothing is read or written there")
            }
            TaskListError::File { .. } => Self::io(
                message,
                "fix the file, or move it away; nothing was changed",
            ),
            TaskListError::Folder(_) | TaskListError::Lock(_) => Self::io(
                message,
                "check the rights of that folder and the space on its disk; nothing was changed",
            ),
        }
    }
}

impl From<JobError> for CommandError {
    fn from(error: JobError) -> Self {
        let message = error.to_string();
        let list = "`omo worker list` names the jobs of this machine";
        match error {
            JobError::Name => Self::usage(message, list),
            JobError::Known(name) => Self::busy(
                message,
                format!("`omo worker cancel {name}` ends it; a new job needs another name"),
            ),
            JobError::Unknown(_) => Self::not_found(message, list),
            JobError::Stays(_) => Self::busy(message, "try again in a moment"),
            JobError::Folder(_) => Self::io(
                message,
                "check the rights of that folder and the space on its disk",
            ),
        }
    }
}

impl From<PendingError> for CommandError {
    fn from(error: PendingError) -> Self {
        match error {
            PendingError::Folder(error) => error.into(),
            PendingError::Lock(error) => StateError::from(error).into(),
            error => Self::io(error.to_string(), "nothing of the plan was run"),
        }
    }
}

impl From<ProjectFileError> for CommandError {
    fn from(error: ProjectFileError) -> Self {
        Self::io(error.to_string(), "check the rights of the project folder")
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn an_error_of_the_system_says_what_was_tried() {
        let failed = |kind: io::ErrorKind| {
            Err::<(), _>(io::Error::from(kind)).context("the answer cannot be read")
        };
        let failure = CommandError::from(failed(io::ErrorKind::TimedOut).unwrap_err());
        assert_eq!(
            (failure.kind, failure.message()),
            (ExitKind::Io, "the answer cannot be read: timed out")
        );
        let gone = CommandError::from(failed(io::ErrorKind::BrokenPipe).unwrap_err());
        assert_eq!(gone.kind, ExitKind::Success);
    }
}
