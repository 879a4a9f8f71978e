//! A person stops parallel workers from the session that waits for them.

use omo_engine::state::RunPhase;
use omo_testkit::ModelTurn;

use super::scripted_workers::group;
use super::{Payer, Site, typed};

/// How often the session's own model was asked, and not that of a client.
fn own_requests(site: &Site) -> usize {
    site.fixture
        .model
        .requests()
        .iter()
        .filter(|request| group(request).is_none())
        .count()
}

#[test]
fn esc_leaves_the_clients_at_work_and_cancel_ends_them_without_a_turn() {
    let site = Site::new(Payer::Subscription);
    for step in [1, 3] {
        site.works.set(step, [ModelTurn::hang()]);
    }
    let terminal = typed(&site, "");
    let works = |group: &str| (!site.requests_of(group).is_empty()).then_some(());
    for group in ["session-1", "session-2"] {
        omo_testkit::wait_until("the clients", || works(group)).unwrap();
    }
    terminal.key("Escape").unwrap();
    terminal.wait_for("Interrupted").unwrap();
    let requests = own_requests(&site);
    terminal.say("/omo:stop-continuation").unwrap();
    terminal
        .wait_for("Still at work: 2 parallel clients")
        .unwrap();
    assert!(!site.processes().is_empty(), "Esc ended the clients");
    terminal.say("/omo:cancel").unwrap();
    terminal.wait_for("is cancelled").unwrap();
    assert_eq!(own_requests(&site), requests, "the model was asked");
    assert!(matches!(site.state().phase, RunPhase::Cancelled { .. }));
    drop(terminal);
    site.is_left_alone();
}
