//! The snapshot of a ledger: no state is true because of it.

use std::fs;

use crate::runs::run_lab::{RunLab, add_events, added_events, ledger};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

#[test]
fn with_a_snapshot_a_run_stands_where_it_stands_without_one() {
    let scene = RunLab::new();
    let run = scene.run_with(62);
    let snapshot = run.folder().join("snapshot.json");
    assert!(!snapshot.exists());
    add_events(&run, &["62"]).unwrap();
    assert!(snapshot.exists());
    let first = fs::read(&snapshot).unwrap();
    for number in 63..150 {
        add_events(&run, &[&number.to_string()]).unwrap();
        let with = run.state().unwrap();
        let kept = fs::read(&snapshot).unwrap();
        fs::remove_file(&snapshot).unwrap();
        assert_eq!(run.state().unwrap(), with);
        fs::write(&snapshot, kept).unwrap();
    }
    assert_eq!(added_events(&run.state().unwrap()), names(150));
    assert_ne!(
        fs::read(&snapshot).unwrap(),
        first,
        "the next one was never written"
    );
    // An old one serves as well.
    fs::write(&snapshot, first).unwrap();
    assert_eq!(added_events(&run.state().unwrap()), names(150));
}

#[test]
fn a_snapshot_is_really_used() {
    let scene = RunLab::new();
    let run = scene.run_with(70);
    // Covered lines are not read again: a change there is not noticed.
    let text = fs::read_to_string(ledger(&run)).unwrap();
    fs::write(
        ledger(&run),
        text.replacen("\"file\":\"3\"", "\"file\":\"4\"", 1),
    )
    .unwrap();
    assert_eq!(added_events(&run.state().unwrap()), names(70));
    assert!(run.events().is_err(), "a reader of all of it notices");
}

#[test]
fn a_snapshot_that_omo_did_not_write_for_this_ledger_is_not_used() {
    let scene = RunLab::new();
    let run = scene.run_with(70);
    let other = scene.run_with(70);
    let snapshot = run.folder().join("snapshot.json");
    let good = fs::read(&snapshot).unwrap();
    let forged = String::from_utf8(good.clone())
        .unwrap()
        .replace("\"file\"", "\"elif\"")
        .replace("[\"3\",", "[\"evil\",");
    assert!(forged.contains("evil"));
    let strangers = fs::read(other.folder().join("snapshot.json")).unwrap();
    for bad in [
        forged.into_bytes(),
        strangers,
        Vec::new(),
        good[..good.len() - 1].to_vec(),
        vec![b'['; 100_000],
    ] {
        fs::write(&snapshot, bad).unwrap();
        assert_eq!(added_events(&run.state().unwrap()), names(70));
    }
    // Ahead of the ledger, as in a copy that was put back.
    fs::write(&snapshot, &good).unwrap();
    let text = fs::read_to_string(ledger(&run)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(ledger(&run), lines[..41].concat()).unwrap();
    assert_eq!(added_events(&run.state().unwrap()), names(40));
    // And not ahead any more, when other things have happened since: its place is in the middle of a line.
    let long: Vec<String> = (0..20)
        .map(|number| format!("{}{number}", "x".repeat(500)))
        .collect();
    for name in &long {
        add_events(&run, &[name]).unwrap();
    }
    assert_eq!(fs::read(&snapshot).unwrap(), good);
    assert!(fs::metadata(ledger(&run)).unwrap().len() > text.len() as u64);
    assert_eq!(
        added_events(&run.state().unwrap()),
        [names(40), long].concat()
    );
}

#[test]
#[cfg(unix)]
fn where_no_snapshot_can_be_kept_the_run_goes_on() {
    let scene = RunLab::new();
    let run = scene.run();
    fs::create_dir(run.folder().join("snapshot.json")).unwrap();
    for number in 0..70 {
        add_events(&run, &[&number.to_string()]).unwrap();
    }
    assert_eq!(added_events(&run.state().unwrap()), names(70));
}
