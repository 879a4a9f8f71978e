//! Plans of the dialect GSD: `<task>` elements.

use omo_plan::diagnostic::Code;
use omo_plan::dialects::gsd::folder::join_plans;
use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::model::{Dialect, Plan, Precondition, Task};

fn read_text(text: &str) -> Plan {
    read(
        ".planning/phases/03-bakery/03-02-PLAN.md",
        text.as_bytes(),
        BatchOptions::default(),
    )
}

fn codes(plan: &Plan) -> Vec<Code> {
    plan.diagnostics.iter().map(|found| found.code).collect()
}

const BAKERY: &str = r#"---
phase: 03-bakery
plan: 02
wave: 2
depends_on:
  - 03-01
files_modified: [src/oven.rs, src/dough.rs]
---

<objective>
Bake bread
that rises.

Purpose: to eat.
</objective>

<context>
@.planning/PROJECT.md
```xml
<task type="auto">
  <name>Task 9: none, it is an example</name>
</task>
```
</context>

<tasks>

<task type="auto" tdd="true">
  <name>Task 1: Heat the oven &amp; wait</name>
  <files>src/oven.rs, `src/heat.rs` (new), Makefile</files>
  <read_first>
    - docs/oven.md — what is there
    - The heat: /etc/heat is not a file of this project
  </read_first>
  <behavior>
    - if a < b then c
  </behavior>
  <action>
Write `fn heat() -> Vec<Heat>`:

```rust
// <verify>not this</verify>
</task>
```
Close with the `</action>` of the oven.
  </action>
  <verify>
    <automated>cargo test heat &amp;&amp; cargo clippy</automated>
    <manual>It is warm.</manual>
  </verify>
  <acceptance_criteria>
    - It heats
      slowly.
    - It stops.
  </acceptance_criteria>
  <done>The oven is hot.</done>
</task>

<task type="checkpoint:human-verify" gate="blocking">
  <what-built>A hot oven</what-built>
  <how-to-verify>Touch it.</how-to-verify>
</task>

<task type="auto">
  <name>Knead</name>
  <files>
    src/dough.rs
    - `src/salt.rs`
  </files>
  <action>Knead it.
  <verify>make dough shows a ball
  The ball is round</verify>
  <done>Done</done>
</task>

<task type="checkpoint:human-action">
  <name>Task 4: Buy flour</name>
  <action>Go to the shop.</action>
</task>
</tasks>

<verification>
- `make bread test` passes
- It smells good
</verification>
"#;

#[test]
fn tasks_are_read_with_what_proves_them() {
    for text in [
        BAKERY.to_owned(),
        BAKERY.replace('\n', "\r\n"),
        format!("\u{feff}{BAKERY}"),
    ] {
        let plan = read_text(&text);
        assert_eq!(plan.dialect, Dialect::Gsd);
        assert_eq!(
            (plan.title.as_str(), plan.goal.as_str()),
            ("Phase 03-bakery, plan 02", "Bake bread that rises.")
        );
        assert_eq!(plan.requires_plans, ["03-01"]);
        let shown = |task: &Task| format!("{} {} <{}", task.id, task.title, task.deps.join(","));
        let tasks: Vec<String> = plan.tasks.iter().map(shown).collect();
        assert_eq!(
            tasks,
            ["1 Heat the oven & wait <", "3 Knead <1", "4 Buy flour <3"]
        );
        let files = |task: &Task| {
            task.files
                .iter()
                .map(|file| (file.path.clone(), file.is_optional))
                .collect::<Vec<_>>()
        };
        let named = |names: &[(&str, bool)]| {
            names
                .iter()
                .map(|(name, read)| ((*name).to_owned(), *read))
                .collect::<Vec<_>>()
        };
        let [oven, dough, flour] = plan.tasks.as_slice() else {
            panic!("{:?}", plan.tasks)
        };
        assert_eq!(
            files(oven),
            named(&[
                ("src/oven.rs", false),
                ("src/heat.rs", false),
                ("Makefile", false),
                ("docs/oven.md", true)
            ])
        );
        assert_eq!(
            files(dough),
            named(&[("src/dough.rs", false), ("src/salt.rs", false)])
        );
        let commands = |task: &Task| {
            task.checks
                .iter()
                .map(|check| check.command.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(commands(oven), ["cargo test heat && cargo clippy"]);
        assert_eq!(commands(dough), ["make dough"]);
        assert_eq!(
            oven.criteria,
            [
                "It is warm.",
                "It heats slowly.",
                "It stops.",
                "The oven is hot."
            ]
        );
        assert_eq!(dough.criteria, ["The ball is round", "Done"]);
        assert!(oven.stop_after && !dough.stop_after && flour.stop_after);
        assert!(
            oven.extra
                .get("Checkpoint")
                .is_some_and(|text| text.contains("Touch it."))
        );
        assert!(oven.body.starts_with("<task type=\"auto\"") && oven.body.ends_with("</task>"));
        assert_eq!(oven.lines, [28, 57]);
        assert_eq!(
            plan.final_checks
                .iter()
                .map(|check| check.command.as_str())
                .collect::<Vec<_>>(),
            ["make bread test"]
        );
        let found: Vec<_> = plan
            .diagnostics
            .iter()
            .map(|found| (found.code, found.line))
            .collect();
        assert_eq!(found, [(Code::UnclosedElement, 70)]);
        assert_eq!(
            Dialect::Gsd
                .rules()
                .write_back(&text, &PlanChange::Done { task: "1" }),
            None
        );
    }
}

#[test]
fn a_plan_that_begins_with_a_stop_has_it_as_a_condition() {
    let text = "---\nphase: 1\nplan: 1\n---\n<tasks>\n<task type=\"checkpoint:decision\"><decision>Which?</decision></task>\n<task id=\"7\"><name>Go</name></task>\n</tasks>\n";
    let plan = read_text(text);
    let [Precondition::EntryCondition { text, .. }] = plan.preconditions.as_slice() else {
        panic!("{plan:?}")
    };
    assert_eq!(text, "<decision>Which?</decision>");
    assert_eq!(
        plan.tasks
            .iter()
            .map(|task| task.id.as_str())
            .collect::<Vec<_>>(),
        ["7"]
    );
    let none = read_text("---\nphase: 1\nplan: 1\n---\n<objective>\nNothing\n</objective>\n");
    assert_eq!(codes(&none), [Code::NoTasks]);
    let other = read_text(
        "# Notes\n\nThe `<task>` element:\n\n```xml\n<task>\n<name>A</name>\n</task>\n```\n",
    );
    assert_eq!(codes(&other), [Code::UnrecognizedFormat]);
}

#[test]
fn tasks_behind_code_that_is_closed_too_early_are_read() {
    let text = "---\nphase: 1\nplan: 1\n---\n```markdown\n```\n```\n<tasks>\n<task>\n<name>Task 1: A</name>\n</task>\n</tasks>\n";
    assert_eq!(read_text(text).tasks.len(), 1);
}

#[test]
fn tags_that_are_not_closed_lose_no_task() {
    let head = "---\nphase: 1\nplan: 1\n---\n<tasks>\n";
    for (body, expected) in [
        (
            "<task>\n<name>Task 1: A</name>\n<action>go\n<task>\n<name>Task 2: B</name>\n</task>\n",
            "1 A|2 B",
        ),
        (
            "<task>\n<name>Task 1: A\n<action>go</action>\n</task>\n<task>\n<name>Task 2: B</name>",
            "1 A|2 B",
        ),
        (
            "<task>\n<name>Task 1: A</name>\n<action>a <b <c> </d> & e</action>\n</task>",
            "1 A",
        ),
        (
            "<task id=\"1-T1\" title=\"A b\">\n<action>x</action>\n</task>",
            "1-T1 A b",
        ),
        (
            "<task\n  type=\"auto\"\n  id=\"x\">\n<name>A</name>\n</task>",
            "x A",
        ),
        (
            "<task type=\"auto\"><name>Task 1: A</name><done>x</done></task><task><name>Task 2: B</name></task>",
            "1 A",
        ),
        (
            "<task>\n<name>Task 1: A</name>\n<action>\n```\nnever closed\n</task>\n</tasks>\n",
            "1 A",
        ),
    ] {
        let plan = read_text(&format!("{head}{body}"));
        let tasks: Vec<String> = plan
            .tasks
            .iter()
            .map(|task| format!("{} {}", task.id, task.title))
            .collect();
        assert_eq!(tasks.join("|"), expected, "{body}");
    }
}

#[test]
fn hostile_plans_are_read_to_their_end() {
    let head = "---\nphase: 1\nplan: 1\n---\n<tasks>\n";
    for body in [
        "<task>\n<name>A</name>\n".repeat(20_000),
        format!(
            "<task>\n<name>A</name>\n<action>{}",
            "<action>\n".repeat(50_000)
        ),
        format!("<task>\n<name>A</name>\n{}", "<verify".repeat(50_000)),
        format!("<task>\n<name>{}</name>\n", "<".repeat(300_000)),
        format!(
            "<task>\n<name>A</name><verify>\n{}</verify>",
            "<automated>".repeat(30_000)
        ),
        format!(
            "<task>\n<name>A</name><files>{}</files>",
            "a.rs, ".repeat(50_000)
        ),
        format!(
            "<task>\n<name>A</name><read_first>{}</read_first>",
            "- a/b — c\n".repeat(30_000)
        ),
        format!(
            "<task>\n<name>A\u{0}\u{1b}[2J</name>\n<action>\n{}",
            "```\n</task>\n".repeat(30_000)
        ),
        "<task ".repeat(50_000),
    ] {
        let plan = read_text(&format!("{head}{body}"));
        assert!(plan.tasks.len() <= 20_000);
    }
}

#[test]
fn the_plans_of_a_folder_are_one_plan() {
    let file = |name: &str, depends: &str| {
        let text = format!(
            "---\nphase: 03-bakery\nplan: {name}\ndepends_on: [{depends}]\n---\n<tasks>\n<task>\n<name>Task 1: A</name>\n</task>\n<task>\n<name>Task 2: B</name>\n</task>\n</tasks>\n"
        );
        read(
            &format!(".planning/phases/03-bakery/03-{name}-PLAN.md"),
            text.as_bytes(),
            BatchOptions::default(),
        )
    };
    let plan = join_plans(
        ".planning/phases/03-bakery",
        vec![file("01", ""), file("02", "03-01"), file("03", "01")],
    );
    let shown: Vec<String> = plan
        .tasks
        .iter()
        .map(|task| format!("{}<{}", task.id, task.deps.join(",")))
        .collect();
    let expected = [
        "03-01.1<",
        "03-01.2<03-01.1",
        "03-02.1<03-01.2",
        "03-02.2<03-02.1",
        "03-03.1<03-01.2",
        "03-03.2<03-03.1",
    ];
    assert_eq!(shown, expected);
    assert!(
        plan.can_run() && plan.diagnostics.is_empty(),
        "{:?}",
        plan.diagnostics
    );
    assert_eq!(
        plan.tasks[0].section.as_deref(),
        Some("Phase 03-bakery, plan 01")
    );
}

#[test]
fn the_verification_names_its_commands_also_in_boxes_and_in_sentences() {
    for (rows, expected) in [
        (
            "- [ ] `npm test` passes\n- [x] npm run lint",
            "npm test|npm run lint",
        ),
        (
            "- [ ] Verify `npm test` passes\n- [ ] all is well",
            "npm test",
        ),
        ("- [ ] **Build:** `npm run build`", "npm run build"),
        ("- [ ] Full suite `npm test` passes", "npm test"),
        ("- [ ] All tests pass (`npm test`)", "npm test"),
        ("- [ ] `pytest`\n- [ ] `README.md`", "pytest"),
        ("- [ ] Run the page with `npm run dev`", ""),
    ] {
        let text = format!(
            "---\nphase: 1\nplan: 1\n---\n<tasks>\n<task type=\"auto\">\n<name>A</name>\n<action>b</action>\n</task>\n</tasks>\n\
             <verification>\n{rows}\n</verification>\n"
        );
        let plan = read(
            ".planning/01-PLAN.md",
            text.as_bytes(),
            BatchOptions::default(),
        );
        let commands: Vec<&str> = plan
            .final_checks
            .iter()
            .map(|check| check.command.as_str())
            .collect();
        assert_eq!(commands.join("|"), expected, "{rows}");
        assert_eq!(
            plan.refused_checks.len(),
            usize::from(rows.contains("dev")),
            "{rows}: {:?}",
            plan.refused_checks
        );
    }
}
