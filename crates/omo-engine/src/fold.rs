//! The fold of ledger events into a `RunState`. An event that does not fit the state, as another program or a newer omo
//! may write it, is refused with its number.

mod parallel;
mod questions;
mod refused_commits;
mod task_list;
mod wave_checks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::slice;

use omo_plan::dialects::PlanKind;
use omo_plan::model::Plan;
use omo_plan::proof::ProofSource;

use crate::commit_guard::KnownGuard;
use crate::event::{AttemptEnd, EventKind, ImportedStatus, RunEvent};
use crate::evidence_rules;
use crate::execution_mode::ExecutionMode;
use crate::state::{
    ANSWER_STOP, DispatchedTasks, FINAL_CHECKS_ID, LedgerError, RunPhase, RunState, RunningAttempt,
    TaskState, TaskStatus, WorkBase, WorktreeBaseline, task_digests,
};
use crate::verbs;

impl RunState {
    /// The state after the first event; any other than `RunOpened` is an error.
    pub fn from_first_event(event: &RunEvent) -> Result<Self, LedgerError> {
        let EventKind::RunOpened {
            plan,
            approved,
            root,
            worktree,
            base,
            branch,
            scope: asked,
            mode,
            guard,
        } = &event.kind
        else {
            return Err(LedgerError::new(event, "does not open a run"));
        };
        let tasks = plan
            .tasks
            .iter()
            .map(|task| (task.id.clone(), TaskState::default()))
            .collect();
        Ok(Self {
            plan: (**plan).clone(),
            plan_sha256: plan.source.sha256.clone(),
            approved: approved.clone(),
            root: root.clone(),
            worktree: worktree.clone(),
            base: base.clone(),
            branch: branch.clone(),
            phase: RunPhase::Executing,
            holder: event.actor.clone(),
            tasks,
            questions: Vec::new(),
            reviewed_tasks: BTreeSet::new(),
            final_checks: BTreeMap::new(),
            missing_commits: Vec::new(),
            pull_request: None,
            changed_files: Vec::new(),
            displaced: Vec::new(),
            guard: guard.clone().map(KnownGuard::from),
            changed_check_files: BTreeMap::new(),
            ticked: BTreeSet::new(),
            tick_refusal: None,
            dispatched: None,
            round: 1,
            evidence: Vec::new(),
            notes: Vec::new(),
            verdicts: Vec::new(),
            closed_findings: BTreeSet::new(),
            first_tree: None,
            unfinished: None,
            parallel: None,
            scope: *asked,
            mode: mode.unwrap_or_else(|| ExecutionMode::of_kind(plan.dialect.kind())),
            is_stopped: false,
            opened_at: event.ts,
            updated_at: event.ts,
            seq: event.seq,
        })
    }

    /// Folds one more event into the state; an error leaves the state as it was.
    pub fn apply(&mut self, event: &RunEvent) -> Result<(), LedgerError> {
        if self.seq.checked_add(1) != Some(event.seq) {
            return Err(LedgerError::new(event, "does not follow the one before it"));
        }
        match &event.kind {
            EventKind::RunOpened { .. } => {
                return Err(LedgerError::new(event, "opens a run that is open"));
            }
            EventKind::TasksDispatched { tasks, to_agents } => {
                self.dispatched = Some(DispatchedTasks {
                    tasks: tasks.clone(),
                    at: event.ts,
                    to_agents: *to_agents,
                });
            }
            EventKind::RunMoved { root, approved } => self.follow_renamed_folder(root, approved),
            EventKind::HolderChanged => self.change_holder(event),
            EventKind::PlanChanged { plan, approved } => self.replace_plan(event, plan, approved),
            EventKind::QuestionOpened { question } => self.add_question(event, question)?,
            EventKind::QuestionAnswered {
                question,
                option,
                plan_sha256,
            } => {
                self.apply_answer(event, question, option)?;
                if let Some(sha256) = plan_sha256 {
                    self.plan_sha256.clone_from(sha256);
                }
            }
            // A task may have the id `final`, too: only attempt 0 is of the whole plan.
            EventKind::CheckRan {
                task,
                attempt: 0,
                position: place,
                outcome,
                ..
            } if task == FINAL_CHECKS_ID => {
                self.final_checks.insert(*place, outcome.clone());
            }
            EventKind::ProjectionChanged { file, backup: kept } => {
                self.changed_files.push((file.clone(), kept.clone()));
            }
            EventKind::PlanTicked {
                ticked,
                opened,
                plan_sha256,
                tip,
            } => {
                self.apply_ticks(event, [ticked, opened], plan_sha256.as_ref(), tip.as_ref())?;
            }
            EventKind::ChangesDisplaced { kept } => self.displaced.push(kept.clone()),
            EventKind::CommitsMissing { commits } => self.missing_commits.clone_from(commits),
            EventKind::PullRequestTried { attempt } => self.pull_request = Some(attempt.clone()),
            EventKind::PlanNotTicked { reason: why } => self.tick_refusal = Some(why.clone()),
            EventKind::TaskAdded { task: added } => self.apply_added_task(event, added)?,
            EventKind::TasksProved { tasks, by } => self.apply_proof(event, tasks, by)?,
            EventKind::JudgesFound { judges } => {
                self.guard.iter_mut().for_each(|guard| guard.accept(judges));
            }
            EventKind::UnfinishedSearched { unfinished } => {
                self.unfinished = Some(unfinished.clone());
            }
            EventKind::FindingClosed(closed) => {
                if self
                    .open_findings()
                    .all(|(number, _)| number != closed.number)
                {
                    return Err(LedgerError::new(event, "closes a finding that is not open"));
                }
                self.closed_findings.insert(closed.number);
            }
            EventKind::NoteLeft(note) => self.add_note(event, note)?,
            EventKind::VerdictGiven { verdict } => self.apply_verdict(event, verdict)?,
            EventKind::RoundStarted {
                round: iteration,
                reopened,
            } => self.start_round(event, *iteration, reopened)?,
            kind if parallel::is_about_workers(kind) => self.apply_to_group(event)?,
            EventKind::RunCancelled { reason: why } => {
                self.hold_running_tasks("the run was cancelled");
                self.phase = RunPhase::Cancelled { why: why.clone() };
            }
            EventKind::RunResumed => self.resume(event),
            EventKind::RunEnded { result } => self.phase = RunPhase::Ended { result: *result },
            _ => self.apply_to_task(event)?,
        }
        if self.plan.policy.unproved_continues && may_end_proofs(&event.kind) {
            self.follow_proofs(event);
        }
        (self.seq, self.updated_at) = (event.seq, event.ts);
        Ok(())
    }

    fn follow_renamed_folder(&mut self, root: &str, approved: &str) {
        let old = std::mem::replace(&mut self.root, root.to_owned());
        approved.clone_into(&mut self.approved);
        for known in self
            .parallel
            .iter_mut()
            .flat_map(|parallel| parallel.groups.values_mut())
        {
            if let Some(tree) = &mut known.worktree
                && let Ok(below) = Path::new(tree.as_str()).strip_prefix(&old)
            {
                *tree = Path::new(root).join(below).display().to_string();
            }
        }
    }

    fn apply_proof(
        &mut self,
        event: &RunEvent,
        tasks: &[String],
        by: &ProofSource,
    ) -> Result<(), LedgerError> {
        let are_proved = tasks.iter().all(|id| {
            let names_source = self
                .plan
                .task(id)
                .is_some_and(|task| task.proved_by.as_ref() == Some(by));
            let is_unproved = self.status_of(id) == TaskStatus::Unverified;
            is_unproved && names_source && evidence_rules::judged_since(self, id, by)
        });
        if tasks.is_empty() || !are_proved || !evidence_rules::is_green(self, by) {
            return Err(LedgerError::new(
                event,
                "proves a task by what does not prove it",
            ));
        }
        let evidence = evidence_rules::describe_proof(self, by);
        for id in tasks {
            let Some(task) = self.tasks.get_mut(id) else {
                continue;
            };
            (task.status, task.proved_by) = (TaskStatus::Passed, Some(by.clone()));
            let end = task.last_end.get_or_insert_default();
            end.evidence.clone_from(&evidence);
        }
        Ok(())
    }

    fn apply_ticks(
        &mut self,
        event: &RunEvent,
        [ticked, opened]: [&[String]; 2],
        plan_sha256: Option<&String>,
        tip: Option<&String>,
    ) -> Result<(), LedgerError> {
        if ticked
            .iter()
            .chain(opened)
            .any(|id| !self.tasks.contains_key(id))
        {
            return Err(LedgerError::new(
                event,
                "ticks a task that the plan does not have",
            ));
        }
        if let Some(tip) = tip {
            let parallel = self
                .parallel
                .as_mut()
                .filter(|parallel| parallel.landed.is_none());
            let parallel = parallel.ok_or_else(|| {
                LedgerError::new(event, "ticks in a commit of no parallel worker")
            })?;
            parallel.tip.clone_from(tip);
        }
        self.ticked.extend(ticked.iter().cloned());
        self.ticked.retain(|id| !opened.contains(id));
        if let Some(sha256) = plan_sha256 {
            self.plan_sha256.clone_from(sha256);
        }
        Ok(())
    }

    /// Reopens judges whose tasks are done again, and withdraws proofs that no longer hold.
    fn follow_proofs(&mut self, event: &RunEvent) {
        let mut reopened_judges: BTreeSet<&str> = BTreeSet::new();
        for task in &self.plan.tasks {
            if let (Some(ProofSource::Task(judge)), true) = (
                &task.proved_by,
                matches!(
                    self.status_of(&task.id),
                    TaskStatus::Pending | TaskStatus::Held | TaskStatus::Running
                ),
            ) && self.status_of(judge) == TaskStatus::Passed
            {
                reopened_judges.insert(judge);
            }
        }
        let reopened_judges: Vec<String> = reopened_judges.into_iter().map(str::to_owned).collect();
        for judge in reopened_judges {
            if let Some(task_state) = self.tasks.get_mut(&judge) {
                reopen_task(task_state, "what it judges is done again");
                task_state.updated_at = Some(event.ts);
            }
        }
        let void_proofs: Vec<String> = self
            .tasks
            .iter()
            .filter(|(id, task_state)| {
                let source = self.plan.task(id).and_then(|task| task.proved_by.as_ref());
                let holds = source.is_some_and(|source| evidence_rules::is_green(self, source));
                task_state.status == TaskStatus::Passed
                    && task_state.proved_by.is_some()
                    && !(holds && source == task_state.proved_by.as_ref())
            })
            .map(|(id, _)| id.clone())
            .collect();
        for id in void_proofs {
            let evidence = self
                .plan
                .task(&id)
                .map(|task| evidence_rules::unproved_reason(&self.plan, task));
            if let Some(task_state) = self.tasks.get_mut(&id) {
                (task_state.status, task_state.proved_by) = (TaskStatus::Unverified, None);
                task_state.last_end.get_or_insert_default().evidence = evidence.unwrap_or_default();
            }
        }
    }

    fn apply_to_task(&mut self, event: &RunEvent) -> Result<(), LedgerError> {
        let kind = &event.kind;
        let Some(id) = task_of(kind) else {
            return Ok(());
        };
        self.check_task_list_event(event)?;
        let task = self.tasks.get_mut(id).ok_or_else(|| {
            LedgerError::new(event, "is about a task that the plan does not have")
        })?;
        if matches!(kind, EventKind::TaskPassed { .. }) && !is_proved(task) {
            return Err(LedgerError::new(
                event,
                "passes a task whose checks were not seen to be green",
            ));
        }
        task.updated_at = Some(event.ts);
        let takes_back = self
            .plan
            .task(id)
            .is_some_and(|task| task.on_failure.reverts_changes());
        refused_commits::apply(task, event)?;
        match kind {
            EventKind::TaskPassed { end, .. } => {
                end_attempt(task, TaskStatus::Passed, end);
                task.baseline = None;
            }
            EventKind::TaskUnverified { end, .. } => end_attempt(task, TaskStatus::Unverified, end),
            EventKind::TaskRestored {
                not_restored,
                left_alone,
                kept,
                ..
            } => {
                note_taken_back(task, not_restored, left_alone, kept.as_ref());
            }
            EventKind::TaskClaimed {
                end, evidence_ids, ..
            } => {
                end_attempt(task, TaskStatus::Claimed, end);
                task.evidence_ids.clone_from(evidence_ids);
            }
            EventKind::EvidenceRan { evidence } => {
                task.evidence_ids.push(evidence.id.clone());
                self.evidence.push(evidence.clone());
            }
            EventKind::TaskFailed {
                end,
                is_final: true,
                ..
            } => {
                end_attempt(task, TaskStatus::Failed, end);
                task.is_to_restore = takes_back
                    && task
                        .baseline
                        .as_ref()
                        .is_some_and(|ground| ground.snapshot.is_some());
            }
            EventKind::TaskFailed {
                end,
                is_final: false,
                ..
            } => end_attempt(task, TaskStatus::Pending, end),
            EventKind::TaskImported {
                status,
                evidence,
                files,
                ..
            } => {
                let end = AttemptEnd {
                    evidence: evidence.clone(),
                    files: files.clone(),
                    ..AttemptEnd::default()
                };
                end_attempt(task, (*status).into(), &end);
                task.reason = (*status == ImportedStatus::Blocked).then_some(end.evidence);
            }
            EventKind::TaskStarted { tree, .. } => {
                // Earlier attempts left their work in place: checks that it made green still prove the task.
                let keeps_first_green = self.plan.dialect.kind() == PlanKind::TaskList
                    || self.mode == ExecutionMode::Waves;
                begin_attempt(task, event, keeps_first_green);
                self.first_tree = self.first_tree.take().or_else(|| tree.clone());
                self.invalidate_final_results();
            }
            EventKind::CheckRan {
                command, outcome, ..
            } => task.checks.push((command.clone(), outcome.clone())),
            EventKind::TaskHeld {
                reason: why,
                attempt,
                is_pause,
                ..
            } => {
                hold_task(task, *attempt, why);
                task.lost_workers = task.lost_workers.saturating_add(u32::from(!is_pause));
            }
            EventKind::TaskSkipped { reason: why, .. } => {
                (task.status, task.running, task.reason) =
                    (TaskStatus::Skipped, None, Some(why.clone()));
                (task.uncommitted, task.is_stale) = (None, false);
            }
            EventKind::TaskReopened { reason: why, .. } => reopen_task(task, why),
            _ => {}
        }
        if matches!(kind, EventKind::TaskStarted { .. }) {
            self.reset_idle_exits(id);
        }
        if matches!(kind, EventKind::TaskReopened { .. }) {
            self.withdraw_verdict(id);
        }
        self.note_work_base(id, event);
        self.note_check_files(id, kind);
        if matches!(
            kind,
            EventKind::TaskSkipped { .. } | EventKind::TaskReopened { .. }
        ) {
            self.invalidate_final_results();
            self.withdraw_questions_about(event, id);
        }
        Ok(())
    }

    fn note_work_base(&mut self, id: &str, event: &RunEvent) {
        let EventKind::TaskStarted { tree, .. } = &event.kind else {
            return;
        };
        let Some(task_state) = self
            .tasks
            .get_mut(id)
            .filter(|task| task.work_base.is_none())
        else {
            return;
        };
        task_state.work_base = Some(WorkBase {
            tree: tree.clone(),
            since: event.ts,
        });
    }

    fn note_check_files(&mut self, id: &str, kind: &EventKind) {
        let is_done = verbs::has_done_task(self, slice::from_ref(kind));
        if let (true, Some(guard), Some(end)) = (is_done, &mut self.guard, end_of(kind)) {
            guard.accept(&end.judges);
        }
        for file in end_of(kind)
            .into_iter()
            .flat_map(|end| &end.changed_check_files)
        {
            self.changed_check_files
                .entry(file.clone())
                .or_insert_with(|| id.to_owned());
        }
    }

    /// Replaces the plan: unchanged and running tasks keep their state, done ones with another text are stale.
    fn replace_plan(&mut self, event: &RunEvent, plan: &Plan, approved: &str) {
        let texts = task_digests(&self.plan);
        let mut tasks = BTreeMap::new();
        for task in &plan.tasks {
            let state = match texts.get(task.id.as_str()).zip(self.tasks.get(&task.id)) {
                None => TaskState::default(),
                Some((text, state))
                    if *text == task.body_sha256 || state.status == TaskStatus::Running =>
                {
                    state.clone()
                }
                Some((_, state)) => {
                    self.reviewed_tasks.remove(&task.id);
                    TaskState {
                        is_stale: state.is_stale
                            || matches!(state.status, TaskStatus::Passed | TaskStatus::Claimed),
                        attempts: state.attempts,
                        attempts_before: state.attempts,
                        last_end: state.last_end.clone(),
                        updated_at: Some(event.ts),
                        // Changes by earlier attempts are still in the work tree.
                        baseline: state.baseline.clone(),
                        is_to_restore: state.is_to_restore,
                        taken_back: state.taken_back.clone(),
                        ..TaskState::default()
                    }
                }
            };
            tasks.insert(task.id.clone(), state);
        }
        self.reviewed_tasks.retain(|id| tasks.contains_key(id));
        self.ticked.retain(|id| tasks.contains_key(id));
        self.tick_refusal = None;
        let before = std::mem::replace(&mut self.plan, plan.clone());
        self.keep_choices(&before);
        if before.final_checks != self.plan.final_checks {
            self.forget_wave_checks();
        }
        self.tasks = tasks;
        self.drop_removed_groups();
        self.plan_sha256.clone_from(&plan.source.sha256);
        approved.clone_into(&mut self.approved);
        self.invalidate_final_results();
        self.dispatched = None;
        // Questions are about the former plan; an open one is asked again.
        self.withdraw_questions(event, |_| true);
    }

    fn hold_running_tasks(&mut self, why: &str) {
        for task in self
            .tasks
            .values_mut()
            .filter(|task| task.running.is_some())
        {
            hold_task(task, task.attempts, why);
        }
    }

    /// Changes the holder; tasks that the former one dispatched have no worker any more.
    fn change_holder(&mut self, event: &RunEvent) {
        self.holder = event.actor.clone();
        self.dispatched = None;
    }

    fn resume(&mut self, event: &RunEvent) {
        if matches!(self.phase, RunPhase::Ended { .. }) {
            self.round = 1;
        }
        self.phase = RunPhase::Executing;
        self.is_stopped = false;
        self.tick_refusal = None;
        self.change_holder(event);
        self.final_checks.clear();
        self.check_wave_again();
        // Questions that were answered with a stop are asked again.
        for task in self
            .tasks
            .values_mut()
            .filter(|task| task.judgment.as_deref() == Some(ANSWER_STOP))
        {
            task.judgment = None;
        }
        let refused = self
            .tasks
            .values_mut()
            .filter_map(|task| task.uncommitted.as_mut());
        for known in refused.filter(|known| known.answer.as_deref() == Some(ANSWER_STOP)) {
            known.answer = None;
        }
    }
}

fn is_proved(task: &TaskState) -> bool {
    task.running.is_some()
        && !task.checks.is_empty()
        && task.checks.iter().all(|(_, outcome)| outcome.is_green())
}

fn may_end_proofs(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::TaskStarted { .. }
            | EventKind::TaskFailed { .. }
            | EventKind::TaskHeld { .. }
            | EventKind::TaskSkipped { .. }
            | EventKind::TaskReopened { .. }
            | EventKind::RoundStarted { .. }
            | EventKind::VerdictGiven { .. }
            | EventKind::PlanChanged { .. }
            | EventKind::CheckRan { attempt: 0, .. }
            | EventKind::WaveChecked { .. }
            | EventKind::WaveCheckReused { .. }
    )
}

fn begun_attempt(
    event: &RunEvent,
    ticket: &str,
    tree: Option<&str>,
    protected_files: &[(String, String)],
) -> RunningAttempt {
    RunningAttempt {
        by: event.actor.clone(),
        ticket: ticket.to_owned(),
        since: event.ts,
        tree: tree.map(str::to_owned),
        protected_files: protected_files.to_vec(),
    }
}

fn note_taken_back(
    task: &mut TaskState,
    not_restored: &[String],
    left_alone: &[String],
    kept: Option<&String>,
) {
    (task.baseline, task.is_to_restore) = (None, false);
    task.not_restored = not_restored.to_vec();
    task.left_alone = left_alone.to_vec();
    task.taken_back = kept.cloned().or_else(|| task.taken_back.take());
}

fn hold_task(task: &mut TaskState, attempt: u32, why: &str) {
    (task.status, task.running, task.reason) = (TaskStatus::Held, None, Some(why.to_owned()));
    task.attempts = attempt.saturating_sub(1);
    task.evidence_ids.clear();
}

fn begin_attempt(task: &mut TaskState, event: &RunEvent, keeps_first_green: bool) {
    let EventKind::TaskStarted {
        attempt,
        ticket,
        tree,
        protected_files,
        already_green,
        snapshot,
        head,
        ..
    } = &event.kind
    else {
        return;
    };
    if task.baseline.is_none() && snapshot.is_some() {
        task.baseline = Some(WorktreeBaseline {
            tree: tree.clone(),
            snapshot: snapshot.clone(),
            head: head.clone(),
            since: Some(event.ts),
        });
    }
    task.status = TaskStatus::Running;
    task.attempts = *attempt;
    (task.reason, task.refused_as) = (None, None);
    task.judgment = None;
    task.not_restored.clear();
    task.left_alone.clear();
    task.checks.clear();
    (task.proved_by, task.uncommitted) = (None, None);
    task.evidence_ids.clear();
    if *attempt == 1 || !keeps_first_green {
        task.already_green.clone_from(already_green);
    }
    task.running = Some(begun_attempt(
        event,
        ticket,
        tree.as_deref(),
        protected_files,
    ));
}

fn end_attempt(task: &mut TaskState, status: TaskStatus, end: &AttemptEnd) {
    task.status = status;
    task.running = None;
    task.last_end = Some(end.clone());
    task.reason = None;
    task.is_stale = false;
}

/// Sets a task back to pending; earlier attempts no longer count against its maximum.
fn reopen_task(task: &mut TaskState, why: &str) {
    (task.status, task.running, task.reason) = (TaskStatus::Pending, None, Some(why.to_owned()));
    (task.lost_workers, task.attempts_before, task.judgment) = (0, task.attempts, None);
    task.uncommitted = None;
}

fn end_of(kind: &EventKind) -> Option<&AttemptEnd> {
    match kind {
        EventKind::TaskPassed { end, .. }
        | EventKind::TaskFailed { end, .. }
        | EventKind::TaskUnverified { end, .. }
        | EventKind::TaskClaimed { end, .. }
        | EventKind::TaskCommitRefused { end, .. } => Some(end),
        _ => None,
    }
}

fn task_of(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::TaskStarted { task, .. }
        | EventKind::CheckRan { task, .. }
        | EventKind::TaskPassed { task, .. }
        | EventKind::TaskFailed { task, .. }
        | EventKind::TaskUnverified { task, .. }
        | EventKind::TaskClaimed { task, .. }
        | EventKind::TaskImported { task, .. }
        | EventKind::TaskRestored { task, .. }
        | EventKind::TaskSkipped { task, .. }
        | EventKind::TaskHeld { task, .. }
        | EventKind::TaskCommitRefused { task, .. }
        | EventKind::TaskCommitRetried { task }
        | EventKind::TaskReopened { task, .. } => Some(task),
        EventKind::EvidenceRan { evidence } => Some(&evidence.task),
        _ => None,
    }
}
