//! The look of each block, and its bound on length.

use omo_engine::event::{EventActor, EventKind, RunEvent};
use omo_engine::verbs;
use omo_plan::dialects::{self, BatchOptions};

use super::*;
use crate::blocks::parts::MAX_BYTES;
use crate::execute::line::{TypedLine, read_typed_line};
use crate::execute::request::ExecuteCommand;

fn state(plan: &str, batch_size: u32) -> RunState {
    let plan = dialects::read(
        "docs/plan.md",
        plan.as_bytes(),
        BatchOptions::of(3, batch_size),
    );
    assert!(plan.can_run(), "{:?}", plan.diagnostics);
    let what = EventKind::RunOpened {
        plan: Box::new(plan),
        approved: String::new(),
        root: "/home/me/project".to_owned(),
        worktree: None,
        base: None,
        branch: None,
        scope: None,
        mode: None,
        guard: None,
    };
    let (ts, actor) = (Timestamp::from_millis(0), EventActor::default());
    RunState::from_first_event(&RunEvent {
        seq: 1,
        ts,
        actor,
        kind: what,
    })
    .unwrap()
}

/// The run with every task done, up to the first stop or the end.
fn played(mut state: RunState) -> RunState {
    loop {
        let ids: Vec<String> = match omo_engine::schedule::next_action(&state) {
            omo_engine::schedule::NextAction::Start(tasks) => {
                tasks.iter().map(|task| task.id.clone()).collect()
            }
            _ => Vec::new(),
        };
        let Some(id) = ids.first() else { break };
        let evidence = "its worker was lost".to_owned();
        let end = omo_engine::event::AttemptEnd {
            attempt: 1,
            evidence,
            ..Default::default()
        };
        add(
            &mut state,
            EventKind::TaskFailed {
                task: id.clone(),
                is_final: true,
                end,
            },
        );
    }
    while let Some(what) = verbs::automatic_event(&state) {
        add(&mut state, what);
    }
    state
}

fn add(state: &mut RunState, what: EventKind) {
    let (seq, ts, actor) = (
        state.seq + 1,
        Timestamp::from_millis(1),
        EventActor::default(),
    );
    state
        .apply(&RunEvent {
            seq,
            ts,
            actor,
            kind: what,
        })
        .unwrap();
}

fn plan(tasks: usize, title: &str) -> String {
    let task = |id: usize| format!("### Task {id}: {title}\n\n**Verify:**\nRun: `true`\n\n");
    format!(
        "{}## Verification\n- **Verdict:** Approved\n",
        (1..=tasks).map(task).collect::<Vec<_>>().concat()
    )
}

#[test]
fn no_block_is_longer_than_it_may_be_and_each_ends_with_what_to_do() {
    for (tasks, batch_size, title) in [
        (1, 5, "x"),
        (400, 5, "x"),
        (400, 100, "a word and another "),
        (60, 50, &"é".repeat(400)),
    ] {
        let begun = state(&plan(tasks, title), batch_size);
        let task = begun.plan.tasks.first().unwrap();
        let out = WorkflowBatch::from_state("20261121-101112-abcd", &begun);
        let ended = played(begun.clone());
        let mut blocks = vec![
            opened_block("20261121-101112-abcd", &begun),
            resumed_block("20261121-101112-abcd", &begun, ""),
            spawn_workflow(&out, &begun),
            spawn_agent("20261121-101112-abcd", task, &begun),
            work_inline("20261121-101112-abcd", task, &begun),
            wait_block(&[&task.id], &begun, Timestamp::from_millis(9), true),
            end_block(&ended),
        ];
        blocks.extend(
            ended
                .open_question()
                .map(|question| question_block(question, &ended, true)),
        );
        for block in blocks {
            assert!(block.len() <= MAX_BYTES, "{} bytes:\n{block}", block.len());
            assert!(block.contains("omo"), "{block}");
        }
    }
}

#[test]
fn the_stops_of_a_run_are_those_that_come() {
    let stops = |tasks, batch_size| opened_block("r", &state(&plan(tasks, "x"), batch_size));
    assert!(
        stops(2, 5).contains("in 1 batch, no stop for you."),
        "{}",
        stops(2, 5)
    );
    assert!(
        stops(4, 2).contains("in 2 batches, a stop for you after batch 1."),
        "{}",
        stops(4, 2)
    );
    let checkpoint = plan(3, "x").replace("### Task 3", "<!-- checkpoint -->\n\n### Task 3");
    let last = plan(3, "x").replace("## Verification", "<!-- checkpoint -->\n\n## Verification");
    assert!(opened_block("r", &state(&checkpoint, 1)).contains("after batch 1, 2."));
    assert!(opened_block("r", &state(&last, 1)).contains("after batch 1."));
}

#[test]
fn a_stop_says_once_what_to_type_and_an_end_how_it_came() {
    let stopped = played(state(&plan(4, "x"), 2));
    let block = question_block(stopped.open_question().unwrap(), &stopped, true);
    let shown = user_part(&block);
    assert!(
        shown.contains("\n  Batch 1 of 2 of docs/plan.md is over: ")
            && !shown.contains("omo answer"),
        "{shown}"
    );
    assert!(
        shown.contains("  To go on, type: /omo:execute\n"),
        "{shown}"
    );
    let ended = end_block(&played(state(&plan(2, "x"), 5)));
    assert!(
        user_part(&ended).starts_with("  Failed at task 1 and 1 more\n"),
        "{ended}"
    );
}

#[test]
fn a_complete_run_offers_the_command_that_was_typed() {
    let state = state(&plan(1, "x"), 5);
    for (command, line, expected) in [
        (
            ExecuteCommand::Execute,
            "docs/plan.md",
            "/omo:execute docs/plan.md --again",
        ),
        (
            ExecuteCommand::Execute,
            "--batches docs/plan.md",
            "/omo:execute --batches docs/plan.md --again",
        ),
        (
            ExecuteCommand::ExecutePlan,
            "docs/plan.md",
            "/omo:execute-plan docs/plan.md --again",
        ),
    ] {
        let TypedLine::Request(request) = read_typed_line(command, line).unwrap() else {
            panic!("{line}")
        };
        let block = complete_already("r", &state, &request.typed_anew());
        assert!(
            block.ends_with(&format!("  To start over, type: {expected}")),
            "{block}"
        );
    }
}

#[test]
fn a_batch_that_is_handed_out_is_short_and_never_past_a_stop() {
    let begun = state(&plan(400, "x"), 100);
    let first = WorkflowBatch::from_state("r", &begun);
    assert!(
        (1..100).contains(&first.task_ids().len()),
        "{:?}",
        first.task_ids()
    );
    let small = WorkflowBatch::from_state("r", &state(&plan(12, "x"), 5));
    assert_eq!(small.task_ids(), ["1", "2", "3", "4", "5"]);
}

#[test]
fn what_is_too_long_loses_its_middle_and_keeps_its_end() {
    let long = format!(
        "STOP\n{}  To go on\n  run: omo agent next",
        "  a row that says little\n".repeat(500)
    );
    let short = fit_block(long);
    assert!(short.len() <= MAX_BYTES);
    assert!(
        short.starts_with("STOP\n") && short.ends_with("  To go on\n  run: omo agent next"),
        "{short}"
    );
    assert_eq!(fit_block("short".to_owned()), "short");
}
