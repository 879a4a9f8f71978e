//! Plans of superpowers, from their text to the model and back.

#![expect(
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

use omo_core::check::task_check::ExpectedExit;
use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::model::{Dialect, FileAction, Plan, PlannedState};

const PLAN: &str = r#"# Rate Limit Implementation Plan

> **For agentic workers:** REQUIRED SUB-SKILL: Use superpowers:executing-plans.

**Goal:** Refuse the eleventh request of a minute.

---

## Phase A

### Task 1: Count requests

**Files:**
- Create: `src/limit.rs`
- Modify: `src/server.rs:40-55` (call it)
- Test: `tests/limit.rs`

Use the clock of the server.

- [x] **Step 1: Write the failing test**

```rust
assert_eq!(count("a"), 1);
```

- [ ] **Step 2: Run test to verify it fails**

Run: `cargo test --test limit counts`
Expected: FAIL with "cannot find function `count`"

- [ ] **Step 3: Write minimal implementation**

Add it to `src/limit.rs`.

- [ ] **Step 4: Run test to verify it passes**

Run: `cargo test --test limit`
Expected: PASS

- [ ] **Step 5: Commit**

```bash
git add src/limit.rs tests/limit.rs
git commit -m "count requests"
```

### Task 2 — Answer 429

**Files:** Modify `src/server.rs`; Test `tests/server.rs`

- [ ] **Step 1: Answer**
- [ ] Run `cargo test --test server` and `cargo clippy`.
- [ ] **Step 3:** Start it and look.

```bash
cd demo
npm run dev
```

## Task 3 (optional): Say so

**Depends on:** Task 1

- [x] **Step 1: Write the page**
- [x] **Step 2: Check the links**

```bash
npx linkcheck docs
git add docs
git commit -m "page

More of it"
```

## Notes

- [ ] Tell the others.
"#;

fn plan(text: &str) -> Plan {
    read(
        "docs/superpowers/plans/limit.md",
        text.as_bytes(),
        BatchOptions::default(),
    )
}

fn commands(plan: &Plan, place: usize) -> Vec<&str> {
    plan.tasks[place]
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect()
}

fn done(text: &str, task: &str) -> Option<String> {
    Dialect::Superpowers
        .rules()
        .write_back(text, &PlanChange::Done { task })
}

#[test]
fn a_plan_is_read_as_a_person_reads_it() {
    let plan = plan(PLAN);
    assert_eq!(
        (plan.dialect, plan.can_run()),
        (Dialect::Superpowers, true),
        "{:?}",
        plan.diagnostics
    );
    assert_eq!(plan.goal, "Refuse the eleventh request of a minute.");
    let ids: Vec<_> = plan
        .tasks
        .iter()
        .map(|task| (task.id.as_str(), task.title.as_str()))
        .collect();
    assert_eq!(
        ids,
        [
            ("1", "Count requests"),
            ("2", "Answer 429"),
            ("3", "Say so")
        ]
    );
    let [first, second, third] = plan.tasks.as_slice() else {
        panic!()
    };
    let files: Vec<_> = first
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.action, file.lines.as_deref()))
        .collect();
    assert_eq!(
        files,
        [
            ("src/limit.rs", FileAction::Create, None),
            ("src/server.rs", FileAction::Modify, Some("40-55")),
            ("tests/limit.rs", FileAction::Test, None)
        ]
    );
    assert_eq!(commands(&plan, 0), ["cargo test --test limit"]);
    let red = first.red_check.as_ref().unwrap();
    assert_eq!(
        (red.command.as_str(), red.expect.exit),
        ("cargo test --test limit counts", ExpectedExit::NonZero)
    );
    assert_eq!(
        red.expect.stdout_has, None,
        "what a compiler says is different each time"
    );
    assert_eq!(first.section.as_deref(), Some("Phase A"));
    assert!(
        first.body.starts_with("### Task 1: Count") && first.body.ends_with("```"),
        "{}",
        first.body
    );
    assert_eq!(
        [first.state, second.state, third.state],
        [PlannedState::Open, PlannedState::Open, PlannedState::Done]
    );
    assert_eq!((second.is_optional, third.is_optional), (false, true));
    assert_eq!(
        second
            .files
            .iter()
            .map(|file| file.action)
            .collect::<Vec<_>>(),
        [FileAction::Modify, FileAction::Test]
    );
    assert_eq!(
        commands(&plan, 1),
        ["cargo test --test server", "cargo clippy"]
    );
    assert_eq!(commands(&plan, 2), ["npx linkcheck docs"]);
    assert_eq!((&first.stated_deps, &second.stated_deps), (&None, &None));
    assert_eq!(
        (second.deps.as_slice(), third.deps.as_slice()),
        (&["1".to_owned()][..], &["1".to_owned()][..])
    );
    assert_eq!(third.stated_deps.as_deref(), Some(&["1".to_owned()][..]));
}

#[test]
fn a_plan_reads_the_same_with_other_line_ends() {
    let strip = |text: &str| {
        let plan = plan(text);
        plan.tasks
            .into_iter()
            .map(|task| (task.id, task.files, task.checks, task.red_check, task.state))
            .collect::<Vec<_>>()
    };
    let expected = strip(PLAN);
    assert_eq!(strip(&PLAN.replace('\n', "\r\n")), expected);
    assert_eq!(strip(&format!("\u{feff}{PLAN}")), expected);
}

#[test]
fn headings_and_steps_are_known_in_every_form() {
    for (heading, id, title) in [
        ("## Task 1: a", "1", "a"),
        ("### Task 01. a", "1", "a"),
        ("### Task 1.2 – a", "1.2", "a"),
        ("### **Task 3b: a**", "3b", "a"),
        ("### ✅ Task 4) a", "4", "a"),
        ("### Task A1: a", "A1", "a"),
        ("### TASK #5: a", "5", "a"),
        ("### 任务 6：a", "6", "a"),
        ("### Task 7 (optional): a", "7", "a"),
        ("### Task 8", "8", ""),
    ] {
        for step in [
            "- [ ] **Step 1: x**",
            "**Step 1: x**",
            "* [ ] x",
            "#### Step 1: x",
        ] {
            let plan = plan(&format!(
                "# P\n\n> superpowers:executing-plans\n\n{heading}\n\n{step}\n\nRun: `make test`\n"
            ));
            assert_eq!(plan.dialect, Dialect::Superpowers, "{heading} {step}");
            let found: Vec<_> = plan
                .tasks
                .iter()
                .map(|task| (task.id.as_str(), task.title.as_str()))
                .collect();
            assert_eq!(found, [(id, title)], "{heading}");
            assert_eq!(commands(&plan, 0), ["make test"], "{heading} {step}");
        }
    }
}

#[test]
fn commands_are_known_in_every_form() {
    for (step, checks, red) in [
        (
            "- [ ] **Step 1: Run it**\n\nRun:\n\n```bash\nnpm test\nnpm run lint\n```\n\nExpected: PASS",
            "npm test|npm run lint",
            "",
        ),
        (
            "- [ ] **Step 1: Run it and see it fail**\n\n```bash\npytest a.py\n```",
            "",
            "pytest a.py",
        ),
        (
            "- [ ] **Step 1: Verify that no test fails**\n\nRun: `pytest a.py`",
            "pytest a.py",
            "",
        ),
        (
            "- [ ] **Step 1: Test**: as said. Run: `go test ./a` → FAIL",
            "",
            "go test ./a",
        ),
        (
            "- [ ] **Step 1:** write it. `go build ./... && go test ./a`. Commit `a b`.",
            "go build ./... && go test ./a",
            "",
        ),
        (
            "- [ ] **Step 1: Bundle it**\n\n```bash\nnpx tool bundle a\n```",
            "",
            "",
        ),
        (
            "- [ ] **Step 1: Make it**\n\n```bash\nnpx tool check a\n```\n\nExpected: no errors",
            "npx tool check a",
            "",
        ),
        ("- [ ] **Step 1: Install**\n\nRun: `bun add a`", "", ""),
        (
            "- [ ] **Step 1: Start**\n\nRun: `npm run dev`\nExpected: it listens",
            "",
            "",
        ),
        (
            "- [ ] **Step 1: Check**\n\n```bash\ncd web\nnpm test\n```",
            "cd web\nnpm test",
            "",
        ),
        (
            "- [ ] **Step 1: Check**\n\nRun: `cd web && npm test`\nExpected: PASS",
            "cd web && npm test",
            "",
        ),
        (
            "- [ ] **Step 1: Check**\n\n```powershell\nuv run pytest a\\b.py\n```",
            "uv run pytest a\\b.py",
            "",
        ),
        (
            "1. Verify the count: `grep -c a b.md` — expect 5\n2. Write `make it` down",
            "grep -c a b.md",
            "",
        ),
        (
            "- [ ] **Step 1: Run x**\n\nRun: `make a` and `make b`\nExpected: FAIL",
            "",
            "make a",
        ),
        (
            "- [ ] **Step 1: 运行测试**\n\n```bash\npnpm test\n```",
            "pnpm test",
            "",
        ),
        (
            "- [ ] **Step 1: Add `run it` to the page**\n\nCall `make()` and `src/a.rs`.",
            "",
            "",
        ),
        (
            "- [ ] **Step 1: Grep**\n\nRun: `grep -rn old src`\nExpected: no matches",
            "grep -rn old src",
            "",
        ),
    ] {
        let plan = plan(&format!("# P\n\n### Task 1: a\n\n{step}\n"));
        let red_check = plan.tasks[0]
            .red_check
            .as_ref()
            .map_or("", |check| check.command.as_str());
        assert_eq!(
            (commands(&plan, 0).join("|").as_str(), red_check),
            (checks, red),
            "{step}"
        );
    }
}

#[test]
fn a_plan_of_another_dialect_stays_one() {
    for text in [
        "### Task 1: a\n\n**Verify:**\nRun: `true`\n",
        "### Task 1: a\n\n**Depends on:** None\n",
        "### Task 1-tests: a\n### Task 1-impl: b\n\n- [ ] x\n",
        "---\ncontract_version: 2\n---\n### Task 1: a\n\n- [ ] **Step 1: x**\n",
        "### Task 1: a\n\n**Task Contract:**\n- Expected: x\n\n- [ ] **Step 1: x**\n",
    ] {
        assert_eq!(plan(text).dialect, Dialect::DevWorkflow, "{text}");
    }
    // A file without signs of either is of the dialect of its place.
    let open = "### Task 1: a\n\nb\n";
    assert_eq!(plan(open).dialect, Dialect::Superpowers);
    assert_eq!(
        read("docs/limit.md", open.as_bytes(), BatchOptions::default()).dialect,
        Dialect::DevWorkflow
    );
}

#[test]
fn a_task_that_passed_is_ticked_and_nothing_else() {
    let boxes = |text: &str| text.replace("- [ ]", "- [x]");
    let at = PLAN.find("### Task 2").unwrap();
    let end = PLAN.find("## Task 3").unwrap();
    let expected = format!("{}{}{}", &PLAN[..at], boxes(&PLAN[at..end]), &PLAN[end..]);
    assert_eq!(done(PLAN, "2").unwrap(), expected);
    let lines = PLAN.replace('\n', "\r\n");
    assert_eq!(done(&lines, "2").unwrap(), expected.replace('\n', "\r\n"));
    assert_eq!(
        done(PLAN, "3").as_deref(),
        Some(PLAN),
        "it is ticked already"
    );
    assert_eq!(done(PLAN, "9"), None);
    assert_eq!(
        done("### Task 1: a\n\n**Step 1: x**\n", "1"),
        None,
        "there is no box"
    );
    let code = "### Task 1: a\n\n- [ ] b\n\n  ```md\n  - [ ] no\n  ```\n- [ ] c";
    assert_eq!(
        done(code, "1").unwrap(),
        code.replace("- [ ] b", "- [x] b")
            .replace("- [ ] c", "- [x] c")
    );
    assert_eq!(
        plan(&done(PLAN, "2").unwrap()).task("2").unwrap().state,
        PlannedState::Done
    );
}

#[test]
fn hostile_plans_are_answers() {
    let steps = "- [ ] **Step 1: Run `make a` and `make b`**\n".repeat(20_000);
    for text in [
        format!("### Task 1: a\n\n{steps}"),
        format!("### Task 1: a\n\n- [ ] {}", "Run `a b`. ".repeat(90_000)),
        format!("### Task 1: a\n\n- [ ] {}", "`".repeat(900_000)),
        format!(
            "### Task 1: a\n\n**Files:**\n{}",
            "- Create: `a/b.rs`\n".repeat(50_000)
        ),
        format!("### Task 1: a\n\n**Files:** {}", "`a.rs`, ".repeat(100_000)),
        (0..10_001)
            .map(|id| format!("### Task {id}: a\n\n- [ ] b\n"))
            .collect::<Vec<_>>()
            .concat(),
        format!("### Task 1: a\n{}- [ ] b", "  ".repeat(200_000)),
        format!(
            "### Task 1: a\n- [ ] b\n```bash\n{}",
            "make \\\n".repeat(100_000)
        ),
        "### Task 1: \u{1b}[2J\u{0}\n- [ ] **Step 1: \u{202e}**\n".to_owned(),
    ] {
        let plan = plan(&text);
        assert!(
            plan.diagnostics.len() < 20_000,
            "{}",
            plan.diagnostics.len()
        );
        let _ = done(&text, "1");
    }
}

#[test]
fn a_task_that_is_told_in_sentences_has_their_files_and_commands() {
    let text = "# A\n\n> superpowers\n\n## Task 1: Data\n\n- Create app/data.test.mjs.\n- Create app/data.json with all of it.\n\n\
                ## Task 2: Check\n\n- Run node --test app/data.test.mjs.\n- Confirm that the page can be read.\n";
    let found = plan(text);
    let files: Vec<_> = found.tasks[0]
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(files, ["app/data.test.mjs", "app/data.json"]);
    let commands: Vec<_> = found.tasks[1]
        .checks
        .iter()
        .map(|check| check.command.as_str())
        .collect();
    assert_eq!(commands, ["node --test app/data.test.mjs"]);
}

#[test]
fn files_are_read_without_code_and_in_chinese() {
    let text = "# A\n\n> superpowers\n\n### Task 1：甲\n\n文件：修改 src/a.c、src/b.h；创建 tests/c.c。\n\n- [ ] Step 1：做\n\n\
                ### Task 2: B\n\n**Files:** Create src/d.rs, delete src/e.rs\n\n- [ ] Step 1: do\n\n\
                ### Task 3: C\n\n#### Files touched\n\n- `src/f.rs` (new)\n\n#### Why\n\nSee `src/g.rs`.\n";
    let found = plan(text);
    let files = |place: usize| -> Vec<_> {
        found.tasks[place]
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.action))
            .collect()
    };
    let [create, modify, delete] = [FileAction::Create, FileAction::Modify, FileAction::Delete];
    assert_eq!(
        files(0),
        [
            ("src/a.c", modify),
            ("src/b.h", modify),
            ("tests/c.c", create)
        ]
    );
    assert_eq!(files(1), [("src/d.rs", create), ("src/e.rs", delete)]);
    assert_eq!(files(2), [("src/f.rs", create)]);
}
