//! What the worker of a group has said, as its engine has it.

use omo_git::repository::GitRepository;
use omo_plan::plan_summary::SESSION_PREFIX;
use omo_remote::job::{JobValues, job_name};
use omo_remote::launcher::Launcher;

use crate::modes::parallel::WORKER_PREFIX;
use crate::parallel::launcher::{find_launcher, log_path};
use crate::parallel::remote_branches::count_launches;
use crate::state::RunState;
use crate::work::Engine;

/// Why there is nothing to show of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerLogError {
    /// No worker of the run is called so; these are.
    Unknown(Vec<String>),
    /// The workers of the run are clients on this machine, or were started by a command, which omo cannot ask.
    NoLauncher,
    /// The launcher of this name has no command `logs`.
    NoCommand(String),
    /// None was handed over yet.
    NotStarted,
    /// The command failed; why, in its own last words.
    Failed(String),
}

/// What the last worker that was handed over for a group has said. `name` is the group's id, `S2`, or `2`.
///
/// # Errors
///
/// There is no such worker, or its engine does not tell.
pub fn read_worker_log(engine: &Engine, state: &RunState, name: &str) -> Result<String, WorkerLogError> {
    let groups = || state.plan.groups.iter().map(|group| group.id.as_str());
    let known = || groups().map(str::to_owned).collect();
    let number =
        |id: &str| id.strip_prefix(SESSION_PREFIX).or_else(|| id.strip_prefix(WORKER_PREFIX)).map(str::to_owned);
    let is_meant =
        |id: &str| id == name || number(id).is_some_and(|number| name == number || name == format!("S{number}"));
    let group = groups().find(|id| is_meant(id)).ok_or_else(|| WorkerLogError::Unknown(known()))?;
    let parallel = state.parallel.as_ref().ok_or(WorkerLogError::NoLauncher)?;
    let repository = GitRepository::find(engine.root).ok_or(WorkerLogError::NoLauncher)?;
    let launcher = find_launcher(engine, &repository, &parallel.policy, None)
        .filter(|launcher| !launcher.profile.is_attached())
        .ok_or(WorkerLogError::NoLauncher)?;
    let launch = count_launches(engine.run, group);
    if launch == 0 {
        return Err(WorkerLogError::NotStarted);
    }
    let values = JobValues {
        job: job_name(engine.run.id(), group, launch),
        group: group.to_owned(),
        log: log_path(engine, group, launch),
        ..JobValues::default()
    };
    let said = launcher.logs(&values).ok_or_else(|| WorkerLogError::NoCommand(launcher.profile.name.clone()))?;
    said.map_err(WorkerLogError::Failed)
}
