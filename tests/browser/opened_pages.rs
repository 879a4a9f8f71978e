//! The pages that are opened, and what the browser tells of each.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::{hostile_run, plan_runs, showcase_run, ultrawork_runs};

/// What drives the browser.
pub(crate) const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/browser/driver.mjs");
/// A page that breaks each rule.
const BROKEN: &str = include_str!("broken.html");

/// A page that is opened.
pub(crate) struct PageCase {
    /// Its name.
    pub(crate) name: &'static str,
    /// The tone of its verdict, as a class of the style sheet.
    tone: &'static str,
    /// What its text says, the sentence of the verdict first.
    says: &'static [&'static str],
    /// How many cards it has.
    cards: usize,
    /// Makes the run, and gives the page of it.
    make: fn() -> Result<String>,
}

const fn page(
    name: &'static str,
    tone: &'static str,
    says: &'static [&'static str],
    cards: usize,
    make: fn() -> Result<String>,
) -> PageCase {
    PageCase {
        name,
        tone,
        says,
        cards,
        make,
    }
}

/// Every page: one for each kind of run, and each way in which it ends.
pub(crate) const PAGES: [PageCase; 17] = [
    page(
        "ultrawork-verified",
        "proved",
        &["VERIFIED"],
        1,
        ultrawork_runs::verified,
    ),
    page(
        "ultrawork-weakened",
        "unproved",
        &["VERIFIED", "Weakened or accepted"],
        1,
        ultrawork_runs::weakened,
    ),
    page(
        "ultrawork-not-proved",
        "failed",
        &["NOT PROVED"],
        1,
        ultrawork_runs::not_proved,
    ),
    page(
        "ultrawork-blocked",
        "unproved",
        &["BLOCKED"],
        1,
        ultrawork_runs::blocked,
    ),
    page(
        "ultrawork-stopped",
        "unproved",
        &["STOPPED"],
        1,
        ultrawork_runs::stopped,
    ),
    page(
        "ultrawork-running",
        "open",
        &["On: the session works"],
        1,
        ultrawork_runs::running,
    ),
    page(
        "plan-batches",
        "proved",
        &["omplete", "The word 2"],
        2,
        plan_runs::batches,
    ),
    page(
        "plan-waiting",
        "open",
        &["Waiting for you", "omo answer q1 "],
        2,
        plan_runs::waiting,
    ),
    page(
        "plan-failed",
        "failed",
        &["ailed", "omo run retry 1"],
        2,
        plan_runs::failed,
    ),
    page("plan-waves", "proved", &["omplete"], 3, plan_runs::waves),
    page("plan-steps", "failed", &["ailed"], 2, plan_runs::steps),
    page(
        "plan-running",
        "open",
        &["The word 1"],
        2,
        plan_runs::running,
    ),
    page("task-list", "proved", &["omplete"], 4, plan_runs::task_list),
    page(
        "plan-parallel",
        "proved",
        &["omplete"],
        7,
        showcase_run::page,
    ),
    page(
        "all-runs",
        "",
        &["1 proved", "1 failed"],
        2,
        ultrawork_runs::all,
    ),
    page("hostile-plan", "failed", &["ailed"], 2, hostile_run::plan),
    page(
        "hostile-ultrawork",
        "failed",
        &["NOT PROVED"],
        1,
        hostile_run::ultrawork,
    ),
];

/// What the browser tells of every page.
pub(crate) struct OpenedPages {
    /// In their order.
    pub(crate) pages: Vec<Value>,
    /// Of the page that breaks each rule.
    pub(crate) broken: Value,
}

impl OpenedPages {
    /// What it tells of the page of this name.
    pub(crate) fn page(&self, name: &str) -> Result<&Value> {
        self.pages
            .iter()
            .find(|page| page["name"] == name)
            .with_context(|| format!("no page {name}"))
    }
}

/// Every page, opened once for all tests.
pub(crate) fn opened_pages() -> Result<&'static OpenedPages> {
    static OPENED: LazyLock<Result<OpenedPages>> = LazyLock::new(open_pages);
    OPENED.as_ref().map_err(|error| anyhow!("{error:#}"))
}

fn open_pages() -> Result<OpenedPages> {
    let folder = tempfile::Builder::new().prefix("omo-pages-").tempdir()?;
    let broken = page("broken", "proved", &["VERIFIED"], 1, || {
        Ok(BROKEN.to_owned())
    });
    let mut listed = Vec::new();
    for case in PAGES.iter().chain([&broken]) {
        let html = (case.make)().with_context(|| format!("make the run of {}", case.name))?;
        let file = folder.path().join(format!("{}.html", case.name));
        fs::write(&file, html)?;
        listed.push(json!({"name": case.name, "file": file}));
    }
    let mut told = open_in_browser(folder.path(), &listed, &Value::Null)?;
    let mut told = std::mem::take(told["pages"].as_array_mut().context("no pages")?);
    ensure!(
        told.len() == listed.len(),
        "{} of {} pages were opened",
        told.len(),
        listed.len()
    );
    for (page, case) in told.iter_mut().zip(PAGES.iter().chain([&broken])) {
        page["expected"] = json!({"tone": case.tone, "says": case.says, "cards": case.cards});
    }
    let broken = told.pop().context("no page was opened")?;
    Ok(OpenedPages {
        pages: told,
        broken,
    })
}

/// Has one browser open each of these pages, and one that is followed, and gives what it tells of them.
pub(crate) fn open_in_browser(folder: &Path, pages: &[Value], followed: &Value) -> Result<Value> {
    #[expect(
        clippy::disallowed_methods,
        reason = "`cargo xtask test` names what it installed, and where pictures go"
    )]
    let (modules, pictures) = (
        std::env::var_os("OMO_TEST_PUPPETEER"),
        std::env::var_os("OMO_TEST_PICTURES"),
    );
    let modules =
        modules.context("OMO_TEST_PUPPETEER names no Puppeteer; use `cargo xtask test`")?;
    let job = json!({
        "modules": modules.to_string_lossy(),
        "browser": "/usr/bin/chromium",
        "profile": folder.join("profile"),
        "pictures": pictures.map(|folder| folder.to_string_lossy().into_owned()),
        "pages": pages,
        "followed": followed,
    });
    let file = folder.join("job.json");
    fs::write(&file, job.to_string())?;
    let output = Command::new("node")
        .arg(DRIVER)
        .arg(&file)
        .output()
        .context("start node")?;
    ensure!(
        output.status.success(),
        "the driver: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("read what the driver tells")
}
