//! `UltraworkSource`: an ultrawork run to watch, read from its session, log and kept texts.

use std::path::PathBuf;

use omo_core::check::counterfactual::Counterfactual;
use omo_core::log_entry::LogEntry;
use omo_core::messages::run_end::run_ended;
use omo_core::session::claim_state::VerificationPhase;
use omo_core::stop::allowed_blocks;
use omo_git::difference::{FileVersions, changes_of_run};
use omo_git::git_command::GitCalls;
use omo_state::decision_log::{self, DecisionLogReader};
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, StateError};
use omo_view::run_view::RunView;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::kept_texts::KeptTexts;
use crate::last_run::{LastRun, changed_files, has_live_client};
use crate::local_time::LocalClock;
use crate::page_file::ultrawork_page_name;
use crate::project::Project;
use crate::run_reader::{RunSource, counterfactual_of, last_printed_line};
use crate::ultrawork_view::{UltraworkFacts, ultrawork_view};

pub(super) struct UltraworkSource {
    run: LastRun,
    project: Project,
    log: DecisionLogReader,
    decisions: Vec<LogEntry>,
    kept: KeptTexts,
    running_check: Option<(String, String)>,
}

impl RunSource for UltraworkSource {
    fn id(&self) -> &str {
        self.run.id.as_str()
    }

    fn is_open(&self) -> bool {
        self.run.session.verdict.is_none()
    }

    fn is_abandoned(&self) -> bool {
        let session = &self.run.session;
        self.is_open() && !session.clients.is_empty() && !has_live_client(session)
    }

    fn files(&self, is_live: bool) -> Vec<PathBuf> {
        let Some(folder) = &self.project.folder else {
            return Vec::new();
        };
        let logs = self
            .run
            .session
            .checks
            .iter()
            .filter(|_| is_live)
            .map(|check| log_name(&check.name));
        let names = [state::FILE, decision_log::FILE]
            .map(str::to_owned)
            .into_iter()
            .chain(logs);
        names.map(|name| folder.path().join(name)).collect()
    }

    fn read(
        &mut self,
        env: &ProcessEnv,
        is_new_state: bool,
        is_live: bool,
    ) -> Result<(), CommandError> {
        if is_new_state {
            self.read_session(env)?;
        }
        let (folder, LastRun { id, session }) = (self.project.folder.as_ref(), &self.run);
        if let Some(folder) = folder {
            let new_lines = self.log.read_on(folder).map_err(StateError::from)?;
            self.decisions.extend(
                new_lines
                    .entries()
                    .filter(|entry| entry.session == id.as_str()),
            );
        }
        self.kept = KeptTexts::read(
            env.state_home.as_deref(),
            folder,
            id,
            session,
            self.decisions.clone(),
        );
        self.running_check = folder
            .filter(|_| is_live)
            .and_then(|folder| self.read_running_check(folder));
        Ok(())
    }

    fn view(&self, env: &ProcessEnv) -> RunView {
        ultrawork_view(&self.facts(env))
    }

    fn page(&self, env: &ProcessEnv) -> RunView {
        let (LastRun { id, session }, root) = (&self.run, &self.project.root);
        let (clock, home) = (LocalClock::from_process(env.now), env.state_home.as_deref());
        // The files of an unproved run are the present ones.
        let difference = self.kept.difference.clone().unwrap_or_else(|| {
            let mut whole = FileVersions::unwritten();
            changes_of_run(root, home, &GitCalls::default(), id, session, &mut whole).and_then(
                |changes| {
                    changes
                        .difference
                        .ok_or_else(|| "git knows nothing of these files".to_owned())
                },
            )
        });
        let mut view = ultrawork_view(&UltraworkFacts {
            difference: Some(difference),
            counterfactual: counterfactual_of(env, id, session),
            running_check: None,
            clock: &|at| clock.date_and_time(at),
            ..self.facts(env)
        });
        if session.verdict.is_none() {
            view.as_of = clock.time_of_day(env.now);
        }
        view.facts.extend(
            changed_files(env, &self.project, id, session).map(|changed| ("since then", changed)),
        );
        view
    }

    fn page_name(&self) -> String {
        ultrawork_page_name(&self.run)
    }

    fn lines_since(&self, told: usize) -> (Vec<String>, usize) {
        let new = self.decisions.iter().skip(told);
        let lines = new.map(|entry| format!("{}: {}, {}", entry.event, entry.decision, entry.why));
        (lines.collect(), self.decisions.len())
    }

    fn end_text(&self, env: &ProcessEnv) -> Option<String> {
        let session = &self.run.session;
        let text = run_ended(session, allowed_blocks(session, env.client_block_cap))?;
        Some(self.kept.with_faults(&text))
    }
}

impl UltraworkSource {
    pub(super) fn new((run, project): (LastRun, Project)) -> Self {
        let (log, kept) = (DecisionLogReader::default(), KeptTexts::default());
        Self {
            run,
            project,
            log,
            decisions: Vec::new(),
            kept,
            running_check: None,
        }
    }

    fn read_session(&mut self, env: &ProcessEnv) -> Result<(), CommandError> {
        let id = &self.run.id;
        let project = Project::open(self.project.root.clone(), Some(id.clone()))?;
        match self.run.read_again(env, &project) {
            Ok(run) => (self.run, self.project) = (run, project),
            // The end is known.
            Err(error) if error.kind == ExitKind::NotFound && !self.is_open() => {}
            Err(error) if error.kind == ExitKind::NotFound => {
                let message =
                    format!("the state of session {id} is gone: nothing holds it any more");
                return Err(CommandError::not_found(
                    message,
                    "type `ulw <task>` in the session to turn omo on again",
                ));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn facts(&self, env: &ProcessEnv) -> UltraworkFacts<'_> {
        UltraworkFacts {
            id: self.id(),
            session: &self.run.session,
            kept: &self.kept,
            difference: None,
            counterfactual: Counterfactual::NotAsked,
            client_block_cap: env.client_block_cap,
            running_check: self.running_check.as_ref(),
            is_client_gone: self.is_abandoned(),
            clock: &|at| at.to_string(),
            now: env.now,
        }
    }

    /// The running check and its last line: the one with the newest file since the checks began.
    fn read_running_check(&self, folder: &GuardedFolder) -> Option<(String, String)> {
        let session = &self.run.session;
        let since = session.updated_at?.as_millis() / 1_000;
        if session.verification.phase != VerificationPhase::Checks || session.verdict.is_some() {
            return None;
        }
        let written = session.checks.iter().filter_map(|check| {
            let at = folder
                .written_at(&log_name(&check.name))
                .filter(|at| *at >= since)?;
            Some((at, check.name.clone()))
        });
        let (_, name) = written.max_by_key(|(at, _)| *at)?;
        let line = last_printed_line(folder, &log_name(&name)).unwrap_or_default();
        Some((name, line))
    }
}

fn log_name(check: &str) -> String {
    format!("check-{check}.log")
}
