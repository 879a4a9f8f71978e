//! Views of made-up runs.

use std::collections::BTreeMap;

use omo_core::check::counterfactual::{CheckCounterfactual, Counterfactual, WithoutChange};
use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict};
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_core::log_entry::{ClaimEnd, LogEntry, LoggedCheck, LoggedClaim};
use omo_core::review::{Review, ReviewVerdict};
use omo_core::session::rest::RestReason;
use omo_core::session::{PauseReason, Session, VerdictKind};
use omo_core::stop::StopRow;
use omo_core::timestamp::Timestamp;
use omo_engine::event::{AttemptEnd, EventActor, EventKind, RunEvent, RunResult};
use omo_engine::state::RunState;
use omo_engine::view::timeline::plan_lanes;
use omo_engine::view::{FoundFacts, RunFacts, run_view};
use omo_plan::model::Plan;
use omo_testkit::plans::{plan, run_opened, time};
use omo_view::run_view::{
    CheckState, MarkKind, ReviewEnd, RunEnd, RunView, Span, SpanKind, Standing,
};
use omo_view::tone::Tone;

use crate::kept_texts::KeptTexts;
use crate::ultrawork_view::session_lane::session_lane;
use crate::ultrawork_view::{UltraworkFacts, ultrawork_view};

fn outcome(verdict: TaskCheckVerdict) -> TaskCheckOutcome {
    TaskCheckOutcome {
        exit: Some(i32::from(verdict != TaskCheckVerdict::Green)),
        verdict,
        detail: "exit".to_owned(),
        took_millis: 1_500,
        printed: PrintedOutput {
            first_lines: vec!["it says".to_owned()],
            ..PrintedOutput::default()
        },
        log: None,
        counts: None,
        has_pipe_without_pipefail: false,
        setting: String::new(),
    }
}

fn started(task: &str, attempt: u32) -> EventKind {
    EventKind::TaskStarted {
        task: task.to_owned(),
        attempt,
        ticket: "t".to_owned(),
        tree: None,
        protected_files: Vec::new(),
        already_green: Vec::new(),
        snapshot: None,
        head: None,
    }
}

fn checked(task: &str, attempt: u32, verdict: TaskCheckVerdict) -> EventKind {
    let (task, command) = (task.to_owned(), format!("prove {task}"));
    EventKind::CheckRan {
        task,
        attempt,
        position: 0,
        command,
        outcome: outcome(verdict),
    }
}

fn end(attempt: u32) -> AttemptEnd {
    AttemptEnd {
        attempt,
        evidence: "exit".to_owned(),
        files: vec!["x".to_owned()],
        ..AttemptEnd::default()
    }
}

/// Page of a run of two tasks with these events, ten seconds apart.
fn page_of(kinds: Vec<EventKind>) -> RunView {
    let mut plan = plan(&[("1", &[]), ("2", &["1"])]);
    for task in &mut plan.tasks {
        task.checks = vec![TaskCheck::new(&format!("prove {}", task.id))];
    }
    plan.final_checks = vec![TaskCheck::new("make")];
    let opened = run_opened(Plan {
        title: "Two tasks".to_owned(),
        ..plan
    });
    let session = EventActor {
        session: Some("abcdefgh-1".to_owned()),
        process: None,
    };
    let event = |(seq, kind)| RunEvent {
        seq,
        ts: time(seq * 10),
        actor: session.clone(),
        kind,
    };
    let events: Vec<RunEvent> = (1..)
        .zip(std::iter::once(opened).chain(kinds))
        .map(event)
        .collect();
    let mut state = RunState::from_first_event(&events[0]).unwrap();
    events[1..]
        .iter()
        .for_each(|event| state.apply(event).unwrap());
    let found = FoundFacts {
        differences: BTreeMap::from([("1".to_owned(), "+one".to_owned())]),
        ..FoundFacts::default()
    };
    let mut view = run_view(&RunFacts {
        events: &events,
        now: time(1_000),
        found,
        ..RunFacts::of_state("r1", &state)
    });
    view.timeline.lanes = plan_lanes(&state, &events, &view.tasks);
    view
}

fn passed(task: &str, attempt: u32) -> EventKind {
    EventKind::TaskPassed {
        task: task.to_owned(),
        end: end(attempt),
    }
}

fn final_check(verdict: TaskCheckVerdict) -> EventKind {
    EventKind::CheckRan {
        task: "final".to_owned(),
        attempt: 0,
        position: 0,
        command: "make".to_owned(),
        outcome: outcome(verdict),
    }
}

#[test]
fn a_card_shows_what_its_task_changed_and_which_checks_show_its_work() {
    use TaskCheckVerdict::Green;
    let page_with = |answers: &[(&str, WithoutChange)]| {
        let answer = |(name, without): &(&str, WithoutChange)| CheckCounterfactual {
            name: (*name).to_owned(),
            without: *without,
            ..CheckCounterfactual::default()
        };
        let without_work = answers.iter().map(answer).collect();
        let end = AttemptEnd {
            without_work,
            ..end(1)
        };
        page_of(vec![
            started("1", 1),
            checked("1", 1, Green),
            EventKind::TaskPassed {
                task: "1".to_owned(),
                end,
            },
        ])
    };
    for (answers, tone) in [
        (&[("prove 1", WithoutChange::Red)][..], Tone::Proved),
        (
            &[
                ("prove 1", WithoutChange::Green),
                ("the test", WithoutChange::Red),
            ],
            Tone::Proved,
        ),
        (&[("prove 1", WithoutChange::Green)], Tone::Unproved),
        (&[("prove 1", WithoutChange::Unknown)], Tone::Proved),
    ] {
        let card = &page_with(answers).tasks[0];
        assert_eq!(
            (card.tone(), card.diff.as_str()),
            (tone, "+one"),
            "{answers:?}"
        );
    }
    assert_eq!(page_with(&[]).tasks[1].diff, "");
}

#[test]
fn a_plan_of_which_all_is_green_is_green() {
    use TaskCheckVerdict::Green;
    let done = |task: &str| vec![started(task, 1), checked(task, 1, Green), passed(task, 1)];
    let ended = EventKind::RunEnded {
        result: RunResult::Complete,
    };
    let page = page_of(
        [
            done("1"),
            done("2"),
            vec![final_check(Green), ended.clone()],
        ]
        .concat(),
    );
    assert_eq!(
        (page.tone(), page.end, page.heading.as_str()),
        (Tone::Proved, RunEnd::Complete, "Complete")
    );
    assert_eq!(
        (
            page.tasks[1].needs.as_slice(),
            page.tasks[1].checks[0].output.as_slice()
        ),
        (&[0][..], &["it says".to_owned()][..])
    );
    let page = page_of([done("1"), done("2"), vec![ended]].concat());
    assert_eq!(
        (page.tone(), page.final_checks[0].state),
        (Tone::Unproved, CheckState::NotRun)
    );
}

#[test]
fn each_attempt_has_its_bar_and_each_check_its_mark() {
    let failed = |attempt, is_final| EventKind::TaskFailed {
        task: "1".to_owned(),
        is_final,
        end: end(attempt),
    };
    let page = page_of(vec![
        started("1", 1),
        checked("1", 1, TaskCheckVerdict::Red),
        failed(1, false),
        started("1", 2),
        checked("1", 2, TaskCheckVerdict::Red),
        failed(2, true),
        EventKind::RunEnded {
            result: RunResult::CompletedWithFailures,
        },
    ]);
    assert_eq!((page.tone(), page.end), (Tone::Failed, RunEnd::Failed));
    let lane = &page.timeline.lanes[0];
    let spans: Vec<_> = lane
        .spans
        .iter()
        .map(|span| (span.from, span.until, span.kind))
        .collect();
    let kind = SpanKind::Attempt {
        task: 0,
        end: Standing::Failed,
    };
    assert_eq!(
        spans,
        [
            (time(20), Some(time(40)), kind),
            (time(50), Some(time(70)), kind)
        ]
    );
    assert_eq!(
        (lane.name.as_str(), lane.marks.len(), lane.marks[0].kind),
        ("session abcdefgh…", 2, MarkKind::Red)
    );
    assert_eq!(
        (page.timeline.began, page.timeline.until),
        (time(10), time(80))
    );
    let standings: Vec<Standing> = page.tasks.iter().map(|card| card.standing).collect();
    assert_eq!(standings, [Standing::Failed, Standing::Blocked]);
    assert_eq!(page.tasks[0].history.len(), 2);
}

#[test]
fn a_run_that_goes_on_lasts_until_now() {
    let page = page_of(vec![started("1", 1)]);
    assert_eq!(
        (page.tone(), page.timeline.until),
        (Tone::Open, time(1_000))
    );
    assert_eq!(
        (
            page.tasks[0].standing,
            page.timeline.lanes[0].spans[0].until
        ),
        (Standing::Running, None)
    );
}

fn ultrawork(kind: VerdictKind, verdict: CheckVerdict) -> Session {
    let check = Check::new(Some("t"), "sh test.sh", CheckOrigin::User).unwrap();
    let last = CheckRecord {
        verdict,
        detail: "exit".to_owned(),
        at: Some(time(40)),
        ..CheckRecord::default()
    };
    let mut session = Session {
        checks: vec![Check {
            last: Some(last),
            ..check
        }],
        ..Session::default()
    };
    session.ulw.enabled = true;
    session.ulw.started_at = Some(time(10));
    session.ulw.task = Some("Fix it\nand more".to_owned());
    session.end_run(kind, "1 check green".to_owned(), time(60));
    session
}

fn page_of_ultrawork(session: &Session) -> RunView {
    page_with_counterfactual(session, Counterfactual::NotAsked)
}

fn page_with_counterfactual(session: &Session, counterfactual: Counterfactual) -> RunView {
    let entry = |event: &str, decision: &str, at: Timestamp| LogEntry {
        at,
        session: "abc".to_owned(),
        event: event.to_owned(),
        row: None,
        decision: decision.to_owned(),
        why: "not claimed".to_owned(),
        blocks: 1,
        max_blocks: 9,
        since: None,
        claim: None,
    };
    let claim = |end, verdict| {
        Some(LoggedClaim {
            end,
            checks: vec![LoggedCheck {
                name: "t".to_owned(),
                verdict,
            }],
        })
    };
    let decisions = [
        entry("UserPromptSubmit", "activate", time(10)),
        LogEntry {
            claim: claim(ClaimEnd::Failed, CheckVerdict::TimedOut),
            ..entry("Stop", "block", time(30))
        },
        LogEntry {
            session: "other".to_owned(),
            ..entry("Stop", "block", time(35))
        },
        LogEntry {
            claim: claim(ClaimEnd::Verified, CheckVerdict::Green),
            ..entry("Stop", "end: verified", time(60))
        },
    ];
    ultrawork_view(&UltraworkFacts {
        id: "abc",
        session,
        kept: &KeptTexts {
            logs: BTreeMap::from([("t".to_owned(), "first\nlast".to_owned())]),
            decisions: decisions.to_vec(),
            ..KeptTexts::default()
        },
        difference: Some(Ok(
            "M a.rs (1 bytes before, 2 now)\n\ndiff --git a/a.rs b/a.rs\n".to_owned(),
        )),
        counterfactual,
        client_block_cap: None,
        running_check: None,
        clock: &|at| at.to_string(),
        is_client_gone: false,
        now: time(1_000),
    })
}

#[test]
fn an_ultrawork_run_is_green_with_its_checks_and_its_review() {
    let mut session = ultrawork(VerdictKind::Verified, CheckVerdict::Green);
    let page = page_of_ultrawork(&session);
    assert_eq!(
        (page.tone(), page.reviews[0].verdict),
        (Tone::Unproved, ReviewEnd::Missing)
    );
    let review = Review {
        verdict: ReviewVerdict::Verified,
        at: Some(time(55)),
        ..Review::default()
    };
    session.verification.review = Some(review);
    let page = page_of_ultrawork(&session);
    assert_eq!((page.tone(), page.title.as_str()), (Tone::Proved, "Fix it"));
    assert_eq!(page.final_checks[0].output, ["first", "last"]);
    let lane = &page.timeline.lanes[0];
    let spans: Vec<_> = lane
        .spans
        .iter()
        .map(|span| (span.from, span.until))
        .collect();
    assert_eq!(
        spans,
        [(time(10), Some(time(30))), (time(30), Some(time(60)))]
    );
    let marks: Vec<MarkKind> = lane.marks.iter().map(|mark| mark.kind).collect();
    assert_eq!(
        marks,
        [MarkKind::Person, MarkKind::Continuation, MarkKind::Review]
    );
    let marks: Vec<_> = page.timeline.lanes[1]
        .marks
        .iter()
        .map(|mark| (mark.at, mark.kind))
        .collect();
    assert_eq!(
        marks,
        [(time(30), MarkKind::Red), (time(60), MarkKind::Green)]
    );
    let card = &page.tasks[0];
    assert_eq!(
        (card.tone(), card.proved_by.as_deref()),
        (Tone::Proved, Some("the checks and the review above"))
    );
    let attempts: Vec<_> = card
        .history
        .iter()
        .map(|it| (it.since, it.until, it.standing(), it.why.as_str()))
        .collect();
    let failed = (
        time(10),
        Some(time(30)),
        Standing::Failed,
        "not claimed (t: timed out)",
    );
    assert_eq!(
        attempts,
        [failed, (time(30), Some(time(60)), Standing::Passed, "")]
    );
    assert_eq!(
        (card.files.len(), card.diff.as_str()),
        (1, "diff --git a/a.rs b/a.rs\n")
    );
    session.verification.review_wanted = false;
    session.verification.review = None;
    assert_eq!(page_of_ultrawork(&session).tone(), Tone::Proved);
    let without = |without| {
        let known = CheckCounterfactual {
            name: "t".to_owned(),
            without,
            ..CheckCounterfactual::default()
        };
        page_with_counterfactual(&session, Counterfactual::Known(vec![known])).tone()
    };
    assert_eq!(
        without(WithoutChange::Green),
        Tone::Unproved,
        "nothing shows the work"
    );
    assert_eq!(
        [WithoutChange::Red, WithoutChange::Unknown].map(without),
        [Tone::Proved; 2]
    );
    session.checks.clear();
    assert_eq!(
        page_of_ultrawork(&session).tone(),
        Tone::Unproved,
        "nothing has judged it"
    );
}

#[test]
fn an_ultrawork_run_that_is_not_proved_is_not_green() {
    for kind in [
        VerdictKind::Blocked,
        VerdictKind::Released,
        VerdictKind::Stopped,
        VerdictKind::Expired,
    ] {
        // A blocked run has red checks, honestly reported.
        let red = if kind == VerdictKind::Blocked {
            Tone::Unproved
        } else {
            Tone::Failed
        };
        let page = page_of_ultrawork(&ultrawork(kind, CheckVerdict::Failed));
        assert_eq!(page.tone(), red, "{kind:?}");
        assert!(page.next_steps[0].contains("`ulw"), "{:?}", page.next_steps);
        assert_eq!(
            page_of_ultrawork(&ultrawork(kind, CheckVerdict::Green)).tone(),
            Tone::Unproved,
            "{kind:?}"
        );
    }
}

#[test]
fn idle_time_is_drawn_as_idle() {
    let entry = |event: &str, decision: &str, at: u64| LogEntry {
        at: time(at),
        session: "abc".to_owned(),
        event: event.to_owned(),
        row: None,
        decision: decision.to_owned(),
        why: String::new(),
        blocks: 1,
        max_blocks: 9,
        since: None,
        claim: None,
    };
    let row = |row: StopRow, entry: LogEntry| LogEntry {
        row: Some(row.number()),
        ..entry
    };
    let since = |at: u64, entry: LogEntry| LogEntry {
        since: Some(time(at)),
        ..entry
    };
    let entries = [
        entry("UserPromptSubmit", "activate", 10),
        row(StopRow::BackgroundWork, entry("Stop", "allow", 20)),
        since(30, entry("Stop", "warn", 40)),
        since(50, entry("Stop", "block", 60)),
        since(70, entry("UserPromptSubmit", "activate", 90)),
        // Of an older version, without the begin of its turn.
        entry("Stop", "wait", 100),
        entry("Stop", "allow", 130),
    ];
    let spans = |session: &Session| {
        let lane = session_lane(entries.iter(), time(10), session);
        let of = |span: Span| (span.kind, span.from, span.until);
        lane.spans.into_iter().map(of).collect::<Vec<_>>()
    };
    let (turn, idle) = (SpanKind::Turn, SpanKind::Idle);
    let known = [
        (turn, time(10), Some(time(20))),
        (SpanKind::Background, time(20), Some(time(30))),
        (turn, time(30), Some(time(40))),
        (idle, time(40), Some(time(50))),
        (turn, time(50), Some(time(60))),
        (turn, time(60), Some(time(70))),
        (SpanKind::Person, time(70), Some(time(90))),
        (turn, time(90), Some(time(100))),
    ];
    let mut session = Session::default();
    session.rest(RestReason::TurnEnded, Vec::new(), time(130));
    let open = [&known[..], &[(idle, time(130), None)]].concat();
    assert_eq!(spans(&session), open);
    // The next prompt changes nothing of the run, and is not in the log.
    session.last_seen.user_prompt_submit = Some(time(140));
    let works = [(idle, time(130), Some(time(140))), (turn, time(140), None)];
    assert_eq!(spans(&session), [&known[..], &works].concat());
    session.ulw.enabled = true;
    session.pause(PauseReason::Interrupted, time(150));
    assert_eq!(spans(&session), open);
}
