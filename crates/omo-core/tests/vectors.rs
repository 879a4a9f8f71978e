//! Plays files of shared vectors: every `must` holds, and 19 of 20 `should`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail as a test does"
)]

use omo_core::keyword::short_request::ShortRequest;
use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use omo_core::promise::final_promise;
use serde_json::Value;

/// Plays each row of a file; `outcome` gives what came out, and whether that is right.
fn play_vectors<T: std::fmt::Debug>(file: &str, outcome: impl Fn(&Row<'_>) -> (T, bool)) {
    let file: Value = serde_json::from_str(file).unwrap();
    let rows: Vec<Row> = file["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .map(Row)
        .collect();
    let missed = |tier: &str| {
        let of_tier = rows.iter().filter(|row| row.text("tier") == tier);
        let played = of_tier.map(|row| (row.text("id"), row.text("expect"), outcome(row)));
        played.filter(|(.., (_, right))| !right).collect::<Vec<_>>()
    };
    let (must, should) = (missed("must"), missed("should"));
    let all = rows
        .iter()
        .filter(|row| row.text("tier") == "should")
        .count();
    assert!(must.is_empty(), "{must:#?}");
    assert!(should.len() * 20 <= all, "of {all}: {should:#?}");
}

/// One vector.
struct Row<'a>(&'a Value);

impl Row<'_> {
    /// A field that holds a text.
    fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap()
    }
}

/// `true` where a prompt was read as its vector says.
fn is_read_as(expected: &str, reading: &PromptReading) -> bool {
    match expected {
        "activate" => reading.turns_on(),
        // The localised aliases are off unless the user names them.
        "ignore" | "activate-if-alias-enabled" => {
            matches!(
                reading,
                PromptReading::Nothing
                    | PromptReading::Short(ShortRequest::Help | ShortRequest::Status)
            )
        }
        "command" | "cancel" => matches!(reading, PromptReading::Command { .. }),
        "cancel-or-ignore" => matches!(reading, PromptReading::Off { .. } | PromptReading::Nothing),
        "either" => true,
        other => panic!("unknown expectation {other}"),
    }
}

#[test]
fn prompts_are_read_as_the_vectors_say() {
    play_vectors(include_str!("vectors/keyword.json"), |row| {
        let keywords = Keywords::default();
        let reading = read_prompt(row.text("prompt"), &keywords);
        (
            format!("{reading:?}"),
            is_read_as(row.text("expect"), &reading),
        )
    });
}

#[test]
fn promises_are_accepted_as_the_vectors_say() {
    play_vectors(include_str!("vectors/promise.json"), |row| {
        let promise = final_promise(row.text("final_assistant_text"));
        let accepted = promise == Some(row.text("promise"));
        let right = match row.text("expect") {
            "accept" => accepted,
            "reject" => !accepted,
            "either" => true,
            other => panic!("unknown expectation {other}"),
        };
        (accepted, right)
    });
}
