//! Lines of a screen: their order and space, and text that cannot break them.

use omo_core::check::counterfactual::Counterfactual;
use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict};
use omo_core::session::rest::RestReason;
use omo_core::session::{PauseReason, Session, VerdictKind};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind, RunEvent};
use omo_engine::parallel_state::ParallelState;
use omo_engine::state::RunState;
use omo_engine::view::{FoundFacts, RunFacts, run_view, update_times};
use omo_plan::model::{GroupIsolation, TaskGroup};
use omo_testkit::plans::{plan, run_opened, time};
use omo_view::run_view::{
    AttemptView, Bound, CheckState, CheckView, QuestionView, RunEnd, RunView, RunningTask,
    Standing, TaskView, WorkerView,
};
use omo_view::screen::lines::{LastLine, ScreenSize, screen_lines, sentence};
use unicode_width::UnicodeWidthStr;

use crate::kept_texts::KeptTexts;
use crate::ultrawork_view::{UltraworkFacts, ultrawork_view};

const SIZES: [(usize, usize); 7] = [
    (80, 24),
    (120, 40),
    (40, 10),
    (100, 4),
    (20, 3),
    (1, 1),
    (3, 200),
];

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn task(id: &str, standing: Standing) -> TaskView {
    TaskView {
        id: id.to_owned(),
        standing,
        title: format!("the title of {id}"),
        ..TaskView::default()
    }
}

fn view(tasks: Vec<TaskView>) -> RunView {
    RunView {
        title: "Words in files".to_owned(),
        mode: "waves",
        heading: "Running".to_owned(),
        progress: "1 of 3 tasks done".to_owned(),
        opened_at: at(10),
        tasks,
        task_word: "task",
        ..RunView::default()
    }
}

fn question(text: &str, options: &[&str]) -> QuestionView {
    QuestionView {
        id: "g-1".to_owned(),
        question: text.to_owned(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        answer: None,
        is_withdrawn: false,
        by: None,
        at: None,
        is_open: true,
        option_texts: Vec::new(),
        ways_out: Vec::new(),
    }
}

fn lines(view: &RunView, (columns, rows): (usize, usize), last: LastLine<'_>) -> Vec<String> {
    let lines = screen_lines(view, at(100), ScreenSize { columns, rows }, last);
    let plain: Vec<String> = lines
        .iter()
        .map(|line| line.plain().trim_end().to_owned())
        .collect();
    assert_eq!(plain.len(), rows, "{plain:?}");
    assert!(
        plain.iter().all(|line| line.width() <= columns),
        "{columns}: {plain:?}"
    );
    plain
}

#[test]
fn a_screen_shows_tasks_checks_and_bounds() {
    let attempt = |from, until: Option<i64>| AttemptView {
        since: at(from),
        until: until.map(at),
        end: None,
        why: String::new(),
    };
    let running = RunningTask {
        since: at(40),
        worker: "session abcdefgh".to_owned(),
        ended: None,
    };
    let at_work = TaskView {
        running: Some(running),
        history: vec![attempt(30, Some(35)), attempt(40, None)],
        ..task("2", Standing::Running)
    };
    let check = CheckView {
        command: "sh test.sh".to_owned(),
        state: CheckState::Running,
        output: vec!["test 3 ok".to_owned()],
        ..CheckView::default()
    };
    let view = RunView {
        running_checks: vec![("2".to_owned(), check)],
        bounds: vec![
            Bound::Words("3 of 8 continuations left".to_owned()),
            Bound::Time {
                left_millis: 180_000,
                at: Some(at(70)),
            },
        ],
        ..view(vec![task("1", Standing::Passed), at_work])
    };
    let expected = [
        "Words in files                                             plan run, waves  1:30",
        "Running: 1 of 3 tasks done",
        "",
        "task  state    time  who               title",
        "✓ 1   passed                           the title of 1",
        "→ 2   at work  1:05  session abcdefgh  the title of 2",
        "",
        "→ 2: sh test.sh  runs  test 3 ok",
        "",
        "3 of 8 continuations left · 2 min left",
    ];
    let shown = lines(&view, (80, 14), LastLine::Keys);
    assert_eq!(shown[..expected.len()], expected);
    assert_eq!(shown[13], "r report  s stop  q leave");
    assert!(lines(&view, (80, 14), LastLine::AskToStop)[13].starts_with("Stop this run? y"));
    assert!(
        lines(&view, (80, 14), LastLine::Message("it failed")).contains(&"it failed".to_owned())
    );
}

#[test]
fn of_too_many_tasks_those_that_matter_are_shown_and_the_others_counted() {
    let mut tasks: Vec<TaskView> = (0..100)
        .map(|number| task(&format!("t{number}"), Standing::Passed))
        .collect();
    tasks.extend((100..200).map(|number| task(&format!("t{number}"), Standing::Pending)));
    tasks[150] = task("at", Standing::Running);
    tasks[30] = task("bad", Standing::Failed);
    tasks[120] = TaskView {
        is_next: true,
        ..task("next", Standing::Pending)
    };
    let view = view(tasks);
    for size in SIZES {
        lines(&view, size, LastLine::Keys);
    }
    let shown = lines(&view, (80, 10), LastLine::Keys);
    let ids: Vec<&str> = shown
        .iter()
        .filter_map(|line| {
            line.strip_prefix(['·', '→', '✗'])?
                .split_whitespace()
                .next()
        })
        .collect();
    assert_eq!(
        ids,
        ["bad", "t100", "t101", "next", "at"],
        "in the order of the plan: {shown:?}"
    );
    assert!(
        shown
            .iter()
            .any(|line| line.starts_with("… and 195 more: ") && line.contains("99 passed")),
        "{shown:?}"
    );
    let shown = lines(&view, (80, 5), LastLine::Keys);
    assert!(shown[4].ends_with("197 not shown"), "{shown:?}");
    assert!(
        ["bad", "next", "at"]
            .iter()
            .all(|id| shown.iter().any(|line| line.contains(id))),
        "{shown:?}"
    );
}

#[test]
fn a_question_stands_there_however_small_the_screen_is() {
    let text: Vec<String> = (0..9)
        .map(|number| format!("line {number} of what is asked"))
        .collect();
    let tasks = (0..50)
        .map(|number| task(&format!("t{number}"), Standing::Pending))
        .collect();
    let view = RunView {
        questions: vec![question(&text.join("\n"), &["go", "stop"])],
        ..view(tasks)
    };
    for size in [(80, 24), (40, 10), (80, 6)] {
        let shown = lines(&view, size, LastLine::Keys);
        assert!(
            shown.contains(&"? line 0 of what is asked".to_owned()) || size.1 < 8,
            "{shown:?}"
        );
        assert!(
            shown
                .iter()
                .any(|line| line.contains("omo answer g-1 go|stop")),
            "{shown:?}"
        );
    }
}

#[test]
fn a_worker_that_needs_its_user_says_for_what_until_that_is_asked() {
    let need = "its link a.txt leads out of the repository".to_owned();
    let worker = WorkerView {
        name: "Session 1".to_owned(),
        status: "needs you".to_owned(),
        need,
        ..WorkerView::default()
    };
    let waiting = RunView {
        workers: vec![worker],
        ..view(vec![task("1", Standing::Passed)])
    };
    let line =
        "? Session 1: its link a.txt leads out of the repository; asked once the others".to_owned();
    assert!(lines(&waiting, (80, 24), LastLine::Keys).contains(&line));
    let asked = RunView {
        questions: vec![question("Merge it?", &["go", "stop"])],
        ..waiting.clone()
    };
    let over = RunView {
        end: RunEnd::Cancelled,
        ..waiting
    };
    assert!(
        [asked, over]
            .iter()
            .all(|view| !lines(view, (80, 24), LastLine::Keys).contains(&line))
    );
}

#[test]
fn no_text_from_outside_breaks_a_screen() {
    let hostile = [
        "\u{1b}[2J\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}1m",
        "a\rb\nc\u{8}\u{0}\u{7f}\u{85}\u{2028}",
        "\u{202e}desrever\u{2066}\u{200f}",
        "한국어한국어한국어한국어한국어한국어한국어한국어한국어한국어한국어한국어한국어",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}👩\u{200d}👩\u{200d}👧🏽\u{fe0f}\u{20e3}",
        &"x".repeat(100_000),
        "",
    ];
    for text in hostile {
        let text = text.to_owned();
        let bad = TaskView {
            title: text.clone(),
            blocked_by: Some(text.clone()),
            running: Some(RunningTask {
                since: at(5_000),
                worker: text.clone(),
                ended: None,
            }),
            ..task(&text, Standing::Running)
        };
        let check = CheckView {
            command: text.clone(),
            state: CheckState::Red,
            output: vec![text.clone()],
            ..CheckView::default()
        };
        let view = RunView {
            title: text.clone(),
            heading: text.clone(),
            questions: vec![question(&text, &[&text]), question(&text, &[])],
            tasks: vec![bad; 5],
            running_checks: vec![(text.clone(), check); 5],
            bounds: vec![
                Bound::Words(text.clone()),
                Bound::Time {
                    left_millis: i64::MIN,
                    at: Some(at(-1)),
                },
            ],
            notes: vec![text.clone()],
            ..view(Vec::new())
        };
        for size in SIZES {
            let shown = lines(&view, size, LastLine::Message(&text)).join("\n");
            let is_bad = |char: char| {
                char != '\n' && (char.is_control() || ('\u{202a}'..='\u{202e}').contains(&char))
            };
            assert!(!shown.contains(is_bad), "{shown:?}");
        }
    }
}

fn armed() -> Session {
    let mut session = Session::default();
    session.ulw.enabled = true;
    session.ulw.task = Some("\nfix the parser\nand more".to_owned());
    session.ulw.started_at = Some(at(10));
    session.ulw.stop_blocks = 3;
    session.checks = vec![Check::new(Some("t"), "sh test.sh", CheckOrigin::User).unwrap()];
    session
}

fn ultrawork(session: &Session, running: Option<(&str, &str)>) -> RunView {
    let running = running.map(|(name, line)| (name.to_owned(), line.to_owned()));
    ultrawork_view(&UltraworkFacts {
        id: "abc",
        session,
        kept: &KeptTexts::default(),
        difference: None,
        counterfactual: Counterfactual::NotAsked,
        client_block_cap: None,
        running_check: running.as_ref(),
        clock: &|at| at.to_string(),
        is_client_gone: false,
        now: at(70),
    })
}

#[test]
fn an_ultrawork_run_says_how_it_stands_and_what_is_left() {
    let mut session = armed();
    let view = ultrawork(&session, Some(("t", "test 1 ok")));
    assert_eq!(
        (view.end, view.title.as_str()),
        (RunEnd::Running, "fix the parser")
    );
    let shown = lines(&view, (80, 24), LastLine::Keys).join("\n");
    assert!(shown.contains("→ sh test.sh  runs  test 1 ok"), "{shown}");
    assert!(
        shown.contains("5 of 8 continuations left · 3 h 58 min left"),
        "{shown}"
    );
    session.rest(RestReason::TurnEnded, Vec::new(), at(50));
    assert_eq!(
        ultrawork(&session, None).heading,
        "On: idle, its turn has ended; your next prompt goes on"
    );
    session.rest(
        RestReason::AwaitsWork,
        vec!["agent `read`".to_owned()],
        at(51),
    );
    assert_eq!(
        ultrawork(&session, None).heading,
        "On: waits for agent `read`"
    );
    session.end_rest(at(52));
    session.pause(PauseReason::Interrupted, at(60));
    let view = ultrawork(&session, None);
    assert_eq!(view.end, RunEnd::Waiting);
    assert!(
        lines(&view, (80, 24), LastLine::Keys)
            .contains(&"  To go on, type `ulw` in the session.".to_owned())
    );
    assert!(
        matches!(view.bounds[1], Bound::Time { at: None, .. }),
        "its time stands still: {:?}",
        view.bounds
    );
    let last = CheckRecord {
        verdict: CheckVerdict::Failed,
        last_line: "expected 5".to_owned(),
        ..CheckRecord::default()
    };
    session.checks[0].last = Some(last);
    session.end_run(VerdictKind::Released, "claimed".to_owned(), at(65));
    let view = ultrawork(&session, None);
    assert_eq!(
        (view.end, view.ended_at, view.is_complete),
        (RunEnd::Incomplete, Some(at(65)), false)
    );
    let shown = lines(&view, (80, 24), LastLine::Keys).join("\n");
    assert!(
        shown.contains("✗ sh test.sh  failed  expected 5"),
        "{shown}"
    );
    assert!(
        sentence(&view).starts_with("NOT PROVED: sh test.sh is red"),
        "{}",
        view.heading
    );
    assert!(view.bounds.is_empty());
    let mut session = armed();
    session.end_run(VerdictKind::Verified, "1 check green".to_owned(), at(65));
    assert!(ultrawork(&session, None).is_complete);
}

#[test]
fn times_that_go_on_make_the_same_view_as_one_made_anew() {
    let mut plan = plan(&[("1", &[]), ("2", &["1"])]);
    plan.groups = vec![TaskGroup {
        id: "session-1".to_owned(),
        title: String::new(),
        tasks: vec!["1".to_owned(), "2".to_owned()],
        wave: 0,
        deps: Vec::new(),
        names_all_deps: false,
        may_touch: Vec::new(),
        never_touch: Vec::new(),
        isolation: GroupIsolation::Worktree,
        hard_stop: false,
    }];
    let started = EventKind::TaskStarted {
        task: "1".to_owned(),
        attempt: 1,
        ticket: "t".to_owned(),
        tree: None,
        protected_files: Vec::new(),
        already_green: Vec::new(),
        snapshot: None,
        head: None,
    };
    let event = |(seq, kind)| RunEvent {
        seq,
        ts: time(seq * 10),
        actor: EventActor::default(),
        kind,
    };
    let events: Vec<RunEvent> = (1..).zip([run_opened(plan), started]).map(event).collect();
    let mut state = RunState::from_first_event(&events[0]).unwrap();
    state.apply(&events[1]).unwrap();
    state.parallel = Some(ParallelState {
        limited_until: Some(time(200)),
        ..ParallelState::default()
    });
    let found = FoundFacts {
        session: Some(armed()),
        ..FoundFacts::default()
    };
    let at = |seconds| RunFacts {
        events: &events,
        now: time(seconds),
        found: found.clone(),
        ..RunFacts::of_state("r1", &state)
    };
    let mut view = run_view(&at(100));
    let before = view.clone();
    for seconds in [100, 130, 190, 400] {
        update_times(&mut view, &at(seconds));
        assert_eq!(view, run_view(&at(seconds)), "after {seconds} s");
    }
    assert!(
        before.workers != view.workers && before.bounds != view.bounds,
        "{view:?}"
    );
}
