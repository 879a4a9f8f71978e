//! The branches that omo has on a remote repository: each of them is gone once the command that it was pushed for has
//! ended, and all that it held is kept here before that.

use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;

use crate::exchange::{brief_branch, report_branch};
use crate::job::launch_number;

/// Maximum fetches of a branch that moves while it is being deleted.
const MAX_FETCHES: usize = 3;

/// Branches of a session that [`collect_branches`] has found.
#[derive(Default)]
pub struct Collected {
    /// The commit that was pushed, and what keeps it, for each launch.
    pub tips: Vec<(u32, String, WorkerName)>,
    /// Branches that are still there, with the reason.
    pub undeleted: Vec<String>,
    /// Reason for which not all of it could be fetched. Unfetched work is nowhere else: no text
    /// says how to delete it.
    pub fetch_error: Option<String>,
}

/// Fetches each branch of a session that the remote has, under a reference that keeps it, and deletes it there.
pub fn collect_branches(
    run: &str,
    repository: &GitRepository,
    remote_name: &str,
    name: &WorkerName,
) -> Result<Collected, RemoteError> {
    let remote = Remote::find(repository, remote_name)?;
    let mut collected = Collected::default();
    let there = remote.branches(&name.branch())?;
    let (messages, work): (Vec<_>, Vec<_>) = there.into_iter().partition(|(branch, _)| {
        message_of(branch).is_some_and(|of| launch_number(&name.branch(), of).is_some())
    });
    // Before the work: a worker that is still there has nothing left to report on, and ends.
    let messages: Vec<(&str, &str)> = messages
        .iter()
        .map(|(branch, commit)| (branch.as_str(), commit.as_str()))
        .collect();
    if !messages.is_empty()
        && let Err(error) = delete_messages(&remote, &messages)
    {
        collected.undeleted.extend(
            messages
                .iter()
                .map(|(branch, _)| undeleted_branch_message(branch, remote_name, &error)),
        );
    }
    for (branch, _) in work {
        let Some(launch) = launch_number(&name.branch(), &branch) else {
            continue;
        };
        let Some(keeper) = launch_keeper(run, name, launch) else {
            continue;
        };
        match fetch_and_delete(&remote, &branch, &keeper.keep_reference()) {
            Ok((tip, None)) => collected.tips.push((launch, tip, keeper)),
            Ok((tip, Some(error))) => {
                collected.tips.push((launch, tip, keeper));
                collected
                    .undeleted
                    .push(undeleted_branch_message(&branch, remote_name, &error));
            }
            // A silent remote would be as silent about the others.
            Err(error @ RemoteError::TimedOut { .. }) if collected.tips.is_empty() => {
                return Err(error);
            }
            Err(error) => {
                collected.fetch_error = Some(format!(
                    "{branch} could not be fetched from {remote_name}: {error}"
                ));
            }
        }
    }
    Ok(collected)
}

/// Reference that keeps the commits of a launch.
pub fn launch_keeper(run: &str, name: &WorkerName, launch: u32) -> Option<WorkerName> {
    WorkerName::new(run, &format!("{}-pushed-{launch}", name.worker())).ok()
}

fn message_of(branch: &str) -> Option<&str> {
    [brief_branch(""), report_branch("")]
        .iter()
        .find_map(|ending| branch.strip_suffix(ending.as_str()))
}

/// Deletes briefs and reports. A report that has moved meanwhile is deleted where it is by then.
fn delete_messages(remote: &Remote, messages: &[(&str, &str)]) -> Result<(), RemoteError> {
    let Err(error) = remote.delete_all(messages) else {
        return Ok(());
    };
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

fn undeleted_branch_message(branch: &str, remote_name: &str, error: &RemoteError) -> String {
    format!(
        "the branch {branch} is still on {remote_name} ({error}); `git push {remote_name} --delete {branch}` removes it"
    )
}
