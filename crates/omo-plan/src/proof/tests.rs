//! Proof of each task of small plans in the formats whose tasks name few checks.

use super::*;
use crate::command_concern::CommandConcern;
use crate::dialects::{BatchOptions, read};

fn proved(path: &str, text: &str, added: &[&str]) -> Plan {
    let added: Vec<TaskCheck> = added
        .iter()
        .map(|command| TaskCheck::new(command))
        .collect();
    find_proofs(read(path, text.as_bytes(), BatchOptions::default()), &added)
}

fn proofs(plan: &Plan) -> Vec<String> {
    let word = |task: &Task| match TaskProof::from(task) {
        TaskProof::OwnChecks(count) => format!("{}: own {count}", task.id),
        TaskProof::Task(id) => format!("{}: by {id}", task.id),
        TaskProof::FinalChecks => format!("{}: final", task.id),
        TaskProof::None => format!("{}: none", task.id),
    };
    plan.tasks.iter().map(word).collect()
}

const OPEN_SPEC: &str = "# Tasks\n\n## 1. Parser\n- [ ] 1.1 Write the parser\n- [ ] 1.2 Handle errors\n- [ ] 1.3 Run `npm test -- parser`\n\n\
    ## 2. Output\n- [ ] 2.1 Write the printer\n\n## 3. Docs\n- [ ] 3.1 Say how it is used\n";

#[test]
fn a_later_task_that_is_a_check_proves_its_group() {
    let plan = proved("openspec/changes/a/tasks.md", OPEN_SPEC, &[]);
    assert_eq!(
        proofs(&plan),
        [
            "1.1: by 1.3",
            "1.2: by 1.3",
            "1.3: own 1",
            "2.1: none",
            "3.1: none"
        ]
    );
    assert_eq!(
        unproved_tasks(&plan)
            .map(|task| task.id.as_str())
            .collect::<Vec<_>>(),
        ["2.1", "3.1"]
    );
    let judge = plan.task("1.3").unwrap();
    assert!(
        ["1.1", "1.2"]
            .iter()
            .all(|id| judge.deps.contains(&(*id).to_owned())),
        "{:?}",
        judge.deps
    );
    assert_eq!(
        judge.stated_deps, None,
        "what follows from a proof is not what the plan states"
    );
}

#[test]
fn a_group_that_verifies_proves_all_before_it() {
    let text = format!(
        "{OPEN_SPEC}\n## 4. Verification\n- [ ] 4.1 Run `npm test`\n- [ ] 4.2 Run `npm run lint`\n"
    );
    let plan = proved("openspec/changes/a/tasks.md", &text, &[]);
    assert_eq!(
        proofs(&plan),
        [
            "1.1: by 1.3",
            "1.2: by 1.3",
            "1.3: own 1",
            "2.1: by 4.1",
            "3.1: by 4.1",
            "4.1: own 1",
            "4.2: own 1"
        ]
    );
}

#[test]
fn a_task_that_writes_tests_proves_only_itself() {
    let text = "# Tasks\n\n## 1. Parser\n- [ ] 1.1 Write the parser\n- [ ] 1.2 Test it in `tests/new.test.ts`, run `npm test`\n";
    let plan = proved("openspec/changes/a/tasks.md", text, &[]);
    assert_eq!(proofs(&plan), ["1.1: none", "1.2: own 1"]);
}

#[test]
fn a_checkpoint_judges_its_phase() {
    let text = "# Tasks: words\n\n## Phase 1: Setup\n\n- [ ] T001 Make src/a.ts\n- [ ] T002 Make src/b.ts\n\n\
        **Checkpoint**: `npm test` passes\n\n## Phase 2: Docs\n\n- [ ] T003 Write README.md\n";
    let plan = proved("specs/001-words/tasks.md", text, &[]);
    assert_eq!(
        proofs(&plan),
        ["T001: by T002", "T002: own 1", "T003: none"]
    );
}

#[test]
fn a_check_of_the_whole_proves_the_rest_and_nothing_is_found_twice() {
    let plan = proved("openspec/changes/a/tasks.md", OPEN_SPEC, &["make test"]);
    assert_eq!(
        proofs(&plan),
        [
            "1.1: by 1.3",
            "1.2: by 1.3",
            "1.3: own 1",
            "2.1: final",
            "3.1: final"
        ]
    );
    assert_eq!(plan.final_checks, plan.policy.added_checks);
    let again = find_proofs(plan.clone(), &plan.policy.added_checks.clone());
    assert_eq!(again, plan);
}

#[test]
fn commands_that_judge_nothing_are_taken_out_and_named() {
    let text = "# Tasks\n\n## 1. Page\n- [ ] 1.1 Write the page\n- [ ] 1.2 Verify with `npx vitest --watch`\n- [ ] 1.3 Run `pytest <dir>`\n";
    let plan = proved("openspec/changes/a/tasks.md", text, &[]);
    let refused: Vec<_> = plan
        .refused_checks
        .iter()
        .map(|known| (known.command.as_str(), known.concern))
        .collect();
    assert_eq!(
        refused,
        [
            ("npx vitest --watch", CommandConcern::NeverEnds),
            ("pytest <dir>", CommandConcern::Placeholder)
        ]
    );
    assert_eq!(proofs(&plan), ["1.1: none", "1.2: none", "1.3: none"]);
}

#[test]
fn formats_whose_tasks_have_to_name_a_check_keep_what_does_no_harm() {
    let text = "# P\n\n### Task 1: One\n\n**Depends on:** none\n\n**Verify:**\nRun: `exit 0`\nRun: `npm run dev`\n\n### Task 2: Two\n\n**Depends on:** Task 1\n";
    let plan = proved("docs/plan.md", text, &[]);
    assert_eq!(plan.dialect, crate::model::Dialect::DevWorkflow);
    assert_eq!(proofs(&plan), ["1: own 1", "2: none"]);
}

#[test]
fn a_proof_makes_no_circle() {
    let text = "# Tasks: x\n\n## Phase 1: A\n\n- [ ] T001 Make src/a.ts (depends on T002)\n- [ ] T002 Run `npm test`\n";
    let plan = proved("specs/001-x/tasks.md", text, &[]);
    assert!(
        plan.tasks.iter().all(|task| task.proved_by.is_none()),
        "{:?}",
        proofs(&plan)
    );
}

#[test]
fn a_task_whose_own_check_is_not_run_is_not_proved_by_its_group() {
    let text = "# Tasks\n\n## 1. Page\n- [ ] 1.1 Write the page, run `git status`\n- [ ] 1.2 Install it: run `npm install`\n\
        - [ ] 1.3 Verify with `ls`\n- [ ] 1.4 Run `npm test`\n";
    let plan = proved("openspec/changes/a/tasks.md", text, &[]);
    assert_eq!(
        proofs(&plan),
        ["1.1: none", "1.2: by 1.4", "1.3: none", "1.4: own 1"]
    );
    let refused: Vec<_> = plan
        .refused_checks
        .iter()
        .map(|known| (known.task.as_deref(), known.command.as_str()))
        .collect();
    assert_eq!(
        refused,
        [
            (Some("1.1"), "git status"),
            (Some("1.2"), "npm install"),
            (Some("1.3"), "ls")
        ]
    );
    // The user, who sees both, may name the proof; a command that judges nothing is none.
    let plan = proved("openspec/changes/a/tasks.md", text, &["make test"]);
    assert_eq!(
        proofs(&plan),
        ["1.1: final", "1.2: by 1.4", "1.3: final", "1.4: own 1"]
    );
    let again = find_proofs(plan.clone(), &plan.policy.added_checks.clone());
    assert_eq!(again, plan);
    let hollow = proved("openspec/changes/a/tasks.md", text, &["exit 0"]);
    assert_eq!(
        proofs(&hollow),
        ["1.1: none", "1.2: by 1.4", "1.3: none", "1.4: own 1"]
    );
}

#[test]
fn each_command_of_a_check_that_is_not_run_is_named_in_every_format() {
    let superpowers = "# P\n\n### Task 1: One\n\n**Files:**\n- Create: `a`\n\n- [ ] **Step 1: Run**\n\nRun: `npm install`\nRun: `npm run dev`\n\
        Expected: it starts\nRun: `true`\n\n```bash\nnpm ci\nls\nnpm test\ngit commit -m x\n```\n";
    let gsd = "---\nphase: 1\nplan: 1\n---\n<tasks>\n<task type=\"auto\">\n<name>A</name>\n<action>b</action>\n<verify>\n\
        - `npm run dev` starts\n- `git status`\n- `make a`\n</verify>\n</task>\n</tasks>\n<verification>\n- `npm start` starts\n</verification>\n";
    let task_master = r#"{"tasks":[{"id":1,"title":"A","testStrategy":"Run `npm install`. Run `npm run dev`. Run `make a`."}]}"#;
    let spec_kit = "# Tasks: x\n\n## Phase 1: A\n\n- [ ] T001 Run `[ -f a ]` and `exit 0`\n\n**Checkpoint**: run `npm run dev`\n";
    for (path, text, expected) in [
        (
            "docs/superpowers/plans/p.md",
            superpowers,
            "npm install|npm run dev|true|npm ci|ls",
        ),
        (
            ".planning/01-PLAN.md",
            gsd,
            "npm run dev|git status|npm start",
        ),
        (
            ".taskmaster/tasks/tasks.json",
            task_master,
            "npm install|npm run dev",
        ),
        ("specs/a/tasks.md", spec_kit, "npm run dev|exit 0"),
    ] {
        let plan = proved(path, text, &[]);
        let mut refused: Vec<&str> = plan
            .refused_checks
            .iter()
            .map(|known| known.command.as_str())
            .collect();
        let mut expected: Vec<&str> = expected.split('|').collect();
        refused.sort_unstable();
        expected.sort_unstable();
        assert_eq!(refused, expected, "{path}");
        assert_eq!(
            plan.tasks.first().map(|task| task.checks.len()),
            Some(1),
            "{path}: {:?}",
            plan.tasks
        );
    }
}

#[test]
fn a_last_task_that_is_a_check_proves_all_before_it_however_it_is_called() {
    for title in [
        "Final: run `npm test`",
        "Final - run `npm test`",
        "Final check: `npm test` passes",
        "Checkpoint - run npm test",
        "Final: run npm test",
    ] {
        let text = format!(
            "# Implementation Plan\n\n- [ ] 1. Recipes\n  - Write `a.py`\n- [ ] 2. Search\n  - [ ] 2.1 Write `b.py`\n- [ ] 3. {title}\n"
        );
        assert_eq!(
            proofs(&proved(".kiro/specs/a/tasks.md", &text, &[])),
            ["1: by 3", "2.1: by 3", "3: own 1"],
            "{title}"
        );
    }
}
