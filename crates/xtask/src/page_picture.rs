//! `cargo xtask page-picture`: pictures of pages of `omo report --html`, from runs of the tests.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo;

const FOLDER: &str = "docs/report-pages";
const PICTURES: [&str; 5] = [
    "plan-parallel-light.webp",
    "plan-parallel-narrow-dark.webp",
    "plan-failed-dark.webp",
    "ultrawork-verified-light.webp",
    "ultrawork-not-proved-light.webp",
];

/// Runs the tests that open pages, and keeps the pictures for the docs.
pub(crate) fn run() -> Result<()> {
    let taken = cargo::target()?.join("page-pictures");
    fs::create_dir_all(&taken).with_context(|| format!("create {}", taken.display()))?;
    let mut tests = Command::new(cargo::cargo());
    tests
        .args(["xtask", "test", "browser"])
        .env("OMO_TEST_PICTURES", &taken);
    cargo::run(tests.current_dir(cargo::top()?))?;
    let folder = cargo::top()?.join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    for name in PICTURES {
        fs::copy(taken.join(name), folder.join(name)).with_context(|| format!("copy {name}"))?;
    }
    anstream::println!(
        "written: {FOLDER}, {} of those in {}",
        PICTURES.len(),
        taken.display()
    );
    Ok(())
}
