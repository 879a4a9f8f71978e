//! `cargo xtask bench`: what the hooks cost, against an empty process and against other kinds of
//! hooks, in one run. The results are left in `docs/`.

use anyhow::Result;

use crate::{cargo, plugin};

/// Builds everything for the same target, then runs the contest.
pub(crate) fn run() -> Result<()> {
    let plugin = plugin::build()?;
    let build = &plugin.build;
    cargo::run(build.cargo("build")?.args(["--locked", "-p", "omo-benches", "--bin", "empty"]))?;
    let empty = build.folder()?.join("empty");
    // Static as well: no child's peak of memory can be less than that of the process that starts it.
    let mut contest = build.cargo("run")?;
    contest.args(["--locked", "-p", "omo-benches", "--bin", "omo-benches", "--"]);
    let top = cargo::top()?;
    contest.arg(plugin.path.join("bin")).arg(empty).arg(top.join("benches").join("peers"));
    contest.arg(top.join("docs")).arg(build.triple());
    anstream::println!("target: {}\n", build.triple());
    cargo::run(&mut contest)
}
