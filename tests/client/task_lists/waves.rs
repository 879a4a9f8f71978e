//! Six tasks in three waves, two at once: one goes wrong twice, and the first verdict has one done again.

use serde_json::{Value, json};

use super::scripted_agents::{Trouble, task_list_script};
use super::{REVIEWED, Task, WORD, agents, approved, events, file, planned, shown, story};
use crate::client_lab::ClientFixture;

/// 1, 2 and 3 need nothing; 4 and 5 need those; 6 needs all.
const SIX: [Task; 6] = [
    ("1", "", WORD),
    ("2", "", WORD),
    ("3", "", REVIEWED),
    ("4", "1,2", WORD),
    ("5", "3", WORD),
    ("6", "4,5", WORD),
];

#[test]
fn six_tasks_are_done_in_three_waves_until_a_verifier_passes_them() {
    let trouble = Trouble {
        wrong: Some(("5", 3)),
        reopened: Some("6: the word is too short"),
        together: &[["1", "2"], ["3", "4"]],
        ..Trouble::default()
    };
    let fixture = planned(&SIX, task_list_script(trouble));
    let run = approved(&fixture, " --max-workers 2");
    let said = run.result().unwrap();
    for part in [
        "## Execution Complete",
        "**Iterations:** 4/5",
        "**Result:** ✓ PASS",
        "5 by command, 1 by the verifier",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
    waves(&fixture);
    // Another model is asked at the third attempt, and the verifier is always one of that kind.
    let models = |task: &'static str| {
        let agents = agents(&fixture)
            .into_iter()
            .filter(move |(known, _)| *known == task);
        agents.map(|(_, model)| model)
    };
    // The first attempt is that of a worker that goes on behind another task.
    assert_eq!(models("5").collect::<Vec<_>>(), ["sonnet", "opus"]);
    assert_eq!(models("6").collect::<Vec<_>>(), ["sonnet", "sonnet"]);
    assert_eq!(models("verify").collect::<Vec<_>>(), ["opus", "opus"]);
    verdicts(&fixture);
    assert_eq!(
        (
            file(&fixture, "session.json", "/phase"),
            file(&fixture, "session.json", "/iteration")
        ),
        (json!("COMPLETE"), json!(4))
    );
    let retries = ["4", "5", "6"].map(|task| {
        file(&fixture, &format!("tasks/{task}.json"), "/retry_count")
            .as_u64()
            .unwrap_or(0)
    });
    assert_eq!(retries, [0, 2, 1]);
    assert_eq!(fixture.model.unscripted(), 0);
}

/// What was begun when, and how many were at work at once.
fn waves(fixture: &ClientFixture) {
    let story = story(fixture);
    let is_turn = |word: &&String| {
        ["round_started ", "verdict_given ", "run_ended "]
            .iter()
            .any(|kind| word.starts_with(kind))
    };
    assert_eq!(
        story.iter().filter(is_turn).collect::<Vec<_>>(),
        [
            "round_started 2",
            "round_started 3",
            "verdict_given false",
            "round_started 4",
            "verdict_given true",
            "run_ended complete"
        ]
    );
    let starts = |task: &str| {
        story
            .iter()
            .filter(|word| **word == format!("task_started {task}"))
            .count()
    };
    assert_eq!(
        ["1", "2", "3", "4", "5", "6", "verify"].map(starts),
        [1, 1, 1, 1, 3, 2, 2]
    );
    let place = |word: &str| {
        story
            .iter()
            .position(|known| known == word)
            .unwrap_or_else(|| panic!("no {word}: {story:?}"))
    };
    for (task, needs) in [
        ("4", "task_passed 1"),
        ("4", "task_passed 2"),
        ("5", "task_claimed 3"),
        ("6", "task_passed 5"),
    ] {
        assert!(
            place(needs) < place(&format!("task_started {task}")),
            "{task} began before {needs}: {story:?}"
        );
    }
    let at_work = story.iter().scan(0, |count: &mut i32, word| {
        *count += i32::from(word.starts_with("task_started "));
        let is_end = [
            "task_passed ",
            "task_failed ",
            "task_claimed ",
            "verdict_given ",
        ]
        .iter()
        .any(|end| word.starts_with(end));
        *count -= i32::from(is_end);
        Some(*count)
    });
    assert_eq!(
        at_work.max(),
        Some(2),
        "more were at work than there may be, or never two"
    );
    let shown = shown(fixture);
    for part in [
        "round 2 of 5 begins with 5.",
        "the verification begins (round 3 of 5).",
    ] {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
}

/// What the verdicts rest on: the second one on a command that its own verifier had run.
fn verdicts(fixture: &ClientFixture) {
    let events = events(fixture);
    let of_kind = |kind: &'static str| events.iter().filter(move |event| event["kind"] == kind);
    let [failed, passed] = of_kind("verdict_given").collect::<Vec<_>>()[..] else {
        panic!("not two verdicts")
    };
    assert_eq!(failed["reopen"], json!([["6", "the word is too short"]]));
    assert_eq!(passed["evidence_ids"], json!(["e3"]));
    let evidence: Vec<&Value> = of_kind("evidence_ran").collect();
    let whose: Vec<_> = evidence
        .iter()
        .map(|piece| (&piece["id"], &piece["task"], &piece["attempt"]))
        .collect();
    assert_eq!(
        whose,
        [
            (&json!("e1"), &json!("3"), &json!(1)),
            (&json!("e2"), &json!("verify"), &json!(1)),
            (&json!("e3"), &json!("verify"), &json!(2))
        ]
    );
    // Every command of a criterion is run once more at the PASS, and at no FAIL.
    let finals = of_kind("check_ran").filter(|event| event["task"] == "final");
    assert_eq!(
        finals.filter_map(|event| event["command"].as_str()).count(),
        5
    );
}
