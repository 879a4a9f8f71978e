//! Every row of the published state machine, with real files: reverted or not, committed or not, the next step or a
//! stop.

use omo_plan::model::Plan;
use serde_json::Value;

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, plan_text, read_plan, step, usual_step};

pub(crate) const ALL: &[Named] = &[(
    "every_row_of_the_state_machine_holds",
    every_row_of_the_state_machine_holds,
)];

/// Wrong work of a worker.
const HALF: &str = "1\nhalf\n";

/// The expected end of a row.
struct Expected<'a> {
    standing: &'a str,
    next: &'a str,
    is_reverted: bool,
    is_committed: bool,
    attempts: u32,
}

fn rows() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/plans/ultraplan-state_machine.json"
    );
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all["rows"].as_array().unwrap().clone()
}

fn every_row_of_the_state_machine_holds() {
    let rows = rows();
    assert!(rows.len() >= 22);
    for row in rows {
        match (
            row["on_failure"].as_str().unwrap(),
            row["verify"].as_str().unwrap(),
        ) {
            ("abort", _) => {
                assert!(!read_plan(&plan_text(&[usual_step(1, "abort")], "")).can_run());
            }
            ("any", "scope violation before the edit") => fence_before(),
            ("any", verify) => {
                for on_failure in ["revert", "retry — another way", "skip", "escalate"] {
                    play(&row, on_failure, verify);
                }
            }
            ("(missing)", verify) => play(&row, "", verify),
            (on_failure, verify) => play(&row, on_failure, verify),
        }
    }
}

/// A step of files that its session may never touch never begins: the plan is refused, whatever the clause says.
fn fence_before() {
    let session = "## Execution Strategy\n\n### Session 1: All\n\n- **Steps:** 1, 2\n- **Wave:** 1\n\
                   - **Scope fence:**\n  - Touch: `src/`\n  - Never touch: `./SRC/2.rs`\n";
    for on_failure in ["revert", "skip", "escalate"] {
        let plan = read_plan(&plan_text(
            &[usual_step(1, on_failure), usual_step(2, on_failure)],
            session,
        ));
        assert!(!plan.can_run(), "{:?}", plan.diagnostics);
    }
}

fn play(row: &Value, on_failure: &str, verify: &str) {
    let fixture = fixture(on_failure, verify);
    let attempt = u32::try_from(row["attempt"].as_u64().unwrap()).unwrap();
    for _ in 1..attempt {
        fixture.attempt("1", HALF);
    }
    let begun = fixture.log();
    fixture.attempt("1", &work(verify));
    let expected = expected(row, on_failure, verify, attempt);
    let state = fixture.state();
    let reported = format!("{row} with {on_failure:?}: {:?}", state.tasks["1"]);
    assert_eq!(fixture.standing("1"), expected.standing, "{reported}");
    assert_eq!(fixture.next(), expected.next, "{reported}");
    assert_eq!(state.tasks["1"].attempts, expected.attempts, "{reported}");
    let is_reverted = fixture.file("src/1.rs").as_deref() == Some(before(verify));
    assert_eq!(is_reverted, expected.is_reverted, "{reported}");
    if expected.is_reverted {
        assert_eq!(fixture.git(&["status", "--porcelain"]), "", "{reported}");
        assert!(
            state.tasks["1"].baseline.is_none() && !state.tasks["1"].is_to_restore,
            "{reported}"
        );
    }
    let commit = state.tasks["1"]
        .last_end
        .as_ref()
        .and_then(|end| end.commit.clone());
    assert_eq!(
        (commit.is_some(), fixture.log() != begun),
        (expected.is_committed, expected.is_committed),
        "{reported}"
    );
    if let Some(commit) = commit {
        assert_eq!(
            commit,
            fixture.git(&["rev-parse", "HEAD"]).trim(),
            "{reported}"
        );
        assert_eq!(
            (fixture.committed(), fixture.log()[0].as_str()),
            (vec!["src/1.rs".to_owned()], "part 1"),
            "{reported}"
        );
        let body = fixture.git(&["log", "-1", "--format=%b"]);
        assert_eq!(
            body.trim(),
            format!("Omo-Run: {}\nOmo-Task: 1", fixture.run.id())
        );
    }
}

/// Text of the step's file before its worker begins.
fn before(verify: &str) -> &'static str {
    if verify.contains("nothing to commit") {
        "0\nas it was\n"
    } else {
        "1\nnot yet\n"
    }
}

fn fixture(on_failure: &str, verify: &str) -> UltraplanLab {
    let checkpoint = "**Checkpoint:** `git commit -m \"part 1\"`";
    let clause = format!("**On failure:** {on_failure}");
    let with_text = "**Verify:** `sh verify.sh 1`\n- **Expected:** `all done`";
    let first = match verify {
        "no Verify field" => step(
            1,
            &[
                "**Files:** `src/1.rs`",
                "**Changes:** Do it.",
                &clause,
                checkpoint,
            ],
        ),
        "command not found (127)" => {
            let gone = "**Verify:** `no-such-program-anywhere --all`";
            step(
                1,
                &[
                    "**Files:** `src/1.rs`",
                    "**Changes:** Do it.",
                    gone,
                    &clause,
                    checkpoint,
                ],
            )
        }
        _ if verify.contains("expected text") => step(
            1,
            &[
                "**Files:** `src/1.rs`",
                "**Changes:** Do it.",
                with_text,
                &clause,
                checkpoint,
            ],
        ),
        _ => usual_step(1, on_failure),
    };
    let is_timed = verify == "killed by time-out";
    let wants_text = verify.contains("expected text");
    let change = |mut plan: Plan| {
        for check in plan
            .tasks
            .iter_mut()
            .flat_map(|task| &mut task.checks)
            .filter(|_| is_timed)
        {
            check.timeout_seconds = 1;
        }
        let wanted = plan.tasks[0]
            .checks
            .first()
            .and_then(|check| check.expect.stdout_has.clone());
        assert_eq!(wanted.is_some(), wants_text, "{plan:?}");
        plan
    };
    let fixture = UltraplanLab::with(
        &plan_text(&[first, usual_step(2, "escalate")], ""),
        change,
        None,
    );
    if verify.contains("nothing to commit") {
        fixture.write("src/1.rs", before(verify));
        fixture.git(&["commit", "-qam", "done before"]);
    }
    if verify.contains("refused by a hook") {
        fixture.hook("pre-commit", "echo not like this; exit 1");
    }
    fixture
}

/// Text of a worker with which the check ends as a row says.
fn work(verify: &str) -> String {
    match verify {
        "exit 1" => HALF,
        "exit 0 but expected text missing" => "0\nnothing\n",
        "exit 1 but expected text present" => "1\nall done\n",
        "killed by time-out" => "sleep\n",
        _ if verify.contains("nothing to commit") => before(verify),
        _ => "0\nall done\n",
    }
    .to_owned()
}

fn expected<'a>(row: &Value, on_failure: &str, verify: &str, attempt: u32) -> Expected<'a> {
    let is_refused = verify.contains("refused by a hook");
    let stands = |standing, next| Expected {
        standing,
        next,
        is_reverted: false,
        is_committed: false,
        attempts: attempt,
    };
    // The strict notes decide, else the row itself.
    match verify {
        "no Verify field" => return stands("unproved", "over"),
        "command not found (127)" => {
            return Expected {
                attempts: 0,
                ..stands("held", "ask check_not_runnable")
            };
        }
        "killed by time-out" => return stands("pending", "start 1"),
        _ => {}
    }
    let status = if is_refused {
        "failed attempt"
    } else {
        row["step_status"].as_str().unwrap()
    };
    match (
        status,
        on_failure.split_whitespace().next().unwrap_or_default(),
    ) {
        ("passed", _) => Expected {
            is_committed: row["checkpoint"] == true,
            // Nothing was changed, so it is as it was.
            is_reverted: verify.contains("nothing to commit"),
            ..stands("passed", "start 2")
        },
        ("running", _) | ("failed attempt", "revert" | "retry") => stands("pending", "start 1"),
        // Green work is never taken back because git refused it: docs/adr/0040.
        ("failed attempt", _) => stands("held", "ask commit_refused"),
        // The published form leaves half of it for the next commit.
        ("skipped", _) => Expected {
            is_reverted: true,
            ..stands("skipped", "start 2")
        },
        ("failed", "revert" | "retry") => {
            assert_eq!(row["revert_files"], true);
            Expected {
                is_reverted: true,
                ..stands("failed", "over")
            }
        }
        _ => stands("failed", "ask escalated"),
    }
}
