//! What goes well: every session in its wave, merged as soon as it is done, the whole checked once a wave, and the user's
//! branch last.

use std::fs;

use anyhow::ensure;
use omo_engine::event::RunResult;
use omo_engine::state::RunPhase;

use crate::parallel_repository::{four_sessions, on_repository};

#[test]
fn four_sessions_in_two_waves_come_to_one_branch() {
    on_repository(
        &four_sessions(),
        "test -f a.txt && test -f b.txt && test -f c.txt && test -f d.txt && test -f e.txt",
        |ground| {
            let before = ground.git(&["rev-parse", "HEAD"])?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
            let state = ground.state()?;
            ensure!(
                state.phase
                    == RunPhase::Ended {
                        result: RunResult::Complete
                    },
                "{:?}\n{}",
                state.phase,
                said.out
            );
            let landed = state
                .parallel
                .as_ref()
                .and_then(|parallel| parallel.landed.clone());
            ensure!(landed.map(|(from, _)| from) == Some(before), "{said:?}");
            let subjects = ground.git(&["log", "--format=%s", "--reverse", "--first-parent"])?;
            let mut merges: Vec<&str> = subjects.lines().skip(2).collect();
            // Those of a wave as they are done.
            merges.sort_unstable();
            ensure!(
                merges
                    == [
                        "merge: ultraplan session 1 — Part 1",
                        "merge: ultraplan session 2 — Part 2",
                        "merge: ultraplan session 3 — Part 3",
                        "merge: ultraplan session 4 — Part 4"
                    ],
                "{subjects}"
            );
            let steps = ground.git(&["log", "--format=%s", "--no-merges"])?;
            for step in 1..=5 {
                ensure!(
                    steps
                        .lines()
                        .any(|line| line == format!("feat: write {step}")),
                    "{steps}"
                );
            }
            for (file, text) in [
                ("a.txt", "1"),
                ("b.txt", "2"),
                ("c.txt", "3"),
                ("d.txt", "4"),
                ("e.txt", "5"),
            ] {
                ensure!(std::fs::read_to_string(ground.project().join(file))?.trim() == text);
            }
            ensure!(ground.git(&["status", "--porcelain"])?.is_empty());
            ensure!(
                ground.git(&["for-each-ref", "refs/omo"])?.is_empty(),
                "something was kept that was merged"
            );
            let mut started = ground.started_sessions();
            let second = started.split_off(2);
            (
                started.sort(),
                ensure!(
                    started == ["session-1", "session-2"] && second.len() == 2,
                    "{started:?} {second:?}"
                ),
            );
            ground.require_tidy()
        },
    );
}

#[test]
fn a_wave_that_breaks_the_whole_holds_the_next_one_back() {
    on_repository(
        &four_sessions(),
        "! test -f c.txt || grep -q good README.md",
        |ground| {
            let before = ground.git(&["rev-parse", "HEAD"])?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(1)?;
            let told = |said: &str| {
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                said.contains("was green before. Merged since then: Session")
                    && said.contains("What comes after wave 1 is held back.")
            };
            ensure!(
                said.out
                    .contains("Wave 1 BROKE the whole: `! test -f c.txt"),
                "{}",
                said.out
            );
            ensure!(told(&said.out), "{}", said.out);
            ensure!(
                told(&ground.omo(&["report"])?.out),
                "{}",
                ground.omo(&["report"])?.out
            );
            ensure!(
                ground.started_sessions().len() == 2,
                "{:?}",
                ground.started_sessions()
            );
            ensure!(
                ground.state()?.phase
                    == RunPhase::Ended {
                        result: RunResult::Failed
                    }
            );
            ensure!(ground.git(&["rev-parse", "HEAD"])? == before);
            ground.require_tidy()?;
            // Nothing has changed, and it is checked all the same.
            ground.open(&["--resume"])?;
            ground.omo(&["run", "watch"])?.exits_with(1)?;
            ensure!(
                ground.started_sessions().len() == 2,
                "{:?}",
                ground.started_sessions()
            );
            // What its user commits to fix it is part of what is checked next.
            fs::write(ground.project().join("README.md"), "good\n")?;
            ground.git(&["commit", "-qam", "mine"])?;
            ground.open(&["--resume"])?;
            ground.omo(&["run", "watch"])?.exits_with(0)?;
            ensure!(
                ground.started_sessions().len() == 4,
                "{:?}",
                ground.started_sessions()
            );
            ground.require_complete(&[(1, "a.txt"), (3, "c.txt"), (5, "e.txt")])
        },
    );
}

#[test]
#[cfg(target_os = "linux")]
fn fewer_begin_at_once_where_memory_is_short_and_one_always_does() {
    on_repository(&four_sessions(), "", |ground| {
        ground
            .lab
            .configure("[worktrees]\nmemory_mb = 1_048_576\n")?;
        for (number, file) in [(1, "a.txt"), (3, "c.txt")] {
            let alone = format!(
                "ls \"$scripts\"/alive-* && touch \"$scripts/together\"; touch \"$scripts/alive-{number}\"\n\
                 sleep 1; rm \"$scripts/alive-{number}\"; echo {number} > {file}\n"
            );
            ground.set_task_script(number, &alone)?;
        }
        ground.open(&[])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            said.out.contains("1 worker at the same time: ")
                && said.out.contains("worktrees.memory_mb"),
            "{}",
            said.out
        );
        ensure!(!ground.steps().join("together").exists(), "{}", said.out);
        ensure!(
            ground.started_sessions().len() == 4,
            "{:?}",
            ground.started_sessions()
        );
        ground.require_tidy()
    });
}
