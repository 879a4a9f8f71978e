//! The names of the client's program.

/// File name of the client.
#[cfg(unix)]
pub(crate) const CLIENTS: [&str; 1] = ["claude"];

/// File names of the client.
#[cfg(windows)]
pub(crate) const CLIENTS: [&str; 2] = ["claude.exe", "claude.cmd"];
