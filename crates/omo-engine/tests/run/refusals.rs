//! Refused verbs: the message, the hint, and an unchanged run.

use omo_core::check::task_check::TaskCheckVerdict::Green;
use omo_engine::event::EventKind;
use omo_engine::verbs;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use crate::run::kit::{Run, all, in_batches, needs, plan, task};

/// Tasks that have passed (1), failed (2), are blocked (3), were left out (4), are running (5) and wait (6).
fn every_standing() -> Run {
    let tasks = vec![
        task("1"),
        task("2"),
        needs("3", &["2"]),
        task("4"),
        task("5"),
        task("6"),
    ];
    let mut run = Run::open(plan(tasks));
    run.pass("1");
    run.fail("2");
    run.skip("4").unwrap();
    run.start("5").unwrap();
    run.types();
    run
}

type Verb = fn(&Run) -> Result<Vec<EventKind>, VerbRefusal>;

#[test]
fn what_cannot_be_done_now_is_refused_with_what_to_do() {
    use VerbRefusalKind::{Contention, NotFound, Precondition};
    let next = "`omo agent next` says what comes next";
    let has = "it has 1, 2, 3, 4, 5, 6";
    let again = "only what failed, was left out or could not be proved is done again";
    let passed =
        "nothing that was done depends on it; `omo run retry 1 --passed` has it done all the same";
    let left_out = "only what is not at work and was not done can be left out";
    let table: [(Verb, VerbRefusalKind, &str, &str); 19] = [
        (
            |run| start(run, "9"),
            NotFound,
            "the plan has no task `9`",
            has,
        ),
        (
            |run| start(run, "../x\n"),
            NotFound,
            "the plan has no task `../x`",
            has,
        ),
        (|run| start(run, "1"), Precondition, "1 is passed", next),
        (
            |run| start(run, "2"),
            Precondition,
            "2 is failed; `omo run retry 2` has it done again",
            next,
        ),
        (
            |run| start(run, "3"),
            Precondition,
            "3 is blocked by 2",
            next,
        ),
        (
            |run| start(run, "5"),
            Contention,
            "a worker is at task 5 already",
            "let it finish; if that worker is gone: `omo agent fail --lost 5`",
        ),
        (
            |run| start(run, "6"),
            Precondition,
            "it is not the turn of 6",
            next,
        ),
        (
            |run| lost(run, "9"),
            NotFound,
            "the plan has no task `9`",
            has,
        ),
        (
            |run| lost(run, "6"),
            Precondition,
            "no worker is at task 6",
            next,
        ),
        (
            |run| retry(run, "9"),
            NotFound,
            "the plan has no task `9`",
            has,
        ),
        (|run| retry(run, "1"), Precondition, "1 is passed", passed),
        (
            |run| retry(run, "3"),
            Precondition,
            "3 is blocked",
            "it waits for 2: `omo run retry 2`",
        ),
        (|run| retry(run, "5"), Precondition, "5 is running", again),
        (|run| retry(run, "6"), Precondition, "6 is pending", again),
        (
            |run| skip(run, "9"),
            NotFound,
            "the plan has no task `9`",
            has,
        ),
        (|run| skip(run, "1"), Precondition, "1 is passed", left_out),
        (|run| skip(run, "4"), Precondition, "4 is skipped", left_out),
        (|run| skip(run, "5"), Precondition, "5 is running", left_out),
        (
            |run| verbs::judge_attempt(&run.state, "foreign", all(&task("5"), &Green)),
            Precondition,
            "that ticket is not valid: it was used, its attempt has ended, or it is of another run",
            "`omo agent next` says what comes next; `omo agent start` gives a new ticket",
        ),
    ];
    for (verb, kind, message, hint) in table {
        let run = every_standing();
        let refusal = verb(&run).unwrap_err();
        assert_eq!(
            (
                refusal.kind,
                refusal.message.as_str(),
                refusal.hint.as_str()
            ),
            (kind, message, hint)
        );
        assert_eq!(run.state, every_standing().state, "{message}");
    }
}

fn start(run: &Run, id: &str) -> Result<Vec<EventKind>, VerbRefusal> {
    verbs::start_attempt(&run.state, id, verbs::AttemptStart::default()).map(|what| vec![what])
}

fn lost(run: &Run, id: &str) -> Result<Vec<EventKind>, VerbRefusal> {
    verbs::report_lost_worker(&run.state, id).map(|what| vec![what])
}

fn retry(run: &Run, id: &str) -> Result<Vec<EventKind>, VerbRefusal> {
    verbs::retry_task(&run.state, &run.caller, id)
}

fn skip(run: &Run, id: &str) -> Result<Vec<EventKind>, VerbRefusal> {
    verbs::skip_task(&run.state, &run.caller, id, "why").map(|what| vec![what])
}

#[test]
fn only_a_person_has_something_left_out_or_done_again() {
    for verb in [retry as fn(&Run, &str) -> _, skip] {
        let mut run = Run::open(plan(vec![task("2"), task("6")]));
        run.types();
        run.fail("2");
        let refusal: VerbRefusal = verb(&run, "2").unwrap_err();
        assert_eq!(refusal.kind, VerbRefusalKind::NeedsPerson);
        assert!(
            refusal
                .message
                .ends_with("and none has typed anything since 2 came to this"),
            "{}",
            refusal.message
        );
        assert_eq!(
            refusal.hint,
            "end the turn and ask; once they have answered, run it again"
        );
        run.types();
        assert!(verb(&run, "2").is_ok());
        run.caller = verbs::VerbCaller::default();
        assert!(verb(&run, "2").is_ok(), "a terminal has a person at it");
    }
    let mut run = Run::open(plan(vec![task("1")]));
    assert_eq!(
        skip(&run, "1").unwrap_err().kind,
        VerbRefusalKind::NeedsPerson,
        "opening a run is no word about its tasks"
    );
    run.types();
    assert!(skip(&run, "1").is_ok());
}

#[test]
fn nothing_is_begun_or_left_out_in_a_run_that_is_over() {
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    run.fail("1");
    run.take(verbs::cancel_run(&run.state, "enough").map(|what| vec![what]))
        .unwrap();
    run.types();
    for refusal in [start(&run, "2").unwrap_err(), skip(&run, "1").unwrap_err()] {
        assert_eq!(
            (refusal.kind, refusal.message.as_str()),
            (VerbRefusalKind::Precondition, "the run has ended")
        );
    }
    run.retry("1").unwrap();
    assert_eq!(run.ready(), ["1"], "a person's retry goes on with the run");
}

#[test]
fn a_question_that_waits_is_named_on_one_line() {
    let mut run = Run::open(in_batches(
        plan(vec![task("1"), task("2")]),
        &[&["1"], &["2"]],
        &[0],
    ));
    run.pass("1");
    let refusal = start(&run, "2").unwrap_err();
    assert_eq!(refusal.kind, VerbRefusalKind::NeedsPerson);
    assert!(
        !refusal.message.contains('\n')
            && refusal
                .message
                .starts_with("question q1 waits for an answer: Batch 1 of 2")
    );
    assert_eq!(
        refusal.hint,
        "`omo agent next` shows the question and how it is answered"
    );
}

#[test]
fn a_plan_with_many_tasks_does_not_list_them_all() {
    let tasks = (1..=50).map(|number| task(&number.to_string())).collect();
    let refusal = start(&Run::open(plan(tasks)), "x").unwrap_err();
    assert!(refusal.hint.ends_with("19, 20, …"), "{}", refusal.hint);
}
