//! What is shown at the end of a run.

use omo_plan::run::event::{RunResult, Unfinished, Verdict};
use omo_plan::run::state::{Phase, RunState, UnitStatus};
use omo_runs::task_session::report::{finished, finished_block};

use crate::kit::{claim, end, evidence, fail, known, outcome, pass, shown, small, unit};

/// A run whose second task is judged.
fn judged() -> RunState {
    let mut state = small();
    let build = unit(&mut state, "2");
    build.checks.clear();
    build.criteria = vec!["The API answers".to_owned(), "Errors | name the field".to_owned()];
    state.plan.final_checks.remove(1);
    state.iteration = 2;
    pass(&mut state, "1");
    pass(&mut state, "3");
    claim(&mut state, "2", &["curl -s localhost", "npm run e2e"]);
    state
}

/// The same, and the verifier says that all is done.
fn complete() -> RunState {
    let mut state = judged();
    let id = evidence(&mut state, "verify", "npm test");
    state.verdicts.push(Verdict {
        passed: true,
        evidence_ids: vec![id],
        note: "read the pages".to_owned(),
        ..Verdict::default()
    });
    known(&mut state, "verify").status = UnitStatus::Passed;
    state.phase = Phase::Ended { result: RunResult::Complete };
    state
}

#[test]
fn show() {
    let mut state = complete();
    println!("{}", finished(&state));
    println!("{}", finished_block(&state));
    fail(&mut state, "3");
    known(&mut state, "verify").status = UnitStatus::Pending;
    state.phase = Phase::Ended { result: RunResult::Failed };
    println!("{}", finished(&state));
    println!("{}", finished_block(&state));
    panic!("");
}
