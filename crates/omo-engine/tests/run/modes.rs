//! The arrangement of a plan's tasks by each mode, whatever its dialect.

use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::{ModeOptions, arranged, choose};
use omo_git::worktree::is_worker_name;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::{OnFailure, Plan, TaskKind};

fn read(text: &str) -> Plan {
    let plan = dialects::read("plan.md", text.as_bytes(), BatchOptions::default());
    assert!(plan.can_run(), "{:?}", plan.diagnostics);
    plan
}

/// Tasks as `(id, file, dependencies)`.
fn tasks(all: &[(&str, &str, &str)]) -> Plan {
    let task = |(id, file, needs): &(&str, &str, &str)| {
        let needs = if needs.is_empty() {
            String::new()
        } else {
            format!("**Depends on:** {needs}\n\n")
        };
        format!(
            "### Task {id}: Part {id}\n\n**Files:**\n- Create: `{file}`\n\n{needs}**Verify:**\nRun: `test -f {file}`\n\n"
        )
    };
    read(&format!(
        "# A plan\n\n{}## Verification\n\n- **Verdict:** Approved\n",
        all.iter().map(task).collect::<String>()
    ))
}

fn steps(count: u32, sessions: &[(&str, u32)]) -> Plan {
    let step = |number: u32| {
        format!(
            "### Step {number}: Part {number}\n\n- **Files:** `{number}.txt`\n- **Changes:** Do it.\n\
             - **Verify:** `test -f {number}.txt`\n- **On failure:** revert\n- **Checkpoint:** `git commit -m \"{number}\"`\n\n"
        )
    };
    let session = |(place, (steps, wave)): (usize, &(&str, u32))| {
        let touch: Vec<String> = steps
            .split(", ")
            .map(|step| format!("`{step}.txt`"))
            .collect();
        format!(
            "### Session {}: Part\n\n- **Steps:** {steps}\n- **Wave:** {wave}\n- **Depends on:** none\n\
             - **Scope fence:**\n  - Touch: {}\n  - Never touch: `secret.txt`\n\n",
            place + 1,
            touch.join(", ")
        )
    };
    let heading = if sessions.is_empty() {
        ""
    } else {
        "## Execution Strategy\n\n"
    };
    let steps: String = (1..=count).map(step).collect();
    let sessions: String = sessions.iter().enumerate().map(session).collect();
    read(&format!(
        "# A plan\n\n## Implementation Plan\n\n{steps}{heading}{sessions}"
    ))
}

/// Lines such as `wave: task task`, one for each group, in the order of the plan.
fn groups(plan: &Plan) -> Vec<String> {
    plan.groups
        .iter()
        .map(|group| format!("{}: {}", group.wave, group.tasks.join(" ")))
        .collect()
}

fn in_mode(plan: &Plan, mode: ExecutionMode) -> Plan {
    let arranged_once = arranged(plan.clone(), mode, &ModeOptions::default());
    let twice = arranged(
        arranged_once.clone(),
        mode,
        &ModeOptions::from(&arranged_once.policy),
    );
    assert_eq!(twice, arranged_once, "{mode:?} is arranged once");
    arranged_once
}

#[test]
fn tasks_that_follow_each_other_stay_with_one_client_and_all_others_are_parallel() {
    for (name, all, expected) in [
        (
            "a chain",
            &[("1", "a", ""), ("2", "b", "Task 1"), ("3", "c", "Task 2")][..],
            vec!["0: 1 2 3"],
        ),
        (
            "nothing in common",
            &[("1", "a", ""), ("2", "b", ""), ("3", "c", "Task 1")],
            vec!["0: 1 3", "0: 2"],
        ),
        (
            "a fork and where it meets",
            &[
                ("1", "a", ""),
                ("2", "b", "Task 1"),
                ("3", "c", "Task 1"),
                ("4", "d", "Tasks 2, 3"),
            ],
            vec!["0: 1", "1: 2", "1: 3", "2: 4"],
        ),
        (
            "the same file",
            &[("1", "a", ""), ("2", "a", ""), ("3", "b", "")],
            vec!["0: 1", "0: 3", "1: 2"],
        ),
    ] {
        let plan = in_mode(&tasks(all), ExecutionMode::Parallel);
        assert_eq!(groups(&plan), expected, "{name}");
        assert!(
            plan.groups
                .iter()
                .all(|group| group.id.starts_with("worker-")),
            "{name}"
        );
    }
}

#[test]
fn a_worker_is_called_after_its_first_task_where_a_branch_can_be() {
    let names = |ids: [&str; 2]| -> Vec<String> {
        let mut plan = tasks(&[("1", "a", ""), ("2", "b", "")]);
        for (task, id) in plan.tasks.iter_mut().zip(ids) {
            task.id = id.to_owned();
        }
        in_mode(&plan, ExecutionMode::Parallel)
            .groups
            .into_iter()
            .map(|group| group.id)
            .collect()
    };
    assert_eq!(names(["1.1", "02-01.2"]), ["worker-1.1", "worker-02-01.2"]);
    for name in names(["1..1", "a.lock"]) {
        assert!(
            name.starts_with("worker-") && is_worker_name(&name) && name.len() == 23,
            "{name}"
        );
    }
}

#[test]
fn sessions_are_the_workers_of_a_parallel_run_and_dependencies_in_any_other() {
    let plan = steps(4, &[("1, 2", 1), ("3", 1), ("4", 2)]);
    assert_eq!(in_mode(&plan, ExecutionMode::Parallel), plan);
    let waves = in_mode(&plan, ExecutionMode::Waves);
    let task = |id: &str| waves.task(id).unwrap();
    assert_eq!(task("2").deps, ["1"]);
    assert!(task("3").deps.is_empty());
    assert_eq!(task("4").deps, ["2", "3"], "the wave before");
    assert_eq!(task("4").never_touch, ["secret.txt"]);
    // Nothing of one worker can be taken back while others work in the same files.
    assert!(
        waves
            .tasks
            .iter()
            .all(|task| task.on_failure == OnFailure::Hold)
    );
    let verification = waves.verification_task().unwrap();
    assert_eq!(
        (
            verification.id.as_str(),
            verification.kind,
            verification.deps.len()
        ),
        ("verify", TaskKind::Verify, 4)
    );
    let batches = in_mode(&plan, ExecutionMode::Batches);
    assert_eq!(groups(&batches), ["0: 1 2 3 4"]);
    assert!(batches.groups.iter().all(|group| group.hard_stop));
    assert!(
        batches
            .tasks
            .iter()
            .all(|task| task.on_failure == OnFailure::Revert),
        "one after the other"
    );
}

#[test]
fn batches_end_where_a_person_is_asked_and_a_plan_that_has_some_keeps_them() {
    let by_two = ModeOptions {
        batch_size: 2,
        ..ModeOptions::default()
    };
    let batches = arranged(steps(5, &[]), ExecutionMode::Batches, &by_two);
    assert_eq!(groups(&batches), ["0: 1 2", "1: 3 4", "2: 5"]);
    let stops: Vec<bool> = batches.groups.iter().map(|group| group.hard_stop).collect();
    assert_eq!(stops, [true, false, false]);
    let own = tasks(&[("1", "a", ""), ("2", "b", "Task 1")]);
    assert_eq!(in_mode(&own, ExecutionMode::Batches), own);
}

#[test]
fn a_verification_can_be_left_out_and_takes_no_name_of_a_task() {
    let without = ModeOptions {
        skips_verification: true,
        ..ModeOptions::default()
    };
    let plan = tasks(&[("1", "a", ""), ("2", "b", "Task 1")]);
    assert!(
        arranged(plan.clone(), ExecutionMode::Waves, &without)
            .verification_task()
            .is_none()
    );
    let mut named = plan;
    named.tasks[0].id = "verify".to_owned();
    assert_eq!(
        in_mode(&named, ExecutionMode::Waves)
            .verification_task()
            .unwrap()
            .id,
        "verify-1"
    );
}

#[test]
fn a_plan_asks_for_its_mode() {
    let stop = "### Task 1: One\n\n<!-- checkpoint -->\n\n**Verify:**\nRun: `true`\n";
    for (plan, mode) in [
        (steps(2, &[("1", 1), ("2", 1)]), ExecutionMode::Parallel),
        (steps(2, &[]), ExecutionMode::Batches),
        (
            tasks(&[("1", "a", ""), ("2", "b", "Task 1")]),
            ExecutionMode::Waves,
        ),
        (
            tasks(&[("1", "a", ""), ("2", "b", "")]),
            ExecutionMode::Batches,
        ),
        (read(stop), ExecutionMode::Batches),
    ] {
        assert_eq!(choose(&plan).mode, mode, "{:?}", choose(&plan));
    }
}
