//! `cargo xtask test`: every test of the project.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

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

/// Programs that some tests need on Linux, and what those are about.
const NEEDED: [(&str, &str); 3] = [
    ("strace", "failing calls, kills and network calls"),
    ("valgrind", "instruction counts"),
    ("sshd", "sessions on another host"),
];

/// Builds the plugin, then runs all tests against it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let plugin = plugin::build()?;
    let client = real_client();
    let windows = match windows::can_be_built() {
        Ok(()) => Ok(windows::build()?),
        Err(why) => Err(why),
    };
    let missing: Vec<_> =
        NEEDED.into_iter().filter(|(program, _)| cfg!(target_os = "linux") && !cargo::has(program)).collect();
    if let Some((program, what)) = missing.first().filter(|_| options.require_all) {
        bail!("{program} is not installed, and the tests of {what} need it");
    }
    let mut tests = Command::new(cargo::cargo());
    tests.args(["test", "--workspace", "--all-features", "--locked"]).current_dir(cargo::top()?);
    tests.env("OMO_TEST_PLUGIN", &plugin.path).env("OMO_TEST_TARGET", plugin.build.triple());
    tests.env("OMO_TEST_ARCHIVE", dist::pack_for_tests()?);
    match &client {
        Ok(program) => {
            tests.env("OMO_TEST_CLIENT", program);
        }
        Err(why) if options.require_all => bail!("{why}"),
        Err(_) => {
            tests.env_remove("OMO_TEST_CLIENT");
        }
    }
    match &windows {
        Ok(folder) => {
            tests.env("OMO_TEST_WINDOWS", folder);
        }
        // A Rust target that cannot be had is no program that somebody forgot to install.
        Err(why) if options.require_all && windows::missing_program().is_some() => {
            bail!("the Windows build cannot be tested: {why:#}")
        }
        Err(_) => {
            tests.env_remove("OMO_TEST_WINDOWS");
        }
    }
    if let Some(filter) = &options.filter {
        tests.arg(filter);
    }
    cargo::run(&mut tests)?;
    if options.filter.is_none() {
        check_what_is_built_from()?;
    }
    for (program, what) in missing {
        anstream::println!("the tests of {what} did not run: {program} is not installed");
    }
    if let Err(why) = windows {
        anstream::println!("the tests of the Windows build did not run: {why:#}");
    }
    if let Err(why) = client {
        let left_out = real_client_tests()?;
        anstream::println!("{left_out} real-client tests did not run: {why}");
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

/// How many tests need the real client: all of the target `client`, those of the supervisor, and the kit's own.
fn real_client_tests() -> Result<usize> {
    let mut count = 0;
    for (package, target) in
        [("omo-tests", "client"), ("omo-exec", "supervised_client"), ("omo-testkit", "real_client")]
    {
        let list = ["test", "--quiet", "--locked", "-p", package, "--test", target, "--", "--list"];
        let listed = cargo::output(Command::new(cargo::cargo()).args(list).current_dir(cargo::top()?))?;
        count += listed.lines().filter(|line| line.ends_with(": test")).count();
    }
    Ok(count)
}
