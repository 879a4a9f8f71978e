//! `omo setup` where there is no Claude Code that it could set anything up in, or its own folder cannot be used.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_testkit::{HookRun, Lab, run_command};

use crate::scene::plugin;

/// A folder with a `claude` that is this shell script. A shell writes it: no other test's child can
/// then hold it open, which would keep it from being started.
fn script(lab: &Lab, name: &str, text: &str) -> Result<PathBuf> {
    let folder = lab.root().join(name);
    let mut shell = Command::new("/bin/sh");
    shell.args([
        "-c",
        "mkdir \"$1\" && printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1/claude\" && chmod +x \"$1/claude\"",
        "sh",
    ]);
    ensure!(
        shell.arg(&folder).arg(text).status()?.success(),
        "no script in {}",
        folder.display()
    );
    Ok(folder)
}

/// `omo setup` with this folder as its whole `PATH`.
fn setup(lab: &Lab, plugin: &Path, path: &Path, options: &[&str]) -> Result<HookRun> {
    let mut command = lab.command(plugin.join("bin/omo"));
    command.arg("setup").args(options).env("PATH", path);
    run_command(&command, "")
}

#[test]
fn a_client_that_is_missing_too_old_or_broken_is_status_5_and_nothing_is_written() -> Result<()> {
    let plugin = plugin();
    let lab = Lab::builder().without_git().build()?;
    // What is on PATH, and what is said about it.
    for (name, text, expected) in [
        ("none", None, "there is no `claude` on PATH"),
        (
            "old",
            Some("echo '2.1.100 (Claude Code)'"),
            "is version 2.1.100, and omo needs 2.1.163 or later",
        ),
        (
            "failing",
            Some("echo 'no such thing' >&2; exit 1"),
            "`claude --version` failed: no such thing",
        ),
        (
            "another",
            Some("echo hello"),
            "gave an answer that omo does not understand: hello",
        ),
    ] {
        let path = match text {
            Some(text) => script(&lab, name, text)?,
            None => lab.root().join(name),
        };
        let run = setup(&lab, &plugin, &path, &[])?;
        ensure!(run.status.code() == Some(5), "{name}: {run:?}");
        ensure!(
            run.stderr.contains(expected) && run.stderr.contains("hint: "),
            "{name}: {}",
            run.stderr
        );
        ensure!(
            !lab.home().join(".local").exists(),
            "{name}: something was written"
        );
    }
    Ok(())
}

#[test]
fn a_relative_folder_of_path_names_no_client() -> Result<()> {
    let plugin = plugin();
    let lab = Lab::builder().without_git().build()?;
    let folder = script(&lab, "elsewhere", "touch ran; echo 2.1.328")?;
    std::os::unix::fs::symlink(folder, lab.project().join("tools"))?;
    let run = setup(&lab, &plugin, Path::new("tools:."), &[])?;
    ensure!(
        run.status.code() == Some(5) && run.stderr.contains("there is no `claude` on PATH"),
        "{run:?}"
    );
    ensure!(
        !lab.project().join("ran").exists(),
        "a program of the project was started"
    );
    Ok(())
}

#[test]
fn an_omo_that_is_no_part_of_a_plugin_says_what_has_one() -> Result<()> {
    let plugin = plugin();
    let lab = Lab::builder().without_git().build()?;
    let alone = lab.root().join("alone/bin");
    std::fs::create_dir_all(&alone)?;
    std::os::unix::fs::symlink(plugin.join("bin/omo"), lab.root().join("linked"))?;
    let copied = Command::new("cp")
        .arg(plugin.join("bin/omo"))
        .arg(&alone)
        .status()
        .context("run cp")?;
    ensure!(copied.success(), "no copy of omo");
    let run = setup(&lab, alone.parent().context("no folder")?, &alone, &[])?;
    ensure!(run.status.code() == Some(5), "{run:?}");
    for part in ["plugin.json is missing", "cargo xtask install", "archive"] {
        ensure!(run.stderr.contains(part), "no {part:?} in {}", run.stderr);
    }
    // A link to the one of a plugin is that one, which then lacks nothing but a client.
    let mut linked = lab.command(lab.root().join("linked"));
    linked.arg("setup").env("PATH", "/nowhere");
    let run = run_command(&linked, "")?;
    ensure!(run.status.code() == Some(5), "{run:?}");
    Ok(())
}

#[test]
fn without_a_client_nothing_is_removed_that_it_still_knows() -> Result<()> {
    let plugin = plugin();
    let lab = Lab::builder().without_git().build()?;
    let run = setup(&lab, &plugin, Path::new("/nowhere"), &["--remove"])?;
    ensure!(
        run.status.success() && run.stdout.contains("nothing to remove"),
        "{run:?}"
    );
    let staged = lab.home().join(".local/share/omo/plugin");
    std::fs::create_dir_all(&staged)?;
    let run = setup(&lab, &plugin, Path::new("/nowhere"), &["--remove"])?;
    ensure!(run.status.code() == Some(5) && staged.is_dir(), "{run:?}");
    ensure!(
        run.stderr.contains(&staged.display().to_string()),
        "{}",
        run.stderr
    );
    Ok(())
}

/// What an omo that has gone leaves behind: the link for terminals, and a status line of its user's.
#[test]
fn a_removal_takes_away_what_would_dangle_and_nothing_else() -> Result<()> {
    let plugin = plugin();
    let lab = Lab::builder().without_git().build()?;
    let [link, settings] =
        [".local/bin/omo", ".claude/settings.json"].map(|path| lab.home().join(path));
    let gone = lab.home().join(".claude/plugins/data/omo-omo/bin/omo");
    std::fs::create_dir_all(lab.home().join(".local/bin"))?;
    std::fs::create_dir_all(lab.home().join(".claude"))?;
    std::os::unix::fs::symlink(&gone, &link)?;
    let command = |program: &Path| format!("\"command\": \"{} statusline\"", program.display());
    for (program, is_gone) in [(&gone, true), (&lab.home().join("other/omo"), false)] {
        let text = format!(
            "{{ \"model\":  \"opus\",\n \"statusLine\": {{{}}}}}\n",
            command(program)
        );
        std::fs::write(&settings, &text)?;
        let run = setup(&lab, &plugin, Path::new("/nowhere"), &["--remove"])?;
        ensure!(run.status.success() && run.stderr.is_empty(), "{run:?}");
        ensure!(
            run.stdout.contains("`statusLine` is removed from") == is_gone,
            "{run:?}"
        );
        let left = if is_gone {
            "{ \"model\":  \"opus\"}\n".to_owned()
        } else {
            text
        };
        ensure!(std::fs::read_to_string(&settings)? == left && link.symlink_metadata().is_err());
    }
    Ok(())
}

#[test]
fn only_an_omo_that_stays_where_it_is_is_linked() -> Result<()> {
    let plugin = plugin();
    let lab = Lab::builder().without_git().build()?;
    let run = setup(&lab, &plugin, Path::new("/nowhere"), &["--link"])?;
    ensure!(
        run.status.code() == Some(5) && run.stderr.contains("does not stay where it is"),
        "{run:?}"
    );
    let data = lab.home().join(".claude/plugins/data/omo-omo/bin");
    std::fs::create_dir_all(&data)?;
    std::os::unix::fs::symlink(plugin.join("bin/omo"), data.join("omo"))?;
    // No folder is made for a link alone; its user is told how to do without.
    let run = setup(&lab, &plugin, Path::new("/nowhere"), &["--link"])?;
    let wanted = format!("export PATH={}:", data.display());
    ensure!(
        run.status.success() && run.stdout.contains(&wanted),
        "{run:?}"
    );
    ensure!(!lab.home().join(".local").exists());
    let own = lab.home().join(".local/bin");
    let run = setup(&lab, &plugin, &own, &["--link"])?;
    ensure!(
        run.status.success() && run.stdout.contains("`omo` runs it"),
        "{run:?}"
    );
    ensure!(std::fs::read_link(own.join("omo"))? == data.join("omo"));
    Ok(())
}

/// A client that has no plugin yet.
const FRESH: &str =
    "case \"$*\" in --version) echo '2.1.328 (Claude Code)';; *list*) echo '[]';; *) exit 1;; esac";

#[test]
fn a_data_folder_that_cannot_be_used_is_named() -> Result<()> {
    let lab = Lab::builder().without_git().build()?;
    let client = script(&lab, "client", FRESH)?;
    let (file, link) = (lab.root().join("file"), lab.root().join("linked"));
    std::fs::write(&file, "of the user")?;
    std::fs::create_dir(&link)?;
    std::os::unix::fs::symlink("/nowhere", link.join("omo"))?;
    // No user can make a folder in /proc, root included.
    for place in [file.as_path(), &link, Path::new("/proc")] {
        let mut command = lab.command(plugin().join("bin/omo"));
        command
            .arg("setup")
            .env("PATH", path_with(&client))
            .env("XDG_DATA_HOME", place);
        let run = run_command(&command, "")?;
        ensure!(run.status.code() == Some(9), "{run:?}");
        for part in [
            &*place.to_string_lossy(),
            "XDG_DATA_HOME",
            "error: ",
            "hint: ",
        ] {
            ensure!(run.stderr.contains(part), "no {part:?} in {}", run.stderr);
        }
    }
    ensure!(std::fs::read_to_string(file)? == "of the user");
    Ok(())
}

#[test]
fn two_setups_at_once_are_distinguished() -> Result<()> {
    let lab = Lab::builder().without_git().build()?;
    let client = script(&lab, "client", FRESH)?;
    let folder = GuardedFolder::create_user(&lab.home().join(".local/share"))?;
    let _held = StateLock::take(&folder, DEADLINE)?;
    let run = setup(&lab, &plugin(), &path_with(&client), &[])?;
    ensure!(
        run.status.code() == Some(6) && run.stderr.contains("another `omo setup` is at work"),
        "{run:?}"
    );
    ensure!(!lab.home().join(".local/share/omo/plugin").exists());
    Ok(())
}

/// The client, and the programs that its script starts.
fn path_with(client: &Path) -> PathBuf {
    PathBuf::from(format!("{}:/usr/bin:/bin", client.display()))
}
