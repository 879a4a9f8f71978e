//! A failed step in a work tree that its user and others change meanwhile.

use omo_engine::event::EventKind;
use omo_engine::state::RunState;
use omo_engine::work::JudgedAttempt;

use crate::Named;
use crate::ultraplan_lab::{PLAN, UltraplanLab, plan_text, step, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "what_others_change_meanwhile_stays_and_is_named",
        what_others_change_meanwhile_stays_and_is_named,
    ),
    (
        "what_was_taken_back_is_kept_and_had_again",
        what_was_taken_back_is_kept_and_had_again,
    ),
    (
        "the_list_of_a_session_counts_for_its_steps",
        the_list_of_a_session_counts_for_its_steps,
    ),
    (
        "a_commit_on_no_branch_is_kept",
        a_commit_on_no_branch_is_kept,
    ),
    (
        "a_step_that_lists_nothing_leaves_the_plan_alone",
        a_step_that_lists_nothing_leaves_the_plan_alone,
    ),
];

const RED: &str = "1\nhalf\n";

/// Paths left alone, and the reference of kept changes.
fn restored(judged: &JudgedAttempt) -> (Vec<String>, Option<String>) {
    let restored = judged.events.iter().find_map(|event| match event {
        EventKind::TaskRestored {
            left_alone, kept, ..
        } => Some((left_alone.clone(), kept.clone())),
        _ => None,
    });
    restored.unwrap()
}

fn two() -> UltraplanLab {
    UltraplanLab::new(&plan_text(
        &[usual_step(1, "skip"), usual_step(2, "revert")],
        "",
    ))
}

fn a_commit_on_no_branch_is_kept() {
    let lab = two();
    let started = lab.start("1").unwrap();
    let branch = lab.git(&["branch", "--show-current"]);
    lab.git(&["checkout", "-q", "--detach"]);
    lab.write("src/1.rs", "0\nall done\n");
    lab.done(&started.ticket);
    assert_eq!(lab.standing("1"), "passed");
    let commit = lab.git(&["rev-parse", "HEAD"]);
    lab.git(&["checkout", "-q", branch.trim()]);
    assert_eq!(
        lab.git(&[
            "rev-parse",
            &format!("refs/omo/keep/{}/step-1", lab.run.id())
        ]),
        commit
    );
    // A commit on the branch needs no other reference.
    lab.attempt("2", "0\nall done\n");
    assert_eq!(lab.standing("2"), "passed");
    assert_eq!(
        lab.git(&["for-each-ref", "refs/omo/keep"]).lines().count(),
        1
    );
}

fn what_others_change_meanwhile_stays_and_is_named() {
    let lab = two();
    lab.write("src/2.rs", "before\n");
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", RED);
    lab.write("user.txt", "an hour of another session\n");
    lab.write("notes.txt", "the user's notes\n");
    lab.write("src/4.rs", "staged\n");
    lab.git(&["add", "src/1.rs", "src/4.rs"]);
    std::fs::remove_file(lab.root().join("src/3.rs")).unwrap();
    let judged = lab.done(&started.ticket);
    assert_eq!(
        lab.git(&["status", "--porcelain"]),
        " M src/2.rs\n D src/3.rs\nM  src/4.rs\n M user.txt\n?? notes.txt\n"
    );
    assert_eq!(lab.file("src/1.rs").unwrap(), "1\nnot yet\n");
    assert_eq!(
        restored(&judged).0,
        ["notes.txt", "src/3.rs", "src/4.rs", "user.txt"]
    );
    assert_eq!(lab.standing("1"), "skipped");
}

fn what_was_taken_back_is_kept_and_had_again() {
    let lab = two();
    let judged = lab.attempt("1", RED);
    let reference = format!("refs/omo/keep/{}/step-1-attempt-1", lab.run.id());
    assert_eq!(restored(&judged).1.as_deref(), Some(reference.as_str()));
    assert_eq!(lab.git(&["show", &format!("{reference}:src/1.rs")]), RED);
    let bring_back = |state: &RunState, overwrites_newer| {
        lab.engine(|engine| {
            let kept = engine.kept_work(state).unwrap();
            assert!(!kept[0].is_in_branch, "{kept:?}");
            engine
                .bring_back(state, &kept[0], overwrites_newer)
                .unwrap()
        })
    };
    assert_eq!(bring_back(&judged.state, false).restored, ["src/1.rs"]);
    assert_eq!(lab.file("src/1.rs").unwrap(), RED);
    lab.write("src/1.rs", "newer\n");
    assert_eq!(bring_back(&judged.state, false).differing, ["src/1.rs"]);
    assert_eq!(lab.file("src/1.rs").unwrap(), "newer\n");
    let kept = lab.engine(|engine| engine.kept_work(&judged.state).unwrap());
    let end = lab.engine(|engine| engine.bring_back(&judged.state, &kept[0], true).unwrap());
    let overwritten = end.overwritten.unwrap().reference;
    assert_eq!(
        (
            end.restored,
            lab.git(&["show", &format!("{overwritten}:src/1.rs")])
        ),
        (vec!["src/1.rs".to_owned()], "newer\n".to_owned())
    );
}

fn the_list_of_a_session_counts_for_its_steps() {
    let session = "## Execution Strategy\n\n### Session 1: All\n\n- **Steps:** 1, 2\n- **Wave:** 1\n\
                   - **Scope fence:**\n  - Touch: `src/1.rs`, `src/2.rs`, `lib/`\n  - Never touch: `never.txt`\n";
    let lab = UltraplanLab::new(&plan_text(
        &[usual_step(1, "skip"), usual_step(2, "revert")],
        session,
    ));
    let started = lab.start("1").unwrap();
    lab.write("src/1.rs", RED);
    lab.write("lib/new.rs", "half\n");
    lab.write("library.txt", "the user's\n");
    let judged = lab.done(&started.ticket);
    assert_eq!(
        (
            lab.git(&["status", "--porcelain"]).as_str(),
            restored(&judged).0
        ),
        ("?? library.txt\n", vec!["library.txt".to_owned()])
    );
}

fn a_step_that_lists_nothing_leaves_the_plan_alone() {
    let lines = ["**Verify:** `sh verify.sh 1`", "**On failure:** skip"];
    let lab = UltraplanLab::new(&plan_text(&[step(1, &lines), usual_step(2, "revert")], ""));
    let started = lab.start("1").unwrap();
    lab.write("new.txt", "half\n");
    lab.write(PLAN, &(lab.file(PLAN).unwrap() + "\nThe user's note.\n"));
    let judged = lab.done(&started.ticket);
    assert_eq!(
        (lab.git(&["status", "--porcelain"]), restored(&judged).0),
        (format!(" M {PLAN}\n"), vec![PLAN.to_owned()])
    );
    assert!(restored(&judged).1.is_some());
}
