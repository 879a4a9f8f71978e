//! The screens before the end: the start, the progress, and another iteration.

use omo_engine::report::task_list::render::phase_of_run;
use omo_engine::report::task_list::{progress_screen, retry_lines, round_line, start_screen};
use omo_engine::state::TaskStatus;
use omo_plan::task_list::TaskListPhase;
use omo_testkit::plans::time;

use crate::task_list_reports::sample_runs::{begin, claim, fail, pass, shown, small, task_state_mut};

#[test]
fn a_run_begins_with_its_tasks_and_their_order() {
    let expected = "\
## Starting Execution

**Goal:** Add login
**Session:** 37b6a60f
**Iteration:** 1/5
**Tasks:** 3

### Task Queue

| ID     | Task         | Status  | Complexity | Model  |
| ------ | ------------ | ------- | ---------- | ------ |
| 1      | Setup schema | pending | standard   | sonnet |
| 2      | Build API    | pending | complex    | opus   |
| 3      | Add pages    | pending | standard   | sonnet |
| verify | Verification | pending | complex    | opus   |

### Execution Order

1. [READY] 1 - no dependencies
2. [BLOCKED] 2 - depends on 1
3. [BLOCKED] 3 - depends on 2
4. [BLOCKED] verify - depends on all

Starting workers...
";
    assert_eq!(shown(&start_screen(&small())), expected);
}

#[test]
fn a_run_that_goes_on_says_what_is_done() {
    let mut state = small();
    pass(&mut state, "1");
    // What needs something else stands behind it, wherever it stands in the plan.
    state.plan.tasks.swap(0, 1);
    let text = start_screen(&state);
    assert!(text.contains("| 1      | Setup schema | resolved | standard   | sonnet |"), "{text}");
    assert!(text.contains("1. [DONE] 1 - resolved\n2. [READY] 2 - after 1\n3. [BLOCKED] 3 - depends on 2\n"), "{text}");
}

#[test]
fn progress_separates_what_is_checked_from_what_is_claimed() {
    let mut state = small();
    state.round = 2;
    pass(&mut state, "1");
    begin(&mut state, "2");
    let expected = "\
## Progress Update

**Iteration:** 2/5
**Phase:** EXECUTION

| Task   | Status     | Model  |
| ------ | ---------- | ------ |
| 1      | ✓ resolved | sonnet |
| 2      | → running  | opus   |
| 3      | ⏳ blocked | sonnet |
| verify | ⏳ pending | opus   |

Active workers: 1
";
    assert_eq!(shown(&progress_screen(&state)), expected);
    claim(&mut state, "2", &["npm run e2e"]);
    task_state_mut(&mut state, "2").running = None;
    fail(&mut state, "3");
    let text = progress_screen(&state);
    assert!(text.contains("| 2      | ○ claimed  | opus   |\n| 3      | ✗ failed   | sonnet |"), "{text}");
    assert!(text.ends_with("\nActive workers: 0\n"), "{text}");
}

#[test]
fn the_phase_is_that_of_the_published_format() {
    let mut state = small();
    assert_eq!(phase_of_run(&state), TaskListPhase::Execution);
    for id in ["1", "2", "3"] {
        pass(&mut state, id);
    }
    assert_eq!(phase_of_run(&state), TaskListPhase::Verification);
    begin(&mut state, "verify");
    assert_eq!(phase_of_run(&state), TaskListPhase::Verification);
}

#[test]
fn what_is_done_again_is_reported_with_its_attempt_and_why() {
    let mut state = small();
    state.round = 3;
    let again = [("2", 2, "`npm test` exit 1"), ("3", 0, "the verifier says: a page is missing")];
    for (id, attempts, why) in again {
        let known = task_state_mut(&mut state, id);
        (known.status, known.attempts) = (TaskStatus::Pending, attempts);
        (known.reason, known.updated_at) = (Some(why.to_owned()), Some(time(9)));
    }
    let expected = "\
## Tasks Failed - Retrying (3/5)

- ↻ Reset for retry: 2 (attempt 3): `npm test` exit 1
- ↻ Reset for retry: 3 (attempt 1): the verifier says: a page is missing
";
    assert_eq!(retry_lines(&state), expected);
    // Nothing was verified since a round before.
    (task_state_mut(&mut state, "verify").reason, task_state_mut(&mut state, "verify").updated_at) =
        (Some("FAIL".to_owned()), Some(time(5)));
    assert_eq!(retry_lines(&state), expected);
    task_state_mut(&mut state, "verify").updated_at = Some(time(9));
    assert!(retry_lines(&state).starts_with("## Verification Failed - Retrying (3/5)\n"));
    assert!(!retry_lines(&state).contains("verify (attempt"));
    assert_eq!(round_line(&state), "## Iteration 3/5\n");
}

#[test]
fn a_task_that_failed_twice_is_done_by_the_stronger_model() {
    let mut state = small();
    task_state_mut(&mut state, "1").attempts = 2;
    assert!(start_screen(&state).contains("| 1      | Setup schema | pending | standard   | opus   |"));
    begin(&mut state, "1");
    assert!(progress_screen(&state).contains("| 1      | → running  | opus   |"));
}
