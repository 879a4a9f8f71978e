//! Linux: makes processes that a check leaves behind children of its keeper, which ends them.

use std::time::Duration;

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, set_dumpable_behavior,
    waitpid,
};

use super::stat::stat_of;

/// Adopts all descendants, however often they fork.
pub(crate) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Hides memory and open files of this process from others of the same user; not from an administrator.
pub(crate) fn hide_memory() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Ends every child of the keeper, and then the children that it inherits from those.
pub(crate) fn end_orphans() {
    const ROUNDS: usize = 100;
    let own = getpid().as_raw_nonzero().get();
    for _ in 0..ROUNDS {
        let children = children_of(own);
        if children.is_empty() {
            return;
        }
        for child in children.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn children_of(parent: i32) -> Vec<i32> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        stat_of(*pid).is_some_and(|stat| stat.state != "Z" && stat.parent == parent.to_string())
    })
    .collect()
}
