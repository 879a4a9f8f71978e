//! A queue that has no room, or takes nothing: what is shown, and that it costs nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::ensure;
use omo_tests::parallel_repository::{Session, session, step};

use crate::scene::{PLAIN, Surroundings, on_cluster};

const FILES: [(u32, &str); 3] = [(1, "a.txt"), (2, "b.txt"), (3, "c.txt")];

fn three() -> Vec<Session<'static>> {
    FILES.into_iter().map(|(number, file)| session(1, &[step(number, file)])).collect()
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn workers_that_wait_in_the_queue_of_slurm_are_shown_so_and_cost_nothing() {
    on_cluster(&three(), &FILES, &Surroundings { processors: 1, ..PLAIN }, |scene| {
        for (number, file) in FILES {
            scene.script_that_waits(number, file)?;
        }
        scene.start()?;
        scene.wait_for_line(": began on ")?;
        let rows = scene.rows()?;
        ensure!(rows.matches(" queued ").count() == 2 && rows.matches("works on").count() == 1, "{rows}");
        ensure!(!rows.contains('$'), "what waits has cost something: {rows}");
        let jobs = scene.cluster.jobs("PENDING")?;
        ensure!(jobs.len() == 2, "{jobs:?}");
        scene.release()?;
        scene.finish(&FILES)?;
        scene.require_one_attempt_each()
    })
    .unwrap();
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_queue_that_takes_nothing_is_tried_again_and_uses_no_attempt() {
    on_cluster(&three(), &FILES, &Surroundings { launcher: "at_once = 2", ..PLAIN }, |scene| {
        scene.script_that_waits(1, "a.txt")?;
        scene.script_that_waits(2, "b.txt")?;
        scene.start()?;
        scene.wait_until_begun(1, 1)?;
        scene.wait_until_begun(2, 1)?;
        scene.cluster.set_queue("inactive")?;
        scene.cluster.slurm("scancel", &[&scene.job_id("session-2")?])?;
        scene.wait_for_line("Session 2: not taken")?;
        scene.cluster.set_queue("up")?;
        scene.release()?;
        scene.finish(&FILES)?;
        let lines = scene.lines()?;
        ensure!(lines.contains("; it is tried again"), "{lines}");
        scene.require_one_attempt_each()
    })
    .unwrap();
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_cluster_that_knows_no_more_jobs_takes_the_others_once_it_has_forgotten_some() {
    let few = Surroundings { cluster: "MaxJobCount=2\nMinJobAge=2", ..PLAIN };
    on_cluster(&three(), &FILES, &few, |scene| {
        scene.open()?;
        scene.finish(&FILES)?;
        scene.require_one_attempt_each()
    })
    .unwrap();
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_job_that_was_taken_though_its_command_failed_is_cancelled() {
    on_cluster(&three(), &FILES, &Surroundings { processors: 1, ..PLAIN }, |scene| {
        let folder = scene.home.home();
        let program = scene.ground.programs().join("sbatch");
        let text = format!(
            "#!/bin/sh\n/usr/bin/sbatch \"$@\" || exit\nmkdir '{}/failed' 2>/dev/null || exit 0\necho no answer >&2\nexit 1\n",
            folder.display()
        );
        fs::write(&program, text)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        scene.open()?;
        scene.finish(&FILES)?;
        let lines = scene.lines()?;
        ensure!(lines.contains("ended with status 1: no answer"), "{lines}");
        let (done, cancelled) = (scene.cluster.jobs("COMPLETED")?.len(), scene.cluster.jobs("CANCELLED")?.len());
        ensure!((done, cancelled) == (3, 1), "{done} done, {cancelled} cancelled");
        scene.require_one_attempt_each()
    })
    .unwrap();
}
