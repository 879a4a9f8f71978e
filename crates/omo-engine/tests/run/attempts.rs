//! The end of an ultraplan's step: by its `On failure` clause, the attempt, and the measurements.

use std::path::PathBuf;

use omo_core::check::session_check::CheckEnd;
use omo_core::check::task_check::{
    ExpectedExit, ExpectedResult, HeardOutput, ObservedResult, ShellComplaint, TaskCheckVerdict,
    judge_task_check,
};
use omo_engine::event::RunResult;
use omo_engine::verbs::{self, AttemptMeasurement, AttemptStart, CommitOutcome};
use omo_plan::diagnostic::Code;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::{OnFailure, Plan};
use serde_json::Value;

use crate::run::kit::{Run, all};

/// Clauses of a step about its failure.
const CLAUSES: [&str; 4] = ["revert", "retry", "skip", "escalate"];

fn rows() -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/vectors/plans/ultraplan-state_machine.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all["rows"].as_array().unwrap().clone()
}

/// A plan of two steps with this clause, with a check or without one.
fn tasks_that(on_failure: &str, verify: &str) -> Plan {
    let clause = match on_failure {
        "(missing)" => String::new(),
        word => format!("- **On failure:** {word} — the other way\n"),
    };
    let step = |number: u64| {
        format!(
            "### Step {number}: Part\n\n- **Files:** `src/{number}.rs`\n- **Changes:** Do it.\n{verify}{clause}\n"
        )
    };
    let text = format!(
        "# A plan\n\n## Implementation Plan\n\n{}{}",
        step(1),
        step(2)
    );
    dialects::read("plan.md", text.as_bytes(), BatchOptions::default())
}

fn steps(on_failure: &str) -> Plan {
    tasks_that(on_failure, "- **Verify:** `prove`\n")
}

/// The verdict on a check with this end; a wanted text is in the output or is not.
fn verdict(
    end: CheckEnd,
    wants_text: bool,
    has_text: bool,
    complaint: Option<ShellComplaint>,
) -> TaskCheckVerdict {
    let expect = ExpectedResult {
        exit: ExpectedExit::Zero,
        stdout_has: wants_text.then(|| "text".to_owned()),
    };
    let heard = HeardOutput {
        has_text,
        complaint,
        ..HeardOutput::default()
    };
    judge_task_check(
        &expect,
        &ObservedResult {
            end,
            counts: None,
            heard,
            pipefail_matters: false,
        },
    )
    .0
}

/// The verdict on the check of a row.
fn of_row(verify: &str) -> TaskCheckVerdict {
    let exited = |status, wants_text, has_text| {
        verdict(CheckEnd::Exited(status), wants_text, has_text, None)
    };
    match verify {
        "exit 0, expected text present or none given" => {
            assert_eq!(exited(0, false, false), exited(0, true, true));
            exited(0, true, true)
        }
        "exit 0" => exited(0, false, false),
        "exit 1" => exited(1, false, false),
        "exit 0 but expected text missing" => exited(0, true, false),
        "exit 1 but expected text present" => exited(1, true, true),
        "killed by time-out" => verdict(CheckEnd::TimedOut(600), false, false, None),
        "command not found (127)" => verdict(
            CheckEnd::Exited(127),
            false,
            false,
            Some(ShellComplaint::NotFound("prove".to_owned())),
        ),
        other => panic!("no such row: {other}"),
    }
}

/// A run whose first step has failed so often before, and now ends like this.
fn played(
    plan: Plan,
    failures: u64,
    measured: impl FnOnce(AttemptMeasurement) -> AttemptMeasurement,
    now: &TaskCheckVerdict,
) -> Run {
    let mut run = Run::open(plan);
    for _ in 0..failures {
        run.fail("1");
    }
    let ticket = run.start("1").unwrap();
    let of_checks = all(run.state.plan.task("1").unwrap(), now);
    run.done(&ticket, measured(of_checks)).unwrap();
    run
}

/// Asserts the first step's status of a row, and its consequences.
fn assert_stands(run: &Run, status: &str, on_failure: &str, row: &Value) {
    let asked = run.asked().map(|(_, about)| about);
    match status {
        "passed" | "skipped" => assert_eq!(
            (run.standing("1"), run.ready()),
            (status, vec!["2"]),
            "{row}"
        ),
        // Between two attempts it has no worker.
        "running" => assert_eq!(
            (run.standing("1"), run.ready()),
            ("pending", vec!["1"]),
            "{row}"
        ),
        "failed" if matches!(on_failure, "escalate" | "(missing)") => {
            assert_eq!(
                (run.standing("1"), asked.as_deref()),
                ("failed", Some("escalated")),
                "{row}"
            );
        }
        "failed" => assert_eq!(
            (run.standing("1"), run.result()),
            ("failed", Some(RunResult::Failed)),
            "{row}"
        ),
        other => panic!("no such status: {other}"),
    }
}

#[test]
fn every_row_of_checks_holds() {
    let mut seen = 0;
    for row in rows() {
        let (on_failure, verify) = (
            row["on_failure"].as_str().unwrap(),
            row["verify"].as_str().unwrap(),
        );
        let strict = row["note"]
            .as_str()
            .unwrap_or_default()
            .starts_with("strict");
        if on_failure == "any" || (strict && !verify.starts_with("killed")) {
            continue;
        }
        seen += 1;
        let attempt = row["attempt"].as_u64().unwrap();
        let run = played(
            steps(on_failure),
            attempt - 1,
            |measured| measured,
            &of_row(verify),
        );
        // A timeout as one more failed attempt is our rule.
        let status = row["step_status"]
            .as_str()
            .filter(|status| *status != "?")
            .unwrap_or("running");
        assert_stands(&run, status, on_failure, &row);
        assert_eq!(u64::from(run.state.tasks["1"].attempts), attempt, "{row}");
        let clause = run.state.plan.task("1").unwrap().on_failure;
        if status == "failed" {
            assert_eq!(
                Some(clause.reverts_changes()),
                row["revert_files"].as_bool(),
                "{row}"
            );
        }
    }
    assert_eq!(seen, 16, "rows that are about the end of a check alone");
}

#[test]
fn what_is_left_out_is_taken_back() {
    assert!(
        OnFailure::Skip.reverts_changes(),
        "or the next step would commit it"
    );
}

#[test]
fn an_unknown_clause_is_refused_before_anything_runs() {
    let plan = steps("abort");
    assert!(!plan.can_run());
    assert!(
        plan.diagnostics
            .iter()
            .any(|found| found.code == Code::UnknownOnFailure)
    );
}

#[test]
fn a_check_that_cannot_be_run_spends_no_attempt() {
    let mut run = played(
        steps("revert"),
        0,
        |measured| measured,
        &of_row("command not found (127)"),
    );
    assert_eq!(
        (run.standing("1"), run.state.tasks["1"].attempts),
        ("held", 0)
    );
    let (question, about) = run.asked().unwrap();
    assert_eq!(about, "check_not_runnable");
    run.answer(&question, "continue").unwrap();
    assert_eq!(run.ready(), ["1"]);
}

#[test]
fn a_task_without_a_check_never_passes() {
    let run = played(
        tasks_that("revert", ""),
        0,
        |measured| measured,
        &TaskCheckVerdict::Green,
    );
    assert_eq!(
        (run.standing("1"), run.result()),
        ("unproved", Some(RunResult::Failed))
    );
}

#[test]
fn a_worker_that_crosses_a_fence_is_stopped_whatever_the_clause_says() {
    for on_failure in CLAUSES {
        for file in ["src/db/mod.rs", "SRC/db/mod.rs"] {
            let mut plan = steps(on_failure);
            plan.groups[0].never_touch = vec!["./src/db/".to_owned()];
            let changes = |measured| AttemptMeasurement {
                files: vec!["src/1.rs".to_owned(), file.to_owned()],
                ..measured
            };
            let run = played(plan.clone(), 0, changes, &TaskCheckVerdict::Green);
            assert_stands(&run, "failed", on_failure, &Value::Null);
            let evidence = run.state.tasks["1"]
                .last_end
                .as_ref()
                .unwrap()
                .evidence
                .clone();
            let expected =
                format!("SCOPE VIOLATION: Step 1 changed {file} which is in the never-touch list.");
            assert_eq!(evidence, expected);

            let mut run = Run::open(plan);
            let ticket = run.start("1").unwrap();
            run.take(verbs::give_up_attempt(
                &run.state,
                &ticket,
                "no",
                vec![file.to_owned()],
            ))
            .unwrap();
            assert_stands(&run, "failed", on_failure, &Value::Null);
        }
    }
}

#[test]
fn work_that_is_in_no_commit_has_not_passed() {
    let nothing = || Some(CommitOutcome::Nothing);
    let changed = || vec!["src/1.rs".to_owned()];
    for on_failure in CLAUSES {
        let failed = match on_failure {
            "skip" => "skipped",
            "escalate" => "failed",
            _ => "running",
        };
        let unlisted = Some(CommitOutcome::HoldsUnlisted {
            files: vec!["other".to_owned()],
        });
        let made = Some(CommitOutcome::Made {
            id: "abc".to_owned(),
            branch: None,
            hooks: None,
        });
        for (commit, files, out_of_scope, status) in [
            (made, changed(), vec![], "passed"),
            (nothing(), vec![], vec![], "passed"),
            (
                nothing(),
                vec!["other".to_owned()],
                vec!["other".to_owned()],
                "passed",
            ),
            (nothing(), changed(), vec![], failed),
            (unlisted, changed(), vec![], failed),
        ] {
            let is_made = matches!(commit, Some(CommitOutcome::Made { .. }));
            let measured = |seen| AttemptMeasurement {
                commit,
                files,
                out_of_scope,
                ..seen
            };
            let run = played(steps(on_failure), 0, measured, &TaskCheckVerdict::Green);
            assert_stands(&run, status, on_failure, &Value::Null);
            let kept = run.state.tasks["1"]
                .last_end
                .as_ref()
                .unwrap()
                .commit
                .as_deref();
            assert_eq!(kept, is_made.then_some("abc"));
        }
    }
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_crosses_no_fence_by_that() {
    let mut plan = steps("revert");
    plan.groups[0].never_touch = vec!["app/*.md".to_owned()];
    let changes = |measured| AttemptMeasurement {
        files: vec!["app/[id]/page.tsx".to_owned()],
        ..measured
    };
    assert_stands(
        &played(plan, 0, changes, &TaskCheckVerdict::Green),
        "passed",
        "revert",
        &Value::Null,
    );
}

/// A run whose first step was begun in a worktree that is kept.
fn begun_on_kept_ground(on_failure: &str) -> (Run, String) {
    let mut run = Run::open(steps(on_failure));
    let kept = Some("as it was".to_owned());
    let start = AttemptStart {
        ticket: "t".to_owned(),
        tree: Some("a tree".to_owned()),
        snapshot: kept,
        ..AttemptStart::default()
    };
    run.take(verbs::start_attempt(&run.state, "1", start).map(|event| vec![event]))
        .unwrap();
    (run, "t".to_owned())
}

#[test]
fn what_is_taken_back_is_what_was_there_when_it_failed_for_good() {
    for (on_failure, is_taken_back) in [("skip", true), ("escalate", false)] {
        let (mut run, ticket) = begun_on_kept_ground(on_failure);
        let red = all(run.state.plan.task("1").unwrap(), &TaskCheckVerdict::Red);
        let events = verbs::judge_attempt(&run.state, &ticket, red).unwrap();
        assert_eq!(
            verbs::reverts_changes(&run.state, &events),
            is_taken_back,
            "{on_failure}"
        );
        let left = "as it is".to_owned();
        run.take(Ok(verbs::with_snapshot(events, Some(&left))))
            .unwrap();
        let known = &run.state.tasks["1"];
        assert_eq!(known.is_to_restore, is_taken_back, "{on_failure}");
        assert_eq!(
            known.last_end.as_ref().unwrap().snapshot,
            Some(left),
            "{on_failure}"
        );
    }
    // A retried step is not taken back, nor is one without a snapshot.
    let (run, ticket) = begun_on_kept_ground("revert");
    let red = all(run.state.plan.task("1").unwrap(), &TaskCheckVerdict::Red);
    assert!(!verbs::reverts_changes(
        &run.state,
        &verbs::judge_attempt(&run.state, &ticket, red).unwrap()
    ));
    let mut run = Run::open(steps("skip"));
    let ticket = run.start("1").unwrap();
    let red = all(run.state.plan.task("1").unwrap(), &TaskCheckVerdict::Red);
    assert!(!verbs::reverts_changes(
        &run.state,
        &verbs::judge_attempt(&run.state, &ticket, red).unwrap()
    ));
}

#[test]
fn an_edited_task_begins_where_its_first_attempt_began() {
    let (mut run, ticket) = begun_on_kept_ground("revert");
    let red = all(run.state.plan.task("1").unwrap(), &TaskCheckVerdict::Red);
    run.take(verbs::judge_attempt(&run.state, &ticket, red))
        .unwrap();
    let ground = run.state.tasks["1"].baseline.clone();
    assert!(ground.is_some());
    let mut edited = run.state.plan.clone();
    edited.tasks[0].body_sha256 = "another text".to_owned();
    run.take(verbs::replace_plan(
        &run.state,
        edited,
        "approved".to_owned(),
    ))
    .unwrap();
    assert_eq!(
        (run.standing("1"), &run.state.tasks["1"].baseline),
        ("pending", &ground)
    );
}
