//! What omo does that something may go wrong with: each hook and each command that writes, on the
//! fixture that it needs.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_testkit::{HookRun, run_command};
use omo_tests::claim_scene::DONE;
use omo_tests::scene::{Scene, time_ago};
use serde_json::{Value, json};

/// An operation: how its fixture is set, and the process that does it.
pub(crate) struct FaultOperation {
    /// Its name in messages.
    pub name: &'static str,
    /// Sets the fixture.
    pub prepare: fn(&mut Scene) -> Result<()>,
    /// The process, and what it reads.
    pub process: fn(&Scene) -> Result<(Command, String)>,
    /// Who does it.
    pub by: By,
}

/// Who does an operation, and so what is asked of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A hook: status 0 and nothing on stderr, whatever happens.
    Hook,
    /// A command: a documented status, and words where it is not 0.
    Command,
}

/// Whether a command ended by itself, with a status that `omo --help` lists.
pub(crate) fn is_documented(run: &HookRun) -> bool {
    omo_cli::exit_statuses().any(|(status, ..)| run.status.code() == Some(i32::from(status)))
}

/// A hook with the fields of its event beside those of every event.
pub(crate) fn hook(
    scene: &Scene,
    binary: &str,
    event: &str,
    fields: &Value,
) -> Result<(Command, String)> {
    let mut command = scene.lab.command(scene.plugin.join("bin").join(binary));
    command.env("CLAUDE_PROJECT_DIR", scene.lab.project());
    Ok((
        command,
        scene.input(event, &json!({"prompt_id": "1"}), fields)?,
    ))
}

fn prompt(scene: &Scene, text: &str) -> Result<(Command, String)> {
    hook(
        scene,
        "omo-user-prompt-submit",
        "UserPromptSubmit",
        &json!({"prompt": text, "prompt_id": "2"}),
    )
}

fn stop(scene: &Scene, message: &str) -> Result<(Command, String)> {
    let fields = scene.stop_fields(&json!({"last_assistant_message": message}));
    hook(scene, "omo-stop", "Stop", &fields)
}

/// `omo` with arguments, at a terminal of its user.
pub(crate) fn omo(scene: &Scene, arguments: &[&str]) -> (Command, String) {
    let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
    command.args(arguments);
    (command, String::new())
}

/// A run that is on, begun a while ago, beside the entry of a stranger.
pub(crate) fn armed(scene: &mut Scene) -> Result<()> {
    // What checks say without the change is found out by a process of its own, which a fault here does not end.
    scene
        .lab
        .configure("[verify]\nreview = false\nprove = \"off\"\n[limits]\ncooldown_seconds = 0\n")?;
    scene.arm()?;
    scene.edit(&[("/ulw/startedAt", json!(time_ago(60_000)))])?;
    let text = std::fs::read_to_string(scene.state_file())?;
    scene.write_state(
        text.replacen("\"sessions\":{", &format!("\"sessions\":{{{STRANGER},"), 1)
            .as_bytes(),
    )
}

/// The entry of another session as it is written: no byte of it is omo's to change.
pub(crate) const STRANGER: &str =
    r#""stranger":{"ulw" : {"enabled":false, "stopBlocks":3.0e0} ,"ü":[ 1.50, "\u00e9" ]}"#;

fn corrupt(scene: &mut Scene) -> Result<()> {
    scene.write_state(b"{\"sessions\":{\"a\":")
}

fn reviewed(scene: &mut Scene) -> Result<()> {
    // As with a check: the process that compares would answer in the middle of a play.
    scene
        .lab
        .configure("[verify]\nprove = \"off\"\n[limits]\ncooldown_seconds = 0\n")?;
    scene.start("--check true")?;
    scene.claim_fails()?;
    Ok(())
}

fn with_check(scene: &mut Scene) -> Result<()> {
    // What checks say without the change is found out by a process of its own, which a fault here does not end.
    scene
        .lab
        .configure("[verify]\nreview = false\nprove = \"off\"\n[limits]\ncooldown_seconds = 0\n")?;
    scene.start("--check \"sh check.sh\"")?;
    // What is counted before the run is counted in the background; an operation begins once that is done.
    let folder = ["omo", "baselines", scene.session.session()];
    let folder = GuardedFolder::create_user_part(&scene.lab.home().join(".local/state"), &folder)?;
    StateLock::take_named(&folder, "counting.lock", Duration::from_secs(20))?;
    Ok(())
}

fn with_unapproved_checks(scene: &mut Scene) -> Result<()> {
    with_check(scene)?;
    scene
        .lab
        .write("omo.toml", "[[check]]\nrun = \"true\"\n")
        .map(drop)
}

/// All of them.
pub(crate) const FAULT_OPERATIONS: [FaultOperation; 26] = [
    FaultOperation {
        name: "the first prompt with the keyword",
        prepare: |_| Ok(()),
        process: |s| prompt(s, "ulw fix it"),
        by: By::Hook,
    },
    FaultOperation {
        name: "the keyword once more",
        prepare: armed,
        process: |s| prompt(s, "ulw fix that"),
        by: By::Hook,
    },
    FaultOperation {
        name: "the keyword over a broken state",
        prepare: corrupt,
        process: |s| prompt(s, "ulw fix it"),
        by: By::Hook,
    },
    FaultOperation {
        name: "a prompt within a run",
        prepare: armed,
        process: |s| prompt(s, "and the docs"),
        by: By::Hook,
    },
    FaultOperation {
        name: "ulw off",
        prepare: armed,
        process: |s| prompt(s, "ulw off"),
        by: By::Hook,
    },
    FaultOperation {
        name: "the slash command that stops",
        prepare: armed,
        process: |s| prompt(s, "/omo:stop-continuation enough"),
        by: By::Hook,
    },
    FaultOperation {
        name: "the slash command that shows",
        prepare: armed,
        process: |s| prompt(s, "/omo:status"),
        by: By::Hook,
    },
    FaultOperation {
        name: "a check is added",
        prepare: armed,
        process: |s| prompt(s, "/omo:check add true"),
        by: By::Hook,
    },
    FaultOperation {
        name: "a stop without a claim",
        prepare: armed,
        process: |s| stop(s, "Half of it is there."),
        by: By::Hook,
    },
    FaultOperation {
        name: "a stop with a claim",
        prepare: armed,
        process: |s| stop(s, DONE),
        by: By::Hook,
    },
    FaultOperation {
        name: "a stop that is blocked honestly",
        prepare: armed,
        process: |s| stop(s, "<promise>BLOCKED: no key</promise>"),
        by: By::Hook,
    },
    FaultOperation {
        name: "a claim that a check judges",
        prepare: with_check,
        process: |s| stop(s, DONE),
        by: By::Hook,
    },
    FaultOperation {
        name: "a session goes on",
        prepare: armed,
        process: |s| {
            hook(
                s,
                "omo-session-start",
                "SessionStart",
                &json!({"source": "resume"}),
            )
        },
        by: By::Hook,
    },
    FaultOperation {
        name: "a session is cleared",
        prepare: armed,
        process: |s| {
            hook(
                s,
                "omo-session-end",
                "SessionEnd",
                &json!({"reason": "clear"}),
            )
        },
        by: By::Hook,
    },
    FaultOperation {
        name: "a turn fails",
        prepare: armed,
        process: |s| {
            hook(
                s,
                "omo-stop-failure",
                "StopFailure",
                &json!({"error": "authentication_failed"}),
            )
        },
        by: By::Hook,
    },
    FaultOperation {
        name: "a review comes in",
        prepare: reviewed,
        process: review,
        by: By::Hook,
    },
    FaultOperation {
        name: "omo stop",
        prepare: armed,
        process: |s| Ok(omo(s, &["stop"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo stop --all",
        prepare: armed,
        process: |s| Ok(omo(s, &["stop", "--all"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo ulw on",
        // Only a session that is known can be named.
        prepare: |s| {
            s.arm()?;
            s.prompt("ulw off").map(drop)
        },
        process: |s| Ok(omo(s, &["ulw", "on", "--session", s.session.session()])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo blocked",
        prepare: armed,
        process: |s| Ok(omo(s, &["blocked", "no key"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo status",
        prepare: armed,
        process: |s| Ok(omo(s, &["status"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo log",
        prepare: armed,
        process: |s| Ok(omo(s, &["log"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo verify",
        prepare: with_check,
        process: |s| Ok(omo(s, &["verify"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo check list",
        prepare: with_unapproved_checks,
        process: |s| Ok(omo(s, &["check", "list"])),
        by: By::Command,
    },
    FaultOperation {
        name: "omo check approve",
        prepare: with_unapproved_checks,
        process: |s| {
            Ok(omo(
                s,
                &["check", "approve", "--digest", &digest(s, "omo.toml")?],
            ))
        },
        by: By::Command,
    },
    FaultOperation {
        name: "omo check remove",
        prepare: with_check,
        process: |s| {
            let check = s.entry()?["gates"][0]["name"]
                .as_str()
                .context("no check")?
                .to_owned();
            Ok(omo(
                s,
                &[
                    "check",
                    "remove",
                    &check,
                    "--digest",
                    &digest(s, "these checks")?,
                ],
            ))
        },
        by: By::Command,
    },
];

/// The digest that `omo check list` shows of something.
fn digest(scene: &Scene, of: &str) -> Result<String> {
    let (command, input) = omo(scene, &["check", "list"]);
    let list = run_command(&command, &input)?.stdout;
    let after = list.split(&format!("digest of {of}: ")).nth(1);
    let digest = after.and_then(|rest| rest.split_whitespace().next());
    Ok(digest
        .with_context(|| format!("no digest of {of}: {list}"))?
        .to_owned())
}

fn review(scene: &Scene) -> Result<(Command, String)> {
    let fields = json!({"agent_type": "omo:oracle", "agent_id": "a1", "last_assistant_message": "<promise>VERIFIED</promise>"});
    hook(scene, "omo-subagent-stop", "SubagentStop", &fields)
}
