//! What a run of 10, 50 and 200 workers costs, through processes of this machine and through Slurm: `cargo xtask bench
//! --workers` builds omo and calls this.
//!
//! Each worker has one step, and none waits for another. What stands for the client does nothing for ten seconds and then
//! writes one file, so that a run takes at least ten seconds for each twenty workers. What is timed is all from the start
//! of the supervisor to the end of `omo run watch`: briefs, clones, pushes, the judgement of each branch with its check,
//! the merges, the check of the whole, the move of the user's branch, and the cleaning up. Both ends are this machine,
//! so that the work of the workers (a clone, a client, pushes) takes from the same cores.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use omo_engine::event::{EventKind, RunEvent};
use omo_tests::parallel_plan;
use omo_tests::parallel_repository::{Ground, Session, session, step};
use omo_tests::plan_project::Said;
use omo_tests::processes::find_processes;
use omo_tests::slurm_cluster::SlurmCluster;
use omo_tests::worker_home::WorkerHome;

const COUNTS: [u32; 3] = [10, 50, 200];
const ENGINES: [&str; 2] = ["local", "slurm"];
/// So many workers are at work at once.
const AT_ONCE: u32 = 20;
/// How long a client does nothing.
const IDLE: Duration = Duration::from_secs(10);
/// How often the supervisor is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Ticks of the processor time that the kernel tells, in a second.
const TICKS: u64 = 100;

/// What a run took.
struct Figures {
    wall: Duration,
    ideal: Duration,
    /// Requests to the remote, by what was asked: of the run, and of the workers.
    here: BTreeMap<String, usize>,
    there: usize,
    /// From one merge to the next one, where nothing else was written down between the two.
    merge: Option<Duration>,
    /// From the last worker's end to the move of the user's branch.
    tail: Duration,
    peak_kib: u32,
    /// Time on a processor: of the supervisor itself, and of what it has called.
    own: Duration,
    calls: Duration,
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is what this program is for"
)]
pub(crate) fn run() -> ExitCode {
    let asked: Vec<u32> = std::env::args()
        .skip(1)
        .filter_map(|count| count.parse().ok())
        .collect();
    let counts = if asked.is_empty() {
        COUNTS.to_vec()
    } else {
        asked
    };
    println!(
        "| engine | workers | ideal s | wall s | over ideal | requests here | a worker | requests of workers | a merge ms | tail s | supervisor MiB | its CPU s | of its calls |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for engine in ENGINES {
        for count in &counts {
            match measure(engine, *count) {
                Ok(figures) => println!("{}", row(engine, *count, &figures)),
                Err(error) => {
                    eprintln!("error: {engine}, {count} workers: {error:#}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

fn row(engine: &str, count: u32, figures: &Figures) -> String {
    let Figures {
        wall,
        ideal,
        here,
        there,
        merge,
        tail,
        peak_kib,
        own,
        calls,
    } = figures;
    let all: usize = here.values().sum();
    let mut named = String::new();
    for (what, times) in here {
        let _ = write!(named, " {what} {times}");
    }
    format!(
        "| {engine} | {count} | {:.0} | {:.1} | {:.2} | {all}:{named} | {:.1} | {there} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
        ideal.as_secs_f64(),
        wall.as_secs_f64(),
        wall.as_secs_f64() / ideal.as_secs_f64(),
        f64::from(u32::try_from(all).unwrap_or(u32::MAX)) / f64::from(count),
        merge.map_or_else(|| "-".to_owned(), |merge| merge.as_millis().to_string()),
        tail.as_secs_f64(),
        f64::from(*peak_kib) / 1024.0,
        own.as_secs_f64(),
        calls.as_secs_f64(),
    )
}

/// Plays one run.
fn measure(engine: &str, count: u32) -> Result<Figures> {
    let files: Vec<String> = (1..=count).map(|number| format!("f{number}.txt")).collect();
    let steps: Vec<(u32, &str)> = (1..=count).zip(files.iter().map(String::as_str)).collect();
    let sessions: Vec<Session> = steps
        .iter()
        .map(|(number, file)| session(1, &[step(*number, file)]))
        .collect();
    let ground = Ground::new(&sessions, "test -f f1.txt")?;
    let home = WorkerHome::new(&ground, &[])?;
    home.add_programs(&ground)?;
    for (number, file) in &steps {
        home.script(
            *number,
            &format!("sleep {}\necho {number} > {file}\n", IDLE.as_secs()),
        )?;
    }
    let shown = home.home().display().to_string();
    ground.lab.configure(&format!(
        "[launcher.{engine}]\nomo = \"{shown}/omo\"\nclient = \"{shown}/client\"\nscratch = \"{shown}/scratch\"\n\
         poll_seconds = 1\nat_once = {AT_ONCE}\n"
    ))?;
    let requests = home.folder().join("requests");
    count_requests(&ground, &requests.display().to_string())?;
    let cluster = match engine {
        "slurm" => Some(SlurmCluster::start(AT_ONCE as usize, "")?),
        _ => None,
    };
    let omo = |arguments: &[&str]| {
        let mut command = ground.command(arguments);
        if let Some(cluster) = &cluster {
            command.env("SLURM_CONF", cluster.configuration());
        }
        Ok(Said::of(&command.output()?))
    };
    let options = [
        "--accept-api-billing",
        "--launcher",
        engine,
        "--max-sessions",
        &AT_ONCE.to_string(),
    ];
    parallel_plan::open(omo, &options)?;
    let run = ground.run()?.id().to_owned();
    let since = Instant::now();
    omo(&["agent", "workers", "start"])?.exits_with(0)?;
    let (over, is_over) = mpsc::channel();
    let watcher = std::thread::spawn(move || watch_supervisor(&run, &is_over));
    let said = omo(&["run", "watch"])?;
    let wall = since.elapsed();
    drop(over);
    let Ok((peak_kib, [own, calls])) = watcher.join() else {
        bail!("the supervisor was not watched")
    };
    ensure!(said.status == 0, "{}\n{}", said.out, said.err);
    ground.require_complete(&steps)?;
    home.require_clean_remote(&ground)?;
    if let Some(cluster) = &cluster {
        cluster.require_idle()?;
    }
    let events = ground.run()?.events()?;
    let asked = fs::read_to_string(&requests)?;
    let mut here = BTreeMap::new();
    for line in asked.lines().filter_map(|line| line.strip_prefix("here ")) {
        *here.entry(line.to_owned()).or_default() += 1;
    }
    let there = asked
        .lines()
        .filter(|line| line.starts_with("there "))
        .count();
    let ideal = IDLE * count.div_ceil(AT_ONCE);
    Ok(Figures {
        wall,
        ideal,
        here,
        there,
        merge: merge_time(&events),
        tail: tail(&events)?,
        peak_kib,
        own,
        calls,
    })
}

/// Has each call of git that asks the remote written down, with the end that it is of.
fn count_requests(ground: &Ground, log: &str) -> Result<()> {
    let wrapper = ground.programs().join("git");
    let text = format!(
        "#!/bin/sh\ncase \"$PWD $*\" in */scratch/*) at=there ;; *) at=here ;; esac\n\
         for word do case $word in ls-remote|fetch|push) echo \"$at $word\" >>'{log}'; break ;; esac; done\n\
         exec /usr/bin/git \"$@\"\n"
    );
    fs::write(log, "")?;
    fs::write(&wrapper, text)?;
    Ok(fs::set_permissions(
        &wrapper,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// The most memory that the supervisor had, in KiB, and the time on a processor of itself and of what it has waited for.
fn watch_supervisor(run: &str, is_over: &Receiver<()>) -> (u32, [Duration; 2]) {
    let (mut peak, mut most) = (0, [0, 0]);
    while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        for pid in find_processes("cmdline", &["agent supervise", run]) {
            peak = peak.max(peak_of(pid).unwrap_or(0));
            let [own, calls] = ticks_of(pid).unwrap_or_default();
            most = [own.max(most[0]), calls.max(most[1])];
        }
    }
    (
        peak,
        most.map(|ticks| Duration::from_millis(ticks * 1_000 / TICKS)),
    )
}

fn peak_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn ticks_of(pid: u32) -> Option<[u64; 2]> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may hold anything: state is the first field, and the times are the 12th to the 15th.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields
        .split_whitespace()
        .skip(11)
        .map(|field| field.parse::<u64>().ok());
    let mut next = || times.next().flatten();
    Some([next()? + next()?, next()? + next()?])
}

fn millis_between(from: &RunEvent, to: &RunEvent) -> u64 {
    to.ts
        .millis_since(from.ts)
        .and_then(|millis| u64::try_from(millis).ok())
        .unwrap_or(0)
}

/// The median of the times from one merge to the next.
fn merge_time(events: &[RunEvent]) -> Option<Duration> {
    let is_merge = |event: &RunEvent| matches!(event.kind, EventKind::GroupMerged { .. });
    let pairs = events.windows(2).filter_map(|pair| match pair {
        [before, after] if is_merge(before) && is_merge(after) => {
            Some(millis_between(before, after))
        }
        _ => None,
    });
    let mut times: Vec<u64> = pairs.collect();
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .copied()
        .map(Duration::from_millis)
}

fn tail(events: &[RunEvent]) -> Result<Duration> {
    let last = events
        .iter()
        .rev()
        .find(|event| matches!(event.kind, EventKind::GroupEnded { .. }));
    let landed = events
        .iter()
        .rev()
        .find(|event| matches!(event.kind, EventKind::Landed { .. }));
    let (last, landed) = last
        .zip(landed)
        .context("no worker ended, or the branch did not move")?;
    Ok(Duration::from_millis(millis_between(last, landed)))
}
