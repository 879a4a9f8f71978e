//! What follows from what a session has pushed that works somewhere else, and from the end of the command that started
//! it there: pure rules. The command proves nothing, however it ended.

use omo_claude::client_end::{FollowUp, ProcessEnd};
use omo_core::text::sanitize;
use omo_plan::model::TaskGroup;

use crate::standing::is_work_done;
use crate::state::{RunState, TaskStatus};

/// The branch of a session on the remote, for the launch of this number, from 1: a client that is still at work for an
/// earlier launch pushes to another branch.
pub(super) fn launch_branch(branch: &str, launch: u32) -> String {
    if launch <= 1 { branch.to_owned() } else { format!("{branch}-{launch}") }
}

/// The number of the launch that a branch on the remote is of; `None` where it is of none of this session's.
pub(super) fn launch_number(branch: &str, name: &str) -> Option<u32> {
    match name.strip_prefix(branch)? {
        "" => Some(1),
        rest => rest.strip_prefix('-')?.parse().ok().filter(|launch| launch_branch(branch, *launch) == name),
    }
}

/// The commit that the steps of a session that have passed come to: of the one that passed last, or the one it began
/// from. A step that is done again may pass after those that follow it.
pub(crate) fn last_passed_commit<'s>(state: &'s RunState, group: &TaskGroup, base: &'s str) -> &'s str {
    let commit = |id: &String| {
        let known = state.tasks.get(id).filter(|known| is_done(state, known.status))?;
        Some((known.updated_at, known.last_end.as_ref()?.commit.as_deref()?))
    };
    // The last of those that are equal.
    group.tasks.iter().filter_map(commit).max_by_key(|(at, _)| *at).map_or(base, |(_, commit)| commit)
}

/// Whether the work on a step is done as far as its worker goes.
pub(crate) fn is_done(state: &RunState, status: TaskStatus) -> bool {
    is_work_done(&state.plan.policy, status)
}

/// What follows for the first step that nothing was pushed of.
pub(super) fn follow_up(process: &ProcessEnd) -> FollowUp {
    if process.not_started.is_some() {
        return FollowUp::Ask("the command of --launcher could not be started");
    }
    if process.stopped {
        return FollowUp::Hold("the command of --launcher was stopped");
    }
    if process.timed_out {
        return FollowUp::FailAttempt(
            "the session's time was up, and no commit on its branch carries the step's trailer",
        );
    }
    if process.signal.is_some() {
        return FollowUp::Hold("the command of --launcher was killed");
    }
    FollowUp::FailAttempt("no commit on the branch that was pushed carries the step's trailer")
}

/// How the command ended, in words.
pub(super) fn describe_process_end(process: &ProcessEnd) -> String {
    let how = match process {
        ProcessEnd { not_started: Some(why), .. } => format!("the command never began: {}", sanitize(why, 200)),
        ProcessEnd { stopped: true, .. } => "the command was stopped".to_owned(),
        ProcessEnd { timed_out: true, .. } => "the command's time was up".to_owned(),
        ProcessEnd { signal: Some(signal), .. } => format!("the command was killed with signal {signal}"),
        ProcessEnd { status: Some(status), .. } => format!("the command ended with status {status}"),
        _ => "the command ended".to_owned(),
    };
    if process.complaint.is_empty() { how } else { format!("{how}: {}", sanitize(&process.complaint, 200)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_has_a_branch_of_its_own() {
        for (name, expected) in [
            ("omo/r/session-1", Some(1)),
            ("omo/r/session-1-2", Some(2)),
            ("omo/r/session-1-12", Some(12)),
            ("omo/r/session-12", None),
            ("omo/r/session-1-1", None),
            ("omo/r/session-1-02", None),
            ("omo/r/session-1-x", None),
            ("omo/r/session-2", None),
        ] {
            assert_eq!(launch_number("omo/r/session-1", name), expected, "{name}");
        }
        assert_eq!(launch_number("b", &launch_branch("b", 7)), Some(7));
    }

    #[test]
    fn no_end_of_a_command_passes_anything() {
        let end = ProcessEnd::default();
        let status = |status| ProcessEnd { status: Some(status), ..end.clone() };
        for process in [status(0), status(1), status(255)] {
            assert!(matches!(follow_up(&process), FollowUp::FailAttempt(_)), "{process:?}");
        }
        assert!(matches!(follow_up(&ProcessEnd { timed_out: true, ..end.clone() }), FollowUp::FailAttempt(_)));
        for process in [ProcessEnd { signal: Some(9), ..end.clone() }, ProcessEnd { stopped: true, ..end.clone() }] {
            assert!(matches!(follow_up(&process), FollowUp::Hold(_)), "{process:?}");
        }
        let lost = ProcessEnd { not_started: Some("no ssh".to_owned()), ..end.clone() };
        assert!(matches!(follow_up(&lost), FollowUp::Ask(_)));
        assert_eq!(describe_process_end(&lost), "the command never began: no ssh");
        let cut = ProcessEnd { complaint: "Connection refused".to_owned(), ..status(255) };
        assert_eq!(describe_process_end(&cut), "the command ended with status 255: Connection refused");
    }
}
