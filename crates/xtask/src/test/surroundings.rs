//! Surroundings of a suite, the same from any start: default signals, no terminal, a known umask and locale, and no
//! variable that would steer git, the client, omo or cargo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use omo_process::platform::own_program;

const TASK: &str = "suite";
/// Prefixes of variables that steer other programs.
const STEERING: [&str; 5] = ["ANTHROPIC_", "CARGO_", "CLAUDE", "GIT_", "OMO_"];
/// Exceptions: variables of the runner for a suite, and cargo's folder of downloads.
const KEPT: [&str; 3] = ["CARGO_HOME", "CARGO_MANIFEST_DIR", "OMO_TEST_"];
/// A locale that needs no installation.
const LOCALE: &str = "C.UTF-8";

/// A test binary with its arguments.
#[derive(Args)]
pub(crate) struct Suite {
    /// Set once the process is in a session without a terminal
    #[arg(long, hide = true)]
    in_session: bool,
    program: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// A command that starts a test binary in these surroundings.
pub(super) fn command(program: &Path) -> Result<Command> {
    // A suite of this package was built with a new program in the place of this one.
    let mut command = Command::new(own_program().context("find this program")?);
    command.arg(TASK).arg(program);
    Ok(command)
}

/// Replaces this process with a test binary in these surroundings.
pub(crate) fn become_suite(suite: &Suite) -> Result<()> {
    omo_process::termination::reset_signals_of_started_programs();
    enter_session(suite)?;
    let mut command = Command::new(&suite.program);
    command.args(&suite.arguments);
    for (name, _) in std::env::vars_os() {
        if is_left_out(&name.to_string_lossy()) {
            command.env_remove(&name);
        }
    }
    command.envs([("LANG", LOCALE), ("LC_ALL", LOCALE)]);
    replace_this_process(&mut command)
}

/// `true` for a variable that a suite does not get.
fn is_left_out(name: &str) -> bool {
    let has_beginning = |beginnings: &[&str]| {
        beginnings
            .iter()
            .any(|beginning| name.starts_with(beginning))
    };
    has_beginning(&STEERING) && !has_beginning(&KEPT)
}

#[cfg(unix)]
fn replace_this_process(command: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;

    use rustix::fs::Mode;
    use rustix::process::umask;

    umask(Mode::WGRP | Mode::WOTH);
    Err(command.exec()).with_context(|| format!("run {command:?}"))
}

/// A session without a terminal, whose leader is another process: a leader that opens a pseudoterminal is hung up with
/// it. Ctrl-C no longer reaches the suite; it ends with the task.
#[cfg(target_os = "linux")]
#[expect(clippy::exit, reason = "the status is the one of the suite")]
fn enter_session(suite: &Suite) -> Result<()> {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::{Signal, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::TERM)).context("end with the task")?;
    if suite.in_session {
        return Ok(());
    }
    omo_process::detached::leave_terminal().context("leave the terminal")?;
    let mut inner = Command::new(own_program().context("find this program")?);
    inner
        .args([TASK, "--in-session"])
        .arg(&suite.program)
        .args(&suite.arguments);
    let status = inner.status().with_context(|| format!("run {inner:?}"))?;
    std::process::exit(
        status
            .code()
            .or_else(|| Some(128 + status.signal()?))
            .unwrap_or(1),
    )
}

/// On systems where nothing ends a process with its parent, Ctrl-C has to.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
fn enter_session(_suite: &Suite) -> Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn replace_this_process(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("run {command:?}"))?;
    std::process::exit(status.code().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_other_programs_is_left_out() {
        for name in [
            "GIT_DIR",
            "CLAUDECODE",
            "CLAUDE_PLUGIN_ROOT",
            "ANTHROPIC_BASE_URL",
            "OMO_DISABLE",
            "CARGO_BUILD_TARGET",
        ] {
            assert!(is_left_out(name), "{name}");
        }
        for name in [
            "CARGO",
            "CARGO_HOME",
            "CARGO_MANIFEST_DIR",
            "OMO_TEST_PLUGIN",
            "RUSTUP_HOME",
            "PATH",
            "DIGIT_X",
        ] {
            assert!(!is_left_out(name), "{name}");
        }
    }
}
