//! Branches of an ended worker on a remote repository: fetched and kept here, then deleted there.

use omo_git::remote::{Remote, RemoteError};
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;

use crate::exchange::{brief_branch, report_branch};
use crate::job::launch_number;

/// Maximum fetches of a branch that moves while it is being deleted.
const MAX_FETCHES: usize = 3;

/// Result of [`collect_branches`] for the branches of a session.
#[derive(Default)]
pub struct Collected {
    /// Number of a launch, its pushed commit, and the name of the reference that keeps it.
    pub tips: Vec<(u32, String, WorkerName)>,
    /// Messages about branches that are still there.
    pub undeleted: Vec<String>,
    /// Message about unfetched work, without a command to delete it: it is nowhere else.
    pub fetch_error: Option<String>,
}

/// Fetches the branches of a session under references that keep them, and deletes them on the remote.
pub fn collect_branches(
    run: &str,
    repository: &GitRepository,
    remote_name: &str,
    name: &WorkerName,
) -> Result<Collected, RemoteError> {
    let remote = Remote::find(repository, remote_name)?;
    let mut collected = Collected::default();
    let remote_branches = remote.branches(&name.branch())?;
    let (messages, work): (Vec<_>, Vec<_>) =
        remote_branches.into_iter().partition(|(branch, _)| {
            message_of(branch)
                .is_some_and(|launch_branch| launch_number(&name.branch(), launch_branch).is_some())
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

/// Name of the reference that keeps the commits of a launch.
pub fn launch_keeper(run: &str, name: &WorkerName, launch: u32) -> Option<WorkerName> {
    WorkerName::new(run, &format!("{}-pushed-{launch}", name.worker())).ok()
}

fn message_of(branch: &str) -> Option<&str> {
    let endings = [brief_branch(""), report_branch("")];
    endings
        .iter()
        .find_map(|ending| branch.strip_suffix(ending.as_str()))
}

/// Deletes briefs and reports; a report that moves meanwhile is deleted as well.
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

/// Fetches and deletes a branch that may move meanwhile; returns its commit, and the error of the deletion.
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
