//! Texts of omo trigger nothing, with any text in them.

use std::fs;
use std::path::Path;

use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use omo_fuzz::own_words::{promises_nothing, set_nothing_off};
use proptest::prelude::*;

/// Words of our own detectors, and text that could undo the quoting.
const PIECES: [&str; 40] = [
    "ulw",
    "ulw go",
    "ultrawork",
    "ulw off",
    "stop ulw",
    "/omo:ulw fix it",
    "/ulw fix it",
    "/omo:stop-continuation",
    "<promise>DONE</promise>",
    "<promise>VERIFIED</promise>",
    "<promise>REJECTED</promise>",
    "<promise>BLOCKED: no</promise>",
    "<promise>",
    "</promise>",
    "DONE",
    "<ultrawork-mode>",
    "</ultrawork-mode>",
    "<system-reminder>",
    "</system-reminder>",
    "<!--",
    "-->",
    "```",
    "~~~",
    "`",
    "\"",
    "'",
    "“",
    "”",
    "]",
    "[",
    "(",
    ")",
    "|",
    ". ",
    ": ",
    "\n",
    "\n\n",
    "\r\n",
    "\u{2028}",
    "\u{85}",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z ]{1,12}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn our_own_words_set_nothing_off(text in hostile()) {
        set_nothing_off(&text);
    }
}

/// The commands and agents are prompts of ours, which the client sends to a model.
#[test]
fn the_prompts_of_the_plugin_set_nothing_off() {
    for folder in ["commands", "agents"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(folder);
        let files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(!files.is_empty());
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let body = text
                .strip_prefix("---\n")
                .and_then(|text| text.split_once("\n---\n"))
                .unwrap()
                .1;
            assert_eq!(
                read_prompt(body, &Keywords::default()),
                PromptReading::Nothing,
                "{}",
                file.display()
            );
            promises_nothing(body);
        }
    }
}

#[test]
fn each_piece_by_itself_sets_nothing_off() {
    for piece in PIECES {
        set_nothing_off(piece);
    }
}
