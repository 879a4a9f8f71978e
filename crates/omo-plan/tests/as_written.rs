//! Plans that do not keep to the template of their format, read as a careful reader would.

use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::model::{Plan, PlannedState, Task};
use omo_plan::project_paths::name_from_top;
use omo_plan::proof::find_proofs;

fn plan(path: &str, text: &str) -> Plan {
    find_proofs(read(path, text.as_bytes(), BatchOptions::default()), &[])
}

/// Each task on a line: its id and state, its stated needs, its files, its checks.
fn lines(plan: &Plan) -> String {
    plan.tasks.iter().map(|task| line(task) + "\n").collect()
}

fn line(task: &Task) -> String {
    let state = if task.state == PlannedState::Open {
        ""
    } else {
        "+"
    };
    let needs = task
        .stated_deps
        .as_ref()
        .map(|ids| format!("<{}>", ids.join(" ")));
    let files: Vec<&str> = task
        .files
        .iter()
        .filter(|file| !file.is_optional)
        .map(|file| &*file.path)
        .collect();
    let files = Some(files.join(", ")).filter(|files| !files.is_empty());
    let checks = task.all_checks().map(|check| format!("${}", check.command));
    let first = std::iter::once(format!("{}{state}", task.id));
    first
        .chain(needs)
        .chain(files)
        .chain(checks)
        .collect::<Vec<_>>()
        .join(" ")
}

fn codes(plan: &Plan) -> Vec<&'static str> {
    plan.diagnostics
        .iter()
        .map(|found| found.code.word())
        .collect()
}

#[test]
fn tasks_as_headings_with_boxes_are_read_at_the_place_of_a_checklist() {
    let text = "## Task 1: Models\n- [ ] Add `Item` to `db/schema.prisma`\n- [ ] Verify that `go build ./shop/...` compiles\n**Depends on:** login-system/Task 2\n\n## Task 2: Actions\n- [ ] Create `src/actions/items.ts`\n**Depends on:** Task 1\n";
    for path in [".kiro/specs/shop/tasks.md", "docs/plans/shop.md", "plan.md"] {
        let plan = plan(path, text);
        assert_eq!(
            lines(&plan),
            "1 <> db/schema.prisma $go build ./shop/...\n2 <1> src/actions/items.ts\n",
            "{path} {:?}",
            plan.dialect
        );
        assert!(plan.can_run());
    }
}

#[test]
fn boxes_below_the_heading_of_a_task_are_what_it_has_to_meet() {
    let text = "#### T1: Create the context\n**File**: `src/Theme.tsx`\n**Acceptance**:\n- [x] it offers `theme`\n- [x] it is stored\n#### T2: Add the button\n**File**: `src/Toggle.tsx`\n**Acceptance**:\n- [ ] it is shown\n";
    assert_eq!(
        lines(&plan("openspec/changes/b/tasks.md", text)),
        "T1+ src/Theme.tsx\nT2 src/Toggle.tsx\n"
    );
    let status = "### Task 1: One\n**Status**: [x] Completed\n- [ ] it reads\n\n### Task 2: Two\n**Status:** [ ] Not started\n- [x] it reads\n";
    let stated = plan("docs/plans/a.md", status);
    assert_eq!(lines(&stated), "1+\n2\n");
    let ticked = stated
        .dialect
        .rules()
        .write_back(status, &PlanChange::Done { task: "2" });
    assert!(ticked.is_some_and(|text| text.contains("**Status:** [x] Not started")));
    let headings = "### 1. Make the parser\n**File:** `src/a.rs`\n**Acceptance Criteria:**\n- it reads\n\n### 2. Test the parser\n**Acceptance Criteria:**\n- `cargo test parser` passes\n";
    assert_eq!(
        lines(&plan("openspec/changes/d/tasks.md", headings)),
        "1 src/a.rs\n2 $cargo test parser\n"
    );
}

#[test]
fn what_a_list_of_changes_defers_is_no_task_of_a_run() {
    let text = "- [ ] 1. One `a.py`\n- [ ] 2. Two\n- [ ] (deferred) `add-retries`: backoff\n";
    let plan = plan("openspec/changes/c/tasks.md", text);
    assert_eq!(lines(&plan), "1 a.py\n2\n");
    assert_eq!(codes(&plan), ["item_deferred"]);
}

#[test]
fn numbered_lines_without_boxes_name_no_library_as_a_file() {
    let text = "- [x] 1. Update the dependencies\n- [x] 2. Remove zone.js\n## Phase 2\n3. Convert the popup\n4. Update the tests\n";
    let plan = plan("openspec/changes/a/tasks.md", text);
    assert_eq!(
        (lines(&plan).as_str(), codes(&plan)),
        ("1+\n2+\n", vec!["item_not_read", "item_not_read"])
    );
}

#[test]
fn lists_with_words_for_numbers_or_without_any_are_read() {
    let words = "- [x] **FOUNDATION-1: Base class** done\n  - **Dependencies:** None\n- [ ] **CORE-1: Health in `src/health.py`**\n  - **Dependencies:** FOUNDATION-1\n  - _Requirements: 1.1_\n";
    assert_eq!(
        lines(&plan(".kiro/specs/a/tasks.md", words)),
        "FOUNDATION-1+ <>\nCORE-1 <FOUNDATION-1> src/health.py\n"
    );
    let bare = "# Tasks: bake\n\n- [x] Mix `a.py`\n- [ ] Bake `b.py`\n";
    assert_eq!(lines(&plan("specs/a/tasks.md", bare)), "1+ a.py\n2 b.py\n");
    let short = "# Tasks\n\n## T1 Mix\n- [x] in `a.py`\n\n## T2 Bake\n- [ ] in `b.py`\n";
    assert_eq!(
        lines(&plan("specs/a/tasks.md", short)),
        "T1+ a.py\nT2 b.py\n"
    );
    let gsd = "---\nphase: 1\nplan: 2\n---\n<task type=\"auto\">\n**Task 1: Mix** — it all.\n<acceptance_criteria>\n- `make a` exits 0.\n</acceptance_criteria>\n</task>\n";
    assert_eq!(
        lines(&plan(".planning/phases/01-a/01-02-PLAN.md", gsd)),
        "1 $make a\n"
    );
    let feature = "---\nphase: 1\nplan: 3\n---\n<objective>a</objective>\n<feature>\n<name>Framing</name>\n<files>src/a.ts</files>\n<behavior>- a\n</behavior>\n</feature>\n<verification>\n`npm test` passes\n</verification>\n";
    assert_eq!(
        lines(&plan(".planning/phases/01-a/01-03-PLAN.md", feature)),
        "1 src/a.ts\n"
    );
    let told = "- [ ] 1.1 One\n- [ ] 1.2 Two (depends on 1.1)\n- [ ] 1.1 Three\n";
    assert!(plan("openspec/changes/a/tasks.md", told).can_run());
}

#[test]
fn what_is_wrong_with_done_tasks_stops_nothing() {
    let text = "- [x] T001 a (depends on T002)\n- [x] T002 b (depends on T001)\n- [ ] T003 c\n";
    let plan = plan("specs/a/tasks.md", text);
    assert_eq!((codes(&plan), plan.can_run()), (vec!["cycle"], true));
    let open = self::plan("specs/a/tasks.md", &text.replace("[x]", "[ ]"));
    assert!(!open.can_run());
}

#[test]
fn the_content_decides_where_the_place_leaves_out_most() {
    let text = "- [ ] 1. Read this first\n\n## Phase 1\n- [ ] T001 One\n- [ ] T002 Two\n- [ ] T003 Three\n";
    let plan = plan("specs/a/tasks.md", text);
    assert_eq!(lines(&plan), "T001\nT002\nT003\n");
    let headings = "- [ ] 1.1 Read this first\n\n## Task 1: One\n- [ ] Make `a.rs`\n\n## Task 2: Two\n- [ ] Make `b.rs`\n\n## Task 3: Three\n- [ ] Make `c.rs`\n";
    assert_eq!(
        lines(&self::plan("openspec/changes/a/tasks.md", headings)),
        "1 a.rs\n2 b.rs\n3 c.rs\n"
    );
}

#[test]
fn gsd_tasks_are_read_where_they_leave_their_fields_out() {
    let head = "---\nphase: 03-x\nplan: 01\n---\n<tasks>\n";
    let text = format!(
        "{head}<task type=\"auto\">\n  <name>Task 1: Errors</name>\n  <files>My App/My App/Scene.swift, app/routes.rb</files>\n  <verify>\n`grep \"one\" app/a.rb` — it is there. `grep \"two\" app/b.rb` — it too. `test -f app/c.rb` — the file.\n  </verify>\n</task>\n<task id=\"03-01-02\" name=\"Second\">\n<acceptance_criteria>\n- `pytest tests/test_d.py -k toc` passes\n</acceptance_criteria>\n</task>\n<task>\n<id>03-03</id>\n<name>Third</name>\nCreate app/e.py\n</task>\n</tasks>\n"
    );
    assert_eq!(
        lines(&plan(".planning/phases/03-x/03-01-PLAN.md", &text)),
        "1 My App/My App/Scene.swift, app/routes.rb $grep \"one\" app/a.rb $grep \"two\" app/b.rb $test -f app/c.rb\n\
         03-01-02 $pytest tests/test_d.py -k toc\n03-03\n"
    );
    let headings = "### Task 02-01-01: Create `core/date.go`\n<acceptance_criteria>\n- `go build ./core/...` exits 0\n</acceptance_criteria>\n### Task 02-01-02: Create `core/date_test.go`\n<acceptance_criteria>\n- `go test ./core/... -v` exits 0\n</acceptance_criteria>\n";
    assert_eq!(
        lines(&plan(".planning/phases/02-core/02-01-PLAN.md", headings)),
        "02-01-01 core/date.go $go build ./core/...\n02-01-02 core/date_test.go $go test ./core/... -v\n"
    );
}

#[test]
fn sub_tasks_of_task_master_may_name_tasks_and_files() {
    let done = r#"{"master": {"tasks": [
        {"id": 5, "title": "Five", "status": "done"},
        {"id": 7, "title": "Seven", "status": "done", "dependencies": ["5"], "subtasks": [
            {"id": 1, "title": "a", "status": "done", "dependencies": [5]},
            {"id": 2, "title": "b", "status": "done", "dependencies": [1]},
            {"id": 3, "title": "c", "status": "done", "dependencies": [2]},
            {"id": 4, "title": "d", "status": "done", "dependencies": [3]},
            {"id": 5, "title": "e", "status": "done", "dependencies": [4], "files": ["app/a.py"]}]}]}}"#;
    let read = plan(".taskmaster/tasks/tasks.json", done);
    assert_eq!(
        lines(&read),
        "5+\n7+ <5>\n7.1+ <5>\n7.2+ <7.1>\n7.3+ <7.2>\n7.4+ <7.3>\n7.5+ <7.4> app/a.py\n"
    );
    assert!(read.can_run());
}

#[test]
fn headings_without_the_template_have_files_checks_and_needs() {
    let text = "## Task Overview\n| # | Task | Dependencies |\n|---|------|--------------|\n| 1 | Build | none |\n| 2 | Tokens | Task 1 |\n\n### Task 1: Build\n**Files to create:**\n- `css/package.json`\n**Acceptance criteria:**\n- `npm run css` succeeds\n\n### Task 2: Tokens\n**Files**\n- **Create/Modify:** `css/tokens.css`\n**Steps:**\n1. `composer run test`\n2. `npm run css`\n";
    for path in [
        "docs/plans/2026-01-01-a.md",
        "docs/superpowers/plans/2026-01-01-a.md",
    ] {
        assert_eq!(
            lines(&plan(path, text)),
            "1 <> css/package.json $npm run css\n2 <1> css/tokens.css $composer run test $npm run css\n",
            "{path}"
        );
    }
}

#[test]
fn labels_are_read_in_the_languages_that_people_write_plans_in() {
    for (run, expected) in [
        ("命令：`npm run test -- store`", "期望：全部通过"),
        ("运行：`npm run test -- store`", "预期：通过"),
        ("実行：`npm run test -- store`", "期待：成功"),
        ("Ejecutar: `npm run test -- store`", "Esperado: pasa"),
        ("Exécuter : `npm run test -- store`", "Attendu : tout passe"),
        ("Ausführen: `npm run test -- store`", "Erwartet: grün"),
        ("Команда: `npm run test -- store`", "Ожидается: всё зелёное"),
        ("실행: `npm run test -- store`", "예상: 통과"),
    ] {
        let text = format!("### Task 1: Store\n\n- [ ] **Step 1: x**\n- {run}\n- {expected}\n");
        assert_eq!(
            lines(&plan("docs/superpowers/plans/a.md", &text)),
            "1 $npm run test -- store\n",
            "{run}"
        );
    }
}

#[test]
fn sentences_of_spec_kit_are_read_to_their_end() {
    let text = "- [ ] T001 One\n- [ ] T002 Two\n- [ ] T003 Rewrite `lib/c.dart` as one widget (depends on T001,\n  T002).\n- [ ] T004 Replace the field in `lib/d.dart` (depends on\n  T001, T003).\n- [ ] T005 Run `flutter analyze` and `dart format --output=none\n  --set-exit-if-changed .` on all files.\n- [ ] T006 [Foundation-US6] Create `lib/e.dart`\n- [ ] T008 Compare the page with the old one; run `make precommit`; commit.\n- [ ] T009 Create the schema (src/db/schema.ts - Dexie.js)\n- [ ] T010 Ignore rules (.gitignore: bin/, .env, *.db)\n- [ ] T011 Remove `old.html` and `public/cv.pdf`\n- [ ] T012 执行完整测试套件 (npm run test)\n";
    let plan = plan("specs/002-wrap/tasks.md", text);
    assert_eq!(
        lines(&plan),
        "T001\nT002\nT003 <T001 T002> lib/c.dart\nT004 <T001 T003> lib/d.dart\n\
         T005 $flutter analyze $dart format --output=none --set-exit-if-changed .\nT006 lib/e.dart\n\
         T008 $make precommit\nT009 src/db/schema.ts\nT010 .gitignore\nT011 old.html, public/cv.pdf\nT012 $npm run test\n"
    );
    let title = plan
        .tasks
        .iter()
        .find(|task| task.id == "T006")
        .map(|task| &*task.title);
    assert_eq!(title, Some("Create `lib/e.dart`"));
    let kiro = "- [ ] 1. Set up the module\n  - Update go.mod/go.sum\n  - _Requirements: 1.1_\n";
    assert_eq!(
        lines(&self::plan(".kiro/specs/a/tasks.md", kiro)),
        "1 go.mod, go.sum\n"
    );
}

#[test]
fn what_harms_or_judges_another_place_is_never_offered_as_a_check() {
    let steps = "### Task 1: Site\n\n- [ ] **Step 1: Add the remote and push**\n\n```bash\ngit remote add origin https://example.com/a/b.git\ngit push -u origin main\n```\n\nExpected output ends with:\n\n…\n";
    assert_eq!(
        lines(&plan("docs/superpowers/plans/2026-01-02-b.md", steps)),
        "1\n"
    );
    for command in [
        "cd /Users/someone/Code/site && npm run build",
        "curl -L \"https://img.example.com/{PHOTO_ID}\" -o public/a.jpg",
        "curl -s localhost:PORT/robots.txt",
        "npm run tauri dev",
        "git remote add origin https://example.com/a/b.git",
        "git remote set-url origin x",
        "git config user.name x",
        "python scripts/migrate_users.py --profile production",
        "pnpm db:generate",
        "pnpm db:migrate",
        "npm run db:push",
        "pip install -r requirements.txt && pytest",
        "npm ci && npm test",
        "http://localhost:3000",
        "terraform apply -auto-approve",
        "kubectl apply -f deploy.yaml",
        "ssh host make test",
        "npm publish --dry-run=false",
        "docker push a/b",
        "cd ~/code/site && make test",
        "cd C:\\code\\site && make test",
    ] {
        let text = format!(
            "### Task 1: Site\n\n- [ ] **Step 1: Look**\n\nRun: `{command}`\nExpected: PASS\n"
        );
        let plan = plan("docs/superpowers/plans/2026-01-02-b.md", &text);
        assert_eq!(lines(&plan), "1\n", "{command}");
        assert!(
            plan.refused_checks
                .iter()
                .any(|known| known.command == command),
            "{command} is named"
        );
    }
}

#[test]
fn a_format_that_names_its_checks_runs_none_that_harms() {
    for (command, is_run) in [
        ("git push", false),
        ("cd /srv/other && make test", false),
        ("npm run dev", false),
        ("sh -c \"git push && npm test\"", false),
        ("npm test", true),
        ("exit 0", true),
    ] {
        let text = format!("### Task 1: A\n\n**Verify:** `{command}`\n");
        let expected = if is_run {
            format!("1 ${command}\n")
        } else {
            "1\n".to_owned()
        };
        assert_eq!(
            lines(&plan("docs/plans/a.md", &text)),
            expected,
            "{command}"
        );
    }
}

#[test]
fn sentences_and_kept_files_are_told_from_commands_and_changes() {
    for (said, expected) in [
        ("npm test passes", "1 $npm test\n"),
        ("run npm test", "1 $npm test\n"),
        ("all tests pass", "1\n"),
    ] {
        assert_eq!(
            lines(&plan(
                "docs/plans/a.md",
                &format!("### Task 1: A\n**Verify:** {said}\n")
            )),
            expected,
            "{said}"
        );
    }
    let kept = "## 1. A\n\n- [ ] 1.1 Change `src/a.ts`. Do not touch `src/secret.ts`\n";
    assert_eq!(
        lines(&plan("openspec/changes/a/tasks.md", kept)),
        "1.1 src/a.ts\n"
    );
    let design = "# Design\n\n## 1. Overview\n\n**Verification:** see tests\n\n## 2. Parts\n\n**Files:** `a.ts`\n";
    assert!(!plan(".kiro/specs/k/design.md", design).can_run());
}

#[test]
fn the_folder_of_the_project_is_dropped_from_its_own_checks() {
    let text = "### Task 1: Site\n\n- [ ] **Step 1: Look**\n\nRun: `cd /Users/someone/Code/site && npm run build`\n";
    let read = read(
        "docs/superpowers/plans/b.md",
        text.as_bytes(),
        BatchOptions::default(),
    );
    let plan = find_proofs(name_from_top(read, "/home/me/site"), &[]);
    assert_eq!(lines(&plan), "1 $npm run build\n");
    assert!(
        codes(&plan).contains(&"folder_dropped"),
        "{:?}",
        codes(&plan)
    );
    assert_eq!(
        plan.refused_checks,
        [],
        "it is run, so that it is not named as one that is not"
    );
}

#[test]
fn a_list_that_only_points_to_its_sections_is_no_plan() {
    let text = "# Fixes\n\n## Story FIX-001: The start\n\nThe start is slow. Mend `src/start.rs`.\n\n## Story FIX-002: The end\n\nThe end is slow.\n\n## Order\n\n- [ ] FIX-001: repair the start\n- [ ] FIX-002: repair the end\n";
    let plan = plan("docs/stories/fix.md", text);
    assert_eq!(lines(&plan), "FIX-001 src/start.rs\nFIX-002\n");
}

#[test]
fn a_sentence_behind_a_command_is_no_part_of_it() {
    for (row, command) in [
        ("xcodebuild build succeeds", "xcodebuild build"),
        (
            "Run xcodebuild -scheme App build and it succeeds",
            "xcodebuild -scheme App build",
        ),
    ] {
        let text = format!("## 1. A\n\n- [ ] 1.1 {row}\n");
        let found = lines(&plan("openspec/changes/a/tasks.md", &text));
        assert!(
            found == "1.1\n" || found == format!("1.1 ${command}\n"),
            "{row}: {found}"
        );
    }
}
