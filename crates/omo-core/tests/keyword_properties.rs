//! The invariants of the keyword's detector.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use proptest::prelude::*;
use regex::Regex;

/// The boundary rule as a pattern; the scan is written by hand because `regex` costs more than
/// the rest of the hook.
fn boundary_rule() -> Regex {
    let latin = r"\p{Latin}\u{300}-\u{36f}\p{N}";
    let before = format!(r"(?:^|[^{latin}_\-/\\@#$=&.:])");
    let after = format!(r"(?:$|[.:](?:$|[^{latin}:])|[^{latin}_\-/\\@#$=&.:])");
    let keyword = "(?i-u:ulw|ultrawork)";
    Regex::new(&format!(
        "{before}(?:_{keyword}_|{keyword}(?:/{keyword})*){after}"
    ))
    .unwrap()
}

fn is_ignored(prompt: &str) -> bool {
    read_prompt(prompt, &Keywords::default()) == PromptReading::Nothing
}

fn activates(prompt: &str) -> bool {
    read_prompt(prompt, &Keywords::default()).turns_on()
}

fn activating() -> impl Strategy<Value = String> {
    let before = prop_oneof![
        Just(""),
        Just("please "),
        Just("fix the build. "),
        Just("이거 ")
    ];
    let after = prop_oneof![
        Just(""),
        Just(" fix the build"),
        Just(": do it"),
        Just("로 해줘"),
        Just("で直して")
    ];
    (before, prop_oneof![Just("ulw"), Just("Ultrawork")], after)
        .prop_map(|(a, b, c)| format!("{a}{b}{c}"))
}

/// Every neighbour on both sides, and what follows the right one. Letters stand only where they make a longer name: as
/// words of their own the rules of a language read them.
#[test]
fn the_scan_is_the_boundary_rule() {
    let rule = boundary_rule();
    let marks = [
        "", "-", "/", "\\", "#", "$", "&", ".", ":", "_", "\u{301}", "é", "z", "0",
    ];
    let beyond = ["", " ", ".", ":", "z", "0", "é"];
    for before in marks {
        for after in marks {
            for beyond in beyond {
                let prompt = format!("x, {before}ulw{after}{beyond}");
                assert_eq!(activates(&prompt), rule.is_match(&prompt), "{prompt}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_panics(prompt in any::<String>(), marks in "[ulw`~<>\"'«»„“”\\[\\]()|+\\-/:@$ \n.?!]{0,80}") {
        for text in [format!("{prompt}ulw{marks}"), format!("{marks} ulw {prompt}"), prompt] {
            read_prompt(&text, &Keywords::default());
        }
    }

    #[test]
    fn wrapping_takes_an_instruction_away(prompt in activating(), fence in 3..7_usize) {
        prop_assert!(activates(&prompt), "{}", prompt);
        let (ticks, tildes) = ("`".repeat(fence), "~".repeat(fence));
        for wrapped in [
            format!("{ticks}\n{prompt}\n{ticks}"), format!("{tildes}text\n{prompt}\n{tildes}"), format!("{ticks}\n{prompt}"),
            format!("`{prompt}`"), format!("> {prompt}"), format!("<note>{prompt}</note>"), format!("<!-- {prompt} -->"),
            format!("\"{prompt}\""), format!("«{prompt}»"), format!("| {prompt} |"), format!("$ {prompt}"), format!("User: {prompt}"),
            format!("<system-reminder>{prompt}</system-reminder>"), format!("<ultrawork-mode>{prompt}</ultrawork-mode>"),
            format!("<task-notification>{prompt}"), format!("Stop hook feedback:\n{prompt}"), format!("/other:cmd {prompt}"),
        ] {
            prop_assert!(is_ignored(&wrapped), "{}", wrapped);
        }
    }
}
