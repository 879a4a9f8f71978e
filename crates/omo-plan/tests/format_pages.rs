//! The example of each page on a format is read as the page says.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::fs;
use std::path::PathBuf;

use omo_plan::dialects::{BatchOptions, read};
use omo_plan::model::Dialect;

/// The pages of `docs/formats`, each with the dialect of its example.
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

/// What stands as code in the first line that begins so.
fn code_of_line(page: &str, name: &str, beginning: &str) -> Vec<String> {
    let line = page.lines().find_map(|line| line.strip_prefix(beginning));
    let line = line.unwrap_or_else(|| panic!("{name} has no line that begins with {beginning}"));
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The first fenced block, without its fences.
fn first_block<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, behind) = page.split_once("\n```").unwrap_or_else(|| panic!("{name} has no example"));
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
        let plan = read(&paths[0], first_block(&page, name).as_bytes(), BatchOptions::default());
        assert_eq!(plan.dialect, dialect, "{name}");
        assert!(plan.can_run(), "{name}: {:?}", plan.diagnostics);
        let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, code_of_line(&page, name, "Tasks: "), "{name}");
    }
}

#[test]
fn every_page_of_the_folder_is_read() {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = entries.collect();
    found.sort();
    assert_eq!(found, PAGES.map(|(name, _)| format!("{name}.md")));
}
