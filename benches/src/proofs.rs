//! A proof in a large repository against `git worktree add` there: both sides of the proof are copies, so that it writes
//! and removes twice as many files as git writes. What its check takes is next to nothing.
//!
//! Both are in memory where the system has room for files there.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::sessions::{folder_in_memory, median};

const FILES_IN_FOLDER: usize = 100;
/// The file that the work has changed, and what asks for that.
const CHANGED: &str = "part-0/file-0.txt";
const CHECK: &str = "grep -q changed part-0/file-0.txt";

/// What they cost.
pub(crate) struct ProofCost {
    /// The proof.
    pub proof: Duration,
    /// The worktree.
    pub checkout: Duration,
}

/// The median of all rounds, in a repository of so many files. Without room in memory they are done below `folder`.
pub(crate) fn measure(folder: &Path, omo: &Path, files: usize, rounds: usize) -> Result<ProofCost> {
    fs::create_dir_all(folder)?;
    let memory = folder_in_memory();
    let folder = memory.as_ref().map_or(folder, |memory| memory.path());
    let (project, state, tree) = (
        folder.join("project"),
        folder.join("state"),
        folder.join("tree"),
    );
    make_repository(&project, files)?;
    let (mut proofs, mut checkouts) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let add = ["worktree", "add", "-q", "--detach"];
        checkouts.push(timed(git(&project).args(add).arg(&tree))?);
        timed(
            git(&project)
                .args(["worktree", "remove", "--force"])
                .arg(&tree),
        )?;
        let mut prove = Command::new(omo);
        prove
            .current_dir(&project)
            .args(["prove", "--base", "HEAD", "--check", CHECK])
            .env("XDG_STATE_HOME", &state);
        proofs.push(timed(&mut prove)?);
    }
    Ok(ProofCost {
        proof: median(proofs),
        checkout: median(checkouts),
    })
}

fn make_repository(project: &Path, files: usize) -> Result<()> {
    for number in 0..files {
        let path = project.join(format!(
            "part-{}/file-{number}.txt",
            number / FILES_IN_FOLDER
        ));
        fs::create_dir_all(path.parent().context("no parent")?)?;
        fs::write(path, format!("file {number}\n").repeat(20))?;
    }
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-qm", "start"],
        &["gc", "-q"],
    ] {
        timed(git(project).args(arguments))?;
    }
    Ok(fs::write(project.join(CHANGED), "changed\n")?)
}

fn git(project: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(project)
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
    git
}

fn timed(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let output = command.output()?;
    let time = start.elapsed();
    ensure!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(time)
}
