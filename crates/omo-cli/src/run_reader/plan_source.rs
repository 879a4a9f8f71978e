//! `PlanRunSource`: a plan run to watch, read from its ledger and its workers' files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_engine::Run;
use omo_engine::event::RunEvent;
use omo_engine::parallel::refresh_kept_work;
use omo_engine::report::task_differences::task_differences;
use omo_engine::report::ultraplan::worker_lines::worker_event_line;
use omo_engine::state::{FINAL_CHECKS_ID, RunPhase, RunState};
use omo_engine::view::timeline::plan_lanes;
use omo_engine::view::{FoundFacts, RunFacts, run_view, update_times};
use omo_git::repository::GitRepository;
use omo_plan::dialects::PlanKind;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state;
use omo_view::run_view::{CheckState, CheckView, RunView};

use crate::blocks;
use crate::error::CommandError;
use crate::local_time::LocalClock;
use crate::output::print_warning;
use crate::page_file::plan_page_name;
use crate::plan_run_view::{ended_workers, plan_run_view};
use crate::run_reader::{RunSource, last_printed_line};

const LOGS: &str = "logs";

pub(crate) struct PlanRunSource {
    pub run: Run,
    pub state: RunState,
    pub(super) events: Vec<RunEvent>,
    pub(super) running_checks: Vec<(String, CheckView)>,
    pub(super) holder: Option<Session>,
}

impl RunSource for PlanRunSource {
    fn id(&self) -> &str {
        self.run.id()
    }

    fn plan(&self) -> Option<&PlanRunSource> {
        Some(self)
    }

    fn is_open(&self) -> bool {
        self.state.phase == RunPhase::Executing
    }

    fn is_abandoned(&self) -> bool {
        if !self.is_open() || self.state.open_question().is_some() {
            return false;
        }
        if self.state.parallel.is_some() {
            return self
                .run
                .is_supervised()
                .is_ok_and(|is_supervised| !is_supervised);
        }
        let ended_workers = ended_workers(&self.run, &self.state);
        !ended_workers.is_empty() && ended_workers.len() == self.state.running_attempts().count()
    }

    fn files(&self, is_live: bool) -> Vec<PathBuf> {
        let mut files = vec![self.run.ledger_path()];
        if is_live {
            let sessions = GuardedFolder::open_state(Path::new(&self.state.root))
                .ok()
                .flatten();
            files.extend(sessions.map(|folder| folder.path().join(state::FILE)));
            files.extend(
                self.possible_logs()
                    .map(|(name, ..)| self.run.folder().join(LOGS).join(name)),
            );
        }
        files
    }

    fn read(
        &mut self,
        _env: &ProcessEnv,
        is_new_state: bool,
        is_live: bool,
    ) -> Result<(), CommandError> {
        if is_new_state {
            (self.state, self.events) = (self.run.state()?, self.run.events()?);
        }
        if is_live {
            self.running_checks = self.read_running_checks();
            self.holder = self.read_holder();
        }
        Ok(())
    }

    fn view(&self, env: &ProcessEnv) -> RunView {
        run_view(&self.facts(env))
    }

    fn update_times(&self, view: &mut RunView, env: &ProcessEnv) {
        update_times(view, &self.facts(env));
    }

    fn page(&self, env: &ProcessEnv) -> RunView {
        let (run, events, mut state) = (&self.run, &self.events, self.state.clone());
        let clock = LocalClock::from_process(env.now);
        let mut differences = BTreeMap::new();
        if let Some(repository) = GitRepository::find(Path::new(&state.root)) {
            refresh_kept_work(run.id(), &repository, &mut state);
            let home = env.state_home.as_deref();
            let found =
                home.map(|home| task_differences(run.id(), &repository, home, &state, events));
            match found.transpose() {
                Ok(found) => differences = found.unwrap_or_default(),
                Err(error) => print_warning(&format!("the page shows no differences: {error}")),
            }
        }
        let mut view = plan_run_view(env, run, &state, events, differences, &|at| {
            clock.date_and_time(at)
        });
        view.timeline.lanes = plan_lanes(&state, events, &view.tasks);
        if view.is_open() {
            view.as_of = clock.time_of_day(env.now);
        }
        view
    }

    fn page_name(&self) -> String {
        plan_page_name(self.id())
    }

    fn lines_since(&self, told: usize) -> (Vec<String>, usize) {
        let (lines, count) = self.worker_lines_since(told);
        match self.state.plan.dialect.kind() {
            PlanKind::Steps => (lines, count),
            // Events have the words of steps.
            PlanKind::Tasks | PlanKind::TaskList => (
                lines
                    .iter()
                    .map(|line| line.replace("Step ", "Task "))
                    .collect(),
                count,
            ),
        }
    }

    fn end_text(&self, _env: &ProcessEnv) -> Option<String> {
        (!self.is_open()).then(|| blocks::user_part(&blocks::end_block(&self.state)).to_owned())
    }
}

impl PlanRunSource {
    fn facts(&self, env: &ProcessEnv) -> RunFacts<'_> {
        let found = FoundFacts {
            running_checks: self.running_checks.clone(),
            session: self.holder.clone(),
            client_block_cap: env.client_block_cap,
            is_abandoned: self.is_abandoned(),
            ..FoundFacts::default()
        };
        RunFacts {
            events: &self.events,
            now: env.now,
            found,
            ..RunFacts::of_state(self.id(), &self.state)
        }
    }

    /// A line for each event after the first `told`, in the words of steps, and the number of events.
    pub(crate) fn worker_lines_since(&self, told: usize) -> (Vec<String>, usize) {
        let new = self.events.iter().skip(told);
        (
            new.filter_map(|event| worker_event_line(&self.state, &event.kind))
                .collect(),
            self.events.len(),
        )
    }

    fn possible_logs(&self) -> impl Iterator<Item = (String, &str, &str)> {
        let state = &self.state;
        let of_tasks = state.plan.tasks.iter().flat_map(move |task| {
            let begun = state
                .tasks
                .get(&task.id)
                .filter(|begun| begun.running.is_some());
            begun.into_iter().flat_map(move |begun| {
                task.proving_checks()
                    .enumerate()
                    .map(move |(place, check)| {
                        let name = format!("{}-{}-{}.log", task.id, begun.attempts, place + 1);
                        (name, task.id.as_str(), check.command.as_str())
                    })
            })
        });
        let is_open = state.phase == RunPhase::Executing && state.final_checks.is_empty();
        let all_ended = state.tasks.values().all(|known| known.status.is_ended());
        let whole = state
            .plan
            .final_checks
            .iter()
            .enumerate()
            .filter(move |_| is_open && all_ended);
        of_tasks.chain(whole.map(|(place, check)| {
            (
                format!("{FINAL_CHECKS_ID}-0-{}.log", place + 1),
                "",
                check.command.as_str(),
            )
        }))
    }

    fn read_running_checks(&self) -> Vec<(String, CheckView)> {
        let Ok(Some(logs)) = GuardedFolder::open_below(self.run.folder(), &[LOGS]) else {
            return Vec::new();
        };
        let mut running: Vec<(String, CheckView)> = Vec::new();
        for (name, task, command) in self.possible_logs() {
            let Some(last_line) = last_printed_line(&logs, &name) else {
                continue;
            };
            running.retain(|(known, _)| known != task);
            let (command, output) = (command.to_owned(), vec![last_line]);
            let check = CheckView {
                command,
                state: CheckState::Running,
                output,
                ..CheckView::default()
            };
            running.push((task.to_owned(), check));
        }
        running
    }

    fn read_holder(&self) -> Option<Session> {
        let id = SessionId::parse(self.state.holder.session.as_ref()?).ok()?;
        state::peek(Path::new(&self.state.root), &id).ok()?
    }
}
