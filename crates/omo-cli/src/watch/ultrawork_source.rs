//! An ultrawork run that is watched: what its files say, read again only once they have changed. Nothing is written.

use std::path::PathBuf;

use omo_core::check::counterfactual::Counterfactual;
use omo_core::log_entry::LogEntry;
use omo_core::messages::run_end::run_ended;
use omo_core::session::claim_state::VerificationPhase;
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session};
use omo_core::stop::allowed_blocks;
use omo_core::timestamp::Timestamp;
use omo_state::decision_log::{self, DecisionLogReader};
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, StateError};
use omo_view::run_view::RunView;

use crate::error::CommandError;
use crate::file_stamp::FileStamp;
use crate::kept_texts::KeptTexts;
use crate::last_run::LastRun;
use crate::project::Project;
use crate::ultrawork_view::{UltraworkFacts, ultrawork_view};
use crate::watch::last_printed_line;

/// An ultrawork run that is watched.
pub(crate) struct UltraworkSource {
    root: PathBuf,
    id: SessionId,
    session: Session,
    folder: Option<GuardedFolder>,
    log: DecisionLogReader,
    decisions: Vec<LogEntry>,
    /// What of that, and of the rest, is shown.
    kept: KeptTexts,
    running_check: Option<(String, String)>,
    state_home: Option<PathBuf>,
    client_block_cap: Option<u32>,
    stamp: Stamp,
}

/// What tells whether anything has changed.
type Stamp = Vec<Option<FileStamp>>;

impl UltraworkSource {
    /// Reads a run.
    pub(crate) fn read(
        run: LastRun,
        project: Project,
        state_home: Option<PathBuf>,
        client_block_cap: Option<u32>,
    ) -> Result<Self, CommandError> {
        let mut source = Self {
            root: project.root,
            id: run.id,
            session: run.session,
            folder: project.folder,
            log: DecisionLogReader::default(),
            decisions: Vec::new(),
            kept: KeptTexts::default(),
            running_check: None,
            state_home,
            client_block_cap,
            stamp: Stamp::new(),
        };
        source.read_on()?;
        source.stamp = source.stamp();
        Ok(source)
    }

    /// Its session.
    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Reads what has changed since the last time; whether anything has.
    pub(crate) fn refresh(&mut self) -> Result<bool, CommandError> {
        let stamp = self.stamp();
        if stamp == self.stamp {
            return Ok(false);
        }
        match state::peek(&self.root, &self.id)? {
            Some(session) => {
                let provenance = state::provenance(&self.root, &self.id, &session, self.state_home.as_deref());
                let now = omo_state::env::now();
                self.session = session.as_believed(provenance.unwrap_or(EntryProvenance::Foreign), now);
            }
            None if self.session.verdict.is_none() => {
                let message = format!("the state of session {} is gone: nothing holds it any more", self.id);
                return Err(CommandError::not_found(message, "type `ulw <task>` in the session to turn omo on again"));
            }
            // How it ended is known.
            None => {}
        }
        self.read_on()?;
        self.stamp = stamp;
        Ok(true)
    }

    /// What is shown of it.
    pub(crate) fn view(&self, now: Timestamp) -> RunView {
        ultrawork_view(&UltraworkFacts {
            id: self.id.as_str(),
            session: &self.session,
            kept: &self.kept,
            difference: None,
            counterfactual: Counterfactual::NotAsked,
            client_block_cap: self.client_block_cap,
            running_check: self.running_check.as_ref(),
            clock: &|at| at.to_string(),
            now,
        })
    }

    /// What was decided after the first so many decisions, a line each; and how many there are now.
    pub(crate) fn lines_since(&self, count: usize) -> (Vec<String>, usize) {
        let line = |entry: &LogEntry| format!("{}: {}, {}", entry.event, entry.decision, entry.why);
        (self.decisions.iter().skip(count).map(line).collect(), self.decisions.len())
    }

    /// How it ended, as its user is told; `None` while it is on.
    pub(crate) fn end_text(&self) -> Option<String> {
        let text = run_ended(&self.session, allowed_blocks(&self.session, self.client_block_cap))?;
        Some(self.kept.with_faults(&text))
    }

    fn read_on(&mut self) -> Result<(), CommandError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let own = self.log.read_on(folder).map_err(StateError::from)?;
        self.decisions.extend(own.entries().filter(|entry| entry.session == self.id.as_str()));
        let home = self.state_home.as_deref();
        self.kept = KeptTexts::read(home, Some(folder), &self.id, &self.session, self.decisions.clone());
        self.running_check = self.read_running_check(folder);
        Ok(())
    }

    /// The check that runs, and the last line that it has printed: that one whose file was written last, since the run
    /// has said that its checks run.
    fn read_running_check(&self, folder: &GuardedFolder) -> Option<(String, String)> {
        let since = self.session.updated_at?.as_millis() / 1_000;
        if self.session.verification.phase != VerificationPhase::Checks || self.session.verdict.is_some() {
            return None;
        }
        let written = self.session.checks.iter().filter_map(|check| {
            let at = folder.written_at(&log_name(&check.name)).filter(|at| *at >= since)?;
            Some((at, check.name.clone()))
        });
        let (_, name) = written.max_by_key(|(at, _)| *at)?;
        let line = last_printed_line(folder, &log_name(&name)).unwrap_or_default();
        Some((name, line))
    }

    fn stamp(&self) -> Stamp {
        let Some(folder) = &self.folder else { return Stamp::new() };
        let logs = self.session.checks.iter().map(|check| log_name(&check.name));
        let names = [state::FILE.to_owned(), decision_log::FILE.to_owned()].into_iter().chain(logs);
        names.map(|name| FileStamp::of(&folder.path().join(name))).collect()
    }
}

/// The file that a check prints into.
fn log_name(check: &str) -> String {
    format!("check-{check}.log")
}
