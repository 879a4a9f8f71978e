//! The example of each page on a format is read as the page says.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test's helpers fail as a test does"
)]

use std::fs;
use std::path::PathBuf;

use omo_plan::dialects::{BatchOptions, PlanChange, read};
use omo_plan::model::Dialect;

const PAGES: [(&str, Dialect); 8] = [
    ("dev-workflow", Dialect::DevWorkflow),
    ("gsd", Dialect::Gsd),
    ("kiro", Dialect::Kiro),
    ("openspec", Dialect::OpenSpec),
    ("spec-kit", Dialect::SpecKit),
    ("steps", Dialect::Ultraplan),
    ("superpowers", Dialect::Superpowers),
    ("task-master", Dialect::TaskMaster),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats")
}

/// The code in the first line that begins with `beginning`.
fn code_of_line(page: &str, name: &str, beginning: &str) -> Vec<String> {
    let line = page.lines().find_map(|line| line.strip_prefix(beginning));
    let line = line.unwrap_or_else(|| panic!("{name} has no line that begins with {beginning}"));
    line.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn first_block<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, behind) = page
        .split_once("\n```")
        .unwrap_or_else(|| panic!("{name} has no example"));
    let (language, behind) = behind.split_once('\n').unwrap();
    assert!(["md", "json"].contains(&language), "{name}: {language}");
    let (block, _) = behind.split_once("\n```\n").unwrap();
    block
}

#[test]
fn the_example_of_each_page_is_a_plan_of_its_format() {
    for (name, dialect) in PAGES {
        let page = fs::read_to_string(folder().join(format!("{name}.md"))).unwrap();
        let paths = code_of_line(&page, name, "Example: ");
        let plan = read(
            &paths[0],
            first_block(&page, name).as_bytes(),
            BatchOptions::default(),
        );
        assert_eq!(plan.dialect, dialect, "{name}");
        assert!(plan.can_run(), "{name}: {:?}", plan.diagnostics);
        let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, code_of_line(&page, name, "Tasks: "), "{name}");
    }
}

#[test]
fn the_state_of_a_task_goes_back_where_the_page_says_so() {
    // The last task of the example, and its line once it has passed; `None` without state.
    for (name, dialect, task, written) in [
        ("dev-workflow", Dialect::DevWorkflow, "2", None),
        ("gsd", Dialect::Gsd, "2", None),
        ("kiro", Dialect::Kiro, "1.2", Some("  - [x]* 1.2")),
        ("openspec", Dialect::OpenSpec, "3.1", Some("- [x] 3.1")),
        ("spec-kit", Dialect::SpecKit, "T005", Some("- [x] T005")),
        ("steps", Dialect::Ultraplan, "2", None),
        (
            "superpowers",
            Dialect::Superpowers,
            "2",
            Some("- [x] **Step 1: Add one call"),
        ),
        (
            "task-master",
            Dialect::TaskMaster,
            "3",
            Some("        \"status\": \"done\""),
        ),
    ] {
        let page = fs::read_to_string(folder().join(format!("{name}.md"))).unwrap();
        let block = first_block(&page, name);
        let after = dialect
            .rules()
            .write_back(block, &PlanChange::Done { task });
        let changed = after.map(|after| {
            assert_eq!(after.lines().count(), block.lines().count(), "{name}");
            let rows = after
                .lines()
                .zip(block.lines())
                .filter(|(now, before)| now != before)
                .map(|(now, _)| now);
            rows.map(str::to_owned).collect::<Vec<_>>()
        });
        match (changed.as_deref(), written) {
            (None, None) => {}
            (Some([row]), Some(written)) => assert!(row.starts_with(written), "{name}: {row}"),
            (changed, _) => panic!("{name}: {changed:?}"),
        }
    }
}

#[test]
fn the_table_of_formats_has_the_places_of_each() {
    let page = fs::read_to_string(folder().join("../plans.md")).unwrap();
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .map(|(first, _)| first);
    let paths = rows
        .flat_map(|row| row.split('`').skip(1).step_by(2))
        .filter(|path| path.contains("md") || path.contains("json"));
    let named: Vec<Dialect> = paths
        .filter_map(|path| Dialect::of_place(&path.replace('*', "a")))
        .collect();
    for dialect in Dialect::of_files().filter(|dialect| !dialect.rules().places().is_empty()) {
        assert!(named.contains(&dialect), "{dialect:?} is not in the table");
    }
}

#[test]
fn every_page_of_the_folder_is_read() {
    let entries = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = entries.collect();
    found.sort();
    assert_eq!(found, PAGES.map(|(name, _)| format!("{name}.md")));
}
