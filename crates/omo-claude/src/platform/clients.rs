//! The names of the client's program.

/// What the client's program may be called.
#[cfg(unix)]
pub(crate) const CLIENTS: [&str; 1] = ["claude"];

/// What the client's program may be called.
#[cfg(windows)]
pub(crate) const CLIENTS: [&str; 2] = ["claude.exe", "claude.cmd"];
