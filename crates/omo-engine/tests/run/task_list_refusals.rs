//! Refusals in a run of a task list: the message, the hint, and an unchanged run.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::{Green, Red};
use omo_engine::event::{EventKind, PlanVerdict};
use omo_engine::verbs::{self, AttemptMeasurement};
use omo_plan::model::{Task, TaskKind};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_plan::task_list::VERIFY_TASK_ID;

use crate::run::kit::{Run, all, no_tool, plan, task};
use crate::run::task_list_kit::{
    checked_task, criteria_task, fail_for, pass_by, ran, session_plan,
};

const NEEDS_EVIDENCE: &str =
    "task 1 has criteria that no command decides, and nothing shows them: ";

#[test]
fn a_claim_counts_by_green_evidence_of_its_own() {
    let mut run = Run::open(session_plan(vec![
        criteria_task("1", &[]),
        criteria_task("2", &[]),
    ]));
    let other = run.start("2").unwrap();
    run.shows(&other, &Green).unwrap();
    let ticket = run.start("1").unwrap();
    run.shows(&ticket, &Red).unwrap();
    run.shows(&ticket, &no_tool()).unwrap();
    run.shows(&ticket, &Green).unwrap();
    for (ids, why) in [
        (vec![], "no evidence is named"),
        (vec!["e9"], "there is no evidence `e9`"),
        (vec!["e1"], "e1 was run for 2"),
        (vec!["e2"], "e2 is not green: exit 1"),
        (vec!["e3"], "e3 is not green: exit 1"),
        (vec!["e4", "e2"], "e2 is not green: exit 1"),
    ] {
        let refusal = claim(&mut run, &ticket, &ids, &Green).unwrap_err();
        assert_eq!(
            (refusal.kind, refusal.message),
            (
                VerbRefusalKind::Precondition,
                format!("{NEEDS_EVIDENCE}{why}")
            )
        );
        assert_eq!(run.standing("1"), "running", "its ticket stays valid");
    }
    claim(&mut run, &ticket, &["e4"], &Green).unwrap();
    let known = &run.state.tasks["1"];
    assert_eq!(
        (run.standing("1"), known.evidence_ids.as_slice()),
        ("claimed", ["e4".to_owned()].as_slice())
    );
    assert_eq!(known.last_end.as_ref().unwrap().evidence, "e4 `look at it`");
}

fn claim(
    run: &mut Run,
    ticket: &str,
    ids: &[&str],
    verdict: &omo_core::check::task_check::TaskCheckVerdict,
) -> Result<(), VerbRefusal> {
    let task = verbs::task_of_ticket(&run.state, ticket)?.clone();
    let evidence_ids = ids.iter().map(|id| (*id).to_owned()).collect();
    run.done(
        ticket,
        AttemptMeasurement {
            evidence_ids,
            ..all(&task, verdict)
        },
    )
}

#[test]
fn evidence_of_a_worker_that_is_gone_shows_nothing_of_the_next_one() {
    for ends in [
        (|run: &mut Run, _: &str| {
            run.take(verbs::report_lost_worker(&run.state, "1").map(|what| vec![what]))
        }) as fn(&mut Run, &str) -> _,
        |run, ticket| run.take(verbs::give_up_attempt(&run.state, ticket, "no", Vec::new())),
    ] {
        let mut run = Run::open(session_plan(vec![criteria_task("1", &[])]));
        let ticket = run.start("1").unwrap();
        run.shows(&ticket, &Green).unwrap();
        ends(&mut run, &ticket).unwrap();
        assert_eq!(
            run.shows(&ticket, &Green).unwrap_err().kind,
            VerbRefusalKind::Precondition
        );
        let ticket = run.start("1").unwrap();
        let refusal = claim(&mut run, &ticket, &["e1"], &Green).unwrap_err();
        assert_eq!(
            refusal.message,
            format!("{NEEDS_EVIDENCE}e1 was run by an earlier worker")
        );
    }
}

#[test]
fn a_red_check_is_a_failure_whatever_else_is_shown() {
    let both = Task {
        criteria: vec!["it reads well".to_owned()],
        ..checked_task("1", &[])
    };
    let mut run = Run::open(session_plan(vec![both, checked_task("2", &[])]));
    let ticket = run.start("1").unwrap();
    run.shows(&ticket, &Green).unwrap();
    claim(&mut run, &ticket, &["e1"], &Red).unwrap();
    assert_eq!(run.standing("1"), "failed");
    run.pass("2");
    let ticket = run.start("1").unwrap();
    assert_eq!(
        claim(&mut run, &ticket, &[], &Green).unwrap_err().kind,
        VerbRefusalKind::Precondition
    );
    run.shows(&ticket, &Green).unwrap();
    claim(&mut run, &ticket, &["e2"], &Green).unwrap();
    assert_eq!(
        run.state.tasks["1"].last_end.as_ref().unwrap().evidence,
        "`prove 1` exit 0; e2 `look at it`"
    );
    assert_eq!(
        run.standing("1"),
        "claimed",
        "its check alone does not prove it"
    );
}

/// A task that is claimed (1), one that has passed (2), and a verifier at work: its ticket.
fn verifying() -> (Run, String) {
    let mut run = Run::open(session_plan(vec![
        criteria_task("1", &[]),
        checked_task("2", &[]),
    ]));
    run.claim("1");
    run.pass("2");
    let ticket = run.start(VERIFY_TASK_ID).unwrap();
    run.shows(&ticket, &Red).unwrap();
    run.shows(&ticket, &Green).unwrap();
    (run, ticket)
}

#[test]
fn a_verdict_that_all_is_done_counts_only_where_it_is() {
    for (ids, why) in [
        (vec![], "no evidence is named"),
        (vec!["e9"], "there is no evidence `e9`"),
        (
            vec!["e1"],
            "none of the evidence was run by this verification",
        ),
        (vec!["e2", "e3"], "e2 is not green: exit 1"),
    ] {
        let (mut run, ticket) = verifying();
        run.finals(&Green);
        let before = run.state.clone();
        assert_eq!(
            verbs::verdict_objection(&run.state, &ticket, &pass_by(&ids)).as_deref(),
            Some(why)
        );
        let refusal = run.judges(&ticket, pass_by(&ids)).unwrap_err();
        assert_eq!(
            (refusal.kind, refusal.message),
            (
                VerbRefusalKind::ChecksNotGreen,
                format!("PASS does not count: {why}")
            )
        );
        assert_eq!(run.state, before, "its ticket stays valid");
    }
    for (finals, why) in [
        (
            None,
            "PASS does not count: `prove 2` was not run since the verification began",
        ),
        (Some(Red), "PASS does not count: `prove 2` exit 1"),
        (Some(no_tool()), "PASS does not count: `prove 2` exit 1"),
    ] {
        let (mut run, ticket) = verifying();
        if let Some(verdict) = finals {
            run.finals(&verdict);
        }
        assert_eq!(
            verbs::verdict_objection(&run.state, &ticket, &pass_by(&["e3"])),
            None,
            "the checks are run behind it"
        );
        let refusal = run.judges(&ticket, pass_by(&["e3"])).unwrap_err();
        assert_eq!(
            (refusal.kind, refusal.message.as_str()),
            (VerbRefusalKind::ChecksNotGreen, why)
        );
        run.finals(&Green);
        run.judges(&ticket, pass_by(&["e1", "e3"])).unwrap();
        assert_eq!(run.standing(VERIFY_TASK_ID), "passed");
    }
}

#[test]
fn a_verdict_that_it_is_not_done_names_what_is_to_be_done() {
    let table: [(PlanVerdict, VerbRefusalKind, &str); 4] = [
        (
            fail_for(&[]),
            VerbRefusalKind::Usage,
            "FAIL names nothing that is to be done again",
        ),
        (
            fail_for(&["9"]),
            VerbRefusalKind::NotFound,
            "the plan has no task `9`",
        ),
        (
            fail_for(&["1", VERIFY_TASK_ID]),
            VerbRefusalKind::Usage,
            "the verification is done again by itself",
        ),
        (
            PlanVerdict {
                evidence_ids: vec!["e9".to_owned()],
                ..fail_for(&["1"])
            },
            VerbRefusalKind::NotFound,
            "there is no evidence `e9`",
        ),
    ];
    for (verdict, kind, message) in table {
        let (mut run, ticket) = verifying();
        let before = run.state.clone();
        assert_eq!(
            verbs::verdict_objection(&run.state, &ticket, &verdict),
            None
        );
        let refusal = run.judges(&ticket, verdict).unwrap_err();
        assert_eq!((refusal.kind, refusal.message.as_str()), (kind, message));
        assert_eq!(run.state, before);
    }
}

#[test]
fn only_a_verifier_judges_the_whole_and_only_by_a_verdict() {
    let (mut run, ticket) = verifying();
    let refusal = claim(&mut run, &ticket, &["e3"], &Green).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (
            VerbRefusalKind::Precondition,
            "a verification ends with a verdict"
        )
    );
    let mut run = Run::open(session_plan(vec![criteria_task("1", &[])]));
    let ticket = run.start("1").unwrap();
    for (ticket, message) in [
        (
            ticket.as_str(),
            "that ticket is of task 1, and not of the verification",
        ),
        (
            "made up",
            "that ticket is not valid: it was used, its attempt has ended, or it is of another run",
        ),
    ] {
        for verdict in [pass_by(&["e1"]), fail_for(&["1"])] {
            assert_eq!(verbs::verdict_objection(&run.state, ticket, &verdict), None);
            let refusal = verbs::give_verdict(&run.state, ticket, verdict).unwrap_err();
            assert_eq!(
                (refusal.kind, refusal.message.as_str()),
                (VerbRefusalKind::Precondition, message)
            );
        }
    }
    assert_eq!(
        run.start(VERIFY_TASK_ID).unwrap_err().message,
        "it is not the turn of verify"
    );
    let made_up = verbs::record_evidence(&run.state, "made up", ran("true", &Green)).unwrap_err();
    assert_eq!(made_up.kind, VerbRefusalKind::Precondition);
}

#[test]
fn what_is_said_is_kept_on_one_line() {
    let (mut run, ticket) = verifying();
    let verdict = PlanVerdict {
        reopen: vec![("1".to_owned(), "two\nlines".to_owned())],
        note: "more\nto say".to_owned(),
        ..PlanVerdict::default()
    };
    run.judges(&ticket, verdict).unwrap();
    let kept = run.state.verdicts.last().unwrap();
    assert_eq!(
        (kept.reopen[0].1.as_str(), kept.note.as_str()),
        ("two lines", "more to say")
    );
    assert_eq!(
        run.state.tasks[VERIFY_TASK_ID]
            .last_end
            .as_ref()
            .unwrap()
            .evidence,
        "FAIL: 1: two lines; more to say"
    );
}

#[test]
fn a_task_is_added_only_where_it_can_be() {
    use VerbRefusalKind::{NotFound, Precondition, Usage};
    let open = || Run::open(session_plan(vec![checked_task("1", &[])]));
    let table: [(Task, VerbRefusalKind, &str); 6] = [
        (
            checked_task("1", &[]),
            Precondition,
            "there is a task 1 already",
        ),
        (
            checked_task(VERIFY_TASK_ID, &[]),
            Precondition,
            "the verification is not a task that can be added",
        ),
        (
            Task {
                kind: TaskKind::Verify,
                ..checked_task("2", &[])
            },
            Precondition,
            "the verification is not a task that can be added",
        ),
        (
            checked_task("../2", &[]),
            Usage,
            "`../2` is not an id: a letter or digit, then up to 63 of letters, digits, `.`, `_` and `-`",
        ),
        (
            checked_task("2", &["9"]),
            NotFound,
            "the plan has no task `9`",
        ),
        (
            checked_task("2", &[VERIFY_TASK_ID]),
            Precondition,
            "2 would wait for the verification, which comes after all tasks",
        ),
    ];
    for (task, kind, message) in table {
        let mut run = open();
        let before = run.state.clone();
        let refusal = run.adds(task).unwrap_err();
        assert_eq!((refusal.kind, refusal.message.as_str()), (kind, message));
        assert_eq!(run.state, before);
    }
    assert_eq!(
        open().adds(checked_task("2", &["2"])).unwrap_err().kind,
        NotFound,
        "a task cannot wait for itself"
    );
    let mut of_a_file = Run::open(plan(vec![task("1")]));
    let refusal = of_a_file.adds(checked_task("2", &[])).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (Precondition, "the tasks of this run are those of its plan")
    );
    let mut over = open();
    over.take(verbs::cancel_run(&over.state, "enough").map(|what| vec![what]))
        .unwrap();
    assert_eq!(
        over.adds(checked_task("2", &[])).unwrap_err().message,
        "the run has ended"
    );
}

#[test]
fn what_an_added_task_would_run_is_not_approved() {
    let mut run = Run::open(session_plan(vec![checked_task("1", &[])]));
    let commands: Vec<TaskCheck> = run
        .state
        .plan
        .labeled_checks()
        .map(|(_, check)| check.clone())
        .collect();
    let added = Task {
        criteria: vec!["it is fast".to_owned()],
        ..checked_task("2", &[])
    };
    run.adds(added).unwrap();
    let EventKind::TaskAdded { task: added } = run.last() else {
        panic!("{:?}", run.last())
    };
    assert_eq!(
        (added.checks.len(), added.criteria.join("; ")),
        (0, "it is fast; `prove 2`".to_owned())
    );
    let after: Vec<TaskCheck> = run
        .state
        .plan
        .labeled_checks()
        .map(|(_, check)| check.clone())
        .collect();
    assert_eq!(after, commands);
    assert_eq!(run.ready(), ["1", "2"]);
}
