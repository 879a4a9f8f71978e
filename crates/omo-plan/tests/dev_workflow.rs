//! A plan of the dialect `dev-workflow` as the model has it.

use omo_core::check::task_check::{ExpectedExit, TaskCheck};
use omo_plan::batches::compute_batches;
use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::digest::sha256_hex;
use omo_plan::model::{
    Dialect, FileAction, MAX_PLAN_BYTES, OnFailure, Plan, PlanDecision, Precondition, TaskKind,
};
use proptest::prelude::*;
use serde_json::Value;

const PLAN: &str = r"---
type: plan
contract_version: 2
---

# Rates Implementation Plan

**Goal:** Show rates
**Architecture:** One module

## Decisions

### [DP-001] Where the rates come from (blocking)

**Context:** There are two services.
**Options:**
- A: The bank — slow
- **B:** The cache — stale
**Recommendation (unverified):** Option B — it is near
  and known.

### [DP-002] Colour (`recommended`)
**Options:**
- A: red
**Recommendation:** A
**Chosen:** Option A

### [DP-003] Name
Nothing is said.

---

## Tasks

<!-- section: task-1 keywords: rates -->
### Task 1: Fetch

**Files:**
- Create: `src/rates.rs`
- Modify: `src/lib.rs:1-3`

**Task Contract:**
- Expected behavior: rates
- **Automated verify:** `cargo test`

**Steps:**
1. Do it
2. Verify: `false`

**Verify:**
Run: `cargo test -p rates`
Expected: 3 passed
<!-- checkpoint -->
<!-- /section -->

---

<!-- section: task-2 keywords: page -->
### Task 2-impl: Page <!-- no-split: x -->

**Depends on:** Task 1
**Files:** `src/page.rs`
**Odd label:** kept
**Task Contract:** x
**Verify:** `test -s src/page.rs`

### Task 2-tests: Tests of the page

**Files:**
- Test: `tests/page.rs`
**Task Contract:** x

**Verify:**
Run: `cargo test --test page`
Expected: FAIL with `unresolved import`

Run: `test -f tests/page.rs`
Expected: exit 0

## Verification
- **Verdict:** Approved
";

fn plan(text: &str) -> Plan {
    read(
        "docs/rates-plan.md",
        text.as_bytes(),
        BatchOptions::default(),
    )
}

fn codes(plan: &Plan) -> Vec<(&'static str, usize)> {
    plan.diagnostics
        .iter()
        .map(|found| (found.code.word(), found.line))
        .collect()
}

/// The text with a choice written into it.
fn choose(text: &str, decision: &PlanDecision, option: &str) -> String {
    let changed = Dialect::DevWorkflow
        .rules()
        .write_back(text, &PlanChange::Choice { decision, option });
    changed.unwrap_or_default()
}

fn decisions(plan: &Plan) -> Vec<&PlanDecision> {
    let each = plan.preconditions.iter().filter_map(|one| match one {
        Precondition::Decision(decision) => Some(decision),
        _ => None,
    });
    each.collect()
}

#[test]
fn a_whole_plan_is_read() {
    let plan = plan(PLAN);
    assert_eq!(
        (plan.dialect, plan.title.as_str(), plan.goal.as_str()),
        (
            Dialect::DevWorkflow,
            "Rates Implementation Plan",
            "Show rates"
        )
    );
    assert_eq!(
        (plan.source.sha256.clone(), plan.source.bytes),
        (sha256_hex(PLAN.as_bytes()), PLAN.len() as u64)
    );
    assert!(plan.can_run() && plan.policy.requires_contracts);
    assert_eq!(
        codes(&plan),
        [("unresolved_decision", 13), ("unresolved_decision", 28)]
    );
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["1", "2-tests", "2-impl"]);
    assert_eq!(plan.groups.len(), 1);
    assert_eq!(
        (
            plan.groups[0].id.as_str(),
            plan.groups[0].hard_stop,
            plan.groups[0].tasks.clone()
        ),
        (
            "batch-1",
            true,
            ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()
        )
    );
    assert_eq!(
        serde_json::from_str::<Plan>(&serde_json::to_string(&plan).unwrap()).unwrap(),
        plan
    );
}

#[test]
fn a_task_has_what_its_labels_say() {
    let plan = plan(PLAN);
    let one = plan.task("1").unwrap();
    assert_eq!(
        (
            one.title.as_str(),
            one.kind,
            one.stop_after,
            one.on_failure,
            one.max_attempts
        ),
        ("Fetch", TaskKind::Impl, true, OnFailure::Hold, 1)
    );
    let files: Vec<_> = one
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.action, file.lines.as_deref()))
        .collect();
    assert_eq!(
        files,
        [
            ("src/rates.rs", FileAction::Create, None),
            ("src/lib.rs", FileAction::Modify, Some("1-3"))
        ]
    );
    assert_eq!(one.checks, [TaskCheck::new("cargo test -p rates")]);
    assert_eq!(
        one.contract.as_deref(),
        Some("- Expected behavior: rates\n- **Automated verify:** `cargo test`")
    );
    assert!(
        one.body.starts_with("### Task 1: Fetch\n") && one.body.ends_with("<!-- /section -->"),
        "{}",
        one.body
    );
    assert_eq!(one.body_sha256, sha256_hex(one.body.as_bytes()));
    let rows: Vec<&str> = PLAN.lines().collect();
    assert_eq!(
        (rows[one.lines[0] - 1], rows[one.lines[1] - 1]),
        ("### Task 1: Fetch", "<!-- /section -->")
    );

    let page = plan.task("2-impl").unwrap();
    assert_eq!(
        (page.title.as_str(), page.pair.as_deref(), page.stop_after),
        ("Page", Some("2-tests"), false)
    );
    assert_eq!(page.deps, ["1", "2-tests"]);
    assert_eq!(
        page.extra.get("Odd label").map(String::as_str),
        Some("kept")
    );
    assert_eq!(page.checks, [TaskCheck::new("test -s src/page.rs")]);

    let tests = plan.task("2-tests").unwrap();
    assert_eq!(
        (tests.kind, tests.pair.as_deref(), tests.deps.len()),
        (TaskKind::Tests, Some("2-impl"), 0)
    );
    let red = tests.red_check.as_ref().unwrap();
    assert_eq!(
        (
            red.command.as_str(),
            red.expect.exit,
            red.expect.stdout_has.as_deref()
        ),
        (
            "cargo test --test page",
            ExpectedExit::NonZero,
            Some("unresolved import")
        )
    );
    assert_eq!(tests.checks, [TaskCheck::new("test -f tests/page.rs")]);
}

#[test]
fn tests_have_to_fail_where_nothing_else_is_said() {
    let text = "### Task 1-tests: x\n**Verify:** `npm test`\n";
    let found = plan(text);
    assert_eq!(
        found.tasks[0]
            .red_check
            .as_ref()
            .map(|check| check.expect.exit),
        Some(ExpectedExit::NonZero)
    );
    assert!(found.tasks[0].checks.is_empty());
}

#[test]
fn decisions_are_known_with_what_is_chosen() {
    let plan = plan(PLAN);
    let found = decisions(&plan);
    let reported: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one.id.as_str(),
                one.title.as_str(),
                one.blocking,
                one.recommended.as_deref(),
                one.chosen.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        reported,
        [
            ("DP-001", "Where the rates come from", true, Some("B"), None),
            ("DP-002", "Colour", false, Some("A"), Some("A")),
            ("DP-003", "Name", true, None, None),
        ]
    );
    let options: Vec<_> = found[0]
        .options
        .iter()
        .map(|option| (option.label.as_str(), option.text.as_str()))
        .collect();
    assert_eq!(
        options,
        [("A", "The bank — slow"), ("B", "The cache — stale")]
    );
}

#[test]
fn a_choice_is_written_in_place_and_read_again() {
    for text in [
        PLAN.to_owned(),
        PLAN.replace('\n', "\r\n"),
        format!("\u{feff}{PLAN}"),
    ] {
        let before = plan(&text);
        let changed = choose(&text, decisions(&before)[2], "A");
        let changed = choose(&changed, decisions(&before)[1], "B");
        let changed = choose(&changed, decisions(&before)[0], "Option B");
        let after = plan(&changed);
        let chosen: Vec<_> = decisions(&after)
            .iter()
            .map(|one| one.chosen.clone())
            .collect();
        assert_eq!(
            chosen,
            ["B", "A", "A"].map(|label| Some(label.to_owned())),
            "{changed}"
        );
        assert!(
            changed.contains("**Chosen:** Option B\r\n  and known.")
                || changed.contains("**Chosen:** Option B\n  and known.")
        );
        assert_eq!(
            after.tasks,
            before
                .tasks
                .iter()
                .cloned()
                .map(|task| moved(task, &text, &changed))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_choice_goes_where_the_plan_has_room_for_it() {
    for (room, expected) in [
        ("**Chosen:**\n", "**Chosen:** Option B\n"),
        ("**Chosen:** \r\n", "**Chosen:** Option B\r\n"),
        ("**Chosen:** —\n", "**Chosen:** Option B\n"),
        (
            "**Recommendation:** A\n**Chosen:**\n",
            "**Recommendation:** A\n**Chosen:** Option B\n",
        ),
        (
            "**Chosen:**\n**Recommendation:** A\n",
            "**Chosen:** Option B\n**Recommendation:** A\n",
        ),
    ] {
        let around =
            |room: &str| format!("## Decisions\n### [DP-1] x\n{room}\n## Tasks\n### Task 1: x\n");
        let before = plan(&around(room));
        assert_eq!(decisions(&before)[0].chosen, None, "{room}");
        let changed = choose(&around(room), decisions(&before)[0], "B");
        assert_eq!(changed, around(expected), "{room}");
        assert_eq!(
            decisions(&plan(&changed))[0].chosen.as_deref(),
            Some("B"),
            "{room}"
        );
    }
}

/// A task whose lines are those of a text that is longer before it.
fn moved(mut task: omo_plan::model::Task, before: &str, after: &str) -> omo_plan::model::Task {
    let more = after.lines().count() - before.lines().count();
    task.lines = task.lines.map(|line| line + more);
    task
}

#[test]
fn a_verification_is_one_where_its_section_says_so() {
    let path = format!(
        "{}/tests/vectors/plans/batches-cases.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let recorded = cases["verification_section"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            let expected = case["approved"]
                .as_bool()
                .or(case["strict"].as_bool())
                .unwrap();
            (case["text"].as_str().unwrap().to_owned(), expected)
        });
    let own = [
        (
            "## Verification\n**Verdict:** ✅ Approved (after a revision)\n",
            true,
        ),
        ("## Verification\nVerdict: not approved\n", false),
        (
            "## Verification\nVerdict: Must-revise\n\n## Verification\nVerdict: Approved\n",
            true,
        ),
        (
            "## Verification\nVerdict: Approved\n\n## Verification\nVerdict: Must-revise\n",
            false,
        ),
        (
            "### Task 2: x\n### Verification\nVerdict: Approved\n",
            false,
        ),
        ("## Verification\nThe verdict is: Approved\n", false),
        ("<!--\n## Verification\nVerdict: Approved\n-->\n", false),
    ];
    let all = recorded.chain(own.map(|(text, expected)| (text.to_owned(), expected)));
    for (text, expected) in all {
        let front = "---\ncontract_version: 1\n---\n";
        let plan = plan(&format!(
            "{front}### Task 1: x\n**Task Contract:** y\n**Verify:** `true`\n\n{text}"
        ));
        assert_eq!(
            plan.preconditions[0],
            Precondition::Verification { approved: expected },
            "{text}"
        );
        assert_eq!(
            codes(&plan).iter().any(|(code, _)| *code == "not_verified"),
            !expected,
            "{text}"
        );
    }
}

#[test]
fn a_plan_that_knows_no_verdict_asks_for_none() {
    for (text, asks) in [
        ("", false),
        ("## Verification\n- `true`\n", false),
        ("## Verification\nVerdict: no\n", true),
    ] {
        let plan = plan(&format!("### Task 1: x\n**Verify:** `true`\n\n{text}"));
        assert_eq!(plan.preconditions.is_empty(), !asks, "{text}");
        assert_eq!(
            codes(&plan).iter().any(|(code, _)| *code == "not_verified"),
            asks,
            "{text}"
        );
    }
}

#[test]
fn what_is_likely_not_meant_is_reported() {
    for (task, code) in [
        ("**Files:** `a.rs`", "missing_verify"),
        ("**Verify:**", "missing_verify"),
        ("**Verify:** The page loads.", "verify_may_be_prose"),
        (
            "**Verify:**\nRun: `cargo test 2>&1 | tail -5`",
            "pipe_in_verify",
        ),
        ("**Verify:**\n```sh\ncd x\nmake\n```", "several_commands"),
        (
            "**Verify:**\nRun: `make`\nExpected: a nice page",
            "expectation_is_prose",
        ),
        (
            "**Files:** `../x`\n**Verify:** `true`",
            "path_outside_repository",
        ),
        (
            "**Files:** `.git/config`\n**Verify:** `true`",
            "path_in_git_dir",
        ),
        ("**Files:** `src/*.rs`\n**Verify:** `true`", "glob_in_files"),
        ("**Files:** `./a.rs`\n**Verify:** `true`", "path_not_normal"),
        (
            "**Files:** `a.rs`, `A.rs`\n**Verify:** `true`",
            "files_differ_only_by_case",
        ),
    ] {
        let plan = plan(&format!(
            "---\ncontract_version: 1\n---\n### Task 1: x\n**Task Contract:** y\n{task}\n## Verification\nVerdict: Approved\n"
        ));
        let found: Vec<_> = plan
            .diagnostics
            .iter()
            .map(|found| found.code.word())
            .collect();
        assert_eq!(found, [code], "{task}");
        assert_eq!(plan.diagnostics[0].task.as_deref(), Some("1"), "{task}");
    }
    let plan = plan(
        "---\ncontract_version: 1\n---\n### Task 1: x\n**Verify:** `true`\n## Verification\nVerdict: Approved\n",
    );
    assert_eq!(codes(&plan), [("missing_task_contract", 4)]);
}

#[test]
fn contracts_are_wanted_from_version_one_on() {
    for (front, wanted) in [
        ("---\ncontract_version: 1\n---\n", true),
        ("---\ncontract_version: \"2\"\n---\n", true),
        ("---\nContract_Version: 1.5\n---\n", true),
        ("---\ncontract_version: 0\n---\n", false),
        ("---\ncontract_version:\n---\n", false),
        ("---\ntype: plan\n---\n", false),
        ("contract_version: 1\n", false),
    ] {
        let plan = plan(&format!("{front}### Task 1: x\n"));
        assert_eq!(plan.policy.requires_contracts, wanted, "{front}");
        assert_eq!(
            codes(&plan)
                .iter()
                .any(|(code, _)| *code == "no_contract_version"),
            !wanted,
            "{front}"
        );
    }
}

#[test]
fn what_is_no_plan_is_reported() {
    for (bytes, code) in [
        (b"".as_slice(), "unrecognized_format"),
        (b"# Notes\n", "unrecognized_format"),
        (b"### Task 1: x\n\xff", "not_utf8"),
    ] {
        let plan = read("x/notes.md", bytes, BatchOptions::default());
        assert_eq!(
            codes(&plan).iter().map(|found| found.0).collect::<Vec<_>>(),
            [code]
        );
        assert!(!plan.can_run() && plan.tasks.is_empty());
    }
    assert_eq!(
        read("x/notes.md", b"", BatchOptions::default()).title,
        "notes"
    );
    let large = vec![b'x'; usize::try_from(MAX_PLAN_BYTES).unwrap() + 1];
    assert_eq!(
        codes(&read("x", &large, BatchOptions::default())),
        [("too_large", 1)]
    );
}

#[test]
fn hostile_plans_are_read() {
    let tasks: String = (0..30_000)
        .map(|id| format!("### Task {id}: x\n**Files:** `a{id}`\n**Verify:** `true`\n"))
        .collect::<Vec<_>>()
        .concat();
    for text in [
        tasks,
        format!("### Task 1: x\n{}", "**Files:** `a`\n".repeat(100_000)),
        format!(
            "### Task 1: x\n**Verify:**\n{}",
            "Run: `a`\nExpected: exit 0\n".repeat(100_000)
        ),
        format!("### Task 1: x\n**Verify:** {}", "`".repeat(1_000_000)),
        format!("### Task 1: x\n**Verify:** {}", "` `` ".repeat(200_000)),
        format!(
            "### Task 1: x\n**Verify:**\nRun: `x`\nExpected: {}",
            "\"".repeat(1_000_001)
        ),
        format!("### Task 1: x\n**Files:** {}", "`a`, ".repeat(400_000)),
        format!("### Task 1: x\n{}", "**a:** b\n".repeat(200_000)),
        format!(
            "## Decisions\n{}### Task 1: x\n",
            "### [DP-1] x\n**Options:**\n- A: b\n".repeat(50_000)
        ),
        format!(
            "### Task 1: x\n{}",
            "- **a:** b\n  - c: d\n".repeat(100_000)
        ),
        format!("### Task 1: x\n{}", "> ".repeat(1_000_000)),
        format!("### Task 1: {}", "<!-- ".repeat(1_000_000)),
    ] {
        let plan = read("x", text.as_bytes(), BatchOptions::default());
        assert!(!plan.tasks.is_empty(), "{:?}", text.get(..40));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_is_a_plan(text in "(### Task [0-9](-tests|-impl)?: x\n|## Decisions\n|## Verification\n|### \\[DP-1\\] y\n|(- )?\\*\\*(Files|Verify|Options|Chosen|Recommendation|x):\\*\\* |(Run|Expected): |- A: |`|``|```|\"|“|exit 1|a/b\\.c:1|\\PC{0,6}|\r\n|\n){0,60}") {
        let plan = read("x", text.as_bytes(), BatchOptions::default());
        let computed = compute_batches(text.as_bytes(), 3, 5);
        let batches: Vec<_> = plan.groups.iter().map(|group| group.tasks.clone()).collect();
        prop_assert_eq!(batches, computed.batches, "the same batches wherever they are asked for");
        for found in &plan.diagnostics {
            prop_assert!(text.get(found.span.clone()).is_some(), "{:?}", found);
        }
        for decision in decisions(&plan) {
            let changed = choose(&text, decision, "A");
            prop_assert_eq!(decision.chosen.is_some(), changed == text);
        }
    }
}

#[test]
fn what_people_write_otherwise_is_read() {
    let text = "## Task 1 — a\n\n**Files:** `/home/me/app/src/a.rs`\n\n**Verify:** `make a`, then `make b` and `./c.sh`\n\n## Task 2: b\n\n**Dependencies:** #1 (not 3)\n\n**Verify:**\nRun: `make a` (quick) and `make b`\nExpected: all pass\n\n## Task 3 - c\n\n**Depends on:** all previous tasks\n\n**Verify:** `true`\n\n```";
    let plan = read("plan.md", text.as_bytes(), BatchOptions::default());
    assert_eq!(
        (plan.dialect, plan.can_run()),
        (Dialect::DevWorkflow, true),
        "{:?}",
        plan.diagnostics
    );
    let commands = |place: usize| {
        plan.tasks[place]
            .checks
            .iter()
            .map(|check| check.command.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (commands(0), commands(1)),
        (vec!["make a", "make b", "./c.sh"], vec!["make a", "make b"])
    );
    assert_eq!(
        (plan.tasks[1].deps.join(" "), plan.tasks[2].deps.join(" ")),
        ("1".to_owned(), "1 2".to_owned())
    );
    let codes: Vec<_> = plan
        .diagnostics
        .iter()
        .map(|found| found.code.word())
        .collect();
    assert!(
        codes.contains(&"path_absolute") && !codes.contains(&"unclosed_fence"),
        "{codes:?}"
    );
}
