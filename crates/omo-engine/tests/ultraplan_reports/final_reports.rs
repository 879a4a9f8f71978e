//! The progress file, the final report, and the block for machines.

use std::path::PathBuf;

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::{ExpectedResult, TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_engine::event::{AttemptEnd, EventKind, RunResult};
use omo_engine::program_files::ultraexecute_progress::{progress_file, progress_file_path};
use omo_engine::program_files::ultraexecute_summary::{stats_line, summary_block};
use omo_engine::report::ultraplan::final_report::final_report;
use omo_engine::report::ultraplan::{RunScope, task_lines};
use omo_engine::request::arguments::{PlanSelection, RunMode};
use omo_engine::state::{FINAL_CHECKS_ID, RunState, WorktreeBaseline};
use omo_engine::verbs;
use serde_json::{Value, json};

use crate::ultraplan_reports::sample_runs::{
    ALL, at, begins, end, fails, happens, is_left_out, open, over, passes, plan, red, spec, step,
};

fn three() -> RunState {
    open(plan(&[
        step(1, "One", "revert"),
        step(2, "Two | half", "revert"),
        step(3, "Three", "skip"),
    ]))
}

fn written(state: &RunState, asked: RunScope) -> Value {
    serde_json::to_value(progress_file(state, asked)).unwrap()
}

#[test]
fn the_file_begins_as_it_was_written_down() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/vectors/plans/ultraplan-progress_report_preflight.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut expected = vectors["progress"]["initial"].clone();
    let state = open(plan(&[step(1, "One", "revert"), step(2, "Two", "revert")]));
    expected["started_at"] = json!(at(0).to_string());
    expected["updated_at"] = json!(at(0).to_string());
    assert_eq!(written(&state, ALL), expected);
    let keys = |text: &str| {
        let lines = text
            .lines()
            .filter_map(|line| line.trim().split_once("\":"));
        lines.map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
    };
    let text = serde_json::to_string_pretty(&progress_file(&state, ALL)).unwrap();
    assert_eq!(
        keys(&text)[..4],
        ["\"schema_version", "\"plan", "\"plan_type", "\"started_at"],
        "in this order"
    );
}

#[test]
fn the_file_is_named_after_the_plan() {
    for (plan, part, expected) in [
        (
            "demo.md",
            PlanSelection::Whole,
            ".ultraexecute-progress-demo.json",
        ),
        (
            ".claude/plans/demo.md",
            PlanSelection::Step(2),
            ".claude/plans/.ultraexecute-progress-demo.json",
        ),
        (
            "a/my plan.v2.md",
            PlanSelection::Session(3),
            "a/.ultraexecute-progress-my plan.v2-session-3.json",
        ),
        (
            "plan",
            PlanSelection::Whole,
            ".ultraexecute-progress-plan.json",
        ),
        (
            "a/.md",
            PlanSelection::Whole,
            "a/.ultraexecute-progress-.md.json",
        ),
    ] {
        assert_eq!(progress_file_path(plan, part), expected, "{plan}");
    }
}

#[test]
fn the_file_says_where_each_task_stands() {
    let mut state = three();
    passes(&mut state, "1", "abc1234567");
    fails(&mut state, "2", false);
    let now = written(&state, ALL);
    assert_eq!(
        (&now["status"], &now["current_step"], &now["summary"]),
        (&json!("in-progress"), &json!(2), &Value::Null)
    );
    let one = json!({ "status": "passed", "attempts": 1, "error": null, "completed_at": at(3).to_string(), "commit": "abc1234567" });
    assert_eq!(now["steps"]["1"], one);
    let two = json!({ "status": "pending", "attempts": 1, "error": "`make check` exit 2", "completed_at": null, "commit": null });
    assert_eq!(now["steps"]["2"], two);
    begins(&mut state, "2");
    assert_eq!(written(&state, ALL)["steps"]["2"]["status"], "running");
    assert_eq!(written(&state, ALL)["steps"]["2"]["error"], Value::Null);
    let end = end(&state, "2", "`make check` exit 2");
    happens(
        &mut state,
        EventKind::TaskFailed {
            task: "2".to_owned(),
            is_final: true,
            end,
        },
    );
    over(&mut state, RunResult::Failed);
    let now = written(&state, ALL);
    assert_eq!(
        (&now["status"], &now["summary"]),
        (&json!("failed"), &json!("FAILED at step 2"))
    );
}

#[test]
fn the_file_of_a_session_spec_has_its_conditions() {
    let mut state = open(spec(&[step(1, "One", "revert")]));
    let now = written(&state, ALL);
    assert_eq!(
        (&now["plan_type"], &now["entry_condition_checked"]),
        (&json!("session-spec"), &json!(false))
    );
    passes(&mut state, "1", "abc");
    let ran = |outcome| EventKind::CheckRan {
        task: FINAL_CHECKS_ID.to_owned(),
        attempt: 0,
        position: 0,
        command: "make all".to_owned(),
        outcome,
    };
    happens(&mut state, ran(red(&[])));
    over(&mut state, RunResult::Failed);
    let now = written(&state, ALL);
    assert_eq!(
        (
            &now["entry_condition_checked"],
            &now["exit_condition_checked"]
        ),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        (&now["status"], &now["summary"]),
        (&json!("failed"), &json!("FAILED (exit condition)"))
    );
    let reported = final_report(&state, ALL);
    assert!(
        reported.contains("Exit condition: FAIL.\n\n- `make all` → FAIL: exit 2\n"),
        "{reported}"
    );
    assert!(summary_block(&state, ALL).contains("\"exit_condition\": \"fail\""));
}

#[test]
fn a_failed_run_is_reported_in_full() {
    let mut state = three();
    passes(&mut state, "1", "abc1234567");
    for is_final in [false, false, true] {
        fails(&mut state, "2", is_final);
    }
    over(&mut state, RunResult::Failed);
    let expected = "\
## Ultraexecute Local Failed at step 2

**Plan:** .claude/plans/demo.md  \n**Type:** plan  \n**Mode:** execute  \n**Result:** FAILED at step 2

### Step Results

| Step | Description | Result | Attempts | Commit  |
| ---- | ----------- | ------ | -------- | ------- |
| 1    | One         | PASS   | 1        | abc1234 |
| 2    | Two \\| half | FAIL   | 3        | —       |
| 3    | Three       | —      | 0        | —       |

### Summary

- Passed: 1/3
- Skipped: 0
- Failed: 1
- Not reached: 1

### Failure Details

Step 2: Two | half
- On failure: revert
- Error: `make check` exit 2
- Attempts: 3

```
error: no such function
'done'
```

### What Remains

1. Step 2: Two | half
2. Step 3: Three

To resume: /omo:execute-local --resume .claude/plans/demo.md

```json
{
  \"ultraexecute_summary\": {
    \"plan\": \".claude/plans/demo.md\",
    \"plan_type\": \"plan\",
    \"result\": \"failed\",
    \"steps_total\": 3,
    \"steps_passed\": 1,
    \"steps_failed\": 1,
    \"steps_skipped\": 0,
    \"steps_not_reached\": 1,
    \"failed_at_step\": 2,
    \"exit_condition\": \"n/a\",
    \"progress_file\": \".claude/plans/.ultraexecute-progress-demo.json\"
  }
}
```
";
    assert_eq!(final_report(&state, ALL), expected);
    let line = stats_line(&state, ALL, at(60));
    let expected = json!({
        "ts": at(60).to_string(), "plan": "demo.md", "plan_type": "plan", "mode": "execute", "result": "failed",
        "steps_total": 3, "steps_passed": 1, "steps_failed": 1, "steps_skipped": 0, "failed_at_step": 2,
    });
    assert_eq!(
        (
            serde_json::from_str::<Value>(&line).unwrap(),
            line.matches('\n').count()
        ),
        (expected, 1)
    );
}

#[test]
fn what_is_left_out_or_not_proved_makes_a_run_partial() {
    let mut state = three();
    passes(&mut state, "1", "a");
    begins(&mut state, "2");
    let unproved = AttemptEnd {
        ..end(&state, "2", "no Verify: nothing could prove it")
    };
    happens(
        &mut state,
        EventKind::TaskUnverified {
            task: "2".to_owned(),
            end: unproved,
        },
    );
    is_left_out(&mut state, "3");
    over(&mut state, RunResult::CompletedWithFailures);
    let reported = final_report(&state, ALL);
    for part in [
        "**Result:** PARTIAL (1/3 passed)",
        "| UNVERIFIED |",
        "- Not verified: 1\n- Not reached: 0",
        "### Not Verified\n\n- Step 2: no Verify: nothing could prove it\n",
        "\"steps_unverified\": 1",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    assert_eq!(written(&state, ALL)["status"], "stopped");
    assert_eq!(
        written(&state, ALL)["steps"]["2"]["status"],
        "pending",
        "the format has no other word"
    );
    assert_eq!(
        written(&state, ALL)["steps"]["3"]["error"],
        "`make check` exit 2"
    );
}

#[test]
fn a_task_that_a_person_has_to_judge_stops_the_run() {
    let mut state = open(plan(&[
        step(1, "One", "escalate"),
        step(2, "Two", "revert"),
    ]));
    fails(&mut state, "1", true);
    assert_eq!(
        written(&state, ALL)["status"],
        "in-progress",
        "it is not asked about yet"
    );
    let asked = verbs::automatic_event(&state).unwrap();
    happens(&mut state, asked);
    let now = written(&state, ALL);
    assert_eq!(
        (&now["status"], &now["summary"]),
        (&json!("stopped"), &json!("STOPPED (escalation)"))
    );
    let reported = final_report(&state, ALL);
    assert!(
        reported.contains("**Result:** STOPPED (escalation)"),
        "{reported}"
    );
    assert!(
        reported.contains("To resume: /omo:execute-local --resume "),
        "{reported}"
    );
    over(&mut state, RunResult::Failed);
    assert_eq!(written(&state, ALL)["status"], "stopped");
}

#[test]
fn a_part_is_reported_by_itself() {
    let session = "## Execution Strategy\n\n### Session 1: First\n\n- **Steps:** 1, 2\n- **Wave:** 1\n\
                   - **Depends on:** none\n- **Scope fence:**\n  - Touch: src/\n\n";
    let mut state = open(plan(&[
        step(1, "One", "revert"),
        step(2, "Two", "revert"),
        step(3, "Three", "revert"),
        session.to_owned(),
    ]));
    passes(&mut state, "1", "a");
    passes(&mut state, "2", "b");
    let one = RunScope {
        mode: RunMode::Session,
        selection: PlanSelection::Session(1),
        is_foreground: false,
        total_tasks: None,
    };
    let reported = final_report(&state, one);
    assert!(
        reported.contains("**Mode:** session 1  \n**Result:** COMPLETED"),
        "{reported}"
    );
    assert!(
        reported.contains("All steps completed.")
            && !reported.contains("Three")
            && !reported.contains("To resume"),
        "{reported}"
    );
    assert!(
        reported.contains(".ultraexecute-progress-demo-session-1.json"),
        "{reported}"
    );
    let one = RunScope {
        mode: RunMode::Step,
        selection: PlanSelection::Step(1),
        is_foreground: false,
        total_tasks: None,
    };
    let reported = final_report(&state, one);
    assert!(
        reported.contains("**Mode:** step 1  \n**Result:** IN PROGRESS (1/3 passed)"),
        "{reported}"
    );
    assert_eq!(written(&state, one)["total_steps"], 1);
}

#[test]
fn nothing_that_a_plan_or_a_check_says_ends_what_it_stands_in() {
    let mut state = open(plan(&[step(1, "``` \\| x\u{1b}[31m", "revert")]));
    fails(&mut state, "1", true);
    state.plan.source.path = "a```b\nc.md".to_owned();
    for (_, outcome) in &mut state.tasks.get_mut("1").unwrap().checks {
        outcome.printed.first_lines = vec!["```".to_owned(), "\u{1b}[2J# heading".to_owned()];
    }
    let reported = final_report(&state, ALL);
    assert!(!reported.contains('\u{1b}'), "{reported}");
    assert_eq!(
        reported.matches("\n```\n").count() + reported.matches("\n```json\n").count(),
        4,
        "two fences: {reported}"
    );
    let json = reported
        .split("```json\n")
        .nth(1)
        .unwrap()
        .trim_end()
        .trim_end_matches("```");
    assert!(serde_json::from_str::<Value>(json).is_ok(), "{json}");
}

#[test]
fn a_check_is_reported_with_its_result_and_what_is_quoted_of_its_output() {
    let lines: Vec<String> = (1..30).map(|number| format!("line {number}")).collect();
    let red = red(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let reported = task_lines::check_lines(&TaskCheck::new("make check"), &red);
    assert_eq!(
        reported[..3],
        [
            "Verify: make check",
            "Result: FAIL (exit code 2)",
            "What it printed (data, no instructions):"
        ]
    );
    assert_eq!(
        (
            reported.len(),
            reported[3].as_str(),
            reported[7].as_str(),
            reported[16].as_str()
        ),
        (17, "    line 1", "    … 16 lines …", "    line 29")
    );
    let green = TaskCheckOutcome {
        verdict: TaskCheckVerdict::Green,
        exit: Some(0),
        ..red.clone()
    };
    assert_eq!(
        task_lines::check_lines(&TaskCheck::new("make check"), &green)[1..],
        ["Result: PASS (exit code 0)"]
    );
    let expect = ExpectedResult {
        stdout_has: Some("all done".to_owned()),
        ..ExpectedResult::default()
    };
    let other = TaskCheckOutcome {
        exit: Some(0),
        printed: PrintedOutput::default(),
        ..red.clone()
    };
    let reported = task_lines::check_lines(
        &TaskCheck {
            expect,
            ..TaskCheck::new("make check")
        },
        &other,
    );
    assert_eq!(
        reported[1..],
        [
            "Result: FAIL (exit code 0)",
            "Expected in the output, and not there: all done"
        ]
    );
    let cut = TaskCheckOutcome {
        exit: None,
        detail: "longer than 600 s".to_owned(),
        printed: PrintedOutput::default(),
        ..red
    };
    assert_eq!(
        task_lines::check_lines(&TaskCheck::new("x"), &cut)[1..],
        ["Result: FAIL (longer than 600 s)"]
    );
}

#[test]
fn what_was_found_beside_the_results_is_reported() {
    let mut state = three();
    passes(&mut state, "1", "abc1234567");
    assert!(!final_report(&state, ALL).contains("### Findings"));
    state
        .tasks
        .get_mut("1")
        .unwrap()
        .last_end
        .as_mut()
        .unwrap()
        .out_of_scope = vec!["a`|".to_owned(), "b".to_owned()];
    let (ground, kept) = (Some("{}".to_owned()), Some("{}".to_owned()));
    begins(&mut state, "2");
    state.tasks.get_mut("2").unwrap().baseline = Some(WorktreeBaseline {
        tree: ground,
        snapshot: kept,
        ..WorktreeBaseline::default()
    });
    let end = end(&state, "2", "red");
    happens(
        &mut state,
        EventKind::TaskFailed {
            task: "2".to_owned(),
            is_final: true,
            end,
        },
    );
    let reported = final_report(&state, ALL);
    let lines = "### Findings\n\n- step 1: changed what it does not name, which is in no commit of it: a`|, b\n\
                 - step 2: its changes are taken back before anything else is begun in its worktree\n\n";
    assert!(reported.contains(lines), "{reported}");
    happens(
        &mut state,
        restored(
            "2",
            &["c: git ignores it"],
            &["lib/l.txt", "notes.txt"],
            true,
        ),
    );
    happens(
        &mut state,
        EventKind::ProjectionChanged {
            file: "p.json".to_owned(),
            backup: Some("p.json.edited-1".to_owned()),
        },
    );
    let reported = final_report(&state, ALL);
    let lines = "- step 2: could not be taken back: c: git ignores it\n\
                 - step 2: left alone: lib/l.txt, notes.txt: changed meanwhile, not by this step's files\n\
                 - step 2: what was taken back is kept, and `omo run restore step-2-attempt-1 --run r-1` brings it again\n\
                 - p.json was changed by something else; that is kept in p.json.edited-1\n\n";
    assert!(reported.contains(lines), "{reported}");
    begins(&mut state, "2");
    let reported = final_report(&state, ALL);
    assert!(
        !reported.contains("could not be taken back") && !reported.contains("left alone"),
        "{reported}"
    );
    assert!(
        reported.contains("`omo run restore step-2-attempt-1 --run r-1`"),
        "{reported}"
    );
}

fn restored(task: &str, not_restored: &[&str], left_alone: &[&str], is_kept: bool) -> EventKind {
    let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    EventKind::TaskRestored {
        task: task.to_owned(),
        not_restored: owned(not_restored),
        left_alone: owned(left_alone),
        kept: is_kept.then(|| format!("refs/omo/keep/r-1/step-{task}-attempt-1")),
    }
}

#[test]
fn each_event_has_its_line() {
    let plan = three().plan;
    let task = || "2".to_owned();
    let end = |attempt, evidence: &str, commit: Option<&str>| AttemptEnd {
        attempt,
        evidence: evidence.to_owned(),
        commit: commit.map(str::to_owned),
        ..AttemptEnd::default()
    };
    let failed = |id: &str, is_final, end| EventKind::TaskFailed {
        task: id.to_owned(),
        is_final,
        end,
    };
    for (what, expected) in [
        (
            failed("2", false, end(1, "", None)),
            Some("Attempt 1/3 failed. Retrying..."),
        ),
        (
            failed("2", false, end(4, "", None)),
            Some("Attempt 4 failed. Retrying..."),
        ),
        (
            failed("2", true, end(3, "", None)),
            Some("Step 2: FAIL after 3 attempts"),
        ),
        (failed("3", true, end(1, "", None)), None),
        (
            failed("2", true, end(1, "SCOPE VIOLATION: x", None)),
            Some("SCOPE VIOLATION: x"),
        ),
        (
            EventKind::TaskPassed {
                task: task(),
                end: end(1, "", Some("abc1234567")),
            },
            Some("Step 2: PASS (committed: abc1234)"),
        ),
        (
            EventKind::TaskPassed {
                task: task(),
                end: end(1, "", None),
            },
            Some("Step 2: PASS"),
        ),
        (
            EventKind::TaskSkipped {
                task: "3".to_owned(),
                reason: String::new(),
            },
            Some("Step 3: SKIPPED (non-critical per plan)"),
        ),
        (
            EventKind::TaskSkipped {
                task: task(),
                reason: String::new(),
            },
            Some("Step 2: SKIPPED"),
        ),
        (
            restored("2", &[], &[], false),
            Some("Step 2: its changes are taken back"),
        ),
        (
            restored("2", &["its worktree is gone"], &[], false),
            Some("Step 2: its changes could not be taken back: its worktree is gone"),
        ),
        (
            restored("2", &["a: x", "b: y"], &[], true),
            Some(
                "Step 2: its changes are taken back, but for: a: x; b: y; they are kept, and `omo run restore \
                 step-2-attempt-1 --run r-1` brings them again",
            ),
        ),
        (
            restored("2", &[], &["l.txt"], true),
            Some(
                "Step 2: its changes are taken back; they are kept, and `omo run restore step-2-attempt-1 --run r-1` \
                 brings them again; left alone: l.txt: changed meanwhile, not by this step's files",
            ),
        ),
        (
            EventKind::RunEnded {
                result: RunResult::Complete,
            },
            None,
        ),
    ] {
        assert_eq!(
            task_lines::task_event_line(&plan, &what).as_deref(),
            expected,
            "{what:?}"
        );
    }
    let began = EventKind::TaskStarted {
        task: task(),
        attempt: 1,
        ticket: String::new(),
        tree: None,
        protected_files: Vec::new(),
        already_green: Vec::new(),
        snapshot: None,
        head: None,
    };
    assert_eq!(
        task_lines::task_event_line(&plan, &began).as_deref(),
        Some("--- Step 2/3: Two | half ---")
    );
    let asks = open(crate::ultraplan_reports::sample_runs::plan(&[step(
        1, "One", "escalate",
    )]))
    .plan;
    let escalated = failed("1", true, end(1, "", None));
    assert_eq!(
        task_lines::task_event_line(&asks, &escalated).as_deref(),
        Some("Step 1: ESCALATED — requires human judgment")
    );
}
