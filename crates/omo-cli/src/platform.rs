//! Differences between the systems that omo runs on, as far as the command goes: one module for each kind of system,
//! with the same names in it. Nothing else in this crate asks which system it is on.
//!
//! [`is_open_to_others`], [`set_rights`] and [`has_rights`] are the rights of a file; [`link`] makes a link,
//! [`terminal_folder`] is a terminal's folder of programs, and [`with_slashes`] writes a path as a plan does.
//! [`file_of_program`] is the file that the client runs for a program named by a hook. [`terminal`] draws, and reads
//! single keys.
//!
//! docs/adr/0013 lists the rules of each system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    file_of_program, has_rights, is_open_to_others, link, set_rights, terminal, terminal_folder,
    with_slashes,
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
