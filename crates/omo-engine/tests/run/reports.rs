//! Texts of reports.

use omo_core::check::task_check::TaskCheck;
use omo_core::check::task_check::TaskCheckVerdict::Green;
use omo_engine::event::{AttemptEnd, EventKind, ImportedStatus, MissingCommit};
use omo_engine::report::findings::commit_place;
use omo_engine::report::heading::run_heading;
use omo_engine::state::ANSWER_CONTINUE;
use omo_engine::verbs::{self, AttemptMeasurement, AttemptStart};
use omo_engine::view::{RunFacts, run_view};
use omo_plan::model::{Plan, Task};
use omo_view::run_view::{ActorView, RunResultWord, RunView, Standing};

use crate::run::kit::{Run, all, in_batches, needs, outcome, plan, task};

fn view(run: &Run) -> RunView {
    run_view(&RunFacts::of_state("r1", &run.state))
}

#[test]
fn a_report_says_what_was_proved_and_what_was_not() {
    let bare = Task {
        checks: Vec::new(),
        ..task("3")
    };
    let tasks = vec![
        task("1"),
        task("2"),
        bare,
        needs("4", &["2"]),
        task("5"),
        task("6"),
    ];
    let mut run = Run::open(Plan {
        final_checks: vec![TaskCheck::new("make")],
        ..plan(tasks)
    });
    let start = AttemptStart {
        ticket: "t".to_owned(),
        already_green: vec![0],
        ..AttemptStart::default()
    };
    run.take(verbs::start_attempt(&run.state, "1", start).map(|what| vec![what]))
        .unwrap();
    let seen = AttemptMeasurement {
        files: vec!["src/1.rs".to_owned(), "x".to_owned()],
        out_of_scope: vec!["x".to_owned()],
        note: Some("mind the gap".to_owned()),
        ..all(&task("1"), &Green)
    };
    run.done("t", seen).unwrap();
    run.fail("2");
    run.work("3", &Green);
    run.write([EventKind::TaskImported {
        task: "5".to_owned(),
        status: ImportedStatus::Done,
        evidence: "so it says".to_owned(),
        files: Vec::new(),
    }]);
    run.write([EventKind::ProjectionChanged {
        file: "report.md".to_owned(),
        backup: Some("kept.md".to_owned()),
    }]);
    run.skip("6").unwrap();
    let said = view(&run);
    assert_eq!(said.result, RunResultWord::CompletedWithFailures);
    let counts = &said.counts;
    let sum = counts.passed
        + counts.claimed
        + counts.failed
        + counts.unproved
        + counts.blocked
        + counts.pending;
    assert_eq!(
        (
            counts.total,
            sum,
            counts.passed,
            counts.claimed,
            counts.failed,
            counts.blocked
        ),
        (6, 6, 1, 1, 1, 2)
    );
    let rows: Vec<(&str, Standing, &str)> = said
        .tasks
        .iter()
        .map(|row| (row.id.as_str(), row.standing, row.evidence.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("1", Standing::Passed, "`prove 1` exit 0"),
            ("2", Standing::Failed, "`prove 2` exit 1"),
            ("3", Standing::Unproved, "no Verify: nothing could prove it"),
            (
                "4",
                Standing::Blocked,
                "2, which it depends on, has not passed"
            ),
            ("5", Standing::Claimed, "so it says"),
            ("6", Standing::Skipped, "not wanted"),
        ]
    );
    let first = &said.tasks[0];
    assert_eq!(
        (first.attempts, first.already_green.as_slice()),
        (1, ["prove 1".to_owned()].as_slice())
    );
    assert_eq!(
        (first.out_of_scope.as_slice(), first.note.as_deref()),
        (["x".to_owned()].as_slice(), Some("mind the gap"))
    );
    let check = &first.checks[0];
    assert_eq!(
        (check.command.as_str(), check.exit, check.duration_millis),
        ("prove 1", Some(0), Some(5))
    );
    let unproved: Vec<(Option<&str>, &str)> = said
        .not_verified
        .iter()
        .map(|one| (one.task.as_deref(), one.reason.as_str()))
        .collect();
    assert_eq!(
        unproved,
        [
            (Some("1"), "green before the work began: prove 1"),
            (Some("3"), "no Verify: nothing could prove it"),
            (
                Some("5"),
                "done before the run, as another program says; omo has not checked it"
            ),
            (None, "did not run: make"),
        ]
    );
    assert_eq!(
        (said.drift[0].file.as_str(), said.drift[0].backup.as_deref()),
        ("report.md", Some("kept.md"))
    );
    assert_eq!(said.next_command.as_deref(), Some("omo run retry 2"));
}

/// The commit of task 1, which this branch lacks, or the checked out one.
fn missing_commits(lacking: Option<&str>, is_unrelated: bool) -> Vec<MissingCommit> {
    let (task, commit, holder) = (
        "1".to_owned(),
        "abcdef0123".to_owned(),
        "refs/heads/other".to_owned(),
    );
    vec![MissingCommit {
        task,
        commit,
        holder,
        lacking: lacking.map(str::to_owned),
        is_unrelated,
    }]
}

#[test]
fn a_commit_that_a_branch_lacks_is_named_with_the_commands_that_bring_it_in() {
    let here =
        "not in the branch that is checked out, and `git merge refs/heads/other` brings it in";
    let unrelated = "not in the branch that is checked out, and `git merge --allow-unrelated-histories refs/heads/other` \
                     brings it in";
    let elsewhere = "not in main, where the run began, and `git switch main` and `git merge refs/heads/other` bring it in";
    for (commits, words, result, next) in [
        (
            missing_commits(None, false),
            here,
            RunResultWord::CompletedWithFailures,
            Some("omo run resume --run r1"),
        ),
        (
            missing_commits(None, true),
            unrelated,
            RunResultWord::CompletedWithFailures,
            Some("omo run resume --run r1"),
        ),
        (
            missing_commits(Some("refs/heads/main"), false),
            elsewhere,
            RunResultWord::Complete,
            None,
        ),
    ] {
        let mut run = Run::open(plan(vec![task("1")]));
        run.write([EventKind::CommitsMissing { commits }]);
        run.work("1", &Green);
        let said = view(&run);
        let line = format!("task 1: commit abcdef0 is {words}");
        assert!(said.findings.contains(&line), "{:?}", said.findings);
        assert_eq!((said.result, said.next_command.as_deref()), (result, next));
    }
}

#[test]
fn the_end_of_an_attempt_says_where_its_commit_went_if_the_run_began_elsewhere() {
    let place = |began_on: Option<&str>, branch: &str| {
        let mut run = Run::open(plan(vec![task("1")]));
        run.state.branch = began_on.map(str::to_owned);
        let (commit, branch) = (Some("abc".to_owned()), Some(branch.to_owned()));
        commit_place(
            &run.state,
            &AttemptEnd {
                commit,
                branch,
                ..AttemptEnd::default()
            },
        )
    };
    let main = Some("refs/heads/main");
    assert_eq!(place(main, "refs/heads/main"), None);
    assert_eq!(place(None, "refs/heads/main"), None);
    assert_eq!(
        place(main, "refs/heads/a/b").as_deref(),
        Some("its commit is on a/b; the run began on main")
    );
    assert_eq!(
        place(main, "HEAD").as_deref(),
        Some("its commit is on no branch; the run began on main")
    );
}

#[test]
fn a_heading_says_complete_only_where_all_of_it_passed() {
    let heading = |run: &Run| run_heading(&run.state).text;
    let bare = |id: &str| Task {
        checks: Vec::new(),
        ..task(id)
    };
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    assert_eq!(heading(&run), "Running");
    run.work("1", &Green);
    run.work("2", &Green);
    assert_eq!(heading(&run), "Complete");
    let mut run = Run::open(plan(vec![task("1"), bare("2"), bare("3")]));
    for id in ["1", "2", "3"] {
        run.work(id, &Green);
    }
    assert_eq!(heading(&run), "Complete, 2 of 3 tasks unproved");
    let mut run = Run::open(plan(vec![
        task("1"),
        task("2"),
        needs("3", &["2"]),
        task("4"),
    ]));
    run.work("1", &Green);
    run.fail("2");
    run.skip("4").unwrap();
    assert_eq!(heading(&run), "Failed at task 2");
    for (commits, text) in [
        (Vec::new(), "Complete"),
        (
            missing_commits(None, false),
            "Incomplete: not in your branch",
        ),
        (
            missing_commits(Some("refs/heads/main"), false),
            "Complete, but on other, not on main where it began",
        ),
    ] {
        let mut run = Run::open(plan(vec![task("1")]));
        run.write([EventKind::CommitsMissing { commits }]);
        run.work("1", &Green);
        assert_eq!(heading(&run), text);
    }
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    run.work("1", &Green);
    run.skip("2").unwrap();
    assert_eq!(heading(&run), "Incomplete: 1 of 2 tasks done, 1 skipped");
    let mut run = Run::open(Plan {
        final_checks: vec![TaskCheck::new("make")],
        ..plan(vec![task("1")])
    });
    run.work("1", &Green);
    assert_eq!(
        heading(&run),
        "Running",
        "the check of the whole is still to come"
    );
    run.write([EventKind::RunCancelled {
        reason: "enough".to_owned(),
    }]);
    assert_eq!(heading(&run), "Cancelled");
}

#[test]
fn each_attempt_is_reported_with_its_time_and_its_end() {
    let mut run = Run::open(plan(vec![task("1"), task("2")]));
    run.work("1", &Green);
    run.fail("2");
    let said = view(&run);
    assert!(
        said.tasks.iter().all(|row| row.history.is_empty()),
        "no event was read"
    );
    let said = run_view(&RunFacts {
        events: &run.events,
        ..RunFacts::of_state("r1", &run.state)
    });
    let ends: Vec<Vec<Option<&str>>> = said
        .tasks
        .iter()
        .map(|row| row.history.iter().map(|attempt| attempt.end).collect())
        .collect();
    assert_eq!(ends, [[Some("passed")], [Some("failed")]]);
    let first = &said.tasks[0].history[0];
    assert!(
        first.millis(first.since) > 0 && first.until > Some(first.since),
        "{first:?}"
    );
    assert_eq!(said.tasks[1].history[0].why, "`prove 2` exit 1");
}

#[test]
fn a_report_says_who_answered_what() {
    let mut run = Run::open(in_batches(
        plan(vec![task("1"), task("2"), task("3")]),
        &[&["1"], &["2"], &["3"]],
        &[0, 1],
    ));
    run.pass("1");
    let waiting = view(&run);
    assert_eq!(
        (waiting.result, waiting.next_command.as_deref()),
        (RunResultWord::Waiting, Some("omo answer q1 continue"))
    );
    assert_eq!(
        (
            waiting.questions[0].answer.as_deref(),
            &waiting.questions[0].by
        ),
        (None, &None)
    );
    run.answer("q1", ANSWER_CONTINUE).unwrap();
    run.pass("2");
    run.caller = verbs::VerbCaller::default();
    run.answer("q2", ANSWER_CONTINUE).unwrap();
    let said = view(&run);
    let hands: Vec<Option<ActorView>> = said
        .questions
        .iter()
        .map(|question| question.by.clone())
        .collect();
    assert_eq!(
        hands,
        [
            Some(ActorView::Session {
                id: "s1".to_owned()
            }),
            Some(ActorView::Terminal)
        ]
    );
    assert_eq!(
        (said.result, said.next_command.as_deref()),
        (RunResultWord::InProgress, Some("omo agent next"))
    );
    run.pass("3");
    let said = view(&run);
    assert_eq!(
        (said.result, said.next_command),
        (RunResultWord::Complete, None)
    );
}

#[test]
fn a_question_that_was_taken_back_has_no_answer() {
    let mut run = Run::open(in_batches(
        plan(vec![task("1"), task("2")]),
        &[&["1"], &["2"]],
        &[0],
    ));
    run.pass("1");
    run.replan(run.state.plan.clone()).unwrap();
    let said = view(&run);
    let questions: Vec<(bool, Option<&str>)> = said
        .questions
        .iter()
        .map(|question| (question.is_withdrawn, question.answer.as_deref()))
        .collect();
    assert_eq!(questions, [(true, None), (false, None)]);
}

#[test]
fn a_report_of_a_run_that_is_over_names_the_way_on() {
    let open = || {
        Run::open(Plan {
            final_checks: vec![TaskCheck::new("make")],
            ..plan(vec![task("1")])
        })
    };
    let mut cancelled = open();
    cancelled
        .take(verbs::cancel_run(&cancelled.state, "enough").map(|what| vec![what]))
        .unwrap();
    let said = view(&cancelled);
    assert_eq!(
        (said.result, said.cancel_reason.as_deref()),
        (RunResultWord::Cancelled, Some("enough"))
    );
    assert_eq!(
        said.next_command.as_deref(),
        Some("omo run resume --run r1")
    );
    let mut red = open();
    red.pass("1");
    let ran = vec![(
        TaskCheck::new("make"),
        outcome(omo_core::check::task_check::TaskCheckVerdict::Red),
    )];
    red.take(Ok(verbs::final_check_events(ran))).unwrap();
    let said = view(&red);
    assert_eq!(
        (said.result, said.final_checks[0].verdict),
        (RunResultWord::Failed, Some("red"))
    );
    assert_eq!(
        said.next_command.as_deref(),
        Some("omo run resume --run r1")
    );
}

#[test]
fn a_report_is_plain_json() {
    let run = Run::open(plan(vec![task("1")]));
    let json = serde_json::to_value(view(&run)).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["result"], "in_progress");
    assert_eq!(
        json["holder"],
        serde_json::json!({"hand": "session", "id": "s1"})
    );
    assert_eq!(json["tasks"][0]["standing"], "pending");
    assert_eq!(json["opened_at"], "1970-01-01T00:00:01.000Z");
}
