//! `cargo xtask instructions`: instructions of each hook, compared with the recorded counts, and shared out among
//! parts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anstream::println;
use anyhow::{Context, Result, bail};
use clap::Args;
use omo_core::session::HookEvent;
use omo_testkit::instructions::{
    self, CASES, CountChange, InstructionCase, InstructionCounts, compare_count,
};

use crate::plugin::Build;
use crate::{cargo, plugin, profile};

const SHOWN: f64 = 0.005;

/// What happens with the counts.
#[derive(Args)]
pub(crate) struct Options {
    /// Hold the counts of now from now on: write them into benches/instructions.json
    #[arg(long)]
    accept: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if !instructions::has_valgrind() {
        bail!("valgrind is not installed, and it counts the instructions");
    }
    let plugin = plugin::build()?;
    let triple = plugin.build.triple();
    let counts = instructions::count_all(&plugin.path.join("bin"))?;
    let held = instructions::recorded_counts(triple)?;
    println!(
        "{:<44} {:>12} {:>12}",
        format!("instructions, {triple}"),
        "held",
        "now"
    );
    for (name, count) in &counts {
        let held = held
            .as_ref()
            .and_then(|held| held.counts.get(name))
            .copied();
        let shown = held.map_or_else(|| "-".to_owned(), |held| held.to_string());
        println!(
            "{name:<44} {shown:>12} {count:>12}{}",
            remark(compare_count(held, *count))
        );
    }
    if options.accept {
        let rustc = cargo::output(Command::new("rustc").arg("--version"))?
            .trim()
            .to_owned();
        let file = instructions::record_counts(triple, InstructionCounts { rustc, counts })?;
        println!("\nheld from now on: {}", file.display());
    }
    break_down(&plugin.build)
}

fn remark(verdict: CountChange) -> String {
    match verdict {
        CountChange::Same => String::new(),
        CountChange::Unknown => "   new".to_owned(),
        CountChange::Grown { percent } => format!("   grew by {percent} %"),
        CountChange::Shrunk { percent } => format!("   shrank by {percent} %"),
    }
}

/// A second build of the same code, with the names of functions and lines that the installed one lacks.
fn break_down(build: &Build) -> Result<()> {
    let folder = cargo::target()?.join("profiled");
    let mut cargo = build.cargo("build")?;
    cargo.args(plugin::BUILT).arg("--target-dir").arg(&folder);
    cargo.args(["--config", "profile.release.strip=false"]);
    cargo.args(["--config", "profile.release.debug=\"line-tables-only\""]);
    cargo::run(&mut cargo)?;
    let binaries = folder.join(build.triple()).join("release");
    for event in HookEvent::ALL {
        plugin::link(
            &binaries.join(plugin::HOOKS),
            &binaries.join(event.program()),
        )?;
    }
    println!("\nWhat they are spent for; other crates count for the part that calls them:");
    CASES
        .iter()
        .try_for_each(|case| show_parts(case, &binaries, &folder))
}

fn show_parts(case: &InstructionCase, binaries: &Path, folder: &Path) -> Result<()> {
    let file: PathBuf = folder.join("callgrind.out");
    let count = case.profile(binaries, &file)?;
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let parts = profile::by_part(&text).with_context(|| format!("read {}", file.display()))?;
    let all: f64 = parts.iter().map(|(_, cost)| cost).sum();
    println!("\n{}: {count}", case.name);
    for (name, cost) in parts.iter().filter(|(_, cost)| *cost / all >= SHOWN) {
        println!("  {name:<32} {cost:>10.0} {:>5.1} %", cost / all * 100.0);
    }
    Ok(())
}
