//! The runtime of every hook: its input, its `HookContext`, and its errors, which are only logged.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use omo_claude::hook_input::HookInput;
use omo_claude::hook_input::stdin;
use omo_claude::hook_output::HookAnswer;
use omo_claude::project_clients::find_ancestor;
use omo_core::log_entry::LogEntry;
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::rest::TurnTime;
use omo_core::session::{EntryProvenance, HookEvent, Session};
use omo_core::stop::TranscriptTail;
use omo_git::git_command::GitCalls;
use omo_process::process_identity::start_mark;
use omo_process::termination;
use omo_process::watchdog;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::state::{
    self, CorruptPolicy, EntryChange, StateError, StateUpdateOptions, sealed_plan_run,
};
use omo_state::transcript::read_turn;
use omo_state::{decision_log, hook_error_log, project_root, seal};

use crate::handler_of;

/// Timeout of a git call, below a hook's own, so that the hook can still tell what is missing.
const LONGEST_GIT: Duration = Duration::from_secs(12);

pub type Handler = fn(&HookContext, &HookInput) -> Result<(), HookError>;

#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error(transparent)]
    Stdin(#[from] stdin::StdinError),
    #[error("the hook's input: {0}")]
    Input(#[from] serde_json::Error),
    #[error(transparent)]
    State(#[from] StateError),
}

#[derive(Debug)]
pub struct HookContext {
    pub env: ProcessEnv,
    pub event: HookEvent,
    pub session_id: Option<SessionId>,
    pub root: Option<PathBuf>,
    pub git_calls: GitCalls,
    pub run_has_begun: Cell<bool>,
    pub turn_time: Cell<TurnTime>,
}

/// Runs the handler of `event`. Always exits with 0: a failed hook must not fail a user's prompt.
pub fn run_hook(event: HookEvent) -> ExitCode {
    // With `panic = "abort"` only this hook runs at a panic: it turns a crash into silence.
    std::panic::set_hook(Box::new(|_| watchdog::exit_hook()));
    termination::outlive_size_limit();
    let env = ProcessEnv::from_process();
    if env.disabled {
        return ExitCode::SUCCESS;
    }
    let mut context = HookContext {
        env,
        event,
        session_id: None,
        root: None,
        git_calls: GitCalls::with_limit(LONGEST_GIT),
        run_has_begun: Cell::new(false),
        turn_time: Cell::default(),
    };
    if let Err(error) = handle(event, &mut context)
        && let Some(root) = &context.root
    {
        hook_error_log::append(root, context.env.now, event.name(), &error);
    }
    ExitCode::SUCCESS
}

fn handle(event: HookEvent, context: &mut HookContext) -> Result<(), HookError> {
    // Set first, so that the log can be found even for unreadable input.
    context.root = project_root::find_root(context.env.project_dir.as_deref(), None);
    let bytes = stdin::read_json()?;
    let input = HookInput::parse(&bytes)?;
    drop(bytes);
    context.root =
        project_root::find_root(context.env.project_dir.as_deref(), input.cwd.as_deref());
    context.session_id = input
        .session_id
        .as_deref()
        .and_then(|id| SessionId::parse(id).ok());
    // A check's own session has no run; an active one means that a check uses the project's
    // settings.
    if context.env.in_check && context.peek_if_active()?.is_none() {
        return Ok(());
    }
    if input.hook_event_name == event.name() {
        handler_of(event)(context, &input)?;
    }
    Ok(())
}

impl HookContext {
    pub(crate) fn own_plan_run<'s>(&self, session: &'s Session) -> Option<&'s PlanRun> {
        sealed_plan_run::authentic_run(
            session,
            self.session_id.as_ref()?,
            self.env.state_home.as_deref(),
        )
    }

    /// The session's entry, read without the lock; `None` without an entry.
    pub(crate) fn peek_session(&self) -> Result<Option<Session>, StateError> {
        let (Some(root), Some(id)) = (&self.root, &self.session_id) else {
            return Ok(None);
        };
        let session = state::peek(root, id)?;
        if session.is_some() {
            watchdog::start();
        }
        Ok(session)
    }

    /// The session's entry if it may have a run. Most hooks end here: no lock, no write, no trace.
    pub fn peek_if_active(&self) -> Result<Option<Session>, StateError> {
        let (Some(root), Some(id)) = (&self.root, &self.session_id) else {
            return Ok(None);
        };
        let session = state::peek_if_active(root, id)?;
        if session.is_some() {
            watchdog::start();
        }
        Ok(session)
    }

    /// [`HookContext::peek_if_active`] for an entry that concerns a Stop.
    pub(crate) fn peek_for_stop(&self) -> Result<Option<Session>, StateError> {
        let (Some(root), Some(id)) = (&self.root, &self.session_id) else {
            return Ok(None);
        };
        let session = state::peek_for_stop(root, id)?;
        if session.is_some() {
            watchdog::start();
        }
        Ok(session)
    }

    pub fn provenance(&self, session: &Session) -> Result<EntryProvenance, StateError> {
        let (Some(root), Some(id)) = (&self.root, &self.session_id) else {
            return Ok(EntryProvenance::Foreign);
        };
        state::provenance(root, id, session, self.env.state_home.as_deref())
    }

    /// `None` without a project or a session id.
    pub fn session_entry(&self) -> Result<Option<SessionEntry<'_>>, StateError> {
        let (Some(root), Some(id)) = (&self.root, &self.session_id) else {
            return Ok(None);
        };
        let folder = GuardedFolder::open_state(root)?;
        Ok(folder.map(|folder| SessionEntry {
            folder,
            id,
            context: self,
        }))
    }

    /// [`HookContext::session_entry`] in a new folder, if needed.
    pub(crate) fn create_session_entry(&self) -> Result<Option<SessionEntry<'_>>, StateError> {
        let (Some(root), Some(id)) = (&self.root, &self.session_id) else {
            return Ok(None);
        };
        watchdog::start();
        Ok(Some(SessionEntry {
            folder: GuardedFolder::create_state(root)?,
            id,
            context: self,
        }))
    }

    pub(crate) fn update_armed(&self, change: impl FnOnce(&mut Session)) -> Result<(), HookError> {
        if self.peek_if_active()?.is_none() {
            return Ok(());
        }
        if let Some(place) = self.session_entry()? {
            place.update_armed(change)?;
        }
        Ok(())
    }

    pub(crate) fn print_at_timeout(&self, answer: HookAnswer) {
        let event = self.event;
        watchdog::on_timeout(move || answer.print(event));
        // The thread, not the timer of the usual work, says something.
        watchdog::reset_limit();
    }

    pub(crate) fn read_turn(
        &self,
        input: &HookInput,
        session: &Session,
    ) -> (TranscriptTail, TurnTime) {
        let path = input.transcript_path.as_deref();
        path.map(|path| read_turn(path, session, self.env.now))
            .unwrap_or_default()
    }

    /// Reads the new part of the transcript; the next change of an active entry counts its time.
    pub(crate) fn read_and_count(&self, input: &HookInput, session: &Session) -> TranscriptTail {
        let (tail, time) = self.read_turn(input, session);
        self.turn_time.set(time);
        tail
    }

    pub(crate) fn log_problem(&self, problem: &dyn std::fmt::Display) {
        if let Some(root) = &self.root {
            hook_error_log::append(root, self.env.now, self.event.name(), problem);
        }
    }
}

/// The folder of the state, and the id of an entry.
#[derive(Debug)]
pub struct SessionEntry<'a> {
    folder: GuardedFolder,
    id: &'a SessionId,
    context: &'a HookContext,
}

impl SessionEntry<'_> {
    pub fn update<T>(
        &self,
        deadline: Duration,
        corrupt: CorruptPolicy,
        change: impl FnOnce(&mut Session) -> (T, EntryChange),
    ) -> Result<(T, StateLock), StateError> {
        let options = StateUpdateOptions {
            deadline,
            corrupt,
            now: self.context.env.now,
            state_home: self.context.env.state_home.as_deref(),
        };
        state::update(&self.folder, self.id, options, |session| {
            let (value, change) = change(session);
            // An entry without decisive data gets no seal.
            if change != EntryChange::Keep && seal::needs_seal(session) {
                note_client(session);
            }
            (value, change)
        })
    }

    /// Changes the entry of an active run, and notes this hook; `None` for an ended run.
    pub(crate) fn update_armed<T>(
        &self,
        change: impl FnOnce(&mut Session) -> T,
    ) -> Result<Option<(T, StateLock)>, StateError> {
        let (value, lock) = self.update(DEADLINE, CorruptPolicy::Refuse, |session| {
            if !session.is_armed() {
                return (None, EntryChange::Keep);
            }
            session
                .last_seen
                .note(self.context.event, self.context.env.now);
            session.count_turn(self.context.turn_time.take());
            // A prompt of any source begins a turn.
            if self.context.event == HookEvent::UserPromptSubmit {
                session.end_rest(self.context.env.now);
            }
            (Some(change(session)), EntryChange::Write)
        })?;
        Ok(value.map(|value| (value, lock)))
    }

    /// Appends to the decision log under the lock; a failure delays nothing.
    pub fn log(&self, _lock: &StateLock, entry: &LogEntry) {
        if let Err(error) = decision_log::append(&self.folder, entry) {
            self.context.log_problem(&error);
        }
    }

    pub fn id(&self) -> &SessionId {
        self.id
    }

    pub fn folder(&self) -> &GuardedFolder {
        &self.folder
    }
}

fn note_client(session: &mut Session) {
    let Some(pid) = env::client_pid() else { return };
    let is_noted = session
        .clients
        .iter()
        .any(|client| client.pid == pid && start_mark(pid).as_ref() == Some(&client.start_mark));
    if !is_noted && let Some(client) = find_ancestor(pid) {
        session.note_client(client);
    }
}
