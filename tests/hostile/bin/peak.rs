//! Runs a program, and writes down how it ended and how much memory it took at most.
//!
//! It is a process of its own, and a small one: what Linux counts for a new process begins with
//! what the process that starts it has taken.

use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};
use wait4::Wait4;

/// `peak REPORT PROGRAM ARGUMENTS…` writes `KIB STATUS SIGNAL` into the file REPORT; what did not
/// happen is -1.
fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let report = arguments.next().context("no file to write the report to")?;
    let program = arguments.next().context("no program to run")?;
    let ended = Command::new(program)
        .args(arguments)
        .spawn()
        .context("start the program")?
        .wait4()?;
    let (status, signal) = (
        ended.status.code().unwrap_or(-1),
        signal(ended.status).unwrap_or(-1),
    );
    std::fs::write(
        report,
        format!("{} {status} {signal}", ended.rusage.maxrss / 1_024),
    )?;
    Ok(())
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
