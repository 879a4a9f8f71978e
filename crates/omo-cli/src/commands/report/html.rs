//! `omo report --html`: the page of a run, as one file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_engine::state::RunState;
use omo_process::file_opener;
use omo_state::env::ProcessEnv;
use omo_state::search_path::ProjectFolders;

use crate::commands::report::ReportOptions;
use crate::commands::report::follow::PageFollower;
use crate::commands::report::shown_run::ShownRun;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::last_run::{LastRun, find_project_to_show};
use crate::output::print_warning;
use crate::page_file::PageFile;
use crate::project::{Project, own_session};

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
