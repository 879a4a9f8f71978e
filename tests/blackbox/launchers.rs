//! The launchers of a clone, run as the client runs them: they find what was built for them
//! whatever the paths are, and where nothing is built one of them says so, once.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_testkit::run_command;

use crate::fresh_clone::{Fresh, VERSION, session_start_line};
use crate::scene::{plugin, require_sound};

/// The launchers, and whether each is one of a hook.
fn launchers(clone: &Path) -> Result<Vec<(PathBuf, bool)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(clone.join("bin"))? {
        let entry = entry?;
        found.push((entry.path(), entry.file_name() != "omo"));
    }
    ensure!(found.len() == 7, "{found:?}");
    Ok(found)
}

#[test]
fn each_launcher_becomes_its_binary_in_every_shell() -> Result<()> {
    each_becomes_its_binary(&["/bin/sh", "bash", "bash --posix"])
}

#[test]
#[ignore = "needs dash: cargo xtask test"]
fn each_launcher_becomes_its_binary_in_dash() -> Result<()> {
    each_becomes_its_binary(&["dash"])
}

#[test]
#[ignore = "needs busybox: cargo xtask test"]
fn each_launcher_becomes_its_binary_in_busybox() -> Result<()> {
    each_becomes_its_binary(&["busybox sh"])
}

fn each_becomes_its_binary(shells: &[&str]) -> Result<()> {
    let fresh = Fresh::new()?;
    for shell in shells {
        let mut words = shell.split(' ');
        let shell_program = words.next().context("no shell")?;
        for (launcher, is_hook) in launchers(&fresh.clone)? {
            let name = launcher.file_name().context("no name")?.to_string_lossy();
            let program = if is_hook { "omo-hook" } else { "omo" };
            let binary = fresh.binaries_folder().join(VERSION).join(program);
            fs::create_dir_all(fresh.binaries_folder().join(VERSION))?;
            // Says who it is, what it was given, and what it reads.
            fs::write(
                &binary,
                "#!/bin/sh\necho $$ \"${0##*/}\" \"$#\" \"$@\"; cat; exit 7\n",
            )?;
            fs::set_permissions(&binary, PermissionsExt::from_mode(0o755))?;
            if is_hook {
                // Whole, so that nothing has to be built.
                fs::copy(&binary, binary.with_file_name("omo"))?;
            }
            let mut command = fresh.lab.command("/bin/sh");
            // The shell that says its number becomes the launcher's.
            command
                .args(["-c", "echo $$; exec \"$@\"", "sh", shell_program])
                .args(words.clone())
                .args(["-u"]);
            command
                .arg(&launcher)
                .args(["a b", "*", ""])
                .env("CLAUDE_PLUGIN_DATA", fresh.data());
            let run = run_command(&command, "input\n")?;
            let number = run.stdout.lines().next().unwrap_or_default();
            // A hook's program is told which one it is.
            let given = if is_hook {
                format!("omo-hook 4 {name}")
            } else {
                "omo 3".to_owned()
            };
            let wanted = format!("{number}\n{number} {given} a b * \ninput\n");
            ensure!(
                run.stdout == wanted && run.stderr.is_empty(),
                "{shell} {name}: {run:?}"
            );
            ensure!(run.status.code() == Some(7), "{shell} {name}: {run:?}");
        }
    }
    Ok(())
}

#[test]
fn a_hook_that_is_not_built_lets_the_session_be() -> Result<()> {
    let fresh = Fresh::new()?;
    for (launcher, is_hook) in launchers(&fresh.clone)? {
        if !is_hook
            || ["omo-session-start", "omo-user-prompt-submit"]
                .iter()
                .any(|name| launcher.ends_with(name))
        {
            continue;
        }
        // Named, not there at all, and not named.
        for data in [
            Some(fresh.data()),
            Some(fresh.data().join("nowhere")),
            Some(PathBuf::new()),
            None,
        ] {
            let mut command = fresh.lab.command(&launcher);
            if let Some(data) = &data {
                command.env("CLAUDE_PLUGIN_DATA", data);
            }
            let run = run_command(&command, "{}\n")?;
            ensure!(
                run.is_silent(),
                "{} with {data:?}: {run:?}",
                launcher.display()
            );
        }
    }
    ensure!(
        !fresh.data().exists() && fresh.cargo.builds() == 0,
        "a build was begun"
    );
    Ok(())
}

#[test]
fn omo_is_found_where_the_client_keeps_the_data() -> Result<()> {
    let fresh = Fresh::new()?;
    let omo = || {
        let mut omo = fresh.lab.command(fresh.clone.join("bin/omo"));
        omo.arg("--version");
        omo
    };
    let version = format!("omo {VERSION}\n");

    let missing = run_command(&omo(), "")?;
    ensure!(
        missing.status.code() == Some(5) && missing.stdout.is_empty(),
        "{missing:?}"
    );
    let said = format!("error: omo {VERSION} is not built yet\nhint: ");
    ensure!(missing.stderr.starts_with(&said), "{missing:?}");
    let nameless = run_command(omo().env_remove("HOME"), "")?;
    ensure!(nameless.stderr == missing.stderr, "{nameless:?}");

    // Of an older version all is there: it works on until the new one does.
    fresh.lay_binaries("0.0.9")?;
    symlink("0.0.9/omo", fresh.binaries_folder().join("omo"))?;
    ensure!(run_command(&omo(), "")?.stdout == version);
    // The hooks of this version are there, and an older `omo` would not understand what they write.
    fs::create_dir_all(fresh.binaries_folder().join(VERSION))?;
    symlink(
        fresh.plugin.join("bin/omo-stop"),
        fresh.binaries_folder().join(VERSION).join("omo-hook"),
    )?;
    ensure!(run_command(&omo(), "")?.stderr == missing.stderr);
    fs::remove_dir_all(fresh.binaries_folder())?;
    fresh.lay_binaries(VERSION)?;
    ensure!(run_command(&omo(), "")?.stdout == version);
    let elsewhere = fresh.lab.home().join("else\nwhere");
    ensure!(
        run_command(omo().env("CLAUDE_CONFIG_DIR", &elsewhere), "")?
            .status
            .code()
            == Some(5)
    );
    fs::rename(fresh.lab.home().join(".claude"), &elsewhere)?;
    ensure!(run_command(omo().env("CLAUDE_CONFIG_DIR", &elsewhere), "")?.stdout == version);
    let data = elsewhere.join("plugins/data/omo-inline");
    ensure!(run_command(omo().env("CLAUDE_PLUGIN_DATA", data), "")?.stdout == version);
    Ok(())
}

#[test]
fn it_is_said_once_in_a_session() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.fail_builds()?;
    let session = fresh.session()?;
    let reported = |source: &str| session_start_line(&session, source);
    ensure!(reported("startup")?.is_some());
    fresh.outcome()?;
    for source in ["clear", "compact", "fork"] {
        ensure!(reported(source)?.is_none(), "said again after {source}");
    }
    // What became of it is news, once.
    ensure!(
        reported("resume")?.is_some_and(|line| line.contains("failed")),
        "the failure was not said"
    );
    for source in ["resume", "clear", "compact", "fork"] {
        ensure!(reported(source)?.is_none(), "said again after {source}");
    }
    // A user who goes on with an older session is told as well.
    ensure!(session_start_line(&fresh.session()?, "resume")?.is_some());
    ensure!(session_start_line(&fresh.session()?, "startup")?.is_some());
    Ok(())
}

#[test]
fn where_nothing_can_be_built_one_line_says_why() -> Result<()> {
    let fresh = Fresh::new()?;
    let start = fresh.clone.join("bin/omo-session-start");
    let input = |source: &str| format!("{{\"session_id\":\"a-b\",\"source\":\"{source}\"}}\n");
    let line = |command: &Command, source: &str| -> Result<Option<String>> {
        Ok(require_sound(&run_command(command, &input(source))?)?
            .system_message()
            .map(str::to_owned))
    };

    let nameless = fresh.lab.command(&start);
    let reported = line(&nameless, "startup")?.context("nothing was said")?;
    ensure!(
        reported.contains("needs Claude Code 2.1.163 or later: run claude update"),
        "{reported}"
    );

    // A file stands where the folder should be: not even root can write below it.
    let file = fresh.lab.home().join("file \"ü\"");
    fs::write(&file, "as it was")?;
    for data in [file.clone(), file.join("data")] {
        let mut command = fresh.lab.command(&start);
        command.env("CLAUDE_PLUGIN_DATA", &data);
        let reported = line(&command, "startup")?.context("nothing was said")?;
        ensure!(
            reported.contains("~/file \"ü\"") && reported.contains("cannot be written"),
            "{reported}"
        );
        ensure!(line(&command, "resume")?.is_none(), "said again");
    }
    ensure!(fs::read_to_string(&file)? == "as it was");

    let mut command = fresh.lab.command(&start);
    command.env("CLAUDE_PLUGIN_DATA", fresh.data());
    fs::remove_file(fresh.cargo.folder().join("version"))?;
    let reported = line(&command, "startup")?.context("nothing was said")?;
    ensure!(reported.contains("`cargo --version` fails"), "{reported}");
    fs::remove_file(fresh.cargo.folder().join("cargo"))?;
    let tools = tools_without_cargo(&fresh)?;
    let reported = line(command.env("PATH", tools), "startup")?;
    // The same kind of line in the same session.
    ensure!(reported.is_none(), "{reported:?}");
    let other = input("startup").replace("a-b", "c-d");
    let reported = require_sound(&run_command(&command, &other)?)?;
    let reported = reported.system_message().context("nothing was said")?;
    for way in [
        "no cargo on PATH",
        "https://rustup.rs",
        "/plugin marketplace add omo-cc/omo@release",
        "Node.js",
    ] {
        ensure!(reported.contains(way), "{reported}");
    }
    ensure!(fresh.cargo.builds() == 0 && !fresh.log().exists());
    Ok(())
}

/// A folder for `PATH` with what the scripts need beside cargo.
fn tools_without_cargo(fresh: &Fresh) -> Result<PathBuf> {
    let folder = fresh.lab.home().join("tools");
    fs::create_dir_all(&folder)?;
    for tool in [
        "cat", "env", "grep", "head", "mkdir", "mv", "readlink", "rm", "sed", "sleep", "tail",
        "touch", "tr",
    ] {
        let places = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(tool));
        symlink(
            places.iter().find(|place| place.exists()).context(tool)?,
            folder.join(tool),
        )?;
    }
    Ok(folder)
}

#[test]
fn a_built_plugin_holds_binaries_and_nothing_that_builds() -> Result<()> {
    let plugin = plugin();
    for entry in fs::read_dir(plugin.join("bin"))? {
        let path = entry?.path();
        ensure!(
            !fs::read(&path)?.starts_with(b"#!"),
            "{} is a launcher",
            path.display()
        );
    }
    for entry in fs::read_dir(plugin.join("scripts"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        ensure!(
            text.lines().count() == 3 && text.contains("/../bin/omo\" "),
            "{} does more than pass on",
            path.display()
        );
        ensure!(
            path.metadata()?.permissions().mode() & 0o111 == 0o111,
            "{} cannot be run",
            path.display()
        );
    }
    for part in ["Cargo.toml", "crates"] {
        ensure!(!plugin.join(part).exists(), "{part} is in the plugin");
    }
    Ok(())
}
