//! Times the hooks as whole processes, all contestants in turn within one run, and says what they
//! cost as ratios against an empty process of the same target: as a table, as JSON and as a chart.
//!
//! `cargo xtask bench` builds everything and calls this. The machine's speed drifts, so only the
//! ratios of one run mean anything.

mod bench_files;
mod bounds;
mod chart;
mod claims;
mod contest;
mod contestants;
mod machine;
mod peers;
mod picture;
mod plans;
mod proofs;
mod report;
mod sessions;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anstream::{eprintln, println};
use anyhow::{Context, Result};

use crate::bench_files::BenchFiles;
use crate::claims::Claims;
use crate::contestants::Projects;
use crate::machine::Machine;
use crate::plans::Plans;
use crate::report::Report;

fn main() -> ExitCode {
    let asked = sessions::play_client_if_asked().or_else(Plans::make_if_asked);
    match asked.map_or_else(compare, |made| made.map(|()| true)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the contest; whether every bound was kept.
fn compare() -> Result<bool> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let mut next = |what: &str| arguments.next().with_context(|| format!("missing argument: {what}"));
    let (hooks, empty, peers) =
        (next("folder of the hooks")?, next("the empty program")?, next("folder of the peers")?);
    let (results, target) = (next("folder for the results")?, next("the target of the hooks")?);

    let files = BenchFiles::new()?;
    let projects = Projects::new(&files)?;
    let (small, large) = (files.path("small"), files.path("large"));
    let (small, large) = (Claims::new(&small, &hooks, 1_000)?, Claims::new(&large, &hooks, 50_000)?);
    // Fifty thousand new files are written out now, and not while a program is timed.
    Command::new("sync").status()?;
    let plans = Plans::new(&files.path("plans"))?;
    let folder = peers;
    let (peers, missing) = peers::find(&folder);
    let mut contestants = contestants::hooks(&files, &projects, &hooks, &empty)?;
    contestants.extend(contestants::peers(&files, &projects, &peers)?);
    contestants.extend(contestants::claimants(&small, &large, &hooks));
    let python = peers.iter().find(|peer| peer.name == peers::PYTHON);
    contestants.extend(plans.readers(&hooks.join("omo"), python, &folder)?);
    contestants.push(plans.next(&hooks.join("omo")));
    let figures = contest::run(&contestants)?;

    let mut bounds = bounds::judge(&figures, fs::metadata(projects.many.state_file())?.len())?;
    bounds.extend(bounds::of_sessions(&sessions::measure(&files.path("sessions"), &hooks.join("omo"))?));
    bounds.push(bounds::of_proofs(&proofs::measure(&files.path("proofs"), &hooks.join("omo"))?));
    let mut runs_on: Vec<String> = peers.iter().map(|peer| peer.runs_on.clone()).collect();
    runs_on.dedup();
    let report = Report {
        machine: &Machine::this(target.to_string_lossy().into_owned()),
        runs_on,
        missing: &missing,
        figures: &figures,
        floor: bounds::of(&figures, contestants::EMPTY)?.median,
        bounds: &bounds,
    };
    report.print();
    write(&results.join("speed.json"), &format!("{:#}\n", report.json()))?;
    write(&results.join("speed.svg"), &chart::svg(&picture::of(&report)))?;
    Ok(bounds.iter().all(bounds::Bound::is_kept))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
