//! What becomes of a session: from which phase it may go to which, and what it needs for that.

use omo_core::timestamp::Timestamp;

use super::{NEW_SESSION, refused, unresolved};
use crate::run::verbs::VerbRefusal;
use crate::task_session::{TaskFile, TaskFileStatus, TaskListFile, TaskListPhase};

/// How far an exploration can be.
pub const EXPLORATION_STAGES: [&str; 5] = ["not_started", "overview", "analyzing", "targeted", "complete"];

/// What changes in a session.
#[derive(Clone, Debug, Default)]
pub struct TaskListChange {
    /// Where it stands from now on.
    pub phase: Option<TaskListPhase>,
    /// Its plan is approved now.
    pub plan_approved: bool,
    /// The file of its design.
    pub design_doc: Option<String>,
    /// How far its exploration is: one of [`EXPLORATION_STAGES`].
    pub exploration_stage: Option<String>,
    /// How often its tasks were gone over.
    pub iteration: Option<u32>,
    /// A verifier has said that all is done.
    pub verifier_passed: bool,
    /// Its documentation was written.
    pub documenter_completed: bool,
}

impl TaskListChange {
    /// Whether it says what a run of the session says by itself.
    pub fn is_of_a_run(&self) -> bool {
        self.phase.is_some() || self.iteration.is_some() || self.verifier_passed || self.documenter_completed
    }
}

/// The work of a session, as far as its phase depends on it.
#[derive(Clone, Copy, Debug)]
pub struct TaskListWork<'a> {
    /// Its tasks, in any order.
    pub tasks: &'a [TaskFile],
    /// So many more tasks cannot be read.
    pub unreadable: usize,
    /// So many pieces of evidence were written down beside the tasks.
    pub logged: usize,
}

/// The phase that a word stands for, in either case and spelling.
pub fn phase(word: &str) -> Option<TaskListPhase> {
    let word = match word.to_ascii_uppercase().as_str() {
        "COMPLETED" => "COMPLETE".to_owned(),
        "CANCELED" => "CANCELLED".to_owned(),
        word => word.to_owned(),
    };
    TaskListPhase::ALL.into_iter().find(|phase| phase.word() == word)
}

/// The session with the change in it.
///
/// # Errors
///
/// The phase does not follow the one before it or needs something, the iteration is more than there may be, or a flag
/// must not be set now.
pub fn changed_session(
    session: &TaskListFile,
    change: &TaskListChange,
    work: TaskListWork<'_>,
    now: Timestamp,
) -> Result<TaskListFile, VerbRefusal> {
    let mut after = session.clone();
    if change.verifier_passed {
        only_in(session, TaskListPhase::Verification, "--verifier-passed")?;
        all_resolved(session, work, "--verifier-passed")?;
        after.verifier_passed = true;
    }
    if change.documenter_completed {
        only_in(session, TaskListPhase::Documentation, "--documenter-completed")?;
        needs_flag(session, session.verifier_passed, "--documenter-completed", "--verifier-passed")?;
        after.documenter_completed = true;
    }
    if let Some(to) = change.phase {
        follows(session, to)?;
        needs(session, to, work)?;
        if to == TaskListPhase::Execution {
            (after.verifier_passed, after.documenter_completed) = (false, false);
            // What failed for good is begun again from the first time on.
            after.iteration = if session.phase == TaskListPhase::Failed { 1 } else { after.iteration };
        }
        after.phase = to;
    }
    if let Some(iteration) = change.iteration {
        let most = session.options.max_iterations;
        if !(1..=most).contains(&iteration) {
            let message = format!("iteration {iteration} of session {}: there are 1 to {most}", session.session_id);
            return Err(refused(message, "`--phase FAILED` ends a session that was gone over as often as it may be"));
        }
        after.iteration = iteration;
    }
    if change.plan_approved {
        after.plan.approved_at = Some(now.to_string());
    }
    after.plan.design_doc = change.design_doc.clone().or(after.plan.design_doc);
    after.exploration_stage = change.exploration_stage.clone().unwrap_or(after.exploration_stage);
    after.updated_at = now.to_string();
    Ok(after)
}

/// Where a session may go from a phase, besides being given up and having failed.
fn ways(from: TaskListPhase) -> &'static [TaskListPhase] {
    use TaskListPhase::{
        Cancelled, Complete, Documentation, Execution, Failed, Planning, PlanningComplete, Unknown, Verification,
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

fn follows(session: &TaskListFile, to: TaskListPhase) -> Result<(), VerbRefusal> {
    let from = session.phase;
    let is_end = matches!(to, TaskListPhase::Cancelled | TaskListPhase::Failed);
    if from == to || is_end || ways(from).contains(&to) {
        return Ok(());
    }
    let message = format!("session {} cannot go from {} to {}", session.session_id, from.word(), to.word());
    let words: Vec<&str> = ways(from).iter().map(|phase| phase.word()).collect();
    let hint = match &*words {
        [] => NEW_SESSION.to_owned(),
        words => format!("from {} it can go to {}", from.word(), words.join(", ")),
    };
    Err(refused(message, hint))
}

/// What there has to be before a phase is entered.
fn needs(session: &TaskListFile, to: TaskListPhase, work: TaskListWork<'_>) -> Result<(), VerbRefusal> {
    let from = session.phase;
    if from == to {
        return Ok(());
    }
    match to {
        TaskListPhase::Documentation => needs_flag(session, session.verifier_passed, to.word(), "--verifier-passed"),
        TaskListPhase::Complete => {
            all_resolved(session, work, to.word())?;
            if from == TaskListPhase::Documentation {
                needs_flag(session, session.verifier_passed, to.word(), "--verifier-passed")?;
                needs_flag(session, session.documenter_completed, to.word(), "--documenter-completed")?;
                has_evidence(session, work)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn only_in(session: &TaskListFile, phase: TaskListPhase, flag: &str) -> Result<(), VerbRefusal> {
    if session.phase == phase {
        return Ok(());
    }
    let (id, is, word) = (&session.session_id, session.phase.word(), phase.word());
    Err(refused(format!("session {id} is in {is}: {flag} is for {word}"), format!("`--phase {word}` goes there")))
}

fn needs_flag(session: &TaskListFile, is_set: bool, what: &str, flag: &str) -> Result<(), VerbRefusal> {
    if is_set {
        return Ok(());
    }
    let message = format!("{what} needs {flag} before it in session {}", session.session_id);
    Err(refused(message, format!("`omo agent tasks update {flag}`, in a call of its own")))
}

fn all_resolved(session: &TaskListFile, work: TaskListWork<'_>, what: &str) -> Result<(), VerbRefusal> {
    let id = &session.session_id;
    if work.unreadable > 0 {
        let message = format!("{what} of session {id}: {} of its tasks cannot be read", work.unreadable);
        return Err(refused(message, "`omo agent task list` says which, and why"));
    }
    let open: Vec<String> =
        unresolved(work.tasks).map(|task| format!("{} is {}", task.id, task.status.word())).collect();
    if !open.is_empty() {
        let message = format!("{what} of session {id}: not all tasks are resolved: {}", open.join(", "));
        return Err(refused(message, "`omo agent task list` shows where each one stands"));
    }
    if resolved(work.tasks) == 0 {
        return Err(refused(format!("{what} of session {id}: it has no tasks"), "`omo agent task create` makes one"));
    }
    Ok(())
}

fn has_evidence(session: &TaskListFile, work: TaskListWork<'_>) -> Result<(), VerbRefusal> {
    let resolved = resolved(work.tasks);
    let evidence = work.logged + work.tasks.iter().map(|task| task.evidence.len()).sum::<usize>();
    if evidence >= resolved {
        return Ok(());
    }
    let id = &session.session_id;
    let message = format!("COMPLETE of session {id}: {resolved} resolved tasks have {evidence} pieces of evidence");
    Err(refused(message, "`omo agent task update --id ID --add-evidence TEXT` adds one"))
}

/// So many tasks are resolved, besides the one that verifies them.
fn resolved(tasks: &[TaskFile]) -> usize {
    tasks.iter().filter(|task| task.id != super::VERIFY && task.status == TaskFileStatus::Resolved).count()
}
