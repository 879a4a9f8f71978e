//! Differences between the systems that omo runs on, by `docs/adr/0013`: a module for each, with the same names.
//! Nothing else in this crate asks for the system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::terminal::{UnixKeyMode as KeyMode, UnixTerminalSignals as TerminalSignals};
#[cfg(unix)]
pub(crate) use unix::{
    file_of_program, has_rights, is_open_to_others, link, set_rights, terminal, terminal_folder,
    with_slashes,
};
#[cfg(windows)]
pub(crate) use windows::terminal::{
    WindowsKeyMode as KeyMode, WindowsTerminalSignals as TerminalSignals,
};
#[cfg(windows)]
pub(crate) use windows::{
    file_of_program, has_rights, is_open_to_others, link, set_rights, terminal, terminal_folder,
    with_slashes,
};

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    windows,
    expect(dead_code, reason = "no keys are read one by one there")
)]
pub(crate) enum KeyInput {
    Nothing,
    Bytes(Vec<u8>),
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    Run,
    Read,
}
