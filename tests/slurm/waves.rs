//! What goes well: many workers in waves.

use anyhow::ensure;
use omo_tests::parallel_repository::{session, step};

use crate::scene::{Surroundings, on_cluster};

const FILES: [(u32, &str); 12] = [
    (1, "a.txt"),
    (2, "b.txt"),
    (3, "c.txt"),
    (4, "d.txt"),
    (5, "e.txt"),
    (6, "f.txt"),
    (7, "g.txt"),
    (8, "h.txt"),
    (9, "i.txt"),
    (10, "j.txt"),
    (11, "k.txt"),
    (12, "l.txt"),
];

#[test]
#[ignore = "needs Slurm and root: cargo xtask test"]
fn twelve_workers_of_slurm_in_three_waves_come_to_one_branch() {
    let sessions: Vec<_> = (0..)
        .zip(FILES)
        .map(|(place, (number, file))| session(1 + place / 4, &[step(number, file)]))
        .collect();
    let surroundings = Surroundings {
        processors: 4,
        cluster: "",
        launcher: "",
    };
    on_cluster(&sessions, &FILES, &surroundings, |scene| {
        scene.open()?;
        scene.finish(&FILES)?;
        scene.require_one_attempt_each()?;
        let jobs = scene.cluster.jobs("COMPLETED")?;
        ensure!(jobs.len() == 12, "{jobs:?}");
        let cost = scene
            .ground
            .state()?
            .parallel
            .map(|parallel| parallel.cost_micros());
        ensure!(cost == Some(12 * 250_000), "{cost:?}");
        Ok(())
    });
}
