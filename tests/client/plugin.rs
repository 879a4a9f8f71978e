//! The plugin as the client takes it: valid, loaded whole, each hook run once, and harmless when
//! a part of it is missing.

use std::fs;
use std::path::Path;

use omo_testkit::model::RequestKind;
use omo_testkit::{Lab, MockModel, ModelScript};
use omo_tests::scene::copy;
use serde_json::Value;

use crate::client_lab::{CLAIM, client, client_lab, plugin};

/// Characters that the plugin may add to the first request of a session that does not use it.
const UNUSED_CHARS: usize = 300;

#[test]
fn the_client_finds_nothing_wrong_with_it() {
    let fixture = client_lab(ModelScript::new());
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in [repository.as_path(), &plugin()] {
        for profile in [&[][..], &["--profile", "directory"]] {
            let mut arguments = vec!["plugin", "validate", "--strict"];
            arguments.extend(profile);
            let folder = folder.to_string_lossy();
            arguments.push(&folder);
            let run = fixture.client.run(&fixture.lab, &arguments).unwrap();
            assert!(run.status.success(), "{arguments:?}: {run:?}");
        }
    }
}

#[test]
fn each_hook_runs_once() {
    let fixture = client_lab(ModelScript::new().say("Not yet.").bash("true").say(CLAIM));
    let run = fixture.client.run(
        &fixture.lab,
        [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "bypassPermissions",
            "--plugin-dir",
            &plugin().to_string_lossy(),
            "--",
            "ulw fix it",
        ],
    );
    let run = run.unwrap();
    let first: Value = run
        .stdout
        .lines()
        .find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            (line["subtype"] == "init").then_some(line)
        })
        .unwrap();
    assert!(
        first["plugin_errors"].as_array().is_none_or(Vec::is_empty),
        "{first}"
    );
    let decisions = fixture.lab.decisions().unwrap();
    let events: Vec<&str> = decisions
        .iter()
        .filter_map(|entry| entry["event"].as_str())
        .collect();
    assert_eq!(events, ["UserPromptSubmit", "Stop", "Stop"]);
    assert_eq!(fixture.count(0, "CLAUDE_SESSION_ID: "), 1);
}

#[test]
fn a_missing_binary_harms_nothing() {
    let client = client();
    let temp = tempfile::tempdir().unwrap();
    let broken = temp.path().join("plugin");
    copy(&plugin(), &broken).unwrap();
    for binary in ["omo-user-prompt-submit", "omo-stop"] {
        fs::remove_file(broken.join("bin").join(binary)).unwrap();
    }
    let model = MockModel::start(ModelScript::new().say("An answer.")).unwrap();
    let lab = Lab::builder()
        .model(&model)
        .plugin(&broken)
        .build()
        .unwrap();
    let run = client.print(&lab, "ulw fix the parser", &[]).unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_eq!(run.result(), Some("An answer."));
    assert_eq!(lab.state(), None);
}

/// Characters of every text in the first request of a session that never used omo.
fn first_request_chars(with_plugin: bool) -> usize {
    let model = MockModel::start(ModelScript::new().say("An answer.")).unwrap();
    let lab = Lab::builder().model(&model);
    let lab = if with_plugin {
        lab.plugin(plugin())
    } else {
        lab
    }
    .build()
    .unwrap();
    let run = client()
        .print(&lab, "what does the parser do?", &[])
        .unwrap();
    assert_eq!(run.result(), Some("An answer."));
    let requests = model.requests_of(RequestKind::Main);
    let body = &requests.first().unwrap().body;
    assert_eq!(body.to_string().contains("CLAUDE_SESSION_ID"), with_plugin);
    ["system", "messages", "tools"]
        .iter()
        .map(|part| text_chars(&body[part]))
        .sum()
}

fn text_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(values) => values.iter().map(text_chars).sum(),
        Value::Object(fields) => fields.values().map(text_chars).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[test]
fn a_session_that_does_not_use_it_sends_next_to_nothing_of_it() {
    let (without, with) = (first_request_chars(false), first_request_chars(true));
    let added = with.saturating_sub(without);
    assert!(
        (1..=UNUSED_CHARS).contains(&added),
        "the plugin adds {added} characters"
    );
}
