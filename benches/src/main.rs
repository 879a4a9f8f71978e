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

/// Asks for one round of everything, in small projects and untimed.
const ONCE: &str = "--once";

/// Sizes of the projects, and how often each pair of long contestants is timed in turn.
struct Extent {
    claimed_files: usize,
    many_files: usize,
    session_rounds: usize,
    proof_rounds: usize,
}

const WHOLE: Extent = Extent {
    claimed_files: 1_000,
    many_files: 50_000,
    session_rounds: 3,
    proof_rounds: 5,
};
const SMALL: Extent = Extent {
    claimed_files: 20,
    many_files: 200,
    session_rounds: 1,
    proof_rounds: 1,
};

/// Runs the contest; whether every bound was kept.
fn compare() -> Result<bool> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from).peekable();
    let is_once = arguments
        .next_if(|first| first == Path::new(ONCE))
        .is_some();
    let extent = if is_once { &SMALL } else { &WHOLE };
    let mut next = |what: &str| {
        arguments
            .next()
            .with_context(|| format!("missing argument: {what}"))
    };
    let (hooks, empty, peers) = (
        next("folder of the hooks")?,
        next("the empty program")?,
        next("folder of the peers")?,
    );
    let (results, target) = (
        next("folder for the results")?,
        next("the target of the hooks")?,
    );

    let files = BenchFiles::new()?;
    let projects = Projects::new(&files)?;
    let (small, large) = (files.path("small"), files.path("large"));
    let (small, large) = (
        Claims::new(&small, &hooks, extent.claimed_files)?,
        Claims::new(&large, &hooks, extent.many_files)?,
    );
    // Fifty thousand new files are written out now, and not while a program is timed.
    if !is_once {
        Command::new("sync").status()?;
    }
    let plans = Plans::new(&files.path("plans"))?;
    let folder = peers;
    let (peers, missing) = peers::find(&folder);
    let mut contestants = contestants::hooks(&files, &projects, &hooks, &empty)?;
    contestants.extend(contestants::peers(&files, &projects, &peers)?);
    contestants.extend(contestants::claimants(&small, &large, &hooks));
    let python = peers.iter().find(|peer| peer.name == peers::PYTHON);
    contestants.extend(plans.readers(&hooks.join("omo"), python, &folder)?);
    contestants.push(plans.next(&hooks.join("omo")));
    let (sessions, proofs, omo) = (
        files.path("sessions"),
        files.path("proofs"),
        hooks.join("omo"),
    );
    let sessions = || sessions::measure(&sessions, &omo, extent.session_rounds);
    let proofs = || proofs::measure(&proofs, &omo, extent.many_files, extent.proof_rounds);
    if is_once {
        contest::play_once(&contestants)?;
        return sessions().and(proofs()).map(|_| true);
    }
    let figures = contest::run(&contestants)?;

    let mut bounds = bounds::judge(&figures, fs::metadata(projects.many.state_file())?.len())?;
    bounds.extend(bounds::of_sessions(&sessions()?));
    bounds.push(bounds::of_proofs(&proofs()?));
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
    write(
        &results.join("speed.json"),
        &format!("{:#}\n", report.json()),
    )?;
    write(
        &results.join("speed.svg"),
        &chart::svg(&picture::of(&report)),
    )?;
    Ok(bounds.iter().all(bounds::Bound::is_kept))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
