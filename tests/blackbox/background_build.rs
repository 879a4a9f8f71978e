//! A clone that is built in the background: once, outside of the session, and never half.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::{run_command, wait_until};
use omo_tests::claim_scene::processes_with;

use crate::fresh_clone::{Fresh, VERSION, session_start_line};
use crate::scene::require_sound;

#[test]
fn the_first_session_has_it_built_and_the_next_prompt_finds_it() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    let mut session = fresh.session()?;
    let line = session_start_line(&session, "startup")?.context("nothing was said")?;
    ensure!(
        line.starts_with(&format!(
            "[omo] omo {VERSION} is being built, once, in the background"
        )),
        "{line}"
    );
    // A path is told without what breaks a line.
    ensure!(
        line.ends_with("Progress: ~/.claude/plugins/data/omo-inline/build.log"),
        "{line}"
    );
    fresh.cargo.wait_for_builds(1)?;
    ensure!(
        session.prompt("fix the tests")?.is_silent(),
        "told although nothing was asked of omo"
    );
    let reported = require_sound(&session.prompt("ulw fix the tests")?)?;
    let line = reported.system_message().context("nothing was said")?;
    let wanted = format!(
        "[omo] this prompt is not held: omo {VERSION} is being built, once, in the background (crate 12 of 57). "
    );
    ensure!(
        line.starts_with(&wanted) && line.contains("says that it is ready"),
        "{line}"
    );
    fresh.cargo.release()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));

    // The first prompt after that is held, and says so beside what the model is told; no other does.
    let reported = require_sound(&session.prompt("ulw fix the tests")?)?;
    ensure!(
        reported
            .system_message()
            .is_some_and(|line| line.starts_with(&format!("[omo] omo {VERSION} is ready: "))),
        "{reported:?}"
    );
    ensure!(
        reported
            .additional_context()
            .is_some_and(|text| text.contains("<ultrawork-mode>")),
        "{reported:?}"
    );
    ensure!(
        require_sound(&session.stop("Some of it is done.")?)?.blocks(),
        "not held"
    );
    let again = require_sound(&session.prompt("go on")?)?;
    ensure!(
        again
            .system_message()
            .is_none_or(|line| !line.contains("is ready")),
        "{again:?}"
    );

    // The folder was built in place of nothing, whole, and nothing else is left.
    let log = fs::read_to_string(fresh.log())?;
    let first = log.lines().next().unwrap_or_default();
    ensure!(
        first.ends_with(&format!(
            "Z building omo {VERSION} with cargo 2.0.0 (pretended)"
        )),
        "{log}"
    );
    let mut left: Vec<_> = fs::read_dir(fresh.data())?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    left.sort();
    ensure!(left == ["bin", "build.log"], "{left:?}");
    ensure!(fs::read_link(fresh.binaries_folder().join("omo"))? == Path::new(VERSION).join("omo"));
    ensure!(fs::read_dir(fresh.binaries_folder().join(VERSION))?.count() == 2);
    let rights = fs::metadata(fresh.log())?.permissions().mode();
    ensure!(rights & 0o777 == 0o600, "others may read: {rights:o}");
    Ok(())
}

#[test]
fn cargo_builds_the_copy_and_nothing_of_the_session_or_the_project() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.line_of_a_new_session()?;
    fresh.outcome()?;
    ensure!(
        fresh.cargo.recorded_input("folder").trim_end()
            == fs::canonicalize(&fresh.clone)?.to_string_lossy()
    );
    let target = fresh.data().join("build");
    // The hooks first, which sessions wait for.
    let call = |what| {
        format!(
            "build --locked --release {what} --target-dir {}\n",
            target.display()
        )
    };
    let wanted = ["-p omo-hooks --bin omo-hook", "-p omo-cli --bin omo"]
        .map(call)
        .concat();
    ensure!(
        fresh.cargo.recorded_input("arguments") == wanted,
        "{}",
        fresh.cargo.recorded_input("arguments")
    );
    // What cargo downloads is shared as it always is.
    let usual = run_command(fresh.lab.command("/bin/sh").args(["-c", "umask"]), "")?;
    ensure!(
        fresh.cargo.recorded_input("umask") == usual.stdout,
        "{}",
        fresh.cargo.recorded_input("umask")
    );
    let environment = fresh.cargo.recorded_input("environment");
    let names: Vec<_> = environment
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    ensure!(
        names.contains(&"HOME") && names.contains(&"PATH"),
        "{names:?}"
    );
    let secret = |name: &&&str| {
        ["ANTHROPIC", "CLAUDE", "OMO_"]
            .iter()
            .any(|begin| name.starts_with(begin))
    };
    ensure!(names.iter().find(secret).is_none(), "{names:?}");
    Ok(())
}

/// What a process has open.
fn open_files(process: &str) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(format!("/proc/{process}/fd"))?.flatten();
    Ok(files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .collect())
}

/// A session that ends may end what it started, and waits for processes that hold its pipes: a build must be neither.
#[test]
fn a_build_is_no_part_of_the_session() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    // What the process that runs this test left open for its children.
    let inherited = open_files("self")?;
    let mut start = fresh.lab.command("/bin/sh");
    // The client may leave more open than the usual three.
    start
        .args(["-c", "exec \"$0\" 3>&1 9>&2"])
        .arg(fresh.clone.join("bin/omo-session-start"));
    start
        .env("CLAUDE_PLUGIN_DATA", fresh.data())
        .process_group(0);
    let mut start = start
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    ensure!(start.wait()?.success());
    fresh.cargo.wait_for_builds(1)?;
    let builders = processes_with(&fresh.data().display().to_string());
    ensure!(builders.len() >= 2, "{builders:?}");
    for process in builders {
        for file in open_files(&process.to_string())? {
            let is_own = file.to_string_lossy().starts_with("pipe:") && !inherited.contains(&file);
            ensure!(!is_own, "{process} holds {}", file.display());
        }
    }
    Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", start.id())])
        .stderr(Stdio::null())
        .status()?;
    fresh.cargo.release()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    Ok(())
}

/// The least Rust version that builds omo.
fn least_rust() -> Result<String> {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))?;
    let mut lines = manifest.lines();
    let version = lines.find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    Ok(version.context("no rust-version")?.to_owned())
}

#[test]
fn a_failed_build_is_tried_again_only_when_it_can_be_different() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.fail_builds()?;
    fresh.line_of_a_new_session()?;
    ensure!(fresh.outcome()? == "failed: cargo build ended with 101");
    let log = fs::read_to_string(fresh.log())?;
    ensure!(log.contains("error: no such luck"), "{log}");

    for _ in 0..2 {
        let line = fresh.line_of_a_new_session()?;
        let said = format!("[omo] building omo {VERSION} failed: cargo build ended with 101. ");
        ensure!(line.starts_with(&said), "{line}");
        ensure!(
            line.contains(" ~/.claude/plugins/data/omo-inline/build.log says why. "),
            "{line}"
        );
        ensure!(line.contains("To try again: rm '/"), "{line}");
    }
    // A builder that comes too late, as when two sessions start at once, holds to it too.
    fresh.build_by_hand()?;
    ensure!(
        (fresh.cargo.builds(), &fs::read_to_string(fresh.log())?) == (1, &log),
        "built again"
    );

    fresh.cargo.has_version("cargo 2.1.0 (pretended)")?;
    ensure!(fresh.line_of_a_new_session()?.contains("is being built"));
    fresh.cargo.wait_for_builds(2)?;
    fresh.outcome()?;
    ensure!(fresh.line_of_a_new_session()?.contains("failed"));
    fs::remove_file(fresh.log())?;
    ensure!(fresh.line_of_a_new_session()?.contains("is being built"));
    fresh.cargo.wait_for_builds(3)?;
    fresh.outcome()?;
    Ok(())
}

#[test]
fn a_build_that_fails_with_an_older_cargo_says_so() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.fail_builds()?;
    fresh.cargo.has_version("cargo 1.9.0 (pretended)")?;
    fresh.line_of_a_new_session()?;
    fresh.outcome()?;
    let (line, least) = (fresh.line_of_a_new_session()?, least_rust()?);
    let said = format!(
        "ended with 101 (omo needs Rust {least} or later, and this cargo is 1.9.0: run rustup update). "
    );
    ensure!(line.contains(&said), "{line}");
    Ok(())
}

#[test]
fn two_at_once_build_once() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    fresh.line_of_a_new_session()?;
    fresh.cargo.wait_for_builds(1)?;
    ensure!(fresh.line_of_a_new_session()?.contains("is being built"));
    // Another builder finds the lock, and leaves at once; the one that builds is not disturbed.
    fresh.build_by_hand()?;
    fresh.cargo.release()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    fresh.build_by_hand()?;
    ensure!(fresh.cargo.builds() == 1, "{} builds", fresh.cargo.builds());

    fs::remove_dir_all(fresh.data())?;
    fs::create_dir_all(fresh.binaries_folder())?;
    fresh.cargo.unblock_builds()?;
    let builders: Vec<_> = (0..8)
        .map(|_| fresh.builder().spawn())
        .collect::<Result<_, _>>()?;
    for mut builder in builders {
        ensure!(builder.wait()?.success());
    }
    ensure!(fresh.cargo.builds() == 2, "{} builds", fresh.cargo.builds());
    Ok(())
}

#[test]
fn a_killed_builder_does_not_block_the_next() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    fresh.line_of_a_new_session()?;
    fresh.cargo.wait_for_builds(1)?;
    let lock = fresh.data().join("build.lock");
    let builder = fs::read_link(&lock)?;
    let builder = builder.to_str().context("no number")?;
    ensure!(
        processes_with("build-in-background.sh").contains(&builder.parse()?),
        "the lock names {builder}"
    );
    ensure!(
        Command::new("kill")
            .args(["-KILL", builder])
            .status()?
            .success()
    );
    fresh.cargo.end();
    fresh.cargo.unblock_builds()?;

    fresh.line_of_a_new_session()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));

    // Nor does a lock whose number belongs to another process by now, nor one that is none.
    for locked in [
        Some(std::process::id().to_string()),
        Some("not a number".into()),
        None,
    ] {
        // It says that it is done before it gives the lock back.
        wait_until("the end of the builder", || {
            lock.symlink_metadata().is_err().then_some(())
        })?;
        fs::remove_dir_all(fresh.binaries_folder())?;
        fs::remove_file(fresh.log())?;
        match locked {
            Some(number) => symlink(number, &lock)?,
            None => fs::write(&lock, "")?,
        }
        fresh.line_of_a_new_session()?;
        ensure!(fresh.outcome()? == format!("built {VERSION}"));
    }
    ensure!(fresh.cargo.builds() == 5, "{} builds", fresh.cargo.builds());
    Ok(())
}

#[test]
fn a_build_that_outlives_the_plugin_leaves_nothing() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    let mut builder = fresh.builder();
    fs::create_dir_all(fresh.binaries_folder())?;
    let mut builder = builder.spawn()?;
    fresh.cargo.wait_for_builds(1)?;
    // As the client does when it uninstalls a plugin.
    fs::remove_dir_all(fresh.data())?;
    fresh.cargo.release()?;
    ensure!(builder.wait()?.success());
    ensure!(!fresh.data().exists(), "the folder is there again");
    Ok(())
}

#[test]
fn the_version_before_stays_and_older_ones_go() -> Result<()> {
    let fresh = Fresh::new()?;
    for version in ["0.0.1", "0.0.2", "0.0.10"] {
        fresh.lay_binaries(version)?;
    }
    symlink("0.0.2/omo", fresh.binaries_folder().join("omo"))?;
    fs::write(fresh.binaries_folder().join("notes"), "a user's")?;
    // The version before holds sessions meanwhile, and there is nothing to tell.
    ensure!(session_start_line(&fresh.session()?, "startup")?.is_none());
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    let mut left: Vec<_> = fs::read_dir(fresh.binaries_folder())?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    left.sort();
    ensure!(left == ["0.0.2", VERSION, "notes", "omo"], "{left:?}");
    ensure!(fs::read_link(fresh.binaries_folder().join("omo"))? == Path::new(VERSION).join("omo"));

    // Built once more, it takes nothing away.
    fs::remove_dir_all(fresh.binaries_folder().join(VERSION))?;
    fs::remove_file(fresh.log())?;
    ensure!(fresh.session()?.prompt("hello")?.is_silent());
    fresh.outcome()?;
    ensure!(fresh.binaries_folder().join("0.0.2").exists());
    Ok(())
}
