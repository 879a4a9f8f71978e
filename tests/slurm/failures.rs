//! What goes wrong in a cluster, and what an administrator does there: nothing is lost, no attempt is used, and work is
//! done once.

use anyhow::ensure;
use omo_testkit::wait_until;
use omo_tests::parallel_repository::{Session, session, step};

use crate::scene::{PLAIN, Scene, Surroundings, on_cluster};

const FILES: [(u32, &str); 3] = [(1, "a.txt"), (2, "b.txt"), (3, "c.txt")];

/// Two sessions side by side, the first one of two steps.
fn two() -> Vec<Session<'static>> {
    vec![
        session(1, &[step(1, "a.txt"), step(2, "b.txt")]),
        session(1, &[step(3, "c.txt")]),
    ]
}

/// Starts the run, and waits until the second step of the first session is at work, and the run knows that.
fn start_up_to_second_step(scene: &Scene) -> anyhow::Result<()> {
    scene.script_that_waits(2, "b.txt")?;
    scene.start()?;
    scene.wait_until_begun(2, 1)?;
    scene.wait_for_line("Session 1: began")
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_job_that_slurm_queues_again_goes_on_from_what_was_pushed() {
    on_cluster(&two(), &FILES, &PLAIN, |scene| {
        start_up_to_second_step(scene)?;
        scene
            .cluster
            .slurm("scontrol", &["requeue", &scene.job_id("session-1")?])?;
        scene.wait_until_begun(2, 2)?;
        ensure!(
            scene.worker("session-1")?.launch == 1,
            "another worker was handed over"
        );
        scene.release()?;
        scene.finish(&FILES)?;
        let lines = scene.lines()?;
        ensure!(lines.matches("back in the queue").count() == 1, "{lines}");
        let (jobs, first) = (
            scene.cluster.jobs("all")?,
            scene.ground.git(&["log", "--format=%s"])?,
        );
        ensure!(jobs.len() == 2, "{jobs:?}");
        ensure!(
            first.matches("feat: write 1").count() == 1,
            "the first step was done twice: {first}"
        );
        scene.require_one_attempt_each()
    });
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_node_that_loses_its_power_holds_the_run_until_it_is_back() {
    on_cluster(&two(), &FILES, &PLAIN, |scene| {
        start_up_to_second_step(scene)?;
        scene.wait_for_known_pushes()?;
        scene.cluster.kill_node()?;
        scene.cluster.take_down_node()?;
        scene.wait_for_line("Session 1: back in the queue")?;
        scene.release()?;
        scene.cluster.start_node()?;
        scene.cluster.return_node()?;
        scene.finish(&FILES)?;
        scene.require_one_attempt_each()
    });
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_controller_that_does_not_answer_loses_no_worker() {
    on_cluster(
        &two(),
        &FILES,
        &Surroundings {
            cluster: "MessageTimeout=3",
            ..PLAIN
        },
        |scene| {
            start_up_to_second_step(scene)?;
            scene.cluster.stop_controller()?;
            // The run asks about as often, and gets no answer either.
            ensure!(scene.cluster.jobs("all").is_err() && scene.cluster.jobs("all").is_err());
            scene.release()?;
            scene.finish(&FILES)?;
            scene.require_one_attempt_each()?;
            scene.cluster.start_controller()
        },
    );
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_run_that_is_cancelled_takes_its_jobs_out_of_the_queue() {
    let three = FILES.map(|(number, file)| session(1, &[step(number, file)]));
    on_cluster(&three, &FILES, &PLAIN, |scene| {
        for (number, file) in FILES {
            scene.script_that_waits(number, file)?;
        }
        scene.start()?;
        let counts = || {
            Some((
                scene.cluster.jobs("RUNNING").ok()?.len(),
                scene.cluster.jobs("PENDING").ok()?.len(),
            ))
        };
        let is_full = || (counts() == Some((2, 1))).then_some(());
        wait_until("two jobs at work and one in the queue", is_full)?;
        scene.omo(&["run", "cancel"])?.exits_with(0)?;
        scene.wait_for_supervisor()?;
        ensure!(
            scene.worker("session-1").is_err(),
            "the worker is still in the ledger"
        );
        let begun: usize = [1, 2, 3]
            .into_iter()
            .map(|number| scene.begun(number))
            .sum();
        ensure!(begun <= 2, "a job was begun that waited");
        Ok(())
    });
}

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn a_cluster_that_knows_no_more_jobs_takes_the_others_once_it_has_forgotten_some() {
    let three = FILES.map(|(number, file)| session(1, &[step(number, file)]));
    let few = Surroundings {
        cluster: "MaxJobCount=2\nMinJobAge=2",
        ..PLAIN
    };
    on_cluster(&three, &FILES, &few, |scene| {
        scene.open()?;
        scene.finish(&FILES)?;
        scene.require_one_attempt_each()
    });
}
