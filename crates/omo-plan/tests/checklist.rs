//! Checklists of Spec Kit, OpenSpec and Kiro: what is read from them, what is written back, and hostile ones.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use omo_plan::diagnostic::Code;
use omo_plan::dialects::{self, BatchOptions, PlanChange};
use omo_plan::model::{Dialect, Plan, PlannedState, Task};

const SPEC_KIT: &str = "\
# Tasks: Shopping cart

## Format: `[ID] [P?] [Story] Description`

- **[P]**: can run in parallel

## Phase 1: Setup

- [x] T001 Create the package in shop/pyproject.toml
- [ ] T002 [P] Add models in shop/cart/model.py
- [ ] T003 [P] Add storage in shop/cart/store.py (depends on T001)

**Checkpoint**: the package can be imported

## Phase 2: User Story 1

- [ ] T004 [US1] Implement totals in `shop/cart/total.py`
  - round up as notes.md says
- [ ] **T005** [P] [US1] Run the tests (`pytest tests/cart`)
- [ ] T006b [P] Review shop/cart/total.py

## Dependencies

- T004 depends on T002, T003
- All stories depend on the setup.
- [ ] every story was shown to its owner
";

const OPEN_SPEC: &str = "\
## 1. Storage
- [x] 1.1 Create `store/disk.ts`
  - writes are atomic
  - [ ] a step of it
- [ ] 1.2 Read through the cache:
  - [ ] 1.2.1 Add `store/cache.ts`
  - [ ] 1.2.2 Evict what is old
## 2. Proof
- [ ] 2.1 Run `npm test` and fix what fails
- [ ] Tell the users
";

const KIRO: &str = "\
# Implementation Plan

- [ ] 1. Build the board
  - [x] 1.1 Create `src/board.ts`
    - _Requirements: 1.1_
  - [ ]* 1.2 Write property tests
    - **Validates: Requirements 1.2**
- [ ] 2. Checkpoint
  - Verify that `npm run build` passes
- [ ] 3 (P) Not numbered with a dot
- [ ]* 4. Polish
  - [ ] 4.1 Animate the board

## Graph

```json
{\"waves\": [{\"id\": 0, \"tasks\": [\"1.1\", \"4.1\"]}, {\"id\": 1, \"tasks\": [\"1.2\"]}]}
```
";

fn read(text: &str) -> Plan {
    dialects::read(
        "plan.md",
        text.as_bytes(),
        dialects::BatchOptions::default(),
    )
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().concat()
}

fn task<'a>(plan: &'a Plan, id: &str) -> &'a Task {
    plan.task(id).unwrap()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.tasks.iter().map(|task| task.id.as_str()).collect()
}

fn done(dialect: Dialect, text: &str, task: &str) -> Option<String> {
    dialect.rules().write_back(text, &PlanChange::Done { task })
}

#[test]
fn a_plan_of_spec_kit_is_read() {
    let plan = read(SPEC_KIT);
    assert_eq!(
        (plan.dialect, plan.can_run()),
        (Dialect::SpecKit, true),
        "{:?}",
        plan.diagnostics
    );
    assert_eq!(
        ids(&plan),
        ["T001", "T002", "T003", "T004", "T005", "T006b"]
    );
    assert_eq!(
        ["T001", "T002"].map(|id| task(&plan, id).state),
        [PlannedState::Done, PlannedState::Open]
    );
    assert_eq!(
        task(&plan, "T002").title,
        "Add models in shop/cart/model.py"
    );
    assert_eq!(task(&plan, "T002").stated_deps, None);
    assert_eq!(task(&plan, "T002").deps, ["T001"]);
    assert_eq!(task(&plan, "T003").deps, ["T001"]);
    assert_eq!(
        task(&plan, "T003").stated_deps.as_deref(),
        Some(&["T001".to_owned()][..])
    );
    assert_eq!(
        task(&plan, "T004").stated_deps.as_deref(),
        Some(&["T002".to_owned(), "T003".to_owned()][..])
    );
    assert_eq!(task(&plan, "T005").deps, ["T004"]);
    assert_eq!(task(&plan, "T006b").deps, ["T004"]);
    assert_eq!(task(&plan, "T005").checks[0].command, "pytest tests/cart");
    assert_eq!(
        task(&plan, "T005").title,
        "Run the tests (`pytest tests/cart`)"
    );
    assert_eq!(
        task(&plan, "T004").section.as_deref(),
        Some("Phase 2: User Story 1")
    );
    assert!(task(&plan, "T004").body.ends_with("as notes.md says"));
    assert_eq!(task(&plan, "T004").lines, [17, 18]);
    assert!(task(&plan, "T006b").files[0].is_optional);
}

#[test]
fn a_plan_of_openspec_is_read() {
    let plan = read(OPEN_SPEC);
    assert_eq!(
        (plan.dialect, plan.can_run()),
        (Dialect::OpenSpec, true),
        "{:?}",
        plan.diagnostics
    );
    assert_eq!(ids(&plan), ["1.1", "1.2.1", "1.2.2", "2.1", "6"]);
    assert!(task(&plan, "1.1").body.contains("a step of it"));
    assert_eq!(
        task(&plan, "1.2.1").section.as_deref(),
        Some("Read through the cache:")
    );
    assert_eq!(task(&plan, "2.1").deps, ["1.2.2"]);
    assert_eq!(task(&plan, "2.1").checks[0].command, "npm test");
}

#[test]
fn a_plan_of_kiro_is_read() {
    let plan = read(KIRO);
    assert_eq!(
        (plan.dialect, plan.can_run()),
        (Dialect::Kiro, true),
        "{:?}",
        plan.diagnostics
    );
    assert_eq!(ids(&plan), ["1.1", "1.2", "2", "4.1"]);
    assert!(task(&plan, "1.2").is_optional && !task(&plan, "1.1").is_optional);
    assert!(
        task(&plan, "4.1").is_optional,
        "what is below an optional task is optional"
    );
    assert_eq!(task(&plan, "1.1").deps, [""; 0]);
    assert_eq!(task(&plan, "4.1").deps, [""; 0]);
    assert_eq!(task(&plan, "1.2").deps, ["1.1", "4.1"]);
    assert_eq!(task(&plan, "2").deps, ["1.1", "1.2"]);
    assert_eq!(task(&plan, "2").checks[0].command, "npm run build");
}

#[test]
fn a_task_that_passed_is_ticked_and_nothing_else_changes() {
    for (from, to) in [("\n", "\n"), ("\n", "\r\n")] {
        let convert = |text: &str| text.replace(from, to);
        let kit = convert(SPEC_KIT);
        assert_eq!(
            done(Dialect::SpecKit, &kit, "T002"),
            Some(kit.replace("[ ] T002", "[x] T002"))
        );
        assert_eq!(done(Dialect::SpecKit, &kit, "T001"), Some(kit.clone()));
        assert_eq!(done(Dialect::SpecKit, &kit, "T999"), None);
        let open = convert(OPEN_SPEC);
        assert_eq!(
            done(Dialect::OpenSpec, &open, "6"),
            Some(open.replace("[ ] Tell", "[x] Tell"))
        );
        let kiro = convert(KIRO);
        assert_eq!(
            done(Dialect::Kiro, &kiro, "2"),
            Some(kiro.replace("[ ] 2.", "[x] 2."))
        );
        let both = kiro
            .replace("[ ]* 1.2", "[x]* 1.2")
            .replace("[ ] 1. Build", "[x] 1. Build");
        assert_eq!(done(Dialect::Kiro, &kiro, "1.2"), Some(both));
    }
    let marked = format!("\u{feff}{KIRO}");
    let ticked = done(Dialect::Kiro, &marked, "2").unwrap();
    assert_eq!(ticked, marked.replace("[ ] 2.", "[x] 2."));
    let twice = "## 1. A\n- [ ] 1.1 a\n- [ ] 1.1 b\n";
    assert_eq!(
        done(Dialect::OpenSpec, twice, "1.1").unwrap(),
        twice.replace("[ ] 1.1 a", "[x] 1.1 a")
    );
    assert_eq!(
        done(Dialect::OpenSpec, twice, "1.1-2").unwrap(),
        twice.replace("[ ] 1.1 b", "[x] 1.1 b")
    );
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    for text in [SPEC_KIT, OPEN_SPEC, KIRO] {
        let (plain, other) = (
            read(text),
            read(&format!("\u{feff}{}", text.replace('\n', "\r\n"))),
        );
        assert_eq!(plain.dialect, other.dialect);
        let view = |plan: &Plan| -> Vec<_> {
            let tasks = plan.tasks.iter();
            tasks
                .map(|task| {
                    (
                        task.id.clone(),
                        task.title.clone(),
                        task.lines,
                        task.deps.clone(),
                        task.files.clone(),
                    )
                })
                .collect()
        };
        assert_eq!(view(&plain), view(&other));
    }
}

#[test]
fn what_a_plan_states_counts_more_than_its_order() {
    let plan = read("- [ ] T001 a (depends on T002)\n- [ ] T002 b\n- [ ] T003 c\n");
    assert!(plan.can_run(), "{:?}", plan.diagnostics);
    assert_eq!(task(&plan, "T001").deps, ["T002"]);
    assert_eq!(task(&plan, "T003").deps, ["T001"]);
    let plan = read(
        "- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n  - Depends on: T001 (its shape), T002 (its name)\n",
    );
    assert_eq!(
        task(&plan, "T003")
            .stated_deps
            .as_deref()
            .unwrap_or_default(),
        ["T001", "T002"]
    );
    for need in [
        "タスク 1.1、1.2 に依存",
        "1.1, 1.2 の型に依存する",
        "依赖：任务 1.1、1.2",
        "Depende de 1.1 y más, depende de 1.2",
    ] {
        let plan = read(&format!(
            "## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n  - {need}\n"
        ));
        assert_eq!(
            task(&plan, "1.3")
                .stated_deps
                .as_deref()
                .unwrap_or_default(),
            ["1.1", "1.2"],
            "{need}"
        );
    }
    let circle =
        read("- [ ] T001 a (depends on T002)\n- [ ] T002 b (depends on T001)\n- [ ] T003 c\n");
    assert!(!circle.can_run());
}

#[test]
fn lists_of_no_format_are_refused() {
    for text in [
        "- [ ] a\n- [ ] b\n",
        "# Plan\n\n## 1. A\n\n- [ ] do it\n",
        "",
        "- [ ] 3 tests fail\n",
        "[ ] T001\n",
    ] {
        assert!(!read(text).can_run(), "{text}");
    }
}

#[test]
fn hostile_lists_are_read_without_a_panic() {
    let many = lines(10_000, |number| format!("- [ ] T{number:05} [P] a\n"));
    let phases = format!(
        "## A\n{many}## B\n{}",
        many.replace("] T", "] TT-").replace("TT-", "T9")
    );
    let deep = lines(3000, |level| {
        format!("{}- [ ] 1.{level} a\n", " ".repeat(level % 200))
    });
    let long = format!(
        "- [ ] T001 {}\n- [ ] T002 {}\n",
        "`a.rs` ".repeat(50_000),
        "depends on T001, ".repeat(50_000)
    );
    let chain = format!(
        "- [ ] {} x\n- [ ] T001 {}\n",
        "1.".repeat(50_000),
        "(".repeat(100_000)
    );
    for text in [
        many,
        phases,
        deep,
        long,
        chain,
        "- [ ] T001 \u{0}\u{7}\u{1b}[2J\n```\n- [ ] T002 unclosed\n".to_owned(),
        "- [ ] T001 `unclosed\n-[ ] T002\n- [] T003 x\n- [ ]\n".to_owned(),
        "- [ ] 1. a\n- [ ] 1.1 b\n```json\n{\"waves\": [[1, null, {}], {\"tasks\": [\"9\", \"1.1\"]}]}\n```\n"
            .to_owned(),
    ] {
        let plan = read(&text);
        let dialect = plan.dialect;
        assert!(!plan.tasks.is_empty() || !plan.can_run());
        for task in plan.tasks.iter().take(3) {
            done(dialect, &text, &task.id);
        }
    }
}

#[test]
fn a_task_that_comes_before_another_is_needed_by_it() {
    let text = "- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n- [ ] T004 d\n\n## Dependencies\n\n- T001 before T002 (types first)\n\
                - T003 must be completed before T001, T004\n- T003 blocks what is not there\n";
    let plan = read(text);
    let needs = |id: &str| task(&plan, id).stated_deps.clone();
    let stated = |ids: &[&str]| Some(ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
    assert_eq!(
        (needs("T002"), needs("T001"), needs("T004"), needs("T003")),
        (
            stated(&["T001"]),
            stated(&["T003"]),
            stated(&["T003"]),
            None
        )
    );
}

/// The ids of a plan's tasks, and the lines of reported items that are none.
fn read_items(path: &str, text: &str) -> (Vec<String>, Vec<usize>) {
    let plan = dialects::read(path, text.as_bytes(), BatchOptions::default());
    let told = plan
        .diagnostics
        .iter()
        .filter(|found| found.code == Code::ItemNotRead)
        .map(|found| found.line);
    (
        plan.tasks.iter().map(|task| task.id.clone()).collect(),
        told.collect(),
    )
}

#[test]
fn an_item_with_an_odd_id_is_read_or_told_at_its_line() {
    let kit = "# Tasks\n\n## Phase 1: A\n\n- [ ] T001 a\n- [ ] t002 b\n- [ ] [T003] c\n- [ ] (T004) d\n- [ ] **T005** e\n\
        - [ ] Т006 with a Cyrillic letter\n- T007 without a box\n- [ ]T008 without a space\n- [?] T009 with an odd mark\n\
        - [ ] no number\n- [ ] T010 f (depends on t002)\n  - [ ] a part of T010\n- T001 is named again\n\n\
        ## Review\n\n- [ ] all is well\n- [ ] all is good\n- T011 is not here\n\n```\n- [ ] T012 code\n```\n";
    let (ids, told) = read_items("specs/a/tasks.md", kit);
    assert_eq!(ids, ["T001", "t002", "T003", "T004", "T005", "T010"]);
    assert_eq!(told, [10, 11, 12, 13, 14, 21]);
    let plan = dialects::read("specs/a/tasks.md", kit.as_bytes(), BatchOptions::default());
    assert_eq!(
        plan.task("T010").unwrap().stated_deps,
        Some(vec!["t002".to_owned()])
    );

    let kiro = "# Implementation Plan\n\n- [ ] 1. A\n  - [ ] 1.1 a\n  - 1.2 without a box\n  - [ ] 1.3 c\n- [ ] without a number\n\
        3. without a box\n- [ ] 4. D\n\nSee [1] and [x](y).\n\n## Notes\n\n1. Look\n2. Think\n";
    let (ids, told) = read_items(".kiro/specs/a/tasks.md", kiro);
    assert_eq!((ids.join(" ").as_str(), told), ("1.1 1.3 4", vec![5, 7, 8]));

    let spec = "## 1. A\n\n- [ ] 1.1 a\n- 1.2 without a box\n- [ ] without a number\n";
    let (ids, told) = read_items("openspec/changes/a/tasks.md", spec);
    assert_eq!((ids.join(" ").as_str(), told), ("1.1 2", vec![4]));
}

#[test]
fn more_dependencies_than_a_plan_may_have_are_told_and_not_kept() {
    let item = |number: usize| match number {
        0 => "- [ ] T0000 x\n".to_owned(),
        _ => format!(
            "- [ ] T{number:04} x (depends on T0000-T{:04})\n",
            number - 1
        ),
    };
    for (count, is_too_many) in [(300, false), (1500, true)] {
        let plan = read(&lines(count, item));
        assert_eq!(
            plan.diagnostics
                .iter()
                .any(|found| found.code == Code::TooManyDependencies),
            is_too_many,
            "{count}"
        );
        let needs: usize = plan.tasks.iter().map(|task| task.deps.len()).sum();
        assert!(needs <= 200_000, "{needs}");
        assert_eq!(plan.tasks.len(), count);
    }
    let statements = lines(100, |number| format!("- [ ] T{number:04} x\n"))
        + "\n"
        + &"T0050-T0099 depends on T0000-T0049\n".repeat(100);
    assert!(!read(&statements).can_run());
}

fn ids_and_codes(path: &str, text: &str) -> (Vec<String>, Vec<&'static str>) {
    let plan = omo_plan::dialects::read(
        path,
        text.as_bytes(),
        omo_plan::dialects::BatchOptions::default(),
    );
    let codes = plan
        .diagnostics
        .iter()
        .map(|found| found.code.word())
        .collect();
    (plan.tasks.into_iter().map(|task| task.id).collect(), codes)
}

#[test]
fn numbers_as_people_write_them_are_read_and_one_that_stands_twice_refuses_nothing_that_is_clear() {
    const KIRO: &str = ".kiro/specs/a/tasks.md";
    const OPEN_SPEC: &str = "openspec/changes/a/tasks.md";
    const SPEC_KIT: &str = "specs/a/tasks.md";
    for (path, text, ids, codes) in [
        (
            KIRO,
            "- [ ] **Task 1.1** — Mend the table\n",
            &["1.1"][..],
            &[][..],
        ),
        (
            KIRO,
            "- [x] 1. Bake\n- [x] 1. Cool\n- [ ] 2. Eat\n",
            &["1", "1-2", "2"],
            &["repeated_id"],
        ),
        (
            KIRO,
            "- [ ] 1. Bake\n- [ ] 1. Cool\n- [ ] 2. Eat\n  - _Depends: 1_\n",
            &["1", "1-2", "2"],
            &["duplicate_id"],
        ),
        (
            SPEC_KIT,
            "- [ ] T007 [P] a\n- [ ] T007.1 [P] b\n- [ ] T008A c\n- [ ] T-HF01 d\n",
            &["T007", "T007.1", "T008A", "T-HF01"],
            &[],
        ),
        (
            SPEC_KIT,
            "- [ ] T007 a\n- [ ] T007.1 b\n- [ ] T007.1: see above\n",
            &["T007", "T007.1"],
            &[],
        ),
        (
            OPEN_SPEC,
            "- [x] 1. a\n- [x] 2. b\n## Phase 2\n3. c\n4. d\n",
            &["1", "2"],
            &["item_not_read", "item_not_read"],
        ),
        (
            OPEN_SPEC,
            "- [x] 1. a\n- [x] 2. b\n## Notes\n1. c\n2. d\n",
            &["1", "2"],
            &[],
        ),
    ] {
        assert_eq!(
            ids_and_codes(path, text),
            (
                ids.iter().map(|id| (*id).to_owned()).collect(),
                codes.to_vec()
            ),
            "{text}"
        );
    }
}

#[test]
fn what_a_task_needs_is_read_over_broken_lines_and_in_emphasis() {
    let text = "- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c (depends on T001,\n  T002).\n- [ ] T004 d (depends on\n  T001, T003).\n";
    let plan = read(text);
    let stated: Vec<_> = plan
        .tasks
        .iter()
        .map(|task| task.stated_deps.clone().unwrap_or_default())
        .collect();
    assert_eq!(
        stated[2..],
        [
            vec!["T001".to_owned(), "T002".to_owned()],
            vec!["T001".to_owned(), "T003".to_owned()]
        ]
    );
    let kiro = read(
        "- [ ] 1. A\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n    - _Requirements: 1_\n    - _Depends: 1.1_\n",
    );
    assert_eq!(
        kiro.tasks.last().unwrap().stated_deps,
        Some(vec!["1.1".to_owned()])
    );
}

#[test]
fn content_decides_where_the_place_has_no_task_and_other_numbers_are_read() {
    let kiro = "## Task 1: Models\n- [ ] Add `Item`\n**Depends on:** login/Task 2\n\n## Task 2: Actions\n**Depends on:** Task 1\n";
    let (ids, codes) = ids_and_codes(".kiro/specs/shop/tasks.md", kiro);
    assert!(
        ids == ["1", "2"] && codes.contains(&"other_format") && !codes.contains(&"cycle"),
        "{ids:?} {codes:?}"
    );
    let gsd =
        "### Task 02-01-01: Make a\n\nRun: `true`\n\n### Task 02-01-02: Make b\n\nRun: `true`\n";
    assert_eq!(
        ids_and_codes("docs/superpowers/plans/a.md", gsd).0,
        ["02-01-01", "02-01-02"]
    );
    let (ids, codes) = ids_and_codes(
        ".taskmaster/tasks/tasks.json",
        "{\"master\": [{\"id\": 18, \"title\": \"Login\", \"status\": \"pending\", \"dependencies\": [\"16\"]}]}",
    );
    assert_eq!(
        (ids, codes),
        (vec!["18".to_owned()], vec!["gone_dependency"])
    );
}
