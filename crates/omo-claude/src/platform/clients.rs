//! File names of the client's program on each system.

#[cfg(unix)]
pub(crate) const CLIENTS: [&str; 1] = ["claude"];

#[cfg(windows)]
pub(crate) const CLIENTS: [&str; 2] = ["claude.exe", "claude.cmd"];
