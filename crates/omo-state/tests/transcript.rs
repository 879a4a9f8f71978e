//! What the tail of a transcript tells of a session: waiting input, interruptions, tool calls.
//!
//! A transcript that is missing, broken or hostile is the matter of `hostile.rs`.
#![cfg(unix)]

mod hostile;
mod lines;
mod turn_time;

use std::path::Path;

use omo_core::messages::CONTRACT_MARK;
use omo_core::session::{Interruption, TranscriptMark};
use omo_core::timestamp::Timestamp;
use omo_state::transcript::{
    has_caught_up, last_assistant_text, model_has_spoken, read_conversation, read_tail,
};

use lines::*;

const NOTIFICATION: &str =
    "<task-notification>\n<task-id>a1</task-id>\n<result>ulw</result>\n</task-notification>";

fn texts(lines: &[String]) -> Vec<String> {
    lines.to_vec()
}

#[test]
fn a_persons_input_waits_until_it_leaves_the_queue() {
    let cases: Vec<(&str, Vec<String>, bool)> = vec![
        ("nothing", vec![human("x"), assistant("y")], false),
        ("typed text", vec![enqueue("and the docs")], true),
        (
            "a slash command",
            vec![enqueue("/omo:stop-continuation")],
            true,
        ),
        (
            "a slash command with a reason",
            vec![enqueue("/omo:stop-continuation too slow")],
            true,
        ),
        ("a shell line", vec![enqueue("!ls")], true),
        ("taken by a turn", vec![enqueue("a"), dequeue()], false),
        (
            "one taken, one left",
            vec![enqueue("a"), enqueue("b"), dequeue()],
            true,
        ),
        (
            "both taken",
            vec![enqueue("a"), enqueue("b"), dequeue(), dequeue()],
            false,
        ),
        ("given to the model", vec![enqueue("a"), remove("a")], false),
        (
            "given to the model from the middle",
            vec![enqueue(NOTIFICATION), enqueue("a"), remove("a")],
            false,
        ),
        (
            "the notification given, the input left",
            vec![enqueue(NOTIFICATION), enqueue("a"), remove(NOTIFICATION)],
            true,
        ),
        (
            "the notification taken, the input left",
            vec![enqueue(NOTIFICATION), enqueue("a"), dequeue()],
            true,
        ),
        (
            "the input given, the notification left",
            vec![enqueue("a"), enqueue(NOTIFICATION), remove("a")],
            false,
        ),
        (
            "taken back into the box",
            vec![enqueue("a"), enqueue("b"), pop_all("a"), pop_all("b")],
            false,
        ),
        (
            "typed again after that",
            vec![enqueue("a"), pop_all("a"), enqueue("a")],
            true,
        ),
        (
            "the same text twice",
            vec![enqueue("a"), enqueue("a"), remove("a")],
            true,
        ),
        ("only a notification", vec![enqueue(NOTIFICATION)], false),
        (
            "what left before it came",
            vec![dequeue(), remove("a"), enqueue("a")],
            true,
        ),
        (
            "quotes and other letters",
            vec![enqueue("say \"ü\"\n한"), remove("say \"ü\"\n한")],
            false,
        ),
        (
            "a person speaks of the queue",
            vec![human(&enqueue("a"))],
            false,
        ),
        (
            "a tool shows a queue",
            vec![tool_result(&enqueue("a"))],
            false,
        ),
        (
            "a request repeats it",
            vec![request_copy(&enqueue("a"))],
            false,
        ),
        (
            "with spaces between",
            vec![r#"{"type": "queue-operation", "operation": "enqueue", "content": "a"}"#.into()],
            true,
        ),
        (
            "with its type at the end",
            vec![r#"{"operation":"enqueue","content":"a","type":"queue-operation"}"#.into()],
            true,
        ),
    ];
    for (name, lines, waits) in cases {
        assert_eq!(tail_of(&lines).unwrap().input_waiting, waits, "{name}");
    }
}

#[test]
fn reading_goes_on_before_the_first_input_that_waits() {
    let first = vec![human("x"), enqueue("a"), dequeue()];
    let transcript = Transcript::of(&first).unwrap();
    assert_eq!(transcript.tail().next_offset, transcript.len().unwrap());
    let before = transcript.len().unwrap();
    transcript.add(&[enqueue("b"), assistant("y")]).unwrap();
    let tail = transcript.tail();
    assert_eq!(
        (tail.next_offset, tail.end),
        (before, transcript.len().unwrap())
    );
    let again = transcript.tail_from(tail.next_offset, tail.end);
    assert!(again.input_waiting);
    transcript.add(&[remove("b")]).unwrap();
    let left = transcript.tail_from(tail.next_offset, tail.end);
    assert!(!left.input_waiting);
    assert_eq!(left.next_offset, transcript.len().unwrap());
}

/// An input that left the queue without its name, before the mark's own, must not be taken for the
/// one that waits by the code that reads on.
#[test]
fn reading_goes_on_where_the_queue_was_last_empty() {
    let transcript = Transcript::of(&[enqueue("old"), dequeue()]).unwrap();
    let empty = transcript.len().unwrap();
    transcript
        .add(&[enqueue("a"), enqueue("b"), dequeue()])
        .unwrap();
    let tail = transcript.tail();
    assert_eq!((tail.input_waiting, tail.next_offset), (true, empty));
    let again = transcript.tail_from(tail.next_offset, tail.end);
    assert_eq!(
        (again.input_waiting, again.next_offset),
        (true, empty),
        "`b` still waits"
    );
    transcript.add(&[dequeue()]).unwrap();
    let left = transcript.tail_from(again.next_offset, again.end);
    assert_eq!(
        (left.input_waiting, left.next_offset),
        (false, transcript.len().unwrap())
    );
}

#[test]
fn each_kind_of_interruption_is_seen_with_its_time() {
    let at = Interruption::At(Timestamp::parse(AT).unwrap());
    for (name, lines) in [
        ("while the model wrote", texts(&[human("x"), interrupted()])),
        (
            "in a tool",
            texts(&[
                tool_use("Bash", "sleep"),
                user_block("[Request interrupted by user for tool use]"),
            ]),
        ),
        (
            "while the Stop hook ran",
            texts(&[hook_cancelled("Stop", false)]),
        ),
        (
            "both lines of it",
            texts(&[hook_cancelled("Stop", false), interrupted()]),
        ),
        (
            "with spaces between",
            vec![interrupted().replace("\":", "\": ")],
        ),
    ] {
        assert_eq!(tail_of(&lines).unwrap().interrupted, Some(at), "{name}");
    }
    let timeless = interrupted().replace(&format!("\"timestamp\":\"{AT}\","), "");
    assert_eq!(
        tail_of(&[timeless]).unwrap().interrupted,
        Some(Interruption::AtSomeTime)
    );
    let odd = interrupted().replace(AT, "yesterday");
    assert_eq!(
        tail_of(&[odd]).unwrap().interrupted,
        Some(Interruption::AtSomeTime)
    );
}

#[test]
fn what_only_speaks_of_an_interruption_is_none() {
    let words = "[Request interrupted by user]";
    let sidechain = interrupted().replace("\"isSidechain\":false", "\"isSidechain\":true");
    let two_blocks = interrupted().replace("}],", "},{\"type\":\"text\",\"text\":\"and more\"}],");
    assert_ne!(two_blocks, interrupted());
    let with_result =
        interrupted().replace(",\"userType\"", ",\"toolUseResult\":\"x\",\"userType\"");
    assert_ne!(with_result, interrupted());
    let reported = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"[Request interrupted by user]"}]}]}}"#;
    for (name, line) in [
        ("a prompt", human(words)),
        ("a tool's result", tool_result(words)),
        ("a tool's result in blocks", reported.to_owned()),
        ("a tool's result beside its copy", with_result),
        (
            "a line of a file in a tool's result",
            tool_result(&interrupted()),
        ),
        ("the model", assistant(words)),
        ("a tool's input", tool_use("Bash", words)),
        (
            "a longer text",
            user_block("[Request interrupted by user] or not"),
        ),
        ("two blocks", two_blocks),
        ("a subagent's", sidechain),
        ("a copy of the request", request_copy(words)),
        (
            "the client's feedback",
            human(&format!("Stop hook feedback:\n{words}")),
        ),
        ("another hook's end", hook_cancelled("PostToolUse", false)),
        ("the hook's own time ran out", hook_cancelled("Stop", true)),
        (
            "an attachment that speaks of it",
            attachment(&format!(
                r#""type":"queued_command","prompt":"hook_cancelled Stop {words}""#
            )),
        ),
    ] {
        assert_eq!(tail_of(&[line]).unwrap().interrupted, None, "{name}");
    }
}

#[test]
fn an_interruption_before_the_mark_is_over() {
    let transcript = Transcript::of(&[interrupted()]).unwrap();
    let offset = transcript.len().unwrap();
    assert_eq!(transcript.tail_from(offset, 0).interrupted, None);
    transcript.add(&[human("go on")]).unwrap();
    assert_eq!(transcript.tail_from(offset, 0).interrupted, None);
}

#[test]
fn a_tool_call_counts_from_the_last_block_on() {
    let transcript =
        Transcript::of(&[human("x"), tool_use("Bash", "ls"), tool_result("a")]).unwrap();
    assert!(transcript.tail().tool_called_since_block);
    let block = transcript.len().unwrap();
    assert!(!transcript.tail_from(0, block).tool_called_since_block);
    transcript
        .add(&[assistant("still at it"), human("tool_use")])
        .unwrap();
    assert!(!transcript.tail_from(0, block).tool_called_since_block);
    let of_agent = tool_use("Bash", "ls").replace("\"isSidechain\":false", "\"isSidechain\":true");
    transcript
        .add(&[
            of_agent,
            assistant(r#"{"type":"tool_use"}"#),
            request_copy("tool_use"),
        ])
        .unwrap();
    assert!(
        !transcript.tail_from(0, block).tool_called_since_block,
        "only a call of the main agent counts"
    );
    transcript.add(&[tool_use("Agent", "look")]).unwrap();
    assert!(transcript.tail_from(0, block).tool_called_since_block);
    assert!(transcript.tail_from(block, block).tool_called_since_block);
}

#[test]
fn the_contract_and_the_pressure_last_until_a_compaction() {
    let reported = |event: &str| {
        let text = quoted(&format!("{CONTRACT_MARK}\nThe user turned on ultrawork"));
        attachment(&format!(
            r#""type":"hook_success","hookName":"{event}","hookEvent":"{event}","content":{text},"exitCode":0"#
        ))
    };
    let too_long = assistant("Prompt is too long")
        .replace("\"madeBy\"", "\"isApiErrorMessage\":true,\"madeBy\"");
    for (name, lines, holds, pressure) in [
        ("nothing", vec![human("x")], false, false),
        (
            "reported at a prompt",
            vec![reported("UserPromptSubmit")],
            true,
            false,
        ),
        (
            "reported at the start",
            vec![reported("SessionStart")],
            true,
            false,
        ),
        (
            "of another hook",
            vec![reported("PostToolUse")],
            false,
            false,
        ),
        (
            "compacted since",
            vec![reported("UserPromptSubmit"), too_long.clone(), compacted()],
            false,
            false,
        ),
        (
            "reported again since",
            vec![compacted(), reported("SessionStart")],
            true,
            false,
        ),
        (
            "quoted by a person",
            vec![human(CONTRACT_MARK)],
            false,
            false,
        ),
        (
            "shown by a tool",
            vec![tool_result(&reported("UserPromptSubmit"))],
            false,
            false,
        ),
        ("too long", vec![too_long.clone()], false, true),
        (
            "the model says so",
            vec![assistant("Prompt is too long")],
            false,
            false,
        ),
    ] {
        let known = read_conversation(&Transcript::of(&lines).unwrap().path());
        assert_eq!(
            (known.holds_contract, known.context_pressure),
            (holds, pressure),
            "{name}"
        );
    }
}

#[test]
fn the_model_has_spoken_once_it_says_or_does_something() {
    for (lines, spoken) in [
        (vec![human("x")], false),
        (vec![human("assistant"), request_copy("assistant")], false),
        (
            vec![assistant("x").replace("\"isSidechain\":false", "\"isSidechain\":true")],
            false,
        ),
        (vec![human("x"), assistant("y")], true),
        (vec![human("x"), tool_use("Bash", "ls")], true),
    ] {
        let transcript = Transcript::of(&lines).unwrap();
        let spoken_since = |offset| {
            model_has_spoken(
                &transcript.path(),
                TranscriptMark {
                    offset,
                    block_offset: 0,
                },
            )
        };
        assert_eq!(spoken_since(0), Some(spoken), "{lines:?}");
        assert_eq!(
            spoken_since(transcript.len().unwrap()),
            Some(false),
            "{lines:?}"
        );
    }
    assert_eq!(
        model_has_spoken(std::path::Path::new("/nowhere"), TranscriptMark::default()),
        None
    );
}

#[test]
fn the_last_text_is_the_main_agents_newest_one() {
    let spaced = assistant("spaced").replace("\":", "\": ");
    let of_agent = assistant("an agent's").replace("\"isSidechain\":false", "\"isSidechain\":true");
    for (lines, text) in [
        (vec![assistant("old"), assistant("new")], Some("new")),
        (
            vec![
                assistant("new"),
                tool_result("assistant"),
                human("assistant"),
            ],
            Some("new"),
        ),
        (
            vec![assistant("new"), of_agent, request_copy("assistant")],
            Some("new"),
        ),
        (vec![assistant("old"), spaced], Some("spaced")),
        (vec![human("x")], None),
    ] {
        let transcript = Transcript::of(&lines).unwrap();
        let found = last_assistant_text(&transcript.path(), TranscriptMark::default());
        assert_eq!(found.as_deref(), text, "{lines:?}");
    }
}

#[test]
fn a_call_made_before_the_last_block_does_not_count_however_late_it_was_written() {
    let made = Timestamp::parse(AT).unwrap();
    let later = Timestamp::from_millis(made.as_millis() + 1);
    let earlier = Timestamp::from_millis(made.as_millis() - 1);
    let transcript = Transcript::of(&[tool_use("Bash", "true")]).unwrap();
    let called_since = |block| {
        read_tail(&transcript.path(), TranscriptMark::default(), block).tool_called_since_block
    };
    assert!(!called_since(Some(later)));
    assert!(called_since(Some(made)), "in the block's own millisecond");
    assert!(called_since(Some(earlier)) && called_since(None));
}

#[test]
fn a_transcript_has_caught_up_when_it_holds_the_message_or_a_call() {
    let made = Timestamp::parse(AT).unwrap();
    let (before, mark) = (
        Some(Timestamp::from_millis(made.as_millis() - 1)),
        TranscriptMark::default(),
    );
    let after = Some(Timestamp::from_millis(made.as_millis() + 1));
    let caught_up = |lines: &[String], block| {
        let transcript = Transcript::of(lines).unwrap();
        has_caught_up(&transcript.path(), mark, block, "Not yet.")
    };
    let said = texts(&[assistant("Not yet.")]);
    assert!(caught_up(&said, before));
    assert!(
        !caught_up(&said, after),
        "the same words were said before the block"
    );
    assert!(!caught_up(&texts(&[assistant("Something else.")]), before));
    assert!(caught_up(&texts(&[tool_use("Bash", "true")]), before));
    assert!(
        has_caught_up(Path::new("/nowhere/at/all.jsonl"), mark, before, "x"),
        "nothing will ever come"
    );
}
