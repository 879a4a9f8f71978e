//! Phases of a task list's session: allowed transitions and their conditions.

use omo_core::timestamp::Timestamp;

use super::{NEW_TASK_LIST_HINT, unresolved_tasks};
use crate::refusal::VerbRefusal;
use crate::task_list::{TaskFile, TaskFileStatus, TaskListFile, TaskListPhase};

pub const EXPLORATION_STAGES: [&str; 5] = [
    "not_started",
    "overview",
    "analyzing",
    "targeted",
    "complete",
];

#[derive(Clone, Debug, Default)]
pub struct TaskListChange {
    pub phase: Option<TaskListPhase>,
    pub plan_approved: bool,
    pub design_doc: Option<String>,
    /// One of [`EXPLORATION_STAGES`].
    pub exploration_stage: Option<String>,
    /// Number of the round, from 1.
    pub round: Option<u32>,
    pub verifier_passed: bool,
    pub documenter_completed: bool,
}

impl TaskListChange {
    /// `true` for changes that only a run of the session makes.
    pub fn is_run_owned(&self) -> bool {
        self.phase.is_some()
            || self.round.is_some()
            || self.verifier_passed
            || self.documenter_completed
    }
}

#[derive(Clone, Copy, Debug)]
pub struct TaskListWork<'a> {
    pub tasks: &'a [TaskFile],
    pub unreadable_tasks: usize,
    pub logged_evidence: usize,
}

/// Phase by its name, in upper or lower case and either spelling.
pub fn parse_phase(word: &str) -> Option<TaskListPhase> {
    let word = match word.to_ascii_uppercase().as_str() {
        "COMPLETED" => "COMPLETE".to_owned(),
        "CANCELED" => "CANCELLED".to_owned(),
        word => word.to_owned(),
    };
    TaskListPhase::ALL
        .into_iter()
        .find(|phase| phase.word() == word)
}

/// # Errors
///
/// Phase that does not follow or lacks something, round above the maximum, or flag at the wrong
/// time.
pub fn update_task_list(
    session: &TaskListFile,
    change: &TaskListChange,
    work: TaskListWork<'_>,
    now: Timestamp,
) -> Result<TaskListFile, VerbRefusal> {
    let mut after = session.clone();
    if change.verifier_passed {
        require_phase(session, TaskListPhase::Verification, "--verifier-passed")?;
        require_all_resolved(session, work, "--verifier-passed")?;
        after.verifier_passed = true;
    }
    if change.documenter_completed {
        require_phase(
            session,
            TaskListPhase::Documentation,
            "--documenter-completed",
        )?;
        require_flag(
            session,
            session.verifier_passed,
            "--documenter-completed",
            "--verifier-passed",
        )?;
        after.documenter_completed = true;
    }
    if let Some(to) = change.phase {
        check_transition(session, to)?;
        check_requirements(session, to, work)?;
        if to == TaskListPhase::Execution {
            (after.verifier_passed, after.documenter_completed) = (false, false);
            // A session that failed for good begins again with the first round.
            after.iteration = if session.phase == TaskListPhase::Failed {
                1
            } else {
                after.iteration
            };
        }
        after.phase = to;
    }
    if let Some(iteration) = change.round {
        let most = session.options.max_iterations;
        if !(1..=most).contains(&iteration) {
            let message = format!(
                "iteration {iteration} of session {}: there are 1 to {most}",
                session.session_id
            );
            return Err(VerbRefusal::precondition(
                message,
                "`--phase FAILED` ends a session that was gone over as often as it may be",
            ));
        }
        after.iteration = iteration;
    }
    if change.plan_approved {
        after.plan.approved_at = Some(now.to_string());
    }
    after.plan.design_doc = change.design_doc.clone().or(after.plan.design_doc);
    after.exploration_stage = change
        .exploration_stage
        .clone()
        .unwrap_or(after.exploration_stage);
    after.updated_at = now.to_string();
    Ok(after)
}

/// Possible next phases besides `Cancelled` and `Failed`.
fn next_phases(from: TaskListPhase) -> &'static [TaskListPhase] {
    use TaskListPhase::{
        Cancelled, Complete, Documentation, Execution, Failed, Planning, PlanningComplete, Unknown,
        Verification,
    };
    match from {
        Planning => &[PlanningComplete, Execution],
        PlanningComplete => &[Execution, Planning],
        Execution => &[Verification, Complete],
        Verification => &[Execution, Documentation, Complete],
        Documentation => &[Complete, Execution],
        Failed => &[Execution],
        Complete | Cancelled | Unknown => &[],
    }
}

fn check_transition(session: &TaskListFile, to: TaskListPhase) -> Result<(), VerbRefusal> {
    let from = session.phase;
    let is_end = matches!(to, TaskListPhase::Cancelled | TaskListPhase::Failed);
    if from == to || is_end || next_phases(from).contains(&to) {
        return Ok(());
    }
    let message = format!(
        "session {} cannot go from {} to {}",
        session.session_id,
        from.word(),
        to.word()
    );
    let words: Vec<&str> = next_phases(from).iter().map(|phase| phase.word()).collect();
    let hint = match &*words {
        [] => NEW_TASK_LIST_HINT.to_owned(),
        words => format!("from {} it can go to {}", from.word(), words.join(", ")),
    };
    Err(VerbRefusal::precondition(message, hint))
}

fn check_requirements(
    session: &TaskListFile,
    to: TaskListPhase,
    work: TaskListWork<'_>,
) -> Result<(), VerbRefusal> {
    let from = session.phase;
    if from == to {
        return Ok(());
    }
    match to {
        TaskListPhase::Documentation => require_flag(
            session,
            session.verifier_passed,
            to.word(),
            "--verifier-passed",
        ),
        TaskListPhase::Complete => {
            require_all_resolved(session, work, to.word())?;
            if from == TaskListPhase::Documentation {
                require_flag(
                    session,
                    session.verifier_passed,
                    to.word(),
                    "--verifier-passed",
                )?;
                require_flag(
                    session,
                    session.documenter_completed,
                    to.word(),
                    "--documenter-completed",
                )?;
                require_evidence(session, work)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn require_phase(
    session: &TaskListFile,
    phase: TaskListPhase,
    flag: &str,
) -> Result<(), VerbRefusal> {
    if session.phase == phase {
        return Ok(());
    }
    let (id, is, word) = (&session.session_id, session.phase.word(), phase.word());
    Err(VerbRefusal::precondition(
        format!("session {id} is in {is}: {flag} is for {word}"),
        format!("`--phase {word}` goes there"),
    ))
}

fn require_flag(
    session: &TaskListFile,
    is_set: bool,
    action: &str,
    flag: &str,
) -> Result<(), VerbRefusal> {
    if is_set {
        return Ok(());
    }
    let message = format!(
        "{action} needs {flag} before it in session {}",
        session.session_id
    );
    Err(VerbRefusal::precondition(
        message,
        format!("`omo agent tasks update {flag}`, in a call of its own"),
    ))
}

fn require_all_resolved(
    session: &TaskListFile,
    work: TaskListWork<'_>,
    action: &str,
) -> Result<(), VerbRefusal> {
    let id = &session.session_id;
    if work.unreadable_tasks > 0 {
        let message = format!(
            "{action} of session {id}: {} of its tasks cannot be read",
            work.unreadable_tasks
        );
        return Err(VerbRefusal::precondition(
            message,
            "`omo agent task list` says which, and why",
        ));
    }
    let open: Vec<String> = unresolved_tasks(work.tasks)
        .map(|task| format!("{} is {}", task.id, task.status.word()))
        .collect();
    if !open.is_empty() {
        let message = format!(
            "{action} of session {id}: not all tasks are resolved: {}",
            open.join(", ")
        );
        return Err(VerbRefusal::precondition(
            message,
            "`omo agent task list` shows where each one stands",
        ));
    }
    if count_resolved(work.tasks) == 0 {
        return Err(VerbRefusal::precondition(
            format!("{action} of session {id}: it has no tasks"),
            "`omo agent task create` makes one",
        ));
    }
    Ok(())
}

fn require_evidence(session: &TaskListFile, work: TaskListWork<'_>) -> Result<(), VerbRefusal> {
    let resolved = count_resolved(work.tasks);
    let evidence = work.logged_evidence
        + work
            .tasks
            .iter()
            .map(|task| task.evidence.len())
            .sum::<usize>();
    if evidence >= resolved {
        return Ok(());
    }
    let id = &session.session_id;
    let message = format!(
        "COMPLETE of session {id}: {resolved} resolved tasks have {evidence} pieces of evidence"
    );
    Err(VerbRefusal::precondition(
        message,
        "`omo agent task update --id 1 --add-evidence TEXT` adds one",
    ))
}

fn count_resolved(tasks: &[TaskFile]) -> usize {
    tasks
        .iter()
        .filter(|task| task.id != super::VERIFY_TASK_ID && task.status == TaskFileStatus::Resolved)
        .count()
}
