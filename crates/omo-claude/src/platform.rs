//! Differences between the systems that omo runs on, as far as a hook reads its input: one module
//! for each kind of system, with the same names in it.
//!
//! [`Stdin`] reads, and waits for no longer than it is told. docs/adr/0013 says what holds on which
//! system, and what does not.

pub(crate) mod clients;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{MANAGED_SETTINGS, Stdin, write};
#[cfg(windows)]
pub(crate) use windows::{MANAGED_SETTINGS, Stdin, write};
