//! A process that is ended between two steps of a verb: whoever comes next finds it out, and nobody's work is lost.

use std::time::Duration;

use omo_engine::event::{EventActor, EventKind};
use omo_engine::verbs::{self, AttemptMeasurement};
use omo_engine::work::{EngineError, SilentWatcher};
use omo_git::commit::{CommitEnd, CommitRequest, commit_paths};
use omo_plan::digest::sha256_hex;
use omo_plan::model::TaskKind;
use omo_state::env;

use crate::Named;
use crate::ultraplan_lab::{Stage, plan_text, usual_step};

pub(crate) const ALL: &[Named] = &[
    ("a_commit_without_its_event_is_found_and_is_made_once", a_commit_without_its_event_is_found_and_is_made_once),
    (
        "a_failure_that_was_not_taken_back_is_before_the_next_step",
        a_failure_that_was_not_taken_back_is_before_the_next_step,
    ),
    ("whoever_only_looks_takes_it_back_too", whoever_only_looks_takes_it_back_too),
    ("a_lost_worker_is_followed_on_the_same_ground", a_lost_worker_is_followed_on_the_same_ground),
    ("a_worker_that_is_lost_for_good_is_taken_back", a_worker_that_is_lost_for_good_is_taken_back),
    ("what_cannot_be_put_back_now_holds_up_what_follows", what_cannot_be_put_back_now_holds_up_what_follows),
    ("a_snapshot_that_is_gone_is_told_and_holds_up_nothing", a_snapshot_that_is_gone_is_told_and_holds_up_nothing),
];

const GREEN: &str = "0\ndone\n";
const RED: &str = "1\nhalf\n";

fn a_commit_without_its_event_is_found_and_is_made_once() {
    let stage = Stage::new(&plan_text(&[usual_step(1, "revert"), usual_step(2, "revert")], ""));
    let started = stage.start("1").unwrap();
    stage.write("src/1.rs", GREEN);
    let (root, home) = (stage.root(), stage.home());
    let (trailers, limit) = ([("Omo-Run", stage.run.id()), ("Omo-Unit", "1")], Duration::from_secs(60));
    let order = CommitRequest {
        root: &root,
        state_home: &home,
        paths: &["src/1.rs"],
        message: "part 1",
        trailers: &trailers,
        limit,
    };
    let made = commit_paths(&order, stage.environment(), || true);
    let sha = stage.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(made, CommitEnd::Made { sha: sha.clone() });
    // The process was ended here.
    stage.done(&started.ticket);
    let state = stage.state();
    assert_eq!(
        (stage.standing("1"), state.tasks["1"].last_end.as_ref().unwrap().commit.as_ref()),
        ("passed", Some(&sha))
    );
    assert_eq!(stage.log(), ["part 1", "start"]);
}

/// A first step that has failed, and whose process was ended before it took back what is left of it.
fn failed_and_left(second: &str) -> Stage {
    let stage = Stage::new(&plan_text(&[usual_step(1, "skip"), usual_step(2, second)], ""));
    let started = stage.start("1").unwrap();
    stage.write("src/1.rs", RED);
    stage.write("left.txt", "left");
    let digest = sha256_hex(started.ticket.as_bytes());
    let unit = stage.state().plan.task("1").unwrap().clone();
    assert_eq!(unit.kind, TaskKind::Impl);
    let outcomes = stage.engine(|engine| engine.check_task(&unit, None, &mut SilentWatcher)).unwrap();
    let left = kept(&stage);
    let measured = AttemptMeasurement { outcomes, ..AttemptMeasurement::default() };
    let judge = |state: &_| {
        let events = verbs::judge_attempt(state, &digest, measured)?;
        assert!(verbs::reverts_changes(state, &events));
        Ok((verbs::with_snapshot(events, Some(&left)), ()))
    };
    stage.run.transact(&EventActor::default(), env::now(), judge).unwrap();
    assert!(stage.state().tasks["1"].is_to_restore);
    stage
}

fn kept(stage: &Stage) -> String {
    let (root, home) = (stage.root(), stage.home());
    let place = omo_git::restore::SnapshotContext { root: &root, state_home: &home, run_id: stage.run.id(), own: &[] };
    serde_json::to_string(&omo_git::restore::take_snapshot(&place).unwrap()).unwrap()
}

fn a_failure_that_was_not_taken_back_is_before_the_next_step() {
    let stage = failed_and_left("revert");
    // Days later: this is its user's.
    stage.write("user.txt", "mine\n");
    stage.write("src/4.rs", "mine\n");
    let started = stage.start("2").unwrap();
    assert_eq!((stage.file("src/1.rs").unwrap(), stage.file("left.txt")), ("1\nnot yet\n".to_owned(), None));
    assert_eq!(stage.git(&["status", "--porcelain"]), " M src/4.rs\n M user.txt\n");
    stage.write("src/2.rs", GREEN);
    stage.done(&started.ticket);
    assert_eq!((stage.standing("2"), stage.committed()), ("passed", vec!["src/2.rs".to_owned()]));
    let events = stage.run.events().unwrap();
    let restored = events.iter().filter(|event| matches!(event.kind, EventKind::TaskRestored { .. })).count();
    assert_eq!(restored, 1);
}

fn whoever_only_looks_takes_it_back_too() {
    let stage = failed_and_left("revert");
    stage.engine(|engine| engine.settle(stage.state())).unwrap();
    assert_eq!((stage.file("src/1.rs").unwrap(), stage.file("left.txt")), ("1\nnot yet\n".to_owned(), None));
    assert!(!stage.state().tasks["1"].is_to_restore);
}

fn a_lost_worker_is_followed_on_the_same_ground() {
    let stage = Stage::new(&plan_text(&[usual_step(1, "revert"), usual_step(2, "revert")], ""));
    stage.start("1").unwrap();
    stage.write("src/1.rs", GREEN);
    let ground = stage.state().tasks["1"].baseline.clone();
    stage.engine(|engine| engine.decide(|state| Ok(vec![verbs::report_lost_worker(state, "1")?]))).unwrap();
    let started = stage.start("1").unwrap();
    assert!(ground.is_some() && stage.state().tasks["1"].baseline == ground);
    stage.done(&started.ticket);
    assert_eq!((stage.standing("1"), stage.committed()), ("passed", vec!["src/1.rs".to_owned()]));
}

fn a_worker_that_is_lost_for_good_is_taken_back() {
    let stage = Stage::new(&plan_text(&[usual_step(1, "revert"), usual_step(2, "revert")], ""));
    for _ in 0..verbs::MAX_LOST_WORKERS {
        stage.start("1").unwrap();
        stage.write("src/1.rs", RED);
        stage.engine(|engine| engine.decide(|state| Ok(vec![verbs::report_lost_worker(state, "1")?]))).unwrap();
    }
    assert_eq!((stage.standing("1"), stage.next().as_str()), ("failed", "over"));
    stage.engine(|engine| engine.write_projections_if_last(stage.state())).unwrap();
    assert_eq!(stage.file("src/1.rs").unwrap(), "1\nnot yet\n");
}

fn what_cannot_be_put_back_now_holds_up_what_follows() {
    let stage = failed_and_left("revert");
    stage.write(".git/index.lock", "of another git");
    let refused = stage.start("2").unwrap_err();
    assert!(matches!(&refused, EngineError::Restore(error) if error.to_string().contains("index.lock")), "{refused}");
    assert_eq!((stage.standing("2"), stage.file("src/1.rs").unwrap()), ("pending", RED.to_owned()));
    std::fs::remove_file(stage.root().join(".git/index.lock")).unwrap();
    stage.start("2").unwrap();
    assert_eq!(stage.file("src/1.rs").unwrap(), "1\nnot yet\n");
}

fn a_snapshot_that_is_gone_is_told_and_holds_up_nothing() {
    let stage = failed_and_left("revert");
    omo_git::restore::forget_snapshots(&stage.home(), stage.run.id()).unwrap();
    stage.start("2").unwrap();
    let events = stage.run.events().unwrap();
    let left = events.iter().find_map(|event| match &event.kind {
        EventKind::TaskRestored { not_restored: left, .. } => Some(left.clone()),
        _ => None,
    });
    assert!(left.unwrap()[0].starts_with("nothing was put back: "), "{events:?}");
}
