//! Signals that would end a process of omo where an error is enough.

/// From now on a limit on the size of files (`ulimit -f`) makes a write fail; by itself the system
/// would end the process in the middle of it. Programs that are started later do not inherit this.
/// Where there is no such limit nothing happens.
pub fn outlive_size_limit() {
    crate::platform::outlive_size_limit();
}
