//! Jobs of workers elsewhere: recorded state, values for commands, names of jobs and branches.

use omo_claude::client_cost::ClientCost;
use omo_core::timestamp::Timestamp;
use omo_state::seal::hex_digest;
use serde::{Deserialize, Serialize};

/// Maximum characters of a group's name in a [`job_name`].
const GROUP_CHARS: usize = 24;

/// A worker that was handed to a scheduler by the `start` command of its launcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmittedWorker {
    /// [`job_name`], chosen before the start and never used again.
    pub name: String,
    /// Number of launches for its session, from 1.
    pub launch: u32,
    /// Commit of the [`WorkerBrief`](crate::exchange::WorkerBrief).
    pub brief: String,
    pub queued_at: Timestamp,
    /// Time of its begin; `None` in the queue.
    pub began_at: Option<Timestamp>,
    /// Name of its machine; empty while unknown.
    pub host: String,
    /// In millionths of a US dollar.
    pub budget_micros: Option<u64>,
    /// Number of returns to the queue after its begin.
    #[serde(default)]
    pub requeues: u32,
    /// Time limit of the client, in seconds; `0` for the default.
    #[serde(default)]
    pub time_limit_seconds: u32,
    /// Cost by its last report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_cost: Option<ClientCost>,
}

impl SubmittedWorker {
    pub fn new(
        name: &str,
        launch: u32,
        brief: &str,
        queued_at: Timestamp,
        budget_micros: Option<u64>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            launch,
            brief: brief.to_owned(),
            queued_at,
            budget_micros,
            began_at: None,
            host: String::new(),
            requeues: 0,
            time_limit_seconds: 0,
            reported_cost: None,
        }
    }

    /// Cost as reported, or the whole budget; nothing for a worker that never began.
    pub fn cost(&self) -> ClientCost {
        self.reported_cost.unwrap_or_else(|| {
            ClientCost::default()
                .with_client(None, self.budget_micros.filter(|_| self.began_at.is_some()))
        })
    }
}

/// Values of [`PLACEHOLDERS`](crate::template::PLACEHOLDERS) for a worker.
#[derive(Clone, Debug, Default)]
pub struct JobValues {
    /// `{job}`: see [`job_name`].
    pub job: String,
    /// `{branch}`
    pub branch: String,
    /// `{base}`
    pub base: String,
    /// `{brief}`
    pub brief: String,
    /// `{group}`
    pub group: String,
    /// `{log}`
    pub log: String,
    /// `{prompt_file}`
    pub prompt_file: String,
    /// `{worktree}`
    pub worktree: String,
}

/// Unique job name of `a-z`, digits and `-`, up to 63 characters, which every scheduler takes.
pub fn job_name(run: &str, group: &str, launch: u32) -> String {
    if group.len() <= GROUP_CHARS && group.chars().all(is_job_letter) {
        return format!("omo-{run}-{group}-{launch}");
    }
    let plain = group
        .to_ascii_lowercase()
        .replace(|letter| !is_job_letter(letter), "-");
    let plain: String = plain.chars().take(GROUP_CHARS - 9).collect();
    let digest = hex_digest(group.as_bytes());
    format!(
        "omo-{run}-{plain}-{}-{launch}",
        digest.get(..8).unwrap_or_default()
    )
}

fn is_job_letter(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
}

/// Remote branch of a launch: a client that is still at work for an earlier launch pushes to another one.
pub fn launch_branch(branch: &str, launch: u32) -> String {
    if launch <= 1 {
        branch.to_owned()
    } else {
        format!("{branch}-{launch}")
    }
}

/// Number of the launch whose remote branch is `name`; `None` for a branch of another session.
pub fn launch_number(branch: &str, name: &str) -> Option<u32> {
    match name.strip_prefix(branch)? {
        "" => Some(1),
        rest => rest
            .strip_prefix('-')?
            .parse()
            .ok()
            .filter(|launch| launch_branch(branch, *launch) == name),
    }
}

/// File name of the prompt of a launch, such as `S2-launch-1.md`.
pub fn launch_name(group: &str, launch: u32) -> String {
    format!("{group}-launch-{launch}.md")
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
    fn a_worker_has_a_name_that_every_engine_takes_and_no_other_has() {
        let run = "20261125-235501-abcdef";
        let name = |group: &str| job_name(run, group, 2);
        assert_eq!(name("session-1"), "omo-20261125-235501-abcdef-session-1-2");
        let odd = [
            "Session 1",
            "session_1",
            "session.1",
            "a/b",
            &"x".repeat(90),
            &"X".repeat(90),
        ]
        .map(name);
        for name in &odd {
            assert!(name.len() <= 63, "{name}");
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
        }
        let different: std::collections::BTreeSet<&String> = odd.iter().collect();
        assert_eq!(different.len(), odd.len());
    }
}
