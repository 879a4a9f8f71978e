//! Ticks of passed tasks in the plan's file: omo's own edit, made up for after a kill, merged by id with the edits of
//! its user, and taken back for tasks that are done again.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use omo_core::session::ChangedBy;
use omo_engine::event::{EventActor, EventKind};
use omo_engine::state::TaskStatus;
use omo_engine::verbs;
use omo_engine::work::{find_edit, planned_commands};
use omo_plan::dialects::BatchOptions;
use omo_state::env;
use omo_state::trust::{GivenApproval, pending_approval};

use crate::Named;
use crate::ultraplan_lab::{PLAN, UltraplanLab, WARNINGS, read_plan};

pub(crate) const ALL: &[Named] = &[
    (
        "what_has_passed_is_ticked_and_nothing_else",
        what_has_passed_is_ticked_and_nothing_else,
    ),
    (
        "a_tick_that_a_kill_has_left_out_is_made_up_for",
        a_tick_that_a_kill_has_left_out_is_made_up_for,
    ),
    (
        "a_tick_without_its_event_is_no_edit_of_its_user",
        a_tick_without_its_event_is_no_edit_of_its_user,
    ),
    (
        "a_tick_goes_into_the_edit_of_its_user",
        a_tick_goes_into_the_edit_of_its_user,
    ),
    (
        "a_task_that_says_something_else_is_not_ticked",
        a_task_that_says_something_else_is_not_ticked,
    ),
    (
        "what_its_user_has_ticked_counts_as_done",
        what_its_user_has_ticked_counts_as_done,
    ),
    (
        "a_worker_that_ticks_is_not_believed",
        a_worker_that_ticks_is_not_believed,
    ),
    (
        "an_edit_of_the_plan_is_named_and_is_no_work_of_a_task",
        an_edit_of_the_plan_is_named_and_is_no_work_of_a_task,
    ),
    (
        "what_is_done_again_is_opened_again",
        what_is_done_again_is_opened_again,
    ),
    (
        "a_file_that_its_user_protects_is_left_with_one_warning",
        a_file_that_its_user_protects_is_left_with_one_warning,
    ),
    (
        "a_plan_without_state_stays_as_it_is",
        a_plan_without_state_stays_as_it_is,
    ),
];

const GREEN: &str = "0\ndone\n";
const RED: &str = "1\nhalf\n";

/// Three tasks, each checked by its own file, which it names.
fn checklist() -> String {
    let mut text = String::from("# Implementation Plan\r\n\r\n");
    for number in 1..=3 {
        let _ = write!(
            text,
            "- [ ] {number}. Write `src/{number}.rs`\r\n  - [ ] with care\r\n  - Run `sh verify.sh {number}`\r\n  - \
             _Requirements: 1.{number}_\r\n"
        );
    }
    text
}

fn lab() -> UltraplanLab {
    UltraplanLab::new(&checklist())
}

fn ticked(text: &str, ids: &[&str]) -> String {
    ids.iter().fold(text.to_owned(), |text, id| {
        text.replace(&format!("- [ ] {id}."), &format!("- [x] {id}."))
    })
}

fn plan(lab: &UltraplanLab) -> String {
    lab.file(PLAN).unwrap()
}

fn edit(lab: &UltraplanLab) -> Option<String> {
    find_edit(&lab.root(), &lab.state())
        .unwrap()
        .map(|edit| edit.to_string())
}

/// Settles as a command that only looks does.
fn settle(lab: &UltraplanLab) {
    lab.engine(|engine| engine.apply_due_events(engine.run.state().unwrap()))
        .unwrap();
}

fn resume(lab: &UltraplanLab) {
    let (root, home) = (lab.root(), lab.home());
    let plan = lab.state().as_in_run(read_plan(&plan(lab)));
    let approved =
        pending_approval::write(Some(&home), &root, PLAN, &planned_commands(&plan), None).unwrap();
    for one in pending_approval::read_all(Some(&home), &root).unwrap() {
        let given = GivenApproval {
            by: ChangedBy::Typed,
            at: env::now(),
        };
        pending_approval::approve(Some(&home), &root, &one, given).unwrap();
    }
    lab.engine(|engine| {
        engine.take_over(|state| {
            Ok((
                verbs::replace_plan(state, plan.clone(), approved.clone())?,
                (),
            ))
        })
    })
    .unwrap();
}

fn what_has_passed_is_ticked_and_nothing_else() {
    let lab = lab();
    let judged = lab.attempt("1", GREEN);
    assert_eq!(plan(&lab), ticked(&checklist(), &["1"]));
    assert!(judged.state.ticked.contains("1"));
    let judged = lab.attempt("2", RED);
    assert_eq!(
        (lab.standing("2"), plan(&lab)),
        ("failed", ticked(&checklist(), &["1"]))
    );
    assert_eq!(
        judged.state.tasks["2"].last_end.as_ref().unwrap().files,
        ["src/2.rs"],
        "the tick is no change of it"
    );
    assert_eq!(edit(&lab), None);
    assert_eq!(
        lab.state().plan_sha256,
        read_plan(&plan(&lab)).source.sha256
    );
    let folder = lab.root().join(PLAN);
    assert_eq!(
        fs::read_dir(folder.parent().unwrap()).unwrap().count(),
        1,
        "nothing but the plan"
    );
}

fn a_tick_that_a_kill_has_left_out_is_made_up_for() {
    let lab = lab();
    lab.attempt("1", GREEN);
    let started = lab.start("2").unwrap();
    lab.write("src/2.rs", GREEN);
    // The process is ended once the end of the task is in the ledger, before the file is written.
    let before = plan(&lab);
    lab.done(&started.ticket);
    let events = lab.run.events().unwrap();
    assert!(
        matches!(events.last().unwrap().kind, EventKind::PlanTicked { .. }),
        "the tick is written down last"
    );
    lab.write(PLAN, &before);
    let ledger = lab.run.folder().join("events.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let kept: Vec<&str> = lines.iter().copied().take(lines.len() - 1).collect();
    fs::write(&ledger, kept.join("\n") + "\n").unwrap();
    assert!(
        lab.state().tasks["2"].status == TaskStatus::Passed && !lab.state().ticked.contains("2")
    );
    settle(&lab);
    assert_eq!(plan(&lab), ticked(&checklist(), &["1", "2"]));
    assert!(lab.state().ticked.contains("2"));
    let seq = lab.state().seq;
    settle(&lab);
    assert_eq!(lab.state().seq, seq, "it is done once");
}

fn a_tick_without_its_event_is_no_edit_of_its_user() {
    let lab = lab();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.write(PLAN, &ticked(&checklist(), &["1"]));
    assert_eq!(edit(&lab), None, "a worker is at it");
    lab.done(&started.ticket);
    assert_eq!((lab.standing("1"), edit(&lab)), ("passed", None));
    assert!(
        lab.state().ticked.contains("1"),
        "and what is done again is opened"
    );
    assert_eq!(
        lab.state().plan_sha256,
        read_plan(&plan(&lab)).source.sha256
    );
}

fn a_tick_goes_into_the_edit_of_its_user() {
    let lab = lab();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    let edited =
        checklist().replace("- [ ] 3. Write", "- [ ] 3. Carefully write") + "- [ ] 4. Rest\r\n";
    lab.write(PLAN, &edited);
    lab.done(&started.ticket);
    assert_eq!(plan(&lab), ticked(&edited, &["1"]));
    assert_eq!(edit(&lab).as_deref(), Some("changed 3; added 4"));
    resume(&lab);
    let standings: Vec<&str> = ["1", "2", "3", "4"]
        .iter()
        .map(|id| lab.standing(id))
        .collect();
    assert_eq!(standings, ["passed", "pending", "pending", "pending"]);
    assert_eq!((edit(&lab), lab.state().tasks["1"].is_stale), (None, false));
    lab.attempt("2", GREEN);
    assert_eq!(plan(&lab), ticked(&edited, &["1", "2"]));
}

fn a_task_that_says_something_else_is_not_ticked() {
    let lab = lab();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    let edited = checklist().replace("- [ ] 1. Write", "- [ ] 1. Do not write");
    lab.write(PLAN, &edited);
    lab.done(&started.ticket);
    assert_eq!(
        (lab.standing("1"), plan(&lab), edit(&lab).as_deref()),
        ("passed", edited, Some("changed 1"))
    );
}

fn what_its_user_has_ticked_counts_as_done() {
    let lab = lab();
    lab.attempt("1", GREEN);
    lab.write(
        PLAN,
        &ticked(&plan(&lab), &["2"])
            .replace("care\r\n  - Run `sh verify.sh 3`", "care\r\n  - Run `true`"),
    );
    assert_eq!(edit(&lab).as_deref(), Some("changed 3; ticked 2"));
    resume(&lab);
    assert_eq!(
        ["1", "2", "3"].map(|id| lab.standing(id)),
        ["passed", "claimed", "pending"]
    );
    assert_eq!(edit(&lab), None);
    // A tick of the user stays.
    settle(&lab);
    assert!(
        plan(&lab).contains("- [x] 1.")
            && plan(&lab).contains("- [x] 2.")
            && !lab.state().ticked.contains("2")
    );
}

fn a_worker_that_ticks_is_not_believed() {
    let lab = lab();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", RED);
    lab.write(
        PLAN,
        &ticked(&checklist(), &["1", "2"]).replace("[ ] with care", "[x] with care"),
    );
    let judged = lab.done(&started.ticket);
    assert_eq!(lab.standing("1"), "failed");
    assert_eq!(
        judged.state.tasks["1"].last_end.as_ref().unwrap().files,
        ["src/1.rs"]
    );
    let rest = ticked(&checklist(), &["2"]).replace("[ ] with care", "[x] with care");
    assert_eq!(
        plan(&lab),
        rest,
        "what has not passed is not said to be done"
    );
    assert_eq!(
        edit(&lab).as_deref(),
        Some("ticked 2"),
        "a person is told of what it was not at"
    );
    lab.start("3").unwrap_err();
    resume(&lab);
    // The first is done again, since its run goes on.
    assert_eq!(
        ["1", "2", "3"].map(|id| lab.standing(id)),
        ["pending", "claimed", "pending"]
    );
}

fn an_edit_of_the_plan_is_named_and_is_no_work_of_a_task() {
    let lab = lab();
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.write(PLAN, &ticked(&checklist(), &["1"]).replace("1.3", "1.4"));
    let judged = lab.done(&started.ticket);
    let end = judged.state.tasks["1"].last_end.clone().unwrap();
    assert_eq!(
        (end.files, end.out_of_scope),
        (vec!["src/1.rs".to_owned()], Vec::new()),
        "who edited it is not known"
    );
    assert_eq!(edit(&lab).as_deref(), Some("changed 3"));
}

fn what_is_done_again_is_opened_again() {
    let lab = lab();
    lab.attempt("1", GREEN);
    lab.attempt("2", GREEN);
    assert_eq!(plan(&lab), ticked(&checklist(), &["1", "2"]));
    lab.engine(|engine| {
        engine.decide(|state| verbs::reopen_passed_task(state, &engine.caller, "1"))
    })
    .unwrap();
    assert_eq!(lab.standing("1"), "pending");
    let open: Vec<&str> = ["1", "2"]
        .into_iter()
        .filter(|id| lab.standing(id) == "pending")
        .collect();
    let done: Vec<&str> = ["1", "2"]
        .into_iter()
        .filter(|id| !open.contains(id))
        .collect();
    assert_eq!(
        (plan(&lab), edit(&lab)),
        (ticked(&checklist(), &done), None)
    );
    lab.attempt("1", GREEN);
    assert!(plan(&lab).contains("- [x] 1."));
}

fn a_file_that_its_user_protects_is_left_with_one_warning() {
    let lab = lab();
    let path = lab.root().join(PLAN);
    let set_read_only = |path: &Path, is_so: bool| {
        let mut rights = fs::metadata(path).unwrap().permissions();
        rights.set_readonly(is_so);
        fs::set_permissions(path, rights).unwrap();
    };
    set_read_only(&path, true);
    lab.attempt("1", GREEN);
    lab.attempt("2", GREEN);
    assert_eq!(plan(&lab), checklist());
    let warnings = WARNINGS.lock().unwrap().clone();
    assert_eq!(
        warnings
            .iter()
            .filter(|said| said.contains("read-only"))
            .count(),
        1,
        "{warnings:?}"
    );
    // Once its user goes on with the run it is tried again.
    set_read_only(&path, false);
    lab.run
        .transact(&EventActor::default(), env::now(), |_| {
            Ok((vec![EventKind::RunResumed], ()))
        })
        .unwrap();
    settle(&lab);
    assert_eq!(plan(&lab), ticked(&checklist(), &["1", "2"]));
}

fn a_plan_without_state_stays_as_it_is() {
    let text = "---\ntype: plan\n---\n\n# Words\n\n### Task 1: One\n\n- [ ] a box\n\n**Files:**\n- Modify: `src/1.rs`\n\n\
                **Verify:**\nRun: `sh verify.sh 1`\n\n## Verification\n\n- **Verdict:** Approved\n";
    let plan_of =
        |text: &str| omo_plan::dialects::read(PLAN, text.as_bytes(), BatchOptions::default());
    assert_eq!(plan_of(text).source.sha256_without_state, None);
    let lab = UltraplanLab::new(text);
    lab.attempt("1", GREEN);
    assert_eq!((lab.standing("1"), plan(&lab).as_str()), ("passed", text));
    assert!(lab.state().ticked.is_empty());
}
