//! The comparison of a claim with the start of its run, where it takes longer than a claim waits: the verdict comes without
//! it and says so, `omo status` shows it later, and no reviewer waits for it at all.

use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use omo_testkit::{Lab, wait_until};

use crate::claim_proof::shows_without_change;
use crate::claim_scene::AGREES;
use crate::cli::omo;
use crate::scene::{Scene, plugin};

/// More than a claim waits, with its checks and git on a machine that does other things.
const LIMIT: Duration = Duration::from_secs(50);
const PENDING: &str = "the comparison with the start has not finished";

/// A session whose work is done, held with these options. In the copies its check waits for a file.
fn begin(options: &str) -> Result<Scene> {
    let lab = Lab::builder().build()?;
    lab.configure("[verify]\nprove = \"inform\"\n")?;
    let mut scene = Scene::in_lab(&plugin(), lab)?;
    scene.session = scene.session.with_limit(LIMIT);
    scene.lab.write("total.py", "1\n")?;
    let waits = "case $PWD in */proofs/*) while test ! -e ~/go; do sleep 0.1; done;; esac";
    scene.start(&format!(
        "{options} --check \"{waits}; grep -q 2 total.py\""
    ))?;
    scene.lab.write("total.py", "2\n")?;
    Ok(scene)
}

/// Lets the check go on, and waits until the answer is there.
fn finish(scene: &Scene) -> Result<()> {
    fs::write(scene.lab.home().join("go"), "")?;
    let is_known = || {
        let said = omo(scene, &["status"], &[]).ok()?.stdout;
        let is_open = |line: &str| line.ends_with(PENDING) || line.contains("not done in time");
        let is_known = |line: &str| line.starts_with("without the change") && !is_open(line);
        String::from_utf8_lossy(&said)
            .lines()
            .any(is_known)
            .then_some(())
    };
    wait_until("the answer", is_known)
}

fn verdict_comes_first() -> Result<()> {
    let scene = begin("--no-review")?;
    let line = scene.claim_ends("verified")?;
    ensure!(
        line.contains(PENDING) && line.contains(" s: `omo status` tells it later"),
        "{line}"
    );
    shows_without_change(&scene, PENDING)?;
    finish(&scene)?;
    shows_without_change(&scene, "red without the change")
}

fn reviewer_is_not_kept_waiting() -> Result<()> {
    let scene = begin("")?;
    // Its check goes on in the copies only behind the first claim.
    scene.claim_fails()?;
    let material = fs::read_to_string(scene.material_path())?;
    ensure!(
        material.contains(&format!("with the current test files: {PENDING}\n")),
        "{material}"
    );
    ensure!(scene.unusual_lines().is_empty(), "{material}");
    finish(&scene)?;
    scene.agent_reports("omo:oracle", AGREES)?;
    let line = scene.claim_ends("verified")?;
    ensure!(
        line.contains("1 check green, red without the change; reviewed"),
        "{line}"
    );
    Ok(())
}

#[test]
fn an_answer_that_takes_longer_than_a_claim_waits_comes_behind_the_verdict() {
    std::thread::scope(|scope| {
        let plays = [
            scope.spawn(verdict_comes_first),
            scope.spawn(reviewer_is_not_kept_waiting),
        ];
        for play in plays {
            play.join().unwrap().unwrap();
        }
    });
}
