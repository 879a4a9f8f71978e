//! The holder of a run, and its tasks when a session is gone.

use omo_core::check::task_check::TaskCheckVerdict::Green;
use omo_engine::event::{EventActor, EventKind, RecordedProcess};
use omo_engine::state::MAX_LOST_WORKERS;
use omo_engine::verbs::{self, VerbCaller};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use crate::run::kit::{Run, all, file, plan, session, task};

fn caller(actor: EventActor) -> VerbCaller {
    VerbCaller {
        actor,
        ..VerbCaller::default()
    }
}

/// A run of session `s1`, process 100, that is at work on its only task.
fn at_work() -> Run {
    let mut run = Run::open(plan(vec![task("1")]));
    run.start("1").unwrap();
    run
}

/// First events of a caller, where these processes live; process 0 is unknown.
fn taken(run: &Run, actor: EventActor, living: &[u32]) -> Result<Vec<EventKind>, VerbRefusal> {
    let is_alive =
        |process: &RecordedProcess| (process.pid != 0).then(|| living.contains(&process.pid));
    verbs::join_run(&run.state, &caller(actor), &is_alive)
}

#[test]
fn a_run_belongs_to_the_session_that_lives() {
    let unknown = EventActor {
        session: Some("s1".to_owned()),
        process: None,
    };
    let lost = EventKind::TaskHeld {
        task: "1".to_owned(),
        attempt: 1,
        reason: "its session has ended".to_owned(),
        is_pause: false,
    };
    for (who, living, expected) in [
        (session("s1", 100), vec![100], Some(vec![])),
        // A call of an unknown process is the session's all the same.
        (unknown, vec![100], Some(vec![])),
        (session("s2", 200), vec![100, 200], None),
        (
            session("s2", 200),
            vec![200],
            Some(vec![EventKind::HolderChanged, lost.clone()]),
        ),
        (
            session("s1", 101),
            vec![101],
            Some(vec![EventKind::HolderChanged, lost.clone()]),
        ),
        (EventActor::default(), vec![100], Some(vec![])),
        (EventActor::default(), vec![], Some(vec![lost])),
    ] {
        assert_eq!(
            taken(&at_work(), who.clone(), &living).ok(),
            expected,
            "{who:?} {living:?}"
        );
    }
}

#[test]
fn a_refused_run_names_its_owner() {
    let refusal = taken(&at_work(), session("s2", 200), &[100]).unwrap_err();
    assert_eq!(refusal.kind, VerbRefusalKind::Contention);
    assert_eq!(
        refusal.message,
        "the run is held by session s1, process 100, last at work 1970-01-01T00:00:02.000Z"
    );
    assert_eq!(
        refusal.hint,
        "wait for it, end it there, or take it over from a terminal of your own: `omo run resume`"
    );
}

#[test]
fn a_holder_of_unknown_state_is_taken_to_live() {
    let mut run = at_work();
    run.caller.actor = session("s1", 0);
    run.write([EventKind::HolderChanged]);
    assert_eq!(
        taken(&run, session("s2", 200), &[]).unwrap_err().kind,
        VerbRefusalKind::Contention
    );
    run.caller.actor.process = None;
    run.write([EventKind::HolderChanged]);
    assert_eq!(
        taken(&run, session("s2", 200), &[]).unwrap_err().kind,
        VerbRefusalKind::Contention
    );
    // The known process is taken in at once: others can then find that it is gone.
    assert_eq!(
        taken(&run, session("s1", 100), &[100]).unwrap(),
        [EventKind::HolderChanged]
    );
}

#[test]
fn a_run_opened_at_a_terminal_goes_to_the_session_that_works_on_it() {
    let mut run = at_work();
    run.caller.actor = EventActor::default();
    run.write([EventKind::HolderChanged]);
    assert_eq!(
        taken(&run, session("s2", 200), &[100]).unwrap(),
        [EventKind::HolderChanged]
    );
}

#[test]
fn a_run_that_is_over_has_no_holder() {
    let mut run = at_work();
    run.take(verbs::cancel_run(&run.state, "enough").map(|what| vec![what]))
        .unwrap();
    assert_eq!(taken(&run, session("s2", 200), &[100]).unwrap(), []);
}

#[test]
fn a_run_is_taken_over_with_what_others_were_at() {
    let mut run = at_work();
    assert_eq!(
        verbs::take_over_run(&run.state, &run.caller),
        [],
        "it is this one's already"
    );
    run.caller.actor = session("s2", 200);
    let events = verbs::take_over_run(&run.state, &run.caller);
    let pause = EventKind::TaskHeld {
        task: "1".to_owned(),
        attempt: 1,
        reason: "the run was taken over".to_owned(),
        is_pause: false,
    };
    assert_eq!(events, [EventKind::HolderChanged, pause]);
    run.take(Ok(events)).unwrap();
    assert_eq!(
        (run.ready(), &run.state.holder),
        (vec!["1"], &session("s2", 200))
    );
}

#[test]
fn a_cancelled_run_is_resumed_where_it_was() {
    let mut run = at_work();
    run.take(verbs::cancel_run(&run.state, "enough").map(|what| vec![what]))
        .unwrap();
    let again = verbs::cancel_run(&run.state, "enough").unwrap_err();
    assert_eq!(
        (again.kind, again.message.as_str()),
        (VerbRefusalKind::Precondition, "the run has ended already")
    );
    let events = verbs::take_over_run(&run.state, &run.caller);
    assert_eq!(events, [EventKind::RunResumed]);
    run.take(Ok(events)).unwrap();
    assert_eq!(run.ready(), ["1"]);
    run.pass("1");
    assert_eq!(run.state.tasks["1"].attempts, 1);
}

#[test]
fn a_worker_is_lost_so_often_and_no_more() {
    let mut run = Run::open(plan(vec![task("1")]));
    for number in 1..=MAX_LOST_WORKERS {
        let ticket = run.start("1").unwrap();
        run.take(verbs::report_lost_worker(&run.state, "1").map(|what| vec![what]))
            .unwrap();
        let standing = if number == MAX_LOST_WORKERS {
            "failed"
        } else {
            "held"
        };
        assert_eq!(run.standing("1"), standing, "{number}");
        assert!(
            run.done(&ticket, all(&task("1"), &Green)).is_err(),
            "its ticket is worth nothing any more"
        );
    }
    assert_eq!(
        run.state.tasks["1"].last_end.as_ref().unwrap().evidence,
        "its worker was lost 3 times"
    );
    run.retry("1").unwrap();
    assert_eq!(
        run.state.tasks["1"].lost_workers, 0,
        "a person has asked for it"
    );
    run.pass("1");
    assert_eq!(run.standing("1"), "passed");
}

#[test]
fn every_worker_of_a_session_that_is_gone_is_given_back() {
    let mut plan = plan(vec![task("1"), task("2")]);
    plan.policy.parallel = omo_plan::model::Parallelism::Tasks;
    plan.tasks[1].files = vec![file("elsewhere")];
    let mut run = Run::open(plan);
    run.start("1").unwrap();
    run.start("2").unwrap();
    let events = taken(&run, session("s2", 200), &[200]).unwrap();
    run.take(Ok(events)).unwrap();
    assert_eq!(
        (run.standing("1"), run.standing("2"), run.ready()),
        ("held", "held", vec!["1", "2"])
    );
}

#[test]
fn a_worker_of_unknown_state_is_gone_with_its_session() {
    let mut run = Run::open(plan(vec![task("1")]));
    run.caller.actor = session("s1", 0);
    run.start("1").unwrap();
    assert_eq!(taken(&run, session("s1", 100), &[100]).unwrap(), []);
    let events = taken(&run, session("s2", 200), &[200]).unwrap();
    assert!(
        matches!(
            events.as_slice(),
            [EventKind::HolderChanged, EventKind::TaskHeld { .. }]
        ),
        "{events:?}"
    );
}
