//! The branches that omo has on a remote repository: each of them is gone once the command that it was pushed for has
//! ended, and all that it held is kept here before that.

use std::sync::OnceLock;

use omo_git::integrate::release_kept;
use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;

use super::DriveError;
use crate::Run;
use crate::client_policy::ClientPolicy;
use crate::parallel::push_rules::launch_number;
use crate::worker_exchange::{brief_branch, report_branch};

/// No session is begun with more often than this.
const MAX_LAUNCHES: u32 = 10_000;
/// So often a branch is fetched again that moves while it is being deleted.
const MAX_FETCHES: usize = 3;

/// What was found on the remote.
#[derive(Default)]
pub(super) struct Collected {
    /// The commit that was pushed, and what keeps it, for each launch.
    pub(super) tips: Vec<(u32, String, WorkerName)>,
    /// What is still there, and why.
    pub(super) undeleted: Vec<String>,
    /// Why not all of it could be fetched. What could not is nowhere else: no text says how to delete it.
    pub(super) fetch_error: Option<String>,
}

/// Why a remote repository does not answer, once it was found out. A cleanup that puts away what several sessions have
/// left there asks it for each of them. It would be silent as long every time, while the user may be waiting.
pub(super) type Silence = OnceLock<String>;

/// Fetches what is still on the remote of a session whose command has ended or was lost, keeps it, and deletes it there.
/// What could not be deleted is told.
pub(super) fn clear_remote(
    run: &Run,
    repository: &GitRepository,
    terms: &ClientPolicy,
    name: &WorkerName,
    integrated: &str,
    silence: &Silence,
) -> Result<Option<String>, DriveError> {
    if terms.launcher.is_none() || count_launches(run, name.worker()) == 0 {
        return Ok(None);
    }
    let not_known = |why: &str| Ok(Some(format!("what is on the remote {} is not known: {why}", terms.remote_name())));
    if let Some(why) = silence.get() {
        return not_known(why);
    }
    let collected = match collect_branches(run, repository, terms, name) {
        Ok(collected) => collected,
        Err(error) => return not_known(silence.get_or_init(|| error.to_string())),
    };
    for (_, tip, keeper) in collected.tips {
        if repository.contains(integrated, std::slice::from_ref(&tip))? {
            release_kept(repository, &keeper)?;
        }
    }
    let told: Vec<String> = collected.undeleted.into_iter().chain(collected.fetch_error).collect();
    Ok((!told.is_empty()).then(|| told.join("; ")))
}

/// Fetches each branch of a session that the remote has, under a reference that keeps it, and deletes it there.
pub(super) fn collect_branches(
    run: &Run,
    repository: &GitRepository,
    terms: &ClientPolicy,
    name: &WorkerName,
) -> Result<Collected, RemoteError> {
    let remote = Remote::find(repository, terms.remote_name())?;
    let mut collected = Collected::default();
    let there = remote.branches(&name.branch())?;
    let (messages, work): (Vec<_>, Vec<_>) = there
        .into_iter()
        .partition(|(branch, _)| message_of(branch).is_some_and(|of| launch_number(&name.branch(), of).is_some()));
    // Before the work: a worker that is still there has nothing left to report on, and ends.
    let messages: Vec<(&str, &str)> =
        messages.iter().map(|(branch, commit)| (branch.as_str(), commit.as_str())).collect();
    if !messages.is_empty()
        && let Err(error) = delete_messages(&remote, &messages)
    {
        collected.undeleted.extend(messages.iter().map(|(branch, _)| undeleted_branch_message(branch, terms, &error)));
    }
    for (branch, _) in work {
        let Some(launch) = launch_number(&name.branch(), &branch) else { continue };
        let Some(keeper) = launch_keeper(run, name, launch) else { continue };
        match fetch_and_delete(&remote, &branch, &keeper.keep_reference()) {
            Ok((tip, None)) => collected.tips.push((launch, tip, keeper)),
            Ok((tip, Some(error))) => {
                collected.tips.push((launch, tip, keeper));
                collected.undeleted.push(undeleted_branch_message(&branch, terms, &error));
            }
            // It would be as silent about the others.
            Err(error @ RemoteError::TimedOut { .. }) if collected.tips.is_empty() => return Err(error),
            Err(error) => {
                collected.fetch_error =
                    Some(format!("{branch} could not be fetched from {}: {error}", terms.remote_name()));
            }
        }
    }
    Ok(collected)
}

/// What a supervisor has fetched of a launch before, and what keeps it.
pub(super) fn find_kept_launch(
    run: &Run,
    repository: &GitRepository,
    name: &WorkerName,
    launch: u32,
) -> Result<Option<(String, WorkerName)>, DriveError> {
    let Some(keeper) = launch_keeper(run, name, launch) else { return Ok(None) };
    Ok(repository.commit_of(&keeper.keep_reference())?.map(|tip| (tip, keeper)))
}

/// What keeps the commits of a launch.
fn launch_keeper(run: &Run, name: &WorkerName, launch: u32) -> Option<WorkerName> {
    WorkerName::new(run.id(), &format!("{}-pushed-{launch}", name.worker())).ok()
}

/// The branch beside which a branch with a brief or a report lies.
fn message_of(branch: &str) -> Option<&str> {
    [brief_branch(""), report_branch("")].iter().find_map(|ending| branch.strip_suffix(ending.as_str()))
}

/// Deletes briefs and reports. A report that has moved meanwhile is deleted where it is by then.
fn delete_messages(remote: &Remote, messages: &[(&str, &str)]) -> Result<(), RemoteError> {
    let Err(error) = remote.delete_all(messages) else { return Ok(()) };
    let mut first = Some(error);
    for (branch, _) in messages {
        for (now, commit) in remote.branches(branch)? {
            if now == *branch && remote.delete(&now, &commit).is_err() {
                return first.take().map_or(Ok(()), Err);
            }
        }
    }
    Ok(())
}

/// Fetches a branch and deletes it, also where it moves meanwhile; why it could not be deleted, where it could not.
fn fetch_and_delete(
    remote: &Remote,
    branch: &str,
    reference: &str,
) -> Result<(String, Option<RemoteError>), RemoteError> {
    let mut tip = remote.fetch(branch, reference)?;
    for attempt in 1..=MAX_FETCHES {
        match remote.delete(branch, &tip) {
            Ok(()) => break,
            Err(error) if attempt == MAX_FETCHES => return Ok((tip, Some(error))),
            Err(_) => tip = remote.fetch(branch, reference)?,
        }
    }
    Ok((tip, None))
}

fn undeleted_branch_message(branch: &str, terms: &ClientPolicy, error: &RemoteError) -> String {
    let remote = terms.remote_name();
    format!("the branch {branch} is still on {remote} ({error}); `git push {remote} --delete {branch}` removes it")
}

/// The file that holds the prompt of a launch.
pub(super) fn launch_name(group: &str, launch: u32) -> String {
    format!("{group}-launch-{launch}.md")
}

/// How often a session was begun with somewhere else.
pub(super) fn count_launches(run: &Run, group: &str) -> u32 {
    (1..=MAX_LAUNCHES).take_while(|launch| run.has_log(&launch_name(group, *launch))).last().unwrap_or(0)
}
