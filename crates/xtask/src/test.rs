//! `cargo xtask test`: every test of the project.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;
use omo_testkit::instructions;

use crate::needs::{self, Missing};
use crate::{cargo, client, dist, plugin, windows};

/// How the tests are run.
#[derive(Args)]
pub(crate) struct Options {
    /// Fail where a program that tests need is missing, instead of leaving those tests out: the real
    /// client, tmux to drive it, strace, valgrind, Wine with what builds for Windows
    #[arg(long)]
    require_all: bool,
    /// Only run tests whose name contains this
    filter: Option<String>,
}

/// Builds the plugin, then runs all tests against it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let plugin = plugin::build()?;
    let mut missing = needs::missing();
    let mut tests = Command::new(cargo::cargo());
    tests.args(["test", "--workspace", "--all-features", "--locked"]).current_dir(cargo::top()?);
    tests.env("OMO_TEST_PLUGIN", &plugin.path).env("OMO_TEST_TARGET", plugin.build.triple());
    tests.env("OMO_TEST_ARCHIVE", dist::pack_for_tests()?);
    match real_client() {
        Ok(program) => _ = tests.env("OMO_TEST_CLIENT", program),
        Err(why) => {
            missing.push(Missing { name: needs::CLIENT, why: format!("{why:#}"), can_be_installed: true });
        }
    }
    match windows::can_be_built() {
        Ok(()) => _ = tests.env("OMO_TEST_WINDOWS", windows::build()?),
        Err(why) => {
            // A Rust target that cannot be had is no program that somebody forgot to install.
            let can_be_installed = windows::missing_program().is_some();
            missing.push(Missing { name: needs::WINE, why: format!("{why:#}"), can_be_installed });
        }
    }
    if instructions::held(plugin.build.triple())?.is_none() {
        let why = format!("no counts are held for {}; see `cargo xtask instructions`", plugin.build.triple());
        missing.push(Missing { name: needs::VALGRIND, why, can_be_installed: false });
    }
    if let Some(Missing { name, why, .. }) =
        missing.iter().find(|missing| options.require_all && missing.can_be_installed)
    {
        bail!("tests need {name}: {why}");
    }
    tests.args(&options.filter).args(["--", "--include-ignored"]);
    let ignored = needs::ignored()?;
    for test in ignored.iter().filter(|test| !test.can_run(&missing)) {
        tests.args(["--skip", &test.name]);
    }
    cargo::run(&mut tests)?;
    if options.filter.is_none() {
        check_what_is_built_from()?;
    }
    for Missing { name, why, .. } in &missing {
        let count = ignored.iter().filter(|test| test.needs(name)).count();
        anstream::println!("{count} tests that need {name} did not run: {why}");
    }
    Ok(())
}

/// Has cargo-deny, where it is installed, hold deny.toml for every target; the tests hold it for this one.
fn check_what_is_built_from() -> Result<()> {
    if !cargo::has("cargo-deny") {
        anstream::println!("cargo deny did not run: cargo-deny is not installed");
        return Ok(());
    }
    let check = ["deny", "--locked", "check", "licenses", "bans", "sources"];
    cargo::run(Command::new(cargo::cargo()).args(check).current_dir(cargo::top()?))
}

fn real_client() -> Result<PathBuf> {
    if !cargo::has("tmux") {
        bail!("tmux is not installed, and it types for the person in them");
    }
    client::find_or_install()
}
