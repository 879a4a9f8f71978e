//! Reports of a worker: one commit on a branch of its own, which each report replaces.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use omo_claude::client_cost::ClientCost;
use omo_core::text::sanitize;
use omo_git::message_commit::{read_message, write_message};
use omo_git::remote::RemoteError;
use omo_git::remote::worker_clone::{BranchPeek, PushStop, WorkerClone, WorkerPushRequest};
use omo_state::env;

use super::push_patience::PushPatience;
use crate::exchange::{EXCHANGE_VERSION, REPORT_FILE, WorkerPhase, WorkerReport, report_branch};

/// Tries of the first report: an earlier worker may push one meanwhile.
const CLAIMS: usize = 4;

/// Pause between two looks for a later start's report: the longest time that both of them cost money.
const POLL_INTERVAL: Duration = Duration::from_secs(2 * 60);
const OTHER_REFERENCE: &str = "refs/omo/other-report";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenReport {
    pub commit: String,
    /// Cost of the worker by then.
    pub cost: ClientCost,
}

pub(super) struct Reporter<'r> {
    pub clone: &'r WorkerClone<'r>,
    pub identity: Vec<(&'static str, OsString)>,
    /// Tasks with a commit on the remote, in order.
    pub pushed: Vec<String>,
    /// Commit of the branch on the remote.
    pub tip: String,
    /// Last `HEAD` of the clone that was looked at.
    pub looked_at: Option<String>,
    /// State of the files before the client began.
    pub files_before: Option<String>,
    /// Cost with that of earlier starts; a client at work counts with its whole budget.
    pub cost: ClientCost,
    branch: String,
    instance: String,
    host: String,
    seen: Option<String>,
    has_claimed: bool,
    /// Time of the next look for the report of a later start.
    look_at: Instant,
    /// Patience of pushes at the end, from the first of them on.
    pub patience: Option<PushPatience>,
}

impl<'r> Reporter<'r> {
    pub(super) fn new(
        clone: &'r WorkerClone<'r>,
        branch: &str,
        instance: &str,
        seen: Option<SeenReport>,
        tip: &str,
    ) -> Self {
        let host = host_name();
        let (seen, cost) = seen.map(|seen| (seen.commit, seen.cost)).unzip();
        Self {
            clone,
            identity: clone.commit_identity(&host),
            pushed: Vec::new(),
            tip: tip.to_owned(),
            looked_at: None,
            files_before: None,
            cost: cost.unwrap_or_default(),
            branch: branch.to_owned(),
            instance: instance.to_owned(),
            host,
            seen,
            has_claimed: false,
            look_at: Instant::now() + POLL_INTERVAL,
            patience: None,
        }
    }

    pub(super) fn has_claimed(&self) -> bool {
        self.has_claimed
    }

    /// `true` if a later start has reported, or the report is gone; looks once each [`POLL_INTERVAL`].
    pub(super) fn is_replaced(&mut self, now: Instant) -> bool {
        if now < self.look_at {
            return false;
        }
        self.look_at = now + POLL_INTERVAL;
        let branch = report_branch(&self.branch);
        match self
            .clone
            .peek_branch(&branch, self.seen.as_deref(), OTHER_REFERENCE)
        {
            BranchPeek::Same | BranchPeek::Silent => false,
            BranchPeek::Gone => self.has_claimed,
            // Its own report, though not the last one that it knows of, is a push whose answer got lost.
            BranchPeek::Moved(commit) => {
                let report = read_message(self.clone, &commit, REPORT_FILE)
                    .ok()
                    .flatten();
                let report = report.and_then(|bytes| WorkerReport::parse(&bytes));
                report.is_some_and(|report| report.instance != self.instance)
            }
        }
    }

    /// Pushes the commit `work`, if any, with a report in place of the last one.
    pub(super) fn push(&mut self, work: Option<&str>, phase: WorkerPhase) -> Result<(), PushStop> {
        let report = WorkerReport {
            version: EXCHANGE_VERSION,
            instance: self.instance.clone(),
            host: self.host.clone(),
            at: env::now(),
            phase,
            pushed: self.pushed.clone(),
            cost: self.cost,
        };
        let mut bytes = serde_json::to_vec_pretty(&report)
            .map_err(|error| PushStop::Failed(error.to_string()))?;
        bytes.push(b'\n');
        let commit = write_message(self.clone, REPORT_FILE, &bytes).map_err(RemoteError::from)?;
        let report_branch = report_branch(&self.branch);
        for _ in 0..CLAIMS {
            let request = WorkerPushRequest {
                work: work.map(|commit| (self.branch.as_str(), commit)),
                report_branch: &report_branch,
                report: &commit,
                seen_report: self.seen.as_deref(),
            };
            match self.clone.push(&request) {
                Ok(()) => {
                    self.has_claimed = true;
                    self.seen = Some(commit);
                    self.tip = work.map_or_else(|| self.tip.clone(), str::to_owned);
                    return Ok(());
                }
                // The report is of an earlier start, which this one replaces.
                Err(PushStop::Superseded) if !self.has_claimed => {
                    let there = self.clone.list_branches(&[&report_branch])?;
                    self.seen = there.into_iter().next().map(|(_, commit)| commit);
                }
                Err(stop) => return Err(stop),
            }
        }
        Err(PushStop::Superseded)
    }
}

/// Host name in letters of an address.
pub(super) fn host_name() -> String {
    let host = env::host_name().unwrap_or_default();
    let plain: String = sanitize(host.trim(), 100)
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_'))
        .collect();
    if plain.is_empty() {
        "unknown".to_owned()
    } else {
        plain
    }
}

#[cfg(test)]
mod tests;
