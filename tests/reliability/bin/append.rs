//! Begins a run, or adds to one, as a process that can be killed: what it was told is done, it prints.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use omo_engine::event::{EventActor, EventKind};
use omo_engine::{Run, RunStore};
use omo_testkit::plans;

/// `append PROJECT STATE_HOME begin` begins a run and prints its folder;
/// `append PROJECT STATE_HOME RUN NAME COUNT` adds so many events to one, and prints the name of each.
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [project, home, "begin"] => begin(Path::new(project), Path::new(home)),
        [project, home, run, name, count] => {
            let runs =
                RunStore::find(Path::new(project), Some(Path::new(home)))?.context("no runs")?;
            append(&runs.get(run)?, name, count.parse()?)
        }
        _ => bail!("usage: append PROJECT STATE_HOME begin | RUN NAME COUNT"),
    }
}

fn begin(project: &Path, home: &Path) -> Result<()> {
    let opened = plans::run_opened(plans::plan(&[("1", &[])]));
    let (run, _) = RunStore::create(project, Some(home))?.begin(
        &EventActor::default(),
        plans::time(0),
        opened,
        Vec::new(),
    )?;
    say(&run.folder().display().to_string());
    Ok(())
}

fn append(run: &Run, name: &str, count: usize) -> Result<()> {
    for number in 0..count {
        let name = format!("{name}-{number}");
        let actor = EventActor {
            session: Some(name.clone()),
            process: None,
        };
        let done = run.transact(&actor, plans::time(1), |_| {
            Ok((vec![EventKind::HolderChanged], ()))
        });
        done.map_err(|error| anyhow!("{error}"))?;
        say(&name);
    }
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "the test that started it reads what was done"
)]
fn say(line: &str) {
    println!("{line}");
}
