//! `omo` where all is well: what it shows, what it changes, and for which session.

use std::path::Path;
use std::process::{Output, Stdio};

use anyhow::{Context, Result, ensure};
use omo_core::events::EVENTS;
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::scene::{Scene, is_contract, play, require_sound};

/// Runs `omo` in the project; gives what it did.
pub(crate) fn omo(scene: &Scene, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Output> {
    let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
    Ok(command
        .args(arguments)
        .envs(variables.iter().copied())
        .output()?)
}

/// Runs `omo`, which must succeed without a word on stderr; gives what it printed.
fn good(scene: &Scene, arguments: &[&str]) -> Result<String> {
    let output = omo(scene, arguments, &[])?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.success() && stderr.is_empty(),
        "{arguments:?}: {}: {stderr}",
        output.status
    );
    let text = String::from_utf8(output.stdout)?;
    ensure!(!text.contains('\u{1b}'), "colour in a pipe: {text:?}");
    Ok(text)
}

/// The beginning of the session's id, as people are shown it.
fn short(scene: &Scene) -> &str {
    let id = scene.session.session();
    id.get(..8).unwrap_or(id)
}

/// A second session whose run is on.
pub(crate) fn second_session(scene: &Scene) -> Result<omo_testkit::StandIn> {
    let mut other = scene.another()?;
    ensure!(is_contract(&require_sound(
        &other.prompt("ulw fix the docs")?
    )?));
    Ok(other)
}

/// A process that the client's own list names as a client of a session, ended with the test.
pub(crate) struct ListedClient(std::process::Child);

impl ListedClient {
    pub(crate) fn start(scene: &Scene, session: &str, started_in: &Path) -> Result<Self> {
        // It waits for an input that never comes. The test itself will not do: what it starts is a person's.
        let child = scene
            .lab
            .command("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let list = scene.lab.home().join(".claude/sessions");
        std::fs::create_dir_all(&list)?;
        let entry = json!({"pid": child.id(), "sessionId": session, "cwd": started_in});
        std::fs::write(list.join(format!("{}.json", child.id())), entry.to_string())?;
        Ok(Self(child))
    }
}

impl Drop for ListedClient {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn status_answers_every_question() {
    play(&[
        ("nothing yet", |s| {
            let text = good(s, &["status"])?;
            ensure!(
                text.contains("No session of") && text.contains("`ulw`"),
                "{text}"
            );
            ensure!(good(s, &["status", "--json"])?.trim() == "[]");
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "looking made something"
            );
            Ok(())
        }),
        ("a run", |s| {
            s.arm()?;
            s.session
                .clone()
                .transcript()
                .assistant("I have looked around.")?;
            s.prompt("go on")?;
            let text = good(s, &["status"])?;
            ensure!(
                text.contains("Stop: never seen"),
                "the finding is missing: {text}"
            );
            s.blocks(&json!({}))?;
            let text = good(s, &["status"])?;
            for part in [
                short(s),
                "on, begun just now",
                &format!("1 of {MAX_BLOCKS}"),
                "working",
                "continued on Stop: not claimed yet",
                "Stop just now",
                "omo stop",
                "ulw fix the tests",
            ] {
                ensure!(text.contains(part), "no {part:?} in {text}");
            }
            ensure!(!text.contains("never seen"), "{text}");
            Ok(())
        }),
        ("as data", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            second_session(s)?;
            let all: Value = serde_json::from_str(&good(s, &["status", "--json"])?)?;
            ensure!(all.as_array().is_some_and(|all| all.len() == 2), "{all}");
            let one: Value = serde_json::from_str(&good(
                s,
                &["status", "--json", "--session", s.session.session()],
            )?)?;
            let report = one
                .as_array()
                .and_then(|one| one.first())
                .context("no report")?;
            ensure!(
                report["state"] == "on"
                    && report["blocks"] == 1
                    && report["maxBlocks"] == MAX_BLOCKS,
                "{report}"
            );
            ensure!(
                report["lastDecision"]["row"] == 15 && report["phase"] == "working",
                "{report}"
            );
            ensure!(
                report["lastSeen"]
                    .as_array()
                    .is_some_and(|seen| seen.len() == EVENTS.len()),
                "{report}"
            );
            Ok(())
        }),
        ("an end", |s| {
            s.arm()?;
            s.ends(
                &json!({"last_assistant_message": "Done.\n\n<promise>DONE</promise>"}),
                "released",
            )?;
            let text = good(s, &["status"])?;
            ensure!(
                text.contains("NOT PROVED: claimed, not verified; ended just now"),
                "{text}"
            );
            Ok(())
        }),
        ("from a sub-folder", |s| {
            let mut s = Scene::in_lab(&s.plugin, omo_testkit::Lab::builder().build()?)?;
            s.arm()?;
            let deep = s.lab.project().join("src/deep");
            std::fs::create_dir_all(&deep)?;
            let output = s
                .lab
                .command(s.plugin.join("bin/omo"))
                .arg("status")
                .current_dir(deep)
                .output()?;
            ensure!(String::from_utf8(output.stdout)?.contains(short(&s)));
            Ok(())
        }),
        ("the status in the session", |s| {
            s.arm()?;
            let answer = s.prompt("/omo:status")?;
            ensure!(
                answer.blocks()
                    && answer
                        .reason()
                        .is_some_and(|text| text.contains(&format!("0 of {MAX_BLOCKS}"))),
                "{answer:?}"
            );
            Ok(())
        }),
    ]);
}

#[test]
fn colours_are_where_they_are_asked_for() {
    play(&[("in a pipe", |s| {
        s.arm()?;
        let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        for (option, variables, expected) in [
            ("--color=auto", &[][..], false),
            ("--color=always", &[], true),
            ("--color=always", &both[1..], true),
            ("--color=auto", &both[..1], true),
            ("--color=never", &both[..1], false),
        ] {
            let has_colour = |text: &[u8]| text.contains(&0x1b);
            let output = omo(s, &["status", option], variables)?;
            ensure!(
                has_colour(&output.stdout) == expected,
                "{option} {variables:?}"
            );
            let output = omo(s, &["status", option, "--no-such-option"], variables)?;
            ensure!(
                has_colour(&output.stderr) == expected,
                "{option} {variables:?}, of a wrong command line"
            );
        }
        Ok(())
    })]);
}

#[test]
fn stop_releases_the_session_that_is_meant() {
    play(&[
        ("nothing is on", |s| {
            ensure!(good(s, &["stop"])?.contains("No ultrawork run is on"));
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "something was made"
            );
            Ok(())
        }),
        ("the only one", |s| {
            s.arm()?;
            let text = good(s, &["stop", "--reason", "too slow"])?;
            ensure!(
                text.contains(s.session.session()) && text.contains("stopped"),
                "{text}"
            );
            s.is_told_of_stop()?;
            let entry = s.entry()?;
            ensure!(
                entry["stopContinuation"]["disabledReason"] == "too slow"
                    && entry["verdict"]["kind"] == "stopped",
                "{entry}"
            );
            Ok(())
        }),
        ("the one this shell belongs to", |s| {
            s.arm()?;
            let mut other = second_session(s)?;
            let output = omo(
                s,
                &["stop"],
                &[("CLAUDE_CODE_SESSION_ID", s.session.session())],
            )?;
            ensure!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            s.is_told_of_stop()?;
            ensure!(
                require_sound(&other.stop("x")?)?.blocks(),
                "the other session was stopped as well"
            );
            Ok(())
        }),
        ("by its name", |s| {
            s.arm()?;
            let mut other = second_session(s)?;
            good(s, &["stop", "--session", other.session()])?;
            ensure!(!require_sound(&other.stop("x")?)?.blocks());
            s.blocks(&json!({})).map(drop)
        }),
        ("by the beginning of its name", |s| {
            s.arm()?;
            let mut other = second_session(s)?;
            let begins = other.session().get(..8).context("a short id")?;
            ensure!(good(s, &["stop", "--session", begins])?.contains(other.session()));
            ensure!(!require_sound(&other.stop("x")?)?.blocks());
            s.blocks(&json!({})).map(drop)
        }),
        ("all", |s| {
            s.arm()?;
            let mut other = second_session(s)?;
            let text = good(s, &["stop"])?;
            ensure!(text.lines().count() == 2, "{text}");
            ensure!(!require_sound(&other.stop("x")?)?.blocks());
            s.is_told_of_stop()
        }),
        ("a broken state, by its name", |s| {
            s.write_state(b"garbage")?;
            good(s, &["stop", "--session", s.session.session()])?;
            ensure!(
                s.state_file_names()
                    .iter()
                    .any(|name| name.contains(".corrupt-")),
                "{:?}",
                s.state_file_names()
            );
            s.allows(&json!({}))
        }),
        ("twice", |s| {
            s.arm()?;
            good(s, &["stop"])?;
            ensure!(
                good(s, &["stop", "--session", s.session.session()])?.contains("no run was on")
            );
            ensure!(good(s, &["stop"])?.contains("No ultrawork run is on"));
            Ok(())
        }),
    ]);
}

#[test]
fn ulw_on_and_off_switch_the_session() {
    play(&[
        ("off and on again", |s| {
            s.arm()?;
            good(s, &["stop"])?;
            s.is_told_of_stop()?;
            let text = good(s, &["ulw", "on"])?;
            ensure!(
                text.contains("on from the next stop") && text.contains("omo stop --session"),
                "{text}"
            );
            let reason = s.blocks(&json!({}))?;
            ensure!(
                reason.contains("Task: ulw fix the tests"),
                "the model was never told: {reason}"
            );
            Ok(())
        }),
        ("on by name, where only the client knows the session", |s| {
            let client = ListedClient::start(s, s.session.session(), s.lab.project())?;
            let begins = s.session.session().get(..8).context("a short id")?;
            good(s, &["ulw", "on", "--session", begins])?;
            drop(client);
            s.blocks(&json!({})).map(drop)
        }),
        ("a paused run goes on as it stood", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            require_sound(&s.session.stop_failure("billing_error")?)?;
            ensure!(good(s, &["ulw", "on"])?.contains("goes on where it was paused"));
            s.session
                .transcript()
                .tool_use("Bash", &json!({"command": "ls"}))?;
            ensure!(
                s.blocks(&json!({}))?
                    .contains(&format!("continuation 2 of {MAX_BLOCKS}"))
            );
            Ok(())
        }),
        ("with the user's own bounds", |s| {
            s.lab.configure("[limits]\nmax_blocks = 2\n")?;
            let _client = ListedClient::start(s, s.session.session(), s.lab.project())?;
            good(s, &["ulw", "on", "--session", s.session.session()])?;
            ensure!(s.blocks(&json!({}))?.contains("continuation 1 of 2"));
            Ok(())
        }),
    ]);
}

#[test]
fn log_shows_each_decision_in_order() {
    play(&[
        ("nothing yet", |s| {
            let output = omo(s, &["log"], &[])?;
            ensure!(
                output.status.success() && output.stdout.is_empty(),
                "{output:?}"
            );
            ensure!(String::from_utf8(output.stderr)?.contains("Nothing was decided"));
            Ok(())
        }),
        ("a run", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            s.prompt("/omo:stop-continuation because of <b>")?;
            let text = good(s, &["log"])?;
            ensure!(
                text.lines().count() == 3 && text.contains("continued") && text.contains(short(s)),
                "{text}"
            );
            let lines = good(s, &["log", "--json"])?;
            let lines: Vec<Value> = lines
                .lines()
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()?;
            ensure!(
                lines
                    .iter()
                    .all(|line| line["session"] == s.session.session()),
                "{lines:?}"
            );
            let words: Vec<&str> = lines
                .iter()
                .filter_map(|line| line["decision"].as_str())
                .collect();
            ensure!(words == ["activate", "block", "stop"], "{words:?}");
            for text in ["fix the tests", "because of"] {
                ensure!(
                    !serde_json::to_string(&lines)?.contains(text),
                    "the log holds text of a prompt"
                );
            }
            Ok(())
        }),
        ("only what is asked for", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            second_session(s)?;
            let count =
                |arguments: &[&str]| Ok::<_, anyhow::Error>(good(s, arguments)?.lines().count());
            ensure!(count(&["log"])? == 3 && count(&["log", "-n", "2"])? == 2);
            let none = omo(s, &["log", "-n", "0"], &[])?;
            let said = String::from_utf8(none.stderr)?;
            ensure!(
                none.status.code() == Some(2) && said.contains("needs a positive integer"),
                "{said}"
            );
            ensure!(count(&["log", "--since", "1h"])? == 3);
            for id in [s.session.session(), short(s)] {
                ensure!(count(&["log", "--session", id])? == 2, "of {id}");
            }
            for (id, status) in [("", 2), ("no-such-session", 3)] {
                let output = omo(s, &["log", "--session", id], &[])?;
                ensure!(
                    output.status.code() == Some(status) && output.stdout.is_empty(),
                    "{output:?}"
                );
            }
            let output = omo(s, &["log", "--since", "9999-01-01"], &[])?;
            ensure!(
                output.status.success() && output.stdout.is_empty() && !output.stderr.is_empty(),
                "{output:?}"
            );
            Ok(())
        }),
        ("times on the clock of the user", |s| {
            s.arm()?;
            let log = s.lab.state_folder().join("decisions.jsonl");
            let mut entry: Value = serde_json::from_str(std::fs::read_to_string(&log)?.trim())?;
            entry["at"] = "2026-01-31T23:30:00.000Z".into();
            std::fs::write(&log, format!("{entry}\n"))?;
            let zone = [("TZ", "CET-1")];
            let text = String::from_utf8(omo(s, &["log"], &zone)?.stdout)?;
            ensure!(text.starts_with("2026-02-01 00:30  "), "{text}");
            let line: Value = serde_json::from_slice(&omo(s, &["log", "--json"], &zone)?.stdout)?;
            ensure!(
                line["atLocal"] == "2026-02-01T00:30:00+01:00" && line["at"] == entry["at"],
                "{line}"
            );
            for (since, is_shown) in [("2026-02-01", true), ("2026-02-02", false)] {
                let output = omo(s, &["log", "--since", since], &zone)?;
                ensure!(output.stdout.is_empty() != is_shown, "{since}: {output:?}");
            }
            Ok(())
        }),
        ("on a narrow terminal", |s| {
            s.arm()?;
            s.blocks(&json!({}))?;
            s.ends(
                &json!({"last_assistant_message": "Done.\n\n<promise>DONE</promise>"}),
                "released",
            )?;
            for command in ["log", "status"] {
                let text = String::from_utf8(omo(s, &[command], &[("COLUMNS", "60")])?.stdout)?;
                ensure!(
                    text.lines().all(|line| line.chars().count() <= 60),
                    "{text}"
                );
                ensure!(text.contains("released"), "the verdict is missing: {text}");
            }
            Ok(())
        }),
        ("half a line and a foreign one", |s| {
            s.arm()?;
            let log = s.lab.state_folder().join("decisions.jsonl");
            let mut text = std::fs::read_to_string(&log)?;
            text.insert_str(0, "garbage\n{\"at\":1}\n");
            text.push_str("{\"at\":\"2026-");
            std::fs::write(&log, text)?;
            ensure!(good(s, &["log"])?.lines().count() == 1);
            Ok(())
        }),
    ]);
}

#[test]
fn a_log_that_is_followed_shows_each_decision_as_it_is_made_also_over_a_rotation() {
    play(&[("followed", |s| {
        s.arm()?;
        let mut followed = Followed::start(s)?;
        followed.shows("activate")?;
        s.blocks(&json!({}))?;
        followed.shows("continued")?;

        // As full as a log gets; its last line shows how far it was followed.
        let log = s.lab.state_folder().join("decisions.jsonl");
        let text = std::fs::read_to_string(&log)?;
        let last = text
            .lines()
            .last()
            .context("an empty log")?
            .replace("not claimed yet", "the last of the old");
        // A file that is cut for a moment looks as one that was rotated does.
        let more = format!("{}{last}\n", "x\n".repeat(600_000));
        std::io::Write::write_all(
            &mut std::fs::OpenOptions::new().append(true).open(&log)?,
            more.as_bytes(),
        )?;
        followed.shows("the last of the old")?;
        s.prompt("/omo:stop-continuation")?;
        ensure!(
            s.state_file_names()
                .contains(&"decisions.jsonl.1".to_owned()),
            "not rotated: {:?}",
            s.state_file_names()
        );
        followed.shows("ended by you")?;

        let text = followed.text()?;
        ensure!(
            text.lines().count() == 4,
            "shown twice, or more than was decided: {text}"
        );
        Ok(())
    })]);
}

/// `omo log --follow`, ended with the test.
struct Followed {
    child: std::process::Child,
    shown: std::path::PathBuf,
}

impl Followed {
    fn start(scene: &Scene) -> Result<Self> {
        let shown = scene.lab.home().join("followed.txt");
        let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
        let child = command
            .args(["log", "--follow"])
            .stdout(std::fs::File::create(&shown)?)
            .spawn()?;
        Ok(Self { child, shown })
    }

    fn text(&self) -> Result<String> {
        Ok(std::fs::read_to_string(&self.shown)?)
    }

    /// Waits until it has shown this.
    fn shows(&mut self, part: &str) -> Result<()> {
        omo_testkit::wait_until(part, || self.text().ok()?.contains(part).then_some(()))?;
        ensure!(self.child.try_wait()?.is_none(), "it has ended");
        Ok(())
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn help_and_completions_name_every_command() {
    play(&[("help", |s| {
        let help = good(s, &["--help"])?;
        for part in [
            "status",
            "stop",
            "ulw",
            "log",
            "completions",
            "Exit status:",
            "Example:",
            "ulw` in a prompt",
        ] {
            ensure!(help.contains(part), "no {part:?} in {help}");
        }
        for command in [
            ["status", "--json"],
            ["stop", "--all"],
            ["ulw", "on"],
            ["log", "--follow"],
            ["completions", "bash"],
        ] {
            let text = good(s, &[command[0], "--help"])?;
            ensure!(
                text.contains(command[1]) && text.contains("Usage: omo"),
                "{text}"
            );
        }
        ensure!(good(s, &["ulw", "on", "--help"])?.contains("--session"));
        ensure!(good(s, &["--version"])?.starts_with("omo "));
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let script = good(s, &["completions", shell])?;
            ensure!(
                script.contains("omo") && script.contains("status"),
                "{shell}"
            );
        }
        Ok(())
    })]);
}
