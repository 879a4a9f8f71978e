//! `cargo xtask bench`: the cost of the hooks beside an empty process and other kinds of hooks, in one run. Writes its
//! results into `docs/`.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::plugin::Plugin;
use crate::{cargo, plugin};

/// What is timed.
#[derive(Args)]
pub(crate) struct Options {
    /// Time runs of 10, 50 and 200 workers through processes of this machine and Slurm instead; some twelve minutes
    #[arg(long)]
    workers: bool,
    /// So many workers instead, once for each time that this is given
    #[arg(long, requires = "workers", value_name = "N")]
    count: Vec<u32>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let plugin = plugin::build()?;
    if options.workers {
        return run_workers(&plugin, &options.count);
    }
    let build = &plugin.build;
    cargo::run(
        build
            .cargo("build")?
            .args(["--locked", "-p", "omo-benches", "--bin", "empty"]),
    )?;
    let empty = build.folder()?.join("empty");
    // Static as well: no child's peak of memory can be less than that of the process that starts it.
    let mut contest = build.cargo("run")?;
    contest.args([
        "--locked",
        "-p",
        "omo-benches",
        "--bin",
        "omo-benches",
        "--",
    ]);
    let top = cargo::top()?;
    contest
        .arg(plugin.path.join("bin"))
        .arg(empty)
        .arg(top.join("benches").join("peers"));
    contest.arg(top.join("docs")).arg(build.triple());
    anstream::println!("target: {}\n", build.triple());
    cargo::run(&mut contest)
}

fn run_workers(plugin: &Plugin, counts: &[u32]) -> Result<()> {
    let mut command = Command::new(cargo::cargo());
    command.arg("run").current_dir(cargo::top()?);
    command.args([
        "--locked",
        "--quiet",
        "-p",
        "omo-tests",
        "--bin",
        "many_workers",
        "--",
    ]);
    command
        .args(counts.iter().map(u32::to_string))
        .env("OMO_TEST_PLUGIN", &plugin.path);
    cargo::run(&mut command)
}
