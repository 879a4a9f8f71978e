//! The time of a turn as its transcript tells it.

use omo_core::session::rest::{RestReason, TurnTime};
use omo_core::session::{Session, TranscriptMark};
use omo_core::timestamp::Timestamp;
use omo_state::transcript::{TAIL_BYTES, read_turn};

use super::lines::*;

/// So many minutes after the begin of the run.
fn at(minutes: i64) -> Timestamp {
    let begin = Timestamp::parse(AT).map_or(0, Timestamp::as_millis);
    Timestamp::from_millis(begin + minutes * 60_000)
}

fn line_at(line: &str, minutes: i64) -> String {
    line.replace(AT, &at(minutes).to_string())
}

fn begun() -> Session {
    let mut session = Session::default();
    session.ulw.enabled = true;
    session.ulw.started_at = Some(at(0));
    session
}

/// Idle minutes until minute 600.
fn idle(lines: &[String], session: &Session) -> Option<u64> {
    let transcript = Transcript::of(lines).ok()?;
    Some(
        read_turn(&transcript.path(), session, at(600))
            .1
            .idle_millis
            / 60_000,
    )
}

#[test]
fn a_long_step_of_a_turn_is_idle_but_for_a_bounded_part() {
    let (call, said) = (tool_use("Bash", "sleep"), assistant("y"));
    let lines = [line_at(&call, 1), line_at(&said, 590)];
    assert_eq!(idle(&lines, &begun()), Some(574));
    assert_eq!(idle(&[], &begun()), Some(0));
    assert_eq!(idle(&["{}".to_owned()], &begun()), Some(0));
    let steady: Vec<String> = (0..60).map(|step| line_at(&said, step * 10)).collect();
    assert_eq!(idle(&steady, &begun()), Some(0));
    // Counted up to there already.
    let mut session = begun();
    session.last_seen.user_prompt_submit = Some(at(300));
    assert_eq!(idle(&lines, &session), Some(275));
    assert_eq!(idle(&lines, &Session::default()), Some(0), "no run");
}

#[test]
fn a_text_and_an_absurd_time_are_no_entries() {
    let quoted = assistant(&format!("{{\"timestamp\":\"{}\"}}", at(300)));
    assert_eq!(
        idle(&[line_at(&quoted, 1), line_at(&quoted, 599)], &begun()),
        Some(583)
    );
    let absurd = [
        "2026-99-99T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
        "-1",
        "",
        "\u{1F600}",
        "2026-11-21T04:22:30.063Z and much more than a time is long",
    ];
    for time in absurd {
        let line = assistant("y").replace(AT, time);
        assert_eq!(idle(&[line], &begun()), Some(0), "{time}");
    }
    assert_eq!(
        idle(&[r#"{"timestamp":"2026"#.to_owned()], &begun()),
        Some(0)
    );
}

#[test]
fn an_interruption_ends_the_turn_and_a_cut_tail_begins_with_its_first_entry() {
    let lines = [
        line_at(&human("x"), 1),
        line_at(&interrupted(), 100),
        line_at(&human("y"), 599),
    ];
    assert_eq!(idle(&lines, &begun()), Some(84));
    let long = assistant(&"x".repeat(usize::try_from(TAIL_BYTES).unwrap() / 2));
    let lines = [line_at(&long, 1), line_at(&long, 300), line_at(&long, 590)];
    assert_eq!(idle(&lines, &begun()), Some(0));
    let lines = [
        line_at(&long, 1),
        line_at(&assistant("y"), 300),
        line_at(&long, 590),
    ];
    assert_eq!(idle(&lines, &begun()), Some(275));
    let mut replaced = begun();
    replaced.transcript = TranscriptMark {
        offset: 1_000_000_000,
        block_offset: 0,
    };
    assert_eq!(idle(&lines, &replaced), Some(275));
}

#[test]
fn a_turn_without_a_prompt_begins_with_the_first_word_of_the_model() {
    let mut session = begun();
    session.rest(RestReason::AwaitsWork, Vec::new(), at(5));
    let turn =
        |lines: &[String]| read_turn(&Transcript::of(lines).unwrap().path(), &session, at(600)).1;
    let before = line_at(&assistant("waits"), 4);
    let system = line_at(&human("<task-notification>"), 6);
    assert_eq!(turn(&[before.clone(), system.clone()]), TurnTime::default());
    let later = line_at(&assistant("later"), 700);
    assert_eq!(turn(&[before.clone(), later]), TurnTime::default());
    let woken = [
        before,
        system,
        line_at(&assistant("goes on"), 500),
        line_at(&assistant("and on"), 599),
    ];
    let told = turn(&woken);
    assert_eq!(
        (told.rest_ended_at, told.idle_millis / 60_000),
        (Some(at(500)), 84)
    );
}
