//! Plans of oh-my-opencode, Conductor, BMAD, Agent OS, Backlog.md and ralph: reading, writing back, recognition, and
//! reports.

use omo_plan::diagnostic::Code;
use omo_plan::dialects::checklist::active_plan_name;
use omo_plan::dialects::{self, BatchOptions, PlanChange, PlanReading};
use omo_plan::model::{Dialect, Plan, PlannedState, Task};

pub(crate) const SISYPHUS: &str = "\
# Bread

### Definition of Done
- [ ] all of the bread is baked

## TODOs

- [x] 1. Heat the oven

  **What to do**: Turn it on in `src/oven.rs`.
  **Must NOT do**: Do not change `src/door.rs`.

  **Parallelization**: Can Parallel: NO | Wave 1 | Blocked By: none

- [ ] 2. Mix the dough

  **What to do**:
  - Create `src/dough.rs`

  **References**:
  - `src/flour.rs` - what it is made of

  **Parallelization**:
  - **Blocked By**: None (can start now)

  **Acceptance Criteria**:
  - [ ] `cargo test dough` passes

- [ ] 3. Bake it
  - **Blocked By**: Task 1, Task 2

## Final Verification Wave

- [ ] F1. **Plan audit** — `oracle`
  Look at each task.
";

pub(crate) const CONDUCTOR: &str = "\
# Plan: Bread

## Phase 1: Dough [checkpoint: abc1234]
- [x] Task: Write the recipe [de7fc5c]
    - [x] Ask the baker
- [~] **Task:** Mix the dough
    - [x] Write tests in `tests/dough.rs`
    - [ ] Run `cargo test dough`
- [ ] Task: Conductor - User Manual Verification 'Dough' (Protocol in workflow.md)

## Phase 2: Oven
- [ ] Task 2.1: Bake it a103c11
";

pub(crate) const BMAD: &str = "\
# Story 1.2: Bread

Status: ready-for-dev

## Acceptance Criteria

1. The dough is mixed
2. **Given** an oven **Then** it bakes

## Tasks / Subtasks

- [x] Task 1: Mix the dough (AC: 1)
  - [x] 1.1 Write `src/dough.rs`
- [ ] Bake it (AC: #1, #2)
  - [ ] Run `cargo test oven`

  - [ ] Open the door

### Review Findings

- [ ] **T3. Clean up**

## Dev Notes

- [ ] no task
";

pub(crate) const AGENT_OS: &str = "\
# Task Breakdown: Bread

#### Task Group 1: Dough
**Dependencies:** None

- [ ] 1.0 Complete the dough
  - [x] 1.1 Write `src/dough.rs`
  - [ ] 1.2 Have its tests pass
    - Run `cargo test dough`

**Acceptance Criteria:**
- it is mixed

#### Task Group 2: Oven
**Dependencies:** Task Group 1

- [ ] 2.0 Build the oven
";

pub(crate) const BACKLOG: &str = "\
---
id: task-3.6
title: 'Bake the bread: it''s time'
status: To Do
dependencies:
  - task-3.5
priority: high
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Change the oven in `src/oven.rs`.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 It is warm
- [ ] #2 `cargo test oven` passes
<!-- AC:END -->

## Implementation Notes

Changed `src/door.rs`.
";

pub(crate) const RALPH: &str = r#"{
  "project": "Bread",
  "userStories": [
    { "id": "US-001", "title": "Heat", "acceptanceCriteria": ["`cargo test oven` passes", "It is warm"], "priority": 1, "passes": true },
    { "id": "US-003", "title": "Bake", "acceptanceCriteria": [], "priority": 3, "passes": false },
    { "id": "US-002", "title": "Mix", "description": "the dough", "priority": 2, "passes": false, "notes": "by hand" }
  ]
}
"#;

pub(crate) const PLANS: [(&str, &str, Dialect); 6] = [
    (".sisyphus/plans/bread.md", SISYPHUS, Dialect::Sisyphus),
    (
        "conductor/tracks/bread_1/plan.md",
        CONDUCTOR,
        Dialect::Conductor,
    ),
    ("docs/stories/1.2.story.md", BMAD, Dialect::Bmad),
    (
        "agent-os/specs/2026-01-01-bread/tasks.md",
        AGENT_OS,
        Dialect::AgentOs,
    ),
    (
        "backlog/tasks/task-3.6 - Bake.md",
        BACKLOG,
        Dialect::Backlog,
    ),
    ("scripts/ralph/prd.json", RALPH, Dialect::Ralph),
];

fn read(path: &str, text: &str) -> Plan {
    dialects::read(path, text.as_bytes(), BatchOptions::default())
}

/// A task on one line: its id, title, state, needs, files and checks, and whether a stop is behind it.
fn row(task: &Task) -> String {
    let state = match task.state {
        PlannedState::Open => "open",
        PlannedState::Done => "done",
        PlannedState::LeftOut => "left out",
    };
    let files: Vec<&str> = task.files.iter().map(|file| file.path.as_str()).collect();
    let checks: Vec<&str> = task
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    let stop = if task.stop_after { "|stop" } else { "" };
    let [deps, files, checks] = [task.deps.join(","), files.join(","), checks.join(";")];
    format!(
        "{}|{}|{state}|{deps}|{files}|{checks}{stop}",
        task.id, task.title
    )
}

#[test]
fn each_format_is_read() {
    let expected: [&[&str]; 6] = [
        &[
            "1|Heat the oven|done||src/oven.rs|",
            "2|Mix the dough|open||src/dough.rs|cargo test dough",
            "3|Bake it|open|1,2||",
            "F1|**Plan audit** — `oracle`|open|1,2,3||",
        ],
        &[
            "1|Write the recipe|done|||",
            "2|Mix the dough|open|1|tests/dough.rs|cargo test dough|stop",
            "2.1|Bake it|open|2||",
        ],
        &[
            "1|Mix the dough (AC: 1)|done||src/dough.rs|",
            "2|Bake it (AC: #1, #2)|open|1||cargo test oven",
            "T3|Clean up|open|2||",
        ],
        &[
            "1.1|Write `src/dough.rs`|done||src/dough.rs|",
            "1.2|Have its tests pass|open|1.1||cargo test dough",
            "2.0|Build the oven|open|1.2||",
        ],
        &["task-3.6|Bake the bread: it's time|open||src/oven.rs|cargo test oven"],
        &[
            "US-001|Heat|done|||cargo test oven",
            "US-003|Bake|open|US-002||",
            "US-002|Mix|open|US-001||",
        ],
    ];
    for ((path, text, dialect), rows) in PLANS.into_iter().zip(expected) {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let plan = read(path, &text);
            assert_eq!(plan.dialect, dialect, "{path}");
            assert!(plan.can_run(), "{path}: {:?}", plan.diagnostics);
            assert_eq!(
                plan.tasks.iter().map(row).collect::<Vec<_>>(),
                rows,
                "{path}"
            );
        }
    }
}

#[test]
fn what_a_task_is_judged_by_is_read() {
    let criteria = |place: usize, id: &str| {
        let (path, text, _) = PLANS[place];
        read(path, text).task(id).unwrap().criteria.join("|")
    };
    assert_eq!(
        criteria(2, "2"),
        "1. The dough is mixed|2. **Given** an oven **Then** it bakes"
    );
    assert_eq!(
        criteria(4, "task-3.6"),
        "#1 It is warm|#2 `cargo test oven` passes"
    );
    assert_eq!(criteria(5, "US-001"), "`cargo test oven` passes|It is warm");
    assert!(
        read(PLANS[5].0, RALPH)
            .task("US-002")
            .unwrap()
            .body
            .ends_with("the dough\n\nby hand")
    );
}

#[test]
fn the_state_of_a_task_and_nothing_else_is_written_back() {
    for (place, task, changes) in [
        (0, "2", &[("- [ ] 2. Mix", "- [x] 2. Mix")][..]),
        (0, "F1", &[("- [ ] F1.", "- [x] F1.")]),
        (
            1,
            "2",
            &[
                ("- [~] **Task:** Mix", "- [x] **Task:** Mix"),
                ("- [ ] Run", "- [x] Run"),
            ],
        ),
        (1, "2.1", &[("- [ ] Task 2.1", "- [x] Task 2.1")]),
        (
            2,
            "2",
            &[
                ("- [ ] Bake", "- [x] Bake"),
                ("- [ ] Run", "- [x] Run"),
                ("- [ ] Open", "- [x] Open"),
            ],
        ),
        (
            3,
            "1.2",
            &[("- [ ] 1.2", "- [x] 1.2"), ("- [ ] 1.0", "- [x] 1.0")],
        ),
        (4, "task-3.6", &[("status: To Do", "status: Done")]),
        (
            5,
            "US-003",
            &[(
                "\"priority\": 3, \"passes\": false",
                "\"priority\": 3, \"passes\": true",
            )],
        ),
    ] {
        let (path, text, dialect) = PLANS[place];
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let written = changes.iter().fold(text.clone(), |text, (before, after)| {
                assert_eq!(text.matches(before).count(), 1, "{before}");
                text.replace(before, after)
            });
            let done = dialect
                .rules()
                .write_back(&text, &PlanChange::Done { task })
                .unwrap();
            assert_eq!(done, written, "{path}");
            assert_eq!(
                read(path, &done).task(task).unwrap().state,
                PlannedState::Done
            );
            assert_eq!(
                dialect
                    .rules()
                    .write_back(&done, &PlanChange::Done { task }),
                Some(done.clone())
            );
            let open = dialect
                .rules()
                .write_back(&done, &PlanChange::Open { task })
                .unwrap();
            assert_eq!(
                read(path, &open).task(task).unwrap().state,
                PlannedState::Open,
                "{open}"
            );
            assert_eq!(
                dialect.rules().without_state(&open),
                dialect.rules().without_state(&text)
            );
        }
        assert_eq!(
            dialect
                .rules()
                .write_back(text, &PlanChange::Done { task: "none" }),
            None
        );
    }
    for (before, after) in [
        ("status: \"To Do\" # x", "status: \"Done\" # x"),
        ("status:", "status: Done"),
    ] {
        let text = BACKLOG.replace("status: To Do", before);
        let done = Dialect::Backlog
            .rules()
            .write_back(&text, &PlanChange::Done { task: "task-3.6" });
        assert_eq!(done, Some(BACKLOG.replace("status: To Do", after)));
    }
    let story =
        r#"{"stories": [{"id": "A", "title": "a", "passes": false}, {"id": "B", "title": "b"}]}"#;
    let done = Dialect::Ralph
        .rules()
        .write_back(story, &PlanChange::Done { task: "B" });
    assert_eq!(
        done,
        Some(story.replace(r#"{"id": "B""#, r#"{"passes": true,"id": "B""#))
    );
}

#[test]
fn a_file_elsewhere_is_known_by_its_content() {
    for (_, text, dialect) in PLANS {
        let plan = read("notes.md", text);
        assert_eq!(
            (plan.dialect, plan.tasks.is_empty()),
            (dialect, false),
            "{:?}",
            plan.diagnostics
        );
    }
    // A file of another format at its place stays one of that format.
    for (path, text, dialect) in [
        (".kiro/specs/a/tasks.md", AGENT_OS, Dialect::Kiro),
        ("openspec/changes/a/tasks.md", CONDUCTOR, Dialect::OpenSpec),
        (
            "specs/a/tasks.md",
            "## TODOs\n- [ ] T001 a\n",
            Dialect::SpecKit,
        ),
        (
            "tasks/tasks.json",
            r#"{"tasks": [{"id": 1, "title": "a", "passes": false}]}"#,
            Dialect::TaskMaster,
        ),
        (
            ".sisyphus/plans/a.md",
            "# A\n\n## Aufgaben\n\n- [ ] 1. a\n",
            Dialect::Sisyphus,
        ),
        (
            "docs/stories/a.md",
            "# A\n\n### Task 1: a\n\n**Verify:** `true`\n",
            Dialect::DevWorkflow,
        ),
        (
            "conductor/tracks/a/plan.md",
            "### Task 1: a\n\n**Verify:** `true`\n- [ ] b\n",
            Dialect::DevWorkflow,
        ),
        (
            "conductor/tracks/a/plan.md",
            "- [ ] a\n- [x] b\n",
            Dialect::Conductor,
        ),
    ] {
        let plan = read(path, text);
        assert_eq!(
            (plan.dialect, plan.tasks.is_empty()),
            (dialect, false),
            "{path}: {:?}",
            plan.diagnostics
        );
    }
}

#[test]
fn what_is_not_read_is_told_at_its_line() {
    let found = |path: &str, text: &str| {
        let plan = read(path, text);
        plan.diagnostics
            .iter()
            .map(|found| (found.code, found.line))
            .collect::<Vec<_>>()
    };
    let read_as = |place: usize| found(PLANS[place].0, PLANS[place].1);
    assert_eq!(
        read_as(0),
        [(Code::ItemNotRead, 4)],
        "a box without a number"
    );
    assert_eq!(read_as(1), [], "what a user verifies is a stop");
    assert_eq!(
        read_as(2),
        [(Code::ItemNotRead, 25)],
        "a box outside of the tasks"
    );
    assert_eq!(read_as(4), [(Code::RequiredPlanMissing, 1)]);
    assert_eq!(
        found(".sisyphus/plans/a.md", "# A\n\n## TODOs\n\n- [ ] a\n"),
        [(Code::NoTasks, 5)]
    );
    let story = "# Story\n\n## Tasks / Subtasks\n\n1. a\n\n## Notes\n- [ ] b\n";
    assert_eq!(found("docs/stories/a.md", story), [(Code::NoTasks, 8)]);
    assert_eq!(
        found("backlog/tasks/a.md", "---\ntitle: a\n---\n"),
        [(Code::UnrecognizedFormat, 1)]
    );
    for (text, code, line) in [
        ("{\"userStories\": []}", Code::NoTasks, 1),
        (
            "{\"userStories\": [\n{\"id\": \"A\"}]}",
            Code::UnrecognizedFormat,
            2,
        ),
        ("{\"product\": {}}", Code::UnrecognizedFormat, 1),
    ] {
        assert_eq!(found("prd.json", text), [(code, line)], "{text}");
    }
}

#[test]
fn a_dialect_reads_any_file_that_is_named_for_it() {
    for (_, _, dialect) in PLANS {
        for (_, text, _) in PLANS {
            let named = PlanReading {
                dialect: Some(dialect),
                ..PlanReading::default()
            };
            let plan = dialects::read("a.md", text.as_bytes(), named);
            assert_eq!(plan.dialect, dialect);
            assert!(
                !plan.tasks.is_empty() || !plan.can_run(),
                "{dialect:?}: {text}"
            );
        }
    }
}

#[test]
fn the_plan_that_is_worked_on_is_known_by_its_name() {
    for (text, expected) in [
        (
            r#"{"active_plan": "C:\\r\\.sisyphus\\plans\\a.md", "plan_name": "a"}"#,
            Some("a.md"),
        ),
        (
            r#"{"active_plan": "/r/.sisyphus/plans/b.md"}"#,
            Some("b.md"),
        ),
        (r#"{"active_plan": ".."}"#, None),
        ("{}", None),
        ("no JSON", None),
    ] {
        assert_eq!(
            active_plan_name(text.as_bytes()).as_deref(),
            expected,
            "{text}"
        );
    }
}
