//! The lines of a screen: what has room, in which order, and that no text breaks them.

use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict};
use omo_core::session::{PauseReason, Session, VerdictKind};
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind, RunEvent};
use omo_engine::parallel_state::ParallelState;
use omo_engine::state::RunState;
use omo_plan::model::{GroupIsolation, TaskGroup};
use omo_testkit::plans::{plan, run_opened, time};
use unicode_width::UnicodeWidthStr;

use crate::kept_texts::KeptTexts;
use crate::watch::plan_view::{PlanFacts, plan_view, update_times};
use crate::watch::run_view::{Bound, CheckView, RunStatus, RunView, TaskRank, TaskView, Tone};
use crate::watch::screen_lines::{LastLine, ScreenSize, screen_lines};
use crate::watch::ultrawork_view::{UltraworkFacts, ultrawork_view};

const SIZES: [(usize, usize); 7] = [(80, 24), (120, 40), (40, 10), (100, 4), (20, 3), (1, 1), (3, 200)];

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn task(id: &str, words: &str, rank: TaskRank) -> TaskView {
    TaskView {
        id: id.to_owned(),
        mark: '·',
        words: words.to_owned(),
        tone: Tone::Plain,
        rank,
        worked_millis: 0,
        since: None,
        worker: String::new(),
        about: format!("the title of {id}"),
    }
}

fn view(tasks: Vec<TaskView>) -> RunView {
    RunView {
        title: "Words in files".to_owned(),
        kind: "plan run, waves".to_owned(),
        status: RunStatus::AtWork,
        sentence: "Running: 1 of 3 tasks done".to_owned(),
        tone: Tone::AtWork,
        began: Some(at(10)),
        ended: None,
        question: Vec::new(),
        workers: Vec::new(),
        tasks,
        task_word: "task",
        checks: Vec::new(),
        bounds: Vec::new(),
        notes: Vec::new(),
    }
}

fn lines(view: &RunView, (columns, rows): (usize, usize), last: LastLine<'_>) -> Vec<String> {
    let lines = screen_lines(view, at(100), ScreenSize { columns, rows }, last);
    let plain: Vec<String> = lines.iter().map(|line| line.plain().trim_end().to_owned()).collect();
    assert_eq!(plain.len(), rows, "{plain:?}");
    assert!(plain.iter().all(|line| line.width() <= columns), "{columns}: {plain:?}");
    plain
}

#[test]
fn a_screen_shows_tasks_checks_and_bounds() {
    let at_work = TaskView {
        since: Some(at(40)),
        worked_millis: 5_000,
        worker: "session abcdefgh".to_owned(),
        ..task("2", "at work", TaskRank::AtWork)
    };
    let check = CheckView {
        of: "2".to_owned(),
        command: "sh test.sh".to_owned(),
        words: "runs".to_owned(),
        tone: Tone::AtWork,
        last_line: "test 3 ok".to_owned(),
    };
    let view = RunView {
        checks: vec![check],
        bounds: vec![
            Bound::Words("3 of 8 continuations left".to_owned()),
            Bound::Time { left_millis: 180_000, at: Some(at(70)) },
        ],
        ..view(vec![task("1", "passed", TaskRank::Over), at_work])
    };
    let expected = [
        "Words in files                                             plan run, waves  1:30",
        "Running: 1 of 3 tasks done",
        "",
        "task  state    time  who               title",
        "· 1   passed                           the title of 1",
        "· 2   at work  1:05  session abcdefgh  the title of 2",
        "",
        "→ 2: sh test.sh  runs  test 3 ok",
        "",
        "3 of 8 continuations left · 2 min left",
    ];
    let shown = lines(&view, (80, 14), LastLine::Keys);
    assert_eq!(shown[..expected.len()], expected);
    assert_eq!(shown[13], "r report  s stop  q leave");
    assert!(lines(&view, (80, 14), LastLine::AskToStop)[13].starts_with("Stop this run? y"));
    assert!(lines(&view, (80, 14), LastLine::Message("it failed")).contains(&"it failed".to_owned()));
}

#[test]
fn of_too_many_tasks_those_that_matter_are_shown_and_the_others_counted() {
    let mut tasks: Vec<TaskView> =
        (0..100).map(|number| task(&format!("t{number}"), "passed", TaskRank::Over)).collect();
    tasks.extend((100..200).map(|number| task(&format!("t{number}"), "pending", TaskRank::Later)));
    tasks[150] = task("at", "at work", TaskRank::AtWork);
    tasks[30] = task("bad", "failed", TaskRank::Failed);
    tasks[120] = task("next", "pending", TaskRank::Next);
    let view = view(tasks);
    for size in SIZES {
        lines(&view, size, LastLine::Keys);
    }
    let shown = lines(&view, (80, 10), LastLine::Keys);
    let ids: Vec<&str> = shown.iter().filter_map(|line| line.strip_prefix("· ")?.split_whitespace().next()).collect();
    assert_eq!(ids, ["bad", "t100", "t101", "next", "at"], "in the order of the plan: {shown:?}");
    assert!(shown.iter().any(|line| line.starts_with("… and 195 more: ") && line.contains("99 passed")), "{shown:?}");
    let shown = lines(&view, (80, 5), LastLine::Keys);
    assert!(shown[4].ends_with("197 not shown"), "{shown:?}");
    assert!(["bad", "next", "at"].iter().all(|id| shown.iter().any(|line| line.contains(id))), "{shown:?}");
}

#[test]
fn a_question_stands_there_however_small_the_screen_is() {
    let mut question: Vec<String> = (0..9).map(|number| format!("line {number} of what is asked")).collect();
    question.push("To answer: omo answer g-1 go|stop".to_owned());
    let tasks = (0..50).map(|number| task(&format!("t{number}"), "pending", TaskRank::Later)).collect();
    let view = RunView { question, ..view(tasks) };
    for size in [(80, 24), (40, 10), (80, 6)] {
        let shown = lines(&view, size, LastLine::Keys);
        assert!(shown.contains(&"? line 0 of what is asked".to_owned()) || size.1 < 8, "{shown:?}");
        assert!(shown.iter().any(|line| line.contains("omo answer g-1 go|stop")), "{shown:?}");
    }
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
            id: text.clone(),
            words: text.clone(),
            worker: text.clone(),
            about: text.clone(),
            since: Some(at(5_000)),
            ..task("1", "at work", TaskRank::AtWork)
        };
        let check = CheckView {
            of: text.clone(),
            command: text.clone(),
            words: text.clone(),
            tone: Tone::Bad,
            last_line: text.clone(),
        };
        let view = RunView {
            title: text.clone(),
            kind: text.clone(),
            sentence: text.clone(),
            question: vec![text.clone(), text.clone()],
            tasks: vec![bad; 5],
            checks: vec![check; 5],
            bounds: vec![Bound::Words(text.clone()), Bound::Time { left_millis: i64::MIN, at: Some(at(-1)) }],
            notes: vec![text.clone()],
            ..view(Vec::new())
        };
        for size in SIZES {
            let shown = lines(&view, size, LastLine::Message(&text)).join("\n");
            let is_bad = |char: char| char != '\n' && (char.is_control() || ('\u{202a}'..='\u{202e}').contains(&char));
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

fn ultrawork(session: &Session, running: &[(&str, &str)]) -> RunView {
    let running = running.iter().map(|(name, line)| ((*name).to_owned(), (*line).to_owned())).collect();
    ultrawork_view(&UltraworkFacts {
        session,
        running_checks: &running,
        kept: &KeptTexts::default(),
        client_block_cap: None,
        now: at(70),
    })
}

#[test]
fn an_ultrawork_run_says_how_it_stands_and_what_is_left() {
    let mut session = armed();
    let view = ultrawork(&session, &[("t", "test 1 ok")]);
    assert_eq!((view.status, view.title.as_str()), (RunStatus::AtWork, "fix the parser"));
    assert_eq!((view.checks[0].words.as_str(), view.checks[0].last_line.as_str()), ("runs", "test 1 ok"));
    let shown = lines(&view, (80, 24), LastLine::Keys).join("\n");
    assert!(shown.contains("5 of 8 continuations left · 3 h 58 min left"), "{shown}");
    session.pause(PauseReason::Interrupted, at(60));
    let view = ultrawork(&session, &[]);
    assert_eq!((view.status, view.question.len()), (RunStatus::Waiting, 2));
    assert!(matches!(view.bounds[1], Bound::Time { at: None, .. }), "its time stands still: {:?}", view.bounds);
    let last =
        CheckRecord { verdict: CheckVerdict::Failed, last_line: "expected 5".to_owned(), ..CheckRecord::default() };
    session.checks[0].last = Some(last);
    session.end_run(VerdictKind::Released, "claimed".to_owned(), at(65));
    let view = ultrawork(&session, &[]);
    assert_eq!((view.status, view.ended, view.tone), (RunStatus::Ended, Some(at(65)), Tone::Bad));
    assert_eq!((view.checks[0].words.as_str(), view.checks[0].last_line.as_str()), ("failed", "expected 5"));
    assert!(view.sentence.starts_with("NOT PROVED: sh test.sh is red"), "{}", view.sentence);
    assert!(view.bounds.is_empty());
    let mut session = armed();
    session.end_run(VerdictKind::Verified, "1 check green".to_owned(), at(65));
    assert_eq!(ultrawork(&session, &[]).status, RunStatus::Complete);
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
    let event = |(seq, kind)| RunEvent { seq, ts: time(seq * 10), actor: EventActor::default(), kind };
    let events: Vec<RunEvent> = (1..).zip([run_opened(plan), started]).map(event).collect();
    let mut state = RunState::from_first_event(&events[0]).unwrap();
    state.apply(&events[1]).unwrap();
    state.parallel = Some(ParallelState { limited_until: Some(time(200)), ..ParallelState::default() });
    let session = armed();
    let at = |seconds| PlanFacts {
        run: "r1",
        state: &state,
        events: &events,
        running_checks: &[],
        holder: Some(&session),
        client_block_cap: None,
        is_abandoned: false,
        now: time(seconds),
    };
    let mut view = plan_view(&at(100));
    let before = view.clone();
    for seconds in [100, 130, 190, 400] {
        update_times(&mut view, &at(seconds));
        assert_eq!(view, plan_view(&at(seconds)), "after {seconds} s");
    }
    assert!(before.workers != view.workers && before.bounds != view.bounds, "{view:?}");
}
