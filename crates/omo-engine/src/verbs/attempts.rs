//! Verbs of an attempt at a task: its start, its judgement by measurements, giving it up, and a lost worker.

mod judgement;

use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::text::sanitize;
use omo_plan::model::{OnFailure, Task};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use super::{ended_refusal, find_task, lost_worker_event, unanswered_refusal};
use crate::commit_guard::JudgeStates;
use crate::event::{AttemptEnd, EventKind};
use crate::parallel_schedule;
use crate::schedule::{self, NextAction};
use crate::state::{FINAL_CHECKS_ID, MAX_REASON_CHARS, RunState, TaskStanding, TaskStatus};

use judgement::scope_violation;
pub use judgement::{AttemptMeasurement, CommitOutcome, StrayCommit, judge_attempt};

#[derive(Clone, Debug, Default)]
pub struct AttemptStart {
    pub ticket: String,
    pub tree: Option<String>,
    pub protected_files: Vec<(String, String)>,
    pub already_green: Vec<usize>,
    pub snapshot: Option<String>,
    pub head: Option<String>,
}

/// The task, if it may start. An unknown task, one out of turn, one with a worker, or an open question is refused.
pub fn may_start<'a>(state: &'a RunState, id: &str) -> Result<&'a Task, VerbRefusal> {
    let task = find_task(state, id)?;
    match state.standing(id) {
        Some(TaskStanding::Is(TaskStatus::Running)) => {
            let message = format!(
                "a worker is at {} {id} already",
                state.plan.dialect.unit_word()
            );
            let hint =
                format!("let it finish; if that worker is gone: `omo agent fail --lost {id}`");
            return Err(VerbRefusal::new(VerbRefusalKind::Contention, message, hint));
        }
        Some(standing) if standing.is_ended() => {
            let more = match &standing {
                TaskStanding::Blocked { by } => format!(" by {by}"),
                TaskStanding::Is(TaskStatus::Passed) => String::new(),
                TaskStanding::Is(_) => format!("; `omo run retry {id}` has it done again"),
            };
            return Err(out_of_turn(format!("{id} is {}{more}", standing.word())));
        }
        _ => {}
    }
    match schedule::next_action(state) {
        _ if is_next_in_group(state, task) => Ok(task),
        NextAction::Ask(question) => Err(unanswered_refusal(question)),
        NextAction::Start(ready) if ready.iter().any(|task| task.id == id) => Ok(task),
        NextAction::Over => Err(ended_refusal("`omo run resume` goes on with it")),
        _ => Err(out_of_turn(format!("it is not the turn of {id}"))),
    }
}

fn out_of_turn(message: String) -> VerbRefusal {
    VerbRefusal::precondition(message, "`omo agent next` says what comes next")
}

fn is_next_in_group(state: &RunState, task: &Task) -> bool {
    if state.is_over() {
        return false;
    }
    let group = state
        .parallel
        .as_ref()
        .and_then(|known| parallel_schedule::running_group_of(state, known, &task.id));
    group
        .and_then(|group| parallel_schedule::next_task_of(state, group))
        .is_some_and(|next| next.id == task.id)
}

/// The event of a new attempt. Refuses as [`may_start`].
pub fn start_attempt(
    state: &RunState,
    id: &str,
    start: AttemptStart,
) -> Result<EventKind, VerbRefusal> {
    may_start(state, id)?;
    let attempt = state.tasks.get(id).map_or(0, |task| task.attempts) + 1;
    let AttemptStart {
        ticket,
        tree,
        protected_files,
        already_green,
        snapshot,
        head,
    } = start;
    Ok(EventKind::TaskStarted {
        task: id.to_owned(),
        attempt,
        ticket,
        tree,
        protected_files,
        already_green,
        snapshot,
        head,
    })
}

/// The task of a ticket, by its SHA-256. A used ticket, or one of an earlier attempt or another run, is refused.
pub fn task_of_ticket<'a>(state: &'a RunState, ticket: &str) -> Result<&'a Task, VerbRefusal> {
    let id = state
        .running_attempts()
        .find(|(_, running)| running.ticket == ticket)
        .map(|(id, _)| id);
    id.and_then(|id| state.plan.task(id)).ok_or_else(|| {
        let message =
            "that ticket is not valid: it was used, its attempt has ended, or it is of another run";
        VerbRefusal::precondition(
            message,
            "`omo agent next` says what comes next; `omo agent start` gives a new ticket",
        )
    })
}

#[derive(Clone, Debug, Default)]
pub struct AttemptMeasurement {
    /// Each check that ran, with its outcome; no check runs after a red one.
    pub outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
    pub files: Vec<String>,
    pub out_of_scope: Vec<String>,
    pub tampered: Vec<String>,
    pub missing: Vec<String>,
    pub changed_check_files: Vec<String>,
    pub note: Option<String>,
    /// Digests of the test files, for the tests half of a pair of tasks.
    pub test_digests: Vec<(String, String)>,
    pub tree: Option<String>,
    /// Added lines that name unfinished work; `None` where they were not searched for.
    pub unfinished: Option<Vec<UnfinishedLine>>,
    pub evidence_ids: Vec<String>,
    pub without_work: Vec<CheckCounterfactual>,
    /// Files without which the checks ran, since the commit would not hold them.
    pub left_out: Vec<String>,
    /// As [`AttemptEnd::judge_notes`].
    pub judge_notes: Vec<String>,
    /// As [`AttemptEnd::needed_ignored`].
    pub needed_ignored: Vec<String>,
    pub stray_commits: Vec<StrayCommit>,
    pub commit: Option<CommitOutcome>,
    /// As [`AttemptEnd::judges`].
    pub judges: JudgeStates,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayCommit {
    pub commit: String,
    pub files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    Made {
        id: String,
        /// As [`AttemptEnd::branch`].
        branch: Option<String>,
        /// Changes by hooks in the commit; the outcomes are then those of checks on the commit, if it could be judged.
        hooks: Option<HookChanges>,
    },
    Nothing,
    HoldsUnlisted {
        files: Vec<String>,
    },
    Unchecked {
        why: String,
    },
    Refused {
        refusal: CommitRefusal,
        kept: Option<String>,
    },
}

/// Judges an attempt, which is the only way to a passed task. Refuses as [`task_of_ticket`]; also a verifier's ticket,
/// and missing evidence for criteria, after which the ticket stays valid.
pub fn judge_attempt(
    state: &RunState,
    ticket: &str,
    measured: AttemptMeasurement,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    let attempt = state.tasks.get(&task.id).map_or(1, |known| known.attempts);
    if task.is_verification() {
        let message = "a verification ends with a verdict";
        return Err(VerbRefusal::new(
            VerbRefusalKind::Precondition,
            message,
            "`omo agent verdict PASS` or `omo agent verdict FAIL`",
        ));
    }
    let id = task.id.clone();
    let proof = ProvingOutcomes::new(task, &measured.outcomes);
    let mut events: Vec<EventKind> = proof.events(&id, attempt).collect();
    // In a shared checkout the author of a commit is unknown: stray commits are noted, and are no fault of the worker.
    let (foreign, stray_commits): (Vec<_>, Vec<_>) = measured
        .stray_commits
        .into_iter()
        .partition(|_| state.parallel.is_none());
    let (commit, branch, hooks) = match &measured.commit {
        Some(CommitOutcome::Made { id, branch, hooks }) => {
            (Some(id.clone()), branch.clone(), hooks.clone())
        }
        _ => (None, None, None),
    };
    let hook_changes = all_hook_changes(state, &id, hooks.as_ref());
    let end = AttemptEnd {
        attempt,
        evidence: proof.summary(),
        files: measured.files,
        out_of_scope: measured
            .out_of_scope
            .into_iter()
            .filter(|file| {
                hook_changes
                    .as_ref()
                    .is_none_or(|changes| !changes.files.contains(file))
            })
            .collect(),
        missing: measured.missing,
        changed_check_files: measured.changed_check_files,
        note: measured.note,
        test_digests: measured.test_digests,
        tree: measured.tree,
        unfinished: measured.unfinished,
        commit,
        branch,
        judges: measured.judges,
        foreign_commits: foreign.into_iter().map(|stray| stray.commit).collect(),
        hook_changes,
        needed_ignored: measured.needed_ignored,
        judge_notes: measured.judge_notes,
        refusal: None,
        without_work: measured.without_work,
        snapshot: None,
    };
    let fault = find_forbidden_change(state, task, &end, &measured.tampered, &stray_commits)
        .or_else(|| proof.find_fault(state, task, &end, hooks.as_ref(), &measured.left_out))
        .or_else(|| find_commit_fault(measured.commit, &end));
    match fault {
        Some(fault) => events.extend(fault.events(state, task, end)),
        None if needs_verdict(state, task) => {
            let claim = claim_event(state, task, measured.evidence_ids, &proof, end)?;
            events.push(claim);
        }
        None if proof.wanted.is_empty() => {
            let evidence = evidence_rules::unproved_reason(&state.plan, task);
            let end = AttemptEnd { evidence, ..end };
            events.push(EventKind::TaskUnverified { task: id, end });
        }
        None => {
            let words =
                task_counterfactual::describe(&end.without_work).map(|words| format!("; {words}"));
            let evidence = format!("{}{}", end.evidence, words.unwrap_or_default());
            let end = AttemptEnd { evidence, ..end };
            events.push(EventKind::TaskPassed { task: id, end });
        }
    }
    Ok(events)
}

/// A reason why an attempt does not pass; the texts are evidence.
enum AttemptFault {
    OutOfScope(String),
    Failed(String),
    /// A check needs this program.
    NotRunnable(String),
    CommitRefused {
        refusal: CommitRefusal,
        kept: Option<String>,
    },
}

impl AttemptFault {
    fn events(self, state: &RunState, task: &Task, end: AttemptEnd) -> Vec<EventKind> {
        match self {
            Self::OutOfScope(evidence) => vec![EventKind::TaskFailed {
                task: task.id.clone(),
                is_final: true,
                end: AttemptEnd { evidence, ..end },
            }],
            Self::Failed(evidence) => failure_events(task, AttemptEnd { evidence, ..end }, state),
            Self::NotRunnable(program) => {
                not_runnable_events(state, task.id.clone(), end.attempt, program).into()
            }
            Self::CommitRefused { refusal, kept } => {
                refused_commit_events(state, task, refusal, kept, end)
            }
        }
    }
}

/// The first change that an attempt must not make: to a never-touch list, to protected files, or by a stray commit.
fn find_forbidden_change(
    state: &RunState,
    task: &Task,
    end: &AttemptEnd,
    tampered: &[String],
    stray_commits: &[StrayCommit],
) -> Option<AttemptFault> {
    let committed = stray_commits.iter().flat_map(|stray| &stray.files);
    if let Some(evidence) = scope_violation(state, task, end.files.iter().chain(committed)) {
        return Some(AttemptFault::OutOfScope(evidence));
    }
    if !tampered.is_empty() {
        return Some(AttemptFault::Failed(format!(
            "changed what it must not change: {}",
            sanitize(&tampered.join(", "), MAX_REASON_CHARS)
        )));
    }
    stray_commit_reason(task, stray_commits, state).map(AttemptFault::Failed)
}

fn find_commit_fault(commit: Option<CommitOutcome>, end: &AttemptEnd) -> Option<AttemptFault> {
    match commit? {
        CommitOutcome::Refused { refusal, kept } => {
            Some(AttemptFault::CommitRefused { refusal, kept })
        }
        commit => missing_commit(&commit, end).map(AttemptFault::Failed),
    }
}

/// The checks that prove a task, and those outcomes of an attempt that are of one of them.
struct ProvingOutcomes<'a> {
    wanted: Vec<&'a TaskCheck>,
    /// With the check's position among the wanted ones.
    ran: Vec<(usize, &'a (TaskCheck, TaskCheckOutcome))>,
}

impl<'a> ProvingOutcomes<'a> {
    fn new(task: &'a Task, outcomes: &'a [(TaskCheck, TaskCheckOutcome)]) -> Self {
        let wanted: Vec<&TaskCheck> = task.proving_checks().collect();
        let ran = outcomes
            .iter()
            .filter_map(|ran| Some((wanted.iter().position(|check| **check == ran.0)?, ran)))
            .collect();
        Self { wanted, ran }
    }

    fn events(&self, task: &str, attempt: u32) -> impl Iterator<Item = EventKind> {
        self.ran
            .iter()
            .map(move |(position, (check, outcome))| EventKind::CheckRan {
                task: task.to_owned(),
                attempt,
                position: *position,
                command: check.command.clone(),
                outcome: outcome.clone(),
            })
    }

    /// Every wanted check ran, and no run was red: several green runs of one check do not stand for another.
    fn is_green(&self) -> bool {
        self.wanted
            .iter()
            .all(|check| self.ran.iter().any(|(_, (ran, _))| ran == *check))
            && self.ran.iter().all(|(_, (_, outcome))| outcome.is_green())
    }

    fn find_fault(
        &self,
        state: &RunState,
        task: &Task,
        end: &AttemptEnd,
        hooks: Option<&HookChanges>,
        left_out: &[String],
    ) -> Option<AttemptFault> {
        let mut outcomes = self.ran.iter().map(|(_, (_, outcome))| outcome);
        if let Some(program) = outcomes.find_map(missing_program) {
            return Some(AttemptFault::NotRunnable(program));
        }
        // Checks of missing tests fail, too, and would be taken for the expected failure.
        if task.kind == TaskKind::Tests && !end.missing.is_empty() {
            let evidence = format!("the tests are not there: {}", end.missing.join(", "));
            return Some(AttemptFault::Failed(evidence));
        }
        if !self.is_green() {
            let word = state.plan.dialect.unit_word();
            return Some(AttemptFault::Failed(match (hooks, left_out) {
                (Some(hooks), _) => changed_commit_reason(hooks, end),
                (None, []) => end.evidence.clone(),
                (None, left_out) => incomplete_commit_reason(left_out, word, &end.evidence),
            }));
        }
        task_counterfactual::unproved_implementation(&state.plan, task, &end.without_work)
            .map(AttemptFault::Failed)
    }

    fn summary(&self) -> String {
        if self.ran.is_empty() {
            return "its checks were not run".to_owned();
        }
        let red = self
            .ran
            .iter()
            .find(|(_, (_, outcome))| !outcome.is_green());
        let shown = red.map_or(&*self.ran, slice::from_ref).iter();
        let texts: Vec<String> = shown
            .map(|(_, (check, outcome))| outcome_text(check, outcome))
            .collect();
        texts.join("; ")
    }
}

fn not_runnable_events(
    state: &RunState,
    task: String,
    attempt: u32,
    missing: String,
) -> [EventKind; 2] {
    let reason = format!("its check could not be run: {missing}");
    let held = EventKind::TaskHeld {
        task: task.clone(),
        attempt,
        reason,
        is_pause: false,
    };
    let question = build_question(state, QuestionKind::CheckNotRunnable { task, missing });
    [held, EventKind::QuestionOpened { question }]
}

fn missing_program(outcome: &TaskCheckOutcome) -> Option<String> {
    match &outcome.verdict {
        TaskCheckVerdict::Environment { command } => {
            Some(command.clone().unwrap_or_else(|| outcome.detail.clone()))
        }
        _ => None,
    }
}

/// The fault of checks that are red without the files left out of the commit; folders end with `/`.
fn incomplete_commit_reason(left_out: &[String], unit_word: &str, evidence: &str) -> String {
    let (folders, files): (Vec<String>, Vec<String>) = left_out
        .iter()
        .cloned()
        .partition(|path| path.ends_with('/'));
    let unlisted = format!(
        "{}, which the {unit_word} does not list",
        name_files(&files)
    );
    let empty = format!(
        "{}, an empty folder, which git does not keep",
        name_files(&folders)
    );
    let lacks = [(files, unlisted), (folders, empty)]
        .into_iter()
        .filter(|(paths, _)| !paths.is_empty());
    let lacks: Vec<String> = lacks.map(|(_, words)| words).collect();
    format!(
        "its commit would lack {}, and without that {evidence}",
        lacks.join(", and ")
    )
}

fn all_hook_changes(
    state: &RunState,
    task: &str,
    now: Option<&HookChanges>,
) -> Option<HookChanges> {
    let earlier = state
        .tasks
        .get(task)
        .and_then(|task| task.last_end.as_ref()?.hook_changes.as_ref());
    let files: BTreeSet<String> = now
        .into_iter()
        .chain(earlier)
        .flat_map(|known| known.files.clone())
        .collect();
    let unjudged = now.and_then(|now| now.unjudged.clone());
    (!files.is_empty()).then(|| HookChanges {
        files: files.into_iter().collect(),
        unjudged,
    })
}

fn changed_commit_reason(hooks: &HookChanges, end: &AttemptEnd) -> String {
    let (files, commit) = (
        name_files(&hooks.files),
        short_commit(end.commit.as_deref().unwrap_or_default()),
    );
    format!(
        "hooks of the repository changed {files} in its commit {commit}, which stays, and on that {}",
        end.evidence
    )
}

/// `true` for events that end a task as done: passed, claimed, or unproved where the plan allows it.
pub(crate) fn has_done_task(state: &RunState, events: &[EventKind]) -> bool {
    events.iter().any(|event| match event {
        EventKind::TaskPassed { .. } | EventKind::TaskClaimed { .. } => true,
        EventKind::TaskUnverified { .. } => state.plan.policy.unproved_continues,
        _ => false,
    })
}

/// `true` for events that end a task for good, and whose plan has its changes reverted.
pub fn reverts_changes(state: &RunState, events: &[EventKind]) -> bool {
    events.iter().any(|event| match event {
        EventKind::TaskFailed {
            task,
            is_final: true,
            ..
        } => {
            let baseline = state
                .tasks
                .get(task)
                .and_then(|task| task.baseline.as_ref());
            baseline.is_some_and(|baseline| baseline.snapshot.is_some())
                && state
                    .plan
                    .task(task)
                    .is_some_and(|task| task.on_failure.reverts_changes())
        }
        _ => false,
    })
}

/// The same events, with the snapshot `left` in the one that ends a task for good.
pub fn with_snapshot(events: Vec<EventKind>, left: Option<&String>) -> Vec<EventKind> {
    events
        .into_iter()
        .map(|event| match event {
            EventKind::TaskFailed {
                task,
                is_final: true,
                end,
            } => EventKind::TaskFailed {
                task,
                is_final: true,
                end: AttemptEnd {
                    snapshot: left.cloned(),
                    ..end
                },
            },
            other => other,
        })
        .collect()
}

pub(crate) fn asks_about_commit(events: &[EventKind]) -> bool {
    events
        .iter()
        .any(|event| matches!(event, EventKind::TaskCommitRefused { .. }))
}

fn failure_events(task: &Task, end: AttemptEnd, state: &RunState) -> Vec<EventKind> {
    let id = task.id.clone();
    let before = state
        .tasks
        .get(&task.id)
        .map_or(0, |known| known.attempts_before);
    let is_last = end.attempt.saturating_sub(before) >= task.max_attempts;
    match task.on_failure {
        OnFailure::Skip => {
            let reason = end.evidence.clone();
            vec![
                EventKind::TaskFailed {
                    task: id.clone(),
                    is_final: true,
                    end,
                },
                EventKind::TaskSkipped { task: id, reason },
            ]
        }
        // The question to the user follows from the failed task.
        OnFailure::Escalate => vec![EventKind::TaskFailed {
            task: id,
            is_final: true,
            end,
        }],
        OnFailure::Hold | OnFailure::Revert | OnFailure::Retry => {
            vec![EventKind::TaskFailed {
                task: id,
                is_final: is_last,
                end,
            }]
        }
    }
}

/// Events of an attempt that its worker gives up. Refuses as [`task_of_ticket`].
pub fn give_up_attempt(
    state: &RunState,
    ticket: &str,
    why: &str,
    files: Vec<String>,
) -> Result<Vec<EventKind>, VerbRefusal> {
    end_unjudged_attempt(
        state,
        ticket,
        &format!("given up: {}", sanitize(why, MAX_REASON_CHARS)),
        files,
    )
}

/// Ends an attempt without a judgement, for the reason `why`.
pub(super) fn end_unjudged_attempt(
    state: &RunState,
    ticket: &str,
    why: &str,
    files: Vec<String>,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    let attempt = state.attempt_of(&task.id);
    if let Some(evidence) = scope_violation(state, task, files.iter()) {
        let end = AttemptEnd {
            attempt,
            evidence,
            files,
            ..AttemptEnd::default()
        };
        return Ok(vec![EventKind::TaskFailed {
            task: task.id.clone(),
            is_final: true,
            end,
        }]);
    }
    let evidence = sanitize(why, 320);
    Ok(failure_events(
        task,
        AttemptEnd {
            attempt,
            evidence,
            files,
            ..AttemptEnd::default()
        },
        state,
    ))
}

/// The event of a lost worker. A task without a worker is refused.
pub fn report_lost_worker(state: &RunState, id: &str) -> Result<EventKind, VerbRefusal> {
    let task = find_task(state, id)?;
    if state
        .tasks
        .get(&task.id)
        .is_some_and(|task| task.running.is_some())
    {
        return Ok(lost_worker_event(state, id, "its worker was reported lost"));
    }
    let message = format!("no worker is at {} {id}", state.plan.dialect.unit_word());
    Err(VerbRefusal::precondition(
        message,
        "`omo agent next` says what comes next",
    ))
}

/// Events of the final checks that ran, which are the first ones of the plan, in its order.
pub fn final_check_events(measured: Vec<(TaskCheck, TaskCheckOutcome)>) -> Vec<EventKind> {
    let ran = measured
        .into_iter()
        .enumerate()
        .map(|(place, (check, outcome))| EventKind::CheckRan {
            task: FINAL_CHECKS_ID.to_owned(),
            attempt: 0,
            position: place,
            command: check.command,
            outcome,
        });
    ran.collect()
}
