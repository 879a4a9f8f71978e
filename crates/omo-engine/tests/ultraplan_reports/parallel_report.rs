//! The report of parallel workers.

use omo_core::timestamp::Timestamp;
use omo_engine::client_policy::{ClientCost, ClientPolicy};
use omo_engine::event::{EventKind, RecordedProcess, RunResult, WorkerPeer};
use omo_engine::report::ultraplan::final_report::final_report;
use omo_engine::report::ultraplan::worker_lines::worker_event_line;
use omo_engine::report::workers::worker_result_lines;
use omo_engine::state::RunState;
use omo_engine::view::workers::worker_views;
use omo_plan::model::{OnFailure, Plan};

use crate::ultraplan_reports::sample_runs::{ALL, fails, happens, open, over, passes, plan, step};

const BASE: &str = "1111111111111111111111111111111111111111";
const TIP: &str = "2222222222222222222222222222222222222222";

fn three(more: &str) -> Plan {
    let session = |number: u32, wave: u32| {
        format!(
            "### Session {number}: Part | {number}\n\n- **Steps:** {number}\n- **Wave:** {wave}\n\n"
        )
    };
    let strategy = format!(
        "## Execution Strategy\n\n{}{}{}{more}",
        session(1, 1),
        session(2, 1),
        session(3, 2)
    );
    plan(&[
        step(1, "One", "revert"),
        step(2, "Two", "revert"),
        step(3, "Three", "revert"),
        strategy,
    ])
}

fn parallel_state(plan: Plan) -> RunState {
    let mut state = open(plan);
    let terms = ClientPolicy {
        branch: "refs/heads/main".to_owned(),
        ..ClientPolicy::default()
    };
    happens(
        &mut state,
        EventKind::ParallelStarted {
            base: BASE.to_owned(),
            policy: terms,
        },
    );
    state
}

fn id(number: u32) -> String {
    format!("session-{number}")
}

fn begun(state: &mut RunState, number: u32) {
    let (group, base) = (id(number), state.parallel.as_ref().unwrap().tip.clone());
    let (worktree, branch) = (format!("/w/{number}"), format!("omo/r-1/{group}"));
    happens(
        state,
        EventKind::GroupPrepared {
            group: group.clone(),
            worktree,
            branch,
            base,
        },
    );
    happens(
        state,
        EventKind::WorkerStarted {
            group,
            process: RecordedProcess { pid: 7, mark: None },
            budget_micros: None,
        },
    );
}

fn ended(state: &mut RunState, number: u32, failed: Option<&str>) {
    let (group, cost_micros) = (id(number), Some(125_000));
    happens(
        state,
        EventKind::WorkerEnded {
            group: group.clone(),
            how: "it ended".to_owned(),
            cost: ClientCost {
                told: cost_micros,
                untold: 0,
            },
        },
    );
    happens(
        state,
        EventKind::GroupEnded {
            group,
            tip: TIP.to_owned(),
            failed: failed.map(str::to_owned),
        },
    );
}

fn removed(state: &mut RunState, number: u32, kept: Option<&str>) {
    let kept = kept.map(str::to_owned);
    happens(
        state,
        EventKind::GroupRemoved {
            group: id(number),
            rescue_ref: kept,
            copied: None,
            tip: Some(TIP.to_owned()),
        },
    );
}

fn done_and_merged(state: &mut RunState, number: u32) {
    begun(state, number);
    passes(state, &number.to_string(), "abc1234");
    ended(state, number, None);
    happens(
        state,
        EventKind::GroupMerged {
            group: id(number),
            tip: TIP.to_owned(),
        },
    );
}

#[test]
fn the_outcome_of_each_worker_is_reported_with_its_place() {
    let mut state = parallel_state(three(""));
    assert_eq!(state.plan.groups[0].id, id(1));
    done_and_merged(&mut state, 1);
    removed(&mut state, 1, Some("refs/omo/keep/r-1/session-1"));
    begun(&mut state, 2);
    fails(&mut state, "2", true);
    ended(&mut state, 2, Some("step 2: `make check` exit 2"));
    removed(&mut state, 2, Some("refs/omo/keep/r-1/session-2"));
    over(&mut state, RunResult::Failed);
    let text = final_report(&state, ALL);
    for line in [
        "| 1    | Session 1: Part \\| 1 | 1     | merged      | omo/r-1/session-1 | $0.13 |",
        "| 1    | Session 2: Part \\| 2 | 2     | failed      | omo/r-1/session-2 | $0.13 |",
        "| 2    | Session 3: Part \\| 3 | 3     | not started | —                 | —     |",
        "- Your branch `main` was not moved: nothing of this is in it",
        "- What was merged so far is kept: `git branch rescued-integrated refs/omo/keep/r-1/integrated`",
        "- Cost: $0.25, as far as the clients said",
        "- Session 2: step 2: `make check` exit 2",
        "- Session 1: beside what was merged it has left work that is in no branch of yours; to have it: `git branch rescued-session-1 refs/omo/keep/r-1/session-1`",
        "- Session 2: what it did is in no branch of yours; to have it: `git branch rescued-session-2 refs/omo/keep/r-1/session-2`",
        "- The whole: the plan has no `## Verification`, so that nothing has checked all sessions together",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
}

fn submitted(state: &mut RunState, number: u32) {
    let (group, base) = (id(number), state.parallel.as_ref().unwrap().tip.clone());
    let (worktree, branch) = (format!("/w/{number}"), format!("omo/r-1/{group}"));
    happens(
        state,
        EventKind::GroupPrepared {
            group: group.clone(),
            worktree,
            branch,
            base,
        },
    );
    let (job, brief) = (format!("omo-r-1-{number}"), BASE.to_owned());
    happens(
        state,
        EventKind::WorkerSubmitted {
            group,
            job,
            launch: 1,
            brief,
            budget_micros: None,
        },
    );
}

#[test]
fn a_silence_shows_for_as_long_as_it_lasts() {
    for (peer, row, line) in [
        (
            WorkerPeer::Remote,
            "remote silent 5 min",
            "For some minutes the remote repository does not answer: no route; ",
        ),
        (
            WorkerPeer::Engine,
            "engine silent 5 min",
            "For some minutes the scheduler of the workers, asked by `status` ",
        ),
    ] {
        let mut state = parallel_state(three(""));
        submitted(&mut state, 1);
        let status = |state: &RunState| {
            let now = Timestamp::from_millis(state.updated_at.as_millis() + 1_000);
            worker_views(state, now)
                .into_iter()
                .map(|row| row.status)
                .collect::<Vec<_>>()
        };
        let says = |state: &RunState| {
            worker_result_lines(state)
                .iter()
                .any(|known| known.starts_with(line))
        };
        let before = status(&state);
        let since = Timestamp::from_millis(state.updated_at.as_millis() - 5 * 60_000);
        let lost = EventKind::ContactLost {
            peer,
            since,
            reason: "no route".to_owned(),
        };
        assert!(worker_event_line(&state, &lost).is_some_and(|text| text.starts_with(line)));
        happens(&mut state, lost);
        assert_eq!(status(&state), [row, "waits", "waits"]);
        assert!(says(&state), "{:?}", worker_result_lines(&state));
        happens(&mut state, EventKind::ContactRestored { peer });
        assert_eq!(status(&state), before);
        assert!(!says(&state));
        assert!(worker_event_line(&state, &EventKind::ContactRestored { peer }).is_some());
    }
}

#[test]
fn a_worker_that_could_not_be_ended_is_named_until_the_end() {
    let mut state = parallel_state(three(""));
    submitted(&mut state, 1);
    let (job, reason) = (
        "omo-r-1-1".to_owned(),
        "`scancel` ended with status 1: no route".to_owned(),
    );
    let stray = EventKind::WorkerNotCancelled {
        group: id(1),
        job,
        reason,
    };
    let text = "Session 1: its worker may still be at work, and could not be ended: `scancel` ended with status 1: no route; \
                end `omo-r-1-1` by hand at its scheduler";
    assert_eq!(worker_event_line(&state, &stray).as_deref(), Some(text));
    happens(&mut state, stray);
    happens(
        &mut state,
        EventKind::WorkerEnded {
            group: id(1),
            how: "its time was up".to_owned(),
            cost: ClientCost::default(),
        },
    );
    submitted(&mut state, 1);
    assert!(
        worker_result_lines(&state).iter().any(|line| line == text),
        "{:?}",
        worker_result_lines(&state)
    );
}

#[test]
fn a_conflict_names_its_files_and_what_stays() {
    let mut state = parallel_state(three("## Verification\n\n- `make all`\n"));
    done_and_merged(&mut state, 1);
    begun(&mut state, 2);
    passes(&mut state, "2", "abc1234");
    ended(&mut state, 2, None);
    happens(
        &mut state,
        EventKind::GroupRefused {
            group: id(2),
            files: vec!["a.rs".to_owned(), "b`.rs".to_owned()],
        },
    );
    happens(
        &mut state,
        EventKind::WorktreeLeft {
            group: id(2),
            reason: "/w/2 is kept: process 7 works in it".to_owned(),
        },
    );
    let text = final_report(&state, ALL);
    for line in [
        "- Session 2: conflicts with what was merged before: a.rs, b`.rs",
        "- Session 2: something of it is left: /w/2 is kept: process 7 works in it",
        "- Session 1: its work is in /w/1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    assert!(
        text.contains("| merge-failed |") && !text.contains("The whole: "),
        "{text}"
    );
}

#[test]
fn a_moved_branch_of_the_user_is_reported() {
    let mut state = parallel_state(three(""));
    for number in 1..=3 {
        done_and_merged(&mut state, number);
    }
    // Work that is in no branch is not done.
    assert!(final_report(&state, ALL).contains("**Result:** IN PROGRESS (3/3 passed)\n"));
    let mut stopped = state.clone();
    over(&mut stopped, RunResult::CompletedWithFailures);
    let text = final_report(&stopped, ALL);
    assert!(
        text.starts_with("## Ultraexecute Local Incomplete: not in your branch\n"),
        "{text}"
    );
    assert!(
        text.contains("**Result:** PARTIAL (3/3 passed, not in your branch)\n"),
        "{text}"
    );
    assert!(
        text.contains("\"result\": \"partial\"") && !text.contains("All steps completed."),
        "{text}"
    );
    happens(
        &mut state,
        EventKind::Landed {
            from: BASE.to_owned(),
            to: TIP.to_owned(),
            unsigned: 0,
            other_checkouts: Vec::new(),
        },
    );
    for number in 1..=3 {
        removed(&mut state, number, None);
    }
    over(&mut state, RunResult::Complete);
    let text = final_report(&state, ALL);
    assert!(
        text.contains("\n- Your branch `main` moved from 1111111 to 2222222\n"),
        "{text}"
    );
    assert!(
        !text.contains("rescued") && text.contains("**Result:** COMPLETED"),
        "{text}"
    );
    // One that runs together with its user has no such section.
    assert!(!final_report(&open(three("")), ALL).contains("### Sessions"));
}

#[test]
fn a_second_checkout_of_the_moved_branch_and_a_session_left_out_are_reported() {
    let mut plan = three("");
    plan.tasks[2].on_failure = OnFailure::Skip;
    let mut state = parallel_state(plan);
    for number in 1..=2 {
        done_and_merged(&mut state, number);
    }
    begun(&mut state, 3);
    happens(
        &mut state,
        EventKind::TaskSkipped {
            task: "3".to_owned(),
            reason: String::new(),
        },
    );
    ended(&mut state, 3, None);
    let merged = EventKind::GroupMerged {
        group: id(3),
        tip: TIP.to_owned(),
    };
    assert_eq!(
        worker_event_line(&state, &merged).as_deref(),
        Some("Session 3: nothing to merge")
    );
    happens(&mut state, merged);
    let (from, to) = (BASE.to_owned(), TIP.to_owned());
    happens(
        &mut state,
        EventKind::Landed {
            from,
            to,
            unsigned: 0,
            other_checkouts: vec!["/the twin".to_owned()],
        },
    );
    let text = final_report(&state, ALL);
    let row = text
        .lines()
        .find(|line| line.contains("Session 3"))
        .unwrap();
    assert!(
        row.contains("| skipped |") && !row.contains("merged"),
        "{text}"
    );
    assert!(
        text.contains("- /the twin has it checked out, too, "),
        "{text}"
    );
    assert!(
        text.contains(" `git read-tree -m -u 1111111 2222222`"),
        "{text}"
    );
}

#[test]
fn a_run_that_went_on_after_its_merge_reports_both() {
    let mut state = parallel_state(three(""));
    for number in [1, 2, 3] {
        done_and_merged(&mut state, number);
        removed(&mut state, number, None);
    }
    happens(
        &mut state,
        EventKind::Landed {
            from: BASE.to_owned(),
            to: TIP.to_owned(),
            unsigned: 0,
            other_checkouts: Vec::new(),
        },
    );
    over(&mut state, RunResult::Complete);
    happens(&mut state, EventKind::RunResumed);
    happens(
        &mut state,
        EventKind::TaskReopened {
            task: "3".to_owned(),
            reason: "asked for by its user".to_owned(),
        },
    );
    let terms = ClientPolicy {
        branch: "refs/heads/main".to_owned(),
        ..ClientPolicy::default()
    };
    happens(
        &mut state,
        EventKind::ParallelStarted {
            base: TIP.to_owned(),
            policy: terms,
        },
    );
    let text = final_report(&state, ALL);
    let line = "- Your branch `main` moved from 1111111 to 2222222 before; nothing of what followed is in it";
    assert!(
        text.lines().any(|known| known == line) && !text.contains("What was merged so far"),
        "{text}"
    );
    done_and_merged(&mut state, 3);
    happens(
        &mut state,
        EventKind::Landed {
            from: TIP.to_owned(),
            to: TIP.to_owned(),
            unsigned: 0,
            other_checkouts: Vec::new(),
        },
    );
    let text = final_report(&state, ALL);
    assert!(
        text.lines()
            .any(|line| line == "- Your branch `main` has all of it already, at 2222222"),
        "{text}"
    );
}
