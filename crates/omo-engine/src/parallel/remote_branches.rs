//! Cleanup of a session's branches on a remote repository, once its worker there has ended.

use std::sync::OnceLock;

use omo_git::integrate::release_kept;
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;
use omo_remote::branches::launch_keeper;
use omo_remote::job::launch_name;
use omo_remote::launcher::Launcher;

use super::DriveError;
use crate::Run;
use crate::parallel::launcher::find_launcher;
use crate::parallel_state::ParallelState;
use crate::work::Engine;

const MAX_LAUNCHES: u32 = 10_000;
/// Reason why the remote does not answer, once known: no further call waits for its timeout.
pub(super) type Silence = OnceLock<String>;

/// Fetches, keeps and deletes the branches of an ended or lost session; returns failures as text.
pub(super) fn clear_remote(
    engine: &Engine,
    repository: &GitRepository,
    parallel: &ParallelState,
    name: &WorkerName,
    silence: &Silence,
) -> Result<Option<String>, DriveError> {
    let Some(launcher) = find_launcher(engine, repository, &parallel.policy, None) else {
        return Ok(None);
    };
    if count_launches(engine.run, name.worker()) == 0 {
        return Ok(None);
    }
    let not_known = |why: &str| {
        Ok(Some(format!(
            "what is on the remote {} is not known: {why}",
            launcher.remote_name
        )))
    };
    if let Some(why) = silence.get() {
        return not_known(why);
    }
    let collected = match launcher.take_in(name) {
        Ok(collected) => collected,
        Err(error) => return not_known(silence.get_or_init(|| error.to_string())),
    };
    for (_, tip, keeper) in collected.tips {
        if repository.contains(&parallel.tip, std::slice::from_ref(&tip))? {
            release_kept(repository, &keeper)?;
        }
    }
    let faults: Vec<String> = collected
        .undeleted
        .into_iter()
        .chain(collected.fetch_error)
        .collect();
    Ok((!faults.is_empty()).then(|| faults.join("; ")))
}

/// Commit of a launch that a supervisor fetched before, with the name of the kept reference.
pub(super) fn find_kept_launch(
    run: &Run,
    repository: &GitRepository,
    name: &WorkerName,
    launch: u32,
) -> Result<Option<(String, WorkerName)>, DriveError> {
    let Some(keeper) = launch_keeper(run.id(), name, launch) else {
        return Ok(None);
    };
    Ok(repository
        .commit_of(&keeper.keep_reference())?
        .map(|tip| (tip, keeper)))
}

pub(super) fn count_launches(run: &Run, group: &str) -> u32 {
    (1..=MAX_LAUNCHES)
        .take_while(|launch| run.has_log(&launch_name(group, *launch)))
        .last()
        .unwrap_or(0)
}
