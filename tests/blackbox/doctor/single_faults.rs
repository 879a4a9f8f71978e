//! One thing is broken at a time, and exactly the row that is about it changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::Context;
use serde_json::json;

use super::{listed, play, write};

#[test]
fn what_is_wrong_with_the_installation_is_named_right() {
    play(&[
        (
            |w| w.client("2.1.162", &[listed("omo@omo", &w.installed, true)]),
            "client",
            "bad",
            "Claude Code 2.1.162",
        ),
        (
            |w| w.set_version("0.2.0"),
            "versions",
            "bad",
            "omo@omo is 0.2.0",
        ),
        (
            |w| {
                let hook = fs::read(w.installed.join("bin/omo-stop"))?;
                let at = hook
                    .windows(11)
                    .position(|part| part == b"(omo 0.1.0)")
                    .context("no version in omo-stop")?;
                let other = [&hook[..at], b"(omo 0.0.9)", &hook[at + 11..]].concat();
                Ok(fs::write(w.installed.join("bin/omo-stop"), other)?)
            },
            "versions",
            "bad",
            "omo-stop is 0.0.9",
        ),
        (
            |w| {
                Ok(fs::set_permissions(
                    w.installed.join("bin/omo-stop"),
                    fs::Permissions::from_mode(0o644),
                )?)
            },
            "programs",
            "bad",
            "may not be run: omo-stop",
        ),
        (
            |w| Ok(fs::remove_file(w.installed.join("bin/omo-session-end"))?),
            "programs",
            "bad",
            "omo-session-end",
        ),
        (
            |w| {
                write(
                    &w.home(".claude/settings.json"),
                    "{\"disableAllHooks\": true}",
                )
            },
            "settings",
            "bad",
            "disableAllHooks is true in ",
        ),
        (
            |w| {
                write(
                    &w.scene.lab.project().join(".claude/settings.local.json"),
                    "{\"disableAllHooks\": true}",
                )
            },
            "settings",
            "bad",
            ".claude/settings.local.json",
        ),
        (
            |w| write(&w.home(".claude/settings.json"), "{half"),
            "settings",
            "warning",
            "is not JSON",
        ),
        (
            |w| {
                let command = w.installed.join("bin/omo-stop");
                let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
                write(&w.home(".claude/settings.json"), &hooks.to_string())
            },
            "twice",
            "bad",
            "runs hooks of omo (Stop) as well as omo@omo",
        ),
        (
            |w| {
                w.client(
                    "2.1.328",
                    &["omo@omo", "omo@fork"].map(|id| listed(id, &w.installed, true)),
                )
            },
            "twice",
            "warning",
            "omo@omo and omo@fork both run hooks of omo",
        ),
        (
            |w| {
                let other = listed("ralph-loop@official", &w.home("none"), true);
                w.client("2.1.328", &[listed("omo@omo", &w.installed, true), other])
            },
            "other-loops",
            "warning",
            "ralph-loop@official is enabled",
        ),
    ]);
}

#[test]
fn what_is_wrong_with_the_surroundings_is_named_right() {
    play(&[
        (
            |w| {
                w.set("OMO_DISABLE", "1");
                Ok(())
            },
            "OMO_DISABLE",
            "bad",
            "in the environment",
        ),
        (
            |w| {
                w.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
                Ok(())
            },
            "block-cap",
            "warning",
            "is `0` in the environment",
        ),
        (
            |w| {
                w.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "lots");
                Ok(())
            },
            "block-cap",
            "warning",
            "is `lots`",
        ),
        (
            |w| {
                let env = "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"3\"}}";
                write(&w.scene.lab.project().join(".claude/settings.json"), env)
            },
            "block-cap",
            "warning",
            "is `3` in ",
        ),
        (
            |w| {
                w.set("CLAUDE_PROJECT_DIR", "relative");
                Ok(())
            },
            "project",
            "warning",
            "not an absolute path",
        ),
        (
            |w| {
                w.scene
                    .lab
                    .write(".claude/ralph-loop.local.md", "x")
                    .map(drop)
            },
            "other-loops",
            "bad",
            "a Ralph loop is on",
        ),
        (
            |w| w.scene.lab.write(".omc/state/x", "x").map(drop),
            "other-loops",
            "warning",
            ".omc/state",
        ),
        (
            |w| w.goal(&json!({})),
            "goal",
            "warning",
            "/goal is on in session a-session: the tests pass",
        ),
        (
            |w| w.scene.lab.configure("[limits]\nmax_blocks = 900\n"),
            "config",
            "bad",
            "config.toml:2: `limits.max_blocks`",
        ),
        (
            |w| w.scene.lab.configure("keywords = []\n"),
            "config",
            "warning",
            "`keywords = []` in ",
        ),
        (
            |w| {
                w.scene
                    .lab
                    .write("omo.toml", "[[check]]\nrun = \"true\"\n")
                    .map(drop)
            },
            "omo.toml",
            "warning",
            "not approved",
        ),
        (
            |w| w.scene.lab.write("omo.toml", "[[check]]\n").map(drop),
            "omo.toml",
            "bad",
            "omo.toml:1",
        ),
        (
            |w| {
                Ok(fs::set_permissions(
                    w.home(".local/state/omo/key"),
                    fs::Permissions::from_mode(0o644),
                )?)
            },
            "trust",
            "bad",
            "others may read or write",
        ),
        (
            |w| write(&w.home(".local/state/omo/key"), "short"),
            "trust",
            "bad",
            "holds no key",
        ),
        (
            |w| {
                let file = w.home(".local/state/omo/trust.json");
                write(&file, "[]")?;
                Ok(fs::set_permissions(
                    file,
                    fs::Permissions::from_mode(0o600),
                )?)
            },
            "trust",
            "bad",
            "trust.json is not as this omo writes it",
        ),
    ]);
}

#[test]
fn what_is_wrong_with_the_state_is_named_right() {
    play(&[
        (
            |w| w.scene.write_state(b"garbage"),
            "state",
            "bad",
            "does not parse",
        ),
        (
            |w| {
                Ok(fs::set_permissions(
                    w.scene.lab.state_folder(),
                    fs::Permissions::from_mode(0o755),
                )?)
            },
            "state",
            "warning",
            "others may read or write",
        ),
        (
            |w| write(&w.state("runtime.local.json.corrupt-2026"), "x"),
            "state",
            "warning",
            "1 copy of a state that did not parse",
        ),
        (
            |w| {
                let line = format!(
                    "{} Stop (omo 0.1.0): the disk is full\n",
                    omo_state::env::now()
                );
                write(&w.state("hooks.log"), &line)
            },
            "log",
            "warning",
            "1 error in the last week, the last one: ",
        ),
        (
            |w| Ok(fs::remove_file(w.state(".gitignore"))?),
            "git",
            "warning",
            "git does not ignore",
        ),
        (
            |w| {
                w.scene
                    .lab
                    .git(&["add", "-f", ".sisyphus/cc-omo/runtime.local.json"])
                    .map(drop)
            },
            "git",
            "bad",
            "git tracks 1 file",
        ),
    ]);
}
