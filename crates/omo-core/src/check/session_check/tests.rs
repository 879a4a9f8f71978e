//! Valid checks, and the worth of their ends.

use super::*;

#[test]
fn what_a_change_of_checks_weakens_is_named() {
    let check = |name: &str, run: &str| Check::new(Some(name), run, CheckOrigin::User).unwrap();
    let old = [check("tests", "make test"), check("lint", "make lint")];
    let changed = |new: &[Check], with_new| describe_weakening(&old, new, with_new).join("; ");
    assert_eq!(changed(&old, true), "");
    assert_eq!(changed(&old[..1], false), "check `lint` removed");
    assert_eq!(
        changed(&[old[0].clone(), check("lint", "true")], false),
        "check `lint` replaced"
    );
    let more = [old.as_slice(), &[check("more", "true")]].concat();
    assert_eq!(
        (changed(&more, false), changed(&more, true)),
        (String::new(), "check `more` added".to_owned())
    );
}

fn counts(run: u64, failed: u64, skipped: u64) -> TestCounts {
    TestCounts {
        run,
        failed,
        skipped,
    }
}

#[test]
fn an_end_is_green_only_when_something_ran() {
    use CheckVerdict::{Failed, Green, NotStarted, NothingRan, TimedOut};
    for (end, now, expected) in [
        (CheckEnd::Exited(0), None, Green),
        (CheckEnd::Exited(0), Some(counts(3, 0, 1)), Green),
        (CheckEnd::Exited(0), Some(counts(3, 1, 0)), Failed),
        (CheckEnd::Exited(0), Some(counts(0, 0, 3)), NothingRan),
        (CheckEnd::Exited(1), Some(counts(3, 0, 0)), Failed),
        (CheckEnd::Killed(9), None, Failed),
        (CheckEnd::TimedOut(9), None, TimedOut),
        (CheckEnd::NotStarted("no".to_owned()), None, NotStarted),
    ] {
        assert_eq!(judge_check(&end, now).0, expected, "{end:?} {now:?}");
    }
}

#[test]
fn a_verdict_of_an_older_omo_is_a_failure() {
    for word in ["weaker", "changed"] {
        assert_eq!(
            serde_json::from_str::<CheckVerdict>(&format!("\"{word}\"")).unwrap(),
            CheckVerdict::Failed
        );
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
    assert!(record.is_evidence_for(Some("t1"), "", "s1"));
    assert!(!record.is_evidence_for(Some("t2"), "", "s1"));
    assert!(!record.is_evidence_for(Some("t1"), "other", "s1"));
    assert!(!record.is_evidence_for(Some("t1"), "", "s2"));
    assert!(!record.is_evidence_for(None, "", "s1"));
    assert!(
        !CheckRecord {
            tree: None,
            ..record.clone()
        }
        .is_evidence_for(None, "", "s1")
    );
    assert!(
        !CheckRecord {
            verdict: CheckVerdict::Failed,
            ..record
        }
        .is_evidence_for(Some("t1"), "", "s1")
    );
}

#[test]
fn a_gate_has_a_name_of_its_own() {
    let mut checks = Vec::new();
    for run in [
        "cargo test",
        "cargo test --all",
        "./scripts/check.sh -v",
        "cargo test",
        "=",
        "npm run test:unit",
    ] {
        add_check(
            &mut checks,
            Check::new(None, run, CheckOrigin::User).unwrap(),
        )
        .unwrap();
    }
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(
        names,
        ["cargo-test", "cargo-test-2", "check.sh", "check", "npm-run"]
    );
    let many = (0..20).map(|number| {
        add_check(
            &mut checks,
            Check::new(None, &format!("true {number}"), CheckOrigin::User).unwrap(),
        )
    });
    assert_eq!(many.last(), Some(Err(InvalidCheck::TooMany)));
    assert_eq!(checks.len(), MAX_CHECKS);
}

#[test]
fn what_cannot_be_a_gate_is_refused() {
    let good = Check::new(None, "true", CheckOrigin::User).unwrap();
    let env = |name: &str| BTreeMap::from([(name.to_owned(), String::new())]);
    for bad in [
        Check {
            command: " ".to_owned(),
            ..good.clone()
        },
        Check {
            command: "a\0b".to_owned(),
            ..good.clone()
        },
        Check {
            command: "x".repeat(MAX_COMMAND_BYTES + 1),
            ..good.clone()
        },
        Check {
            name: "a b".to_owned(),
            ..good.clone()
        },
        Check {
            name: String::new(),
            ..good.clone()
        },
        Check {
            cwd: Some("/etc".to_owned()),
            ..good.clone()
        },
        Check {
            cwd: Some("a/../../b".to_owned()),
            ..good.clone()
        },
        Check {
            cwd: Some("~/x".to_owned()),
            ..good.clone()
        },
        Check {
            cwd: Some(r"C:\x".to_owned()),
            ..good.clone()
        },
        Check {
            timeout_seconds: Some(0),
            ..good.clone()
        },
        Check {
            timeout_seconds: Some(841),
            ..good.clone()
        },
        Check {
            env: env("A B"),
            ..good.clone()
        },
        Check {
            env: env("OMO_CHECK"),
            ..good.clone()
        },
        Check {
            env: env("anthropic_api_key"),
            ..good.clone()
        },
    ] {
        assert!(bad.validate().is_err(), "{bad:?}");
    }
    assert_eq!(good.validate(), Ok(()));
}

#[test]
fn green_after_red_on_the_same_files_is_noted_until_the_files_change() {
    let record = |verdict, tree: &str| CheckRecord {
        verdict,
        tree: Some(tree.to_owned()),
        ..CheckRecord::default()
    };
    let (red, green) = (
        record(CheckVerdict::Failed, "t1"),
        record(CheckVerdict::Green, "t1"),
    );
    let again = green.clone().after(Some(&red));
    assert!(again.was_red && green.clone().after(Some(&again)).was_red);
    assert!(
        !record(CheckVerdict::Green, "t2")
            .after(Some(&again))
            .was_red
            && !red.clone().after(Some(&red)).was_red
    );
    let unknown = CheckRecord {
        tree: None,
        ..green
    };
    assert!(
        !unknown
            .clone()
            .after(Some(&CheckRecord {
                verdict: CheckVerdict::Failed,
                ..unknown
            }))
            .was_red
    );
}
