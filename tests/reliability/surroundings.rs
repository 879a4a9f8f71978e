//! Clocks that jump, and a home, a folder or a project that is not there, or not any more.

use omo_tests::all_good;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use omo_testkit::{HookRun, run_command};
use omo_tests::MAX_BLOCKS;
use omo_tests::scene::{Scene, plugin, time_ago};
use serde_json::{Value, json};

use crate::fault_operations::{By, FAULT_OPERATIONS, FaultOperation, armed, is_documented};

const YEAR: i64 = 365 * 24 * 60 * 60 * 1_000;

/// Plays an operation after something was done to its surroundings, or to its command.
fn play(
    operation: &FaultOperation,
    plugin: &Path,
    change: impl Fn(&Scene, &mut Command) -> Result<()>,
) -> Result<(Scene, HookRun)> {
    let mut scene = Scene::new(plugin)?;
    scene.lab.write("check.sh", "exit 0\n")?;
    (operation.prepare)(&mut scene)?;
    let (mut command, input) = (operation.process)(&scene)?;
    change(&scene, &mut command)?;
    let run = run_command(&command, &input)?;
    Ok((scene, run))
}

/// Plays every operation so, and sees that each ends as it must.
fn play_all(what: &str, change: impl Fn(&Scene, &mut Command) -> Result<()> + Copy) {
    let plugin = plugin();
    all_good(FAULT_OPERATIONS.iter().map(|operation| {
        let played = play(operation, &plugin, change).and_then(|(_, run)| sound(operation, &run));
        (format!("{what}: {}", operation.name), played)
    }));
}

fn sound(operation: &FaultOperation, run: &HookRun) -> Result<()> {
    match operation.by {
        By::Hook => {
            ensure!(run.status.success() && run.stderr.is_empty(), "{run:?}");
            run.answer().map(drop)
        }
        By::Command => {
            let said = run.stderr.contains("error: ");
            ensure!(
                run.status.success() || is_documented(run) && said,
                "{run:?}"
            );
            Ok(())
        }
    }
}

#[test]
fn a_missing_home_stops_no_session() {
    play_all("no HOME", |_, command| {
        command
            .env_remove("HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME");
        Ok(())
    });
    play_all("a HOME that is not there", |scene, command| {
        command.env("HOME", scene.lab.root().join("nowhere"));
        Ok(())
    });
    play_all("a HOME that is a file", |scene, command| {
        command.env("HOME", scene.lab.write("a-file", "")?);
        Ok(())
    });
    play_all("a relative HOME", |_, command| {
        command.env("HOME", "home");
        Ok(())
    });
}

#[test]
fn a_missing_project_stops_no_session() {
    play_all("the project is gone", |scene, command| {
        command.current_dir(scene.lab.root());
        Ok(fs::remove_dir_all(scene.lab.project())?)
    });
    play_all("the state folder is gone", |scene, _| {
        Ok(
            fs::remove_dir_all(scene.lab.project().join(".sisyphus")).or_else(
                |error| match error.kind() {
                    std::io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                },
            )?,
        )
    });
    play_all("the project is a file", |scene, command| {
        fs::remove_dir_all(scene.lab.project())?;
        command.current_dir(scene.lab.root());
        Ok(fs::write(scene.lab.project(), "")?)
    });
}

/// The command of an operation in a folder that is removed before it begins.
fn in_a_removed_folder(scene: &Scene, command: &mut Command) -> Result<()> {
    let folder = scene.lab.root().join("removed");
    fs::create_dir(&folder)?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "rmdir \"$PWD\" && exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    shell.env_clear().envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    *command = shell;
    command.current_dir(folder);
    Ok(())
}

#[test]
fn a_removed_working_folder_stops_no_session() {
    play_all("the current folder is removed", in_a_removed_folder);
}

#[test]
fn a_project_that_vanishes_while_the_input_comes_is_left_gone() {
    let plugin = plugin();
    for operation in FAULT_OPERATIONS
        .iter()
        .filter(|operation| operation.by == By::Hook)
    {
        let mut scene = Scene::new(&plugin).unwrap();
        (operation.prepare)(&mut scene).unwrap();
        let (mut command, input) = (operation.process)(&scene).unwrap();
        command
            .current_dir(scene.lab.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let (first, rest) = input.as_bytes().split_at(input.len() / 2);
        stdin.write_all(first).unwrap();
        fs::remove_dir_all(scene.lab.project()).unwrap();
        stdin.write_all(rest).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}: {output:?}",
            operation.name
        );
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            !said.contains("is continued, at most"),
            "{}: {said}",
            operation.name
        );
        assert!(
            !scene.lab.project().exists(),
            "{}: the project was made again",
            operation.name
        );
    }
}

/// What becomes of a Stop.
#[derive(Debug, PartialEq)]
enum Outcome {
    Blocked,
    LetThrough,
    Ended,
}

/// What a Stop of a held session does after a clock has jumped: a time of the state is of then.
fn stop_after(pointer: &str, time: &Value) -> Result<Outcome> {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin)?;
    armed(&mut scene)?;
    scene.edit(&[("/limits/cooldownSeconds", json!(300))])?;
    scene.edit(&[(pointer, time.clone())])?;
    let answer = scene.stop(&json!({}))?;
    Ok(
        match (answer.blocks(), scene.entry()?["ulw"]["enabled"] == true) {
            (true, _) => Outcome::Blocked,
            (false, true) => Outcome::LetThrough,
            (false, false) => Outcome::Ended,
        },
    )
}

#[test]
fn a_clock_that_jumps_ends_a_run_early_at_worst() {
    let at = |millis: i64| json!(time_ago(millis));
    let cases = [
        ("no jump", "/ulw/startedAt", at(60_000), Outcome::Blocked),
        (
            "ahead by a year since the start",
            "/ulw/startedAt",
            at(YEAR),
            Outcome::Ended,
        ),
        (
            "back by a year since the start",
            "/ulw/startedAt",
            at(-YEAR),
            Outcome::Blocked,
        ),
        (
            "back by a century since the start",
            "/ulw/startedAt",
            at(-100 * YEAR),
            Outcome::Blocked,
        ),
        (
            "a block a moment ago",
            "/ulw/lastStopAt",
            at(1_000),
            Outcome::LetThrough,
        ),
        (
            "ahead by a year since the last block",
            "/ulw/lastStopAt",
            at(YEAR),
            Outcome::Blocked,
        ),
        (
            "back by a year since the last block",
            "/ulw/lastStopAt",
            at(-YEAR),
            Outcome::Blocked,
        ),
        (
            "a start before time",
            "/ulw/startedAt",
            json!("0001-01-01T00:00:00Z"),
            Outcome::Ended,
        ),
        (
            "a start at the end of time",
            "/ulw/startedAt",
            json!("9999-12-31T23:59:59Z"),
            Outcome::Blocked,
        ),
        (
            "an update in the far future",
            "/updatedAt",
            json!("9999-12-31T23:59:59Z"),
            Outcome::Blocked,
        ),
        (
            "an update long ago",
            "/updatedAt",
            at(YEAR),
            Outcome::Blocked,
        ),
    ];
    let mut wrong = Vec::new();
    for (name, pointer, time, expected) in cases {
        match stop_after(pointer, &time) {
            Ok(found) if found == expected => {}
            found => wrong.push(format!("{name}: {found:?}, not {expected:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_clock_that_stands_still_counts_on() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    armed(&mut scene).unwrap();
    // Each block is of the same time as the one before it, as far as the next Stop can tell.
    for number in 1..=MAX_BLOCKS {
        let reason = scene.blocks(&json!({})).unwrap();
        assert!(
            reason.contains(&format!("continuation {number} of {MAX_BLOCKS}")),
            "{reason}"
        );
        scene
            .edit(&[("/ulw/lastStopAt", json!(time_ago(0)))])
            .unwrap();
    }
    scene.ends(&json!({}), "released").unwrap();
}
