//! `omo report --html`: the page of a run, as one file.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use omo_checks::claim_proof::known_counterfactual;
use omo_core::check::counterfactual::Counterfactual;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::stop::allowed_blocks;
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_engine::parallel::refresh_kept_work;
use omo_engine::report::task_differences::task_differences;
use omo_engine::state::{RunPhase, RunState};
use omo_git::difference::{FileVersions, changes_of_run};
use omo_git::git_command::GitCalls;
use omo_git::repository::GitRepository;
use omo_process::file_opener;
use omo_report_page::model::Page;
use omo_state::decision_log;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::search_path::ProjectFolders;
use omo_state::state::{self, StateError};

use crate::commands::report::ReportOptions;
use crate::commands::report::follow::PageFollower;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::file_stamp::FileStamp;
use crate::kept_texts::KeptTexts;
use crate::last_run::{LastRun, changed_files, find_project_to_show};
use crate::local_time::LocalClock;
use crate::output::print_warning;
use crate::page_file::{PageFile, plan_page_name, ultrawork_page_name};
use crate::project::{Project, own_session};
use crate::report_page::plan_page::{PlanRecord, plan_page};
use crate::report_page::ultrawork_page::{UltraworkRecord, ultrawork_page};
use crate::run_report::ReportSource;
use crate::run_report::next_steps::next_steps;

/// Writes the page of the run that is meant, and prints where it is. Where it is followed, that goes on to its end.
pub(super) fn write_page(env: &ProcessEnv, options: &ReportOptions, file: Option<&Path>) -> Result<(), CommandError> {
    // Before anything is started, which would handle a request to end in its own way.
    let follower = options.follow.then(PageFollower::new);
    let run = find_run_to_show(env, options)?;
    let file = PageFile { env, named: file, name: run.page_name() };
    let page = run.page(env)?;
    let follower = follower.filter(|_| run.is_open());
    let path = file.write_run(&page, follower.is_some())?;
    announce_page(env, &path, options.open)?;
    follower.map_or(Ok(()), |follower| follower.follow(run, &file, page))
}

/// Prints where a page is, and shows it where that is wanted.
pub(super) fn announce_page(env: &ProcessEnv, path: &Path, opens: bool) -> Result<(), CommandError> {
    writeln!(anstream::stdout(), "{}", path.display())?;
    if opens && let Err(error) = open_page(env, path) {
        print_warning(&format!("the page is written, and cannot be opened: {error}"));
    }
    Ok(())
}

/// Writes the page of the run that is meant among omo's own files; gives where it is.
pub(crate) fn keep_page(env: &ProcessEnv, options: &ReportOptions) -> Result<PathBuf, CommandError> {
    keep_page_of(env, &find_run_to_show(env, options)?)
}

/// Writes the page of the ultrawork run that ended then, in the session that the project names; gives where it is.
pub(crate) fn keep_ultrawork_page(
    env: &ProcessEnv,
    project: Project,
    ended_at: Timestamp,
) -> Result<PathBuf, CommandError> {
    let run = LastRun::find_to_show(env, &project)?;
    if run.session.verdict.as_ref().is_none_or(|verdict| verdict.at != ended_at) {
        return Err(CommandError::not_found("another run has begun since", "`omo report --html` writes its page"));
    }
    keep_page_of(env, &ShownRun::Ultrawork(Box::new((run, project))))
}

fn keep_page_of(env: &ProcessEnv, run: &ShownRun) -> Result<PathBuf, CommandError> {
    let page = run.page(env)?;
    PageFile { env, named: None, name: run.page_name() }.write_run(&page, false)
}

/// Shows a page in the browser.
pub(crate) fn open_page(env: &ProcessEnv, page: &Path) -> std::io::Result<()> {
    let project = Project::find_root(env).map_err(|error| std::io::Error::other(error.message().to_owned()))?;
    file_opener::show_file(page, &ProjectFolders::from_iter([project]))
}

/// A run of either kind.
pub(crate) enum ShownRun {
    /// Of a plan.
    Plan(Box<(Run, RunState)>),
    /// Of ultrawork, with the project that it is of.
    Ultrawork(Box<(LastRun, Project)>),
}

/// The run that is named; else this session's, else the last one.
fn find_run_to_show(env: &ProcessEnv, options: &ReportOptions) -> Result<ShownRun, CommandError> {
    let plan = || {
        let context = CommandContext::find(env)?;
        context.find_run(options.run.run.as_deref(), EndedRuns::Included)
    };
    let ultrawork = || {
        let project = find_project_to_show(env, options.session.as_deref())?;
        Ok((LastRun::find_to_show(env, &project)?, project))
    };
    if let Some(run) = &options.run.run {
        return plan().map(|found| ShownRun::Plan(Box::new(found))).map_err(|error| match error.kind {
            ExitKind::NotFound => no_such_plan_run(run),
            _ => error,
        });
    }
    if options.last || options.session.is_some() {
        return Ok(ShownRun::Ultrawork(Box::new(ultrawork()?)));
    }
    let own = own_session(env)?;
    choose_run(plan(), ultrawork(), |plan, ultrawork| {
        let plan_is_own = own.as_ref().is_some_and(|own| plan.holder.session.as_deref() == Some(own.as_str()));
        match (plan_is_own, own.as_ref() == Some(&ultrawork.id)) {
            (true, false) => false,
            (false, true) => true,
            _ => changed_at(ultrawork) > Some(plan.updated_at),
        }
    })
}

/// A person named a run that is none of a plan: it may be the session of an ultrawork run.
fn no_such_plan_run(typed: &str) -> CommandError {
    let message = format!("no run of a plan in this repository is called `{}`", sanitize(typed, 60));
    let hint = "`omo run list` names them; an ultrawork run is named by its session: `--session ID`";
    CommandError::not_found(message, hint)
}

/// No run of either kind is known.
pub(crate) fn no_run_known() -> CommandError {
    let hint = "type `ulw <task>` in a session of this project, or `omo run start FILE`";
    CommandError::not_found("no run is known here", hint)
}

/// The run that is meant, of the one of a plan and the ultrawork run that were found. Where there are both
/// `is_ultrawork` decides.
pub(crate) fn choose_run(
    plan: Result<(Run, RunState), CommandError>,
    ultrawork: Result<(LastRun, Project), CommandError>,
    is_ultrawork: impl FnOnce(&RunState, &LastRun) -> bool,
) -> Result<ShownRun, CommandError> {
    match (plan, ultrawork) {
        (Ok(plan), Ok(ultrawork)) if !is_ultrawork(&plan.1, &ultrawork.0) => Ok(ShownRun::Plan(Box::new(plan))),
        (Ok(_), Ok(ultrawork)) => Ok(ShownRun::Ultrawork(Box::new(ultrawork))),
        (Ok(plan), Err(_)) => Ok(ShownRun::Plan(Box::new(plan))),
        (Err(error), Ok(ultrawork)) if matches!(error.kind, ExitKind::NotFound | ExitKind::Io) => {
            // One that cannot be read hides none that can.
            if error.kind == ExitKind::Io {
                print_warning(&error.message());
            }
            Ok(ShownRun::Ultrawork(Box::new(ultrawork)))
        }
        (Err(error), Err(_)) if error.kind == ExitKind::NotFound => Err(no_run_known()),
        (Err(error), _) => Err(error),
    }
}

/// When anything last happened in an ultrawork run.
fn changed_at(run: &LastRun) -> Option<Timestamp> {
    let ulw = &run.session.ulw;
    run.session.verdict.as_ref().map(|verdict| verdict.at).max(ulw.started_at).max(ulw.last_stop_at)
}

impl ShownRun {
    /// The name of its page: the same one for the same run.
    fn page_name(&self) -> String {
        match self {
            Self::Plan(shown) => plan_page_name(shown.0.id()),
            Self::Ultrawork(shown) => ultrawork_page_name(&shown.0),
        }
    }

    /// Its page as it was found.
    pub(super) fn page(&self, env: &ProcessEnv) -> Result<Page, CommandError> {
        match self {
            Self::Plan(shown) => page_of_plan(env, &shown.0, shown.1.clone()),
            Self::Ultrawork(shown) => page_of_ultrawork(env, &shown.0, &shown.1),
        }
    }

    /// Whether it went on when it was found.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Plan(shown) => shown.1.phase == RunPhase::Executing,
            Self::Ultrawork(shown) => shown.0.session.verdict.is_none(),
        }
    }

    /// The same run as it stands now.
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

fn page_of_plan(env: &ProcessEnv, run: &Run, mut state: RunState) -> Result<Page, CommandError> {
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
    let source = ReportSource::read(run, &state, env)?;
    Ok(plan_page(&PlanRecord {
        differences: &differences,
        state: &state,
        report: &source.report,
        events: &events,
        next_steps: next_steps(run.id(), &state, &source.report),
        began: clock.date_and_time(state.opened_at),
        now: env.now,
        time_of_day: clock.time_of_day(env.now),
    }))
}

/// What the checks of a run say without its change, as far as that is known.
pub(super) fn counterfactual_of(env: &ProcessEnv, id: &SessionId, session: &Session) -> Counterfactual {
    env.state_home.as_deref().map_or(Counterfactual::NotAsked, |home| known_counterfactual(home, id, session))
}

fn page_of_ultrawork(env: &ProcessEnv, run: &LastRun, project: &Project) -> Result<Page, CommandError> {
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
    let mut page = ultrawork_page(&UltraworkRecord {
        id: run.id.as_str(),
        session,
        kept: &kept,
        difference,
        counterfactual: counterfactual_of(env, &run.id, session),
        allowed_blocks: allowed_blocks(session, env.client_block_cap),
        began: session.ulw.started_at.map(|at| clock.date_and_time(at)).unwrap_or_default(),
        now: env.now,
        time_of_day: clock.time_of_day(env.now),
    });
    let changed = changed_files(env, project, &run.id, session);
    page.facts.extend(changed.map(|changed| ("since then".to_owned(), changed)));
    Ok(page)
}
