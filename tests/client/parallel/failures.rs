//! A real client that meets a limit of use. No attempt is used.

use omo_testkit::ModelTurn;

use super::scripted_workers::write;
use super::{Payer, Site};

#[test]
fn a_limit_of_use_holds_the_run_until_it_is_reset_and_uses_no_attempt() {
    let site = Site::new(Payer::Subscription);
    let limit = ModelTurn::computed(|_| {
        ModelTurn::usage_limit(omo_state::env::now().as_millis() / 1_000 + 6)
    });
    site.works.set_once(2, [limit], [write("b.txt", "2")]);
    site.open(&[]);
    let said = site.wait(0);
    assert!(
        said.out
            .contains("met a limit of use; no worker is started before"),
        "{}",
        said.out
    );
    let task = site.task("2");
    assert_eq!((task.attempts, task.lost_workers), (1, 0), "{task:?}");
    site.is_whole();
}

#[test]
fn a_usage_limit_without_an_end_asks_a_person() {
    let site = Site::new(Payer::Key);
    let limit = ModelTurn::error(
        429,
        "rate_limit_error",
        "This request would exceed your account's rate limit.",
    );
    site.works.set_once(2, [limit], [write("b.txt", "2")]);
    site.open(&["--accept-api-billing"]);
    let said = site.wait(7);
    assert!(said.out.contains("a limit of use was met"), "{}", said.out);
    site.omo(&["answer", "q1", "continue"])
        .exits_with(0)
        .unwrap();
    site.wait(0);
    assert_eq!(site.task("2").attempts, 1);
    site.is_whole();
}
