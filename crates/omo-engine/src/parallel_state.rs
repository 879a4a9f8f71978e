//! `ParallelState`: the part of a run's state about parallel workers: branches, merges, costs.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::timestamp::Timestamp;
pub use omo_remote::job::SubmittedWorker;
use serde::{Deserialize, Serialize};

use crate::client_policy::{ClientCost, ClientPolicy};
use crate::event::{CopiedFiles, QuestionKind, RecordedProcess, WorkerPeer};

pub(crate) const INTEGRATED: &str = "integrated";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParallelState {
    /// The result so far: the commit that was checked out, with all that was merged.
    pub tip: String,
    /// Tip of the user's branch at the start or the last merge of its commits: a branch without it was moved back.
    #[serde(default)]
    pub base: String,
    #[serde(default)]
    pub policy: ClientPolicy,
    pub groups: BTreeMap<String, GroupState>,
    /// Time of the reset of a usage limit, before which no client is started.
    #[serde(default)]
    pub limited_until: Option<Timestamp>,
    #[serde(default)]
    pub landing_question: Option<QuestionKind>,
    pub landed: Option<(String, String)>,
    /// Number of unsigned commits in the landed result, where the user's settings ask to sign.
    #[serde(default)]
    pub unsigned: usize,
    #[serde(default)]
    pub other_checkouts: Vec<String>,
    /// An earlier `landed`, before the run went on.
    #[serde(default)]
    pub landed_before: Option<(String, String)>,
    /// Merged sessions, in order. One that was done again stands there twice.
    #[serde(default)]
    pub merged: Vec<String>,
    /// Length of `merged` at the last check of the whole.
    #[serde(default)]
    pub checked: usize,
    /// Length of `merged` when each check of the whole was last green, by position.
    #[serde(default)]
    pub green_at: BTreeMap<usize, usize>,
    /// Positions of checks of the whole that are red without the work of the run.
    #[serde(default)]
    pub red_before: BTreeSet<usize>,
    #[serde(default)]
    pub wave_check: Option<WaveCheck>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_contacts: BTreeMap<WorkerPeer, LostContact>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostContact {
    pub since: Timestamp,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveCheck {
    pub wave: usize,
    /// The checked commit: the result of the run by then.
    pub tip: String,
    pub tree: String,
    pub checks: Vec<TaskCheck>,
    pub outcomes: Vec<TaskCheckOutcome>,
    pub broken: Vec<usize>,
    pub groups: Vec<String>,
}

/// State of one worker: its work tree, branch, client or job, and costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupState {
    pub status: GroupStatus,
    pub worktree: Option<String>,
    pub branch: String,
    pub base: String,
    pub tip: Option<String>,
    /// Number of the event that ended it: the first to end is merged first.
    #[serde(default)]
    pub ended_seq: u64,
    pub process: Option<RecordedProcess>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<SubmittedWorker>,
    /// Reason of its failure, or the files that conflict.
    pub reason: Option<String>,
    /// The reference that keeps unmerged work, such as `refs/omo/keep/r-1/session-2`.
    pub rescue_ref: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<CopiedFiles>,
    /// Cost of its clients, in millionths of a US dollar, as far as reported.
    #[serde(default)]
    pub cost_micros: u64,
    /// Maximum cost of clients that ended without a report, in millionths of a US dollar: the budget of each.
    #[serde(default)]
    pub untold_micros: u64,
    /// Budget of the running client, in millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<u64>,
    /// Clients in a row that ended without beginning a task.
    #[serde(default)]
    pub idle_exits: u32,
    #[serde(default)]
    pub stuck_reason: Option<String>,
    /// Reason why its work tree, or a branch of it on a remote repository, stays.
    #[serde(default)]
    pub leftover_reason: Option<String>,
    /// Jobs that may still run, since their scheduler could not cancel them, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stray_workers: BTreeMap<String, String>,
    /// The session has to begin anew from the run's result, and not where it was.
    #[serde(default)]
    pub is_to_redo: bool,
}

impl GroupState {
    /// The remains of a session that begins anew: kept work, the cost of its clients, and jobs that may still run.
    pub(crate) fn cleared(&self) -> Self {
        Self {
            rescue_ref: self.rescue_ref.clone(),
            copied: self.copied.clone(),
            cost_micros: self.cost_micros,
            untold_micros: self.untold_micros,
            stray_workers: self.stray_workers.clone(),
            ..Self::default()
        }
    }

    /// Cost of its client, as reported or at most. One that never began cost nothing.
    pub(crate) fn cost_of_client(&self, reported: Option<u64>) -> ClientCost {
        match &self.job {
            Some(job) => job.cost(),
            None => ClientCost::default().with_client(reported, self.budget_micros),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupStatus {
    #[default]
    Ready,
    Running,
    Done,
    Merged,
    Failed,
    InConflict,
}

impl GroupStatus {
    /// `true` once no client works for the group any more.
    pub fn is_ended(self) -> bool {
        !matches!(self, Self::Ready | Self::Running)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetGrant {
    Unbounded,
    /// Millionths of a US dollar.
    Micros(u64),
    /// No budget before others have ended, which may leave some.
    Later,
    Nothing,
}

impl ParallelState {
    /// Notes a merged session. Where it has added nothing, the whole is as checked as it was.
    pub(crate) fn note_merge(&mut self, id: String, tip: &str) {
        let is_checked = self.checked == self.merged.len() && self.tip == tip;
        self.merged.push(id);
        if is_checked {
            self.checked = self.merged.len();
        }
        tip.clone_into(&mut self.tip);
    }

    /// Notes merged commits of the user: a red check may be green by now, and the other way round.
    pub(crate) fn note_user_commits(&mut self, with: &str, tip: &str) {
        tip.clone_into(&mut self.tip);
        with.clone_into(&mut self.base);
        self.checked = 0;
        self.red_before.clear();
    }

    /// Forgets kept work of these sessions: it is in the user's branch, or released.
    pub(crate) fn forget_kept_work(&mut self, ids: &[String]) {
        for id in ids {
            if let Some(known) = self.groups.get_mut(id) {
                known.rescue_ref = None;
            }
        }
    }

    /// Cost of all clients so far, in millionths of a US dollar.
    pub fn cost_micros(&self) -> u64 {
        self.groups
            .values()
            .map(|group| group.cost_micros)
            .fold(0, u64::saturating_add)
    }

    /// Maximum cost of clients that ended without a report, in millionths of a US dollar; `0` without a budget.
    pub fn untold_micros(&self) -> u64 {
        self.groups
            .values()
            .map(|group| group.untold_micros)
            .fold(0, u64::saturating_add)
    }

    /// Silent peers, as long as a scheduler has workers of the run: without any, no peer is asked.
    pub fn lost_contacts(&self) -> impl Iterator<Item = (WorkerPeer, &LostContact)> {
        let is_asked = self.jobs().next().is_some();
        self.lost_contacts
            .iter()
            .filter(move |_| is_asked)
            .map(|(peer, lost)| (*peer, lost))
    }

    pub fn jobs(&self) -> impl Iterator<Item = (&str, &SubmittedWorker)> {
        self.groups
            .iter()
            .filter_map(|(id, group)| Some((id.as_str(), group.job.as_ref()?)))
    }

    /// The budget of each of `clients` about to start, while those at work may still spend `granted`, in millionths of
    /// a US dollar: the run stays within its budget, where an unreported cost counts as all that was allowed.
    pub fn grant_budget(&self, granted: u64, clients: usize) -> BudgetGrant {
        let Some(budget) = self.policy.budget_micros else {
            return BudgetGrant::Unbounded;
        };
        let free = budget
            .saturating_sub(self.cost_micros())
            .saturating_sub(self.untold_micros())
            .saturating_sub(granted);
        match free / u64::try_from(clients.max(1)).unwrap_or(u64::MAX) {
            0 if granted > 0 => BudgetGrant::Later,
            0 => BudgetGrant::Nothing,
            micros => BudgetGrant::Micros(micros),
        }
    }

    /// The commit that a session begins from: its branch of an earlier try, or the run's result.
    pub fn base_commit_of(&self, id: &str) -> &str {
        let own_limit = self
            .groups
            .get(id)
            .filter(|group| !matches!(group.status, GroupStatus::Merged));
        own_limit
            .and_then(|known| known.tip.as_deref())
            .unwrap_or(&self.tip)
    }

    pub(crate) fn has_status(&self, id: &str, statuses: &[GroupStatus]) -> bool {
        self.groups
            .get(id)
            .is_some_and(|group| statuses.contains(&group.status))
    }
}
