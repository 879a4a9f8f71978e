//! Every operation with every fault: each call to the file system that changes something fails in each way, or is the last
//! one of its process, and so does one of each kind of the others; before a release all of them.
//!
//! After each of them: the state is the old one or the new one, what a caller was told is whole and true, and nothing
//! is left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use omo_core::messages::task_goes_on;
use omo_state::ended_runs::{self, EndedRun, KeptDifference, RecordSeal};
use omo_state::files::folder::GuardedFolder;
use omo_state::seal::SealKey;
use omo_testkit::strace::{self, CallFault, SystemCall};
use omo_testkit::{HookRun, run_command, wait_until};
use omo_tests::exhaustive::is_exhaustive;
use omo_tests::folder_snapshot::Snapshot;
use omo_tests::orphan_process::run_as_orphan;
use omo_tests::scene::{Scene, plugin};
use serde_json::{Value, json};

use crate::fault_operations::{By, FAULT_OPERATIONS, FaultOperation, STRANGER, is_documented};

/// What a call may fail with. No operation asks which of the first five it was, so that outside of the
/// few that get them all, each call gets one of those in turn.
const ERRORS: [&str; 5] = ["ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE"];

/// The calls that may be interrupted, and have to be made again then.
const INTERRUPTIBLE: [&str; 6] = ["flock", "open", "openat", "ppoll", "read", "write"];

/// The calls that change something on the disk, or wait for another process. A process that is killed before any other
/// call leaves the same as one that is killed before the next of these.
const CHANGING: [&str; 13] = [
    "fallocate",
    "fchmod",
    "flock",
    "fsync",
    "mkdir",
    "mkdirat",
    "ppoll",
    "rename",
    "renameat",
    "unlink",
    "unlinkat",
    "write",
    "writev",
];

/// The operations that get every error at every call.
const WITH_EVERY_ERROR: [&str; 3] = [
    "the first prompt with the keyword",
    "a stop without a claim",
    "omo stop --all",
];

/// The calls that touch files, and those that a process with a deadline or a child makes.
const CALLS: [&str; 32] = [
    "access",
    "close",
    "fallocate",
    "fchmod",
    "flock",
    "fstat",
    "fsync",
    "getcwd",
    "getdents64",
    "getrandom",
    "lseek",
    "lstat",
    "mkdir",
    "mkdirat",
    "newfstatat",
    "open",
    "openat",
    "pipe2",
    "ppoll",
    "pread64",
    "read",
    "readlink",
    "rename",
    "renameat",
    "stat",
    "statx",
    "timer_create",
    "timer_settime",
    "unlink",
    "unlinkat",
    "write",
    "writev",
];

/// The operation whose outcome depends on what can be found out: what cannot be checked is not verified.
const CHECKED_CLAIM: &str = "a claim that a check judges";

/// What an operation left of omo's in the project and in the home.
#[derive(Debug, PartialEq)]
struct Left {
    state: Option<Value>,
    trust: Option<String>,
    files: BTreeSet<PathBuf>,
}

impl Left {
    fn by(scene: &Scene) -> Result<Self> {
        let text = std::fs::read(scene.state_file()).ok();
        // A state that does not parse, as one that a test has broken, is compared as text.
        let parsed = |text: &Vec<u8>| {
            serde_json::from_slice(text)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(text).into_owned()))
        };
        let state = text.as_ref().map(parsed).map(|state| what_counts(&state));
        if let Some(text) = text.filter(|text| text.starts_with(b"{\"version\"")) {
            let text = String::from_utf8(text)?;
            ensure!(
                !text.contains("stranger") || text.contains(STRANGER),
                "a stranger's entry was changed: {text}"
            );
        }
        let files = Snapshot::take(scene.lab.root())?
            .files()
            .filter(|path| is_omos(path))
            .map(timeless)
            .collect();
        let trust =
            std::fs::read_to_string(scene.lab.home().join(".local/state/omo/trust.json")).ok();
        let is_time = |line: &&str| line.trim_start().starts_with("\"at\":");
        let trust = trust.map(|text| text.lines().filter(|line| !is_time(line)).collect());
        Ok(Self {
            state,
            trust,
            files,
        })
    }
}

fn is_omos(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str() == ".sisyphus" || part.as_os_str() == "omo")
}

/// A file that was moved aside carries the time in its name.
fn timeless(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    PathBuf::from(
        text.split_once(".corrupt-")
            .map_or(&*text, |(before, _)| before),
    )
}

/// What of a state decides anything. The rest differs from run to run (times, and the seal over
/// them), or says how much of the configuration and the transcript could be read.
fn what_counts(state: &Value) -> Value {
    let Some(sessions) = state["sessions"].as_object() else {
        return state.clone();
    };
    let of = |session: &Value| {
        let ulw = &session["ulw"];
        let checks: Vec<&Value> = session["gates"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|check| &check["run"])
            .collect();
        json!({
            "enabled": ulw["enabled"], "blocks": ulw["stopBlocks"], "task": ulw["task"], "prompt": ulw["promptId"],
            "paused": ulw["paused"]["reason"], "blocked": ulw["saidBlocked"], "gates": checks,
            "attempts": session["verification"]["attempts"], "review": session["verification"]["review"]["verdict"],
            "stopped": session["stopContinuation"]["disabled"], "verdict": session["verdict"]["kind"],
        })
    };
    sessions
        .iter()
        .map(|(id, session)| (id.clone(), of(session)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// One operation on its fixture.
struct Play {
    operation: &'static FaultOperation,
    scene: Scene,
    command: Command,
    input: String,
    start: Snapshot,
    before: Left,
    after: Left,
    calls: Vec<SystemCall>,
    /// Whether it starts no other process.
    is_alone: bool,
}

impl Play {
    fn set(plugin: &Path, turn: usize, operation: &'static FaultOperation) -> Result<Self> {
        let mut scene = Scene::new(plugin)?;
        scene.lab.write("check.sh", "exit 0\n")?;
        (operation.prepare)(&mut scene).context("prepare the fixture")?;
        let (command, input) = (operation.process)(&scene)?;
        let start = Snapshot::take(scene.lab.root())?;
        let before = Left::by(&scene)?;
        // As the client leaves time between two hooks: what was written a moment ago is looked at once more.
        let prepared = Instant::now();
        let is_a_while_ago = || (prepared.elapsed() > Duration::from_millis(200)).then_some(());
        wait_until("its files were not written a moment ago", is_a_while_ago)?;
        let whole = strace::run(&command, &input)?;
        ensure!(
            whole.run.status.success(),
            "without any fault: {:?}",
            whole.run
        );
        let after = Left::by(&scene)?;
        let is_alone = !strace::starts_a_process(&whole.calls);
        // Before its first `poll` a program is being loaded: those calls are not its own.
        let calls = whole
            .calls
            .into_iter()
            .skip_while(|call| call.name != "poll");
        let calls: Vec<_> = calls.filter(|call| CALLS.contains(&&*call.name)).collect();
        ensure!(calls.len() > 20, "only {} calls were seen", calls.len());
        let calls = sampled(calls, turn);
        Ok(Self {
            operation,
            scene,
            command,
            input,
            start,
            before,
            after,
            calls,
            is_alone,
        })
    }

    /// Every fault at every fourth call; gives how many of them were made.
    fn through(&self, quarter: usize) -> Result<usize> {
        let (mut wrong, mut count) = (Vec::new(), 0);
        for (index, call) in self
            .calls
            .iter()
            .enumerate()
            .filter(|(index, _)| index % 4 == quarter)
        {
            for fault in self.faults(index, call) {
                match self.with(call, fault) {
                    Ok(is_made) => count += usize::from(is_made),
                    Err(error) => wrong.push(format!(
                        "{fault:?} at {} number {}, `{}`: {error:#}",
                        call.name, call.ordinal, call.line
                    )),
                }
            }
        }
        ensure!(
            wrong.is_empty(),
            "{} faults did harm, {count} did not:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        Ok(count)
    }

    /// What may happen at a call.
    fn faults(&self, index: usize, call: &SystemCall) -> Vec<CallFault> {
        let all = WITH_EVERY_ERROR.contains(&self.operation.name);
        let errors = ERRORS
            .iter()
            .enumerate()
            .filter(|(number, _)| all || *number == index % ERRORS.len());
        let errors = errors.filter_map(|(_, error)| match &*call.name {
            // Closing frees a descriptor whatever it answers; that cannot be staged.
            "close" => None,
            // It uses no disk and no descriptor, and fails only where the kernel does not have it.
            "getrandom" => Some(CallFault::Error("ENOSYS")),
            _ => Some(CallFault::Error(error)),
        });
        let interrupted = INTERRUPTIBLE
            .contains(&&*call.name)
            .then_some(CallFault::Error("EINTR"));
        errors
            .chain(interrupted)
            .chain(changes(call).then_some(CallFault::Kill))
            .collect()
    }

    /// Plays one fault, and gives whether it was made: a hook looks at its state now and then while a check goes on,
    /// so that it makes more calls where the machine was busy as they were written down.
    fn with(&self, call: &SystemCall, fault: CallFault) -> Result<bool> {
        self.start.restore()?;
        let traced = match fault {
            CallFault::Error(error) if self.is_alone => {
                strace::run_alone_with_error(&self.command, &self.input, call, error)?
            }
            _ => strace::run_with_fault(&self.command, &self.input, call, fault)?,
        };
        if !traced.is_faulted {
            ensure!(!self.is_always_made(call)?, "the call was not made");
            return Ok(false);
        }
        let left = Left::by(&self.scene)?;
        self.judge(&traced.run, &left, fault)?;
        if fault == CallFault::Kill {
            // The next process finds nothing in the way.
            let again = run_command(&self.command, &self.input)?;
            self.sound(&again, None).context("the next one")?;
            let left = Left::by(&self.scene)?;
            // What was recorded in part goes as a whole, once another run begins.
            let is_of_a_record =
                |file: &Path| file.components().any(|part| part.as_os_str() == "recorded");
            let mut temporary = left.files.iter().filter(|file| is_temporary(file));
            ensure!(
                temporary.all(|file| is_of_a_record(file)),
                "still there: {:?}",
                left.files
            );
        }
        Ok(true)
    }

    /// Whether a call is made in each of five runs without a fault.
    fn is_always_made(&self, call: &SystemCall) -> Result<bool> {
        for _ in 0..5 {
            self.start.restore()?;
            let made = strace::run(&self.command, &self.input)?.calls;
            if !made
                .iter()
                .any(|other| (&other.name, other.ordinal) == (&call.name, call.ordinal))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn judge(&self, run: &HookRun, left: &Left, fault: CallFault) -> Result<()> {
        self.sound(run, Some(fault))?;
        let is_new = left.state == self.after.state || self.is_released(left);
        let is_known =
            is_new || left.state == self.before.state || self.is_honest_judgement(run, left);
        ensure!(
            is_known,
            "neither the old state nor the new: {:?}",
            left.state
        );
        let is_trust_new = left.trust == self.after.trust;
        ensure!(
            is_trust_new || left.trust == self.before.trust,
            "other approvals: {:?}",
            left.trust
        );
        let is_new = is_new && is_trust_new;
        if self.operation.by == By::Command {
            ensure!(
                !run.status.success() || is_new,
                "status 0, and nothing was done"
            );
        }
        // A block that is not counted could go on for ever, and so could a run that is not there.
        let is_stop = Path::new(self.command.get_program()).ends_with("omo-stop");
        let tells =
            is_stop && !run.stdout.is_empty() || run.stdout.contains("is continued, at most");
        ensure!(
            !tells || is_new || self.is_honest_judgement(run, left),
            "said, and not written down: {}",
            run.stdout
        );
        ensure!(
            fault != CallFault::Error("EINTR") || is_new || self.operation.name == CHECKED_CLAIM,
            "an interrupted call was not made again"
        );
        let may_be_left = |file: &PathBuf| {
            self.before.files.contains(file)
                || self.after.files.contains(file)
                || file.ends_with("hooks.log")
                || file.ends_with("runtime.local.json.old")
                || is_kept_run(file)
                || is_review_object(file)
                || fault == CallFault::Kill && is_temporary(file)
        };
        self.is_kept_unchanged()?;
        let strange: Vec<_> = left
            .files
            .iter()
            .filter(|file| !may_be_left(file))
            .collect();
        ensure!(strange.is_empty(), "left behind: {strange:?}");
        Ok(())
    }

    /// What is kept of an ended run may be less than all of it, and never looks as if something else had changed it.
    fn is_kept_unchanged(&self) -> Result<()> {
        let home = self.scene.lab.home().join(".local/state");
        let Some(folder) = GuardedFolder::open_state(self.scene.lab.project())? else {
            return Ok(());
        };
        let runs: Vec<EndedRun> = ended_runs::read_all(&folder)?.collect();
        for run in runs {
            let key = SealKey::find(Some(&home))?.context("no key")?;
            let seal = run.record_seal(&key);
            ensure!(seal == RecordSeal::Holds, "{seal:?}: {run:?}");
            let difference = ended_runs::read_difference(&folder, &run, seal);
            ensure!(
                matches!(
                    difference,
                    KeptDifference::Text(_) | KeptDifference::NotKept
                ),
                "{difference:?}"
            );
        }
        Ok(())
    }

    /// Whether a claim was judged otherwise than without faults, not in its favour, and as it was said.
    fn is_honest_judgement(&self, run: &HookRun, left: &Left) -> bool {
        let Some(own) = left
            .state
            .as_ref()
            .map(|state| &state[self.scene.session.session()])
        else {
            return false;
        };
        let blocked = run.stdout.contains("\"decision\":\"block\"");
        self.operation.name == CHECKED_CLAIM
            && own["verdict"] != "verified"
            && own["blocks"] == json!(u8::from(blocked))
    }

    /// Whether a run that was ended could not be established to be omo's own, and is said to have been released.
    fn is_released(&self, left: &Left) -> bool {
        let parts = |state: &Option<Value>| {
            let mut others = state.clone()?;
            let own = others
                .as_object_mut()?
                .remove(self.scene.session.session())?;
            Some((own, others))
        };
        let (Some((own, others)), Some((after, others_after))) =
            (parts(&left.state), parts(&self.after.state))
        else {
            return false;
        };
        let has_ended = |own: &Value| own["enabled"] == false && own["stopped"] == true;
        has_ended(&own)
            && has_ended(&after)
            && own["verdict"] == "released"
            && others == others_after
    }

    /// What holds of the end of every process, and of what it printed.
    fn sound(&self, run: &HookRun, fault: Option<CallFault>) -> Result<()> {
        let killed = fault == Some(CallFault::Kill) && run.status.code().is_none();
        match self.operation.by {
            By::Hook => {
                ensure!(
                    killed || run.status.success() && run.stderr.is_empty(),
                    "{}: {}",
                    run.status,
                    run.stderr
                );
                let whole = run.stdout.is_empty()
                    || serde_json::from_str::<Value>(&run.stdout)
                        .is_ok_and(|value| value.is_object())
                    || run.stdout.starts_with("<ultrawork-mode>") && is_at_an_end(&run.stdout)
                    || run.stdout.starts_with("CLAUDE_SESSION_ID: ");
                ensure!(whole, "no whole answer: {}", run.stdout);
            }
            By::Command => {
                ensure!(
                    killed || is_documented(run),
                    "{}: {}",
                    run.status,
                    run.stderr
                );
                ensure!(
                    killed || run.status.success() || run.stderr.contains("error: "),
                    "said only: {}",
                    run.stderr
                );
            }
        }
        Ok(())
    }
}

/// Whether a contract is there to its end, with all that is said of the task behind it.
fn is_at_an_end(text: &str) -> bool {
    text.split_once("</ultrawork-mode>")
        .is_some_and(|(_, rest)| {
            [String::new(), format!("\n{}", task_goes_on())].contains(&rest.to_owned())
        })
}

/// All calls that change something, and of the others of each name the first, the middle or the last one, by turns; before
/// a release all of them.
pub(crate) fn sampled(calls: Vec<SystemCall>, turn: usize) -> Vec<SystemCall> {
    if is_exhaustive() {
        return calls;
    }
    let mut counts = BTreeMap::<String, usize>::new();
    for call in calls.iter().filter(|call| !changes(call)) {
        *counts.entry(call.name.clone()).or_default() += 1;
    }
    let mut seen = BTreeMap::<String, usize>::new();
    let mut is_kept = |call: &SystemCall| {
        let Some(count) = counts.get(&call.name).filter(|_| !changes(call)) else {
            return true;
        };
        let number = seen.entry(call.name.clone()).or_default();
        *number += 1;
        [1, count.div_ceil(2), *count][turn % 3] == *number
    };
    calls.into_iter().filter(|call| is_kept(call)).collect()
}

fn changes(call: &SystemCall) -> bool {
    CHANGING.contains(&&*call.name)
        || ["O_CREAT", "O_TRUNC"]
            .iter()
            .any(|flag| call.line.contains(flag))
}

/// What omo keeps of a run that has ended, each time under another name.
fn is_kept_run(file: &Path) -> bool {
    file.parent()
        .is_some_and(|folder| folder.ends_with("cc-omo/ended"))
        && file
            .extension()
            .is_some_and(|it| ["json", "diff", "files"].iter().any(|ending| it == *ending))
}

/// What git wrote for a difference in the user's own state: the next one begins by removing it.
fn is_review_object(file: &Path) -> bool {
    file.starts_with("lab/home/.local/state/omo/reviews")
}

fn is_temporary(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "tmp")
}

/// Plays every operation with a quarter of its calls: much of it is waiting, which four tests do at once.
fn play(quarter: usize) {
    let plugin = plugin();
    let is_operation = |name: &&str| {
        FAULT_OPERATIONS
            .iter()
            .any(|operation| operation.name == *name)
    };
    assert!(
        WITH_EVERY_ERROR
            .iter()
            .chain([&CHECKED_CLAIM])
            .all(is_operation),
        "an operation has another name by now"
    );
    let mut wrong = Vec::new();
    let mut faults = 0;
    for (turn, operation) in FAULT_OPERATIONS.iter().enumerate() {
        match Play::set(&plugin, turn, operation).and_then(|play| play.through(quarter)) {
            Ok(count) => faults += count,
            Err(error) => wrong.push(format!("{}: {error:#}", operation.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(faults > 300, "only {faults} faults were made");
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_does_harm_1_of_4() {
    run_as_orphan("faults::no_fault_does_harm_1_of_4", || play(0));
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_does_harm_2_of_4() {
    run_as_orphan("faults::no_fault_does_harm_2_of_4", || play(1));
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_does_harm_3_of_4() {
    run_as_orphan("faults::no_fault_does_harm_3_of_4", || play(2));
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_fault_does_harm_4_of_4() {
    run_as_orphan("faults::no_fault_does_harm_4_of_4", || play(3));
}
