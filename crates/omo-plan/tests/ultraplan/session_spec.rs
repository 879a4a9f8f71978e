//! One session of an ultraplan, in a file of its own; and files that are neither.

use omo_core::check::task_check::TaskCheck;
use omo_plan::diagnostic::Code;
use omo_plan::model::{Dialect, Parallelism, Precondition};
use omo_plan::plan_summary;
use omo_plan::strategy::RunStrategy;

use crate::ultraplan::{codes, read, step};

fn spec(entry: &str, exit: &str) -> String {
    format!(
        "# Session 2: Wire it\n\n## Context\n\nWhy it\nis done.\n\nMore.\n\n## Dependencies\n\n- **Entry condition:** {entry}\n\n\
         ## Scope Fence\n\n**Touch:**\n- `a.rs`\n- `b/`\n\n**Never touch:**\n- `c.rs`\n\n## Steps\n\n{}{}\
         ## Exit Condition\n\n{exit}\n",
        step(4, "`a.rs`"),
        step(5, "`b/x.rs`")
    )
}

fn commands(checks: &[TaskCheck]) -> Vec<&str> {
    checks.iter().map(|check| check.command.as_str()).collect()
}

#[test]
fn a_session_spec_has_an_entry_a_fence_and_an_exit() {
    let text = spec(
        "Session 1 is committed, `cargo test` passes",
        "- [ ] `cargo test` → expected: `ok`\n- [ ] `cargo clippy` and `cargo fmt --check`\n",
    );
    let plan = read(&text);
    assert_eq!(codes(&plan), []);
    assert_eq!(plan.dialect, Dialect::SessionSpec);
    assert_eq!(
        (plan.title.as_str(), plan.goal.as_str()),
        ("Session 2: Wire it", "Why it is done.")
    );
    let [Precondition::EntryCondition { text, checks }] = plan.preconditions.as_slice() else {
        panic!()
    };
    assert_eq!(
        (text.as_str(), commands(checks)),
        (
            "Session 1 is committed, `cargo test` passes",
            vec!["cargo test"]
        )
    );
    let group = &plan.groups[0];
    assert_eq!(
        (group.may_touch.join(" "), group.never_touch.join(" ")),
        ("a.rs b/".to_owned(), "c.rs".to_owned())
    );
    assert_eq!(group.tasks, ["4", "5"]);
    assert_eq!(plan.tasks[1].deps, ["4"]);
    assert_eq!(
        commands(&plan.final_checks),
        ["cargo test", "cargo clippy", "cargo fmt --check"]
    );
    assert_eq!(
        plan.final_checks[0].expect.stdout_has.as_deref(),
        Some("ok")
    );
    assert_eq!(plan.policy.parallel, Parallelism::None);
    assert_eq!(
        plan_summary::summary_lines(&plan),
        [
            "Type: session-spec",
            "Steps: 2",
            "Entry condition: Session 1 is committed, `cargo test` passes",
            "Scope fence: 2 touch, 1 never-touch",
        ]
    );
    assert_eq!(
        RunStrategy::for_plan(&plan).summary_line(),
        "Strategy: single session"
    );
}

#[test]
fn an_entry_condition_is_checked_where_a_command_can() {
    let clean = "test -z \"$(git status --porcelain)\"";
    for (entry, expected) in [
        ("none", None),
        ("None (first session)", None),
        ("git status clean", Some(vec![clean])),
        ("`git status --porcelain` is empty", Some(vec![clean])),
        (
            "`make a` passes and the working tree is clean",
            Some(vec!["make a", clean]),
        ),
        ("Session 1 is done", Some(vec![])),
        ("`src/a.rs` exists", Some(vec![])),
        ("`git log -1` shows `feat: a`", Some(vec!["git log -1"])),
    ] {
        let plan = read(&spec(entry, "- `true`"));
        let found = match plan.preconditions.as_slice() {
            [Precondition::EntryCondition { checks, .. }] => Some(commands(checks)),
            _ => None,
        };
        assert_eq!(found, expected, "{entry}");
    }
}

#[test]
fn an_exit_condition_without_a_command_is_reported() {
    let plan = read(&spec(
        "none",
        "- [ ] All endpoints answer\n- [ ] `make check`\n- [ ] cargo test -q\n",
    ));
    assert_eq!(codes(&plan), [(Code::VerifyMayBeProse, None)]);
    assert_eq!(
        commands(&plan.final_checks),
        ["make check", "cargo test -q"]
    );
    let plan = read(&spec(
        "none",
        "Run all of it:\n\n```bash\nmake a\nmake b\n```\n\n### By hand\n\nLook at it.\n",
    ));
    assert_eq!(codes(&plan), []);
    assert_eq!(commands(&plan.final_checks), ["make a", "make b"]);
}

#[test]
fn a_file_is_a_plan_a_spec_or_neither() {
    let steps = step(1, "`a.rs`");
    let plan = format!("## Implementation Plan\n\n{steps}");
    let spec = spec("none", "- `true`");
    for (text, expected) in [
        (plan.clone(), Some(Dialect::Ultraplan)),
        (format!("\u{feff}{plan}"), Some(Dialect::Ultraplan)),
        (plan.replace('\n', "\r\n"), Some(Dialect::Ultraplan)),
        (spec.clone(), Some(Dialect::SessionSpec)),
        (spec.replace('\n', "\r\n"), Some(Dialect::SessionSpec)),
        (
            spec.replace("## Steps", "## Implementation Plan"),
            Some(Dialect::SessionSpec),
        ),
        (spec.replace("## Exit Condition", "## End"), None),
        (spec.replace("Entry condition", "Begins"), None),
        (format!("{plan}## Scope Fence\n"), None),
        (steps.clone(), None),
        (
            format!(
                "## Implementation Plan\n\n{}",
                steps.replace("### Step 1:", "### Step 1 -")
            ),
            None,
        ),
        (format!("```\n## Implementation Plan\n```\n{steps}"), None),
    ] {
        let read = read(&text);
        let found = read.can_run().then_some(read.dialect);
        assert_eq!(found, expected, "{text}");
        if expected.is_none() {
            assert_eq!(codes(&read), [(Code::UnrecognizedFormat, None)], "{text}");
            let said = "unrecognized file format. Expected an ultraplan or session spec.";
            assert_eq!(read.diagnostics[0].text, said);
        }
    }
}

#[test]
fn line_ends_change_nothing_but_the_bytes() {
    let text = spec("none", "- `make check` → expected: `ok`");
    let (plain, ended) = (read(&text), read(&text.replace('\n', "\r\n")));
    for (one, other) in plain.tasks.iter().zip(&ended.tasks) {
        assert_eq!(
            (&one.files, &one.checks, &one.commit, one.lines),
            (&other.files, &other.checks, &other.commit, other.lines)
        );
    }
    assert_eq!(
        (plain.groups, plain.final_checks),
        (ended.groups, ended.final_checks)
    );
}

#[test]
fn what_is_missing_from_a_task_is_reported() {
    let plan = read(
        "## Implementation Plan\n\n### Step 1: A\n\n### Step 2: B\n\n- **Verify:** none\n- **On failure:**\n",
    );
    let expected = [
        (Code::MissingVerify, Some("1")),
        (Code::MissingOnFailure, Some("1")),
        (Code::MissingVerify, Some("2")),
        (Code::MissingOnFailure, Some("2")),
    ];
    let mut found = codes(&plan);
    found.sort_by_key(|(code, task)| (*task, *code));
    assert_eq!(found, expected);
    assert_eq!(
        plan_summary::summary_lines(&plan).last().unwrap(),
        "Warnings: Step 1: missing On failure, defaulting to escalate; Step 1: missing Verify; \
         Step 2: missing On failure, defaulting to escalate; Step 2: missing Verify"
    );
}

#[test]
fn a_fence_that_is_not_closed_is_an_error() {
    let text = format!(
        "## Implementation Plan\n\n{}```\n{}",
        step(1, "`a.rs`"),
        step(2, "`b.rs`")
    );
    let plan = read(&text);
    assert_eq!(codes(&plan), [(Code::UnclosedFence, None)]);
    assert_eq!(plan.tasks.len(), 1);
}
