//! Several processes and one state: none of them loses what another has written.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_tests::MAX_BLOCKS;

use crate::wine::{Case, Wine};

pub(crate) const CASES: [Case; 2] = [
    (
        "while another process holds the lock no session is held, and afterwards it is again",
        locked,
    ),
    (
        "of twenty at once each block that is given is counted, once",
        twenty,
    ),
];

fn locked(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("ulw fix it")?;
    let mut holder = wine
        .program("hold", &project.folder)
        .arg(&project.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = [0; 4];
    holder
        .stdout
        .as_mut()
        .context("no stdout")?
        .read_exact(&mut line)?;
    let answer = project.stop("Half of it is there.");
    drop(holder.stdin.take());
    holder.wait()?;
    ensure!(&line == b"held", "the lock was not had");
    ensure!(answer? == HookAnswer::Nothing, "held without the lock");
    let log = std::fs::read_to_string(project.state_folder().join("hooks.log"))?;
    ensure!(
        log.contains("the lock of the state was held by another process"),
        "the log: {log}"
    );
    let answer = project.stop("Half of it is there.")?;
    ensure!(
        answer
            .reason()
            .is_some_and(|reason| reason.contains(&format!("continuation 1 of {MAX_BLOCKS}"))),
        "{answer:?}"
    );
    Ok(())
}

fn twenty(wine: &Wine) -> Result<()> {
    const PROCESSES: usize = 20;
    let project = wine.project()?;
    wine.configure("[limits]\ncooldown_seconds = 0\n")?;
    project.arm("/omo:ulw --max-blocks 100 fix it")?;
    let answers: Vec<Result<HookAnswer>> = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..PROCESSES)
            .map(|_| scope.spawn(|| project.stop("Half of it is there.")))
            .collect();
        hooks
            .into_iter()
            .map(|hook| {
                hook.join()
                    .unwrap_or_else(|_| anyhow::bail!("a hook panicked"))
            })
            .collect()
    });
    let mut given = 0;
    let mut numbers = BTreeSet::new();
    for answer in answers {
        let answer = answer?;
        if let Some(reason) = answer.reason() {
            let number = reason
                .split_once("continuation ")
                .and_then(|(_, rest)| rest.split_once(" of 100"));
            numbers.insert(number.context("a block without a number")?.0.to_owned());
            given += 1;
        }
    }
    // On a busy machine some do not get the lock in time, and let the session be.
    ensure!(given > 1, "only {given} of {PROCESSES} were given");
    ensure!(
        numbers.len() == given,
        "{given} blocks were given, with the numbers {numbers:?}"
    );
    let counted = &project.entry()?["ulw"]["stopBlocks"];
    ensure!(
        *counted == given,
        "{given} blocks were given, and {counted} counted"
    );
    Ok(())
}
