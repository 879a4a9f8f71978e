//! The checks of a task without its work: of a step whose test comes first, and of tests with their implementation.

use omo_core::check::counterfactual::WithoutChange;
use omo_engine::report::findings::finding_lines;
use omo_engine::report::judged_with::judged_with_lines;
use omo_plan::dialects::{self, BatchOptions};

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, plan_text, step};

pub(crate) const ALL: &[Named] = &[
    (
        "a_test_that_fails_without_the_work_proves_it",
        a_test_that_fails_without_the_work_proves_it,
    ),
    (
        "a_test_that_shows_nothing_is_named",
        a_test_that_shows_nothing_is_named,
    ),
    (
        "work_of_an_earlier_attempt_is_work",
        work_of_an_earlier_attempt_is_work,
    ),
    (
        "an_implementation_is_proved_by_its_tests",
        an_implementation_is_proved_by_its_tests,
    ),
    (
        "an_implementation_that_changes_nothing_fails",
        an_implementation_that_changes_nothing_fails,
    ),
    (
        "tests_that_fail_for_another_reason_prove_nothing",
        tests_that_fail_for_another_reason_prove_nothing,
    ),
    (
        "a_changed_judge_of_a_task_is_named",
        a_changed_judge_of_a_task_is_named,
    ),
    (
        "a_plan_without_such_a_task_is_compared_with_nothing",
        a_plan_without_such_a_task_is_compared_with_nothing,
    ),
];

const WORK: &str = "really done\n";
/// Passes with `WORK` in the file.
const TEST: &str = "grep -q really user.txt\n";

fn first(test: &str, on_failure: &str) -> UltraplanLab {
    let lines = [
        "**Files:** `user.txt`, `tests/1.sh` (new)",
        test,
        "**Verify:** `grep -q done user.txt`",
        on_failure,
        "**Checkpoint:** `git commit -m \"one\"`",
    ];
    UltraplanLab::new(&plan_text(&[step(1, &lines)], ""))
}

/// Results of each command without the work of a task.
fn answers(lab: &UltraplanLab, id: &str) -> Vec<(String, WithoutChange)> {
    let end = lab.state().tasks[id].last_end.clone().unwrap();
    end.without_work
        .into_iter()
        .map(|answer| (answer.name, answer.without))
        .collect()
}

fn evidence(lab: &UltraplanLab, id: &str) -> String {
    lab.state().tasks[id].last_end.clone().unwrap().evidence
}

fn copies_left(lab: &UltraplanLab) -> usize {
    let folders = std::fs::read_dir(lab.home().join("omo/proofs"))
        .into_iter()
        .flatten()
        .flatten();
    folders.filter(|entry| entry.path().is_dir()).count()
}

fn findings(lab: &UltraplanLab) -> String {
    finding_lines(&lab.state(), &lab.state().plan.tasks).join("\n")
}

fn a_test_that_fails_without_the_work_proves_it() {
    let lab = first(
        "**Test first:** `sh tests/1.sh` (new)",
        "**On failure:** skip",
    );
    let started = lab.start("1").unwrap();
    lab.write("tests/1.sh", TEST);
    lab.write("user.txt", WORK);
    lab.done(&started.ticket);
    let red = |command: &str| (command.to_owned(), WithoutChange::Red);
    assert_eq!(lab.standing("1"), "passed");
    assert_eq!(
        answers(&lab, "1"),
        [red("grep -q done user.txt"), red("sh tests/1.sh")]
    );
    assert!(
        evidence(&lab, "1").ends_with("; red without the change"),
        "{}",
        evidence(&lab, "1")
    );
    assert_eq!((findings(&lab), copies_left(&lab)), (String::new(), 0));
    assert_eq!(lab.git(&["status", "--porcelain"]), "");
    assert_eq!(
        lab.state().tasks["1"].already_green,
        [0; 0],
        "nothing of it ran before the work"
    );
}

fn a_changed_judge_of_a_task_is_named() {
    for (written, text, said) in [
        (
            "judge.sh",
            "exit 0\n",
            "step 1: `sh judge.sh && cat .passes`: green only with the changed judge.sh",
        ),
        ("judge.sh", "grep -q done user.txt || exit 1\n", ""),
        (
            ".passes",
            "",
            "step 1: `sh judge.sh && cat .passes`: green only with the changed .passes",
        ),
        ("notes.txt", "x", ""),
    ] {
        let lines = [
            "**Files:** `user.txt`, `judge.sh`, `.passes`, `notes.txt`",
            "**Verify:** `sh judge.sh && cat .passes`",
            "**On failure:** skip",
            "**Checkpoint:** `git commit -m \"one\"`",
        ];
        let lab = UltraplanLab::new(&plan_text(&[step(1, &lines)], ""));
        lab.write("judge.sh", "grep -q done user.txt\n");
        let is_absent = written == ".passes";
        if !is_absent {
            lab.write(".passes", "");
        }
        lab.git(&["add", "."]);
        lab.git(&["commit", "-qm", "judge"]);
        let started = lab.start("1").unwrap();
        lab.write(
            "user.txt",
            if written == "judge.sh" && text.starts_with("exit") {
                "other\n"
            } else {
                WORK
            },
        );
        lab.write(written, text);
        lab.done(&started.ticket);
        assert_eq!(
            (
                lab.standing("1"),
                judged_with_lines(&lab.state()).join("\n").as_str()
            ),
            ("passed", said),
            "{text}"
        );
        assert_eq!((answers(&lab, "1").len(), copies_left(&lab)), (0, 0));
    }
}

fn a_test_that_shows_nothing_is_named() {
    for (test, written, said) in [
        (
            "sh tests/1.sh",
            "true\n",
            "is green without the work, too: it shows nothing about it",
        ),
        (
            "sh tests/1.sh",
            "exit 127\n",
            "could not be told: it could not be run with the change",
        ),
        (
            "sh tests/1.sh",
            "false\n",
            "could not be told: it is not green with the change",
        ),
    ] {
        let lab = first(
            &format!("**Test first:** `{test}` (new)"),
            "**On failure:** skip",
        );
        let started = lab.start("1").unwrap();
        lab.write("tests/1.sh", written);
        lab.write("user.txt", WORK);
        lab.done(&started.ticket);
        assert_eq!(lab.standing("1"), "passed", "{written}");
        assert!(
            findings(&lab).contains(said),
            "{written}: {}",
            findings(&lab)
        );
    }
}

fn work_of_an_earlier_attempt_is_work() {
    let lab = first(
        "**Test first:** `sh tests/1.sh` (new)",
        "**On failure:** retry: look again",
    );
    let started = lab.start("1").unwrap();
    lab.write("tests/1.sh", TEST);
    lab.write("user.txt", "really\n");
    lab.done(&started.ticket);
    assert_eq!(lab.standing("1"), "pending");
    assert_eq!(answers(&lab, "1"), [], "what is red is not run once more");
    let started = lab.start("1").unwrap();
    lab.write("user.txt", WORK);
    lab.done(&started.ticket);
    assert_eq!(lab.standing("1"), "passed");
    assert!(
        answers(&lab, "1")
            .iter()
            .all(|(_, without)| *without == WithoutChange::Red),
        "{:?}",
        answers(&lab, "1")
    );
}

fn pair(tests_verify: &str, verify: &str) -> UltraplanLab {
    let text = format!(
        "---\ncontract_version: 2\n---\n\n# Search\n\n**Goal:** find it\n\n### Task 1-tests: Tests\n\n**Files:**\n\
         - Test: `tests/1.sh`\n\n**Task Contract:** they fail.\n\n**Verify:**\nRun: `{tests_verify}`\nExpected: FAIL\n\n\
         ### Task 1-impl: The search\n\n**Files:**\n- Modify: `user.txt`\n\n**Depends on:** Task 1-tests\n\n\
         **Task Contract:** it finds.\n\n**Verify:**\nRun: `{verify}`\n\n## Verification\n\n- **Verdict:** Approved\n"
    );
    let read = dialects::read(
        "docs/plans/search.md",
        text.as_bytes(),
        BatchOptions::default(),
    );
    assert_eq!(read.tasks.len(), 2, "{:?}", read.diagnostics);
    let lab = UltraplanLab::with(
        &text,
        |plan| omo_plan::model::Plan {
            source: plan.source,
            ..read
        },
        None,
    );
    assert_eq!(lab.next(), "start 1-tests");
    lab
}

fn write_tests(lab: &UltraplanLab, written: &str) {
    let started = lab.start("1-tests").unwrap();
    lab.write("tests/1.sh", written);
    lab.done(&started.ticket);
}

fn an_implementation_is_proved_by_its_tests() {
    // The second one has no check of its own, and is checked by the tests all the same.
    for verify in ["sh tests/1.sh", "true"] {
        let lab = pair("sh tests/1.sh", verify);
        write_tests(&lab, TEST);
        assert_eq!(
            lab.standing("1-tests"),
            "passed",
            "{}",
            evidence(&lab, "1-tests")
        );
        let started = lab.start("1-impl").unwrap();
        assert!(
            started
                .brief
                .contains("without the work of this task as well"),
            "{}",
            started.brief
        );
        lab.write("user.txt", WORK);
        lab.done(&started.ticket);
        assert_eq!(
            lab.standing("1-impl"),
            "passed",
            "{}",
            evidence(&lab, "1-impl")
        );
        assert!(
            answers(&lab, "1-impl").contains(&("sh tests/1.sh".to_owned(), WithoutChange::Red))
        );
    }
}

fn an_implementation_that_changes_nothing_fails() {
    for written in [None, Some("nothing of it\n")] {
        let lab = pair("sh tests/1.sh", "true");
        write_tests(&lab, TEST);
        let started = lab.start("1-impl").unwrap();
        if let Some(text) = written {
            lab.write("user.txt", text);
        }
        lab.done(&started.ticket);
        assert_eq!(
            lab.standing("1-impl"),
            "failed",
            "{}",
            evidence(&lab, "1-impl")
        );
        let said = evidence(&lab, "1-impl");
        assert!(
            said.contains("green without the change, too, so nothing about it is shown: `true`"),
            "{said}"
        );
    }
}

fn tests_that_fail_for_another_reason_prove_nothing() {
    for (written, said) in [
        (
            "echo 'error: could not compile `search`'; exit 101\n",
            "names nothing that is missing",
        ),
        ("echo '2 failed'; kill -9 $$\n", "ended by signal 9"),
        ("exit 127\n", "exit status 127"),
        ("exit 0\n", "the tests pass before the implementation"),
    ] {
        let lab = pair("sh tests/1.sh", "sh tests/1.sh");
        write_tests(&lab, written);
        assert_eq!(lab.standing("1-tests"), "failed", "{written}");
        assert!(
            evidence(&lab, "1-tests").contains(said),
            "{written}: {}",
            evidence(&lab, "1-tests")
        );
    }
    for written in [
        "echo 'error[E0425]: cannot find function `find` in this scope'; echo 'error: could not compile `a`'; exit 101\n",
        "echo 'test finds ... FAILED'; exit 101\n",
        "exit 3\n",
    ] {
        let lab = pair("sh tests/1.sh", "sh tests/1.sh");
        write_tests(&lab, written);
        assert_eq!(
            lab.standing("1-tests"),
            "passed",
            "{written}: {}",
            evidence(&lab, "1-tests")
        );
    }
}

fn a_plan_without_such_a_task_is_compared_with_nothing() {
    let lines = [
        "**Files:** `src/1.rs`",
        "**Verify:** `sh verify.sh 1`",
        "**On failure:** skip",
    ];
    let lab = UltraplanLab::new(&plan_text(&[step(1, &lines)], ""));
    lab.attempt("1", "0\ndone\n");
    assert_eq!(
        (lab.standing("1"), answers(&lab, "1")),
        ("passed", Vec::new())
    );
    assert!(!lab.home().join("omo/proofs").exists());
    assert_eq!(lab.file("src/1.rs").unwrap(), "0\ndone\n");
    let lab = UltraplanLab::new(&plan_text(&[step(1, &lines)], ""));
    lab.attempt("1", "1\nnot yet\n");
    assert_eq!(answers(&lab, "1"), []);
}
