//! What goes well: every session in its wave, merged in the order of the plan, and the user's branch last.

use anyhow::ensure;
use omo_engine::event::RunResult;
use omo_engine::state::RunPhase;

use crate::parallel_repository::{four_sessions, on_repository};

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn four_sessions_in_two_waves_come_to_one_branch() {
    on_repository(
        &four_sessions(),
        "test -f a.txt && test -f b.txt && test -f c.txt && test -f d.txt && test -f e.txt",
        |ground| {
            let before = ground.git(&["rev-parse", "HEAD"])?;
            ground.open(&[])?;
            let said = ground.omo(&["run", "watch"])?.exits_with(0)?;
            let state = ground.state()?;
            ensure!(state.phase == RunPhase::Ended { result: RunResult::Complete }, "{:?}\n{}", state.phase, said.out);
            let landed = state.parallel.as_ref().and_then(|parallel| parallel.landed.clone());
            ensure!(landed.map(|(from, _)| from) == Some(before), "{said:?}");
            let subjects = ground.git(&["log", "--format=%s", "--reverse", "--first-parent"])?;
            let merges: Vec<&str> = subjects.lines().skip(2).collect();
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
                ensure!(steps.lines().any(|line| line == format!("feat: write {step}")), "{steps}");
            }
            for (file, text) in [("a.txt", "1"), ("b.txt", "2"), ("c.txt", "3"), ("d.txt", "4"), ("e.txt", "5")] {
                ensure!(std::fs::read_to_string(ground.project().join(file))?.trim() == text);
            }
            ensure!(ground.git(&["status", "--porcelain"])?.is_empty());
            ensure!(ground.git(&["for-each-ref", "refs/omo"])?.is_empty(), "something was kept that was merged");
            let mut started = ground.started_sessions();
            let second = started.split_off(2);
            (
                started.sort(),
                ensure!(started == ["session-1", "session-2"] && second.len() == 2, "{started:?} {second:?}"),
            );
            ground.require_tidy()
        },
    )
    .unwrap();
}
