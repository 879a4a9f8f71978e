//! Which checks can be, and what their ends are worth.

use super::*;

#[test]
fn what_a_change_of_checks_weakens_is_named() {
    let check = |name: &str, run: &str| Check::new(Some(name), run, CheckOrigin::User).unwrap();
    let old = [check("tests", "make test"), check("lint", "make lint")];
    let changed = |new: &[Check], with_new| describe_weakening(&old, new, with_new).join("; ");
    assert_eq!(changed(&old, true), "");
    assert_eq!(changed(&old[..1], false), "check `lint` removed");
    assert_eq!(changed(&[old[0].clone(), check("lint", "true")], false), "check `lint` replaced");
    let more = [old.as_slice(), &[check("more", "true")]].concat();
    assert_eq!((changed(&more, false), changed(&more, true)), (String::new(), "check `more` added".to_owned()));
    let mut other = old.clone();
    _ = other[0].pinned.insert("Makefile".to_owned(), "x".to_owned());
    assert_eq!(changed(&other, false), "check `tests` accepted with other files or counts");
    let mut counted = old.clone();
    counted[1].best = Some(BestCounts::default());
    assert_eq!(describe_weakening(&counted, &old, false), ["check `lint` accepted with other files or counts"]);
}

fn counts(run: u64, failed: u64, skipped: u64) -> TestCounts {
    TestCounts { run, failed, skipped }
}

#[test]
fn an_end_is_green_only_when_something_ran_and_nothing_is_less_than_before() {
    use CheckVerdict::{Failed, Green, NotStarted, NothingRan, TimedOut, Weaker};
    let best = |run, skipped| Some(BestCounts { run, skipped: Some(skipped) });
    for (end, now, earlier, expected) in [
        (CheckEnd::Exited(0), None, None, Green),
        (CheckEnd::Exited(0), Some(counts(3, 0, 1)), None, Green),
        (CheckEnd::Exited(0), Some(counts(3, 0, 1)), best(3, 1), Green),
        (CheckEnd::Exited(0), Some(counts(4, 0, 0)), best(3, 1), Green),
        (CheckEnd::Exited(0), Some(counts(0, 0, 0)), None, NothingRan),
        (CheckEnd::Exited(0), Some(counts(0, 0, 4)), None, NothingRan),
        (CheckEnd::Exited(0), Some(counts(2, 0, 1)), best(3, 1), Weaker),
        (CheckEnd::Exited(0), Some(counts(3, 0, 2)), best(3, 1), Weaker),
        (CheckEnd::Exited(0), Some(counts(9, 0, 2)), best(3, 1), Weaker),
        (CheckEnd::Exited(0), None, best(3, 0), Weaker),
        (CheckEnd::Exited(0), Some(counts(3, 1, 0)), None, Failed),
        (CheckEnd::Exited(1), Some(counts(3, 0, 0)), None, Failed),
        (CheckEnd::Killed(9), None, None, Failed),
        (CheckEnd::TimedOut(300), Some(counts(3, 0, 0)), None, TimedOut),
        (CheckEnd::NotStarted("no shell".to_owned()), None, None, NotStarted),
    ] {
        assert_eq!(judge_check(&end, now, earlier, false).0, expected, "{end:?} {now:?} {earlier:?}");
    }
    assert_eq!(judge_check(&CheckEnd::Exited(0), None, None, true).0, NothingRan, "a runner that says nothing");
    assert_eq!(judge_check(&CheckEnd::Exited(0), Some(counts(3, 0, 1)), None, true).0, Green);
}

#[test]
fn the_best_is_the_most_that_ran_and_the_fewest_that_were_skipped_when_green() {
    let mut check = Check::new(None, "cargo test", CheckOrigin::User).unwrap();
    for (run, failed, skipped, verdict, best) in [
        (5, 2, 0, CheckVerdict::Failed, (5, None)),
        (20, 0, 2, CheckVerdict::Green, (20, Some(2))),
        (3, 0, 0, CheckVerdict::Weaker, (20, Some(2))),
        (0, 0, 0, CheckVerdict::NothingRan, (20, Some(2))),
        (99, 0, 0, CheckVerdict::TimedOut, (20, Some(2))),
        (20, 0, 1, CheckVerdict::Green, (20, Some(1))),
    ] {
        let record = CheckRecord { verdict, counts: Some(counts(run, failed, skipped)), ..CheckRecord::default() };
        check.keep_record(record);
        assert_eq!(check.best, Some(BestCounts { run: best.0, skipped: best.1 }), "{run} {verdict:?}");
    }
}

#[test]
fn evidence_needs_the_same_tree_and_the_same_setting() {
    let record = CheckRecord {
        verdict: CheckVerdict::Green,
        tree: Some("t1".to_owned()),
        setting: "s1".to_owned(),
        ..CheckRecord::default()
    };
    assert!(record.is_evidence_for(Some("t1"), "s1"));
    assert!(!record.is_evidence_for(Some("t2"), "s1"));
    assert!(!record.is_evidence_for(Some("t1"), "s2"));
    assert!(!record.is_evidence_for(None, "s1"));
    assert!(!CheckRecord { tree: None, ..record.clone() }.is_evidence_for(None, "s1"));
    assert!(!CheckRecord { verdict: CheckVerdict::Weaker, ..record }.is_evidence_for(Some("t1"), "s1"));
}

#[test]
fn a_gate_has_a_name_of_its_own() {
    let mut checks = Vec::new();
    for run in ["cargo test", "cargo test --all", "./scripts/check.sh -v", "cargo test", "=", "npm run test:unit"] {
        add_check(&mut checks, Check::new(None, run, CheckOrigin::User).unwrap()).unwrap();
    }
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["cargo-test", "cargo-test-2", "check.sh", "check", "npm-run"]);
    let many = (0..20)
        .map(|number| add_check(&mut checks, Check::new(None, &format!("true {number}"), CheckOrigin::User).unwrap()));
    assert_eq!(many.last(), Some(Err(InvalidCheck::TooMany)));
    assert_eq!(checks.len(), MAX_CHECKS);
}

#[test]
fn what_cannot_be_a_gate_is_refused() {
    let good = Check::new(None, "true", CheckOrigin::User).unwrap();
    let env = |name: &str| BTreeMap::from([(name.to_owned(), String::new())]);
    for bad in [
        Check { command: " ".to_owned(), ..good.clone() },
        Check { command: "a\0b".to_owned(), ..good.clone() },
        Check { command: "x".repeat(MAX_COMMAND_BYTES + 1), ..good.clone() },
        Check { name: "a b".to_owned(), ..good.clone() },
        Check { name: String::new(), ..good.clone() },
        Check { cwd: Some("/etc".to_owned()), ..good.clone() },
        Check { cwd: Some("a/../../b".to_owned()), ..good.clone() },
        Check { cwd: Some("~/x".to_owned()), ..good.clone() },
        Check { cwd: Some(r"C:\x".to_owned()), ..good.clone() },
        Check { timeout_seconds: Some(0), ..good.clone() },
        Check { timeout_seconds: Some(841), ..good.clone() },
        Check { env: env("A B"), ..good.clone() },
        Check { env: env("OMO_CHECK"), ..good.clone() },
        Check { env: env("anthropic_api_key"), ..good.clone() },
    ] {
        assert!(bad.validate().is_err(), "{bad:?}");
    }
    assert_eq!(good.validate(), Ok(()));
}
