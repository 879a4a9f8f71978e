//! Properties of each reader of plans, and of written marks, with files that are put together from the parts of plans.

use omo_fuzz::{plan_readers, plan_write_back};
use proptest::prelude::*;

/// Parts of plans: most go together with others of their format.
const PARTS: [&str; 59] = [
    "# P\n\n",
    "> superpowers\n\n",
    "### Task 1: A\n\n",
    "### Task 2: B\n\n",
    "## Task 3: C\n\n",
    "### Task 1-impl: D\n",
    "**Files:**\n- Create: `src/a.rs`\n- Modify: /home/me/b.rs:1-2\n\n",
    "**Depends on:** Task 1, 2\n",
    "**Verify:** `make a`\n",
    "- [ ] **Step 1: Test**\n\nRun: `make a`\nExpected: FAIL\n\n",
    "- [x] Step 2: b\n",
    "**Task Contract:** x\n",
    "- [ ] T001 Create src/a.ts\n",
    "- [ ] T002 [P] b depends on T001\n",
    "- [x] T003 [P] [US1] run `npm test`\n",
    "- T001 before T002\n",
    "## 1. Part\n\n",
    "- [ ] 1.1 a in `src/a.ts`\n",
    "- [ ] 1.2 b\n",
    "- [ ] 1. A\n",
    "  - [ ] 1.1 B\n",
    "    - _Requirements: 1.1_\n",
    "    - text after 1.2\n",
    "- [ ]* 2. D\n",
    "  - [ ] 2.1 E\n",
    "- [ ] item\n",
    "```json\n{\"waves\": [[\"1.1\", \"2.1\"], [\"1.2\"]]}\n```\n",
    "```\n",
    "<!--\n",
    "-->\n",
    "\r\n",
    "\r",
    "\n",
    "\u{feff}",
    "---\nphase: 1\nplan: 2\n---\n",
    "<tasks>\n",
    "<task type=\"auto\">\n<name>Task 1: A</name>\n",
    "<verify>npm test passes\n",
    "<automated>make a</automated>",
    "</verify>\n<done>- x</done>\n</task>\n",
    "<task type=\"checkpoint\">\n",
    "</tasks>\n",
    "## Implementation Plan\n\n",
    "### Step 1: A\n\n- **Verify**: `make a`\n\n",
    "### Step 2: B\n\n",
    "## TODOs\n\n",
    "- [ ] F1. audit\n  **Blocked By**: 1, 2\n  **References**: `src/a.rs`\n",
    "- [ ] Task: a abc1234\n    - [ ] Run `make a`\n",
    "- [ ] Task: User Manual Verification\n",
    "## Acceptance Criteria\n\n1. a\n",
    "## Tasks / Subtasks\n\n",
    "- [ ] Task 1: a (AC: 1, 2)\n  - [ ] 1.1 b\n",
    "#### Task Group 1: a\n",
    "- [ ] 1.0 a\n",
    "---\nid: task-1\ntitle: >-\n  a\nstatus: 'To Do'\ndependencies: [task-2]\n---\n",
    "<!-- AC:BEGIN -->\n- [ ] #1 `make a` passes\n<!-- AC:END -->\n",
    "## Execution Strategy\n\n",
    "- Session 1: Steps 1, 2\n",
    "| Session | Steps |\n|--|--|\n| 1 | 1-2 |\n",
];

/// Parts of the objects of a `tasks.json`.
fn task_objects() -> impl Strategy<Value = String> {
    let status = prop::sample::select(vec!["pending", "done", "deferred", "cancelled", "review"]);
    let task = (1..5_u8, status, prop::collection::vec(1..5_u8, 0..3), any::<bool>()).prop_map(
        |(id, status, needs, has_parts)| {
            let parts = if has_parts {
                ", \"subtasks\": [{\"id\": 1, \"title\": \"p\"}, {\"id\": 2, \"title\": \"q\", \"dependencies\": [1]}]"
            } else {
                ""
            };
            format!(
                "{{\"id\": {id}, \"title\": \"a\", \"status\": \"{status}\",\n \"dependencies\": {needs:?}{parts}}}"
            )
        },
    );
    let story =
        (1..5_u8, 1..5_u8, prop::option::of(any::<bool>())).prop_map(|(id, priority, passes)| {
            let passes = passes
                .map(|passes| format!(", \"passes\": {passes}"))
                .unwrap_or_default();
            format!("{{\"id\": \"US-{id}\", \"title\": \"a\", \"priority\": {priority}{passes}}}")
        });
    let list = |key: &'static str| {
        move |tasks: Vec<String>| format!("{{\"{key}\": [{}]}}", tasks.join(",\n"))
    };
    prop_oneof![
        prop::collection::vec(task, 1..5).prop_map(list("tasks")),
        prop::collection::vec(story, 1..5).prop_map(list("userStories")),
    ]
}

fn files() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..24)
        .prop_map(|parts| parts.concat());
    let text = prop_oneof![6 => parts, 2 => task_objects(), 1 => ".{0,200}"];
    (any::<u8>(), text).prop_map(|(place, text)| [&[place], text.as_bytes()].concat())
}

proptest! {
    #[test]
    fn every_reader_keeps_its_promises(data in files()) {
        plan_readers::check(&data);
    }

    #[test]
    fn what_is_written_back_changes_one_state(data in files()) {
        plan_write_back::check(&data);
    }
}
