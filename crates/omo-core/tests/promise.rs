//! Claims of final messages, as tables, and the invariants of the detector.

use omo_core::promise::{Claim, final_promise, read_claim};
use proptest::prelude::*;

const DONE: &str = "<promise>DONE</promise>";

#[test]
fn a_promise_at_the_end_counts() {
    for before in [
        "",
        "\n\n",
        "All done. ",
        "All done! ",
        "모두 끝났습니다. ",
        "完了しました。",
        "全部完成！",
        "All done ✅ ",
        "Is it done? Yes. ",
        "(All of it.) ",
        "**All done.** ",
        "I can't believe it's done.\n",
        "5\" screens work.\n",
        "`cargo test` is green.\n",
        "```\nok\n```\n",
        "> asked\n\n",
        "<!-- note -->\n",
        "The `<!--` in the page is closed now.\n",
        "It said \"not yet\" before.\n",
        "Example: `<promise>DONE</promise>`.\n",
        "**",
        "a `lone backtick\n",
        "\r\n",
        "# Report\n\n",
        "| a |\n|---|\n| b |\n\n",
        "Released v1.2. ",
    ] {
        for after in ["", "\n", "  \n\n", "\r\n", "**", "\n<!-- end -->"] {
            let text = format!("{before}{DONE}{after}");
            assert_eq!(final_promise(&text), Some("DONE"), "{text:?}");
        }
    }
}

#[test]
fn a_promise_that_is_only_talked_about_does_not_count() {
    for text in [
        "I will say <promise>DONE</promise>",
        "I cannot say: <promise>DONE</promise>",
        "Not yet <promise>DONE</promise>",
        "Almost... <promise>DONE</promise>",
        "e.g. <promise>DONE</promise>",
        "1. <promise>DONE</promise>",
        "- <promise>DONE</promise>",
        "`<promise>DONE</promise>`",
        "``<promise>DONE</promise>``",
        "\"<promise>DONE</promise>\"",
        "'<promise>DONE</promise>'",
        "“<promise>DONE</promise>”",
        "「<promise>DONE</promise>」",
        "«<promise>DONE</promise>»",
        "> <promise>DONE</promise>",
        "<!-- <promise>DONE</promise> -->",
        "```\n<promise>DONE</promise>",
        "````\n```\n<promise>DONE</promise>\n```\n````",
        "~~~\n<promise>DONE</promise>\n~~~",
        "<promise>DONE</promise>.",
        "<promise>DONE</promise> is what I would say",
        "<promise>DONE",
        "DONE</promise>",
        "<promise>DONE</promise>\n\nNext: tests.",
        "<promise>DONE</promise> \"quoted\"",
        "~~<promise>DONE</promise>~~",
        "아직 <promise>DONE</promise>",
        "まだ <promise>DONE</promise>",
    ] {
        assert_eq!(final_promise(text), None, "{text:?}");
    }
}

#[test]
fn claims_are_distinguished() {
    let blocked = |reason: &str| {
        Some(Claim::Blocked {
            reason: reason.to_owned(),
        })
    };
    for (inside, expected) in [
        ("DONE", Some(Claim::Done)),
        ("\n DONE \n", Some(Claim::Done)),
        ("BLOCKED: no network", blocked("no network")),
        ("BLOCKED:no network ", blocked("no network")),
        ("BLOCKED", blocked("")),
        ("BLOCKED:", blocked("")),
        ("BLOCKED: the `x` of \"y\"", blocked("the `x` of \"y\"")),
        ("BLOCKED： 네트워크 없음", blocked("네트워크 없음")),
        ("BLOCKEDish", None),
        ("UNBLOCKED", None),
        ("done", None),
        ("VERIFIED", None),
        ("NOT DONE", None),
        ("", None),
    ] {
        assert_eq!(
            read_claim(&format!("It is so.\n<promise>{inside}</promise>")),
            expected,
            "{inside:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_panics(text in any::<String>(), marks in "[`~<>\"'«»„“”! \n\\-a]{0,60}") {
        for text in [format!("{marks}{DONE}{text}"), format!("{text}{DONE}{marks}"), text] {
            read_claim(&text);
        }
    }

    #[test]
    fn in_code_it_never_counts(before in "[a-z .\n]{0,40}", ticks in 3..7_usize) {
        let fence = "`".repeat(ticks);
        for text in [format!("{before}\n{fence}\n{DONE}\n{fence}"), format!("{before}\n{fence}\n{DONE}"), format!("{before}`{DONE}`")] {
            prop_assert_eq!(final_promise(&text), None, "{}", text);
        }
    }

    #[test]
    fn with_words_after_it_it_never_counts(before in "[a-z .\n]{0,40}", gap in "[ \n]{0,3}", after in "[a-z.,;:(][a-z ]{0,20}") {
        let text = format!("{before}\n{DONE}{gap}{after}");
        prop_assert_eq!(final_promise(&text), None, "{}", text);
    }
}
