//! The real client for the tests: one pinned version, installed under `target/`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The version of the client that the tests are written for.
const VERSION: &str = "2.1.328";

/// The client's program, installing it where it is not there yet.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    let folder = cargo::target()?.join("claude-code").join(VERSION);
    let program = folder.join("node_modules").join("@anthropic-ai").join(platform_package()?).join("claude");
    if program.is_file() {
        return Ok(program);
    }
    if !cargo::has("npm") {
        bail!("npm is not installed, so the client @anthropic-ai/claude-code {VERSION} cannot be");
    }
    anstream::println!("installing @anthropic-ai/claude-code {VERSION} into {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let package = format!("@anthropic-ai/claude-code@{VERSION}");
    let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", ".", &package];
    // Not shown: the list of what npm added is no news.
    cargo::output(Command::new("npm").args(install).current_dir(&folder))?;
    if !program.is_file() {
        bail!("npm installed no {}", program.display());
    }
    Ok(program)
}

fn platform_package() -> Result<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => bail!("the client has no package for {other} that these tests know"),
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("the client has no package for {other} that these tests know"),
    };
    Ok(format!("claude-code-{system}-{processor}"))
}
