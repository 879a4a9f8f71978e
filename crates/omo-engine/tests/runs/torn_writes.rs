//! A writer that is cut off at any byte of its write.

use std::fs;

use crate::runs::run_lab::{RunLab, add_events, added_events, ledger};

/// Two events in one write: both happened, or none.
const WRITE: [&str; 2] = ["x", "y"];

#[test]
fn whatever_byte_a_write_ends_at_the_run_is_as_before_it_or_as_after_it() {
    let scene = RunLab::new();
    let run = scene.run_with(2);
    let before = fs::read(ledger(&run)).unwrap();
    add_events(&run, &WRITE).unwrap();
    let whole = fs::read(ledger(&run)).unwrap();
    for cut in before.len()..=whole.len() {
        fs::write(ledger(&run), &whole[..cut]).unwrap();
        let (state, is_whole) = (run.state().unwrap(), cut == whole.len());
        let wanted: &[&str] = if is_whole {
            &["0", "1", "x", "y"]
        } else {
            &["0", "1"]
        };
        assert_eq!(added_events(&state), wanted, "cut at {cut}");
        assert_eq!(
            run.events().unwrap().len(),
            1 + wanted.len(),
            "cut at {cut}"
        );
        let torn = run.count_torn_writes().unwrap();
        let after = add_events(&run, &["agent", "next"]).unwrap();
        assert_eq!(
            added_events(&after),
            [wanted, &["agent", "next"]].concat(),
            "cut at {cut}"
        );
        assert_eq!(run.state().unwrap(), after, "cut at {cut}");
        let is_torn = !is_whole && cut > before.len();
        assert_eq!(
            run.count_torn_writes().unwrap() - torn,
            usize::from(is_torn),
            "cut at {cut}"
        );
        if is_torn {
            let kept = fs::read(run.folder().join(format!("torn-{}", torn + 1))).unwrap();
            assert_eq!(kept, &whole[before.len()..cut], "cut at {cut}");
        }
    }
}

#[test]
fn what_looks_at_a_torn_ledger_changes_nothing() {
    let scene = RunLab::new();
    let run = scene.run_with(2);
    let mut text = fs::read(ledger(&run)).unwrap();
    text.truncate(text.len() - 5);
    fs::write(ledger(&run), &text).unwrap();
    assert_eq!(added_events(&run.state().unwrap()), ["0"]);
    assert_eq!(
        (
            fs::read(ledger(&run)).unwrap(),
            run.count_torn_writes().unwrap()
        ),
        (text, 0)
    );
}

#[test]
fn a_run_whose_first_write_is_torn_says_so() {
    let scene = RunLab::new();
    let run = scene.run();
    fs::write(ledger(&run), "").unwrap();
    assert!(crate::runs::run_lab::ledger_problem(&run).contains("nothing was ever written down"));
}
