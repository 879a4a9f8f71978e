//! The pages of `omo report --html` in a real browser: every kind of run is made by the programs themselves, its page
//! is opened in headless Chromium, and what stands there, what it does and how it can be read is judged.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod followed_page;
mod hostile_run;
mod opened_pages;
mod plan_runs;
mod rules;
mod showcase_run;
mod ultrawork_runs;

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use omo_tests::scene;
use serde_json::json;

use crate::opened_pages::{PAGES, opened_pages};
use crate::rules::Rule;

/// The page of the last run of a project, as its user writes it.
fn page_of_last_run(lab: &Lab) -> Result<String> {
    report_page(lab, &[])
}

/// A page of `omo report`, written with these options.
fn report_page(lab: &Lab, options: &[&str]) -> Result<String> {
    let file = lab.home().join("page.html");
    let mut omo = lab.command(scene::plugin().join("bin/omo"));
    let output = omo
        .args(["report", "--html"])
        .arg(&file)
        .args(options)
        .stdin(Stdio::null())
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))
}

/// A rule holds of every page, and not of the one that was written to break each of them.
#[expect(clippy::unwrap_used, reason = "a test's helper fails as a test does")]
fn holds(rule: Rule) {
    let opened = opened_pages().unwrap();
    assert_eq!(opened.pages.len(), PAGES.len());
    let wrong: Vec<String> = opened.pages.iter().flat_map(rule).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        !rule(&opened.broken).is_empty(),
        "the rule finds nothing on a page that breaks it"
    );
}

#[test]
fn every_page_says_what_came_of_its_run() {
    holds(rules::says_what_came_of_it);
}

#[test]
fn every_link_of_a_page_leads_to_something_on_it() {
    holds(rules::links_lead_somewhere);
}

#[test]
fn no_page_loads_or_logs_anything() {
    holds(rules::loads_and_logs_nothing);
}

#[test]
fn no_text_of_a_page_becomes_an_element_or_runs() {
    holds(rules::is_made_of_known_elements);
}

#[test]
fn every_page_keeps_the_accessibility_rules() {
    holds(rules::is_accessible);
}

#[test]
fn every_page_is_as_wide_as_its_window() {
    holds(rules::fits_its_window);
}

#[test]
fn every_page_can_be_printed() {
    holds(rules::can_be_printed);
}

#[test]
fn a_keyboard_reaches_all_of_a_page() {
    holds(rules::is_reached_by_keys);
}

#[test]
fn a_page_reads_the_same_without_scripts() {
    holds(rules::reads_the_same_without_scripts);
}

#[test]
fn hostile_texts_stand_on_the_page_as_they_were_written() {
    let opened = opened_pages().unwrap();
    for (name, texts) in hostile_run::TEXTS {
        let page = opened.page(name).unwrap();
        let text = page["content"]["text"].as_str().unwrap();
        for shown in texts {
            assert!(
                text.contains(shown),
                "{name} does not show {shown:?}:\n{text}"
            );
        }
        let unseen =
            |char: char| matches!(char, '\u{202e}' | '\u{2066}' | '\u{1b}' | '\u{7}' | '\u{0}');
        assert!(!text.contains(unseen), "{name} holds what is not seen");
    }
}

#[test]
fn a_followed_page_renews_itself_and_keeps_open_what_is() {
    let told = followed_page::renewed_page().unwrap();
    assert_eq!(
        told["followed"],
        json!({"requests": [], "logged": []}),
        "{told}"
    );
}

#[test]
fn a_browser_that_cannot_be_started_is_no_success() {
    let mut node = Command::new("node");
    node.arg(opened_pages::DRIVER).arg("/nowhere/job.json");
    assert!(!node.output().unwrap().status.success());
}
