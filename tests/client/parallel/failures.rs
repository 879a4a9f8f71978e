//! Ends of the real client that are not the model's: it is killed, or meets a limit of use. No attempt is used.

use omo_testkit::{ModelTurn, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::scripted_workers::write;
use super::{Payer, Site};

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_client_that_is_killed_is_started_again_and_no_attempt_is_used() {
    let site = Site::new(Payer::Subscription);
    site.works.set(2, [ModelTurn::hang()]);
    site.open(&[]);
    site.omo(&["agent", "workers", "start"]).exits_with(0).unwrap();
    wait_until("step 2", || site.task("2").running.is_some().then_some(())).unwrap();
    let asked = || site.requests_of("session-1").iter().any(|it| it.tool_results_text().contains("Step 2 of "));
    wait_until("the client is at it", || asked().then_some(())).unwrap();
    site.works.well(2, "b.txt");
    let process = site.state().parallel.expect("it has parallel workers").groups["session-1"].process.clone();
    let pid = i32::try_from(process.expect("its client runs").pid).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    site.wait(0);
    let task = site.task("2");
    assert_eq!((task.attempts, task.lost_workers), (1, 1), "{task:?}");
    site.is_whole();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_limit_of_use_holds_the_run_until_it_is_reset_and_uses_no_attempt() {
    let site = Site::new(Payer::Subscription);
    let limit = ModelTurn::computed(|_| ModelTurn::usage_limit(omo_state::env::now().as_millis() / 1_000 + 6));
    site.works.set_once(2, [limit], [write("b.txt", "2")]);
    site.open(&[]);
    let said = site.wait(0);
    assert!(said.out.contains("met a limit of use; no worker is started before"), "{}", said.out);
    let task = site.task("2");
    assert_eq!((task.attempts, task.lost_workers), (1, 0), "{task:?}");
    site.is_whole();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_usage_limit_without_an_end_asks_a_person() {
    let site = Site::new(Payer::Key);
    let limit = ModelTurn::error(429, "rate_limit_error", "This request would exceed your account's rate limit.");
    site.works.set_once(2, [limit], [write("b.txt", "2")]);
    site.open(&["--accept-api-billing"]);
    let said = site.wait(7);
    assert!(said.out.contains("a limit of use was met"), "{}", said.out);
    site.omo(&["answer", "q1", "continue"]).exits_with(0).unwrap();
    site.wait(0);
    assert_eq!(site.task("2").attempts, 1);
    site.is_whole();
}
