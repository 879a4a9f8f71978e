//! Platform code for a hook's input and output: `unix` and `windows` export the same names
//! (docs/adr/0013).

pub(crate) mod clients;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{MANAGED_SETTINGS, UnixStdin as Stdin, write};
#[cfg(windows)]
pub(crate) use windows::{MANAGED_SETTINGS, WindowsStdin as Stdin, write};
