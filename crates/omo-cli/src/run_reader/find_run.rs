//! Search for the run to watch: the named one, this session's, one at work, or the last.

use omo_core::session::id::SessionId;
use omo_engine::Run;
use omo_engine::state::{RunPhase, RunState};
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::last_run::{LastRun, find_project_to_show};
use crate::output::print_warning;
use crate::project::{Project, own_session};
use crate::repository_sessions::find_project;
use crate::run_reader::RunReader;

#[derive(Clone, Copy, Default)]
pub(crate) struct RunChoice<'a> {
    pub run: Option<&'a str>,
    pub session: Option<&'a str>,
    pub is_ultrawork: bool,
    pub prefers_running: bool,
}

pub(crate) fn find_run<'a>(
    env: &'a ProcessEnv,
    choice: RunChoice<'_>,
) -> Result<RunReader<'a>, CommandError> {
    if choice.run.is_some() {
        return Ok(RunReader::of_plan(find_plan_run(env, choice)?, env));
    }
    if choice.is_ultrawork || choice.session.is_some() {
        return Ok(RunReader::of_ultrawork(find_ultrawork(env, choice)?, env));
    }
    let own_id = own_session(env)?;
    match (find_plan_run(env, choice), find_ultrawork(env, choice)) {
        (Ok(plan), Ok(ultrawork)) if is_later(&ultrawork, &plan, own_id.as_ref(), choice) => {
            Ok(RunReader::of_ultrawork(ultrawork, env))
        }
        (Ok(plan), _) => Ok(RunReader::of_plan(plan, env)),
        (Err(error), Ok(ultrawork)) if matches!(error.kind, ExitKind::NotFound | ExitKind::Io) => {
            // An unreadable run hides no readable one.
            if error.kind == ExitKind::Io {
                print_warning(&error.message());
            }
            Ok(RunReader::of_ultrawork(ultrawork, env))
        }
        (Err(error), Err(_)) if error.kind == ExitKind::NotFound => Err(no_run_known()),
        (Err(error), _) => Err(error),
    }
}

fn find_plan_run(env: &ProcessEnv, choice: RunChoice<'_>) -> Result<(Run, RunState), CommandError> {
    CommandContext::find(env)?.find_run(choice.run, EndedRuns::Included)
}

fn is_later(
    (LastRun { id, session }, _): &(LastRun, Project),
    (_, plan): &(Run, RunState),
    own_session: Option<&SessionId>,
    choice: RunChoice<'_>,
) -> bool {
    let plan_is_own = own_session
        .is_some_and(|own_session| plan.holder.session.as_deref() == Some(own_session.as_str()));
    let plan_runs = choice.prefers_running && plan.phase == RunPhase::Executing;
    let runs = choice.prefers_running && session.is_armed();
    let ended_at = session.verdict.as_ref().map(|verdict| verdict.at);
    let changed_at = ended_at
        .max(session.ulw.started_at)
        .max(session.ulw.last_stop_at);
    (own_session == Some(id), runs, changed_at) > (plan_is_own, plan_runs, Some(plan.updated_at))
}

pub(crate) fn no_run_known() -> CommandError {
    let hint = "type `ulw <task>` in a session of this project, or `omo run start FILE`";
    CommandError::not_found("no run is known here", hint)
}

fn find_ultrawork(
    env: &ProcessEnv,
    choice: RunChoice<'_>,
) -> Result<(LastRun, Project), CommandError> {
    let mut project = find_project_to_show(env, choice.session)?;
    if choice.prefers_running && choice.session.is_none() {
        let own = project.named_or_own_session(env)?;
        let armed = project
            .sessions()?
            .into_iter()
            .filter(|(_, session)| session.is_armed());
        let latest_armed =
            armed.max_by_key(|(id, session)| (Some(id) == own.as_ref(), session.updated_at));
        if let Some((id, _)) = latest_armed {
            project = find_project(env, Some(id.as_str()))?;
        }
    }
    Ok((LastRun::find_to_show(env, &project)?, project))
}
