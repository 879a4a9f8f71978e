//! `RunReader`: a watched run of a plan or of ultrawork, read again when its files change, and never changed.

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
use crate::file_size_and_time::FileSizeAndTime;
use crate::last_run::LastRun;
use crate::page_file::PageFile;
use crate::project::Project;
use crate::run_reader::plan_source::PlanRunSource;
use crate::run_reader::ultrawork_source::UltraworkSource;

const TAIL_BYTES: u64 = 4 * 1024;

pub(crate) trait RunSource {
    /// Id of a plan run, or of the session of an ultrawork run.
    fn id(&self) -> &str;

    fn plan(&self) -> Option<&PlanRunSource> {
        None
    }

    fn is_open(&self) -> bool;

    /// `true` where nothing is at work that should be.
    fn is_abandoned(&self) -> bool {
        false
    }

    /// Files that change with the run, its state first; with `is_live` those of running checks, too.
    fn files(&self, is_live: bool) -> Vec<PathBuf>;

    fn read(
        &mut self,
        env: &ProcessEnv,
        is_new_state: bool,
        is_live: bool,
    ) -> Result<(), CommandError>;

    fn view(&self, env: &ProcessEnv) -> RunView;

    fn update_times(&self, view: &mut RunView, env: &ProcessEnv) {
        *view = self.view(env);
    }

    fn page(&self, env: &ProcessEnv) -> RunView;

    fn page_name(&self) -> String;

    /// A line for each event after the first `told`, and the number of events.
    fn lines_since(&self, told: usize) -> (Vec<String>, usize);

    fn end_text(&self, env: &ProcessEnv) -> Option<String>;
}

pub(crate) struct RunReader<'a> {
    pub source: Box<dyn RunSource>,
    env: &'a ProcessEnv,
    stamp: Option<RunStamp>,
}

/// Fingerprint of the last read; equal while nothing has happened.
#[derive(PartialEq, Eq)]
struct RunStamp {
    files: Vec<Option<FileSizeAndTime>>,
    is_abandoned: bool,
}

impl<'a> RunReader<'a> {
    pub(crate) fn of_plan((run, state): (Run, RunState), env: &'a ProcessEnv) -> Self {
        let source = PlanRunSource {
            run,
            state,
            events: Vec::new(),
            running_checks: Vec::new(),
            holder: None,
        };
        Self {
            source: Box::new(source),
            env,
            stamp: None,
        }
    }

    pub(crate) fn of_ultrawork(found: (LastRun, Project), env: &'a ProcessEnv) -> Self {
        Self {
            source: Box::new(UltraworkSource::new(found)),
            env,
            stamp: None,
        }
    }

    /// Reads changes since the last call; `true` if there were any.
    pub(crate) fn refresh(&mut self, is_live: bool) -> Result<bool, CommandError> {
        let files = self
            .source
            .files(is_live)
            .iter()
            .map(|file| FileSizeAndTime::of(file))
            .collect();
        let stamp = RunStamp {
            files,
            is_abandoned: is_live && self.source.is_abandoned(),
        };
        if self.stamp.as_ref() == Some(&stamp) {
            return Ok(false);
        }
        let is_new_state =
            self.stamp.as_ref().map(|known| known.files.first()) != Some(stamp.files.first());
        self.source.read(&now_in(self.env), is_new_state, is_live)?;
        self.stamp = Some(stamp);
        Ok(true)
    }

    pub(crate) fn update_view(&self, view: &mut RunView, has_changed: bool) {
        let env = &now_in(self.env);
        if has_changed {
            *view = self.source.view(env);
        } else {
            self.source.update_times(view, env);
        }
    }

    pub(crate) fn page(&self) -> RunView {
        self.source.page(&now_in(self.env))
    }

    pub(crate) fn keep_page(&self) -> Result<PathBuf, CommandError> {
        let env = &now_in(self.env);
        PageFile {
            env,
            file: None,
            name: self.source.page_name(),
        }
        .write_run(&self.source.page(env), false)
    }

    pub(crate) fn end_text(&self) -> Option<String> {
        self.source.end_text(self.env)
    }
}

pub(crate) fn counterfactual_of(
    env: &ProcessEnv,
    id: &SessionId,
    session: &Session,
) -> Counterfactual {
    env.state_home
        .as_deref()
        .map_or(Counterfactual::NotAsked, |home| {
            known_counterfactual(home, id, session)
        })
}

pub(crate) fn now_in(env: &ProcessEnv) -> ProcessEnv {
    ProcessEnv {
        now: env::now(),
        ..env.clone()
    }
}

/// The last meaningful line of a check's output, sanitized; `None` without a file.
fn last_printed_line(folder: &GuardedFolder, name: &str) -> Option<String> {
    let bytes = folder.read_end(name, TAIL_BYTES).ok()??;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // A progress bar overwrites itself with `\r`.
    let mut lines = text.split(['\n', '\r']).rev().map(harmless_text);
    Some(
        lines
            .find(|line| line.chars().any(char::is_alphanumeric))
            .unwrap_or_default(),
    )
}
