//! A later start of a worker is found by its report.

use omo_testkit::Lab;

use super::*;

#[test]
fn a_later_start_is_found_without_a_push_and_nothing_else_is_taken_for_one() {
    let lab = Lab::builder().build().unwrap();
    let (hub, away) = (lab.root().join("hub.git"), lab.root().join("away.git"));
    lab.git(&["init", "--quiet", "--bare", &hub.display().to_string()])
        .unwrap();
    let make = |name: &str| {
        let folder = lab.root().join(name);
        std::fs::create_dir(&folder).unwrap();
        WorkerClone::create(
            &folder,
            &format!("file://{}", hub.display()),
            &"0".repeat(40),
            &|| true,
        )
        .unwrap()
    };
    let (one, two) = (make("one"), make("two"));
    let mut first = Reporter::new(&one, "b", "first", None, "");
    let mut now = Instant::now();
    let mut look = |first: &mut Reporter| {
        now += POLL_INTERVAL;
        first.is_replaced(now)
    };
    assert!(!look(&mut first), "no report at all");
    first.push(None, WorkerPhase::Preparing).unwrap();
    let own = first.seen.clone();
    assert!(!look(&mut first), "its own");
    first.push(None, WorkerPhase::Working).unwrap();
    first.seen = own;
    assert!(!look(&mut first), "its own, whose answer got lost");
    Reporter::new(&two, "b", "second", None, "")
        .push(None, WorkerPhase::Preparing)
        .unwrap();
    std::fs::rename(&hub, &away).unwrap();
    assert!(!look(&mut first), "the remote is away");
    std::fs::rename(&away, &hub).unwrap();
    assert!(!first.is_replaced(Instant::now()), "it is not yet time");
    assert!(look(&mut first), "a later start");
    lab.git(&[
        "--git-dir",
        &hub.display().to_string(),
        "update-ref",
        "-d",
        "refs/heads/b.report",
    ])
    .unwrap();
    assert!(look(&mut first), "the run has removed the report");
}
