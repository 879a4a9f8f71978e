//! What is said about a run, as plain data: every rendering of a report shows this, and nothing in it
//! is kept anywhere but in the ledger.

pub mod checkout;
pub mod dev_workflow;
pub mod findings;
pub mod heading;
pub mod history;
pub mod judged_with;
pub mod plan_overview;
mod table;
pub mod taken_back;
pub mod task_differences;
pub mod task_list;
pub mod ultraplan;
pub mod workers;

use omo_core::check::counterfactual::CheckCounterfactual;
use omo_core::check::task_check::TaskCheckOutcome;
use omo_core::timestamp::Timestamp;
use omo_plan::model::Task;
use serde::Serialize;

use crate::event::{EventActor, RunEvent, RunResult};
use crate::parallel_state::ParallelState;
use crate::report::checkout::CheckoutReport;
use crate::report::findings::finding_lines;
use crate::report::heading::run_heading;
use crate::report::history::{AttemptRow, attempts_by_task};
use crate::schedule::{self, NextAction};
use crate::state::{
    ANSWER_WITHDRAWN, QuestionState, RunPhase, RunState, TaskCounts, TaskStanding, TaskState, TaskStatus,
};

/// The version of this model, in what is written.
pub(crate) const REPORT_SCHEMA: u32 = 1;

/// The report of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// `REPORT_SCHEMA`.
    pub schema: u32,
    /// The run.
    pub run: String,
    /// The path of the plan, as it was given.
    pub plan: String,
    /// The SHA-256 of the plan's file as the run knows it.
    pub plan_sha256: String,
    /// The plan's title.
    pub title: String,
    /// How it is written.
    pub dialect: &'static str,
    /// How the run ended, or that it has not.
    pub result: ReportedResult,
    /// The same in words, as it heads each report.
    pub heading: String,
    /// How its tasks are handed out, in words.
    pub mode: &'static str,
    /// Why it was cancelled, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// Who it belongs to.
    pub holder: ReportedActor,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When anything last happened in it.
    pub updated_at: Timestamp,
    /// The commit that was checked out at its start.
    pub base: Option<String>,
    /// What the clients that omo has started have cost, in millionths of a US dollar, as far as they said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// What those that were ended before they could say so may have cost beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untold_cost_micros: Option<u64>,
    /// How many tasks stand how.
    pub counts: TaskCounts,
    /// Each task, in the order of the plan.
    pub tasks: Vec<TaskRow>,
    /// The checks of the whole plan, in its order.
    pub final_checks: Vec<CheckRow>,
    /// What nothing has proved, and why: tasks that are done and were not checked, or whose checks were
    /// green before the work, and final checks that did not run.
    pub not_verified: Vec<UnprovedItem>,
    /// What a person was asked, in that order.
    pub questions: Vec<QuestionRow>,
    /// Files that omo writes for others and that something else had changed.
    pub drift: Vec<DriftRow>,
    /// What was found beside how each task stands, each on one line.
    pub findings: Vec<String>,
    /// What of the work is not committed, where that was looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutReport>,
    /// The command that goes on from here; `None` where nothing is left to do.
    pub next_command: Option<String>,
}

/// How a run stands, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedResult {
    /// It goes on.
    InProgress,
    /// It waits for a person.
    Waiting,
    /// Everything has passed.
    Complete,
    /// Some did not.
    CompletedWithFailures,
    /// It was stopped by a failure, or a final check is red.
    Failed,
    /// It was ended before its end.
    Cancelled,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskRow {
    /// What it is called.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it stands: the word of its [`TaskStanding`].
    pub standing: &'static str,
    /// The task that it waits for in vain, where it is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// The plan says something else about it since it was done.
    pub is_stale: bool,
    /// How often it was begun.
    pub attempts: u32,
    /// Every attempt that was begun, those that do not count included; empty where the events were not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<AttemptRow>,
    /// Each check of its last attempt.
    pub checks: Vec<CheckRow>,
    /// What shows it, or what was wrong, on one line; empty where nothing is known.
    pub evidence: String,
    /// The ids of the evidence that was put forward for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_ids: Vec<String>,
    /// The files that its last attempt changed.
    pub files: Vec<String>,
    /// Those of them that it does not name.
    pub out_of_scope: Vec<String>,
    /// The commands of its checks that were green before the work began.
    pub already_green: Vec<String>,
    /// What its checks say without its work, where that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_work: Vec<CheckCounterfactual>,
    /// What its worker left for those who come after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckRow {
    /// Its command.
    pub command: String,
    /// What it was worth, in a word; `None` where it did not run.
    pub verdict: Option<&'static str>,
    /// The verdict in a few words.
    pub detail: String,
    /// The exit status, where it ended by itself.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_millis: Option<u64>,
}

/// Something that nothing has proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnprovedItem {
    /// The task; `None` for a check of the whole plan.
    pub task: Option<String>,
    /// Why it is not proved.
    pub reason: String,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuestionRow {
    /// What it is called.
    pub id: String,
    /// What was asked.
    pub question: String,
    /// What can be answered.
    pub options: Vec<String>,
    /// What was answered; `None` where it is still open, or was taken back.
    pub answer: Option<String>,
    /// Something else had made it moot before it was answered.
    pub is_withdrawn: bool,
    /// Whose hand answered it, or made it moot.
    pub by: Option<ReportedActor>,
    /// When.
    pub at: Option<Timestamp>,
}

/// Whose hand something was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "hand", rename_all = "snake_case")]
pub enum ReportedActor {
    /// A session of the client.
    Session {
        /// Which one.
        id: String,
    },
    /// A terminal of the user.
    Terminal,
}

/// One file that something else had changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriftRow {
    /// The file.
    pub file: String,
    /// Where the changed one was put.
    pub backup: Option<String>,
}

/// All that a report shows of a run.
pub fn build_report(run: &str, state: &RunState) -> RunReport {
    let counts = state.task_counts();
    let tasks: Vec<TaskRow> =
        state.standings().iter().map(|(task, standing)| task_row(task, standing, state.tasks.get(&task.id))).collect();
    let final_checks = final_check_rows(state);
    RunReport {
        schema: REPORT_SCHEMA,
        run: run.to_owned(),
        plan: state.plan.source.path.clone(),
        plan_sha256: state.plan_sha256.clone(),
        title: state.plan.title.clone(),
        dialect: state.plan.dialect.word(),
        result: report_result(state),
        heading: run_heading(state).text,
        mode: state.mode.words(),
        cancel_reason: match &state.phase {
            RunPhase::Cancelled { why } => Some(why.clone()),
            RunPhase::Executing | RunPhase::Ended { .. } => None,
        },
        holder: reported_actor(&state.holder),
        opened_at: state.opened_at,
        updated_at: state.updated_at,
        base: state.base.clone(),
        cost_micros: state.parallel.as_ref().map(ParallelState::cost_micros).filter(|cost| *cost > 0),
        untold_cost_micros: state.parallel.as_ref().map(ParallelState::untold_micros).filter(|cost| *cost > 0),
        counts,
        not_verified: unproved_items(&tasks, &final_checks),
        tasks,
        final_checks,
        questions: state.questions.iter().map(question_row).collect(),
        drift: state
            .changed_files
            .iter()
            .map(|(file, kept)| DriftRow { file: file.clone(), backup: kept.clone() })
            .collect(),
        findings: finding_lines(state, &state.plan.tasks),
        checkout: None,
        next_command: next_command(run, state),
    }
}

impl RunReport {
    /// The same, with when each task was worked on.
    #[must_use]
    pub fn with_history(mut self, events: &[RunEvent]) -> Self {
        let mut attempts = attempts_by_task(events);
        for row in &mut self.tasks {
            row.history = attempts.remove(row.id.as_str()).unwrap_or_default();
        }
        self
    }
}

fn report_result(state: &RunState) -> ReportedResult {
    match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => ReportedResult::Waiting,
        RunPhase::Executing => ReportedResult::InProgress,
        RunPhase::Cancelled { .. } => ReportedResult::Cancelled,
        RunPhase::Ended { result: RunResult::Complete } => ReportedResult::Complete,
        RunPhase::Ended { result: RunResult::CompletedWithFailures } => ReportedResult::CompletedWithFailures,
        RunPhase::Ended { result: RunResult::Failed } => ReportedResult::Failed,
    }
}

fn reported_actor(actor: &EventActor) -> ReportedActor {
    actor.session.as_ref().map_or(ReportedActor::Terminal, |id| ReportedActor::Session { id: id.clone() })
}

fn task_row(task: &Task, standing: &TaskStanding, known: Option<&TaskState>) -> TaskRow {
    let end = known.and_then(|known| known.last_end.as_ref());
    let why = known.and_then(|known| known.reason.as_deref());
    let blocked_by = match standing {
        TaskStanding::Blocked { by } => Some(by.clone()),
        TaskStanding::Is(_) => None,
    };
    // Why it was left out or given back is younger than how its last attempt ended.
    let evidence = match (&blocked_by, why, end) {
        (Some(by), ..) => format!("{by}, which it depends on, has not passed"),
        (None, Some(why), _) => why.to_owned(),
        (None, None, Some(end)) => end.evidence.clone(),
        (None, None, None) => String::new(),
    };
    let vacuous = known.map(|known| known.already_green.as_slice()).unwrap_or_default();
    let is_vacuous = |place: &usize| vacuous.contains(place);
    TaskRow {
        id: task.id.clone(),
        title: task.title.clone(),
        standing: standing.word(),
        blocked_by,
        is_stale: known.is_some_and(|known| known.is_stale),
        attempts: known.map_or(0, |known| known.attempts),
        history: Vec::new(),
        checks: known.map(check_rows).unwrap_or_default(),
        evidence,
        evidence_ids: known
            .filter(|known| known.status.is_ended())
            .map(|known| known.evidence_ids.clone())
            .unwrap_or_default(),
        files: end.map(|end| end.files.clone()).unwrap_or_default(),
        out_of_scope: end.map(|end| end.out_of_scope.clone()).unwrap_or_default(),
        already_green: task
            .all_checks()
            .enumerate()
            .filter(|(place, _)| is_vacuous(place))
            .map(|(_, check)| check.command.clone())
            .collect(),
        without_work: end.map(|end| end.without_work.clone()).unwrap_or_default(),
        note: end.and_then(|end| end.note.clone()),
    }
}

fn check_rows(known: &TaskState) -> Vec<CheckRow> {
    known.checks.iter().map(|(command, outcome)| check_row(command, Some(outcome))).collect()
}

fn final_check_rows(state: &RunState) -> Vec<CheckRow> {
    let checks = state.plan.final_checks.iter().enumerate();
    checks.map(|(place, check)| check_row(&check.command, state.final_checks.get(&place))).collect()
}

fn check_row(command: &str, outcome: Option<&TaskCheckOutcome>) -> CheckRow {
    CheckRow {
        command: command.to_owned(),
        verdict: outcome.map(|outcome| outcome.verdict.word()),
        detail: outcome.map(|outcome| outcome.describe().to_owned()).unwrap_or_default(),
        exit: outcome.and_then(|outcome| outcome.exit),
        duration_millis: outcome.map(|outcome| outcome.took_millis),
    }
}

fn unproved_items(tasks: &[TaskRow], final_checks: &[CheckRow]) -> Vec<UnprovedItem> {
    let of_unit = tasks.iter().filter_map(|task| {
        let why = if task.standing == TaskStanding::Is(TaskStatus::Unverified).word() {
            task.evidence.clone()
        } else if task.standing == TaskStanding::Is(TaskStatus::Claimed).word() {
            claim_reason(task)
        } else if task.standing == TaskStanding::Is(TaskStatus::Passed).word() && !task.already_green.is_empty() {
            format!("green before the work began: {}", task.already_green.join("; "))
        } else {
            return None;
        };
        Some(UnprovedItem { task: Some(task.id.clone()), reason: why })
    });
    let of_plan = final_checks.iter().filter(|check| check.verdict.is_none());
    let of_plan = of_plan.map(|check| UnprovedItem { task: None, reason: format!("did not run: {}", check.command) });
    of_unit.chain(of_plan).collect()
}

/// Why a claim is no proof.
fn claim_reason(task: &TaskRow) -> String {
    if task.evidence_ids.is_empty() {
        return "done before the run, as another program says; omo has not checked it".to_owned();
    }
    format!("judged, with {} to show it; no command decides it", task.evidence_ids.join(", "))
}

fn question_row(known: &QuestionState) -> QuestionRow {
    let answer = known.answer.as_ref();
    let is_withdrawn = answer.is_some_and(|answer| answer.option == ANSWER_WITHDRAWN);
    QuestionRow {
        id: known.question.id.clone(),
        question: known.question.text.clone(),
        options: known.question.options.iter().map(|option| option.id.clone()).collect(),
        answer: answer.filter(|_| !is_withdrawn).map(|answer| answer.option.clone()),
        is_withdrawn,
        by: answer.map(|answer| reported_actor(&answer.by)),
        at: answer.map(|answer| answer.at),
    }
}

/// The command that goes on from where a run stands.
fn next_command(run: &str, state: &RunState) -> Option<String> {
    match &state.phase {
        RunPhase::Cancelled { .. } => return Some(format!("omo run resume --run {run}")),
        RunPhase::Ended { .. } => {
            if state.lacks_commits() {
                return Some(format!("omo run resume --run {run}"));
            }
            // What is tried again has failed itself: what it blocks follows.
            let may_retry = |standing: &TaskStanding| match standing {
                TaskStanding::Is(TaskStatus::Failed) => true,
                TaskStanding::Is(TaskStatus::Unverified) => !state.plan.policy.unproved_continues,
                _ => false,
            };
            let standings = state.standings();
            let failed = standings.iter().find(|(_, standing)| may_retry(standing));
            let left_out = standings.iter().find(|(_, standing)| *standing == TaskStanding::Is(TaskStatus::Skipped));
            if let Some((task, _)) = failed.or(left_out) {
                return Some(format!("omo run retry {}", task.id));
            }
            let is_red = state.final_checks.values().any(|outcome| !outcome.is_green());
            return is_red.then(|| format!("omo run resume --run {run}"));
        }
        RunPhase::Executing => {}
    }
    match schedule::next_action(state) {
        // Where there is something to choose, nothing that could be pasted chooses it.
        NextAction::Ask(known) => match known.question.options.as_slice() {
            [only] => Some(format!("omo answer {} {}", known.question.id, only.id)),
            _ => Some("omo agent next".to_owned()),
        },
        NextAction::Over => None,
        _ => Some("omo agent next".to_owned()),
    }
}
