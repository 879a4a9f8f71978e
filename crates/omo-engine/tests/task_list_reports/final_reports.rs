//! The screen at the end of a run.

use omo_engine::event::{RunResult, UnfinishedLine};
use omo_engine::report::task_list::{final_report, final_report_block};
use omo_engine::state::{RunPhase, RunState, TaskStatus};
use omo_engine::unfinished_lines::MAX_UNFINISHED_LINES;

use crate::task_list_reports::markdown::Outline;
use crate::task_list_reports::sample_runs::{
    claim, end, ended, evidence, fail, file, judge, outcome, pass, shown, small, task_mut,
    task_state_mut,
};

const CHECKED: [&str; 3] = ["Task", "Command", "Exit"];
const JUDGED: [&str; 3] = ["Task", "Criterion", "Evidence"];

/// Evidence of two tasks by commands.
const OF_COMMANDS: &str = "\
#### Checked by command

| Task | Command         | Exit |
| ---- | --------------- | ---- |
| 1    | `npm test -- 1` | 0    |
| 3    | `npm test -- 3` | 0    |

";
/// Claimed evidence of the third.
const OF_CLAIMS: &str = "
| Task | Criterion                | Evidence |
| ---- | ------------------------ | -------- |
| 2    | The API answers          | e1, e2   |
| 2    | Errors \\| name the field | e1, e2   |

- e1 `curl -s localhost`, exit 0
- e2 `npm run e2e`, exit 0

";

/// Three done tasks, the second by its worker's claim.
fn done() -> RunState {
    let mut state = small();
    for (id, path) in [
        ("1", "db/schema.sql"),
        ("2", "src/api.ts"),
        ("3", "src/pages"),
    ] {
        task_mut(&mut state, id).files = vec![file(path)];
    }
    let build = task_mut(&mut state, "2");
    build.checks.clear();
    build.criteria = vec![
        "The API answers".to_owned(),
        "Errors | name the field".to_owned(),
    ];
    state.plan.final_checks.remove(1);
    state.round = 2;
    pass(&mut state, "1");
    pass(&mut state, "3");
    claim(&mut state, "2", &["curl -s localhost", "npm run e2e"]);
    state
}

/// The same with a passing verdict.
fn complete() -> RunState {
    let mut state = done();
    let id = evidence(&mut state, "verify", "npm test");
    judge(&mut state, &[&id], &[], "read the pages");
    ended(state, RunResult::Complete)
}

#[test]
fn what_is_complete_is_shown_with_what_shows_it() {
    let expected = format!(
        "\
## Execution Complete

**Goal:** Add login
**Iterations:** 2/5
**Result:** ✓ PASS

### Summary

- All 3 tasks completed
- All success criteria verified: 2 by command, 2 by the verifier
- No blocked patterns detected

### Evidence

{OF_COMMANDS}#### Judged by the verifier
{OF_CLAIMS}Verdict of the verifier: PASS

- e3 `npm test`, exit 0
- Its note: read the pages

Session ID: 37b6a60f
"
    );
    let state = complete();
    assert_eq!(shown(&final_report_block(&state)), expected);
    assert_eq!(
        final_report(&state),
        final_report_block(&state),
        "all of it fits"
    );
}

#[test]
fn without_a_verification_nothing_is_said_to_be_verified() {
    let mut state = done();
    state.plan.tasks.pop();
    state.plan.policy.skips_verification = true;
    let state = ended(state, RunResult::Complete);
    let expected = format!(
        "\
## Execution Complete (verification skipped)

**Goal:** Add login
**Iterations:** 2/5
**Result:** not verified: the checks are green, and the rest was not judged

### Summary

- All 3 tasks completed
- Success criteria: 2 by command, 2 claimed, and not judged
- No blocked patterns detected

### Evidence

{OF_COMMANDS}#### Claimed, and not judged
{OF_CLAIMS}Session ID: 37b6a60f
"
    );
    assert_eq!(shown(&final_report_block(&state)), expected);

    let mut state = state;
    task_mut(&mut state, "2").criteria.clear();
    let text = shown(&final_report_block(&state));
    assert!(
        text.contains("**Result:** not verified: the checks are green\n"),
        "{text}"
    );
    assert!(
        text.contains("- Success criteria: 2 by command\n"),
        "{text}"
    );
}

/// The same with a verdict against two tasks.
fn refuted() -> RunState {
    let mut state = done();
    state.round = 5;
    for (id, why) in [
        ("1", "a column is missing"),
        ("3", "no page for an unknown user"),
    ] {
        let known = task_state_mut(&mut state, id);
        (known.status, known.reason) = (
            TaskStatus::Failed,
            Some(format!("the verifier says: {why}")),
        );
    }
    let reopen = [
        ("1", "a column is missing"),
        ("3", "no page for an unknown user"),
    ];
    judge(&mut state, &[], &reopen, "logout was not tried");
    ended(state, RunResult::Failed)
}

#[test]
fn what_has_failed_is_shown_with_what_the_verifier_says_and_how_it_goes_on() {
    let expected = "\
## Execution Failed

**Goal:** Add login
**Iterations:** 5/5 (max reached)
**Result:** ✗ FAIL

### Failed Tasks

| ID | Task         | Reason                                         |
| -- | ------------ | ---------------------------------------------- |
| 1  | Setup schema | the verifier says: a column is missing         |
| 3  | Add pages    | the verifier says: no page for an unknown user |

### Verification Issues

- The verifier says FAIL
- Task 1: a column is missing
- Task 3: no page for an unknown user
- Its note: logout was not tried

### Next Steps

1. Review failed task output:
   - `/home/ana/.claude/ultrawork/sessions/37b6a60f/tasks/1.json`
   - `/home/ana/.claude/ultrawork/sessions/37b6a60f/tasks/3.json`
2. Fix issues manually
3. Run it again (resets iteration counter):
   - `/omo:ulw-exec --session 37b6a60f --again`

Session ID: 37b6a60f
";
    let state = refuted();
    assert_eq!(shown(&final_report_block(&state)), expected);
    // The whole report has findings about the work, too.
    let whole = final_report(&state);
    assert!(
        whole.contains("### Evidence\n\n#### Checked by command\n"),
        "{whole}"
    );
    assert!(
        whole.contains("#### Claimed, and not confirmed: the verdict is FAIL\n"),
        "{whole}"
    );
}

#[test]
fn a_task_that_fails_to_the_end_is_shown_with_its_log_and_is_not_verified() {
    let mut state = done();
    fail(&mut state, "3");
    let log = "/home/ana/p/.omo/runs/r1/logs/3-2.log";
    task_state_mut(&mut state, "3").checks[0].1.log = Some(log.into());
    let text = final_report_block(&ended(state, RunResult::Failed));
    assert!(
        text.contains("| 3  | Add pages | `npm test -- 3` exit 1 |"),
        "{text}"
    );
    let issue = "### Verification Issues\n\n- The verifier was not started in the last iteration: not every task was done\n\n";
    assert!(text.contains(issue), "{text}");
    assert!(
        text.contains(&format!("tasks/3.json`\n   - `{log}`\n")),
        "{text}"
    );
}

#[test]
fn what_else_stands_against_it_is_named() {
    let mut state = done();
    state.plan.tasks.pop();
    state.final_checks.insert(1, outcome(3));
    let text = final_report_block(&ended(state, RunResult::Failed));
    let issues = "### Verification Issues\n\n- Verification was skipped\n- `npm test -- 3` exit 3, run again at the end\n";
    assert!(text.contains(issues), "{text}");
    assert!(
        text.contains("   - `/home/ana/.claude/ultrawork/sessions/37b6a60f/tasks`\n2."),
        "{text}"
    );

    let mut state = done();
    task_state_mut(&mut state, "verify").status = TaskStatus::Failed;
    task_state_mut(&mut state, "verify").last_end = Some(end("its worker was lost 3 times"));
    let text = final_report_block(&ended(state, RunResult::Failed));
    assert!(
        text.contains("- The verifier: its worker was lost 3 times\n"),
        "{text}"
    );
}

#[test]
fn a_cancelled_run_is_one_line() {
    for (why, expected) in [
        (
            "asked for by its user",
            "Execution cancelled: asked for by its user. Session ID: 37b6a60f\n",
        ),
        (
            "Enough.",
            "Execution cancelled: Enough. Session ID: 37b6a60f\n",
        ),
        ("", "Execution cancelled. Session ID: 37b6a60f\n"),
    ] {
        let mut state = done();
        state.phase = RunPhase::Cancelled {
            why: why.to_owned(),
        };
        assert_eq!(final_report(&state), expected);
        assert_eq!(final_report_block(&state), expected);
    }
}

#[test]
fn a_run_that_goes_on_is_shown_as_it_is() {
    let text = final_report(&done());
    assert!(text.starts_with("## Progress Update\n"), "{text}");
}

#[test]
fn what_is_claimed_is_never_shown_as_checked() {
    let mut worked_on = complete();
    // After a verdict that all is done, a task was done again and has failed.
    task_state_mut(&mut worked_on, "verify").status = TaskStatus::Pending;
    fail(&mut worked_on, "3");
    task_mut(&mut worked_on, "3").criteria = vec!["It is claimed by no one".to_owned()];
    let cases = [
        (complete(), "Judged by the verifier"),
        (refuted(), "Claimed, and not confirmed: the verdict is FAIL"),
        (ended(done(), RunResult::Failed), "Claimed, and not judged"),
        (
            ended(worked_on, RunResult::Failed),
            "Claimed, and not judged since work went on",
        ),
    ];
    for (state, heading) in cases {
        let text = final_report(&state);
        let outline = Outline::of(&text);
        let found: Vec<&String> = outline
            .headings
            .iter()
            .filter(|text| text.starts_with("Judged") || text.starts_with("Claimed"))
            .collect();
        assert_eq!(found, [heading], "{text}");
        let tasks: Vec<&str> = outline
            .table(&CHECKED)
            .iter()
            .map(|row| row[0].as_str())
            .collect();
        assert_eq!(tasks, ["1", "3"], "{text}");
        let criteria =
            ["The API answers", "Errors | name the field"].map(|text| vec!["2", text, "e1, e2"]);
        assert_eq!(outline.table(&JUDGED), criteria, "{text}");
        let is_confirmed =
            text.contains("Verdict of the verifier: PASS") && text.contains("by the verifier\n");
        assert_eq!(is_confirmed, heading == "Judged by the verifier", "{text}");
    }
}

#[test]
fn a_command_is_shown_as_it_ended() {
    use omo_core::check::task_check::TaskCheckVerdict::NothingRan;
    let mut state = complete();
    let cell = |state: &RunState| Outline::of(&final_report(state)).table(&CHECKED)[0][2].clone();
    task_state_mut(&mut state, "1").already_green = vec![0];
    assert_eq!(cell(&state), "0, as before the work");
    state.final_checks.insert(0, outcome(7));
    assert_eq!(cell(&state), "7", "what it showed last, at the end");
    state.final_checks.insert(
        0,
        omo_core::check::task_check::TaskCheckOutcome {
            verdict: NothingRan,
            ..outcome(0)
        },
    );
    assert_eq!(cell(&state), format!("0, {}", NothingRan.word()));
    state.final_checks.clear();
    task_state_mut(&mut state, "1").checks.clear();
    assert_eq!(cell(&state), "not run");
}

#[test]
fn what_a_reader_has_to_know_is_said() {
    type Case = (&'static str, fn(&mut RunState), &'static str);
    let cases: [Case; 6] = [
        (
            "files that were not named",
            |state| task_mut(state, "1").files.clear(),
            "- Task 1: files not compared, because none are named\n",
        ),
        (
            "other files",
            |state| {
                task_state_mut(state, "2")
                    .last_end
                    .as_mut()
                    .unwrap()
                    .out_of_scope = vec!["a.rs".to_owned(), "b.rs".to_owned()];
            },
            "- Task 2 changed files that it does not name: `a.rs` and 1 more\n",
        ),
        (
            "not searched",
            |state| {
                task_state_mut(state, "3")
                    .last_end
                    .as_mut()
                    .unwrap()
                    .unfinished = None;
            },
            "- Task 3: added lines not known, and not searched for blocked patterns\n",
        ),
        (
            "done before",
            |state| task_state_mut(state, "2").evidence_ids.clear(),
            "- Task 2: done before this run, as their files say; omo ran none of it\n",
        ),
        (
            "checks that were green",
            |state| {
                (
                    task_state_mut(state, "1").already_green,
                    task_state_mut(state, "3").already_green,
                ) = (vec![0], vec![0]);
            },
            "- Tasks 1, 3: checks that were green before the work, and prove little\n",
        ),
        (
            "attempts",
            |state| task_state_mut(state, "1").attempts = 2,
            "- Task 1: done at a later attempt than the first\n",
        ),
    ];
    let plain = final_report(&complete());
    for (name, change, line) in cases {
        let mut state = complete();
        change(&mut state);
        let text = final_report(&state);
        assert!(
            text.contains(line) && !plain.contains(line),
            "{name}: {text}"
        );
        assert_eq!(
            text.contains("No blocked patterns detected"),
            name != "not searched",
            "{name}: {text}"
        );
    }
}

#[test]
fn lines_that_look_unfinished_are_named_once_each() {
    let mut state = complete();
    let found = UnfinishedLine {
        file: "src/api.ts".to_owned(),
        line: 12,
        word: "TODO".to_owned(),
    };
    for id in ["1", "2"] {
        task_state_mut(&mut state, id)
            .last_end
            .as_mut()
            .unwrap()
            .unfinished = Some(vec![found.clone()]);
    }
    for text in [final_report(&state), final_report_block(&state)] {
        assert!(text.contains("- 1 added line looks unfinished\n"), "{text}");
        assert!(
            text.contains(
                "### Added lines that look unfinished\n\n- `src/api.ts:12` TODO\n\nSession ID"
            ),
            "{text}"
        );
        assert!(!text.contains("No blocked patterns"), "{text}");
    }
    let many = (1..=MAX_UNFINISHED_LINES).map(|line| UnfinishedLine {
        line,
        ..found.clone()
    });
    task_state_mut(&mut state, "3")
        .last_end
        .as_mut()
        .unwrap()
        .unfinished = Some(many.collect());
    let text = final_report_block(&state);
    assert!(
        text.contains("- At least 100 added lines look unfinished\n"),
        "{text}"
    );
    // Findings at the last judgement still stand there.
    task_state_mut(&mut state, "2")
        .last_end
        .as_mut()
        .unwrap()
        .unfinished = None;
    for (lines, says) in [
        (vec![], "- No blocked patterns detected\n"),
        (vec![found], "- 1 added line looks unfinished\n"),
    ] {
        state.unfinished = Some(lines);
        let text = final_report(&state);
        assert!(
            text.contains(says) && !text.contains("not searched"),
            "{text}"
        );
    }
}
