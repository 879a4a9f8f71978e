//! Fold of the events of parallel workers into a `RunState`.

use std::collections::BTreeMap;

use super::{RunState, reopen_task};
use crate::client_policy::ClientPolicy;
use crate::event::{EventKind, QuestionKind, RunEvent};
use crate::execution_mode::ExecutionMode;
use crate::parallel_schedule::BUDGET_SPENT;
use crate::parallel_state::{GroupState, GroupStatus, LostContact, ParallelState, SubmittedWorker};
use crate::state::{LedgerError, TaskStatus};
use crate::wave_rules::group_outcome;

impl RunState {
    pub(super) fn apply_to_group(&mut self, event: &RunEvent) -> Result<(), LedgerError> {
        match &event.kind {
            EventKind::ParallelStarted { base, policy } => {
                return self.start_parallel(event, base, policy);
            }
            EventKind::BudgetSet { micros } => return self.set_budget(event, *micros),
            EventKind::TimeLimitSet { seconds } => return self.set_time_limit(event, *seconds),
            EventKind::WaveChecked { .. } => return self.apply_wave_check(event),
            EventKind::WaveCheckReused { tree } => return self.reuse_wave_check(event, tree),
            _ => {}
        }
        if let EventKind::GroupEnded {
            group: id,
            failed: None,
            ..
        } = &event.kind
        {
            let group = self.plan.groups.iter().find(|group| group.id == *id);
            if group.and_then(|group| group_outcome(self, group)) != Some(GroupStatus::Done) {
                return Err(LedgerError::new(
                    event,
                    "ends a session as done in which something is not",
                ));
            }
        }
        let ids: Vec<String> = self
            .plan
            .groups
            .iter()
            .map(|group| group.id.clone())
            .collect();
        let parallel = self.parallel.as_mut().ok_or_else(|| {
            LedgerError::new(event, "is about sessions that are not worked on apart")
        })?;
        if let EventKind::Landed {
            from,
            to,
            unsigned,
            other_checkouts,
        } = &event.kind
        {
            let is_whole = ids
                .iter()
                .all(|id| parallel.has_status(id, &[GroupStatus::Merged]));
            if parallel.landed.is_some() || *to != parallel.tip || !is_whole {
                return Err(LedgerError::new(
                    event,
                    "moves the user's branch before all is merged",
                ));
            }
            parallel.landed = Some((from.clone(), to.clone()));
            (parallel.unsigned, parallel.other_checkouts) = (*unsigned, other_checkouts.clone());
            return Ok(());
        }
        if apply_to_all_groups(parallel, &event.kind) {
            if matches!(event.kind, EventKind::UserCommitsMerged { .. }) {
                self.final_checks.clear();
            }
            return Ok(());
        }
        let (id, from) = required_statuses(&event.kind);
        if !ids.iter().any(|known| known == id) {
            return Err(LedgerError::new(
                event,
                "is about a session that the plan does not have",
            ));
        }
        let is_new = matches!(event.kind, EventKind::GroupPrepared { .. })
            && !parallel.groups.contains_key(id);
        if !is_new && !parallel.has_status(id, from) {
            return Err(LedgerError::new(
                event,
                "does not follow from where its session stands",
            ));
        }
        if matches!(&event.kind, EventKind::GroupPrepared { base, .. } if base != parallel.base_commit_of(id))
        {
            return Err(LedgerError::new(
                event,
                "begins a session at another commit than that of the run",
            ));
        }
        apply_to_session(parallel, id, event);
        match &event.kind {
            EventKind::GroupMerged { .. } => self.final_checks.clear(),
            EventKind::GroupRemoved { .. } => self.forget_baselines(id),
            _ => {}
        }
        Ok(())
    }

    fn start_parallel(
        &mut self,
        event: &RunEvent,
        base: &str,
        policy: &ClientPolicy,
    ) -> Result<(), LedgerError> {
        let is_begun = self.tasks.values().any(|task| task.attempts > 0);
        let (groups, landed_before) = match &self.parallel {
            None if !is_begun => (BTreeMap::new(), None),
            // The earlier work has landed in the user's branch, and the run goes on from there.
            Some(parallel) if parallel.landed.is_some() => {
                (parallel.groups.clone(), parallel.landed.clone())
            }
            _ => {
                return Err(LedgerError::new(
                    event,
                    "sets sessions apart that are worked on",
                ));
            }
        };
        self.mode = ExecutionMode::Parallel;
        self.parallel = Some(ParallelState {
            tip: base.to_owned(),
            base: base.to_owned(),
            policy: policy.clone(),
            groups,
            landed_before,
            ..ParallelState::default()
        });
        self.final_checks.clear();
        Ok(())
    }

    fn set_time_limit(&mut self, event: &RunEvent, seconds: u32) -> Result<(), LedgerError> {
        self.workers_of(event)?.policy.time_limit_seconds = seconds;
        Ok(())
    }

    fn workers_of(&mut self, event: &RunEvent) -> Result<&mut ParallelState, LedgerError> {
        self.parallel.as_mut().ok_or_else(|| {
            LedgerError::new(event, "is about sessions that are not worked on apart")
        })
    }

    fn set_budget(&mut self, event: &RunEvent, micros: u64) -> Result<(), LedgerError> {
        let parallel = self.workers_of(event)?;
        parallel.policy.budget_micros = Some(micros);
        for known in parallel
            .groups
            .values_mut()
            .filter(|group| group.stuck_reason.as_deref() == Some(BUDGET_SPENT))
        {
            known.stuck_reason = None;
        }
        self.withdraw_questions(
            event,
            |about| matches!(about, QuestionKind::Stuck { reason, .. } if reason == BUDGET_SPENT),
        );
        Ok(())
    }

    pub(super) fn reset_idle_exits(&mut self, task: &str) {
        let group = self.plan.group_of(task).map(|(_, group)| group.id.clone());
        let known = self
            .parallel
            .as_mut()
            .zip(group)
            .and_then(|(parallel, id)| parallel.groups.get_mut(&id));
        if let Some(known) = known {
            known.idle_exits = 0;
        }
    }

    /// Turns a run that began nothing in parallel into a step-by-step run of the user's own session.
    pub(super) fn switch_to_foreground(&mut self) {
        (self.parallel, self.mode) = (None, ExecutionMode::StepByStep);
        if let Some(asked) = &mut self.scope {
            asked.is_foreground = true;
        }
        self.plan = self.as_in_run(self.plan.clone());
    }

    pub(super) fn redo_group(&mut self, id: &str) {
        let Some(group) = self.plan.groups.iter().find(|group| group.id == id) else {
            return;
        };
        for task in &group.tasks {
            if let Some(task) = self
                .tasks
                .get_mut(task)
                .filter(|task| task.status != TaskStatus::Skipped)
            {
                reopen_task(
                    task,
                    "its session is done again: it could not be brought together with what others did",
                );
            }
        }
        if let Some(known) = self
            .parallel
            .as_mut()
            .and_then(|parallel| parallel.groups.get_mut(id))
        {
            (known.tip, known.is_to_redo) = (None, true);
        }
    }

    /// Forgets the baselines of a session's attempts: they went with its work tree.
    fn forget_baselines(&mut self, id: &str) {
        let Some(group) = self.plan.groups.iter().find(|group| group.id == id) else {
            return;
        };
        for task in &group.tasks {
            if let Some(task) = self.tasks.get_mut(task) {
                (task.baseline, task.is_to_restore, task.uncommitted) = (None, false, None);
            }
        }
    }

    /// Clears all but the cost of sessions that an edited plan lacks: one of the same name begins anew.
    pub(super) fn drop_removed_groups(&mut self) {
        let Some(parallel) = &mut self.parallel else {
            return;
        };
        for (id, group_state) in &mut parallel.groups {
            if self.plan.groups.iter().all(|group| group.id != *id) {
                *group_state = group_state.cleared();
            }
        }
    }

    pub(super) fn unstick_group(&mut self, id: &str) {
        if let Some(known) = self
            .parallel
            .as_mut()
            .and_then(|parallel| parallel.groups.get_mut(id))
        {
            (known.stuck_reason, known.idle_exits) = (None, 0);
        }
    }

    pub(super) fn clear_landing_refusal(&mut self) {
        if let Some(parallel) = &mut self.parallel {
            parallel.landing_question = None;
        }
    }
}

/// Applies an event about all sessions; `false` where it is about one of them.
fn apply_to_all_groups(parallel: &mut ParallelState, kind: &EventKind) -> bool {
    match kind {
        EventKind::KeptWorkReleased { groups } => parallel.forget_kept_work(groups),
        EventKind::UserCommitsMerged { with, tip } => parallel.note_user_commits(with, tip),
        EventKind::ContactLost {
            peer,
            since,
            reason,
        } => {
            let lost = LostContact {
                since: *since,
                reason: reason.clone(),
            };
            parallel.lost_contacts.insert(*peer, lost);
        }
        EventKind::WorkersBounded(_) => {}
        EventKind::ContactRestored { peer } => drop(parallel.lost_contacts.remove(peer)),
        EventKind::LandingRefused {
            reason: why,
            files,
            ways_out,
            refusal,
        } => {
            let files = if files.is_empty() {
                String::new()
            } else {
                format!(": {}", files.join(", "))
            };
            let (ways_out, refusal) = (ways_out.clone(), refusal.clone());
            let reason = format!("{why}{files}");
            parallel.landing_question = Some(QuestionKind::LandingRefused {
                reason,
                ways_out,
                refusal,
            });
        }
        _ => return false,
    }
    true
}

pub(super) fn is_about_workers(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::BudgetSet { .. }
            | EventKind::TimeLimitSet { .. }
            | EventKind::ParallelStarted { .. }
            | EventKind::GroupPrepared { .. }
            | EventKind::GroupUpdated { .. }
            | EventKind::WorkerStarted { .. }
            | EventKind::WorkerEnded { .. }
            | EventKind::WorkerSubmitted { .. }
            | EventKind::SubmissionRefused { .. }
            | EventKind::WorkerBegan { .. }
            | EventKind::WorkerRequeued { .. }
            | EventKind::WorkerReported { .. }
            | EventKind::WorkerNotCancelled { .. }
            | EventKind::ContactLost { .. }
            | EventKind::ContactRestored { .. }
            | EventKind::WorkersBounded(_)
            | EventKind::GroupFilesMissing { .. }
            | EventKind::LimitReached { .. }
            | EventKind::GroupStuck { .. }
            | EventKind::GroupEnded { .. }
            | EventKind::GroupMerged { .. }
            | EventKind::WaveChecked { .. }
            | EventKind::WaveCheckReused { .. }
            | EventKind::GroupRefused { .. }
            | EventKind::GroupRemoved { .. }
            | EventKind::KeptWorkReleased { .. }
            | EventKind::WorktreeLeft { .. }
            | EventKind::UserCommitsMerged { .. }
            | EventKind::LandingRefused { .. }
            | EventKind::Landed { .. }
    )
}

fn apply_to_session(parallel: &mut ParallelState, id: &str, event: &RunEvent) {
    let session = parallel.groups.entry(id.to_owned()).or_default();
    match &event.kind {
        EventKind::GroupPrepared {
            worktree,
            branch,
            base,
            ..
        } => {
            let (worktree, branch, base) = (Some(worktree.clone()), branch.clone(), base.clone());
            *session = GroupState {
                worktree,
                branch,
                base,
                ..session.cleared()
            };
        }
        EventKind::GroupUpdated { tip, .. } => session.tip = Some(tip.clone()),
        EventKind::WorkerStarted { .. } | EventKind::WorkerSubmitted { .. } => {
            apply_to_worker(session, event);
            if let Some(job) = &mut session.job {
                job.time_limit_seconds = parallel.policy.time_limit_seconds();
            }
            parallel.limited_until = None;
        }
        EventKind::SubmissionRefused { .. }
        | EventKind::WorkerBegan { .. }
        | EventKind::WorkerRequeued { .. }
        | EventKind::WorkerReported { .. }
        | EventKind::WorkerNotCancelled { .. }
        | EventKind::WorkerEnded { .. } => apply_to_worker(session, event),
        EventKind::LimitReached { until, .. } => {
            // A worker at its client's limit was not idle.
            session.idle_exits = session.idle_exits.saturating_sub(1);
            parallel.limited_until = Some(*until);
        }
        EventKind::WorktreeLeft { reason: why, .. } => {
            (session.worktree, session.leftover_reason) = (None, Some(why.clone()));
        }
        EventKind::GroupStuck { reason: why, .. } => session.stuck_reason = Some(why.clone()),
        EventKind::GroupEnded { tip, failed, .. } => {
            session.status = if failed.is_some() {
                GroupStatus::Failed
            } else {
                GroupStatus::Done
            };
            (session.tip, session.reason) = (Some(tip.clone()), failed.clone());
            session.ended_seq = event.seq;
        }
        EventKind::GroupMerged { tip, .. } => {
            (session.status, session.reason, session.tip) = (GroupStatus::Merged, None, None);
            parallel.note_merge(id.to_owned(), tip);
        }
        EventKind::GroupRefused { files, .. } => {
            (session.status, session.reason) = (GroupStatus::InConflict, Some(files.join(", ")));
        }
        EventKind::GroupRemoved {
            rescue_ref: kept,
            copied,
            tip,
            ..
        } => {
            session.worktree = None;
            session.copied = copied.clone().or_else(|| session.copied.take());
            session.rescue_ref = kept.clone().or_else(|| session.rescue_ref.take());
            let is_merged = session.status == GroupStatus::Merged;
            session.tip = session
                .tip
                .take()
                .or_else(|| tip.clone())
                .filter(|_| !is_merged && !session.is_to_redo);
        }
        _ => {}
    }
}

fn apply_to_worker(group_state: &mut GroupState, event: &RunEvent) {
    match &event.kind {
        EventKind::WorkerStarted {
            process,
            budget_micros,
            ..
        } => {
            (group_state.status, group_state.process) =
                (GroupStatus::Running, Some(process.clone()));
            group_state.budget_micros = *budget_micros;
            group_state.idle_exits = group_state.idle_exits.saturating_add(1);
        }
        EventKind::WorkerSubmitted {
            job,
            launch,
            brief,
            budget_micros,
            ..
        } => {
            group_state.status = GroupStatus::Running;
            group_state.idle_exits = group_state.idle_exits.saturating_add(1);
            group_state.job = Some(SubmittedWorker::new(
                job,
                *launch,
                brief,
                event.ts,
                *budget_micros,
            ));
        }
        EventKind::SubmissionRefused { how, is_full, .. } => {
            (group_state.status, group_state.job, group_state.reason) =
                (GroupStatus::Ready, None, Some(how.clone()));
            group_state.idle_exits = group_state.idle_exits.saturating_sub(u32::from(*is_full));
        }
        EventKind::WorkerBegan { host, .. } => {
            if let Some(job) = &mut group_state.job {
                (job.began_at, job.host) = (Some(event.ts), host.clone());
            }
        }
        EventKind::WorkerRequeued { .. } => {
            if let Some(job) = &mut group_state.job {
                (job.began_at, job.queued_at, job.host) = (None, event.ts, String::new());
                job.requeues = job.requeues.saturating_add(1);
            }
        }
        EventKind::WorkerReported { cost, .. } => {
            if let Some(job) = &mut group_state.job {
                job.reported_cost = Some(*cost);
            }
        }
        EventKind::WorkerNotCancelled { job, reason, .. } => {
            group_state
                .stray_workers
                .insert(job.clone(), reason.clone());
        }
        EventKind::WorkerEnded { how, cost, .. } => {
            group_state.cost_micros = group_state
                .cost_micros
                .saturating_add(cost.told.unwrap_or_default());
            group_state.untold_micros = group_state.untold_micros.saturating_add(cost.untold);
            (group_state.status, group_state.process, group_state.reason) =
                (GroupStatus::Ready, None, Some(how.clone()));
            (group_state.job, group_state.budget_micros) = (None, None);
        }
        _ => {}
    }
}

/// Id of an event's session, and the statuses that the session may have before the event.
fn required_statuses(kind: &EventKind) -> (&str, &'static [GroupStatus]) {
    use GroupStatus::{Done, Failed, InConflict, Merged, Ready, Running};
    match kind {
        // A failed or conflicting session begins anew from the run's result so far.
        EventKind::GroupPrepared { group, .. } => (group, &[Ready, Failed, InConflict, Merged]),
        EventKind::WorkerStarted { group, .. }
        | EventKind::WorkerSubmitted { group, .. }
        | EventKind::GroupFilesMissing { group, .. }
        | EventKind::GroupEnded { group, .. }
        | EventKind::LimitReached { group, .. }
        | EventKind::GroupStuck { group, .. } => (group, &[Ready, Done]),
        EventKind::WorkerEnded { group, .. }
        | EventKind::SubmissionRefused { group, .. }
        | EventKind::WorkerBegan { group, .. }
        | EventKind::WorkerRequeued { group, .. }
        | EventKind::WorkerReported { group, .. }
        | EventKind::WorkerNotCancelled { group, .. } => (group, &[Running]),
        EventKind::GroupUpdated { group, .. } => (group, &[Failed]),
        EventKind::GroupMerged { group, .. } | EventKind::GroupRefused { group, .. } => {
            (group, &[Done, InConflict])
        }
        EventKind::GroupRemoved { group, .. } | EventKind::WorktreeLeft { group, .. } => {
            (group, &[Ready, Done, Merged, Failed, InConflict])
        }
        _ => ("", &[]),
    }
}
