//! Which run is watched: the one that is named, else this session's, else one that is at work, else the last.

use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_engine::Run;
use omo_engine::state::{RunPhase, RunState};
use omo_state::env::ProcessEnv;

use crate::commands::report::html::choose_run;
use crate::commands::report::shown_run::ShownRun;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::last_run::{LastRun, find_project_to_show};
use crate::project::{Project, own_session};
use crate::repository_sessions::find_project;
use crate::watch::WatchedRun;
use crate::watch::ultrawork_source::UltraworkSource;

/// What decides between a run of a plan and an ultrawork run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Precedence {
    is_own: bool,
    is_at_work: bool,
    changed_at: Option<Timestamp>,
}

/// Finds the run that is meant.
pub(crate) fn find_run(env: &ProcessEnv, run: Option<&str>, session: Option<&str>) -> Result<WatchedRun, CommandError> {
    let cap = env.client_block_cap;
    let of_plan = |(run, _): (Run, RunState)| WatchedRun::of_plan(run, env);
    let of_ultrawork = |(run, project): (LastRun, Project)| {
        Ok(WatchedRun::Ultrawork(Box::new(UltraworkSource::read(run, project, env.state_home.clone(), cap)?)))
    };
    let plan = || CommandContext::find(env)?.find_run(run, EndedRuns::Included);
    if run.is_some() {
        return of_plan(plan()?);
    }
    if session.is_some() {
        return of_ultrawork(find_ultrawork(env, session)?);
    }
    let own = own_session(env)?;
    let chosen = choose_run(plan(), find_ultrawork(env, None), |plan, ultrawork| {
        ultrawork_precedence(ultrawork, own.as_ref()) > plan_precedence(plan, own.as_ref())
    })?;
    match chosen {
        ShownRun::Plan(plan) => of_plan(*plan),
        ShownRun::Ultrawork(ultrawork) => of_ultrawork(*ultrawork),
    }
}

/// The ultrawork run of the session that is named or that this shell belongs to; else one that is on; else the last one.
fn find_ultrawork(env: &ProcessEnv, session: Option<&str>) -> Result<(LastRun, Project), CommandError> {
    let project = find_project_to_show(env, session)?;
    if session.is_none() {
        let own = project.named_or_own_session(env)?;
        let armed = project.sessions()?.into_iter().filter(|(_, session)| session.is_armed());
        let on = armed.max_by_key(|(id, session)| (Some(id) == own.as_ref(), session.updated_at));
        if let Some((id, _)) = on {
            let project = find_project(env, Some(id.as_str()))?;
            return Ok((LastRun::find_to_show(env, &project)?, project));
        }
    }
    Ok((LastRun::find_to_show(env, &project)?, project))
}

fn plan_precedence(state: &RunState, own: Option<&SessionId>) -> Precedence {
    Precedence {
        is_own: own.is_some_and(|own| state.holder.session.as_deref() == Some(own.as_str())),
        is_at_work: state.phase == RunPhase::Executing,
        changed_at: Some(state.updated_at),
    }
}

fn ultrawork_precedence(run: &LastRun, own: Option<&SessionId>) -> Precedence {
    let session = &run.session;
    let changed_at = session.verdict.as_ref().map(|verdict| verdict.at);
    Precedence {
        is_own: own == Some(&run.id),
        is_at_work: session.is_armed(),
        changed_at: changed_at.max(session.ulw.started_at).max(session.ulw.last_stop_at),
    }
}
