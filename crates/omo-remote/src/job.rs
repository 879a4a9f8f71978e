//! A worker elsewhere: its name, its branches, and what is known of it.

use omo_claude::client_cost::ClientCost;
use omo_core::timestamp::Timestamp;
use omo_state::seal::hex_digest;
use serde::{Deserialize, Serialize};

/// Maximum characters of a group's name in a [`job_name`].
const GROUP_CHARS: usize = 24;

/// Worker that was handed to an engine by `start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmittedWorker {
    /// Name of the job there, by [`job_name`]. It was chosen before it was handed over, and no
    /// other worker gets it.
    pub name: String,
    /// Number of launches for its session, this one included.
    pub launch: u32,
    /// The commit that holds its brief.
    pub brief: String,
    /// Since when it waits in the queue, or waited.
    pub queued_at: Timestamp,
    /// Begin; `None` while it waits.
    pub began_at: Option<Timestamp>,
    /// The machine that it runs on, where that is known.
    pub host: String,
    /// Budget in millionths of a US dollar.
    pub budget_micros: Option<u64>,
    /// Times that its engine put it back into the queue after it had begun.
    #[serde(default)]
    pub requeues: u32,
    /// For how long its client may work, in seconds, as its brief has it; 0 for the usual time.
    #[serde(default)]
    pub time_limit_seconds: u32,
    /// Cost by its last report, once that was read for the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_cost: Option<ClientCost>,
}

impl SubmittedWorker {
    /// One that was handed over just now, and waits.
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

    /// Cost of its clients, which have ended: as reported, or all that they were allowed. One that
    /// never began cost nothing.
    pub fn cost(&self) -> ClientCost {
        let most = || {
            ClientCost::default()
                .with_client(None, self.budget_micros.filter(|_| self.began_at.is_some()))
        };
        self.reported_cost.unwrap_or_else(most)
    }
}

/// Values of [`PLACEHOLDERS`](crate::template::PLACEHOLDERS) for a worker.
#[derive(Clone, Debug, Default)]
pub struct JobValues {
    /// `{job}`: see [`job_name`].
    pub job: String,
    /// `{branch}`: branch on the remote.
    pub branch: String,
    /// `{base}`: commit that it begins from.
    pub base: String,
    /// `{brief}`: commit with its brief.
    pub brief: String,
    /// `{group}`: id of its group.
    pub group: String,
    /// `{log}`: file for its output.
    pub log: String,
    /// `{prompt_file}`: prompt of one that runs as long as its command does.
    pub prompt_file: String,
    /// `{worktree}`: folder of its session on this machine.
    pub worktree: String,
}

/// Job name at the engine: letters, digits and `-`, at most 63, which every engine takes. No other
/// worker of any run has it.
pub fn job_name(run: &str, group: &str, launch: u32) -> String {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if group.len() <= GROUP_CHARS && group.chars().all(is_plain) {
        return format!("omo-{run}-{group}-{launch}");
    }
    let plain = group
        .to_ascii_lowercase()
        .replace(|letter| !is_plain(letter), "-");
    let plain: String = plain.chars().take(GROUP_CHARS - 9).collect();
    let digest = hex_digest(group.as_bytes());
    format!(
        "omo-{run}-{plain}-{}-{launch}",
        digest.get(..8).unwrap_or_default()
    )
}

/// The branch of a session on the remote, for the launch of this number, from 1: a client that is still at work for an
/// earlier launch pushes to another branch.
pub fn launch_branch(branch: &str, launch: u32) -> String {
    if launch <= 1 {
        branch.to_owned()
    } else {
        format!("{branch}-{launch}")
    }
}

/// The number of the launch that a branch on the remote is of; `None` where it is of none of this session's.
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

/// The file that holds the prompt of a launch.
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
