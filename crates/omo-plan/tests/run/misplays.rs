//! Verbs that are refused: what is said, what is to be done, and that nothing changes.

use omo_core::check::CheckVerdict::Green;
use omo_plan::run::event::What;
use omo_plan::run::verbs::{self, Refusal, RefusalKind};

use crate::kit::{Play, all, in_batches, needs, plan, unit};

/// Units that have passed (1), failed (2), are blocked (3), were left out (4), are running (5) and wait (6).
fn every_standing() -> Play {
    let units = vec![unit("1"), unit("2"), needs("3", &["2"]), unit("4"), unit("5"), unit("6")];
    let mut play = Play::open(plan(units));
    play.pass("1");
    play.fail("2");
    play.skip("4").unwrap();
    play.start("5").unwrap();
    play.types();
    play
}

type Verb = fn(&Play) -> Result<Vec<What>, Refusal>;

#[test]
fn what_cannot_be_done_now_is_refused_with_what_to_do() {
    use RefusalKind::{Contention, NotFound, Precondition};
    let next = "`omo next` says what comes next";
    let has = "it has 1, 2, 3, 4, 5, 6";
    let again = "only what failed, was left out or could not be proved is done again";
    let left_out = "only what is not at work and was not done can be left out";
    let table: [(Verb, RefusalKind, &str, &str); 19] = [
        (|play| start(play, "9"), NotFound, "the plan has no task `9`", has),
        (|play| start(play, "../x\n"), NotFound, "the plan has no task `../x`", has),
        (|play| start(play, "1"), Precondition, "1 is passed", next),
        (|play| start(play, "2"), Precondition, "2 is failed; `omo unit retry` has it done again", next),
        (|play| start(play, "3"), Precondition, "3 is blocked; `omo unit retry` has it done again", next),
        (
            |play| start(play, "5"),
            Contention,
            "somebody is at task 5 already",
            "let it finish; if that worker is gone: `omo unit fail 5 --lost`",
        ),
        (|play| start(play, "6"), Precondition, "it is not the turn of 6", next),
        (|play| lost(play, "9"), NotFound, "the plan has no task `9`", has),
        (|play| lost(play, "6"), Precondition, "nobody is at task 6", next),
        (|play| retry(play, "9"), NotFound, "the plan has no task `9`", has),
        (|play| retry(play, "1"), Precondition, "1 is passed", again),
        (|play| retry(play, "3"), Precondition, "3 is blocked", "it waits for 2: `omo unit retry 2`"),
        (|play| retry(play, "5"), Precondition, "5 is running", again),
        (|play| retry(play, "6"), Precondition, "6 is pending", again),
        (|play| skip(play, "9"), NotFound, "the plan has no task `9`", has),
        (|play| skip(play, "1"), Precondition, "1 is passed", left_out),
        (|play| skip(play, "4"), Precondition, "4 is skipped", left_out),
        (|play| skip(play, "5"), Precondition, "5 is running", left_out),
        (
            |play| verbs::judged(&play.state, "foreign", all(&unit("5"), &Green)),
            Precondition,
            "that ticket is not valid: it was used, its attempt has ended, or it is of another run",
            "`omo next` says what comes next; `omo unit start` gives a new ticket",
        ),
    ];
    for (verb, kind, message, hint) in table {
        let play = every_standing();
        let refusal = verb(&play).unwrap_err();
        assert_eq!((refusal.kind, refusal.message.as_str(), refusal.hint.as_str()), (kind, message, hint));
        assert_eq!(play.state, every_standing().state, "{message}");
    }
}

fn start(play: &Play, id: &str) -> Result<Vec<What>, Refusal> {
    verbs::start(&play.state, id, verbs::Start::default()).map(|what| vec![what])
}

fn lost(play: &Play, id: &str) -> Result<Vec<What>, Refusal> {
    verbs::worker_lost(&play.state, id).map(|what| vec![what])
}

fn retry(play: &Play, id: &str) -> Result<Vec<What>, Refusal> {
    verbs::retry(&play.state, &play.caller, id)
}

fn skip(play: &Play, id: &str) -> Result<Vec<What>, Refusal> {
    verbs::skip(&play.state, &play.caller, id, "why").map(|what| vec![what])
}

#[test]
fn only_a_person_has_something_left_out_or_done_again() {
    for verb in [retry as fn(&Play, &str) -> _, skip] {
        let mut play = Play::open(plan(vec![unit("2"), unit("6")]));
        play.types();
        play.fail("2");
        let refusal: Refusal = verb(&play, "2").unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Human);
        assert!(refusal.message.ends_with("and none has typed anything since 2 came to this"), "{}", refusal.message);
        assert_eq!(refusal.hint, "end the turn and ask; once they have answered, run it again");
        play.types();
        assert!(verb(&play, "2").is_ok());
        play.caller = verbs::Caller::default();
        assert!(verb(&play, "2").is_ok(), "at a terminal somebody sits");
    }
    let mut play = Play::open(plan(vec![unit("1")]));
    assert_eq!(skip(&play, "1").unwrap_err().kind, RefusalKind::Human, "opening a run is no word about its units");
    play.types();
    assert!(skip(&play, "1").is_ok());
}

#[test]
fn nothing_is_begun_or_left_out_in_a_run_that_is_over() {
    let mut play = Play::open(plan(vec![unit("1"), unit("2")]));
    play.fail("1");
    play.take(verbs::cancel(&play.state, "enough").map(|what| vec![what])).unwrap();
    play.types();
    for refusal in [start(&play, "2").unwrap_err(), skip(&play, "1").unwrap_err()] {
        assert_eq!((refusal.kind, refusal.message.as_str()), (RefusalKind::Precondition, "the run has ended"));
    }
    play.retry("1").unwrap();
    assert_eq!(play.ready(), ["1"], "a person's retry goes on with the run");
}

#[test]
fn a_question_that_waits_is_named_on_one_line() {
    let mut play = Play::open(in_batches(plan(vec![unit("1"), unit("2")]), &[&["1"], &["2"]], &[0]));
    play.pass("1");
    let refusal = start(&play, "2").unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Human);
    assert!(
        !refusal.message.contains('\n') && refusal.message.starts_with("gate g1 waits for an answer: Batch 1 of 2")
    );
    assert_eq!(refusal.hint, "`omo next` shows the question and how it is answered");
}

#[test]
fn a_plan_with_many_units_does_not_list_them_all() {
    let units = (1..=50).map(|number| unit(&number.to_string())).collect();
    let refusal = start(&Play::open(plan(units)), "x").unwrap_err();
    assert!(refusal.hint.ends_with("19, 20, …"), "{}", refusal.hint);
}
