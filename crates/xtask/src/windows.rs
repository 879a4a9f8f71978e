//! The Windows build of the hooks and of `omo`, for the tests that run it under Wine.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use omo_core::session::HookEvent;

use crate::{cargo, plugin, rust_target};

/// A target for other systems to build: its linker is a package of most of them.
const TARGET: &str = "x86_64-pc-windows-gnu";
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

pub(crate) fn missing_program() -> Option<&'static str> {
    ["wine", COMPILER]
        .into_iter()
        .find(|program| !cargo::has(program))
}

/// An error that names a missing part of the build.
pub(crate) fn can_be_built() -> Result<()> {
    if let Some(program) = missing_program() {
        bail!("{program} is not installed");
    }
    rust_target::obtain(TARGET, "for the tests under Wine")
        .with_context(|| format!("no Rust target {TARGET}"))
}

/// Builds the programs, and gives their folder.
///
/// Unoptimised, which builds in a fraction of the time: tests are about behaviour.
pub(crate) fn build() -> Result<PathBuf> {
    let mut build = Command::new(cargo::cargo());
    build
        .args(["build", "--locked", "--target", TARGET])
        .current_dir(cargo::top()?);
    build.args(["-p", "omo-hooks", "-p", "omo-cli", "-p", "omo-tests"]);
    cargo::run(build.args(["--bin", plugin::HOOKS, "--bin", "omo", "--bin", "hold"]))?;
    let folder = cargo::target()?.join(TARGET).join("debug");
    for event in HookEvent::ALL {
        plugin::link(
            &folder.join(format!("{}.exe", plugin::HOOKS)),
            &folder.join(format!("{}.exe", event.program())),
        )?;
    }
    // Not beside the programs: a Wine that has the library itself should use its own.
    let stand_in = folder.join("stand-in");
    fs::create_dir_all(&stand_in).with_context(|| format!("create {}", stand_in.display()))?;
    let mut compile = Command::new(COMPILER);
    compile
        .args(["-shared", "-o"])
        .arg(stand_in.join("bcryptprimitives.dll"));
    compile
        .arg(cargo::top()?.join("tests/windows/bcryptprimitives.c"))
        .arg("-ladvapi32");
    cargo::run(&mut compile)?;
    Ok(folder)
}
