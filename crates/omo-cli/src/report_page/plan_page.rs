//! The page of a run of a plan.

use std::collections::BTreeMap;

use omo_core::check::counterfactual::{CheckCounterfactual, WithoutChange};
use omo_engine::event::{EventKind, RunEvent};
use omo_engine::report::TaskRow;
use omo_engine::report::heading::{HeadingKind, run_heading};
use omo_engine::report::history::AttemptRow;
use omo_engine::report::ultraplan::short_commit;
use omo_engine::report::workers::cost_text;
use omo_engine::state::{QuestionState, RunPhase, RunState, TaskStanding, TaskState, TaskStatus};
use omo_plan::model::{PlannedState, Task, TaskKind};
use omo_plan::proof::ProofSource;
use omo_report_page::model::{
    Attempt, Card, CheckResult, CheckState, Page, Review, ReviewEnd, RunEnd, Standing, Subject, Unproved, Weakening,
};

use crate::report_page::plan_timeline::{attempt_end, plan_timeline};
use crate::report_page::{PlanRecord, plan_check};

/// The page of a run of a plan.
pub(crate) fn plan_page(record: &PlanRecord<'_>) -> Page {
    let (state, report) = (record.state, record.report);
    let heading = run_heading(state);
    let tasks = state.standings();
    let places: BTreeMap<&str, usize> = tasks.iter().enumerate().map(|(place, (task, _))| (&*task.id, place)).collect();
    let cards = tasks.iter().zip(&report.tasks);
    let title = if report.title.is_empty() { report.plan.clone() } else { report.title.clone() };
    let final_checks = state.plan.final_checks.iter().enumerate();
    Page {
        title,
        subject: Subject::Plan,
        sentence: heading.text,
        end: match heading.kind {
            HeadingKind::Running => RunEnd::Running,
            HeadingKind::Waiting => RunEnd::Waiting,
            HeadingKind::Complete => RunEnd::Finished,
            HeadingKind::Unproved | HeadingKind::Incomplete => RunEnd::Unfinished,
            HeadingKind::Failed => RunEnd::Failed,
            HeadingKind::Cancelled => RunEnd::Stopped,
        },
        as_of: if state.phase == RunPhase::Executing { record.time_of_day.clone() } else { String::new() },
        facts: facts(record),
        request: state.plan.goal.clone(),
        checks: final_checks
            .map(|(place, check)| plan_check(&check.command, state.final_checks.get(&place), None))
            .collect(),
        reviews: reviews(record.events),
        // That a check of the whole did not run stands at the check.
        unproved: report
            .not_verified
            .iter()
            .filter(|item| item.task.is_some())
            .map(|item| Unproved { task: item.task.clone(), reason: item.reason.clone() })
            .collect(),
        weakened: weakened(state),
        findings: report.findings.clone(),
        next_steps: state.open_question().map_or_else(|| record.next_steps.clone(), answer_steps),
        timeline: plan_timeline(record, &places),
        cards: cards.map(|((task, standing), row)| card(task, standing, row, record, &places)).collect(),
    }
}

fn facts(record: &PlanRecord<'_>) -> Vec<(String, String)> {
    let (state, report) = (record.state, record.report);
    let mut facts = vec![
        ("plan", report.plan.clone()),
        ("run", format!("{}, {}", report.run, report.mode)),
        ("held by", state.holder.describe()),
        ("begun", record.began.clone()),
    ];
    facts.extend(report.cancel_reason.clone().map(|why| ("cancelled", why)));
    if state.round > 1 {
        facts.push(("rounds", format!("{} of at most {}", state.round, state.plan.policy.max_rounds)));
    }
    facts.extend(report.base.as_deref().map(|base| ("base", short_commit(base).to_owned())));
    facts.extend(state.parallel.as_ref().and_then(cost_text).map(|cost| ("cost", cost)));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

/// What is asked, and each answer that there is as its command: a page has no question above.
fn answer_steps(QuestionState { question, .. }: &QuestionState) -> Vec<String> {
    let asked: Vec<&str> = question.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let answers =
        question.options.iter().map(|option| format!("`omo answer {} {}`: {}", question.id, option.id, option.text));
    std::iter::once(asked.join(" ")).chain(answers).collect()
}

/// What the verifier said of the whole, each time.
fn reviews(events: &[RunEvent]) -> Vec<Review> {
    let review = |event: &RunEvent| match &event.kind {
        EventKind::VerdictGiven { verdict } => Some(Review {
            reviewer: "the verifier".to_owned(),
            verdict: if verdict.passed { ReviewEnd::Agreed } else { ReviewEnd::Rejected },
            at: Some(event.ts),
            tree: None,
            words: verdict.summary_line(),
        }),
        _ => None,
    };
    events.iter().filter_map(review).collect()
}

/// What a person accepted, and what of the checks is no longer as it was.
fn weakened(state: &RunState) -> Vec<Weakening> {
    let judged = state.tasks.iter().filter_map(|(id, known)| Some((id, known, known.judgment.as_ref()?)));
    let judged = judged.map(|(id, known, answer)| Weakening {
        at: known.updated_at,
        by: "by a person".to_owned(),
        what: format!("{id} has failed, and was answered with {answer}"),
    });
    let changed = state.changed_check_files.iter().map(|(file, task)| Weakening {
        at: None,
        by: format!("during {task}"),
        what: format!("{file}, which a check runs, was changed"),
    });
    judged.chain(changed).collect()
}

fn card(
    task: &Task,
    standing: &TaskStanding,
    row: &TaskRow,
    record: &PlanRecord<'_>,
    places: &BTreeMap<&str, usize>,
) -> Card {
    let known = record.state.tasks.get(&task.id);
    let is_told_by_checks =
        *standing == TaskStanding::Is(TaskStatus::Passed) && known.is_some_and(|known| !known.checks.is_empty());
    Card {
        id: task.id.clone(),
        title: task.title.clone(),
        standing: card_standing(task, standing),
        goal: task.body.clone(),
        needs: task.deps.iter().filter_map(|id| places.get(id.as_str()).copied()).collect(),
        proved_by: proof_source(task, known),
        attempts: row.history.iter().map(attempt).collect(),
        checks: known.map(|known| own_checks(known, row)).unwrap_or_default(),
        evidence: Some(row.evidence.clone())
            .filter(|line| !line.is_empty() && !is_told_by_checks)
            .into_iter()
            .collect(),
        files: row.files.clone(),
        out_of_scope: row.out_of_scope.clone(),
        diff: record.differences.get(&task.id).cloned().unwrap_or_default(),
        note: row.note.clone().unwrap_or_default(),
    }
}

fn card_standing(task: &Task, standing: &TaskStanding) -> Standing {
    match standing {
        TaskStanding::Blocked { .. } => Standing::Blocked,
        TaskStanding::Is(TaskStatus::Pending) => Standing::Pending,
        TaskStanding::Is(TaskStatus::Running) => Standing::Running,
        TaskStanding::Is(TaskStatus::Held) => Standing::Interrupted,
        TaskStanding::Is(TaskStatus::Passed) => Standing::Passed,
        TaskStanding::Is(TaskStatus::Claimed) => Standing::Claimed,
        TaskStanding::Is(TaskStatus::Unverified) => Standing::Unproved,
        TaskStanding::Is(TaskStatus::Failed) => Standing::Failed,
        TaskStanding::Is(TaskStatus::Skipped) if task.state == PlannedState::LeftOut => Standing::LeftOut,
        TaskStanding::Is(TaskStatus::Skipped) => Standing::Skipped,
    }
}

/// What proved a task, where that was no check of its own.
fn proof_source(task: &Task, known: Option<&TaskState>) -> Option<String> {
    match known.and_then(|known| known.proved_by.as_ref()) {
        Some(ProofSource::Task(id)) => Some(format!("task {id}, which is a check itself")),
        Some(ProofSource::FinalChecks) => Some("the checks of the whole".to_owned()),
        None if task.kind == TaskKind::Verify && known.is_some_and(|known| known.status == TaskStatus::Passed) => {
            Some("the verifier's verdict".to_owned())
        }
        None => None,
    }
}

fn own_checks(known: &TaskState, row: &TaskRow) -> Vec<CheckResult> {
    let tree = known.last_end.as_ref().and_then(|end| end.tree.as_deref());
    // Where one check shows the work, others may be green without it, too: a build, or a lint.
    let is_shown = row.without_work.iter().any(|known| known.without.is_red());
    let is_vacuous = |command: &String| {
        let is_green = |known: &CheckCounterfactual| known.name == *command && known.without == WithoutChange::Green;
        row.already_green.contains(command) || (!is_shown && row.without_work.iter().any(is_green))
    };
    let check = |(command, outcome): &(String, _)| {
        let check = plan_check(command, Some(outcome), tree);
        match check.state {
            CheckState::Green if is_vacuous(command) => CheckResult { state: CheckState::AlreadyGreen, ..check },
            _ => check,
        }
    };
    known.checks.iter().map(check).collect()
}

fn attempt(row: &AttemptRow) -> Attempt {
    Attempt { from: row.since, until: row.until, end: attempt_end(row), why: row.why.clone() }
}
