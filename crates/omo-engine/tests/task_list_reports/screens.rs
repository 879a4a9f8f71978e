//! The screen of the progress.

use omo_engine::program_files::task_folder::phase_of_run;
use omo_engine::report::task_list::progress_screen;
use omo_plan::task_list::TaskListPhase;

use crate::task_list_reports::sample_runs::{
    begin, claim, fail, pass, shown, small, task_state_mut,
};

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
    assert!(
        text.contains("| 2      | ○ claimed  | opus   |\n| 3      | ✗ failed   | sonnet |"),
        "{text}"
    );
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
fn a_task_that_failed_twice_is_done_by_the_stronger_model() {
    let mut state = small();
    task_state_mut(&mut state, "1").attempts = 2;
    begin(&mut state, "1");
    assert!(progress_screen(&state).contains("| 1      | → running  | opus   |"));
}
