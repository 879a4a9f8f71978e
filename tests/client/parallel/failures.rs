//! What goes wrong in one session of the real client: its siblings finish, the user's branch stays where it was, and
//! the run goes on to the end of one that was never disturbed.

use omo_engine::event::RunResult;
use omo_engine::parallel_state::GroupStatus;
use omo_engine::state::{RunPhase, TaskStatus};
use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelTurn, wait_until};
use omo_tests::parallel_plan;
use omo_tests::parallel_plan::{plan_text, session, step};
use rustix::process::{Pid, Signal, kill_process};

use super::scripted_workers::write;
use super::{Payer, STEPS, Site};

/// The run has failed, and nothing of it is in the user's branch or left of it.
fn has_failed(site: &Site, before: &str) {
    site.wait(1);
    assert_eq!(site.state().phase, RunPhase::Ended { result: RunResult::Failed });
    assert_eq!(site.git(&["rev-parse", "HEAD"]), before, "the user's branch has moved");
    site.is_left_alone();
}

/// What was in the way is fixed, and the run goes on.
fn goes_on(site: &Site) {
    goes_on_with(site, &["--resume"]);
}

fn goes_on_with(site: &Site, options: &[&str]) {
    for (step, file) in STEPS {
        site.works.well(step, file);
    }
    site.open(options);
    site.wait(0);
    site.is_whole();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_red_check_up_to_the_cap_fails_one_client_alone() {
    let site = Site::new(Payer::Subscription);
    let before = site.git(&["rev-parse", "HEAD"]);
    site.works.set(2, [write("b.txt", "wrong")]);
    site.open(&[]);
    has_failed(&site, &before);
    let task = site.task("2");
    assert_eq!((task.status, task.attempts), (TaskStatus::Failed, 3), "{task:?}");
    assert_eq!(site.task("3").status, TaskStatus::Passed, "its sibling did not finish");
    let reported: Vec<String> = site.requests_of("session-1").iter().map(RecordedRequest::tool_results_text).collect();
    assert!(reported.iter().any(|reported| reported.contains("Result: FAIL (exit code 1)")), "{reported:?}");
    assert!(site.requests_of("session-3").is_empty(), "the next wave was begun");
    goes_on(&site);
    assert_eq!((site.task("1").attempts, site.task("3").attempts), (1, 1), "what was done was done again");
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_session_that_changes_what_it_must_not_fails_for_that() {
    let site = Site::new(Payer::Subscription);
    let before = site.git(&["rev-parse", "HEAD"]);
    // The fence in front of the tools sees the first one, and cannot see the second.
    let seen = ModelTurn::bash("sh -c 'echo x > sec\"\"ret.txt'");
    let unseen = ModelTurn::bash("sh -c 'echo ZWNobyB4ID4gc2VjcmV0LnR4dAo= | base64 -d | sh'");
    site.works.set(3, [write("c.txt", "3"), seen, unseen]);
    site.open(&["--allow", "Bash(sh:*)"]);
    has_failed(&site, &before);
    let task = site.task("3");
    let end = task.last_end.as_ref().expect("it has ended");
    assert!(end.evidence.starts_with("SCOPE VIOLATION: Step 3") && task.attempts == 1, "{task:?}");
    let reported: Vec<String> = site.requests_of("session-2").iter().map(RecordedRequest::tool_results_text).collect();
    assert!(
        reported.iter().any(|reported| reported.contains("`secret.txt` is in the never-touch list")),
        "{reported:?}"
    );
    goes_on(&site);
    assert!(!site.fixture.lab.project().join("secret.txt").exists());
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn two_sessions_that_cannot_be_brought_together_wait_for_a_person() {
    let site = Site::new(Payer::Subscription);
    let before = site.git(&["rev-parse", "HEAD"]);
    // A hook of their user has both commit a file that neither of them lists.
    parallel_plan::set_conflicting_hook(site.fixture.lab.project()).unwrap();
    site.open(&[]);
    let said = site.wait(7);
    assert!(said.out.contains("README.md") && said.out.contains("omo answer q1"), "{}", said.out);
    assert_eq!(site.git(&["rev-parse", "HEAD"]), before);
    let groups = site.state().parallel.expect("it has parallel workers").groups;
    assert_eq!(
        (groups["session-1"].status, groups["session-2"].status),
        (GroupStatus::Merged, GroupStatus::InConflict)
    );
    parallel_plan::silence_hook(site.fixture.lab.project()).unwrap();
    site.omo(&["answer", "q1", "redo"]).exits_with(0).unwrap();
    site.wait(0);
    site.is_whole();
    let kept = site.git(&["for-each-ref", "--format=%(refname)", "refs/omo/keep"]);
    assert_eq!(site.git(&["show", &format!("{kept}:README.md")]), "three", "{kept}");
}

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

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_session_whose_model_never_answers_is_ended_when_its_time_is_up() {
    // Each of them is done long before its time is up, but for the one that hangs.
    let text = plan_text(&[session(1, &[step(1, "a.txt")]), session(1, &[step(3, "c.txt")])], "");
    let site = Site::with(Payer::Subscription, &text);
    let before = site.git(&["rev-parse", "HEAD"]);
    site.works.set(3, [ModelTurn::hang()]);
    site.open(&["--time-limit", "12"]);
    has_failed(&site, &before);
    let task = site.task("3");
    let end = task.last_end.as_ref().expect("it has ended");
    assert!(task.attempts == 3 && end.evidence.contains("time was up"), "{task:?}");
    // Its user gives each client more time: on a busy machine what they do takes longer than this test would wait.
    goes_on_with(&site, &["--resume", "--time-limit", "600"]);
}
