//! Faults of the published commands, run as they stand, which omo does not have.

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, plan_text, step, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "a_commit_holds_the_work_without_anything_in_the_index",
        a_commit_holds_the_work_without_anything_in_the_index,
    ),
    (
        "new_and_added_files_are_taken_back_too",
        new_and_added_files_are_taken_back_too,
    ),
    (
        "what_passed_before_stays_when_a_task_is_taken_back",
        what_passed_before_stays_when_a_task_is_taken_back,
    ),
    (
        "no_later_task_commits_what_was_left_out",
        no_later_task_commits_what_was_left_out,
    ),
    (
        "a_commit_that_a_hook_refuses_has_not_passed",
        a_commit_that_a_hook_refuses_has_not_passed,
    ),
    (
        "a_published_command_that_fails_before_a_pipe_is_a_failure",
        a_published_command_that_fails_before_a_pipe_is_a_failure,
    ),
    ("no_stash_is_touched", no_stash_is_touched),
    (
        "all_attempts_are_committed_together",
        all_attempts_are_committed_together,
    ),
    (
        "only_what_a_task_names_is_committed",
        only_what_a_task_names_is_committed,
    ),
    (
        "a_fence_that_is_crossed_ends_the_run",
        a_fence_that_is_crossed_ends_the_run,
    ),
    (
        "what_a_person_has_tried_again_keeps_its_work",
        what_a_person_has_tried_again_keeps_its_work,
    ),
    (
        "a_removed_file_is_committed_as_removed",
        a_removed_file_is_committed_as_removed,
    ),
];

const GREEN: &str = "0\ndone\n";
const RED: &str = "1\nhalf\n";

fn two(first: &str, second: &str) -> UltraplanLab {
    UltraplanLab::new(&plan_text(
        &[usual_step(1, first), usual_step(2, second)],
        "",
    ))
}

/// A: in the published form nothing is added, the commit holds nothing, and the work goes with the worktree.
fn a_commit_holds_the_work_without_anything_in_the_index() {
    let fixture = two("revert", "revert");
    // Staged and edited files of its user stay theirs.
    fixture.write("user.txt", "mine\n");
    fixture.git(&["add", "user.txt"]);
    fixture.write(
        "verify.sh",
        &(fixture.file("verify.sh").unwrap() + "# mine\n"),
    );
    fixture.attempt("1", GREEN);
    assert_eq!(fixture.committed(), ["src/1.rs"]);
    assert_eq!(
        fixture.git(&["status", "--porcelain"]),
        "M  user.txt\n M verify.sh\n"
    );
}

/// J and K: `git checkout -- a new` takes nothing back where one of them is new, and staged content stays.
fn new_and_added_files_are_taken_back_too() {
    let files = [
        "**Files:** `src/1.rs`, `src/new.rs` (new)",
        "**Verify:** `sh verify.sh 1`",
        "**On failure:** revert",
    ];
    let fixture = UltraplanLab::new(&plan_text(&[step(1, &files), usual_step(2, "revert")], ""));
    fixture.write("user.txt", "mine\n");
    fixture.git(&["add", "user.txt"]);
    fixture.write("other.txt", "mine too\n");
    let before = fixture.git(&["status", "--porcelain"]);
    for _ in 0..3 {
        let started = fixture.start("1").unwrap();
        fixture.write("src/1.rs", RED);
        fixture.write("src/new.rs", "new");
        fixture.git(&["add", "src/new.rs"]);
        fixture.done(&started.ticket);
    }
    assert_eq!(
        (fixture.standing("1"), fixture.file("src/new.rs")),
        ("failed", None)
    );
    assert_eq!(fixture.file("src/1.rs").unwrap(), "1\nnot yet\n");
    assert_eq!(fixture.git(&["status", "--porcelain"]), before);
    assert_eq!(fixture.file("other.txt").unwrap(), "mine too\n");
}

/// L: a step whose work is in no commit is lost when the next one is taken back.
fn what_passed_before_stays_when_a_task_is_taken_back() {
    let no_commit = [
        "**Files:** `src/1.rs`",
        "**Verify:** `sh verify.sh 1`",
        "**On failure:** revert",
    ];
    let both = [
        "**Files:** `src/1.rs`, `src/2.rs`",
        "**Verify:** `sh verify.sh 2`",
        "**On failure:** revert",
    ];
    let fixture = UltraplanLab::new(&plan_text(&[step(1, &no_commit), step(2, &both)], ""));
    fixture.attempt("1", GREEN);
    assert_eq!(
        (fixture.standing("1"), fixture.log()),
        ("passed", vec!["start".to_owned()]),
        "nothing asks for a commit"
    );
    for _ in 0..3 {
        let started = fixture.start("2").unwrap();
        fixture.write("src/1.rs", "spoilt");
        fixture.write("src/2.rs", RED);
        fixture.done(&started.ticket);
    }
    assert_eq!(fixture.standing("2"), "failed");
    assert_eq!(
        (
            fixture.file("src/1.rs").unwrap(),
            fixture.file("src/2.rs").unwrap()
        ),
        (GREEN.into(), "1\nnot yet\n".into())
    );
}

/// M: half of a skipped step's work stays, and the next step commits it.
fn no_later_task_commits_what_was_left_out() {
    let wide = [
        "**Files:** `src/`",
        "**Verify:** `sh verify.sh 2`",
        "**Checkpoint:** `git commit -am \"all\"`",
    ];
    let fixture = UltraplanLab::new(&plan_text(&[usual_step(1, "skip"), step(2, &wide)], ""));
    let judged = fixture.attempt("1", RED);
    assert_eq!(fixture.standing("1"), "skipped");
    let words: Vec<String> = judged
        .events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(
        words,
        [
            "\"check_ran\"",
            "\"task_failed\"",
            "\"task_skipped\"",
            "\"task_restored\""
        ]
    );
    fixture.attempt("2", GREEN);
    assert_eq!(
        (fixture.standing("2"), fixture.committed()),
        ("passed", vec!["src/2.rs".to_owned()])
    );
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
}

/// N: a commit that was refused counts as made, and then the work goes with the work tree.
fn a_commit_that_a_hook_refuses_has_not_passed() {
    let fixture = two("revert", "revert");
    fixture.hook("pre-commit", "echo no TODO please; exit 1");
    fixture.attempt("1", GREEN);
    let state = fixture.state();
    let evidence = &state.tasks["1"].last_end.as_ref().unwrap().evidence;
    assert!(
        evidence.contains("hook pre-commit: no TODO please"),
        "{evidence}"
    );
    assert_eq!(
        (fixture.standing("1"), state.tasks["1"].attempts),
        ("pending", 1)
    );
    let brief = fixture.start("1").unwrap().brief;
    assert!(
        brief.contains("no TODO please") && brief.contains("attempt 2 of 3"),
        "{brief}"
    );
}

/// O: a command behind a pipe hides the exit status of the one before it.
fn a_published_command_that_fails_before_a_pipe_is_a_failure() {
    let piped = [
        "**Files:** `src/1.rs`",
        "**Verify:** `sh verify.sh 1 | tail -1`",
        "**On failure:** skip",
    ];
    let fixture = UltraplanLab::new(&plan_text(&[step(1, &piped), usual_step(2, "revert")], ""));
    fixture.attempt("1", RED);
    assert_eq!(fixture.standing("1"), "skipped");
}

/// Q: a stash of one session is taken out by another one.
fn no_stash_is_touched() {
    let fixture = two("skip", "revert");
    fixture.write("user.txt", "stashed\n");
    fixture.git(&["stash", "-q"]);
    let before = fixture.git(&["stash", "list"]);
    fixture.attempt("1", RED);
    fixture.attempt("2", GREEN);
    assert_eq!(
        (
            fixture.git(&["stash", "list"]),
            fixture.file("user.txt").unwrap()
        ),
        (before, "one\n".to_owned())
    );
}

fn all_attempts_are_committed_together() {
    let files = [
        "**Files:** `src/1.rs`, `src/new.rs` (new)",
        "**Verify:** `sh verify.sh 1`",
        "**On failure:** retry — so",
    ];
    let files: Vec<&str> = files
        .into_iter()
        .chain(["**Checkpoint:** `git commit -m \"both\"`"])
        .collect();
    let fixture = UltraplanLab::new(&plan_text(&[step(1, &files), usual_step(2, "revert")], ""));
    let started = fixture.start("1").unwrap();
    assert!(
        !started.brief.contains("how to try it now"),
        "{}",
        started.brief
    );
    fixture.write("src/1.rs", "1\nwhat is wrong\n");
    fixture.write("src/new.rs", "new");
    fixture.done(&started.ticket);
    let started = fixture.start("1").unwrap();
    assert!(
        started
            .brief
            .contains("The plan says how to try it now: so\n"),
        "{}",
        started.brief
    );
    assert!(
        started.brief.contains("    what is wrong\n"),
        "{}",
        started.brief
    );
    fixture.write("src/1.rs", GREEN);
    fixture.done(&started.ticket);
    assert_eq!(
        (fixture.standing("1"), fixture.committed()),
        ("passed", vec!["src/1.rs".to_owned(), "src/new.rs".into()])
    );
}

fn only_what_a_task_names_is_committed() {
    let fixture = two("revert", "revert");
    let started = fixture.start("1").unwrap();
    fixture.write("src/1.rs", GREEN);
    fixture.write("src/2.rs", "0\nnot its own\n");
    fixture.write("extra.txt", "x");
    fixture.write("plans/.ultraexecute-progress-other.json", "{}");
    let judged = fixture.done(&started.ticket);
    let end = judged.state.tasks["1"].last_end.clone().unwrap();
    assert_eq!(
        (end.files.as_slice(), end.out_of_scope),
        (
            ["extra.txt", "src/1.rs", "src/2.rs"]
                .map(String::from)
                .as_slice(),
            vec!["extra.txt".to_owned(), "src/2.rs".to_owned()]
        )
    );
    assert_eq!(fixture.committed(), ["src/1.rs"]);
    // The file is not the next step's either.
    fixture.attempt("2", "0\nreally done\n");
    assert_eq!(
        (fixture.standing("2"), fixture.committed()),
        ("passed", vec!["src/2.rs".to_owned()])
    );
}

fn a_fence_that_is_crossed_ends_the_run() {
    let session = "## Execution Strategy\n\n### Session 1: All\n\n- **Steps:** 1, 2\n- **Wave:** 1\n\
                   - **Scope fence:**\n  - Touch: `src/1.rs`, `src/2.rs`\n  - Never touch: `src/3.rs`\n";
    for (on_failure, is_reverted) in [("revert", true), ("skip", true), ("escalate", false)] {
        let fixture = UltraplanLab::new(&plan_text(
            &[usual_step(1, on_failure), usual_step(2, "revert")],
            session,
        ));
        let started = fixture.start("1").unwrap();
        assert!(
            started.brief.contains("Never touch: `src/3.rs`"),
            "{}",
            started.brief
        );
        fixture.write("src/1.rs", GREEN);
        fixture.write("SRC/../src/3.rs", "mine now");
        let judged = fixture.done(&started.ticket);
        let end = judged.state.tasks["1"].last_end.clone().unwrap();
        assert_eq!(
            end.evidence,
            "SCOPE VIOLATION: Step 1 changed src/3.rs which is in the never-touch list."
        );
        assert_eq!(
            (fixture.standing("1"), fixture.log().len()),
            ("failed", 1),
            "{on_failure}"
        );
        assert_eq!(
            fixture.file("src/1.rs").unwrap() == "1\nnot yet\n",
            is_reverted,
            "{on_failure}"
        );
        // Whoever wrote that file, it is none of the step's.
        assert_eq!(
            fixture.file("src/3.rs").unwrap(),
            "mine now",
            "{on_failure}"
        );
        assert_eq!(
            judged.state.tasks["1"].left_alone == ["src/3.rs"],
            is_reverted,
            "{on_failure}"
        );
        assert_eq!(
            fixture.next(),
            if is_reverted { "over" } else { "ask escalated" }
        );
    }
}

fn what_a_person_has_tried_again_keeps_its_work() {
    let fixture = two("escalate", "revert");
    fixture.attempt("1", RED);
    assert_eq!(
        (fixture.standing("1"), fixture.file("src/1.rs").unwrap()),
        ("failed", RED.to_owned())
    );
    fixture
        .engine(|engine| {
            engine.decide(|state| omo_engine::verbs::retry_task(state, &engine.caller, "1"))
        })
        .unwrap();
    let started = fixture.start("1").unwrap();
    fixture.write("src/1.rs", GREEN);
    fixture.done(&started.ticket);
    assert_eq!(
        (fixture.standing("1"), fixture.committed()),
        ("passed", vec!["src/1.rs".to_owned()])
    );
}

fn a_removed_file_is_committed_as_removed() {
    let lines = [
        "**Files:** `src/1.rs`",
        "**Verify:** `test ! -e src/1.rs`",
        "**Checkpoint:** `git commit -m \"gone\"`",
    ];
    let fixture = UltraplanLab::new(&plan_text(&[step(1, &lines), usual_step(2, "revert")], ""));
    let started = fixture.start("1").unwrap();
    std::fs::remove_file(fixture.root().join("src/1.rs")).unwrap();
    fixture.done(&started.ticket);
    assert_eq!(
        (
            fixture.standing("1"),
            fixture.git(&["status", "--porcelain"])
        ),
        ("passed", String::new())
    );
    assert_eq!(
        fixture.git(&["show", "--format=", "--name-status"]),
        "D\tsrc/1.rs\n"
    );
}
