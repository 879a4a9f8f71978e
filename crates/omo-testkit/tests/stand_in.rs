//! The stand-in for the client, with a plugin of shell scripts.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use omo_testkit::stand_in::{HookAnswer, StopInput, background_agent, notification};
use omo_testkit::{Lab, StandIn};
use serde_json::{Value, json};

/// Writes a plugin whose handler of each event is a shell script.
fn plugin(folder: &Path, scripts: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut hooks = serde_json::Map::new();
    fs::create_dir_all(folder.join("hooks"))?;
    fs::create_dir_all(folder.join("bin"))?;
    for (event, script) in scripts {
        let path = folder.join("bin").join(event);
        fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        let command = format!("${{CLAUDE_PLUGIN_ROOT}}/bin/{event}");
        let handler = json!({"type": "command", "command": command, "args": []});
        hooks.insert((*event).to_owned(), json!([{"hooks": [handler]}]));
    }
    let text = json!({"hooks": hooks}).to_string();
    fs::write(folder.join("hooks/hooks.json"), text)?;
    Ok(())
}

#[test]
fn fires_with_the_clients_fields_and_variables() {
    let lab = Lab::builder().folder("a b ü").build().unwrap();
    let folder = lab.root().join("my plugin");
    let dump =
        r#"cat; echo "$CLAUDE_CODE_SESSION_ID|$CLAUDE_PLUGIN_ROOT|$CLAUDE_PROJECT_DIR|$PWD" >&2"#;
    plugin(&folder, &[("Stop", dump), ("SessionStart", dump)]).unwrap();
    let mut session = StandIn::with_session(&lab, &folder, "s-1").unwrap();

    let run = session
        .stop_with(&StopInput::new("done").background(background_agent("omo:worker")))
        .unwrap();

    let project = lab.project().display();
    assert_eq!(
        run.stderr,
        format!("s-1|{}|{project}|{project}\n", folder.display())
    );
    let input: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        run.stdout
            .starts_with(r#"{"session_id":"s-1","transcript_path":"#)
    );
    assert!(run.stdout.ends_with("}\n"));
    assert_eq!(input["hook_event_name"], "Stop");
    assert_eq!(input["stop_hook_active"], false);
    assert_eq!(input["background_tasks"][0]["agent_type"], "omo:worker");

    let run = session.session_start("resume").unwrap();
    let input: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(input["source"], "resume");
    assert_eq!(input.get("prompt_id"), None);
    assert!(session.prompt("x").is_err(), "there is no such handler");
}

#[test]
fn keeps_the_transcript_as_the_client_does() {
    let lab = Lab::builder().without_git().build().unwrap();
    let folder = lab.root().join("plugin");
    let block = r#"echo '{"decision":"block","reason":"go on"}'"#;
    let submit = r#"grep -q '"prompt":"/omo:off"' && echo '{"decision":"block","reason":"off"}' || echo "plain words""#;
    plugin(&folder, &[("Stop", block), ("UserPromptSubmit", submit)]).unwrap();
    let mut session = StandIn::new(&lab, &folder).unwrap();

    let run = session.prompt("hello").unwrap();
    assert_eq!(
        run.answer().unwrap(),
        HookAnswer::PlainText("plain words".into())
    );
    let stopped = session.stop("first words").unwrap();
    assert_eq!(stopped.answer().unwrap().reason(), Some("go on"));
    assert!(
        session
            .prompt("/omo:off")
            .unwrap()
            .answer()
            .unwrap()
            .blocks()
    );
    assert!(
        session
            .prompt_while_running("/omo:status")
            .unwrap()
            .is_none()
    );
    assert!(session.prompt_while_running("more").unwrap().is_some());
    let transcript = session.transcript();
    let call = transcript
        .tool_use("Bash", &json!({"command": "ls"}))
        .unwrap();
    transcript.interrupted_in_tool(&call).unwrap();
    transcript.hook_cancelled("Stop").unwrap();
    transcript.enqueue(&notification("<b>")).unwrap();

    let lines = lab.transcript_lines().unwrap();
    let kind = |line: &Value| {
        let inner = line.pointer("/attachment/type").or(line.get("operation"));
        inner
            .or(line.get("type"))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let kinds: Vec<_> = lines.iter().filter_map(kind).collect();
    assert_eq!(
        kinds,
        [
            "user",
            "assistant",
            "user",
            "hook_blocking_error",
            "system",
            "enqueue",
            "enqueue",
            "assistant",
            "user",
            "user",
            "hook_cancelled",
            "enqueue"
        ]
    );
    assert_eq!(lines[0]["origin"]["kind"], "human");
    assert_eq!(lines[1]["parentUuid"], lines[0]["uuid"]);
    let text = fs::read_to_string(session.transcript().path()).unwrap();
    assert!(
        text.contains("\n{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"")
    );
    assert!(text.contains("&lt;b&gt;"));
}

#[test]
fn reads_answers_as_the_client_does() {
    let lab = Lab::builder().without_git().build().unwrap();
    let folder = lab.root().join("plugin");
    let scripts = [
        ("Stop", "sleep 30"),
        ("SessionEnd", "exit 0"),
        ("SessionStart", "echo words; exit 1"),
        ("PreCompact", "echo '{\"a\"'"),
    ];
    plugin(&folder, &scripts).unwrap();
    let mut session = StandIn::new(&lab, &folder)
        .unwrap()
        .with_limit(Duration::from_millis(300));

    let late = session.stop("x").unwrap();
    assert!(late.timed_out);
    assert_eq!(late.answer().unwrap(), HookAnswer::Nothing);
    assert!(session.session_end("other").unwrap().is_silent());
    let failed = session.session_start("startup").unwrap();
    assert_eq!(failed.answer().unwrap(), HookAnswer::Nothing);
    assert!(session.pre_compact("auto").unwrap().answer().is_err());
}
