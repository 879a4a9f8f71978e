//! The ledger of a run while its writers fail, are killed, or are many.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use omo_engine::event::EventKind;
use omo_engine::{Run, RunStore};
use omo_testkit::run_command;
use omo_testkit::strace::{self, CallFault, SystemCall};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_append");
/// The signal of a file that would grow past its limit.
const XFSZ: i32 = 25;

/// A repository with one run, and its user's state.
struct LedgerFixture {
    temp: TempDir,
    run: Run,
}

impl LedgerFixture {
    fn new() -> Result<Self> {
        let temp = repository()?;
        let folder = begin(&temp)?;
        let id = folder
            .file_name()
            .context("no id")?
            .to_string_lossy()
            .into_owned();
        let runs = RunStore::find(
            &temp.path().join("project"),
            Some(&temp.path().join("state")),
        )?
        .context("no runs")?;
        Ok(Self {
            run: runs.get(&id)?,
            temp,
        })
    }

    fn command(&self, name: &str, count: usize) -> Command {
        let mut command = program(&self.temp);
        command.args([self.run.id(), name, &count.to_string()]);
        command
    }

    fn ledger(&self) -> PathBuf {
        self.run.folder().join("events.jsonl")
    }

    /// The names that were added, in the order of the ledger.
    fn names(&self) -> Result<Vec<String>> {
        let events = self.run.events()?;
        let gaps = events
            .iter()
            .zip(1..)
            .find(|(event, seq)| event.seq != *seq);
        ensure!(gaps.is_none(), "{gaps:?}");
        Ok(events
            .into_iter()
            .filter(|event| event.kind == EventKind::HolderChanged)
            .filter_map(|event| event.actor.session)
            .collect())
    }
}

fn repository() -> Result<TempDir> {
    let temp = tempfile::tempdir()?;
    fs::create_dir_all(temp.path().join("project/.git"))?;
    fs::write(
        temp.path().join("project/.git/HEAD"),
        "ref: refs/heads/main\n",
    )?;
    Ok(temp)
}

fn program(temp: &TempDir) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg(temp.path().join("project"))
        .arg(temp.path().join("state"));
    command
}

fn begin(temp: &TempDir) -> Result<PathBuf> {
    let mut command = program(temp);
    let run = run_command(command.arg("begin"), "")?;
    ensure!(run.status.success(), "{run:?}");
    Ok(PathBuf::from(run.stdout.trim_end()))
}

/// A command whose files cannot grow past so many bytes.
fn limited(command: &Command, bytes: usize) -> Command {
    let mut limited = Command::new("prlimit");
    limited
        .args(["--core=0", &format!("--fsize={bytes}")])
        .arg(command.get_program())
        .args(command.get_args());
    limited
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    limited
}

#[test]
fn a_writer_that_the_system_ends_at_any_byte_leaves_the_run_as_it_was() {
    let scene = LedgerFixture::new().unwrap();
    let before = fs::read(scene.ledger()).unwrap();
    let whole = run_command(&scene.command("whole", 1), "").unwrap();
    assert_eq!(
        (whole.status.success(), whole.stdout.as_str()),
        (true, "whole-0\n")
    );
    let after = fs::read(scene.ledger()).unwrap().len();
    for bytes in before.len()..after {
        fs::write(scene.ledger(), &before).unwrap();
        let killed = limited(&scene.command("whole", 1), bytes).output().unwrap();
        assert_eq!(killed.status.signal(), Some(XFSZ), "{bytes}: {killed:?}");
        assert_eq!(killed.stdout, b"", "{bytes}");
        assert_eq!(fs::read(scene.ledger()).unwrap().len(), bytes);
        assert_eq!(scene.names().unwrap(), Vec::<String>::new(), "{bytes}");
        let next = run_command(&scene.command("next", 1), "").unwrap();
        assert_eq!(
            (next.status.success(), scene.names().unwrap()),
            (true, vec!["next-0".to_owned()]),
            "{bytes}"
        );
    }
    assert_eq!(
        scene.run.count_torn_writes().unwrap(),
        after - before.len() - 1
    );
}

#[test]
fn a_writer_whose_write_fails_half_way_takes_it_back_and_says_so() {
    let scene = LedgerFixture::new().unwrap();
    let before = fs::read(scene.ledger()).unwrap();
    let mut deaf = Command::new("sh");
    let command = scene.command("x", 1);
    deaf.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    for bytes in (before.len()..before.len() + 200).step_by(7) {
        let failed = limited(&deaf, bytes).output().unwrap();
        let said = String::from_utf8_lossy(&failed.stderr);
        assert!(
            failed.status.code() == Some(1) && said.contains("append to"),
            "{bytes}: {failed:?}"
        );
        assert_eq!(fs::read(scene.ledger()).unwrap(), before, "{bytes}");
    }
}

/// The calls that touch files or locks.
fn is_of_files(call: &SystemCall) -> bool {
    const CALLS: [&str; 22] = [
        "close",
        "fchmod",
        "fdatasync",
        "flock",
        "fstat",
        "fsync",
        "ftruncate",
        "getdents64",
        "getrandom",
        "lseek",
        "mkdir",
        "mkdirat",
        "newfstatat",
        "openat",
        "open",
        "read",
        "readlink",
        "renameat",
        "statx",
        "stat",
        "unlinkat",
        "write",
    ];
    CALLS.contains(&call.name.as_str())
}

/// One more event, with one call of its writer failing or being its last. Then the ledger is the old one or the new
/// one, and what the writer said is true.
fn with_fault(
    scene: &LedgerFixture,
    before: &[u8],
    call: &SystemCall,
    fault: CallFault,
) -> Result<bool> {
    fs::write(scene.ledger(), before)?;
    let traced = strace::run_with_fault(&scene.command("new", 1), "", call, fault)?;
    let names = scene.names().with_context(|| format!("{:?}", traced.run))?;
    let is_new = names == ["old-0", "new-0"];
    ensure!(is_new || names == ["old-0"], "{names:?}");
    let was_reported = traced.run.stdout == "new-0\n";
    ensure!(!was_reported || is_new, "said, and not written down");
    ensure!(
        traced.run.status.success() || fault == CallFault::Kill || !traced.run.stderr.is_empty(),
        "failed in silence"
    );
    if fault != CallFault::Kill && !is_new {
        let left = fs::read(scene.ledger())?;
        ensure!(left.starts_with(before), "the old lines were changed");
    }
    let next = run_command(&scene.command("next", 1), "")?;
    ensure!(
        next.status.success(),
        "the run cannot go on: {}",
        next.stderr
    );
    ensure!(
        scene.names()?.last().is_some_and(|name| name == "next-0"),
        "the next one is missing"
    );
    Ok(traced.is_faulted)
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn whatever_call_of_a_writer_fails_or_is_its_last_the_ledger_is_the_old_one_or_the_new_one() {
    let scene = LedgerFixture::new().unwrap();
    assert!(
        run_command(&scene.command("old", 1), "")
            .unwrap()
            .status
            .success()
    );
    let before = fs::read(scene.ledger()).unwrap();
    let calls = strace::run(&scene.command("new", 1), "").unwrap().calls;
    let (mut faults, mut wrong) = (0, Vec::new());
    for call in calls.iter().filter(|call| is_of_files(call)) {
        for fault in [
            CallFault::Error("ENOSPC"),
            CallFault::Error("EIO"),
            CallFault::Error("EROFS"),
            CallFault::Kill,
        ] {
            match with_fault(&scene, &before, call, fault) {
                Ok(is_faulted) => faults += usize::from(is_faulted),
                Err(error) => wrong.push(format!("{fault:?} at {}: {error:#}", call.line)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(faults > 100, "only {faults} faults were made");
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn a_repository_that_cannot_be_written_has_its_runs_in_the_users_state_from_then_on() {
    for error in ["EROFS", "EACCES", "EPERM"] {
        let temp = repository().unwrap();
        let other = repository().unwrap();
        let calls = strace::run(program(&other).arg("begin"), "").unwrap().calls;
        let opens_git = |call: &SystemCall| {
            call.line.contains("/project/.git\"") && call.line.contains("O_DIRECTORY")
        };
        let mut inside = calls.iter().skip_while(|call| !opens_git(call));
        let call = inside.find(|call| call.name == "mkdirat").unwrap();
        let traced = strace::run_with_fault(
            program(&temp).arg("begin"),
            "",
            call,
            CallFault::Error(error),
        )
        .unwrap();
        assert!(
            traced.is_faulted && traced.run.status.success(),
            "{:?}",
            traced.run
        );
        let projects = temp.path().join("state/omo/projects");
        assert!(
            Path::new(traced.run.stdout.trim_end()).starts_with(&projects),
            "{}",
            traced.run.stdout
        );
        assert!(
            begin(&temp).unwrap().starts_with(&projects),
            "a second place was begun"
        );
        assert!(!temp.path().join("project/.git/omo").exists());
    }
}

const PROCESSES: usize = 16;
const APPENDS: usize = 200;
const VICTIMS: usize = 12;

fn start(scene: &LedgerFixture, name: &str, count: usize) -> Result<(Child, PathBuf)> {
    let output = scene.temp.path().join(name);
    let child = scene
        .command(name, count)
        .stdin(Stdio::null())
        .stdout(File::create(&output)?)
        .spawn()?;
    Ok((child, output))
}

/// Starts processes that would write for ever, and kills each in the middle of it.
fn kill_some(scene: &LedgerFixture) -> Result<Vec<PathBuf>> {
    let mut outputs = Vec::new();
    for victim in 0..VICTIMS {
        let (mut child, output) = start(scene, &format!("victim{victim}"), usize::MAX)?;
        // Each one later than the one before: some die while they write, and some while they wait.
        while fs::metadata(&output)?.len() <= victim as u64 * 8 {
            ensure!(child.try_wait()?.is_none(), "it ended by itself");
            thread::yield_now();
        }
        child.kill()?;
        child.wait()?;
        outputs.push(output);
    }
    Ok(outputs)
}

#[test]
fn many_writers_lose_nothing_and_the_killed_leave_no_lock() {
    let scene = LedgerFixture::new().unwrap();
    let writers: Vec<_> = (0..PROCESSES)
        .map(|number| start(&scene, &format!("writer{number}"), APPENDS).unwrap())
        .collect();
    let mut outputs = kill_some(&scene).unwrap();
    for (mut child, output) in writers {
        assert!(child.wait().unwrap().success());
        assert_eq!(
            fs::read_to_string(&output).unwrap().lines().count(),
            APPENDS
        );
        outputs.push(output);
    }
    let names = scene.names().unwrap();
    let mut written: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &names {
        *written.entry(name).or_default() += 1;
    }
    assert!(
        written.values().all(|count| *count == 1),
        "something happened twice"
    );
    for output in outputs {
        let reported = fs::read_to_string(&output).unwrap();
        assert!(
            reported.lines().all(|name| written.contains_key(name)),
            "{} was lost",
            output.display()
        );
    }
    assert!(
        names.len() >= PROCESSES * APPENDS + VICTIMS,
        "{}",
        names.len()
    );
    let state = scene.run.state().unwrap();
    assert_eq!(
        (state.seq, state.holder.session.as_ref()),
        (names.len() as u64 + 1, names.last())
    );
    assert!(
        run_command(&scene.command("last", 1), "")
            .unwrap()
            .status
            .success()
    );
}
