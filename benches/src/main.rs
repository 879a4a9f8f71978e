//! Times the hooks as whole processes, all contestants in turn within one run, and prints what
//! they cost as ratios against an empty process of the same target.
//!
//! `cargo xtask bench` builds everything and calls this. The machine's speed drifts, so only the
//! ratios of one run mean anything.

mod claims;
mod contest;
mod stage;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anstream::{eprintln, println};
use anyhow::{Context, Result};

use crate::claims::Claims;
use crate::contest::{Contestant, Figures, run};
use crate::stage::Stage;

/// A bound that the project has set itself.
struct Bound {
    what: &'static str,
    value: f64,
    most: f64,
    unit: &'static str,
}

fn main() -> ExitCode {
    match compare() {
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
    let stage = Stage::new()?;
    let (small, large) = (stage.folder("small"), stage.folder("large"));
    let (small, large) = (Claims::new(&small, &hooks, 1_000)?, Claims::new(&large, &hooks, 50_000)?);
    // Fifty thousand new files are written out now, and not while somebody is timed.
    Command::new("sync").status()?;
    let mut contestants = contestants(&stage, &hooks, &empty, &peers)?;
    contestants.extend(claimants(&small, &large, &hooks));
    let figures = run(&contestants)?;
    let of = |name: &str| {
        figures.iter().find(|figures| figures.name == name).with_context(|| format!("no figures of {name}"))
    };
    let floor = of(EMPTY)?.median;

    println!("{:<48} {:>9} {:>9} {:>9} {:>10}", "whole process", "median", "p90", "x empty", "peak KiB");
    for figures in &figures {
        show(figures, floor);
    }
    let armed = of(ARMED)?;
    let most_memory =
        figures.iter().filter(|figures| figures.name.starts_with("omo")).map(|figures| figures.peak_kib).max();
    let bounds = [
        Bound { what: "inactive prompt, x empty", value: of(IDLE_PROMPT)?.median / floor, most: 1.5, unit: "" },
        Bound { what: "inactive stop, x empty", value: of(IDLE_STOP)?.median / floor, most: 1.5, unit: "" },
        Bound { what: "armed stop among 50 sessions, x empty", value: armed.median / floor, most: 3.0, unit: "" },
        Bound {
            what: "armed stop / the same in bash and jq",
            value: of(BASH)?.median.recip() * armed.median * 50.0,
            most: 1.0,
            unit: " of a 50th",
        },
        Bound {
            what: "a prompt of 100 kB, over a short one",
            value: (of(LONG_PROMPT)?.median - of(IDLE_PROMPT)?.median) / 1_000.0,
            most: 1.0,
            unit: " ms",
        },
        Bound {
            what: "a claim with fresh evidence / git status",
            value: of(FRESH)?.median / of(GIT)?.median,
            most: 1.5,
            unit: "",
        },
        Bound {
            what: "a claim with fresh evidence, over one without gates",
            value: (of(FRESH)?.median - of(PLAIN)?.median) / 1_000.0,
            most: 3.0,
            unit: " ms",
        },
        Bound {
            what: "a claim with fresh evidence among 50,000 files",
            value: of(LARGE)?.median / 1_000.0,
            most: 1_000.0,
            unit: " ms",
        },
        Bound {
            what: "peak memory, a transcript of 64 MiB included",
            value: f64::from(u32::try_from(most_memory.unwrap_or(0)).unwrap_or(u32::MAX)) / 1_024.0,
            most: 4.0,
            unit: " MiB",
        },
    ];
    println!("\narmed stop: {:.0} times as fast as bash and jq", of(BASH)?.median / armed.median);
    if let Ok(node) = of(NODE) {
        println!("armed stop: {:.0} times as fast as Node.js", node.median / armed.median);
    }
    println!();
    let verdicts: Vec<bool> = bounds.iter().map(judge).collect();
    Ok(verdicts.into_iter().all(|kept| kept))
}

const EMPTY: &str = "empty process";
const IDLE_PROMPT: &str = "omo-user-prompt-submit, inactive";
const IDLE_STOP: &str = "omo-stop, inactive";
const ARMED: &str = "omo-stop, armed, 50 sessions";
const READS: &str = "omo-stop, armed, 256 KiB of new transcript";
const HUGE: &str = "omo-stop, armed, transcript of 64 MiB";
const LONG_PROMPT: &str = "omo-user-prompt-submit, 100 kB prompt";
const KEYWORD_PROMPT: &str = "omo-user-prompt-submit, 100 kB, keyword in it";
const PLAIN: &str = "omo-stop, a claim without gates, 1,000 files";
const FRESH: &str = "omo-stop, a claim, fresh evidence, 1,000 files";
const LARGE: &str = "omo-stop, a claim, fresh evidence, 50,000";
const GIT: &str = "git status, 1,000 files";
/// What a block says, and the two ends of a claim.
const BLOCK: &str = "\"block\"";
const RELEASED: &str = "ended: released";
const VERIFIED: &str = "ended: verified";
const BASH: &str = "bash and jq, armed, 50 sessions";
const NODE: &str = "Node.js, armed, 50 sessions";

fn contestants<'a>(stage: &'a Stage, hooks: &Path, empty: &Path, peers: &Path) -> Result<Vec<Contestant<'a>>> {
    let (stop, prompt) = (hooks.join("omo-stop"), hooks.join("omo-user-prompt-submit"));
    let mut all = vec![
        Contestant::new(EMPTY, empty, &stage.idle, stage.stop_input(&stage.idle, None)?),
        Contestant::new(IDLE_PROMPT, &prompt, &stage.idle, stage.prompt_input("please fix the parser")?),
        Contestant::new(IDLE_STOP, &stop, &stage.idle, stage.stop_input(&stage.idle, None)?),
        Contestant::new(ARMED, &stop, &stage.armed, stage.stop_input(&stage.armed, None)?).finds(|| stage.arm(), BLOCK),
        Contestant::new(READS, &stop, &stage.armed, stage.stop_input(&stage.armed, Some(&stage.transcript))?)
            .finds(|| stage.arm(), BLOCK),
        Contestant::new(HUGE, &stop, &stage.armed, stage.stop_input(&stage.armed, Some(&stage.huge_transcript))?)
            .finds(|| stage.arm(), BLOCK),
        Contestant::new(LONG_PROMPT, &prompt, &stage.idle, stage.prompt_input(&stage::long_prompt(false))?),
        Contestant::new(KEYWORD_PROMPT, &prompt, &stage.idle, stage.prompt_input(&stage::long_prompt(true))?),
    ];
    let armed_input = || stage.stop_input(&stage.armed, None);
    all.push(
        Contestant::new(BASH, &peers.join("stop.sh"), &stage.armed, armed_input()?).finds(|| stage.arm(), BLOCK).slow(),
    );
    if contest::has("node") {
        let node = Contestant::new(NODE, Path::new("node"), &stage.armed, armed_input()?);
        all.push(node.argument(peers.join("stop.mjs")).finds(|| stage.arm(), BLOCK).slow());
    }
    Ok(all)
}

/// Claims, each time from the same state, and git's own look at the same files.
fn claimants<'a>(small: &'a Claims, large: &'a Claims, hooks: &Path) -> Vec<Contestant<'a>> {
    let stop = hooks.join("omo-stop");
    let claim = |name, claims: &'a Claims| {
        Contestant::new(name, &stop, &claims.project, claims.claim.clone()).variables(claims.variables())
    };
    let git = Contestant::new(GIT, Path::new("git"), &small.project, small.claim.clone());
    vec![
        claim(PLAIN, small).finds(|| small.let_go(), RELEASED),
        claim(FRESH, small).finds(|| small.judge(), VERIFIED),
        git.argument("status".into()).variables([("GIT_OPTIONAL_LOCKS", "0".into())]).may_say_anything(),
        claim(LARGE, large).finds(|| large.judge(), VERIFIED).slow(),
    ]
}

fn show(figures: &Figures, floor: f64) {
    println!(
        "{:<48} {:>6.0} us {:>6.0} us {:>9.2} {:>10}",
        figures.name,
        figures.median,
        figures.p90,
        figures.median / floor,
        figures.peak_kib
    );
}

fn judge(bound: &Bound) -> bool {
    let kept = bound.value <= bound.most;
    let verdict = if kept { "kept " } else { "BROKEN" };
    println!("{verdict:<7} {:<46} {:>6.2}{} (at most {})", bound.what, bound.value, bound.unit, bound.most);
    kept
}
