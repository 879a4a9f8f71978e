//! `omo` where something is wrong: which exit status, what it says was wrong, where, and what to
//! do, on stderr; and every file stays as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_core::limits::RunLimits;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_tests::MAX_BLOCKS;
use serde_json::json;

use crate::cli::{omo, second_session};
use crate::scene::{Scene, play, require_sound};

/// The files of the state, with what they hold.
fn files(scene: &Scene) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let entries = fs::read_dir(scene.lab.state_folder())
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| (entry.path(), fs::read(entry.path()).ok()))
        .collect()
}

/// `omo` fails with this status, says each of `parts` and a hint on stderr and nothing on stdout,
/// and every file is as it was.
fn fails(scene: &Scene, arguments: &[&str], status: i32, parts: &[&str]) -> Result<()> {
    fails_with(scene, arguments, &[], status, parts)
}

fn fails_with(
    scene: &Scene,
    arguments: &[&str],
    variables: &[(&str, &str)],
    status: i32,
    parts: &[&str],
) -> Result<()> {
    let before = files(scene);
    let output = omo(scene, arguments, variables)?;
    let stderr = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(status),
        "{arguments:?}: {} instead of {status}: {stderr}",
        output.status
    );
    ensure!(
        output.stdout.is_empty(),
        "{arguments:?}: on stdout: {}",
        String::from_utf8_lossy(&output.stdout)
    );
    for part in parts.iter().chain(&["error: "]) {
        ensure!(
            stderr.contains(part),
            "{arguments:?}: no {part:?} in {stderr}"
        );
    }
    // The lock's own file, and a folder's `.gitignore`, may be made; what was there stays.
    let after = files(scene);
    ensure!(
        before
            .iter()
            .all(|(path, bytes)| after.get(path) == Some(bytes)),
        "{arguments:?}: a file was changed"
    );
    Ok(())
}

fn config(scene: &Scene, text: &str) -> Result<()> {
    scene.lab.configure(text)
}

#[test]
fn a_wrong_command_line_is_status_2_and_says_what_to_do() {
    play(&[
        ("several sessions are known", |s| {
            s.arm()?;
            let other = second_session(s)?;
            let (one, two) = (
                format!("--session {}", s.session.session()),
                format!("--session {}", other.session()),
            );
            fails(
                s,
                &["ulw", "on"],
                2,
                &["2 sessions of this project are known", "hint:", &one, &two],
            )
        }),
        ("an id that is none", |s| {
            s.arm()?;
            for command in [
                ["stop", "--session", "../../x"],
                ["status", "--session", "a b"],
                ["stop", "--session", ""],
            ] {
                fails(
                    s,
                    &command,
                    2,
                    &["is not a session id", "hint:", "omo status"],
                )?;
            }
            fails_with(
                s,
                &["stop"],
                &[("CLAUDE_CODE_SESSION_ID", "a/b")],
                2,
                &["`a/b` is not a session id", "hint:"],
            )
        }),
        ("what clap refuses", |s| {
            s.arm()?;
            fails(
                s,
                &["stop", "--session", "a", "--all"],
                2,
                &["--session", "--all"],
            )?;
            fails(s, &["stpo"], 2, &["stpo"])?;
            fails(s, &["status", "--jsn"], 2, &["--jsn", "--json"])?;
            fails(s, &["completions", "tcsh"], 2, &["tcsh", "bash"])?;
            fails(s, &["ulw", "maybe"], 2, &["maybe"])
        }),
    ]);
}

#[test]
fn where_json_is_asked_for_an_error_is_one_line_of_it_on_stderr() {
    play(&[("each kind", |s| {
        s.arm()?;
        for (arguments, status, kind) in [
            (
                &["status", "--json", "--session", "unknown"][..],
                3,
                "notFound",
            ),
            (&["status", "--json", "--session", "a b"], 2, "usage"),
            (&["status", "--json", "--all"], 2, "usage"),
            (&["verify", "--json"], 1, "notGreen"),
            (&["report", "--format", "json"], 3, "notFound"),
            (&["plan", "show", "--json", "missing.md"], 3, "notFound"),
        ] {
            let output = omo(s, arguments, &[("CLICOLOR_FORCE", "1")])?;
            let stderr = String::from_utf8(output.stderr)?;
            ensure!(
                output.status.code() == Some(status) && output.stdout.is_empty(),
                "{arguments:?}: {stderr}"
            );
            ensure!(stderr.lines().count() == 1, "{arguments:?}: {stderr}");
            let error = &serde_json::from_str::<serde_json::Value>(&stderr)?["error"];
            ensure!(
                error["status"] == status && error["kind"] == kind,
                "{arguments:?}: {stderr}"
            );
            ensure!(
                error["message"].is_string() && error["hint"].is_string(),
                "{arguments:?}: {stderr}"
            );
        }
        Ok(())
    })]);
}

#[test]
fn what_is_not_there_is_status_3_and_says_what_is() {
    play(&[
        ("a session that is not known", |s| {
            s.arm()?;
            let longer = format!("{}0", s.session.session());
            for typed in ["unknown", &longer] {
                for command in [
                    &["stop"][..],
                    &["status"],
                    &["ulw", "on"],
                    &["blocked", "x"],
                    &["verify"],
                    &["check", "list"],
                    &["check", "accept", "--digest", "x"],
                    &["check", "remove", "x", "--digest", "x"],
                    &["check", "add", "--digest", "x"],
                ] {
                    let behind: &[&str] = if command == ["check", "add", "--digest", "x"] {
                        &["true"]
                    } else {
                        &[]
                    };
                    let line = [command, &["--session", typed], behind].concat();
                    fails(
                        s,
                        &line,
                        3,
                        &[
                            &format!("no session `{typed:.60}` in "),
                            "hint:",
                            "omo status",
                        ],
                    )?;
                }
            }
            Ok(())
        }),
        ("a session that is not known, where nothing is", |s| {
            for command in [&["stop"][..], &["ulw", "on"], &["blocked", "x"]] {
                fails(
                    s,
                    &[command, &["--session", "unknown"]].concat(),
                    3,
                    &["no session `unknown` in ", "hint:"],
                )?;
            }
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "something was made"
            );
            Ok(())
        }),
        ("on, where nothing is known", |s| {
            fails(
                s,
                &["ulw", "on"],
                3,
                &[
                    "no session of this project is known",
                    "hint:",
                    "--session ID",
                ],
            )?;
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "something was made"
            );
            Ok(())
        }),
        ("blocked, where no run is on", |s| {
            fails(
                s,
                &["blocked", "x"],
                3,
                &["no ultrawork run is on in ", "hint:"],
            )?;
            s.arm()?;
            s.prompt("ulw off")?;
            let id = s.session.session();
            fails(
                s,
                &["blocked", "x", "--session", id],
                3,
                &[&format!("is on in session {id}"), "hint:"],
            )
        }),
        ("nothing to approve", |s| {
            fails(
                s,
                &["check", "approve"],
                3,
                &["there is no omo.toml in ", "hint:"],
            )
        }),
    ]);
}

#[test]
fn a_wrong_configuration_is_named_and_only_turning_on_fails() {
    play(&[
        ("turning on", |s| {
            s.arm()?;
            s.prompt("ulw off")?;
            config(s, "# mine\n[limits]\nmax_blocks = 900\n")?;
            let parts = [
                "/.config/omo/config.toml:3: ",
                "`limits.max_blocks` must be a whole number from 1 to 100",
                "hint:",
            ];
            fails(s, &["ulw", "on"], 5, &parts)?;
            s.allows(&json!({}))
        }),
        ("looking and stopping only warn", |s| {
            s.arm()?;
            config(s, "[stop]\nfeedback = \"loud\"\n")?;
            for command in [&["status"][..], &["stop"]] {
                let output = omo(s, command, &[])?;
                let stderr = String::from_utf8(output.stderr)?;
                ensure!(
                    output.status.success() && !output.stdout.is_empty(),
                    "{command:?}: {stderr}"
                );
                ensure!(
                    stderr.starts_with("warning: ")
                        && stderr.contains("config.toml:2: `stop.feedback`"),
                    "{stderr}"
                );
            }
            s.is_told_of_stop()
        }),
        ("the hooks go on with the defaults and note it", |s| {
            config(s, "[limits]\nmax_blocks = 900\nmax_minutes = 60\n")?;
            s.arm()?;
            ensure!(
                s.entry()?["limits"]
                    == serde_json::to_value(RunLimits {
                        max_minutes: 60,
                        ..RunLimits::DEFAULT
                    })?,
                "{}",
                s.entry()?
            );
            ensure!(
                s.hooks_log().contains("config.toml:2: `limits.max_blocks`"),
                "{}",
                s.hooks_log()
            );
            s.blocks(&json!({})).map(drop)
        }),
        ("a file in the repository widens nothing", |s| {
            for path in [
                "omo.toml",
                "config.toml",
                ".omo/config.toml",
                ".config/omo/config.toml",
            ] {
                s.lab
                    .write(path, "[limits]\nmax_blocks = 100\nmax_minutes = 1440\n")?;
            }
            s.arm()?;
            ensure!(
                s.entry()?["limits"]["maxBlocks"] == MAX_BLOCKS,
                "{}",
                s.entry()?
            );
            Ok(())
        }),
    ]);
}

#[test]
fn a_busy_lock_is_status_6_and_changes_nothing() {
    play(&[("busy", |s| {
        s.arm()?;
        let folder = GuardedFolder::open_state(s.lab.project())?.context("no folder")?;
        let _held = StateLock::take(&folder, Duration::ZERO)?;
        fails(
            s,
            &["stop"],
            6,
            &["lock of the state", "hint:", "runtime.lock"],
        )?;
        let output = omo(s, &["status"], &[])?;
        ensure!(output.status.success(), "looking needs no lock");
        Ok(())
    })]);
}

#[test]
fn a_state_that_cannot_be_used_is_status_9_and_names_the_file() {
    play(&[
        ("garbage", |s| {
            s.write_state(b"garbage")?;
            fails(s, &["status"], 9, &["does not parse", "hint:", "omo stop"])?;
            fails(s, &["stop"], 9, &["does not parse", "hint:"])?;
            fails(s, &["stop", "--all"], 9, &["does not parse", "hint:"])
        }),
        ("which file does not parse", |s| {
            s.write_state(b"garbage")?;
            fails(s, &["status"], 9, &["runtime.local.json"])
        }),
        ("a newer version", |s| {
            s.write_state(
                s.armed_text()?
                    .replace("\"version\":1", "\"version\":7")
                    .as_bytes(),
            )?;
            fails(s, &["status"], 9, &["version 7", "hint:"])?;
            fails(
                s,
                &["stop", "--session", s.session.session()],
                9,
                &["version 7", "hint:"],
            )
        }),
        ("the hint for a newer version can help", |s| {
            s.write_state(
                s.armed_text()?
                    .replace("\"version\":1", "\"version\":7")
                    .as_bytes(),
            )?;
            let output = omo(s, &["stop", "--session", s.session.session()], &[])?;
            let stderr = String::from_utf8(output.stderr)?;
            ensure!(
                !stderr.contains("`omo stop` moves a broken file aside"),
                "it was just tried, and does not: {stderr}"
            );
            Ok(())
        }),
        ("a link", |s| {
            let outside = s.lab.root().join("outside.json");
            fs::write(&outside, s.armed_text()?)?;
            fs::create_dir_all(s.lab.state_folder())?;
            symlink(&outside, s.state_file())?;
            fails(
                s,
                &["status"],
                9,
                &["runtime.local.json is a symbolic link", "hint:"],
            )?;
            fails(
                s,
                &["stop", "--session", s.session.session()],
                9,
                &["symbolic link", "hint:"],
            )?;
            Ok(())
        }),
        ("a folder that is a file", |s| {
            s.lab.write(".sisyphus", "x")?;
            fails(s, &["status"], 9, &[".sisyphus", "hint:"])?;
            fails(s, &["log"], 9, &[".sisyphus", "hint:"])
        }),
        ("a folder for the log", |s| {
            s.arm()?;
            let log = s.lab.state_folder().join("decisions.jsonl");
            fs::remove_file(&log)?;
            fs::create_dir(&log)?;
            fails(s, &["log"], 9, &["decisions.jsonl", "hint:"])
        }),
    ]);
}

/// A note that cannot be written must not keep a session from being released.
#[test]
fn a_log_that_cannot_be_written_releases_the_session() {
    play(&[("stop --all", |s| {
        s.arm()?;
        let mut other = second_session(s)?;
        let log = s.lab.state_folder().join("decisions.jsonl");
        fs::remove_file(&log)?;
        fs::create_dir(&log)?;
        let output = omo(s, &["stop", "--all"], &[])?;
        s.is_told_of_stop()?;
        let reported = require_sound(&other.stop("x")?)?;
        ensure!(
            !reported.blocks(),
            "the other session is still held: {reported:?}"
        );
        ensure!(
            output.status.success(),
            "let go, but: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    })]);
}

#[test]
fn a_reader_that_stops_is_no_error() {
    play(&[
        ("status", |s| unread(s, &["status"])),
        ("status --json", |s| unread(s, &["status", "--json"])),
        ("log", |s| unread(s, &["log"])),
        ("stop", |s| unread(s, &["stop"])),
        ("--help", |s| unread(s, &["--help"])),
        ("completions", |s| unread(s, &["completions", "bash"])),
    ]);
}

/// `omo` writes into a pipe that no process reads: it ends with status 0 and says nothing.
fn unread(scene: &mut Scene, arguments: &[&str]) -> Result<()> {
    scene.arm()?;
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
    let child = command
        .args(arguments)
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    drop(command);
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.success() && stderr.is_empty(),
        "{}: {stderr}",
        output.status
    );
    Ok(())
}

#[test]
fn a_project_that_is_gone_is_said_so() {
    play(&[("a removed folder", |s| {
        let gone = s.lab.root().join("gone");
        fs::create_dir(&gone)?;
        let mut command = s.lab.command("sh");
        command
            .args(["-c", "cd \"$1\" && rmdir \"$1\" && exec \"$0\" status"])
            .arg(s.plugin.join("bin/omo"))
            .arg(&gone);
        let output = command.output()?;
        let stderr = String::from_utf8(output.stderr)?;
        ensure!(
            !output.status.success() && output.stdout.is_empty() && stderr.contains("error: "),
            "{stderr}"
        );
        Ok(())
    })]);
}
