//! What a run knows of its parallel workers: clients in worktrees of their own.

use std::collections::{BTreeMap, BTreeSet};

use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::timestamp::Timestamp;
pub use omo_remote::job::SubmittedWorker;
use serde::{Deserialize, Serialize};

use crate::client_policy::{ClientCost, ClientPolicy};
use crate::event::{CopiedFiles, QuestionKind, RecordedProcess, WorkerPeer};

/// The name under which is kept what a run has come to before its user's branch moves there.
pub(crate) const INTEGRATED: &str = "integrated";

/// What a run knows of its parallel workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParallelState {
    /// The commit that everything done so far comes to: the one that was checked out, and all that was merged.
    pub tip: String,
    /// Where the user's branch was when they were set apart, or when what its user had committed was last merged with:
    /// a branch that does not have this any more was moved back by its user.
    #[serde(default)]
    pub base: String,
    /// What their clients are started with.
    #[serde(default)]
    pub policy: ClientPolicy,
    /// Each session that was begun, by its id.
    pub groups: BTreeMap<String, GroupState>,
    /// No client is started before then: a limit of use was met.
    #[serde(default)]
    pub limited_until: Option<Timestamp>,
    /// The question that is raised where the user's branch could not move to the tip.
    #[serde(default)]
    pub landing_question: Option<QuestionKind>,
    /// The user's branch has moved from the first of these commits to the second.
    pub landed: Option<(String, String)>,
    /// Commits in between that are not signed, though its user's are to be.
    #[serde(default)]
    pub unsigned: usize,
    /// Other work trees that had it checked out.
    #[serde(default)]
    pub other_checkouts: Vec<String>,
    /// It had done so before the run went on.
    #[serde(default)]
    pub landed_before: Option<(String, String)>,
    /// The sessions that were merged, in the order in which they were. One that was done again stands there twice.
    #[serde(default)]
    pub merged: Vec<String>,
    /// So many of those were part of the whole when it was last checked.
    #[serde(default)]
    pub checked: usize,
    /// So many of those were part of the whole when each of its checks was last green, by its place among them.
    #[serde(default)]
    pub green_at: BTreeMap<usize, usize>,
    /// The checks of the whole that are red without the work of the run, by their places.
    #[serde(default)]
    pub red_before: BTreeSet<usize>,
    /// The last check of the whole behind a wave.
    #[serde(default)]
    pub wave_check: Option<WaveCheck>,
    /// What does not answer of what the run asks about its workers, for some minutes by now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_contacts: BTreeMap<WorkerPeer, LostContact>,
}

/// What the run asks about its workers does not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostContact {
    /// Since when.
    pub since: Timestamp,
    /// What was said instead of an answer.
    pub reason: String,
}

/// What the checks of the whole came to behind a wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveCheck {
    /// The wave.
    pub wave: usize,
    /// The commit that was checked: what the run had come to.
    pub tip: String,
    /// Its tree.
    pub tree: String,
    /// The checks.
    pub checks: Vec<TaskCheck>,
    /// What came of each.
    pub outcomes: Vec<TaskCheckOutcome>,
    /// Those that were green before and are no longer, by their places.
    pub broken: Vec<usize>,
    /// The sessions that were merged since those were green.
    pub groups: Vec<String>,
}

/// What is known of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupState {
    /// Where it stands.
    pub status: GroupStatus,
    /// Its work tree, as long as it has one.
    pub worktree: Option<String>,
    /// Its branch.
    pub branch: String,
    /// The commit that it began from.
    pub base: String,
    /// Its last commit, once it has ended.
    pub tip: Option<String>,
    /// The event with which it ended: of those that can be merged the first to end is merged first.
    #[serde(default)]
    pub ended_seq: u64,
    /// The process that works on it.
    pub process: Option<RecordedProcess>,
    /// Its worker, where an engine has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<SubmittedWorker>,
    /// Why it has failed, or the files that stand in the way of its merge.
    pub reason: Option<String>,
    /// The reference that keeps what was never merged.
    pub rescue_ref: Option<String>,
    /// Files of its work tree that no commit can keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<CopiedFiles>,
    /// What its clients have cost, in millionths of a US dollar, as far as they said so.
    #[serde(default)]
    pub cost_micros: u64,
    /// What its clients that ended without saying their cost may have cost at most: the budget of each.
    #[serde(default)]
    pub untold_micros: u64,
    /// What the client that works on it may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<u64>,
    /// So many clients have ended one after the other without beginning with a task.
    #[serde(default)]
    pub idle_exits: u32,
    /// Why it cannot go on by itself.
    #[serde(default)]
    pub stuck_reason: Option<String>,
    /// Why its work tree, or a branch of it on a remote repository, stays where it is.
    #[serde(default)]
    pub leftover_reason: Option<String>,
    /// Its workers that may still be at work, since their engine could not be made to end them, each with why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stray_workers: BTreeMap<String, String>,
    /// It has to begin anew from what the run has come to, and not where it was.
    #[serde(default)]
    pub is_to_redo: bool,
}

impl GroupState {
    /// What counts of it where it begins anew: what was kept of its work, what its clients have cost, and
    /// which of its workers may still be at work.
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

    /// What its client has cost, which said so or was ended before it could. One that never began cost nothing.
    pub(crate) fn cost_of_client(&self, told: Option<u64>) -> ClientCost {
        match &self.job {
            Some(job) => job.cost(),
            None => ClientCost::default().with_client(told, self.budget_micros),
        }
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupStatus {
    /// It has a work tree, and no client works on it.
    #[default]
    Ready,
    /// A client works on it.
    Running,
    /// Every task of it is done, and it is on its branch alone.
    Done,
    /// It is part of what the run has come to.
    Merged,
    /// It could not be done.
    Failed,
    /// It could not be brought together with what others did.
    InConflict,
}

impl GroupStatus {
    /// Whether no client works on it any more.
    pub fn is_ended(self) -> bool {
        !matches!(self, Self::Ready | Self::Running)
    }
}

/// What a client may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetGrant {
    /// Whatever it takes.
    Unbounded,
    /// So many millionths of a US dollar.
    Micros(u64),
    /// Nothing before others have ended, that may leave something.
    Later,
    /// Nothing: the budget is spent.
    Nothing,
}

impl ParallelState {
    /// A session is part of what the run has come to. Where it has added nothing, the whole is as checked as it was.
    pub(crate) fn note_merge(&mut self, id: String, tip: &str) {
        let is_checked = self.checked == self.merged.len() && self.tip == tip;
        self.merged.push(id);
        if is_checked {
            self.checked = self.merged.len();
        }
        tip.clone_into(&mut self.tip);
    }

    /// What its user has committed is part of it too: what was red before may be green by now, and the other way round.
    pub(crate) fn note_user_commits(&mut self, with: &str, tip: &str) {
        tip.clone_into(&mut self.tip);
        with.clone_into(&mut self.base);
        self.checked = 0;
        self.red_before.clear();
    }

    /// Forgets what was kept of these sessions: it is in the user's branch, or kept no longer.
    pub(crate) fn forget_kept_work(&mut self, ids: &[String]) {
        for id in ids {
            if let Some(known) = self.groups.get_mut(id) {
                known.rescue_ref = None;
            }
        }
    }

    /// What all clients have cost so far, in millionths of a US dollar.
    pub fn cost_micros(&self) -> u64 {
        self.groups.values().map(|group| group.cost_micros).fold(0, u64::saturating_add)
    }

    /// What clients that ended without saying their cost may have cost at most, in millionths of a US dollar. Nothing
    /// where the run has no budget.
    pub fn untold_micros(&self) -> u64 {
        self.groups.values().map(|group| group.untold_micros).fold(0, u64::saturating_add)
    }

    /// What does not answer, as long as an engine has workers of the run: the rest of it asks nothing.
    pub fn lost_contacts(&self) -> impl Iterator<Item = (WorkerPeer, &LostContact)> {
        let is_asked = self.jobs().next().is_some();
        self.lost_contacts.iter().filter(move |_| is_asked).map(|(peer, lost)| (*peer, lost))
    }

    /// The workers that an engine has, by their sessions.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, &SubmittedWorker)> {
        self.groups.iter().filter_map(|(id, group)| Some((id.as_str(), group.job.as_ref()?)))
    }

    /// What each of the `clients` that are about to be started may spend, while clients at work may still spend
    /// `granted` millionths of a US dollar: whatever they do, the run stays within its budget. A client that did not say
    /// what it cost counts with all that it was allowed.
    pub fn grant_budget(&self, granted: u64, clients: usize) -> BudgetGrant {
        let Some(budget) = self.policy.budget_micros else { return BudgetGrant::Unbounded };
        let free =
            budget.saturating_sub(self.cost_micros()).saturating_sub(self.untold_micros()).saturating_sub(granted);
        match free / u64::try_from(clients.max(1)).unwrap_or(u64::MAX) {
            0 if granted > 0 => BudgetGrant::Later,
            0 => BudgetGrant::Nothing,
            micros => BudgetGrant::Micros(micros),
        }
    }

    /// The commit that a session begins from: where an earlier try has left its branch, or what the run has come to.
    pub fn base_commit_of(&self, id: &str) -> &str {
        let own = self.groups.get(id).filter(|known| !matches!(known.status, GroupStatus::Merged));
        own.and_then(|known| known.tip.as_deref()).unwrap_or(&self.tip)
    }

    /// Whether a session stands at one of these.
    pub(crate) fn has_status(&self, id: &str, statuses: &[GroupStatus]) -> bool {
        self.groups.get(id).is_some_and(|known| statuses.contains(&known.status))
    }
}
