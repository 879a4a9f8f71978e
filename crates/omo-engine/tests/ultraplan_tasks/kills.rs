//! A process that is killed between two steps of a verb: the next process finds it out, and no work is lost.

use std::time::Duration;

use omo_engine::event::{EventActor, EventKind};
use omo_engine::verbs::{self, AttemptMeasurement};
use omo_engine::work::{EngineError, SilentWatcher};
use omo_git::commit::CommitEnd;
use omo_git::commit::CommitRequest;
use omo_git::commit::commit_paths;
use omo_git::git_settings::GitSettings;
use omo_git::proved_worktree::ProvedWorktree;
use omo_plan::digest::sha256_hex;
use omo_plan::model::TaskKind;
use omo_state::env;

use crate::Named;
use crate::ultraplan_lab::{UltraplanLab, plan_text, usual_step};

pub(crate) const ALL: &[Named] = &[
    (
        "a_commit_without_its_event_is_found_and_is_made_once",
        a_commit_without_its_event_is_found_and_is_made_once,
    ),
    (
        "a_failure_that_was_not_taken_back_blocks_the_next_task",
        a_failure_that_was_not_taken_back_blocks_the_next_task,
    ),
    (
        "a_call_that_only_reads_takes_it_back_too",
        a_call_that_only_reads_takes_it_back_too,
    ),
    (
        "a_lost_worker_is_followed_on_the_same_ground",
        a_lost_worker_is_followed_on_the_same_ground,
    ),
    (
        "a_worker_that_is_lost_for_good_is_taken_back",
        a_worker_that_is_lost_for_good_is_taken_back,
    ),
    (
        "what_cannot_be_put_back_now_holds_up_what_follows",
        what_cannot_be_put_back_now_holds_up_what_follows,
    ),
    (
        "a_missing_snapshot_is_reported_and_delays_nothing",
        a_missing_snapshot_is_reported_and_delays_nothing,
    ),
];

const GREEN: &str = "0\ndone\n";
const RED: &str = "1\nhalf\n";

/// The commit of the first step, whose process was killed before it could record that.
pub(crate) fn commit_unrecorded(fixture: &UltraplanLab) -> String {
    fixture.write("src/1.rs", GREEN);
    let (worktree, home) = (ProvedWorktree::of_project(&fixture.root()), fixture.home());
    let (trailers, limit) = (
        [("Omo-Run", fixture.run.id()), ("Omo-Task", "1")],
        Duration::from_secs(60),
    );
    let order = CommitRequest {
        worktree: &worktree,
        state_home: &home,
        paths: &["src/1.rs"],
        message: "part 1",
        trailers: &trailers,
        settings: &GitSettings::default(),
        limit,
    };
    let made = commit_paths(&order, fixture.environment(), || true);
    let sha = fixture.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(
        made,
        CommitEnd::Made {
            sha: sha.clone(),
            by_hooks: Vec::new()
        }
    );
    sha
}

fn a_commit_without_its_event_is_found_and_is_made_once() {
    let fixture = UltraplanLab::new(&plan_text(
        &[usual_step(1, "revert"), usual_step(2, "revert")],
        "",
    ));
    let started = fixture.start("1").unwrap();
    let sha = commit_unrecorded(&fixture);
    fixture.done(&started.ticket);
    let state = fixture.state();
    assert_eq!(
        (
            fixture.standing("1"),
            state.tasks["1"].last_end.as_ref().unwrap().commit.as_ref()
        ),
        ("passed", Some(&sha))
    );
    assert_eq!(fixture.log(), ["part 1", "start"]);
}

/// A first step that has failed, and whose process was killed before it took its changes back.
fn failed_and_left(second: &str) -> UltraplanLab {
    let fixture = UltraplanLab::new(&plan_text(
        &[usual_step(1, "skip"), usual_step(2, second)],
        "",
    ));
    let started = fixture.start("1").unwrap();
    fixture.write("src/1.rs", RED);
    fixture.write("left.txt", "left");
    let digest = sha256_hex(started.ticket.as_bytes());
    let task = fixture.state().plan.task("1").unwrap().clone();
    assert_eq!(task.kind, TaskKind::Impl);
    let outcomes = fixture
        .engine(|engine| engine.check_task(&task, None, &mut SilentWatcher))
        .unwrap();
    let left = kept(&fixture);
    let measured = AttemptMeasurement {
        outcomes,
        ..AttemptMeasurement::default()
    };
    let judge = |state: &_| {
        let events = verbs::judge_attempt(state, &digest, measured)?;
        assert!(verbs::reverts_changes(state, &events));
        Ok((verbs::with_snapshot(events, Some(&left)), ()))
    };
    fixture
        .run
        .transact(&EventActor::default(), env::now(), judge)
        .unwrap();
    assert!(fixture.state().tasks["1"].is_to_restore);
    fixture
}

fn kept(fixture: &UltraplanLab) -> String {
    let (worktree, home) = (ProvedWorktree::of_project(&fixture.root()), fixture.home());
    let place = omo_git::snapshots::Snapshots {
        worktree: &worktree,
        state_home: &home,
        run_id: fixture.run.id(),
        own: &[],
    };
    serde_json::to_string(&place.take_bytes().unwrap()).unwrap()
}

fn a_failure_that_was_not_taken_back_blocks_the_next_task() {
    let fixture = failed_and_left("revert");
    // Days later: this is its user's.
    fixture.write("user.txt", "mine\n");
    fixture.write("src/4.rs", "mine\n");
    let started = fixture.start("2").unwrap();
    assert_eq!(fixture.file("src/1.rs").unwrap(), "1\nnot yet\n");
    assert_eq!(
        fixture.git(&["status", "--porcelain"]),
        " M src/4.rs\n M user.txt\n?? left.txt\n"
    );
    fixture.write("src/2.rs", GREEN);
    fixture.done(&started.ticket);
    assert_eq!(
        (fixture.standing("2"), fixture.committed()),
        ("passed", vec!["src/2.rs".to_owned()])
    );
    let events = fixture.run.events().unwrap();
    let restored = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::TaskRestored { .. }))
        .count();
    assert_eq!(restored, 1);
}

fn a_call_that_only_reads_takes_it_back_too() {
    let fixture = failed_and_left("revert");
    fixture
        .engine(|engine| engine.apply_due_events(fixture.state()))
        .unwrap();
    assert_eq!(fixture.file("src/1.rs").unwrap(), "1\nnot yet\n");
    assert_eq!(fixture.state().tasks["1"].left_alone, ["left.txt"]);
    assert!(!fixture.state().tasks["1"].is_to_restore);
}

fn a_lost_worker_is_followed_on_the_same_ground() {
    let fixture = UltraplanLab::new(&plan_text(
        &[usual_step(1, "revert"), usual_step(2, "revert")],
        "",
    ));
    fixture.start("1").unwrap();
    fixture.write("src/1.rs", GREEN);
    let ground = fixture.state().tasks["1"].baseline.clone();
    fixture
        .engine(|engine| engine.decide(|state| Ok(vec![verbs::report_lost_worker(state, "1")?])))
        .unwrap();
    let started = fixture.start("1").unwrap();
    assert!(ground.is_some() && fixture.state().tasks["1"].baseline == ground);
    fixture.done(&started.ticket);
    assert_eq!(
        (fixture.standing("1"), fixture.committed()),
        ("passed", vec!["src/1.rs".to_owned()])
    );
}

fn a_worker_that_is_lost_for_good_is_taken_back() {
    let fixture = UltraplanLab::new(&plan_text(
        &[usual_step(1, "revert"), usual_step(2, "revert")],
        "",
    ));
    for _ in 0..omo_engine::state::MAX_LOST_WORKERS {
        fixture.start("1").unwrap();
        fixture.write("src/1.rs", RED);
        fixture
            .engine(|engine| {
                engine.decide(|state| Ok(vec![verbs::report_lost_worker(state, "1")?]))
            })
            .unwrap();
    }
    assert_eq!(
        (fixture.standing("1"), fixture.next().as_str()),
        ("failed", "over")
    );
    fixture
        .engine(|engine| engine.write_projections_if_last(fixture.state()))
        .unwrap();
    assert_eq!(fixture.file("src/1.rs").unwrap(), "1\nnot yet\n");
}

fn what_cannot_be_put_back_now_holds_up_what_follows() {
    let fixture = failed_and_left("revert");
    fixture.write(".git/index.lock", "of another git");
    let refused = fixture.start("2").unwrap_err();
    assert!(
        matches!(&refused, EngineError::Restore(error) if error.to_string().contains("index.lock")),
        "{refused}"
    );
    assert_eq!(
        (fixture.standing("2"), fixture.file("src/1.rs").unwrap()),
        ("pending", RED.to_owned())
    );
    std::fs::remove_file(fixture.root().join(".git/index.lock")).unwrap();
    fixture.start("2").unwrap();
    assert_eq!(fixture.file("src/1.rs").unwrap(), "1\nnot yet\n");
}

fn a_missing_snapshot_is_reported_and_delays_nothing() {
    let fixture = failed_and_left("revert");
    omo_git::snapshots::forget_snapshots(&fixture.home(), fixture.run.id()).unwrap();
    fixture.start("2").unwrap();
    let events = fixture.run.events().unwrap();
    let left = events.iter().find_map(|event| match &event.kind {
        EventKind::TaskRestored {
            not_restored: left, ..
        } => Some(left.clone()),
        _ => None,
    });
    assert_eq!(left.unwrap().len(), 1, "{events:?}");
}
