//! What the clients of a run may cost: a budget that is spent, and clients that were ended before they said their cost.

use anyhow::{Context, Result, ensure};
use omo_engine::parallel_state::ParallelState;
use omo_testkit::wait_until;

use crate::parallel_repository::{Ground, WELL, four_sessions, on_repository};

fn workers(ground: &Ground) -> Result<ParallelState> {
    ground.state()?.parallel.context("it has parallel workers")
}

#[test]
fn a_client_that_is_killed_counts_with_all_that_it_was_allowed() {
    on_repository(&four_sessions(), "", |ground| {
        let died =
            "if ! [ -e ../../../died ]; then touch ../../../died; kill -9 $$; fi\necho 2 > b.txt\n";
        ground.set_task_script(2, died)?;
        ground.open(&["--max-budget-usd", "0.5"])?;
        let said = ground.omo(&["run", "watch"])?.exits_with(7)?;
        ensure!(
            said.out.contains("the budget of the run is spent"),
            "{}",
            said.out
        );
        ensure!(said.out.contains("--max-budget-usd 1 "), "{}", said.out);
        let parallel = workers(ground)?;
        ensure!(
            (parallel.cost_micros(), parallel.untold_micros()) == (250_000, 250_000),
            "{parallel:?}"
        );
        let report = ground.omo(&["report"])?.out;
        let line = "$0.25, as far as the clients said; at most $0.25 more for killed ones";
        ensure!(report.contains(line), "{report}");
        ground.open(&["--resume", "--max-budget-usd", "2"])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        ensure!(
            workers(ground)?.untold_micros() == 250_000,
            "{:?}",
            workers(ground)?
        );
        std::fs::remove_file(ground.project().join("died"))?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn a_client_whose_time_is_up_still_says_what_it_has_cost() {
    on_repository(&four_sessions(), "", |ground| {
        // As the client does where it is interrupted; where it is terminated it says nothing more.
        let slow = "trap end INT\nif ! [ -e ../../../slow ]; then touch ../../../slow; sleep 600; fi\necho 3 > c.txt\n";
        ground.set_task_script(3, slow)?;
        ground.open(&["--time-limit", "10", "--max-budget-usd", "100"])?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        let task = ground.state()?.tasks["3"].clone();
        ensure!(task.attempts == 2, "{task:?}");
        let parallel = workers(ground)?;
        let started = u64::try_from(ground.started_sessions().len())?;
        ensure!(started > 4, "{started}");
        ensure!(
            (parallel.cost_micros(), parallel.untold_micros()) == (started * 250_000, 0),
            "{parallel:?}"
        );
        std::fs::remove_file(ground.project().join("slow"))?;
        ground.require_complete(&WELL)
    });
}

#[test]
fn a_killed_supervisor_does_not_spend_the_budget_of_clients_that_say_their_cost() {
    on_repository(&four_sessions(), "", |ground| {
        let outside = ground.project().join("..");
        let slow = "trap end INT\n[ -e ../../../../slow ] || { touch ../../../../slow; sleep 600; }\necho 3 > c.txt\n";
        ground.set_task_script(3, slow)?;
        ground.open(&["--max-budget-usd", "4"])?;
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        wait_until("a client at work", || {
            outside.join("slow").exists().then_some(())
        })?;
        ground.kill_supervisor()?;
        ground.omo(&["run", "watch"])?.exits_with(0)?;
        let known = workers(ground)?
            .groups
            .remove("session-2")
            .context("no session")?;
        ensure!(
            (known.cost_micros, known.untold_micros) == (500_000, 0),
            "{known:?}"
        );
        ground.require_complete(&WELL)
    });
}
