//! A run of a plan that is watched: what its files say, read again only once they have changed. Nothing is written.

use std::path::{Path, PathBuf};

use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_engine::event::RunEvent;
use omo_engine::state::{FINAL_CHECKS_ID, RunPhase, RunState};
use omo_engine::view::{FoundFacts, RunFacts, run_view, update_times};
use omo_engine::work::is_alive;
use omo_plan::dialects::PlanKind;
use omo_state::files::folder::GuardedFolder;
use omo_state::state;
use omo_view::run_view::{CheckState, CheckView, RunView};

use crate::error::CommandError;
use crate::file_stamp::FileStamp;
use crate::watch::last_printed_line;

/// What omo calls the folder of what a run's checks printed.
const LOGS: &str = "logs";

/// A run of a plan that is watched.
pub(crate) struct PlanSource {
    run: Run,
    state: RunState,
    events: Vec<RunEvent>,
    running_checks: Vec<(String, CheckView)>,
    holder: Option<Session>,
    is_abandoned: bool,
    client_block_cap: Option<u32>,
    stamp: Stamp,
}

/// What tells whether anything has changed: the ledger, what each check that may run has printed, and the entry of the
/// session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stamp {
    ledger: Option<FileStamp>,
    logs: Vec<(String, FileStamp)>,
    sessions: Option<FileStamp>,
}

impl PlanSource {
    /// Reads a run.
    pub(crate) fn read(run: Run, client_block_cap: Option<u32>) -> Result<Self, CommandError> {
        let (state, events) = (run.state()?, run.events()?);
        let mut source = Self {
            run,
            state,
            events,
            running_checks: Vec::new(),
            holder: None,
            is_abandoned: false,
            client_block_cap,
            stamp: Stamp::default(),
        };
        source.refresh()?;
        Ok(source)
    }

    /// The run.
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Where it stands.
    pub(crate) fn state(&self) -> &RunState {
        &self.state
    }

    /// Reads what has changed since the last time; whether anything has.
    pub(crate) fn refresh(&mut self) -> Result<bool, CommandError> {
        let stamp = self.stamp();
        let mut has_changed = stamp != self.stamp;
        if has_changed {
            if stamp.ledger != self.stamp.ledger {
                (self.state, self.events) = (self.run.state()?, self.run.events()?);
            }
            self.running_checks = self.read_running_checks();
            self.holder = self.read_holder();
            self.stamp = stamp;
        }
        let is_abandoned = self.find_abandoned();
        has_changed |= is_abandoned != self.is_abandoned;
        self.is_abandoned = is_abandoned;
        Ok(has_changed)
    }

    /// What is shown of it.
    pub(crate) fn view(&self, now: Timestamp) -> RunView {
        run_view(&self.facts(now))
    }

    /// Shows what gets older by itself as it is now.
    pub(crate) fn update_times(&self, view: &mut RunView, now: Timestamp) {
        update_times(view, &self.facts(now));
    }

    fn facts(&self, now: Timestamp) -> RunFacts<'_> {
        let found = FoundFacts {
            running_checks: self.running_checks.clone(),
            session: self.holder.clone(),
            client_block_cap: self.client_block_cap,
            is_abandoned: self.is_abandoned,
            ..FoundFacts::default()
        };
        RunFacts { events: &self.events, now, found, ..RunFacts::of_state(self.run.id(), &self.state) }
    }

    /// What happened after an event of that number, a line each.
    pub(crate) fn lines_since(&self, seq: u64) -> Vec<String> {
        let new = self.events.iter().filter(|event| event.seq > seq);
        let line =
            |event: &RunEvent| omo_engine::report::ultraplan::worker_lines::worker_event_line(&self.state, &event.kind);
        let lines = new.filter_map(line);
        match self.state.plan.dialect.kind() {
            PlanKind::Steps => lines.collect(),
            // The words for an event are those of steps.
            PlanKind::Tasks | PlanKind::TaskList => lines.map(|line| line.replace("Step ", "Task ")).collect(),
        }
    }

    fn stamp(&self) -> Stamp {
        let logs_path = self.logs_path();
        let log = |(name, ..): (String, _, _)| FileStamp::of(&logs_path.join(&name)).map(|stamp| (name, stamp));
        let sessions = GuardedFolder::open_state(Path::new(&self.state.root)).ok().flatten();
        Stamp {
            ledger: FileStamp::of(&self.run.ledger_path()),
            logs: self.possible_logs().filter_map(log).collect(),
            sessions: sessions.and_then(|folder| FileStamp::of(&folder.path().join(state::FILE))),
        }
    }

    fn logs_path(&self) -> PathBuf {
        self.run.folder().join(LOGS)
    }

    /// The files that checks which may run now print into, each with its task and its command.
    fn possible_logs(&self) -> impl Iterator<Item = (String, &str, &str)> {
        let state = &self.state;
        let of_tasks = state.plan.tasks.iter().flat_map(move |task| {
            let known = state.tasks.get(&task.id).filter(|known| known.running.is_some());
            known.into_iter().flat_map(move |known| {
                task.proving_checks().enumerate().map(move |(place, check)| {
                    let name = format!("{}-{}-{}.log", task.id, known.attempts, place + 1);
                    (name, task.id.as_str(), check.command.as_str())
                })
            })
        });
        let is_open = state.phase == RunPhase::Executing && state.final_checks.is_empty();
        let all_ended = state.tasks.values().all(|known| known.status.is_ended());
        let whole = state.plan.final_checks.iter().enumerate().filter(move |_| is_open && all_ended);
        of_tasks.chain(
            whole.map(|(place, check)| (format!("{FINAL_CHECKS_ID}-0-{}.log", place + 1), "", check.command.as_str())),
        )
    }

    /// Of each task the check that runs: the last one of which a file is there.
    fn read_running_checks(&self) -> Vec<(String, CheckView)> {
        let Ok(Some(logs)) = GuardedFolder::open_below(self.run.folder(), &[LOGS]) else { return Vec::new() };
        let mut running: Vec<(String, CheckView)> = Vec::new();
        for (name, task, command) in self.possible_logs() {
            let Some(last_line) = last_printed_line(&logs, &name) else { continue };
            running.retain(|(known, _)| known != task);
            let (command, output) = (command.to_owned(), vec![last_line]);
            let check = CheckView { command, state: CheckState::Running, output, ..CheckView::default() };
            running.push((task.to_owned(), check));
        }
        running
    }

    fn read_holder(&self) -> Option<Session> {
        let id = SessionId::parse(self.state.holder.session.as_ref()?).ok()?;
        state::peek(Path::new(&self.state.root), &id).ok()?
    }

    /// Whether what should be at work is gone.
    fn find_abandoned(&self) -> bool {
        if self.state.phase != RunPhase::Executing || self.state.open_question().is_some() {
            return false;
        }
        if self.state.parallel.is_some() {
            return self.run.is_supervised().is_ok_and(|is_supervised| !is_supervised);
        }
        let mut running = self.state.tasks.values().filter_map(|known| known.running.as_ref()).peekable();
        running.peek().is_some() && running.all(|at| at.by.process.as_ref().and_then(is_alive) == Some(false))
    }
}
