//! Forms of `Depends on:` in plans.

use crate::batches::compute_batches;

/// Dependencies of the last task of a plan with the tasks 1 to 4, `6-tests` and `6-impl`, and the codes of the
/// findings.
fn depends(value: &str) -> (Vec<String>, Vec<&'static str>) {
    let before: String = ["1", "2", "3", "4", "6-tests", "6-impl"]
        .map(|id| format!("### Task {id}: x\n\n"))
        .concat();
    let text = format!("{before}### Task 9: y\n\n{value}\n\n**Verify:**\nRun: `true`\n");
    let found = compute_batches(text.as_bytes(), 3, 5);
    let edges = found
        .tasks
        .last()
        .map(|task| task.depends_on.iter().map(|id| (*id).to_owned()).collect())
        .unwrap_or_default();
    (
        edges,
        found
            .diagnostics
            .iter()
            .map(|found| found.code.word())
            .collect(),
    )
}

#[test]
fn every_form_is_read() {
    for (value, expected) in [
        ("**Depends on:** Task 1", "1"),
        ("**Depends on**: Task 1", "1"),
        ("**Depends on** : Task 1", "1"),
        ("**depends On:** tasks 1", "1"),
        ("Depends on: Task 1", "1"),
        ("- **Depends on:** Task 1", "1"),
        ("  * Depends on: Task 1", "1"),
        ("> **Depends on:** Task 1", "1"),
        ("**Size:** S **Depends on:** Task 1", "1"),
        ("**Depends on:** Task 1, Task 2 and Task 3", "1 2 3"),
        ("**Depends on:** Task 1, 2, and 3", "1 2 3"),
        ("**Depends on:** Task 2 & 1", "2 1"),
        ("**Depends on:** Task 1/2; 3 + 4", "1 2 3 4"),
        ("**Depends on:** Tasks 1-3", "1 2 3"),
        ("**Depends on:** Tasks 1–3, 4", "1 2 3 4"),
        ("**Depends on:** Task 1 - Task 3", "1 2 3"),
        ("**Depends on:** Task 3 to 1", "1 2 3"),
        ("**Depends on:** Task 1 through Task 3", "1 2 3"),
        ("**Depends on:** Tasks 1..3", "1 2 3"),
        ("**Depends on:** Task 6", "6-impl"),
        ("**Depends on:** Task 6-tests", "6-tests"),
        ("**Depends on:** Task 06-impl.", "6-impl"),
        ("**Depends on:** the schema of Task 2", "2"),
        ("**Depends on:** Task 1 (2 tables), Task 3 (API)", "1 3"),
        ("**Depends on:** Tasks 1 (schema), 2 (API) and 3", "1 2 3"),
        ("**Depends on:** Task 1 (see Task 2)", "1"),
        (
            "**Depends on:** Task 1 (not Task 2), Task 3 (the schema of task 4)",
            "1 3",
        ),
        ("**Depends on:** Task 1, but not Task 2; Task 3", "1 3"),
        ("**Depends on:** the API (Task 2)", "2"),
        (
            "**Depends on:** All previous tasks",
            "1 2 3 4 6-tests 6-impl",
        ),
        (
            "**Depends on:** all prior tasks (1 to 4)",
            "1 2 3 4 6-tests 6-impl",
        ),
        ("**Depends on:** the previous task", "6-impl"),
        ("**Depends on:** 1", "1"),
        ("**Depends on:** #1, #2 and 3", "1 2 3"),
        ("**Depends on:** 1-3 (API)", "1 2 3"),
        ("**Dependencies:** Task 1", "1"),
        ("**Dependencies:** 1, 2", "1 2"),
        ("- Dependencies: Task 1\n- Depends on: Task 2", "1 2"),
        ("**Depends on：** 任务 1、2", "1 2"),
        ("**Depends on:** [Task 1](#task-1)", "1"),
        ("**Depends on:** `Task 1`, **Task 2**", "1 2"),
        ("**Depends on:** Task #1", "1"),
        ("**Depends on:** Task 1, Task 1", "1"),
        ("**Depends on:** None beyond Task 1", "1"),
        ("**Depends on:**\n- Task 1\n- Task 2", "1 2"),
        ("**Depends on:**\n\n* Task 1\n* Task 2 (x)", "1 2"),
        ("**Depends on:**\n1. Task 3\n2. Task 2", "3 2"),
        ("**Depends on:** these:\n- Task 1\n- Task 2", "1 2"),
        ("**Depends on:**\nTask 1, Task 2", "1 2"),
        ("**Depends on:** Task 1,\nTask 2", "1 2"),
        ("**Depends on:** Task 1\nTask 2 is not meant", "1"),
        ("**Depends on:** Task 1\n\n**Depends on:** Task 2", "1 2"),
    ] {
        let (found, codes) = depends(value);
        assert_eq!(
            (found.join(" ").as_str(), codes),
            (expected, vec![]),
            "{value}"
        );
    }
}

#[test]
fn nothing_is_nothing() {
    for value in [
        "**Depends on:** None",
        "**Depends on:** none (first task)",
        "**Depends on:** None (can go along with Task 2)",
        "**Depends on:** N/A",
        "**Depends on:** —",
        "**Depends on:** -",
        "**Depends on:** `none`",
        "**Depends on:**",
        "**Depends on:**\n- none",
        "**Depends on:** No other task",
        "**Depends on:** *(none)*",
        "**Depends on:** [DP-001] is decided",
        "**Dependencies:** `left-pad`, 3 packages",
        "It depends on: Task 1",
        "`**Depends on:** Task 1`",
        "```\n**Depends on:** Task 1\n```",
        "<!--\n**Depends on:** Task 1\n-->",
    ] {
        assert_eq!(depends(value), (vec![], vec![]), "{value}");
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    for (value, expected, code) in [
        ("**Depends on:** 2 weeks", "", "unparsed_dependency"),
        ("**Depends on:** Step 1", "", "unparsed_dependency"),
        ("**Depends on:** Task 1.2", "", "unknown_dependency"),
        ("**Depends on:** Task 1a", "", "unknown_dependency"),
        ("**Depends on:** Task ١", "", "unparsed_dependency"),
        ("**Depends on:** the subtask 1", "", "unparsed_dependency"),
        ("**Depends on:** Task 7", "", "unknown_dependency"),
        ("**Depends on:** Task 4-tests", "", "unknown_dependency"),
        ("**Depends on:** Tasks 3-5", "3 4", "unknown_dependency"),
        (
            "**Depends on:** Tasks 5 - 8",
            "6-impl",
            "unknown_dependency",
        ),
        (
            "**Depends on:** Tasks 10 - 99999999999999999999999",
            "",
            "unknown_dependency",
        ),
        ("**Depends on:** Task 9, Task 1", "1", "self_dependency"),
    ] {
        let (found, codes) = depends(value);
        assert_eq!(
            (found.join(" ").as_str(), codes),
            (expected, vec![code]),
            "{value}"
        );
    }
}
