//! State of tasks with green checks whose commit `git` refused: held until the user answers.

use omo_git::commit::CommitRefusal;
use omo_plan::model::Task;

use super::reopen_task;
use crate::event::{EventKind, QuestionKind, RunEvent};
use crate::state::{
    ANSWER_CONTINUE, ANSWER_REDO, LedgerError, RunState, TaskState, TaskStatus, UncommittedAttempt,
};

/// Applies an event to a task: a refused commit holds the attempt, a retry has it judged again.
pub(super) fn apply(task: &mut TaskState, event: &RunEvent) -> Result<(), LedgerError> {
    match &event.kind {
        EventKind::TaskCommitRefused { kept, end, .. } => {
            let attempt = task
                .running
                .take()
                .ok_or_else(|| LedgerError::new(event, "refuses a commit of no attempt"))?;
            task.status = TaskStatus::Held;
            task.reason = end
                .refusal
                .as_ref()
                .map(|refusal| format!("its commit was refused: {refusal}"));
            task.uncommitted = Some(UncommittedAttempt {
                attempt,
                kept: kept.clone(),
                answer: None,
            });
            task.last_end = Some(end.clone());
        }
        EventKind::TaskCommitRetried { .. } => {
            let known = task
                .uncommitted
                .take()
                .ok_or_else(|| LedgerError::new(event, "commits what was not refused"))?;
            (task.status, task.running, task.reason) =
                (TaskStatus::Running, Some(known.attempt), None);
            // Whatever the retry comes to, it is no further attempt.
            task.attempts_before = task.attempts_before.max(task.attempts.saturating_sub(1));
            task.checks.clear();
        }
        _ => {}
    }
    Ok(())
}

impl RunState {
    /// First task with a refused commit that got this answer; `None` stands for no answer yet.
    pub(crate) fn refused_commit(&self, answer: Option<&str>) -> Option<&Task> {
        self.plan.tasks.iter().find(|task| {
            let known = self
                .tasks
                .get(&task.id)
                .and_then(|task| task.uncommitted.as_ref());
            known.is_some_and(|known| known.answer.as_deref() == answer)
        })
    }

    pub(crate) fn due_commit_question(&self) -> Option<QuestionKind> {
        let task = self.refused_commit(None)?;
        let task_state = self.tasks.get(&task.id)?;
        let refusal = task_state.last_end.as_ref()?.refusal.clone()?;
        let kept = task_state.uncommitted.as_ref()?.kept.clone();
        Some(QuestionKind::CommitRefused {
            task: task.id.clone(),
            refusal,
            kept,
        })
    }

    /// Retries the commit of a task and all refused alike; or leaves the task out, or goes on with its work.
    pub(super) fn answer_refused_commit(
        &mut self,
        id: &str,
        refusal: &CommitRefusal,
        option: &str,
    ) {
        for (other, task) in &mut self.tasks {
            if other != id
                && !(option == ANSWER_CONTINUE
                    && task.uncommitted.is_some()
                    && task.is_refused_as(refusal))
            {
                continue;
            }
            if option == ANSWER_REDO {
                let why = task
                    .reason
                    .clone()
                    .unwrap_or_else(|| "its commit was refused".to_owned());
                reopen_task(task, &why);
            } else if let Some(known) = &mut task.uncommitted {
                known.answer = Some(option.to_owned());
            }
        }
    }
}
