//! A run that a page shows, of a plan or of ultrawork.

use std::collections::BTreeMap;
use std::path::Path;

use omo_checks::claim_proof::known_counterfactual;
use omo_core::check::counterfactual::Counterfactual;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_engine::Run;
use omo_engine::parallel::refresh_kept_work;
use omo_engine::report::task_differences::task_differences;
use omo_engine::state::{RunPhase, RunState};
use omo_engine::view::timeline::plan_lanes;
use omo_git::difference::{FileVersions, changes_of_run};
use omo_git::git_command::GitCalls;
use omo_git::repository::GitRepository;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, StateError};
use omo_view::run_view::RunView;

use crate::error::CommandError;
use crate::file_stamp::FileStamp;
use crate::kept_texts::KeptTexts;
use crate::last_run::{LastRun, changed_files};
use crate::local_time::LocalClock;
use crate::output::print_warning;
use crate::page_file::{plan_page_name, ultrawork_page_name};
use crate::plan_run_view::PlanRunRecord;
use crate::project::Project;
use crate::ultrawork_view::{UltraworkFacts, ultrawork_view};

/// A run of either kind.
pub(crate) enum ShownRun {
    /// A run of a plan, with its state.
    Plan(Box<(Run, RunState)>),
    /// An ultrawork run, with its project.
    Ultrawork(Box<(LastRun, Project)>),
}

impl ShownRun {
    /// The name of its page: the same one for the same run.
    pub(super) fn page_name(&self) -> String {
        match self {
            Self::Plan(shown) => plan_page_name(shown.0.id()),
            Self::Ultrawork(shown) => ultrawork_page_name(&shown.0),
        }
    }

    /// Its page as it was found.
    pub(super) fn page(&self, env: &ProcessEnv) -> Result<RunView, CommandError> {
        match self {
            Self::Plan(shown) => page_of_plan(env, &shown.0, shown.1.clone()),
            Self::Ultrawork(shown) => page_of_ultrawork(env, &shown.0, &shown.1),
        }
    }

    /// `true` where it went on when it was found.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Plan(shown) => shown.1.phase == RunPhase::Executing,
            Self::Ultrawork(shown) => shown.0.session.verdict.is_none(),
        }
    }

    /// This run, read from its files once more.
    pub(super) fn read_again(self, env: &ProcessEnv) -> Result<Self, CommandError> {
        match self {
            Self::Plan(shown) => {
                let state = shown.0.state()?;
                Ok(Self::Plan(Box::new((shown.0, state))))
            }
            Self::Ultrawork(shown) => {
                let (run, project) = *shown;
                let project = Project::open(project.root, Some(run.id.clone()))?;
                Ok(Self::Ultrawork(Box::new((run.read_again(env, &project)?, project))))
            }
        }
    }

    /// While this stays the same nothing has happened in it. Reads no file.
    pub(super) fn fingerprint(&self) -> Vec<Option<FileStamp>> {
        let files = match self {
            Self::Plan(shown) => vec![shown.0.ledger_path()],
            Self::Ultrawork(shown) => {
                let folder = shown.1.folder.as_ref().map_or(Path::new(""), GuardedFolder::path);
                [state::FILE, decision_log::FILE].map(|name| folder.join(name)).to_vec()
            }
        };
        files.iter().map(|file| FileStamp::of(file)).collect()
    }
}

fn page_of_plan(env: &ProcessEnv, run: &Run, mut state: RunState) -> Result<RunView, CommandError> {
    let (events, clock) = (run.events()?, LocalClock::from_process(env.now));
    let mut differences = BTreeMap::new();
    if let Some(repository) = GitRepository::find(Path::new(&state.root)) {
        refresh_kept_work(run.id(), &repository, &mut state);
        let home = env.state_home.as_deref();
        let found = home.map(|home| task_differences(run.id(), &repository, home, &state, &events));
        match found.transpose() {
            Ok(found) => differences = found.unwrap_or_default(),
            Err(error) => print_warning(&format!("the page shows no differences: {error}")),
        }
    }
    let mut view =
        PlanRunRecord { run, state: &state, events: &events, differences }.view(env, &|at| clock.date_and_time(at));
    view.timeline.lanes = plan_lanes(&state, &events, &view.tasks);
    if view.is_open() {
        view.as_of = clock.time_of_day(env.now);
    }
    Ok(view)
}

/// Answers of the checks of a run without its change, as far as they are known.
pub(super) fn counterfactual_of(env: &ProcessEnv, id: &SessionId, session: &Session) -> Counterfactual {
    env.state_home.as_deref().map_or(Counterfactual::NotAsked, |home| known_counterfactual(home, id, session))
}

fn page_of_ultrawork(env: &ProcessEnv, run: &LastRun, project: &Project) -> Result<RunView, CommandError> {
    let session = &run.session;
    let log = project.folder.as_ref().map(decision_log::read_all).transpose().map_err(StateError::from)?;
    let kept =
        KeptTexts::read(env.state_home.as_deref(), project.folder.as_ref(), &run.id, session, log.unwrap_or_default());
    let clock = LocalClock::from_process(env.now);
    let home = env.state_home.as_deref();
    // The files of a run that is not proved are those of now.
    let difference = kept.difference.clone().unwrap_or_else(|| {
        let mut whole = FileVersions::unwritten();
        changes_of_run(&project.root, home, &GitCalls::default(), &run.id, session, &mut whole)
            .and_then(|changes| changes.difference.ok_or_else(|| "git knows nothing of these files".to_owned()))
    });
    let mut view = ultrawork_view(&UltraworkFacts {
        id: run.id.as_str(),
        session,
        kept: &kept,
        difference: Some(difference),
        counterfactual: counterfactual_of(env, &run.id, session),
        client_block_cap: env.client_block_cap,
        running_check: None,
        clock: &|at| clock.date_and_time(at),
        now: env.now,
    });
    if session.verdict.is_none() {
        view.as_of = clock.time_of_day(env.now);
    }
    view.facts.extend(changed_files(env, project, &run.id, session).map(|changed| ("since then", changed)));
    Ok(view)
}
