//! The place of this repository, and programs run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

pub(crate) fn top() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here
        .ancestors()
        .nth(2)
        .context("find the top of the repository")?
        .to_owned())
}

pub(crate) fn target() -> Result<PathBuf> {
    let metadata = output(
        Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version=1"])
            .current_dir(top()?),
    )?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).context("read cargo metadata")?;
    let folder = metadata
        .get("target_directory")
        .and_then(|value| value.as_str());
    folder
        .map(PathBuf::from)
        .context("cargo metadata names no target directory")
}

pub(crate) fn cargo() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo says through its environment which cargo it is"
    )]
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

/// Runs this program again, with features that only few of its tasks need.
#[cfg(not(all(feature = "dist", feature = "picture")))]
pub(crate) fn run_with_all_features<Argument: AsRef<std::ffi::OsStr>>(
    arguments: &[Argument],
) -> Result<()> {
    let mut command = Command::new(cargo());
    command.args([
        "run",
        "--quiet",
        "--locked",
        "-p",
        env!("CARGO_PKG_NAME"),
        "--all-features",
        "--",
    ]);
    run(command.args(arguments).current_dir(top()?))
}

pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("read the output of {command:?}"))
}

/// `true` for a program that can be started.
pub(crate) fn has(program: &str) -> bool {
    let version = if matches!(program, "tmux" | "sshd") {
        "-V"
    } else {
        "--version"
    };
    let probe = Command::new(program)
        .arg(version)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    probe.is_ok_and(|status| status.success())
}
