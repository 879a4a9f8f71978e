//! A run that is looked at, of a plan or of ultrawork: read anew once its files have changed, and never changed.

pub(crate) mod find_run;
pub(crate) mod plan_source;
mod ultrawork_source;

use std::path::PathBuf;

use omo_checks::claim_proof::known_counterfactual;
use omo_core::check::counterfactual::Counterfactual;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_engine::Run;
use omo_engine::state::RunState;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::folder::GuardedFolder;
use omo_view::run_view::RunView;
use omo_view::screen::line::harmless_text;

use crate::error::CommandError;
use crate::file_stamp::FileStamp;
use crate::last_run::LastRun;
use crate::page_file::PageFile;
use crate::project::Project;
use crate::run_reader::plan_source::PlanSource;
use crate::run_reader::ultrawork_source::UltraworkSource;

/// Bytes of a check's output that are read for its last line.
const TAIL_BYTES: u64 = 4 * 1024;

/// A run as its files have it.
pub(crate) trait RunSource {
    /// Id of the run of a plan, or of the session of an ultrawork run.
    fn id(&self) -> &str;

    /// The run of a plan, where it is one.
    fn plan(&self) -> Option<&PlanSource> {
        None
    }

    /// `true` until the run has ended.
    fn is_open(&self) -> bool;

    /// `true` where nothing is at work that should be.
    fn is_abandoned(&self) -> bool {
        false
    }

    /// The files that change with it, that of its state first; with `is_live` those of what runs now, too.
    fn files(&self, is_live: bool) -> Vec<PathBuf>;

    /// Reads the files, and the state where that is new.
    fn read(&mut self, env: &ProcessEnv, is_new_state: bool, is_live: bool) -> Result<(), CommandError>;

    /// The view of a screen.
    fn view(&self, env: &ProcessEnv) -> RunView;

    /// Has what gets older by itself as it is now.
    fn update_times(&self, view: &mut RunView, env: &ProcessEnv) {
        *view = self.view(env);
    }

    /// The view of a page.
    fn page(&self, env: &ProcessEnv) -> RunView;

    /// The name of its page: the same one for the same run.
    fn page_name(&self) -> String;

    /// A line for each event after the first `told`, and the number of events.
    fn lines_since(&self, told: usize) -> (Vec<String>, usize);

    /// The end of the run as its user is told; `None` while it goes on.
    fn end_text(&self, env: &ProcessEnv) -> Option<String>;
}

/// A run that is looked at.
pub(crate) struct RunReader<'a> {
    /// The run as it was read last.
    pub source: Box<dyn RunSource>,
    env: &'a ProcessEnv,
    stamp: Option<RunStamp>,
}

/// A run as it was read last: while this stays the same, nothing has happened in it.
#[derive(PartialEq, Eq)]
struct RunStamp {
    files: Vec<Option<FileStamp>>,
    is_abandoned: bool,
}

impl<'a> RunReader<'a> {
    /// A run of a plan.
    pub(crate) fn of_plan((run, state): (Run, RunState), env: &'a ProcessEnv) -> Self {
        let source = PlanSource { run, state, events: Vec::new(), running_checks: Vec::new(), holder: None };
        Self { source: Box::new(source), env, stamp: None }
    }

    /// An ultrawork run.
    pub(crate) fn of_ultrawork(found: (LastRun, Project), env: &'a ProcessEnv) -> Self {
        Self { source: Box::new(UltraworkSource::new(found)), env, stamp: None }
    }

    /// Reads what has changed since the last time; `true` where anything has.
    pub(crate) fn refresh(&mut self, is_live: bool) -> Result<bool, CommandError> {
        let files = self.source.files(is_live).iter().map(|file| FileStamp::of(file)).collect();
        let stamp = RunStamp { files, is_abandoned: is_live && self.source.is_abandoned() };
        if self.stamp.as_ref() == Some(&stamp) {
            return Ok(false);
        }
        let is_new_state = self.stamp.as_ref().map(|known| known.files.first()) != Some(stamp.files.first());
        self.source.read(&now_in(self.env), is_new_state, is_live)?;
        self.stamp = Some(stamp);
        Ok(true)
    }

    /// Shows in `view` what has changed, and the times that go on.
    pub(crate) fn update_view(&self, view: &mut RunView, has_changed: bool) {
        let env = &now_in(self.env);
        if has_changed {
            *view = self.source.view(env);
        } else {
            self.source.update_times(view, env);
        }
    }

    /// The view of a page at this moment.
    pub(crate) fn page(&self) -> RunView {
        self.source.page(&now_in(self.env))
    }

    /// Writes its page among omo's own files; gives the path.
    pub(crate) fn keep_page(&self) -> Result<PathBuf, CommandError> {
        let env = &now_in(self.env);
        PageFile { env, named: None, name: self.source.page_name() }.write_run(&self.source.page(env), false)
    }

    /// The end of the run as its user is told; `None` while it goes on.
    pub(crate) fn end_text(&self) -> Option<String> {
        self.source.end_text(self.env)
    }
}

/// Answers of the checks of a run without its change, as far as they are known.
pub(crate) fn counterfactual_of(env: &ProcessEnv, id: &SessionId, session: &Session) -> Counterfactual {
    env.state_home.as_deref().map_or(Counterfactual::NotAsked, |home| known_counterfactual(home, id, session))
}

/// The environment with the time of now.
pub(crate) fn now_in(env: &ProcessEnv) -> ProcessEnv {
    ProcessEnv { now: env::now(), ..env.clone() }
}

/// The last line that a check has printed and that says something, made harmless; `None` where there is no such file.
fn last_printed_line(folder: &GuardedFolder, name: &str) -> Option<String> {
    let bytes = folder.read_end(name, TAIL_BYTES).ok()??;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // A progress bar is written over by itself.
    let mut lines = text.split(['\n', '\r']).rev().map(harmless_text);
    Some(lines.find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or_default())
}
