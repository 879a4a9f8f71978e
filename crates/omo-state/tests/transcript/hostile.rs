//! A transcript that is missing, half written, huge, replaced or hostile: it says less, and that
//! is all.

use std::fs;

use omo_core::session::TranscriptMark;
use omo_core::stop::TranscriptTail;
use omo_state::transcript::{TAIL_BYTES, last_assistant_text, read_tail};
use proptest::prelude::*;

use crate::transcript::lines::*;

/// What is known where nothing can be read.
fn nothing(mark: TranscriptMark) -> TranscriptTail {
    TranscriptTail {
        next_offset: mark.offset,
        end: mark.block_offset,
        ..TranscriptTail::default()
    }
}

#[test]
fn what_is_no_file_says_nothing_and_delays_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let (fifo, link) = (temp.path().join("fifo"), temp.path().join("link"));
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink(&fifo, &link).unwrap();
    let mark = TranscriptMark {
        offset: 40,
        block_offset: 60,
    };
    for path in [
        temp.path().join("missing"),
        temp.path().to_owned(),
        fifo,
        link,
        "/dev/zero".into(),
        "".into(),
    ] {
        assert_eq!(
            read_tail(&path, mark, None),
            nothing(mark),
            "{}",
            path.display()
        );
        assert_eq!(last_assistant_text(&path, mark), None, "{}", path.display());
    }
}

#[test]
fn a_half_written_last_line_is_read_once_it_is_whole() {
    let transcript = Transcript::of(&[human("x")]).unwrap();
    let whole = transcript.len().unwrap();
    let line = format!("{}\n", enqueue("a"));
    let (first, second) = line.split_at(40);
    transcript.add_bytes(first.as_bytes()).unwrap();
    let tail = transcript.tail();
    assert_eq!(
        (tail.input_waiting, tail.next_offset, tail.end),
        (false, whole, whole)
    );
    transcript.add_bytes(second.as_bytes()).unwrap();
    assert!(
        transcript
            .tail_from(tail.next_offset, tail.end)
            .input_waiting
    );
}

#[test]
fn a_whole_line_without_its_end_is_not_read_yet() {
    let transcript = Transcript::of(&[]).unwrap();
    transcript.add_bytes(enqueue("a").as_bytes()).unwrap();
    assert!(!transcript.tail().input_waiting);
    transcript.add_bytes(b"\n").unwrap();
    assert!(transcript.tail().input_waiting);
}

#[test]
fn only_the_last_mebibyte_is_read_and_its_first_cut_line_is_passed_over() {
    let filler = human(&"x".repeat(1_000));
    let many = vec![filler.clone(); usize::try_from(TAIL_BYTES).unwrap() / filler.len() + 2];
    let transcript = Transcript::of(&[interrupted(), enqueue("old")]).unwrap();
    transcript.add(&many).unwrap();
    let tail = transcript.tail();
    assert_eq!(
        (tail.interrupted, tail.input_waiting),
        (None, false),
        "what is further back is not known"
    );
    assert_eq!(tail.end, transcript.len().unwrap());
    transcript
        .add(&[enqueue("new"), tool_use("Bash", "ls")])
        .unwrap();
    let tail = transcript.tail();
    assert!(tail.input_waiting && tail.tool_called_since_block);
    assert_eq!(
        tail.next_offset,
        transcript.len().unwrap()
            - u64::try_from(enqueue("new").len() + tool_use("Bash", "ls").len() + 2).unwrap()
    );
}

#[test]
fn one_line_longer_than_all_that_is_read_says_nothing() {
    let transcript =
        Transcript::of(&[human(&"x".repeat(usize::try_from(TAIL_BYTES).unwrap() * 2))]).unwrap();
    let tail = transcript.tail();
    assert!(!tail.input_waiting && tail.interrupted.is_none());
    transcript.add(&[enqueue("a")]).unwrap();
    assert!(transcript.tail().input_waiting);
}

#[test]
fn a_mark_beyond_the_end_means_a_new_file() {
    let transcript = Transcript::of(&[enqueue("a")]).unwrap();
    assert!(transcript.tail_from(9_999_999, 9_999_999).input_waiting);
    assert!(transcript.tail_from(u64::MAX, u64::MAX).input_waiting);
    let end = transcript.len().unwrap();
    assert!(
        !transcript.tail_from(end, end).input_waiting,
        "its very end is no such mark"
    );
}

#[test]
fn a_mark_within_a_line_costs_that_line_only() {
    let transcript = Transcript::of(&[enqueue("a"), enqueue("b")]).unwrap();
    let tail = transcript.tail_from(5, 0);
    assert!(tail.input_waiting);
    transcript.add(&[remove("b")]).unwrap();
    assert!(!transcript.tail_from(5, 0).input_waiting);
}

#[test]
fn garbage_between_the_lines_is_passed_over() {
    let deep = format!(
        "{}\"queue-operation\"{}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let deep_line = format!(r#"{{"type":"assistant","message":{{"content":{deep}}}}}"#);
    let deep_attachment = format!(
        r#"{{"type":"attachment","attachment":{{"type":"hook_cancelled","content":{deep}}}}}"#
    );
    let control = assistant("x").replace("\"x\"", "\"a\u{1}b\u{0}c\"");
    let transcript = Transcript::of(&[enqueue("a")]).unwrap();
    for line in [
        deep.clone(),
        deep_line,
        deep_attachment,
        control,
        String::new(),
        "queue-operation".to_owned(),
        r#"{"type":"queue-operation","operation":"dequeue""#.to_owned(),
        r#"{"type":"queue-operation","operation":7}"#.to_owned(),
        r#"{"type":["queue-operation"],"operation":"popAll"}"#.to_owned(),
        r#"["queue-operation","popAll"]"#.to_owned(),
        r#"{"type":"assistant","message":"tool_use"}"#.to_owned(),
        r#"{"type":"assistant","message":{"content":"tool_use"}}"#.to_owned(),
        r#"{"type":"user","message":null,"x":"[Request interrupted by user]"}"#.to_owned(),
    ] {
        transcript.add(&[line]).unwrap();
    }
    transcript
        .add_bytes(b"\xff\xfe queue-operation \x00\x01\n{\"type\":\"queue-operation\xff\",\"operation\":\"popAll\"}\n")
        .unwrap();
    let tail = transcript.tail();
    assert!(tail.input_waiting, "none of that was a dequeue");
    assert_eq!(
        (tail.interrupted, tail.tool_called_since_block),
        (None, false)
    );
    transcript.add(&[remove("a")]).unwrap();
    assert!(!transcript.tail().input_waiting);
    let _ = last_assistant_text(&transcript.path(), TranscriptMark::default());
}

#[test]
fn windows_line_ends_are_read() {
    let transcript = Transcript::of(&[]).unwrap();
    transcript
        .add_bytes(format!("{}\r\n{}\r\n", enqueue("a"), interrupted()).as_bytes())
        .unwrap();
    let tail = transcript.tail();
    assert!(tail.input_waiting && tail.interrupted.is_some());
}

#[test]
fn what_is_written_while_it_is_read_is_read_the_next_time() {
    let transcript = Transcript::of(&[human("x")]).unwrap();
    let before = transcript.tail();
    transcript.add(&[enqueue("a")]).unwrap();
    let after = transcript.tail_from(before.next_offset, before.end);
    assert!(after.input_waiting);
    fs::write(transcript.path(), "").unwrap();
    let emptied = transcript.tail_from(after.next_offset, after.end);
    assert_eq!((emptied.input_waiting, emptied.next_offset), (false, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the bytes are, reading ends within them.
    #[test]
    fn any_bytes_are_survived(
        pieces in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            Just(b"\n".to_vec()),
            Just(enqueue("a").into_bytes()),
            Just(dequeue().into_bytes()),
            Just(remove("a").into_bytes()),
            Just(interrupted().into_bytes()),
            Just(tool_use("Bash", "ls").into_bytes()),
        ], 0..20),
        offset in prop_oneof![0..500_u64, any::<u64>()],
        block_offset in any::<u64>(),
    ) {
        let bytes = pieces.concat();
        let transcript = Transcript::of(&[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        transcript.add_bytes(&bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let tail = transcript.tail_from(offset, block_offset);
        prop_assert!(tail.next_offset <= tail.end && tail.end <= bytes.len() as u64, "{:?}", tail);
        let _ = last_assistant_text(&transcript.path(), TranscriptMark { offset, block_offset });
    }
}
