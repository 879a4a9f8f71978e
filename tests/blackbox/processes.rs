//! Hooks as processes of their own: many at once, killed in the middle, and with a stdin that does
//! not behave.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use omo_testkit::StandIn;
use omo_testkit::stand_in::Answer;
use serde_json::{Value, json};

use crate::stage::{Scene, ago, plugin, sound};

/// Longer than any hook may take, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(20);

/// One Stop of each session, all started before any is waited for.
pub fn at_once(sessions: &[StandIn], scene: &Scene) -> Result<Vec<Answer>> {
    let fields = scene.stop_fields(&json!({}));
    let threads: Vec<_> = sessions
        .iter()
        .cloned()
        .map(|session| {
            let fields = fields.clone();
            thread::spawn(move || sound(&session.fire("Stop", &fields)?))
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread is gone"))?).collect()
}

/// A process that holds the lock of the state until it is killed.
pub fn hold_the_lock(scene: &Scene) -> Result<Child> {
    let script = "exec 9<>\"$0\" && flock -n 9 && echo held && exec sleep 60";
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(scene.lab.state_folder().join("runtime.lock"));
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut line)?;
    ensure!(line == "held\n", "the lock could not be had with `flock`");
    Ok(child)
}

/// The command of one hook, with the variables that a hook needs.
fn hook(scene: &Scene, name: &str) -> Command {
    let mut command = scene.lab.command(scene.plugin.join("bin").join(name));
    command.env("CLAUDE_PROJECT_DIR", scene.lab.project());
    command
}

/// Feeds a hook by hand; gives what it printed, and how long it took. Stdin stays open until
/// after that.
fn fed(mut command: Command, feed: impl FnOnce(&mut ChildStdin) + Send + 'static) -> Result<(String, Duration)> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    let mut stdout = child.stdout.take().context("no stdout")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        sender.send(read.map(|_| text)).ok();
    });
    let (done, ended) = mpsc::channel::<()>();
    thread::spawn(move || {
        feed(&mut stdin);
        // The end that a client forgets: it comes with the end of the test.
        ended.recv().ok();
        drop(stdin);
    });
    let text = receiver.recv_timeout(LIMIT);
    if text.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let took = start.elapsed();
    done.send(()).ok();
    let text = text.context("the hook never ended")??;
    ensure!(status.success(), "{status}");
    Ok((text, took))
}

/// What a process prints that reads `input` to its end.
pub fn output_of(mut command: Command, input: &str) -> Result<std::process::Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no stdin")?.write_all(input.as_bytes())?;
    Ok(child.wait_with_output()?)
}

fn is_block(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value["decision"] == "block")
}

#[test]
fn an_input_is_answered_while_stdin_stays_open_however_it_comes() {
    let Some(plugin) = plugin() else { return };
    let pieces: [(&str, usize, usize); 4] = [
        ("whole", usize::MAX, 0),
        ("a byte at a time", 1, 0),
        ("in chunks of 64 KiB", 65_536, 3_000_000),
        ("in odd pieces", 4_097, 100_000),
    ];
    for (name, size, filler) in pieces {
        let mut scene = Scene::new(&plugin).unwrap();
        scene.arm().unwrap();
        let input = scene.stop_input(&json!({"last_assistant_message": "x}]\"\\ ".repeat(filler / 6)})).unwrap();
        let (text, _) = fed(hook(&scene, "omo-stop"), move |stdin| {
            for piece in input.as_bytes().chunks(size.min(input.len())) {
                stdin.write_all(piece).ok();
                stdin.flush().ok();
            }
        })
        .unwrap();
        assert!(is_block(&text), "{name}: {text:?}");
        assert_eq!(scene.count().unwrap(), 1, "{name}");
    }
}

#[test]
fn an_input_that_never_becomes_one_is_given_up_in_silence() {
    let Some(plugin) = plugin() else { return };
    let endless: [(&str, &[u8], &[u8]); 5] = [
        ("nothing at all", b"", b""),
        ("half an object", b"{\"session_id\":\"a\",", b""),
        ("garbage without end", b"", b"garbage without end \x00\xff"),
        ("an open text without end", b"{\"prompt\":\"", b"ulw ulw ulw ulw"),
        ("depth without end", b"", b"[[[[{\"a\":[[[["),
    ];
    for binary in ["omo-stop", "omo-user-prompt-submit", "omo-session-start"] {
        for (name, head, rest) in endless {
            let mut scene = Scene::new(&plugin).unwrap();
            scene.arm().unwrap();
            let before = fs::read(scene.state_file()).unwrap();
            let (text, took) = fed(hook(&scene, binary), move |stdin| {
                let chunk = rest.repeat(4_000);
                let mut alive = stdin.write_all(head).is_ok();
                while alive && !chunk.is_empty() {
                    alive = stdin.write_all(&chunk).is_ok();
                }
            })
            .unwrap();
            assert_eq!(text, "", "{binary}: {name}");
            assert!(took < Duration::from_secs(5), "{binary}: {name} took {took:?}");
            assert_eq!(fs::read(scene.state_file()).unwrap(), before, "{binary}: {name}");
        }
    }
}

#[test]
fn a_closed_stdin_and_one_from_nothing_are_silence() {
    let Some(plugin) = plugin() else { return };
    let scene = Scene::new(&plugin).unwrap();
    for binary in [
        "omo-stop",
        "omo-user-prompt-submit",
        "omo-session-start",
        "omo-session-end",
        "omo-stop-failure",
        "omo-subagent-stop",
    ] {
        let from_nothing = hook(&scene, binary).stdin(Stdio::null()).output().unwrap();
        let closed = Command::new("sh")
            .args(["-c", "exec \"$0\" <&-"])
            .arg(scene.plugin.join("bin").join(binary))
            .current_dir(scene.lab.project())
            .env_clear()
            .output()
            .unwrap();
        for output in [from_nothing, closed] {
            assert!(output.status.success(), "{binary}: {}", output.status);
            assert_eq!((output.stdout, output.stderr), (Vec::new(), Vec::new()), "{binary}");
        }
    }
    assert!(!scene.lab.project().join(".sisyphus").exists());
}

#[test]
fn a_client_that_does_not_read_the_answer_is_no_error() {
    let Some(plugin) = plugin() else { return };
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let input = scene.stop_input(&json!({})).unwrap();
    let mut child = hook(&scene, "omo-stop").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn twenty_hooks_at_once_over_five_sessions_lose_no_count_and_touch_no_other_entry() {
    let Some(plugin) = plugin() else { return };
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let mut sessions = vec![scene.session.clone()];
    for _ in 1..5 {
        let mut other = scene.another().unwrap();
        let told = sound(&other.prompt("ulw fix it").unwrap()).unwrap();
        assert!(crate::stage::is_contract(&told), "{told:?}");
        sessions.push(other);
    }
    let foreign = r#""stranger":{"ulw" : {"enabled":true, "stopBlocks":3.0e0} ,"ü":[ 1.50, "\u00e9" ]}"#;
    let text = fs::read_to_string(scene.state_file()).unwrap();
    let text = text
        .replacen("\"sessions\":{", &format!("\"sessions\":{{{foreign},"), 1)
        .replace("\"cooldownSeconds\":3", "\"cooldownSeconds\":0");
    fs::write(scene.state_file(), &text).unwrap();
    assert!(text.contains(foreign));

    let twenty: Vec<StandIn> = (0..4).flat_map(|_| sessions.clone()).collect();
    let answers = at_once(&twenty, &scene).unwrap();

    let written = fs::read_to_string(scene.state_file()).unwrap();
    assert!(written.contains(foreign), "{written}");
    let state = scene.lab.state().unwrap();
    for (index, session) in sessions.iter().enumerate() {
        let printed = answers.iter().skip(index).step_by(5).filter(|answer| answer.blocks()).count();
        let counted = &state["sessions"][session.session()]["ulw"]["stopBlocks"];
        assert_eq!(counted, &json!(printed), "{}", session.session());
        assert!(printed > 0, "not one of four hooks had the lock");
    }
    let blocks = scene.lab.decisions().unwrap().iter().filter(|line| line["decision"] == "block").count();
    assert_eq!(blocks, answers.iter().filter(|answer| answer.blocks()).count());
    assert!(!scene.names().concat().contains(".tmp"), "{:?}", scene.names());
}

/// Runs a hook below a shell that lets no file grow beyond some blocks of 512 bytes.
fn with_a_full_disk(scene: &Scene, setup: &str, input: &str) -> Result<std::process::Output> {
    let mut command = scene.lab.command("sh");
    command.args(["-c", &format!("{setup}; exec \"$0\"")]).arg(scene.plugin.join("bin/omo-stop"));
    command.env("CLAUDE_PROJECT_DIR", scene.lab.project());
    output_of(command, input)
}

#[test]
fn what_a_killed_writer_left_is_cleared_and_the_old_state_stands() {
    let Some(plugin) = plugin() else { return };
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let before = fs::read(scene.state_file()).unwrap();
    assert!(before.len() > 600, "the state must be longer than what may be written of it");
    let input = scene.stop_input(&json!({})).unwrap();
    // The system kills the writer in the middle of its temporary file.
    let output = with_a_full_disk(&scene, "ulimit -c 0; ulimit -f 1", &input).unwrap();
    assert!(!output.status.success(), "the writer lived on");
    assert_eq!(output.stdout, b"", "a block that was not counted was printed");
    assert_eq!(fs::read(scene.state_file()).unwrap(), before);
    let old = scene.lab.state_folder().join("runtime.local.json.old");
    assert!(fs::read(&old).unwrap().len() < before.len(), "it was killed before it wrote, or after");
    scene.blocks(&json!({})).unwrap();
    assert_eq!(fs::read(old).unwrap(), before, "what the killed writer left is still there");
}

#[test]
fn on_a_full_disk_no_block_is_printed_and_the_old_state_stands() {
    let Some(plugin) = plugin() else { return };
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    scene.edit(&[("/ulw/lastStopAt", json!(ago(60_000)))]).unwrap();
    let before = fs::read(scene.state_file()).unwrap();
    let input = scene.stop_input(&json!({})).unwrap();
    let output = with_a_full_disk(&scene, "trap '' XFSZ; ulimit -f 0", &input).unwrap();
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(output.stdout, b"");
    assert_eq!(fs::read(scene.state_file()).unwrap(), before);
    scene.blocks(&json!({})).unwrap();
}
