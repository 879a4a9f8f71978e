//! Every shell block of the README, the guide and CONTRIBUTING is run, in a project where a prompt started a run.

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use omo_tests::scene::{Scene, plugin};

use crate::commands::{tasks, without_remark};
use crate::{fenced, page, top};

const PAGES: [&str; 3] = ["README.md", "docs/guide.md", "CONTRIBUTING.md"];

/// What a line may begin with that is not run here, and why not.
const NOT_RUN: [(&str, &str); 2] = [
    (
        "cargo xtask ",
        "builds this repository, and runs these very tests",
    ),
    (
        "claude ",
        "starts a session with a model; the tests with the real client start the same one",
    ),
];

fn is_left_out(block: &str) -> bool {
    block.lines().all(|line| {
        NOT_RUN
            .iter()
            .any(|(beginning, _)| line.starts_with(beginning))
    })
}

/// Runs a block as a person does who pastes it; gives the scene as it is afterwards.
fn run(plugin: &std::path::Path, block: &str) -> Result<Scene> {
    let lab = Lab::builder().path(plugin.join("bin")).build()?;
    let mut scene = Scene::in_lab(plugin, lab)?;
    scene.prompt("/omo:ulw --check \"test -f done.txt\" write done.txt")?;
    ensure!(
        scene.entry()?["ulw"]["enabled"] == true,
        "the prompt turned nothing on"
    );
    let output = scene
        .lab
        .command("/bin/sh")
        .args(["-eu", "-c", block])
        .output()?;
    ensure!(
        output.status.success(),
        "{}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(scene)
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn every_block_that_a_reader_pastes_works() {
    let plugin = plugin();
    let mut count = 0;
    for name in PAGES {
        for block in fenced(&page(name), "sh")
            .into_iter()
            .filter(|block| !is_left_out(block))
        {
            if let Err(error) = run(&plugin, block) {
                panic!("{name}:\n{block}\n{error:#}");
            }
            count += 1;
        }
    }
    assert!(count > 4, "only {count} blocks were run");
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn the_last_line_of_the_readmes_block_stops_the_run() {
    let plugin = plugin();
    let readme = page("README.md");
    let block = fenced(&readme, "sh")
        .into_iter()
        .find(|block| block.contains("omo stop"))
        .unwrap();
    let scene = run(&plugin, block).unwrap();
    assert_eq!(scene.entry().unwrap()["verdict"]["kind"], "stopped");
}

/// A block is run as a whole or not at all: a line that is not run may hide none that would be.
#[test]
fn what_is_not_run_is_of_a_kind_that_another_test_runs() {
    for name in PAGES {
        for block in fenced(&page(name), "sh") {
            let left_out = block.lines().filter(|line| {
                NOT_RUN
                    .iter()
                    .any(|(beginning, _)| line.starts_with(beginning))
            });
            let left_out: Vec<&str> = left_out.collect();
            assert!(
                left_out.is_empty() || is_left_out(block),
                "{name}:\n{block}"
            );
            for line in left_out {
                is_run_elsewhere(line).unwrap_or_else(|error| panic!("{name}: {line}: {error:#}"));
            }
        }
    }
}

fn is_run_elsewhere(line: &str) -> Result<()> {
    let typed = without_remark(line);
    if let Some(task) = typed.strip_prefix("cargo xtask ") {
        let name = task.split(" --").next();
        ensure!(
            tasks().iter().any(|it| Some(it.as_str()) == name),
            "there is no such task"
        );
        return Ok(());
    }
    let client = std::fs::read_to_string(top().join("crates/omo-testkit/src/client.rs"))
        .context("read the kit")?;
    for option in typed.split(' ').filter(|word| word.starts_with('-')) {
        ensure!(
            client.contains(&format!("\"{option}\"")),
            "the kit starts no client with {option}"
        );
    }
    Ok(())
}
