//! Tasks of single steps.

use omo_core::check::task_check::ExpectedExit;
use omo_plan::diagnostic::Code;
use omo_plan::model::{OnFailure, Task};

use crate::ultraplan::{codes, read};

fn task(lines: &str) -> Task {
    let plan = read(&format!(
        "## Implementation Plan\n\n### Step 1: A\n\n{lines}\n"
    ));
    plan.tasks.into_iter().next().unwrap()
}

#[test]
fn a_task_has_as_many_attempts_as_its_failure_rule_allows() {
    for (clause, action, attempts, alternative) in [
        (
            "revert — `git checkout -- a.rs`",
            OnFailure::Revert,
            3,
            None,
        ),
        (
            "retry — use the other client",
            OnFailure::Retry,
            3,
            Some("use the other client"),
        ),
        ("skip (not needed)", OnFailure::Skip, 1, None),
        ("escalate to a person", OnFailure::Escalate, 1, None),
        ("give up", OnFailure::Escalate, 1, None),
        ("", OnFailure::Escalate, 1, None),
    ] {
        let task = task(&format!("- **On failure:** {clause}"));
        let found = (
            task.on_failure,
            task.max_attempts,
            task.alternative.as_deref(),
        );
        assert_eq!(found, (action, attempts, alternative), "{clause}");
    }
}

#[test]
fn tests_that_come_first_have_to_fail_first() {
    for (value, command) in [
        (
            "`cargo test limit::` — has to fail",
            Some("cargo test limit::"),
        ),
        ("`./check.sh limit`", Some("./check.sh limit")),
        (
            "`tests/limit.rs` (new), run with `cargo test limit`",
            Some("cargo test limit"),
        ),
        ("`tests/limit.rs` (new) — refill after 1 s", None),
        ("`docs/my file.md`", None),
        ("write one", None),
    ] {
        let task = task(&format!("- **Test first:** {value}"));
        assert_eq!(
            task.red_check.as_ref().map(|check| check.command.as_str()),
            command,
            "{value}"
        );
        assert!(
            task.red_check
                .as_ref()
                .is_none_or(|check| check.expect.exit == ExpectedExit::NonZero),
            "{value}"
        );
        assert_eq!(task.extra["Test first"], value);
    }
}

#[test]
fn labels_below_what_looks_like_a_task_are_not_those_of_the_one_before() {
    let plan = read(
        "## Implementation Plan\n\n### Step 1: A\n\n- **Verify:** `make a`\n\n#### Step 2: B\n\n- **On failure:** skip\n",
    );
    assert_eq!(plan.tasks[0].on_failure, OnFailure::Escalate);
    assert_eq!(
        codes(&plan),
        [
            (Code::MissingOnFailure, Some("1")),
            (Code::LooksLikeAStep, None)
        ]
    );
}

#[test]
fn what_no_rule_reads_is_kept_for_the_worker() {
    let task = task(
        "- **Changes:** Do it.\n- **Reuses:** `clock.rs`\n- **Owner:** Kim\n- **Verify:** `make a`\n\n---\n",
    );
    let extra: Vec<_> = task
        .extra
        .iter()
        .map(|(label, value)| (label.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        extra,
        [
            ("Changes", "Do it."),
            ("Owner", "Kim"),
            ("Reuses", "`clock.rs`")
        ]
    );
    assert_eq!(task.checks.len(), 1);
    assert!(task.body.starts_with("### Step 1: A\n"));
}

#[test]
fn a_check_is_what_the_task_says_in_a_line_or_a_block() {
    for (lines, commands, text) in [
        (
            "- **Verify:** `make a`\n- **Expected:** `ok`",
            vec!["make a"],
            Some("ok"),
        ),
        (
            "**Verify**\n\n- **Verify:** `make a` → expected: ok",
            vec!["make a"],
            Some("ok"),
        ),
        (
            "- **Verify:**\n  ```bash\n  make a\n  make b\n  ```\n  Expected: `ok`",
            vec!["make a", "make b"],
            Some("ok"),
        ),
        ("Verify: make a", vec!["make a"], None),
        ("- **Verify:** `make a`\n\n---\n", vec!["make a"], None),
        (
            "- **Verify:** `make a`\n\nThis takes long.\n",
            vec!["make a"],
            None,
        ),
    ] {
        let task = task(lines);
        let found: Vec<&str> = task
            .checks
            .iter()
            .map(|check| check.command.as_str())
            .collect();
        assert_eq!(found, commands, "{lines}");
        assert_eq!(
            task.checks.last().unwrap().expect.stdout_has.as_deref(),
            text,
            "{lines}"
        );
    }
}

#[test]
fn a_checkpoint_is_a_message_in_a_line_or_a_block() {
    for lines in [
        "- **Checkpoint:** `git commit -m \"a: b\"`\n\n---\n",
        "**Checkpoint:**\n```bash\ngit commit -m \"a: b\"\n```\n",
        "- **Checkpoint:** git commit -m 'a: b'\n",
    ] {
        let text = format!("- **Verify:** `make`\n- **On failure:** skip\n{lines}");
        let plan = read(&format!(
            "## Implementation Plan\n\n### Step 1: A\n\n{text}"
        ));
        assert_eq!(codes(&plan), [], "{lines}");
        assert_eq!(
            plan.tasks[0].commit.as_ref().unwrap().message,
            "a: b",
            "{lines}"
        );
    }
    assert_eq!(task("- **Checkpoint:** none").commit, None);
    assert_eq!(task("- **Verify:** `make`").commit, None);
}
