//! The kit against the real client. `cargo xtask test` installs it.
#![cfg(unix)]

use std::time::Duration;

use omo_testkit::model::RequestKind;
use omo_testkit::{Client, Lab, MockModel, ModelScript, ModelTurn, Terminal};

/// A plugin with the command `/kit:greet`.
fn greeting_plugin() -> std::io::Result<tempfile::TempDir> {
    let plugin = tempfile::tempdir()?;
    let write = |path: &str, text: &str| {
        let path = plugin.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, text)
    };
    write(
        ".claude-plugin/plugin.json",
        r#"{"name": "kit", "version": "0.0.1", "description": "for a test"}"#,
    )?;
    write(
        "commands/greet.md",
        "---\ndescription: greet\n---\nGREETING for $ARGUMENTS\n",
    )?;
    Ok(plugin)
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn answers_one_prompt() {
    let client = Client::find().unwrap();
    let script = ModelScript::new()
        .bash("echo from-the-tool")
        .say("All done.");
    let model = MockModel::start(script).unwrap();
    let lab = Lab::builder()
        .model(&model)
        .folder("a b ü")
        .build()
        .unwrap();

    let run = client.print(&lab, "do it", &[]).unwrap();

    assert!(run.status.success(), "{run:?}");
    assert!(!run.is_error(), "{run:?}");
    assert_eq!(run.result(), Some("All done."));
    assert_eq!(run.num_turns(), Some(2));
    let requests = model.requests_of(RequestKind::Main);
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].count_of("do it"), 1);
    assert!(requests[1].last_user_text().contains("from-the-tool"));
    assert_eq!(model.unscripted(), 0);
    assert_eq!(lab.transcripts().len(), 1);
    assert!(!lab.transcript_lines().unwrap().is_empty());
    assert_eq!(lab.state(), None);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn resumes_a_session_and_shows_errors() {
    let client = Client::find().unwrap();
    let refused = ModelTurn::error(400, "invalid_request_error", "no such thing");
    // The client asks again without some of its own additions before it gives up.
    let model = MockModel::start(ModelScript::new().say("Answer-1.").default(refused)).unwrap();
    let lab = Lab::new(&model).unwrap();

    let first = client.print(&lab, "first", &[]).unwrap();
    let session = first.session_id().unwrap().to_owned();
    let second = client
        .print(&lab, "second", &["--resume", &session])
        .unwrap();

    assert_eq!(second.session_id(), Some(session.as_str()));
    assert!(second.is_error());
    assert_eq!(second.status.code(), Some(1));
    assert_eq!(
        model.requests_of(RequestKind::Main)[1].count_of("Answer-1."),
        1
    );
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn talks_in_a_terminal() {
    let client = Client::find().unwrap();
    let slow = ModelTurn::text("First paragraph.\n\nSecond paragraph.\n\nThird paragraph.")
        .stream_chunks(50, Duration::from_millis(200));
    let script = ModelScript::new()
        .say("Hello to you.")
        .say("The command came.")
        .turn(slow);
    let model = MockModel::start(script).unwrap();
    let plugin = greeting_plugin().unwrap();
    // Without its animations the client shows no answer before its end.
    let lab = Lab::builder()
        .model(&model)
        .folder("a b ü")
        .plugin(plugin.path());
    let lab = lab
        .settings(serde_json::json!({"prefersReducedMotion": false}))
        .build()
        .unwrap();

    let terminal = Terminal::start(&lab, &client, &[]).unwrap();
    terminal.ready().unwrap();
    terminal.say("hello").unwrap();
    terminal.wait_for("Hello to you.").unwrap();
    // Longer than a line of the terminal.
    terminal.type_text(&"left in the box ".repeat(12)).unwrap();
    terminal.say("/kit:greet two words").unwrap();
    terminal.wait_for("The command came.").unwrap();
    assert_eq!(
        model.requests_of(RequestKind::Main)[1].count_of("GREETING for two words"),
        1
    );

    terminal.say("go on").unwrap();
    terminal.wait_for("First paragraph.").unwrap();
    terminal.key("Escape").unwrap();
    let screen = terminal.wait_for("Interrupted").unwrap();
    assert!(!screen.contains("Third paragraph."), "{screen}");

    terminal.quit().unwrap();
    assert!(matches!(terminal.exit_status(), None | Some(0)));
    assert_eq!(model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn queues_a_command_typed_while_a_turn_runs() {
    let client = Client::find().unwrap();
    let script = ModelScript::new()
        .turn(ModelTurn::text("Slow start.").delay(Duration::from_secs(4)))
        .say("The command came.");
    let model = MockModel::start(script).unwrap();
    let plugin = greeting_plugin().unwrap();
    let lab = Lab::builder()
        .model(&model)
        .plugin(plugin.path())
        .build()
        .unwrap();

    let terminal = Terminal::start(&lab, &client, &[]).unwrap();
    terminal.ready().unwrap();
    terminal.say("go").unwrap();
    model.wait_for_requests(RequestKind::Main, 1).unwrap();
    terminal.say("/kit:greet later").unwrap();
    terminal.wait_for("Queued").unwrap();
    terminal.wait_for("The command came.").unwrap();

    // The client writes its transcript a little behind the screen.
    terminal
        .wait_until("the command to leave the queue in the transcript", |_| {
            let lines = lab.transcript_lines().unwrap();
            lines
                .iter()
                .filter_map(|line| line.get("operation")?.as_str())
                .eq(["enqueue", "dequeue"])
        })
        .unwrap();
    assert_eq!(model.unscripted(), 0);
}
