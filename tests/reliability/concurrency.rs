//! Many processes at once in one state file: every block is counted once, no session's entry is touched by another, and
//! once a run was stopped nothing holds it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, CorruptPolicy, EntryChange, StateUpdateOptions};
use omo_testkit::strace::{self, SystemCall};
use omo_tests::scene::{Scene, plugin};
use serde_json::{Value, json};

use crate::fault_operations::STRANGER;

const SESSIONS: usize = 20;
const PROCESSES: usize = 100;
const EVENTS: usize = 100;
/// What each session's entry holds besides, as no omo would write it.
const UNKNOWN: &str = r#""later":[ {"x" : 1.50e0}, "\u00e9" ]"#;

fn id(number: usize) -> String {
    format!("session-{number:02}")
}

/// A project whose sessions are all held, each with something unknown in its entry.
fn armed(scene: &Scene) -> Result<()> {
    let started = omo_tests::scene::time_ago(60_000);
    let entry = |number| {
        format!(
            "\"{}\":{{{UNKNOWN},\"ulw\":{{\"enabled\":true,\"stopBlocks\":0,\"startedAt\":\"{started}\"}},\
             \"limits\":{{\"maxBlocks\":100,\"cooldownSeconds\":0,\"maxMinutes\":240}}}}",
            id(number)
        )
    };
    let entries: Vec<String> = (0..SESSIONS)
        .map(entry)
        .chain([STRANGER.to_owned()])
        .collect();
    scene.write_state(
        format!("{{\"version\":1,\"sessions\":{{{}}}}}\n", entries.join(",")).as_bytes(),
    )?;
    let ids: Result<Vec<SessionId>, _> = (0..SESSIONS)
        .map(|number| SessionId::parse(&id(number)))
        .collect();
    scene.seal_all(&ids?)
}

/// What one process of the client does: each event of a session in turn, each session in turn.
fn event(scene: &Scene, process: usize, number: usize) -> Result<(Command, String)> {
    let (binary, name, fields) = match number % 5 {
        0 => (
            "omo-stop",
            "Stop",
            json!({"last_assistant_message": "Half of it is there."}),
        ),
        1 => (
            "omo-user-prompt-submit",
            "UserPromptSubmit",
            json!({"prompt": "and the docs"}),
        ),
        2 => (
            "omo-stop-failure",
            "StopFailure",
            json!({"error": "rate_limit"}),
        ),
        3 => ("omo-session-end", "SessionEnd", json!({"reason": "other"})),
        _ => (
            "omo-session-start",
            "SessionStart",
            json!({"source": "resume"}),
        ),
    };
    hook(
        scene,
        &id((process + number / 5) % SESSIONS),
        binary,
        name,
        &fields,
    )
}

fn hook(
    scene: &Scene,
    session: &str,
    binary: &str,
    event: &str,
    fields: &Value,
) -> Result<(Command, String)> {
    let mut fields = fields.clone();
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("session_id".to_owned(), session.into());
        fields.insert("transcript_path".to_owned(), Value::Null);
    }
    crate::fault_operations::hook(scene, binary, event, &fields)
}

/// Starts a hook; it reads a file, and writes one.
fn start(mut command: Command, input: &str, output: &PathBuf) -> Result<Child> {
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(input.as_bytes())?;
    std::io::Seek::rewind(&mut stdin)?;
    Ok(command
        .stdin(stdin)
        .stdout(File::create(output)?)
        .stderr(Stdio::null())
        .spawn()?)
}

/// The number that a block says it has, `continuation 3 of 100` for example.
fn block_number(answer: &str) -> Option<u64> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let reason = answer["reason"]
        .as_str()
        .filter(|_| answer["decision"] == "block")?;
    reason
        .split("\ncontinuation ")
        .nth(1)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// All events of one process, one after another; gives the blocks of each session.
fn one_process(scene: &Scene, process: usize) -> Result<Vec<(usize, u64)>> {
    let output = scene.lab.root().join(format!("answer-{process}"));
    let mut blocks = Vec::new();
    for number in 0..EVENTS {
        let (command, input) = event(scene, process, number)?;
        let status = start(command, &input, &output)?.wait()?;
        ensure!(status.success(), "{status}");
        let answer = fs::read_to_string(&output)?;
        if number % 5 == 0 {
            let block = block_number(&answer);
            ensure!(
                block.is_some() || answer.is_empty(),
                "neither a block nor silence: {answer}"
            );
            blocks.extend(block.map(|block| ((process + number / 5) % SESSIONS, block)));
        }
    }
    Ok(blocks)
}

/// Writes entries that are a week old and more, again and again: every other writer has something
/// to prune.
fn write_old_entries(scene: &Scene, done: &AtomicBool) -> Result<usize> {
    let folder = GuardedFolder::open_state(scene.lab.project())?.context("no state folder")?;
    let long_ago =
        Timestamp::from_millis(omo_state::env::now().as_millis() - 8 * 24 * 60 * 60 * 1_000);
    let options = StateUpdateOptions {
        deadline: Duration::from_secs(10),
        corrupt: CorruptPolicy::Refuse,
        now: long_ago,
        state_home: None,
    };
    let mut written = 0;
    while !done.load(Ordering::Relaxed) {
        let old = SessionId::parse(&format!("old-{written}")).context("no id")?;
        let ((), lock) = state::update(&folder, &old, options, |_| ((), EntryChange::Write))?;
        drop(lock);
        written += 1;
    }
    Ok(written)
}

#[test]
fn a_hundred_processes_lose_no_count_and_touch_nothing_that_is_not_theirs() {
    let plugin = plugin();
    let scene = Scene::new(&plugin).unwrap();
    armed(&scene).unwrap();
    let done = AtomicBool::new(false);
    let (blocks, pruned) = thread::scope(|scope| {
        let pruner = scope.spawn(|| write_old_entries(&scene, &done));
        let scene = &scene;
        let processes: Vec<_> = (0..PROCESSES)
            .map(|process| scope.spawn(move || one_process(scene, process)))
            .collect();
        let blocks: Vec<_> = processes
            .into_iter()
            .map(|process| process.join().unwrap())
            .collect::<Result<Vec<_>>>()
            .unwrap()
            .concat();
        done.store(true, Ordering::Relaxed);
        (blocks, pruner.join().unwrap().unwrap())
    });

    let mut numbers: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (session, number) in blocks {
        numbers.entry(session).or_default().push(number);
    }
    let text = fs::read_to_string(scene.state_file()).unwrap();
    let state: Value = serde_json::from_str(&text).unwrap();
    for session in 0..SESSIONS {
        let mut numbers = numbers.remove(&session).unwrap_or_default();
        numbers.sort_unstable();
        let counted = state["sessions"][id(session)]["ulw"]["stopBlocks"]
            .as_u64()
            .unwrap();
        assert_eq!(
            numbers,
            (1..=counted).collect::<Vec<_>>(),
            "{}",
            id(session)
        );
        assert!(counted > 0, "not one of {PROCESSES} hooks had the lock");
    }
    assert_eq!(text.matches(UNKNOWN).count(), SESSIONS);
    assert!(text.contains(STRANGER));
    assert!(pruned > 1, "nothing was there to prune");
    let (command, input) = event(&scene, 0, 1).unwrap();
    assert!(
        start(command, &input, &scene.lab.root().join("answer"))
            .unwrap()
            .wait()
            .unwrap()
            .success()
    );
    assert!(
        !fs::read_to_string(scene.state_file())
            .unwrap()
            .contains("\"old-"),
        "old entries outlived the next write"
    );
    assert!(
        !scene.state_file_names().concat().contains(".tmp"),
        "{:?}",
        scene.state_file_names()
    );
}

/// Stops all sessions while they end their turns, each its next as soon as its last hook has ended;
/// gives how many blocks were printed before that.
fn stop_all_meanwhile(scene: &Scene) -> Result<usize> {
    armed(scene)?;
    let output = |number: usize| scene.lab.root().join(format!("answer-{number}"));
    let stop = |number: usize| {
        let fields = json!({"last_assistant_message": "Half of it is there."});
        let (command, input) = hook(scene, &id(number % SESSIONS), "omo-stop", "Stop", &fields)?;
        start(command, &input, &output(number))
    };
    let mut stops = (0..SESSIONS).map(stop).collect::<Result<Vec<_>>>()?;
    let (mut command, _) = crate::fault_operations::omo(scene, &["stop", "--all"]);
    let mut stop_all = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let mut number = SESSIONS;
    let stopped = loop {
        if let Some(status) = stop_all.try_wait()? {
            break status;
        }
        if stops[number - SESSIONS].try_wait()?.is_some() {
            stops.push(stop(number)?);
            number += 1;
        }
        thread::yield_now();
    };
    ensure!(stopped.success(), "`omo stop --all`: {stopped}");
    let printed: Vec<String> = (0..number)
        .map(|number| fs::read_to_string(output(number)))
        .collect::<Result<_, _>>()?;
    for (number, stop) in stops.iter_mut().enumerate() {
        ensure!(stop.wait()?.success());
        let now = fs::read_to_string(output(number))?;
        // That the run was stopped is said once, and continues nothing.
        let is_harmless = now == printed[number] || block_number(&now).is_none();
        ensure!(
            is_harmless,
            "printed after `omo stop --all` had returned: {now}"
        );
    }
    let armed = scene.lab.state().context("no state")?["sessions"]
        .as_object()
        .context("no sessions")?
        .clone();
    ensure!(
        armed
            .values()
            .all(|session| session["ulw"]["enabled"] == false),
        "a session is still held"
    );
    Ok(printed
        .iter()
        .filter(|answer| block_number(answer).is_some())
        .count())
}

#[test]
fn once_all_are_stopped_nothing_is_continued_any_more() {
    let plugin = plugin();
    let scene = Scene::new(&plugin).unwrap();
    let before: usize = (0..40).map(|_| stop_all_meanwhile(&scene).unwrap()).sum();
    assert!(before > 0, "no session was held when all were stopped");
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn a_block_is_printed_in_one_piece_and_before_the_lock_is_given_back() {
    let plugin = plugin();
    let scene = Scene::new(&plugin).unwrap();
    armed(&scene).unwrap();
    let (command, input) = event(&scene, 0, 0).unwrap();
    let calls = strace::run(&command, &input).unwrap().calls;
    let opened = calls
        .iter()
        .rfind(|call| call.line.contains("\"runtime.lock\""))
        .unwrap();
    let (_, lock) = opened.line.rsplit_once("= ").unwrap();
    let after_taken = calls
        .iter()
        .skip_while(|call| !call.line.starts_with(&format!("flock({lock},")));
    let what = |call: &SystemCall| match &call.line {
        line if line.starts_with("write(1,") => Some("printed"),
        line if line.starts_with(&format!("close({lock})")) => Some("given back"),
        _ => None,
    };
    assert_eq!(
        after_taken.filter_map(what).collect::<Vec<_>>(),
        ["printed", "given back"],
        "{calls:#?}"
    );
}
