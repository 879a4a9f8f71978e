//! The effect of each event on a run.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{self, Green, Red};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{AttemptEnd, EventKind, ImportedStatus, RunEvent, RunResult};
use omo_engine::state::{FINAL_CHECKS_ID, RunPhase, RunState, TaskStatus};
use omo_engine::verbs;

use crate::run::kit::{Run, needs, outcome, plan, session, task};

fn end(evidence: &str) -> AttemptEnd {
    AttemptEnd {
        attempt: 1,
        evidence: evidence.to_owned(),
        ..AttemptEnd::default()
    }
}

fn started(id: &str, attempt: u32) -> EventKind {
    EventKind::TaskStarted {
        task: id.to_owned(),
        attempt,
        ticket: "t".to_owned(),
        tree: Some("tree".to_owned()),
        protected_files: vec![("a".to_owned(), "b".to_owned())],
        already_green: vec![0],
        snapshot: None,
        head: None,
    }
}

fn ran(verdict: TaskCheckVerdict) -> EventKind {
    let (task, command) = ("1".to_owned(), "c".to_owned());
    EventKind::CheckRan {
        task,
        attempt: 1,
        position: 0,
        command,
        outcome: outcome(verdict),
    }
}

#[test]
fn a_task_ends_as_its_event_says() {
    let id = || "1".to_owned();
    for (what, status, evidence, why) in [
        (
            EventKind::TaskPassed {
                task: id(),
                end: end("e"),
            },
            TaskStatus::Passed,
            Some("e"),
            None,
        ),
        (
            EventKind::TaskUnverified {
                task: id(),
                end: end("e"),
            },
            TaskStatus::Unverified,
            Some("e"),
            None,
        ),
        (
            EventKind::TaskFailed {
                task: id(),
                is_final: true,
                end: end("e"),
            },
            TaskStatus::Failed,
            Some("e"),
            None,
        ),
        (
            EventKind::TaskFailed {
                task: id(),
                is_final: false,
                end: end("e"),
            },
            TaskStatus::Pending,
            Some("e"),
            None,
        ),
        (
            EventKind::TaskSkipped {
                task: id(),
                reason: "w".to_owned(),
            },
            TaskStatus::Skipped,
            None,
            Some("w"),
        ),
        (
            EventKind::TaskHeld {
                task: id(),
                attempt: 1,
                reason: "w".to_owned(),
                is_pause: false,
            },
            TaskStatus::Held,
            None,
            Some("w"),
        ),
        (
            EventKind::TaskReopened {
                task: id(),
                reason: "w".to_owned(),
            },
            TaskStatus::Pending,
            None,
            Some("w"),
        ),
        (
            imported(ImportedStatus::Done),
            TaskStatus::Claimed,
            Some("e"),
            None,
        ),
        (
            imported(ImportedStatus::Failed),
            TaskStatus::Failed,
            Some("e"),
            None,
        ),
        (
            imported(ImportedStatus::Blocked),
            TaskStatus::Skipped,
            Some("e"),
            Some("e"),
        ),
    ] {
        let mut run = Run::open(plan(vec![task("1")]));
        run.write([started("1", 1), ran(Green), what.clone()]);
        let known = &run.state.tasks["1"];
        assert_eq!(known.status, status, "{what:?}");
        assert_eq!(
            known.last_end.as_ref().map(|end| end.evidence.as_str()),
            evidence,
            "{what:?}"
        );
        assert_eq!(known.reason.as_deref(), why, "{what:?}");
        assert_eq!(known.running, None, "{what:?}");
        assert_eq!(known.updated_at, Some(run.state.updated_at));
    }
}

fn imported(status: ImportedStatus) -> EventKind {
    EventKind::TaskImported {
        task: "1".to_owned(),
        status,
        evidence: "e".to_owned(),
        files: vec!["f".to_owned()],
    }
}

#[test]
fn what_is_known_of_an_attempt_is_of_the_last_one() {
    let mut run = Run::open(plan(vec![task("1")]));
    run.write([started("1", 1), ran(Red), ran(Green)]);
    let known = run.state.tasks["1"].clone();
    assert_eq!(
        (known.status, known.attempts, known.checks.len()),
        (TaskStatus::Running, 1, 2)
    );
    let running = known.running.unwrap();
    assert_eq!(
        (running.ticket.as_str(), running.tree.as_deref()),
        ("t", Some("tree"))
    );
    assert_eq!(running.protected_files, [("a".to_owned(), "b".to_owned())]);
    assert_eq!(
        (running.by, running.since),
        (session("s1", 100), run.events[1].ts)
    );
    assert_eq!(known.already_green, [0]);
    run.write([
        EventKind::TaskFailed {
            task: "1".to_owned(),
            is_final: false,
            end: end("e"),
        },
        started("1", 2),
    ]);
    let known = &run.state.tasks["1"];
    assert_eq!((known.attempts, known.checks.len()), (2, 0));
    assert_eq!(
        known.last_end.as_ref().unwrap().evidence,
        "e",
        "the next worker is told what went wrong"
    );
}

#[test]
fn a_run_goes_through_its_phases() {
    let mut run = Run::open(plan(vec![task("1")]));
    assert_eq!(run.state.phase, RunPhase::Executing);
    run.write([EventKind::RunCancelled {
        reason: "w".to_owned(),
    }]);
    assert_eq!(
        run.state.phase,
        RunPhase::Cancelled {
            why: "w".to_owned()
        }
    );
    run.caller.actor = session("s2", 200);
    run.write([EventKind::RunResumed]);
    assert_eq!(
        (&run.state.phase, &run.state.holder),
        (&RunPhase::Executing, &session("s2", 200))
    );
    run.caller.actor = session("s3", 300);
    run.write([EventKind::HolderChanged]);
    assert_eq!(run.state.holder, session("s3", 300));
    run.write([EventKind::RunEnded {
        result: RunResult::Failed,
    }]);
    assert_eq!(run.result(), Some(RunResult::Failed));
    run.write([EventKind::TasksDispatched {
        tasks: vec!["1".to_owned()],
        to_agents: false,
    }]);
    let out = run.state.dispatched.clone().unwrap();
    assert_eq!(
        (out.tasks, out.at),
        (vec!["1".to_owned()], run.state.updated_at)
    );
    run.write([EventKind::ProjectionChanged {
        file: "f".to_owned(),
        backup: None,
    }]);
    assert_eq!(run.state.changed_files, [("f".to_owned(), None)]);
}

#[test]
fn a_cancelled_run_has_no_worker() {
    let mut run = Run::open(plan(vec![task("1")]));
    let ticket = run.start("1").unwrap();
    run.write([EventKind::RunCancelled {
        reason: "w".to_owned(),
    }]);
    assert_eq!(run.standing("1"), "held");
    assert_eq!(run.state.tasks["1"].attempts, 0, "it does not count");
    assert_eq!(
        run.state.tasks["1"].lost_workers, 0,
        "nor was its worker lost"
    );
    let before = run.state.clone();
    run.done(&ticket, crate::run::kit::all(&task("1"), &Green))
        .unwrap_err();
    assert_eq!(run.state, before);
}

#[test]
fn a_task_may_have_the_name_of_the_final_checks() {
    let mut run = Run::open(plan(vec![task(FINAL_CHECKS_ID)]));
    run.pass(FINAL_CHECKS_ID);
    assert_eq!(run.state.tasks[FINAL_CHECKS_ID].checks.len(), 1);
    assert!(run.state.final_checks.is_empty());
}

#[test]
fn a_ledger_that_cannot_be_is_refused_and_nothing_is_folded() {
    let run = Run::open(plan(vec![task("1"), needs("2", &["1"])]));
    let known = |what: EventKind| RunEvent {
        seq: 2,
        ts: Timestamp::from_millis(1),
        actor: session("s", 1),
        kind: what,
    };
    let ticked = |ids: &[&str], tip: Option<&str>| EventKind::PlanTicked {
        ticked: ids.iter().map(|id| (*id).to_owned()).collect(),
        opened: Vec::new(),
        plan_sha256: None,
        tip: tip.map(str::to_owned),
    };
    let open = || EventKind::RunOpened {
        plan: Box::new(plan(Vec::new())),
        approved: String::new(),
        root: String::new(),
        worktree: None,
        base: None,
        branch: None,
        scope: None,
        mode: None,
        guard: None,
    };
    for (event, says) in [
        (
            RunEvent {
                seq: 3,
                ..known(EventKind::HolderChanged)
            },
            "event 3 of the ledger does not follow the one before it",
        ),
        (
            RunEvent {
                seq: 1,
                ..known(EventKind::HolderChanged)
            },
            "event 1 of the ledger does not follow the one before it",
        ),
        (
            known(open()),
            "event 2 of the ledger opens a run that is open",
        ),
        (
            known(started("9", 1)),
            "event 2 of the ledger is about a task that the plan does not have",
        ),
        (
            known(EventKind::QuestionAnswered {
                question: "q1".to_owned(),
                option: String::new(),
                plan_sha256: None,
            }),
            "event 2 of the ledger answers a question that is not open",
        ),
        (
            known(ticked(&["1", "9"], None)),
            "event 2 of the ledger ticks a task that the plan does not have",
        ),
        (
            known(ticked(&["1"], Some("tip"))),
            "event 2 of the ledger ticks in a commit of no parallel worker",
        ),
    ] {
        let mut state = run.state.clone();
        assert_eq!(state.apply(&event).unwrap_err().to_string(), says);
        assert_eq!(state, run.state, "{says}");
    }
    let none = RunState::from_first_event(&known(EventKind::HolderChanged)).unwrap_err();
    assert_eq!(
        none.to_string(),
        "event 2 of the ledger does not open a run"
    );
    let mut last = run.state.clone();
    last.seq = u64::MAX;
    last.apply(&known(EventKind::HolderChanged)).unwrap_err();
}

#[test]
fn a_task_is_blocked_by_what_is_nearest_in_any_order_of_the_plan() {
    for tasks in [
        vec![task("1"), needs("2", &["1"]), needs("3", &["2"]), task("4")],
        vec![needs("3", &["2"]), needs("2", &["1"]), task("4"), task("1")],
    ] {
        let mut run = Run::open(plan(tasks));
        let failed = EventKind::TaskFailed {
            task: "1".to_owned(),
            is_final: true,
            end: end("e"),
        };
        run.write([failed]);
        let by = |id: &str| match run.state.standing(id) {
            Some(omo_engine::state::TaskStanding::Blocked { by }) => by,
            other => format!("{other:?}"),
        };
        assert_eq!((by("2").as_str(), by("3").as_str()), ("1", "2"));
        assert_eq!(run.standing("4"), "pending");
        assert_eq!(run.state.standing("9"), None);
        let counts = run.state.task_counts();
        assert_eq!(
            (counts.total, counts.failed, counts.blocked, counts.pending),
            (4, 1, 2, 1)
        );
    }
}

#[test]
fn what_was_handed_out_is_gone_with_whom_and_with_what_it_was_handed_out_for() {
    let edit = || EventKind::PlanChanged {
        plan: Box::new(plan(vec![task("1")])),
        approved: String::new(),
    };
    let cancel = || EventKind::RunCancelled {
        reason: String::new(),
    };
    for later in [
        vec![EventKind::HolderChanged],
        vec![cancel(), EventKind::RunResumed],
        vec![edit()],
    ] {
        let mut run = Run::open(plan(vec![task("1")]));
        run.write([EventKind::TasksDispatched {
            tasks: vec!["1".to_owned()],
            to_agents: false,
        }]);
        assert!(run.state.dispatched.is_some());
        run.write(later.clone());
        assert_eq!(run.state.dispatched, None, "{later:?}");
    }
}

#[test]
fn no_event_passes_a_task_that_was_not_proved() {
    let passed = || EventKind::TaskPassed {
        task: "1".to_owned(),
        end: end("so it says"),
    };
    let failed = || EventKind::TaskFailed {
        task: "1".to_owned(),
        is_final: false,
        end: end("e"),
    };
    for before in [
        vec![],
        vec![ran(Green)],
        vec![started("1", 1)],
        vec![started("1", 1), ran(Red)],
        vec![started("1", 1), ran(Red), ran(Green)],
        vec![started("1", 1), ran(Green), failed()],
        vec![started("1", 1), ran(Green), failed(), started("1", 2)],
    ] {
        let mut run = Run::open(plan(vec![task("1")]));
        run.write(before.clone());
        let event = RunEvent {
            seq: run.state.seq + 1,
            ts: run.state.updated_at,
            actor: session("s1", 100),
            kind: passed(),
        };
        let mut state = run.state.clone();
        let error = state.apply(&event).unwrap_err();
        assert_eq!(
            error.problem, "passes a task whose checks were not seen to be green",
            "{before:?}"
        );
        assert_eq!(state, run.state);
    }
}

#[test]
fn what_the_final_checks_said_is_void_once_anything_is_done() {
    let id = || "1".to_owned();
    for later in [
        started("1", 1),
        EventKind::TaskReopened {
            task: id(),
            reason: String::new(),
        },
        EventKind::TaskSkipped {
            task: id(),
            reason: String::new(),
        },
        EventKind::PlanChanged {
            plan: Box::new(plan(vec![task("1")])),
            approved: String::new(),
        },
        EventKind::RunResumed,
    ] {
        let mut run = Run::open(plan(vec![task("1")]));
        run.write(verbs::final_check_events(vec![(
            TaskCheck::new("make"),
            outcome(Green),
        )]));
        assert_eq!(run.state.final_checks.len(), 1);
        run.write([later.clone()]);
        assert!(run.state.final_checks.is_empty(), "{later:?}");
    }
}
