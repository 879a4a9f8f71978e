//! Hooks as processes of their own, many at once.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use omo_testkit::StandIn;
use omo_testkit::stand_in::Answer;
use serde_json::json;

use crate::stage::{Scene, plugin, sound};

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

/// What a process prints that reads `input` to its end.
pub fn output_of(mut command: Command, input: &str) -> Result<std::process::Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no stdin")?.write_all(input.as_bytes())?;
    Ok(child.wait_with_output()?)
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
