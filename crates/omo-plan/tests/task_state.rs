//! The state of tasks in their file: written, taken back, and no part of what a plan says.

use super::more_formats::PLANS;
use omo_plan::dialects::{self, BatchOptions, PlanChange};
use omo_plan::model::{Dialect, Plan, PlannedState};

const KIRO: &str = "\
# Implementation Plan

- [ ] 1. Build the board
  - [ ] 1.1 Draw the squares
    - [ ] a step of it
    - _Requirements: 1.1_
  - [ ] 1.2 Place the pieces
    - _Requirements: 1.2_
- [ ] 2. Move them
  - _Requirements: 2.1_
";

const SUPERPOWERS: &str = "\
# Limits Implementation Plan

> **For agentic workers:** use superpowers:executing-plans to do this task by task.

**Goal:** Refuse too many requests.

### Task 1: Count them

**Files:**
- Create: `src/limit.rs`

- [ ] **Step 1: Write the test**
- [ ] **Step 2: Run `cargo test`**

### Task 2: Refuse them

**Files:**
- Modify: `src/server.rs`

- [ ] **Step 1: Answer 429**
";

const TASK_MASTER: &str = r#"{
  "master": {
    "tasks": [
      { "id": 1, "title": "Heat", "status": "pending", "subtasks": [{ "status": "in-progress", "id": 1, "title": "Light" }] },
      { "id": 2, "title": "Bake" }
    ]
  }
}
"#;

fn read(path: &str, text: &str) -> Plan {
    dialects::read(path, text.as_bytes(), BatchOptions::default())
}

fn digests(plan: &Plan) -> Vec<&str> {
    plan.tasks
        .iter()
        .map(|task| task.body_sha256.as_str())
        .collect()
}

#[test]
fn what_is_ticked_is_no_part_of_what_a_plan_says() {
    let older = [
        ("tasks.md", KIRO, Dialect::Kiro),
        ("plan.md", SUPERPOWERS, Dialect::Superpowers),
        ("tasks.json", TASK_MASTER, Dialect::TaskMaster),
    ];
    for (path, text, dialect) in older.into_iter().chain(PLANS) {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let before = read(path, &text);
            assert_eq!(before.dialect, dialect, "{:?}", before.diagnostics);
            assert!(before.source.sha256_without_state.is_some());
            for task in before
                .tasks
                .iter()
                .filter(|task| task.state == PlannedState::Open)
            {
                let write = |text: &str, change| dialect.rules().write_back(text, &change).unwrap();
                let ticked = write(&text, PlanChange::Done { task: &task.id });
                let after = read(path, &ticked);
                assert_eq!(
                    after.task(&task.id).unwrap().state,
                    PlannedState::Done,
                    "{ticked}"
                );
                assert_ne!(after.source.sha256, before.source.sha256);
                assert_eq!(
                    after.source.sha256_without_state, before.source.sha256_without_state,
                    "{ticked}"
                );
                assert_eq!(digests(&after), digests(&before));
                let opened = read(path, &write(&ticked, PlanChange::Open { task: &task.id }));
                assert_eq!(opened.task(&task.id).unwrap().state, PlannedState::Open);
                assert_eq!(
                    opened.source.sha256_without_state,
                    before.source.sha256_without_state
                );
            }
            let edited = read(
                path,
                &text
                    .replacen("the", "another", 1)
                    .replacen("Heat", "Warm", 1),
            );
            assert_ne!(
                edited.source.sha256_without_state,
                before.source.sha256_without_state
            );
        }
    }
}

#[test]
fn a_tick_that_is_taken_back_leaves_the_file_as_it_was() {
    for (text, dialect) in [(KIRO, Dialect::Kiro), (SUPERPOWERS, Dialect::Superpowers)] {
        let text = text.replace('\n', "\r\n");
        for id in ["1.1", "1.2", "1", "2"] {
            let Some(ticked) = dialect
                .rules()
                .write_back(&text, &PlanChange::Done { task: id })
            else {
                continue;
            };
            assert_ne!(ticked, text);
            assert_eq!(
                dialect
                    .rules()
                    .write_back(&ticked, &PlanChange::Open { task: id }),
                Some(text.clone())
            );
        }
    }
    let done = |text: &str, task| {
        Dialect::Kiro
            .rules()
            .write_back(text, &PlanChange::Done { task })
            .unwrap()
    };
    let all = done(&done(KIRO, "1.1"), "1.2");
    assert!(
        all.contains("- [x] 1. Build"),
        "a group is done with its last item"
    );
    let open = Dialect::Kiro
        .rules()
        .write_back(&all, &PlanChange::Open { task: "1.2" });
    assert_eq!(
        open,
        Some(done(KIRO, "1.1")),
        "and open again with one of them"
    );
    assert_eq!(
        Dialect::Kiro
            .rules()
            .write_back(KIRO, &PlanChange::Open { task: "9" }),
        None
    );
}

#[test]
fn a_dialect_without_state_writes_none() {
    for dialect in [
        Dialect::DevWorkflow,
        Dialect::Ultraplan,
        Dialect::SessionSpec,
        Dialect::Gsd,
    ] {
        assert_eq!(dialect.rules().without_state("- [x] a"), None);
        assert_eq!(
            dialect
                .rules()
                .write_back("- [x] a", &PlanChange::Open { task: "a" }),
            None
        );
    }
}
