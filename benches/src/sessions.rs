//! A plan of twenty sessions in two waves, one step each, against the bare commands of git that make, merge and remove
//! as many worktrees of the same repository.
//!
//! What is timed is all from `omo agent workers start` to the end of `omo run watch`: the supervisor and the processes that mind
//! the clients, the worktrees, the ledger, both calls of omo that each client makes (`agent start`, `agent done`), the
//! check and the commit of each step, the merges, the move of the user's branch, and the cleaning up. The client is this
//! program under another name: it does nothing for a while, as one that starts and asks its model, and then writes one
//! file between its two calls. That while is all that is taken off, once for each wave: without omo's own work the
//! clients of a wave would end together. All clients of a wave call omo at the same time, which is the worst case.
//!
//! Both are in memory where the system has room for files there: a disk that has just been written to takes anything
//! between a half and ten seconds for the same.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// How many files the repository has, of about half a kilobyte.
const FILES: usize = 200;
const WAVES: usize = 2;
const IN_A_WAVE: usize = 10;
const SESSIONS: usize = WAVES * IN_A_WAVE;
const PLAN: &str = "docs/plan.md";
/// What the client is called.
const CLIENT: &str = "claude";
/// How long a client does nothing. More than a second: git looks twice at files that are younger than its index by less.
const IDLE: Duration = Duration::from_secs(2);

/// What the sessions cost.
pub(crate) struct Cost {
    /// With omo.
    pub engine: Duration,
    /// With the bare commands of git.
    pub git: Duration,
}

/// Does what a client does, where this program was started as one.
pub(crate) fn play_client_if_asked() -> Option<Result<()>> {
    let name = std::env::args_os().next().map(PathBuf::from)?;
    (name.file_stem()? == CLIENT).then(play_client)
}

fn play_client() -> Result<()> {
    let worker = variable("OMO_WORKER").context("no worker")?;
    let worker = worker
        .to_str()
        .context("a worker that is no text")?
        .to_owned();
    let step = worker
        .rsplit('-')
        .next()
        .context("no number in the worker")?;
    anstream::println!(r#"{{"type":"system","subtype":"init","session_id":"{worker}"}}"#);
    std::thread::sleep(IDLE);
    let brief = said(
        &Command::new("omo")
            .args(["agent", "start", step])
            .output()?,
    )?;
    let ticket = brief
        .split_once("--ticket ")
        .and_then(|(_, rest)| rest.split_whitespace().next());
    fs::write(file(step.parse()?), step)?;
    said(
        &Command::new("omo")
            .args(["agent", "done", "--ticket", ticket.context("no ticket")?])
            .output()?,
    )?;
    anstream::println!(
        r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"{worker}"}}"#
    );
    Ok(())
}

/// Where files lie in memory, on Linux.
const MEMORY: &str = "/dev/shm";

/// The median of all rounds. Without room in memory they are done below `folder`.
pub(crate) fn measure(folder: &Path, omo: &Path, rounds: usize) -> Result<Cost> {
    let memory = folder_in_memory();
    let folder = memory.as_ref().map_or(folder, |memory| memory.path());
    let mut engine = Vec::new();
    let mut git = Vec::new();
    for round in 0..rounds {
        // Each has a repository of its own: neither finds the disk as the other has left it.
        let ground = |who: &str| Ground::new(&folder.join(format!("{who}-{round}")), omo);
        git.push(ground("git")?.with_git()?);
        engine.push(ground("omo")?.with_omo()?);
    }
    Ok(Cost {
        engine: median(engine),
        git: median(git),
    })
}

/// A folder whose files lie in memory; `None` where the system has no room for them there.
pub(crate) fn folder_in_memory() -> Option<tempfile::TempDir> {
    tempfile::tempdir_in(MEMORY).ok()
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or(Duration::MAX)
}

/// A repository, and what a run in it needs.
struct Ground {
    folder: PathBuf,
    omo: PathBuf,
}

impl Ground {
    fn new(folder: &Path, omo: &Path) -> Result<Self> {
        for part in ["project/docs", "project/src", "home", "programs"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let ground = Self {
            folder: folder.canonicalize()?,
            omo: omo.canonicalize()?,
        };
        let client = format!("{CLIENT}{}", std::env::consts::EXE_SUFFIX);
        fs::copy(
            std::env::current_exe()?,
            ground.folder.join("programs").join(client),
        )?;
        fs::write(
            ground.folder.join("home/.gitconfig"),
            "[user]\n\tname = Bench\n\temail = bench@example.org\n",
        )?;
        for number in 0..FILES {
            fs::write(
                ground.project().join(format!("src/part{number}.txt")),
                format!("part {number}\n").repeat(50),
            )?;
        }
        fs::write(ground.project().join(PLAN), plan())?;
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "."],
            &["commit", "-q", "-m", "first"],
        ] {
            ground.git(arguments)?;
        }
        Ok(ground)
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = variable("PATH").unwrap_or_default();
        let others = std::env::split_paths(&path);
        let path =
            std::env::join_paths(std::iter::once(self.folder.join("programs")).chain(others))
                .unwrap_or_default();
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.join("home"));
        command
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        said(&self.command(Path::new("git")).args(arguments).output()?)
    }

    fn omo(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command(&self.omo).args(arguments).output()?)
    }

    /// The bare commands: a worktree for each session, one commit in each, all merged, and everything removed. Making
    /// the file and the commit is what a client does, and is not timed.
    fn with_git(&self) -> Result<Duration> {
        let mut time = Duration::ZERO;
        let mut timed = |arguments: &[&str]| {
            let start = Instant::now();
            let done = self.git(arguments);
            time += start.elapsed();
            done.map(drop)
        };
        for wave in 0..WAVES {
            let of_wave = || (wave * IN_A_WAVE..(wave + 1) * IN_A_WAVE).map(|session| session + 1);
            let branch = |session: usize| format!("bare-{session}");
            let tree = |session: usize| format!("../bare/{session}");
            for session in of_wave() {
                timed(&[
                    "worktree",
                    "add",
                    "-q",
                    "-b",
                    &branch(session),
                    &tree(session),
                ])?;
            }
            for session in of_wave() {
                fs::write(
                    self.project().join(tree(session)).join(file(session)),
                    session.to_string(),
                )?;
                self.git(&["-C", &tree(session), "add", "."])?;
                self.git(&["-C", &tree(session), "commit", "-q", "-m", "step"])?;
            }
            for session in of_wave() {
                timed(&["merge", "-q", "--no-ff", "--no-edit", &branch(session)])?;
                timed(&["worktree", "remove", &tree(session)])?;
                timed(&["branch", "-q", "-d", &branch(session)])?;
            }
        }
        Ok(time)
    }

    fn with_omo(&self) -> Result<Duration> {
        let open = ["run", "start", "--parallel", "--accept-api-billing"];
        let shown = self.omo(&[open.as_slice(), &[PLAN]].concat())?;
        let shown = String::from_utf8_lossy(&shown.stderr).into_owned();
        let is_digest =
            |word: &&str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digest = shown
            .split_whitespace()
            .find(is_digest)
            .with_context(|| format!("no digest: {shown}"))?;
        said(&self.omo(&[open.as_slice(), &["--digest", digest, PLAN]].concat())?)?;
        let start = Instant::now();
        said(&self.omo(&["agent", "workers", "start"])?)?;
        said(&self.omo(&["run", "watch"])?)?;
        let time = start.elapsed().saturating_sub(IDLE * u32::try_from(WAVES)?);
        let are_there = (1..=SESSIONS).all(|session| self.project().join(file(session)).is_file());
        ensure!(
            are_there && self.git(&["worktree", "list"])?.lines().count() == 1,
            "the run of the bench is not whole"
        );
        Ok(time)
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::vars_os()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value)
}

fn said(output: &Output) -> Result<String> {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(output.status.success(), "{}: {out}\n{err}", output.status);
    Ok(out.into_owned())
}

fn file(session: usize) -> String {
    format!("step{session}.txt")
}

/// The plan: each step writes a file of its own.
fn plan() -> String {
    let mut text = "# Files\n\n## Context\n\nWhy.\n\n## Implementation Plan\n\n".to_owned();
    for number in 1..=SESSIONS {
        let file = file(number);
        let _ = write!(
            text,
            "### Step {number}: Write {number}\n\n- **Files:** `{file}` (new)\n- **Changes:** Write it.\n\
             - **Verify:** `test -f {file}`\n- **On failure:** revert\n\
             - **Checkpoint:** `git commit -m \"feat: write {number}\"`\n\n"
        );
    }
    text.push_str("## Execution Strategy\n\n");
    let first: Vec<String> = (1..=IN_A_WAVE)
        .map(|number| format!("Session {number}"))
        .collect();
    for number in 1..=SESSIONS {
        let (wave, before) = if number <= IN_A_WAVE {
            (1, "none".to_owned())
        } else {
            (2, first.join(", "))
        };
        let _ = write!(
            text,
            "### Session {number}: Part {number}\n\n- **Steps:** {number}\n- **Wave:** {wave}\n\
             - **Depends on:** {before}\n- **Scope fence:**\n  - Touch: `{}`\n  - Never touch: `src/`\n\n",
            file(number)
        );
    }
    let second: Vec<String> = (IN_A_WAVE + 1..=SESSIONS)
        .map(|number| format!("Session {number}"))
        .collect();
    let _ = write!(
        text,
        "### Execution Order\n\n- **Wave 1:** {}\n- **Wave 2:** {}\n",
        first.join(", "),
        second.join(", ")
    );
    text
}
