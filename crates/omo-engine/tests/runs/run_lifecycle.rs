//! The life of a run: begun, added to, listed, and removed.

use std::fs;

use omo_engine::event::{EventKind, RunResult};
use omo_engine::state::RunPhase;
use omo_engine::{RunStore, RunStoreError, TransactError};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_testkit::plans;

use crate::runs::run_lab::{RunLab, actor, add_events, added_events, ledger};

#[test]
fn what_was_written_is_read_again() {
    let scene = RunLab::new();
    let run = scene.run();
    add_events(&run, &["a", "b"]).unwrap();
    let state = add_events(&run, &["c"]).unwrap();
    assert_eq!(added_events(&state), ["a", "b", "c"]);
    let again = RunStore::find(&scene.project(), Some(&scene.home()))
        .unwrap()
        .unwrap()
        .get(run.id())
        .unwrap();
    assert_eq!(again.state().unwrap(), state);
    let events = again.events().unwrap();
    assert_eq!(
        events.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!(
        (&events[1].kind, &events[1].actor),
        (&plans::marker_event("a"), &actor())
    );
    assert_eq!(again.count_torn_writes().unwrap(), 0);
}

#[test]
fn an_old_line_can_be_read_by_a_person_and_by_jq() {
    let scene = RunLab::new();
    let run = scene.run();
    add_events(&run, &["a"]).unwrap();
    let text = fs::read_to_string(ledger(&run)).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&lines[1]["seq"], &lines[1]["kind"], &lines[1]["run"]),
        (&2.into(), &"projection_changed".into(), &run.id().into())
    );
    let (prev, seal) = (
        lines[1]["prev"].as_str().unwrap(),
        lines[0]["seal"].as_str().unwrap(),
    );
    assert_eq!((prev.len(), seal.starts_with(prev)), (12, true));
}

#[test]
fn a_refusal_and_an_event_that_cannot_happen_write_nothing() {
    let scene = RunLab::new();
    let run = scene.run_with(1);
    let before = fs::read(ledger(&run)).unwrap();
    let refusal = VerbRefusal {
        kind: VerbRefusalKind::NeedsPerson,
        message: "no".to_owned(),
        hint: String::new(),
    };
    let refused = run.transact(&actor(), plans::time(2), |_| {
        Err::<(Vec<EventKind>, ()), _>(refusal.clone())
    });
    assert!(matches!(refused, Err(TransactError::Refused(same)) if same == refusal));
    let of_no_task = EventKind::TaskSkipped {
        task: "9".to_owned(),
        reason: String::new(),
    };
    let both = vec![plans::marker_event("x"), of_no_task];
    let bad = run.transact(&actor(), plans::time(2), |_| Ok((both, ())));
    assert!(matches!(
        bad,
        Err(TransactError::RunStore(RunStoreError::Ledger { .. }))
    ));
    let ((), state) = run
        .transact(&actor(), plans::time(2), |_| Ok((Vec::new(), ())))
        .unwrap();
    assert_eq!(added_events(&state), ["0"]);
    assert_eq!(fs::read(ledger(&run)).unwrap(), before);
    assert!(
        scene
            .runs()
            .begin(
                &actor(),
                plans::time(0),
                plans::marker_event("no plan"),
                Vec::new()
            )
            .is_err()
    );
    assert_eq!(scene.runs().list().unwrap().len(), 1);
}

#[test]
fn the_newest_run_is_listed_first_and_a_broken_one_with_why() {
    let scene = RunLab::new();
    let runs = scene.runs();
    let begin = |seconds| {
        let opened = plans::run_opened(plans::plan(&[("1", &[])]));
        runs.begin(
            &actor(),
            plans::time(seconds),
            opened,
            vec![plans::marker_event("x")],
        )
        .unwrap()
        .0
    };
    let (old, broken, new) = (begin(10), begin(20), begin(3_000));
    fs::write(ledger(&broken), "{}\n").unwrap();
    let listed = runs.list().unwrap();
    let ids: Vec<&str> = listed.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, [new.id(), broken.id(), old.id()]);
    assert_eq!(listed[0].state.as_ref().unwrap().seq, 2);
    assert!(
        listed[1]
            .state
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("line 1")
    );
    assert!(old.id().starts_with("20260528-2026"), "{}", old.id());
}

#[test]
fn an_id_is_checked_before_it_is_a_path() {
    let scene = RunLab::new();
    let runs = scene.runs();
    fs::create_dir_all(scene.project().join("secret")).unwrap();
    for id in ["..", "../../../secret", "/etc", "", ".new-x", "a/b"] {
        assert!(matches!(runs.get(id), Err(RunStoreError::Id(_))), "{id}");
    }
    assert!(matches!(
        runs.get("20260101-000000-abcd"),
        Err(RunStoreError::NotFound(_))
    ));
}

#[test]
fn only_old_runs_that_have_ended_are_removed_and_nothing_that_is_no_run() {
    let scene = RunLab::new();
    let runs = scene.runs();
    let end = |run: &omo_engine::Run, seconds| {
        let ended = EventKind::RunEnded {
            result: RunResult::Complete,
        };
        let ((), state) = run
            .transact(&actor(), plans::time(seconds), |_| Ok((vec![ended], ())))
            .unwrap();
        assert!(matches!(state.phase, RunPhase::Ended { .. }));
    };
    let (old, new, open, broken) = (scene.run(), scene.run(), scene.run(), scene.run());
    end(&old, 10);
    end(&new, 1_000);
    end(&broken, 10);
    fs::write(ledger(&broken), "{}\n").unwrap();
    let base = old.folder().parent().unwrap().to_owned();
    for stranger in ["20200101-000000-aaaa", "notes", ".new-20200101-000000-bbbb"] {
        fs::create_dir(base.join(stranger)).unwrap();
        fs::write(base.join(stranger).join("events.jsonl"), "{}\n").unwrap();
    }
    // Its marker is that of another one.
    fs::copy(old.folder().join("omo-run"), base.join("notes/omo-run")).unwrap();
    assert_eq!(
        runs.gc(plans::time(100), |id, _| id != old.id()).unwrap(),
        Vec::<String>::new()
    );
    assert!(old.folder().exists(), "the caller keeps it");
    assert_eq!(runs.gc(plans::time(100), |_, _| true).unwrap(), [old.id()]);
    assert!(!old.folder().exists() && !base.join(".new-20200101-000000-bbbb").exists());
    for kept in [
        new.folder(),
        open.folder(),
        broken.folder(),
        &base.join("notes"),
        &base.join("20200101-000000-aaaa"),
    ] {
        assert!(kept.exists(), "{}", kept.display());
    }
    assert!(matches!(
        add_events(&old, &["x"]),
        Err(TransactError::RunStore(RunStoreError::NotFound(_)))
    ));
    // A removal that did not come to its end is done again, and nothing is added to what is left.
    fs::write(open.folder().join("going"), "").unwrap();
    assert!(matches!(
        add_events(&open, &["x"]),
        Err(TransactError::RunStore(RunStoreError::NotFound(_)))
    ));
    assert!(matches!(
        runs.get(open.id()),
        Err(RunStoreError::NotFound(_))
    ));
    assert_eq!(runs.list().unwrap().len(), 2);
    assert_eq!(runs.gc(plans::time(100), |_, _| true).unwrap(), [open.id()]);
}

#[test]
#[cfg(unix)]
fn a_link_in_the_place_of_a_run_is_no_run() {
    let scene = RunLab::new();
    let run = scene.run();
    let base = run.folder().parent().unwrap().to_owned();
    let elsewhere = scene.temp.path().join("elsewhere");
    fs::rename(run.folder(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, run.folder()).unwrap();
    assert!(scene.runs().list().unwrap().is_empty());
    assert!(
        scene.runs().get(run.id()).is_err()
            && run.state().is_err()
            && add_events(&run, &["x"]).is_err()
    );
    fs::write(elsewhere.join("going"), "").unwrap();
    assert_eq!(
        scene.runs().gc(plans::time(100), |_, _| true).unwrap(),
        Vec::<String>::new()
    );
    assert!(elsewhere.join("events.jsonl").exists() && base.join(run.id()).is_symlink());
}

#[test]
fn one_process_at_a_time_checks_a_task() {
    let scene = RunLab::new();
    let run = scene.run();
    let guard = run.try_lock_check("1").unwrap();
    assert!(guard.is_some() && run.try_lock_check("1").unwrap().is_none());
    assert!(run.try_lock_check("2").unwrap().is_some());
    drop(guard);
    assert!(run.try_lock_check("1").unwrap().is_some());
    assert!(run.try_lock_check("../1").is_err());
}

#[test]
fn a_log_has_a_name_and_lies_in_the_run() {
    let scene = RunLab::new();
    let run = scene.run();
    let (_, path) = run
        .log_file(&format!("{}-1-2.log", "x".repeat(64)))
        .unwrap();
    assert!(path.is_file() && path.starts_with(run.folder()));
    for name in ["", "..", "../x", "a/b", "-x", ".x", "a\0", &"x".repeat(129)] {
        assert!(
            matches!(run.log_file(name), Err(RunStoreError::LogName(_))),
            "{name}"
        );
    }
}

#[test]
#[cfg(unix)]
fn only_its_user_can_read_a_run() {
    use std::os::unix::fs::PermissionsExt;
    let scene = RunLab::new();
    let run = scene.run_with(70);
    run.log_file("1.log").unwrap();
    let mode = |path: std::path::PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(run.folder().to_owned()), 0o700);
    assert_eq!(mode(run.folder().join("logs")), 0o700);
    for file in ["events.jsonl", "snapshot.json", "omo-run", "logs/1.log"] {
        assert_eq!(mode(run.folder().join(file)), 0o600, "{file}");
    }
}
