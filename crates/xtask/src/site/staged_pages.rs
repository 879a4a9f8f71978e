//! Pages as mdBook takes them: all in one folder, with links to other files of the repository as addresses.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use pulldown_cmark::{Event, Options, Parser, Tag};

const SUMMARY: &str = "docs/SUMMARY.md";
/// Endings of files that a browser shows, copied beside the pages that lead to them.
const SHOWN: [&str; 4] = ["html", "png", "svg", "webp"];
const FILES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// Writes the pages of the summary, and the pictures in them, into a folder.
pub(super) fn stage(top: &Path, folder: &Path) -> Result<()> {
    let summary = read(top, SUMMARY)?;
    let linked = links(&summary).into_iter();
    let pages: BTreeSet<String> = linked.map(|link| resolve(SUMMARY, &link.target)).collect();
    let mut shown = BTreeSet::new();
    for page in pages.iter().map(String::as_str).chain([SUMMARY]) {
        let text = stage_page(page, &read(top, page)?, &pages, &mut shown);
        let path = folder.join(staged(page));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    }
    for file in &shown {
        let path = folder.join(staged(file));
        ensure!(
            top.join(file).is_file(),
            "a page shows {file}, which is not there"
        );
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
        }
        fs::copy(top.join(file), path).with_context(|| format!("copy {file}"))?;
    }
    Ok(())
}

fn read(top: &Path, page: &str) -> Result<String> {
    fs::read_to_string(top.join(page)).with_context(|| format!("read {page}"))
}

/// The page with its links as they lead from the staged pages. A diagram that only GitHub draws is left out; the table
/// below it says the same.
fn stage_page(
    page: &str,
    text: &str,
    pages: &BTreeSet<String>,
    shown: &mut BTreeSet<String>,
) -> String {
    let mut staged_text = text.to_owned();
    for link in links(text).into_iter().rev() {
        if link.target.contains("://") || link.target.starts_with('#') {
            continue;
        }
        let (path, anchor) = match link.target.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (link.target.as_str(), String::new()),
        };
        let file = resolve(page, path);
        let ending = file.rsplit('.').next().unwrap_or_default();
        let target = if pages.contains(&file) || SHOWN.contains(&ending) {
            if !pages.contains(&file) {
                shown.insert(file.clone());
            }
            let depth = staged(page).matches('/').count();
            format!("{}{}{anchor}", "../".repeat(depth), staged(&file))
        } else {
            format!("{FILES}{file}{anchor}")
        };
        staged_text.replace_range(link.start..link.start + link.target.len(), &target);
    }
    match staged_text.split_once("```mermaid\n") {
        Some((before, rest)) => match rest.split_once("```\n\n") {
            Some((_, after)) => format!("{before}{after}"),
            None => staged_text,
        },
        None => staged_text,
    }
}

/// Path of a staged file: without `docs/`, so that addresses are short, and the page of a folder as its index.
fn staged(file: &str) -> String {
    let file = file.strip_prefix("docs/").unwrap_or(file);
    match file.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => file.to_owned(),
    }
}

/// Path from the top of the repository of a link of a page.
fn resolve(page: &str, target: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Target of a link or a picture, with its place in the text.
struct Link {
    start: usize,
    target: String,
}

/// Links and pictures of a page in their order; those in code are none.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
            continue;
        };
        let whole = text.get(range.clone()).unwrap_or_default();
        if let Some(place) = whole.rfind(&format!("]({dest_url}")) {
            let start = range.start + place + "](".len();
            links.push(Link {
                start,
                target: dest_url.into_string(),
            });
        }
    }
    links.sort_by_key(|link| link.start);
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo;

    #[test]
    fn links_lead_to_staged_pages_and_other_files_to_the_repository() {
        let pages = BTreeSet::from(["README.md".to_owned(), "docs/adr/1.md".to_owned()]);
        let mut shown = BTreeSet::new();
        let text = "[![p](../a.svg)](../../README.md#top) [s](../../x/y.rs) [self](#h) `[c](d)` [e](https://e.e)";
        let expected = format!(
            "[![p](../a.svg)](../index.md#top) [s]({FILES}x/y.rs) [self](#h) `[c](d)` [e](https://e.e)"
        );
        assert_eq!(
            stage_page("docs/adr/1.md", text, &pages, &mut shown),
            expected
        );
        assert_eq!(shown, BTreeSet::from(["docs/a.svg".to_owned()]));
        let text = "[a](docs/adr/1.md)\n```mermaid\na --> b\n```\n\nend";
        assert_eq!(
            stage_page("README.md", text, &pages, &mut shown),
            "[a](adr/1.md)\nend"
        );
    }

    /// Pages below docs are for readers; those that are not on the site are not found by them.
    #[test]
    fn every_page_is_in_the_summary_once() {
        let top = cargo::top().unwrap();
        let summary = read(&top, SUMMARY).unwrap();
        let mut listed: Vec<String> = links(&summary)
            .iter()
            .map(|link| resolve(SUMMARY, &link.target))
            .collect();
        listed.sort();
        let mut there = vec![
            "README.md",
            "SECURITY.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
        ]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
        let mut folders = vec![top.join("docs")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "md") {
                    let path = path.strip_prefix(&top).unwrap();
                    there.push(path.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        there.retain(|page| page != SUMMARY);
        there.sort();
        let apart: BTreeSet<_> = listed.iter().filter(|page| !there.contains(page)).collect();
        let left_out: Vec<_> = there.iter().filter(|page| !listed.contains(page)).collect();
        assert_eq!(
            listed, there,
            "{SUMMARY} has {apart:?}, and has not {left_out:?}"
        );
    }
}
