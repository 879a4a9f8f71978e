//! What a claim's checks say without the change, where that is known only after a minute: neither a verdict nor what a
//! reviewer reads waits for it any longer, and `omo status` shows it later.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use omo_testkit::{Lab, wait_until};

use crate::claim_proof::{shows_unusual, shows_without_change};
use crate::claim_scene::AGREES;
use crate::cli::omo;
use crate::scene::{Scene, plugin};

/// So long a claim waits, and what else it needs: the checks, git, and a machine that does other things.
const WAIT: std::ops::Range<Duration> = Duration::from_secs(58)..Duration::from_secs(85);
const LIMIT: Duration = Duration::from_secs(30);
const PENDING: &str = "the comparison with the start has not finished";

/// A claim that ends so, after the time that it waits.
fn claim(scene: &Scene, ends: impl FnOnce(&Scene) -> Result<()>) -> Result<()> {
    let start = Instant::now();
    ends(scene)?;
    let took = start.elapsed();
    ensure!(WAIT.contains(&took), "the claim took {took:?}");
    Ok(())
}

/// A session whose work is done, held with these options. In the copies its check waits for a file.
fn begin(options: &str) -> Result<Scene> {
    let lab = Lab::builder().build()?;
    lab.configure("[verify]\nprove = \"inform\"\n")?;
    let mut scene = Scene::in_lab(&plugin(), lab)?;
    scene.session = scene.session.with_limit(WAIT.end + LIMIT);
    scene.lab.write("total.txt", "1\n")?;
    let waits = "case $PWD in */proofs/*) while test ! -e ~/go; do sleep 0.1; done;; esac";
    scene.start(&format!("{options} --check \"{waits}; grep -q 2 total.txt\""))?;
    scene.lab.write("total.txt", "2\n")?;
    Ok(scene)
}

/// Lets the check go on, and waits until the answer is there.
fn finish(scene: &Scene) -> Result<()> {
    fs::write(scene.lab.home().join("go"), "")?;
    let is_known = || {
        let said = omo(scene, &["status"], &[]).ok()?.stdout;
        let is_pending = |line: &str| line.starts_with("unusual") && line.ends_with(PENDING);
        (!String::from_utf8_lossy(&said).lines().any(is_pending)).then_some(())
    };
    wait_until("the answer", is_known)
}

fn verdict_comes_first() -> Result<()> {
    let scene = begin("--no-review")?;
    claim(&scene, |scene| {
        let line = scene.claim_ends("verified")?;
        ensure!(line.contains(PENDING), "{line}");
        Ok(())
    })?;
    shows_unusual(&scene, PENDING)?;
    finish(&scene)?;
    shows_without_change(&scene, "red without the change")
}

fn reviewer_is_not_kept_waiting() -> Result<()> {
    let scene = begin("")?;
    let reads = |part: &str| {
        let material = fs::read_to_string(scene.material_path())?;
        ensure!(material.contains(part), "`{part}` is not in:\n{material}");
        Ok(())
    };
    claim(&scene, |scene| scene.claim_fails().map(drop))?;
    reads(&format!("judged first\n\n- {PENDING}\n"))?;
    finish(&scene)?;
    // A claim that comes before the review has it written down anew.
    scene.claim_fails()?;
    reads("with the test files of now: red without the change\n")?;
    scene.agent_reports("omo:oracle", AGREES)?;
    let line = scene.claim_ends("verified")?;
    ensure!(line.contains("1 check green, red without the change; reviewed"), "{line}");
    Ok(())
}

#[test]
fn an_answer_that_takes_longer_than_a_minute_is_not_waited_for() {
    std::thread::scope(|scope| {
        let plays = [scope.spawn(verdict_comes_first), scope.spawn(reviewer_is_not_kept_waiting)];
        for play in plays {
            play.join().unwrap().unwrap();
        }
    });
}
