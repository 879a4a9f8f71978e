//! Questions: their order, valid answers, and the consequences.

use omo_core::recorded_answer::RecordedAnswer;
use omo_core::timestamp::Timestamp;
use omo_engine::event::{QuestionKind, RunResult};
use omo_engine::state::{
    ANSWER_ACCEPT_ALL, ANSWER_CONTINUE, ANSWER_ONE_BY_ONE, ANSWER_STOP, ANSWER_WITHDRAWN,
};
use omo_engine::verbs;
use omo_plan::model::{OnFailure, OnTaskFail, Plan, PlanDecision, Precondition};
use omo_plan::refusal::VerbRefusalKind;

use crate::run::kit::{Run, all, decision, in_batches, needs, no_tool, plan, task};

/// One task after these decisions.
fn deciding(decisions: Vec<PlanDecision>) -> Plan {
    let preconditions = decisions.into_iter().map(Precondition::Decision).collect();
    Plan {
        preconditions,
        ..plan(vec![task("1")])
    }
}

/// Ids of the decisions in the open question.
fn asked_about(run: &Run) -> Vec<String> {
    match run.state.open_question().map(|known| &known.question.kind) {
        Some(QuestionKind::Decisions { decisions }) => {
            decisions.iter().map(|one| one.id.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// Choices, decision by decision.
fn chosen(run: &Run) -> Vec<Option<&str>> {
    let of = |known: &'_ Precondition| match known {
        Precondition::Decision(decision) => decision.chosen.clone(),
        _ => None,
    };
    let labels: Vec<Option<String>> = run.state.plan.preconditions.iter().map(of).collect();
    labels
        .into_iter()
        .map(|label| label.map(|label| if label == "A" { "A" } else { "B" }))
        .collect()
}

#[test]
fn blocking_decisions_are_asked_one_by_one_and_recommended_ones_together() {
    let mut run = Run::open(deciding(vec![
        decision("R1", false),
        decision("B1", true),
        decision("R2", false),
        decision("B2", true),
    ]));
    assert_eq!(asked_about(&run), ["B1"]);
    run.answer("q1", "B").unwrap();
    assert_eq!(asked_about(&run), ["B2"]);
    run.answer("q2", "A").unwrap();
    assert_eq!(asked_about(&run), ["R1", "R2"]);
    let question = &run.state.open_question().unwrap().question;
    assert_eq!(
        question.text,
        "R1 What about R1 (recommended: A)\nA: take A\nB: take B\n---\nR2 What about R2 (recommended: A)\nA: take A\nB: take B\n\nTake all recommendations, or go through them one by one?"
    );
    assert_eq!(
        question
            .options
            .iter()
            .map(|option| option.id.as_str())
            .collect::<Vec<_>>(),
        [ANSWER_ACCEPT_ALL, ANSWER_ONE_BY_ONE]
    );
    run.answer("q3", ANSWER_ACCEPT_ALL).unwrap();
    assert_eq!(chosen(&run), [Some("A"), Some("B"), Some("A"), Some("A")]);
    assert_eq!(run.ready(), ["1"]);
}

#[test]
fn recommendations_that_are_not_taken_together_are_asked_one_by_one() {
    let mut run = Run::open(deciding(vec![
        decision("R1", false),
        decision("R2", false),
        decision("R3", false),
    ]));
    run.answer("q1", ANSWER_ONE_BY_ONE).unwrap();
    assert_eq!(
        chosen(&run),
        [None, None, None],
        "none is taken before it was confirmed"
    );
    for (question, id, option) in [("q2", "R1", "B"), ("q3", "R2", "A"), ("q4", "R3", "B")] {
        assert_eq!(asked_about(&run), [id]);
        assert_eq!(run.ready(), Vec::<&str>::new());
        run.answer(question, option).unwrap();
    }
    assert_eq!(chosen(&run), [Some("B"), Some("A"), Some("B")]);
    assert_eq!(run.ready(), ["1"]);
}

#[test]
fn one_recommendation_is_asked_about_by_itself_and_so_is_what_has_none() {
    let mut run = Run::open(deciding(vec![decision("R1", false)]));
    assert_eq!(asked_about(&run), ["R1"]);
    run.answer("q1", "A").unwrap();
    assert_eq!(run.ready(), ["1"]);
    let without = PlanDecision {
        recommended: None,
        ..decision("N", false)
    };
    let run = Run::open(deciding(vec![
        decision("R1", false),
        decision("R2", false),
        without,
    ]));
    assert_eq!(asked_about(&run), ["N"]);
}

#[test]
fn a_decision_without_options_can_be_passed_all_the_same() {
    let mut run = Run::open(deciding(vec![PlanDecision {
        options: Vec::new(),
        recommended: None,
        ..decision("D", true)
    }]));
    assert_eq!(asked_about(&run), ["D"]);
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert_eq!((chosen(&run), run.ready()), (vec![None], vec!["1"]));
}

#[test]
fn a_decision_that_was_taken_is_not_asked_again() {
    let run = Run::open(deciding(vec![PlanDecision {
        chosen: Some("B".to_owned()),
        ..decision("D", true)
    }]));
    assert_eq!((run.asked(), run.ready()), (None, vec!["1"]));
}

#[test]
fn a_decision_is_put_to_the_person_within_the_turn() {
    let mut run = Run::open(deciding(vec![decision("D", true)]));
    run.caller.recorded_answers = vec![recorded(&run, "q1", "B: take B")];
    let said = verbs::answer_question(
        &run.state,
        &run.caller,
        "q1",
        "B",
        Some("new digest".to_owned()),
    );
    run.take(said.map(|what| vec![what])).unwrap();
    assert_eq!(chosen(&run), [Some("B")]);
    assert_eq!(run.state.plan_sha256, "new digest");
}

#[test]
fn an_unverified_plan_is_asked_about_once() {
    let verification = |approved| Precondition::Verification { approved };
    let with = |approved| Plan {
        preconditions: vec![verification(approved)],
        ..deciding(vec![])
    };
    assert_eq!(Run::open(with(true)).asked(), None);
    let mut run = Run::open(with(false));
    assert_eq!(run.asked().unwrap().1, "verification");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert_eq!((run.asked(), run.ready()), (None, vec!["1"]));
    // An edit that leaves it unverified asks nothing again; one that has it verified takes the question back.
    run.replan(with(false)).unwrap();
    assert_eq!(run.asked(), None);
    let mut run = Run::open(with(false));
    run.replan(with(true)).unwrap();
    assert_eq!((run.asked(), run.ready()), (None, vec!["1"]));
    assert_eq!(
        run.state.questions[0].answer.as_ref().unwrap().option,
        ANSWER_WITHDRAWN
    );
}

#[test]
fn only_a_person_answers_a_question_that_ends_the_turn() {
    let two = || in_batches(plan(vec![task("1"), task("2")]), &[&["1"], &["2"]], &[0]);
    let mut run = Run::open(two());
    run.types();
    run.pass("1");
    let early =
        verbs::answer_question(&run.state, &run.caller, "q1", ANSWER_CONTINUE, None).unwrap_err();
    assert_eq!(early.kind, VerbRefusalKind::NeedsPerson);
    assert_eq!(
        early.message,
        "question q1 waits for a person, and none has typed anything since it was opened"
    );
    assert_eq!(early.hint, "show them the question and end the turn");
    // A terminal has a person at it.
    let terminal = verbs::VerbCaller::default();
    assert!(verbs::answer_question(&run.state, &terminal, "q1", ANSWER_CONTINUE, None).is_ok());
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert_eq!(run.ready(), ["2"]);
}

#[test]
fn a_question_takes_only_an_answer_of_its_own_and_only_once() {
    let mut run = Run::open(deciding(vec![decision("D", true)]));
    for (question, option, kind, message, hint) in [
        (
            "q9",
            "A",
            VerbRefusalKind::NotFound,
            "the run has no question `q9`",
            "`omo agent next` shows the one that waits",
        ),
        (
            "q1",
            "C",
            VerbRefusalKind::NotFound,
            "question q1 has no option `C`",
            "it has A, B",
        ),
        (
            "q1",
            ANSWER_WITHDRAWN,
            VerbRefusalKind::NotFound,
            "question q1 has no option `withdrawn`",
            "it has A, B",
        ),
    ] {
        let refusal = run.answer(question, option).unwrap_err();
        assert_eq!(
            (
                refusal.kind,
                refusal.message.as_str(),
                refusal.hint.as_str()
            ),
            (kind, message, hint)
        );
    }
    run.answer("q1", "A").unwrap();
    let again = run.answer("q1", "B").unwrap_err();
    assert_eq!(
        (again.kind, again.message.as_str()),
        (VerbRefusalKind::Precondition, "question q1 was answered: A")
    );
    assert_eq!(chosen(&run), [Some("A")]);
}

#[test]
fn a_missing_tool_asks_a_person_and_uses_no_attempt() {
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    for question in ["q1", "q2", "q3", "q4"] {
        run.work("1", &no_tool());
        assert_eq!(
            run.asked(),
            Some((question.to_owned(), "check_not_runnable".to_owned()))
        );
        assert_eq!(
            (run.standing("1"), run.state.tasks["1"].attempts),
            ("held", 0)
        );
        assert_eq!(
            run.start("2").unwrap_err().kind,
            VerbRefusalKind::NeedsPerson
        );
        assert_eq!(run.state.tasks["1"].lost_workers, 0, "no worker was lost");
        run.answer(question, ANSWER_CONTINUE).unwrap();
    }
    run.pass("1");
    run.pass("2");
    assert_eq!(run.result(), Some(RunResult::Complete));
}

#[test]
fn two_open_questions_are_answered_one_after_the_other() {
    let mut plan = in_batches(
        plan(vec![task("1"), task("2"), task("3")]),
        &[&["1", "2"], &["3"]],
        &[0],
    );
    plan.policy.parallel = omo_plan::model::Parallelism::Tasks;
    let mut run = Run::open(plan);
    let (first, second) = (run.start("1").unwrap(), run.start("2").unwrap());
    run.done(&first, all(&task("1"), &no_tool())).unwrap();
    run.done(&second, all(&task("2"), &no_tool())).unwrap();
    let ids: Vec<&str> = run
        .state
        .questions
        .iter()
        .map(|known| known.question.id.as_str())
        .collect();
    assert_eq!(ids, ["q1", "q2"]);
    run.answer("q2", ANSWER_CONTINUE).unwrap();
    assert_eq!(run.asked().unwrap().0, "q1");
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    run.pass("1");
    run.pass("2");
    assert_eq!(run.asked().unwrap().1, "hard_stop");
}

/// Three tasks, the first of which asks for judgment; the second needs it.
fn escalating(policy: OnTaskFail) -> Run {
    let mut first = task("1");
    first.on_failure = OnFailure::Escalate;
    let mut plan = plan(vec![first, needs("2", &["1"]), task("3")]);
    plan.policy.on_task_fail = policy;
    let mut run = Run::open(plan);
    run.fail("1");
    assert_eq!(run.asked(), Some(("q1".to_owned(), "escalated".to_owned())));
    assert_eq!(
        run.start("3").unwrap_err().kind,
        VerbRefusalKind::NeedsPerson
    );
    run
}

#[test]
fn a_person_continues_a_run_behind_a_task_that_asks_for_judgment() {
    for policy in [OnTaskFail::Continue, OnTaskFail::Stop] {
        let mut run = escalating(policy);
        run.answer("q1", ANSWER_CONTINUE).unwrap();
        assert_eq!(run.ready(), ["3"], "{policy:?}");
        run.pass("3");
        assert_eq!(
            run.result(),
            Some(RunResult::CompletedWithFailures),
            "{policy:?}"
        );
    }
}

#[test]
fn a_person_ends_a_run_at_a_task_that_asks_for_judgment() {
    for policy in [OnTaskFail::Continue, OnTaskFail::Stop] {
        let mut run = escalating(policy);
        run.answer("q1", ANSWER_STOP).unwrap();
        assert_eq!(run.result(), Some(RunResult::Failed), "{policy:?}");
        // The next one that goes on with it is asked again.
        let events = verbs::take_over_run(&run.state, &run.caller);
        run.take(Ok(events)).unwrap();
        assert_eq!(run.asked(), Some(("q2".to_owned(), "escalated".to_owned())));
        run.answer("q2", ANSWER_CONTINUE).unwrap();
        assert_eq!(run.ready(), ["3"]);
    }
}

#[test]
fn a_retry_takes_the_place_of_judgment() {
    let mut run = escalating(OnTaskFail::Stop);
    run.retry("1").unwrap();
    assert_eq!((run.asked(), run.ready()), (None, vec!["1"]));
    assert_eq!(
        run.state.questions[0].answer.as_ref().unwrap().option,
        ANSWER_WITHDRAWN
    );
    run.fail("1");
    assert_eq!(run.asked(), Some(("q2".to_owned(), "escalated".to_owned())));
    run.skip("1").unwrap();
    assert_eq!(
        (run.asked(), run.ready()),
        (None, vec!["3"]),
        "what a person left out stops nothing"
    );
}

#[test]
fn a_worker_that_is_lost_for_good_asks_for_judgment_too() {
    let mut first = task("1");
    first.on_failure = OnFailure::Escalate;
    let mut run = Run::open(plan(vec![first]));
    for _ in 0..omo_engine::state::MAX_LOST_WORKERS {
        run.start("1").unwrap();
        run.take(verbs::report_lost_worker(&run.state, "1").map(|what| vec![what]))
            .unwrap();
    }
    assert_eq!(
        (run.standing("1"), run.asked().unwrap().1.as_str()),
        ("failed", "escalated")
    );
}

#[test]
fn questions_of_a_run_that_is_over_are_not_answered() {
    let mut run = escalating(OnTaskFail::Continue);
    run.take(verbs::cancel_run(&run.state, "enough").map(|what| vec![what]))
        .unwrap();
    let refusal = run.answer("q1", ANSWER_CONTINUE).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (VerbRefusalKind::Precondition, "the run has ended")
    );
    let events = verbs::take_over_run(&run.state, &run.caller);
    run.take(Ok(events)).unwrap();
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    assert_eq!(run.ready(), ["3"]);
}

/// The client's record of an answer in its question dialog.
fn recorded(run: &Run, header: &str, answer: &str) -> RecordedAnswer {
    RecordedAnswer {
        at: Timestamp::from_millis(run.now + 1),
        header: header.to_owned(),
        question: "Which one?".to_owned(),
        labels: ["A: take A", "B: take B", "Yes"]
            .map(str::to_owned)
            .to_vec(),
        answer: answer.to_owned(),
    }
}

/// Answers without a prompt of a person.
fn answer_by_itself(run: &mut Run, option: &str) -> Result<(), (VerbRefusalKind, String)> {
    let said =
        verbs::answer_question(&run.state, &run.caller, "q1", option, None).map(|what| vec![what]);
    run.take(said)
        .map_err(|refusal| (refusal.kind, refusal.message))
}

#[test]
fn a_decision_is_taken_by_a_person_only() {
    let mut run = Run::open(deciding(vec![decision("DP-1", true)]));
    let nothing = "question q1 waits for a person, and no answer of theirs is recorded";
    let refused = |run: &mut Run, message: &str| {
        assert_eq!(
            answer_by_itself(run, "B"),
            Err((VerbRefusalKind::NeedsPerson, message.to_owned()))
        );
    };
    refused(&mut run, nothing);
    run.caller.recorded_answers = vec![recorded(&run, "q2", "B: take B")];
    refused(&mut run, nothing);
    run.caller.recorded_answers = vec![RecordedAnswer {
        at: run.state.opened_at,
        ..recorded(&run, "q1", "B: take B")
    }];
    refused(&mut run, nothing);
    let other = |chosen: &str| format!("the person answered question q1 with `{chosen}`, not B");
    run.caller.recorded_answers = vec![
        recorded(&run, "q1", "B: take B"),
        recorded(&run, "q1", "A: take A"),
    ];
    refused(&mut run, &other("A: take A"));
    run.caller.recorded_answers = vec![recorded(&run, "q1", "Yes")];
    refused(&mut run, &other("Yes"));
    assert_eq!(chosen(&run), [None]);
    run.caller.recorded_answers = vec![recorded(&run, "DP-1", "B: take B")];
    answer_by_itself(&mut run, "B").unwrap();
    assert_eq!(chosen(&run), [Some("B")]);
}

#[test]
fn words_of_a_person_in_the_dialog_count_as_their_prompt() {
    let mut run = Run::open(deciding(vec![decision("DP-1", true)]));
    run.caller.recorded_answers = vec![recorded(&run, "q1", "the first, but keep the old files")];
    answer_by_itself(&mut run, "A").unwrap();
    assert_eq!(chosen(&run), [Some("A")]);
}

#[test]
fn the_dialog_answers_no_question_that_ends_the_turn() {
    let mut run = Run::open(in_batches(
        plan(vec![task("1"), task("2")]),
        &[&["1"], &["2"]],
        &[0],
    ));
    run.pass("1");
    run.caller.recorded_answers = vec![recorded(&run, "q1", ANSWER_CONTINUE)];
    assert_eq!(
        answer_by_itself(&mut run, ANSWER_CONTINUE).unwrap_err().0,
        VerbRefusalKind::NeedsPerson
    );
}
