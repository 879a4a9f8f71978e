//! Signals that would end a process of omo where an error is enough.

/// From now on a limit on the size of files (`ulimit -f`) makes a write fail; by itself the system
/// would end the process in the middle of it. Programs that are started later do not inherit this.
/// Elsewhere than on Linux the system's own way stays.
pub fn outlive_size_limit() {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::signal::{SigSet, Signal};
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGXFSZ);
        // Where it cannot be held back everything else still holds.
        let _ = signals.thread_block();
    }
}
