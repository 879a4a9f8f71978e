//! Unknown members survive in the state file, in any place and form.

use omo_fuzz::state_file;
use omo_state::state::document::StateDocument;
use proptest::prelude::*;

/// Values in other writers' forms: with blanks, odd numbers, escapes and names that mean something elsewhere.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "null",
            "true",
            "1",
            "-0",
            "2.50",
            "1e2",
            "18446744073709551616",
            "[ ]",
            "{ }"
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec![
            r#""""#,
            r#""\u00e9\/""#,
            r#""\ud800""#,
            r#""\"mine\":{}""#,
            r#""é한""#
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3)
            .prop_map(|list| format!("[ {} ]", list.join(" ,")));
        prop_oneof![list, unknown(inner).prop_map(|members| object(&members))]
    })
}

fn unknown(value: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    let name = prop::sample::select(vec![
        "later",
        "by",
        "",
        "é",
        "a b",
        "x\\\"y",
        "\\u006dine",
        "Ulw",
    ]);
    let member = (name, value, any::<bool>()).prop_map(|(name, value, wide)| {
        if wide {
            format!("\"{name}\" : {value} ")
        } else {
            format!("\"{name}\":{value}")
        }
    });
    prop::collection::vec(member, 0..3)
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

/// A member of ours with unknown ones in it.
fn ours(name: &'static str, known: &'static str) -> impl Strategy<Value = String> {
    unknown(value()).prop_map(move |mut members| {
        members.extend((!known.is_empty()).then(|| known.to_owned()));
        format!("\"{name}\":{}", object(&members))
    })
}

fn entry() -> impl Strategy<Value = String> {
    let known = (
        ours("ulw", r#""enabled":true, "stopBlocks" : 2"#),
        ours("verification", r#""phase":"review""#),
        ours("limits", r#""maxBlocks":3"#),
        ours("stopContinuation", ""),
        ours("lastSeen", r#""Stop":"2026-01-01T00:00:00Z""#),
        prop::sample::select(vec![
            "2026-01-01T00:00:00Z",
            "2026-05-28T20:26:40.5+14:00",
            "2099-01-01T00:00:00Z",
        ]),
    );
    (known, unknown(value()), any::<bool>()).prop_map(
        |((a, b, c, d, e, at), mut members, unknown_first)| {
            let known = [a, b, c, d, e, format!("\"updatedAt\" : \"{at}\"")];
            let place = if unknown_first { members.len() } else { 0 };
            members.splice(place..place, known);
            object(&members)
        },
    )
}

fn file() -> impl Strategy<Value = String> {
    let sessions = prop::collection::vec(prop_oneof![4 => entry(), 1 => value()], 0..4);
    (
        sessions,
        unknown(value()),
        prop::sample::select(vec!["", "\"version\": 1"]),
    )
        .prop_map(|(entries, mut top, version)| {
            let sessions = entries
                .iter()
                .enumerate()
                .map(|(index, entry)| format!("\"session-{index}\" :\r\n{entry}"));
            let sessions: Vec<String> = sessions.collect();
            top.extend((!version.is_empty()).then(|| version.to_owned()));
            top.push(format!("\"sessions\":{}", object(&sessions)));
            object(&top)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_not_known_survives(text in file()) {
        prop_assert!(StateDocument::parse(text.as_bytes()).is_ok(), "{}", text);
        state_file::check(text.as_bytes());
    }
}
