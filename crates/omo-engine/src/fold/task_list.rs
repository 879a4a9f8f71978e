//! Changes to a run's state by events of task lists: claims, notes, added tasks, verdicts, rounds.

use omo_plan::id::is_id;
use omo_plan::model::Task;
use omo_plan::task_list::plan::tasks_digest;

use super::{RunState, reopen_task};
use crate::event::{AttemptEnd, EventKind, ImportedStatus, PlanVerdict, RunEvent, TaskNote};
use crate::evidence_rules;
use crate::state::{LedgerError, TaskState, TaskStatus};

impl RunState {
    /// Refuses an event that no valid ledger of a task list has at this state.
    pub(super) fn check_task_list_event(&self, event: &RunEvent) -> Result<(), LedgerError> {
        match &event.kind {
            EventKind::TaskClaimed {
                task, evidence_ids, ..
            } => {
                let checks = self
                    .tasks
                    .get(task)
                    .filter(|task| task.running.is_some())
                    .map(|task| &task.checks);
                let is_green = checks
                    .is_some_and(|checks| checks.iter().all(|(_, outcome)| outcome.is_green()));
                if !is_green
                    || evidence_rules::check_worker_evidence(self, task, evidence_ids).is_err()
                {
                    return Err(LedgerError::new(
                        event,
                        "claims a task without green evidence of its own",
                    ));
                }
            }
            EventKind::TaskImported {
                task,
                status: ImportedStatus::Done,
                ..
            } if self.plan.task(task).is_some_and(Task::is_verification) => {
                return Err(LedgerError::new(
                    event,
                    "takes a verification from another program",
                ));
            }
            EventKind::EvidenceRan { evidence } => {
                let task = self.tasks.get(&evidence.task);
                if task
                    .is_some_and(|task| task.running.is_none() || task.attempts != evidence.attempt)
                {
                    return Err(LedgerError::new(
                        event,
                        "has evidence that no worker had run",
                    ));
                }
                if self.evidence.iter().any(|known| known.id == evidence.id) {
                    return Err(LedgerError::new(
                        event,
                        "has evidence under an id that is taken",
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a note of a worker at work, up to `TaskNote::MAX_COUNT`.
    pub(super) fn add_note(
        &mut self,
        event: &RunEvent,
        note: &TaskNote,
    ) -> Result<(), LedgerError> {
        let task_state = self.tasks.get(&note.task);
        let is_at_work =
            task_state.is_some_and(|task| task.running.is_some() && task.attempts == note.attempt);
        if !is_at_work || self.notes.len() >= TaskNote::MAX_COUNT {
            return Err(LedgerError::new(
                event,
                "has a note that no worker may leave",
            ));
        }
        self.notes.push(note.clone());
        Ok(())
    }

    pub(super) fn apply_added_task(
        &mut self,
        event: &RunEvent,
        added: &Task,
    ) -> Result<(), LedgerError> {
        let may_be = self.is_task_list()
            && is_id(&added.id)
            && !added.is_verification()
            && self.plan.task(&added.id).is_none()
            && added.deps.iter().all(|id| {
                self.plan
                    .task(id)
                    .is_some_and(|task| !task.is_verification())
            });
        if !may_be {
            return Err(LedgerError::new(event, "adds a task that cannot be"));
        }
        let verification = self.plan.tasks.iter().position(Task::is_verification);
        if let Some(verification) = verification.and_then(|place| self.plan.tasks.get_mut(place)) {
            verification.deps.push(added.id.clone());
        }
        let place = verification.unwrap_or(self.plan.tasks.len());
        self.plan.tasks.insert(place, added.clone());
        if let Some(group) = self.plan.groups.last_mut() {
            let place =
                verification.map_or(group.tasks.len(), |_| group.tasks.len().saturating_sub(1));
            group.tasks.insert(place, added.id.clone());
        }
        self.plan.source.sha256 = tasks_digest(&self.plan.tasks);
        self.plan_sha256.clone_from(&self.plan.source.sha256);
        self.tasks.insert(
            added.id.clone(),
            TaskState {
                updated_at: Some(event.ts),
                ..TaskState::default()
            },
        );
        self.invalidate_final_results();
        Ok(())
    }

    /// Ends the verification by its verdict; a refusal fails the tasks that it names, too.
    pub(super) fn apply_verdict(
        &mut self,
        event: &RunEvent,
        verdict: &PlanVerdict,
    ) -> Result<(), LedgerError> {
        let id = evidence_rules::running_review(self).map(|task| task.id.clone());
        let id =
            id.ok_or_else(|| LedgerError::new(event, "has a verdict that was not asked for"))?;
        if verdict.passed && evidence_rules::check_passing_verdict(self, verdict).is_err() {
            return Err(LedgerError::new(
                event,
                "says that all is done, and it is not",
            ));
        }
        if verdict
            .reopen
            .iter()
            .any(|(named, _)| *named == id || !self.tasks.contains_key(named))
        {
            return Err(LedgerError::new(
                event,
                "has a verdict on a task that is not there",
            ));
        }
        for (named, why) in &verdict.reopen {
            let named = self.tasks.get_mut(named);
            if let Some(named) = named.filter(|named| {
                matches!(
                    named.status,
                    TaskStatus::Passed | TaskStatus::Claimed | TaskStatus::Unverified
                )
            }) {
                named.refused_as = Some(named.status);
                named.status = TaskStatus::Failed;
                named.reason = Some(format!("the verifier says: {why}"));
                named.updated_at = Some(event.ts);
            }
        }
        self.verdicts.push(verdict.clone());
        if let Some(task) = self.tasks.get_mut(&id) {
            let end = AttemptEnd {
                attempt: task.attempts,
                evidence: verdict.summary_line(),
                ..AttemptEnd::default()
            };
            task.status = if verdict.passed {
                TaskStatus::Passed
            } else {
                TaskStatus::Failed
            };
            (task.running, task.last_end, task.reason) = (None, Some(end), None);
            task.evidence_ids.clone_from(&verdict.evidence_ids);
            task.updated_at = Some(event.ts);
        }
        Ok(())
    }

    pub(super) fn withdraw_verdict(&mut self, review: &str) {
        let Some(review) = self.plan.task(review).filter(|task| task.is_verification()) else {
            return;
        };
        for id in &review.deps {
            let Some(task) = self
                .tasks
                .get_mut(id)
                .filter(|task| task.status == TaskStatus::Failed)
            else {
                continue;
            };
            if let Some(status) = task.refused_as.take() {
                (task.status, task.reason) = (status, None);
            }
        }
    }

    pub(super) fn start_round(
        &mut self,
        event: &RunEvent,
        iteration: u32,
        reopened: &[(String, String)],
    ) -> Result<(), LedgerError> {
        // A run that goes on after its end begins to count anew.
        let is_next =
            iteration == self.round.saturating_add(1) || (iteration, self.round) == (1, 1);
        if !is_next || iteration > self.plan.policy.max_rounds {
            return Err(LedgerError::new(
                event,
                "goes over the tasks once more than it may",
            ));
        }
        if !reopened.iter().all(|(id, _)| {
            self.tasks
                .get(id)
                .is_some_and(|task| task.status.is_ended())
        }) {
            return Err(LedgerError::new(
                event,
                "has a task done again that was not done",
            ));
        }
        self.round = iteration;
        for (id, why) in reopened {
            if let Some(task) = self.tasks.get_mut(id) {
                reopen_task(task, why);
                task.updated_at = Some(event.ts);
            }
            self.withdraw_questions_about(event, id);
        }
        self.invalidate_final_results();
        Ok(())
    }

    pub(super) fn invalidate_final_results(&mut self) {
        self.final_checks.clear();
        self.unfinished = None;
        let Some(verification) = self.plan.verification_task().map(|task| task.id.clone()) else {
            return;
        };
        let task_state = self.tasks.get_mut(&verification);
        if let Some(task_state) = task_state.filter(|task_state| {
            matches!(task_state.status, TaskStatus::Passed | TaskStatus::Failed)
        }) {
            reopen_task(task_state, "what it verified is done again");
        }
    }
}
