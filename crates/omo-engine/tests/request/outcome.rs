//! The outcome of a run, and its resume point.

use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind, RunEvent};
use omo_engine::outcome::{
    FinalChecksResult, OutcomeSummary, PlanOutcome, ReportedCounts, ReportedStatus, plan_outcome,
};
use omo_engine::request::arguments::{PlanSelection, RunMode};
use omo_engine::request::run_scope::RunScope;
use omo_engine::resume::{InterruptedTask, ResumePoint, find_resume_point};
use omo_engine::state::{RunState, TaskStatus};
use omo_plan::model::{OnFailure, Plan};
use serde_json::{Value, json};

use crate::request::{plan, vectors};

/// A run of a part of a plan, whose steps have all passed.
fn passed(plan: &Plan, part: PlanSelection) -> RunState {
    let asked = RunScope {
        mode: RunMode::Step,
        selection: part,
        is_foreground: true,
        total_tasks: Some(plan.tasks.len()),
    };
    let actor = EventActor {
        session: None,
        process: None,
    };
    let what = EventKind::RunOpened {
        plan: Box::new(asked.narrow_plan(plan.clone())),
        approved: String::new(),
        root: "/top".to_owned(),
        worktree: None,
        base: None,
        branch: None,
        scope: Some(asked),
        mode: None,
        guard: None,
    };
    let mut state = RunState::from_first_event(&RunEvent {
        seq: 1,
        ts: Timestamp::from_millis(1),
        actor,
        kind: what,
    })
    .unwrap();
    state
        .tasks
        .values_mut()
        .for_each(|task| task.status = TaskStatus::Passed);
    state
}

#[test]
fn the_other_tasks_of_a_single_task_run_were_not_reached() {
    let plan = plan(3, &[(&[1], 1), (&[2, 3], 1)]);
    for (part, outcome, words, not_reached) in [
        (
            PlanSelection::Step(2),
            PlanOutcome::Partial,
            "PARTIAL (1/3 passed)",
            2,
        ),
        (
            PlanSelection::Session(2),
            PlanOutcome::Completed,
            "COMPLETED",
            0,
        ),
        (PlanSelection::Whole, PlanOutcome::Completed, "COMPLETED", 0),
    ] {
        let reached = OutcomeSummary::for_run(&passed(&plan, part), part);
        assert_eq!(
            (reached.outcome, reached.counts.not_reached),
            (outcome, not_reached),
            "{part:?}"
        );
        assert_eq!(reached.describe(plan.dialect), words);
    }
}

fn statuses(words: &Value) -> Vec<ReportedStatus> {
    serde_json::from_value(words.clone()).unwrap()
}

#[test]
fn every_row_of_results_holds() {
    let vectors = vectors("ultraplan-progress_report_preflight.json");
    let rows = vectors["reports"]["cases"].as_array().unwrap();
    assert_eq!(rows.len(), 7);
    for row in rows {
        let steps = statuses(&row["steps"]);
        let total = row["counts"][0]
            .as_u64()
            .map_or(steps.len(), |total| usize::try_from(total).unwrap());
        let clause = match row["on_failure"].as_str() {
            Some("escalate") => Some(OnFailure::Escalate),
            Some("revert") => Some(OnFailure::Revert),
            _ => None,
        };
        let closing = row["exit"].as_str().map_or(FinalChecksResult::None, |_| {
            serde_json::from_value(row["exit"].clone()).unwrap()
        });
        let counts = ReportedCounts::count(&steps, total);
        let expected = row["strict"].as_str().or(row["result"].as_str()).unwrap();
        let word = plan_outcome(counts, clause, closing).word();
        assert!(expected.starts_with(word), "{row}: {word}");
        if row["counts"].is_array() {
            let ReportedCounts {
                total,
                passed,
                failed,
                skipped,
                not_reached,
                ..
            } = counts;
            assert_eq!(
                json!([total, passed, failed, skipped, not_reached]),
                row["counts"],
                "{row}"
            );
        }
    }
}

#[test]
fn what_is_not_proved_is_not_complete() {
    let done = [ReportedStatus::Passed, ReportedStatus::Unverified];
    let counts = ReportedCounts::count(&done, 2);
    assert_eq!((counts.unverified, counts.not_reached), (1, 0));
    assert_eq!(
        plan_outcome(counts, None, FinalChecksResult::None).word(),
        "partial"
    );
    let passed = ReportedCounts::count(&[ReportedStatus::Passed], 1);
    assert_eq!(
        plan_outcome(passed, None, FinalChecksResult::Skipped).word(),
        "partial",
        "the checks behind it were not run"
    );
    assert_eq!(
        plan_outcome(passed, None, FinalChecksResult::Pass).word(),
        "completed"
    );
    assert_eq!(
        serde_json::to_value(ReportedStatus::Unverified).unwrap(),
        "pending"
    );
}

#[test]
fn every_row_of_where_a_run_goes_on_holds() {
    let vectors = vectors("ultraplan-progress_report_preflight.json");
    let rows = vectors["progress"]["resume"].as_array().unwrap();
    let mut seen = 0;
    // The others have no steps, or are about their readers.
    for row in rows
        .iter()
        .filter(|row| row["steps"].is_array() && row["multi_session"].is_null())
    {
        seen += 1;
        let mut known = statuses(&row["steps"]);
        let total = row["plan_now_has"]
            .as_u64()
            .map_or(known.len(), |total| usize::try_from(total).unwrap());
        known.resize(total, ReportedStatus::Pending);
        let is_edited = row["plan_step_2_was_edited"].as_bool() == Some(true);
        let steps: Vec<InterruptedTask> = known
            .iter()
            .zip(1..)
            .map(|(status, number)| InterruptedTask {
                id: number.to_string(),
                status: *status,
                is_stale: is_edited && number == 2,
            })
            .collect();
        // Stricter than the table: steps that the plan lets be left out stay so, and edited ones are done again.
        let expected = match row["start_at"].as_u64() {
            _ if is_edited => Some(2),
            _ if known.contains(&ReportedStatus::Skipped) => Some(3),
            other => other,
        };
        let found = find_resume_point(&steps);
        match (&found, expected) {
            (ResumePoint::From { step, why, .. }, Some(expected)) => {
                assert_eq!(*step, expected.to_string(), "{row}");
                let is_its_turn =
                    known[usize::try_from(expected).unwrap() - 1] == ReportedStatus::Pending;
                assert_eq!(why.is_none(), is_its_turn && !is_edited, "{row}");
            }
            (ResumePoint::Nothing, None) => {
                assert_eq!(found.summary_line(), "Nothing is left to do.");
            }
            _ => panic!("{row}: {found:?}"),
        }
        if let Some(text) = row["text"].as_str() {
            assert_eq!(found.summary_line(), text);
        }
    }
    assert_eq!(seen, 7);
}
