//! Differences between systems in a hook's input: a module for each kind, with the same names in it (docs/adr/0013).

pub(crate) mod clients;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{MANAGED_SETTINGS, UnixStdin as Stdin, write};
#[cfg(windows)]
pub(crate) use windows::{MANAGED_SETTINGS, WindowsStdin as Stdin, write};
