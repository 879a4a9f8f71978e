//! Links of pages to files of the repository, each with a target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{read, top};

pub(crate) fn pages() -> Vec<PathBuf> {
    let list = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "*.md",
    ];
    let output = Command::new("git")
        .args(list)
        .current_dir(top())
        .output()
        .unwrap();
    let pages: Vec<PathBuf> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(PathBuf::from)
        .collect();
    assert!(pages.len() > 15, "git names only {} pages", pages.len());
    pages
        .into_iter()
        .filter(|page| top().join(page).is_file())
        .collect()
}

/// Targets of the links and pictures of a page, outside of its code.
fn targets(page: &str) -> Vec<String> {
    let text: String = page.split("```").step_by(2).collect();
    let text: Vec<String> = text
        .lines()
        .map(|line| line.split('`').step_by(2).collect())
        .collect();
    let links = text.iter().flat_map(|line| line.split("](").skip(1));
    links
        .filter_map(|rest| rest.split(')').next())
        .map(str::to_owned)
        .collect()
}

fn anchors(page: &str) -> Vec<String> {
    let headings = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim());
    let keeps =
        |character: &char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_');
    headings
        .map(|heading| {
            heading
                .to_lowercase()
                .chars()
                .filter(keeps)
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

#[test]
fn every_link_to_a_file_leads_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = read(&page.to_string_lossy());
        for target in targets(&text)
            .iter()
            .filter(|target| !target.contains("://"))
        {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap_or(Path::new("")).join(path)
            };
            assert!(
                top().join(&file).exists(),
                "{} links to {target}, which is not there",
                page.display()
            );
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(top().join(&file)).unwrap());
                assert!(
                    there.iter().any(|it| it == anchor),
                    "{}: no heading for {target}",
                    page.display()
                );
            }
            count += 1;
        }
    }
    assert!(count > 60, "only {count} links found");
}

#[test]
fn links_are_found_and_code_holds_none() {
    let page = "a [b](c.md) ![d](e.svg#f)\n`[x](y)` ```\n[no](no)\n``` [g](#h-i)";
    assert_eq!(targets(page), ["c.md", "e.svg#f", "#h-i"]);
    assert_eq!(
        anchors("# At a Stop\n## `omo` says: it's\n"),
        ["at-a-stop", "omo-says-its"]
    );
}
