//! Linux and macOS: groups of processes. Ctrl-C ends this process's group but no other, so before
//! it starts a group this process handles signals to end: it first ends all of its groups.

use std::collections::BTreeSet;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, test_kill_process_group,
    waitid, waitpgid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

use super::{GroupEnding, Leftovers};

const ENDINGS: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];
/// The client kills a hook two seconds after it asked it to end.
const GRACE: Duration = Duration::from_millis(500);

struct GroupTable {
    running: BTreeSet<u32>,
    /// Groups without a process id yet.
    starting: usize,
    /// This process is about to end: it starts no group, and ignores ends of groups, since it would take the end of
    /// what it has ended itself for a result.
    is_over: bool,
}

static GROUPS: Mutex<GroupTable> = Mutex::new(GroupTable {
    running: BTreeSet::new(),
    starting: 0,
    is_over: false,
});
static CHANGED: Condvar = Condvar::new();
/// Set once a signal only sets a flag: see `flag_termination`.
static IS_NOTED: AtomicBool = AtomicBool::new(false);

fn groups() -> MutexGuard<'static, GroupTable> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_while_ending(
    mut groups: MutexGuard<'static, GroupTable>,
) -> MutexGuard<'static, GroupTable> {
    while groups.is_over {
        groups = CHANGED.wait(groups).unwrap_or_else(PoisonError::into_inner);
    }
    groups
}

/// Process in a group of its own, with all that it started.
pub struct UnixProcessGroup {
    pid: u32,
    /// Processes left by the first one may still put things back.
    is_asked: Arc<AtomicBool>,
}

impl UnixProcessGroup {
    /// Starts `command` in a new group; `ended` is called with its exit status, or the signal.
    pub fn start(
        mut command: Command,
        leftovers: Leftovers,
        ended: impl FnOnce(Option<i32>, Option<i32>) + Send + 'static,
    ) -> io::Result<Self> {
        handle_termination();
        // Without the lock: nothing could end this process while a slow start holds it.
        wait_while_ending(groups()).starting += 1;
        let started = command.process_group(0).spawn().and_then(|child| {
            let group = Self {
                pid: child.id(),
                is_asked: Arc::default(),
            };
            groups().running.insert(group.pid);
            wait_in_background(child, leftovers, Arc::clone(&group.is_asked), ended).inspect_err(
                |_| {
                    group.end(GroupEnding::AtOnce);
                    groups().running.remove(&group.pid);
                },
            )?;
            Ok(group)
        });
        let mut groups = groups();
        groups.starting -= 1;
        if groups.is_over {
            if let Ok(group) = &started {
                group.end(GroupEnding::AtOnce);
            }
            CHANGED.notify_all();
        }
        drop(wait_while_ending(groups));
        started
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends the signal of `ending` to the whole group.
    pub fn end(&self, ending: GroupEnding) {
        self.is_asked.store(true, Ordering::SeqCst);
        end_group(self.pid, ending);
    }

    pub(crate) fn is_gone(&self) -> bool {
        let Some(group) = process_id(self.pid) else {
            return true;
        };
        while matches!(waitpgid(group, WaitOptions::NOHANG), Ok(Some(_))) {}
        test_kill_process_group(group).is_err()
    }
}

impl Drop for UnixProcessGroup {
    /// Waits: no result is made of what this process has ended itself.
    fn drop(&mut self) {
        drop(wait_while_ending(groups()));
    }
}

fn wait_in_background(
    mut child: Child,
    leftovers: Leftovers,
    is_asked: Arc<AtomicBool>,
    ended: impl FnOnce(Option<i32>, Option<i32>) + Send + 'static,
) -> io::Result<()> {
    std::thread::Builder::new()
        .spawn(move || {
            let group = child.id();
            // Not reaped yet, so that no other process can have its number.
            let has_ended = process_id(group).is_some_and(|pid| {
                let unreaped = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                retry_on_intr(|| waitid(WaitId::Pid(pid), unreaped)).is_ok()
            });
            let mut groups = groups();
            let has_no_grace = leftovers == Leftovers::Ended && !is_asked.load(Ordering::SeqCst);
            if has_ended && (has_no_grace || groups.is_over) {
                end_group(group, GroupEnding::AtOnce);
            }
            let status = child.wait().ok();
            groups.running.remove(&group);
            CHANGED.notify_all();
            drop(wait_while_ending(groups));
            ended(
                status.and_then(|status| status.code()),
                status.and_then(|status| status.signal()),
            );
        })
        .map(drop)
}

fn process_id(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Ends a process that leads a group, and all of the group.
pub fn end_group(group: u32, ending: GroupEnding) {
    let signal = match ending {
        GroupEnding::Interrupted => Signal::INT,
        GroupEnding::Asked => Signal::TERM,
        GroupEnding::AtOnce => Signal::KILL,
    };
    if let Some(group) = process_id(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// Ends every group that this process has started, before this process ends.
pub(crate) fn end_groups() {
    let mut groups = groups();
    groups.is_over = true;
    for group in &groups.running {
        end_group(*group, GroupEnding::Asked);
    }
    let waited = CHANGED.wait_timeout_while(groups, GRACE, |groups| {
        groups.starting > 0 || !groups.running.is_empty()
    });
    let (groups, _) = waited.unwrap_or_else(PoisonError::into_inner);
    for group in &groups.running {
        end_group(*group, GroupEnding::AtOnce);
    }
}

pub(crate) fn flag_termination(asked: &Arc<AtomicBool>) {
    IS_NOTED.store(true, Ordering::SeqCst);
    for signal in ENDINGS {
        let _ = flag::register(signal, Arc::clone(asked));
    }
}

/// Has a request to end first end all groups; where that cannot be set up, it ends this process as before.
fn handle_termination() {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(|| {
        if IS_NOTED.load(Ordering::SeqCst) {
            return;
        }
        let Ok((signals, writer)) = io::pipe() else {
            return;
        };
        let ignored: Vec<i32> = ENDINGS
            .into_iter()
            .filter(|signal| is_ignored(*signal))
            .collect();
        let last = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&last);
        // First, since a signal that is handled and not heard would end nothing.
        if std::thread::Builder::new()
            .spawn(move || end_on_signal(signals, &seen))
            .is_err()
        {
            return;
        }
        reset_signals_of_started_programs();
        // Ignored ones, under `nohup` for example, still do not end this process.
        for signal in ENDINGS
            .into_iter()
            .filter(|signal| !ignored.contains(signal))
        {
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = flag::register_usize(signal, Arc::clone(&last), number);
            let _ = writer
                .try_clone()
                .and_then(|writer| low_level::pipe::register(signal, writer));
        }
    });
}

/// Registers handlers that do nothing: unlike `SIG_IGN`, no started program inherits them.
pub(crate) fn reset_signals_of_started_programs() {
    for signal in ENDINGS
        .into_iter()
        .chain([SIGQUIT])
        .filter(|signal| is_ignored(*signal))
    {
        let _ = flag::register(signal, Arc::default());
    }
}

fn end_on_signal(mut signals: PipeReader, last: &AtomicUsize) {
    while signals.read_exact(&mut [0]).is_ok() {
        if IS_NOTED.load(Ordering::SeqCst) {
            continue;
        }
        end_groups();
        let signal = i32::try_from(last.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
        let _ = low_level::emulate_default_handler(signal);
    }
}

#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    super::stat::ignored_signals().is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(target_os = "linux"))]
fn is_ignored(_signal: i32) -> bool {
    false
}
