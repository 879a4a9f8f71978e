//! What differs between the systems that omo runs on, as far as the command goes: one module for
//! each kind of system, with the same names in it. Nothing else in this crate asks which system it
//! is on.
//!
//! - [`is_open_to_others`], [`set_rights`] and [`has_rights`] are about who may do what with a
//!   file; [`link`] makes a link, [`terminal_folder`] is where terminals look for programs, and
//!   [`with_slashes`] writes a path as a plan does.
//! - [`file_of_program`] is the file that the client runs where a hook names a program.
//! - [`terminal`] is a terminal that is drawn on and whose keys are read one by one.
//!
//! docs/adr/0013 says what holds on which system, and what does not.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    file_of_program, has_rights, is_open_to_others, link, set_rights, terminal, terminal_folder, with_slashes,
};
#[cfg(windows)]
pub(crate) use windows::{
    file_of_program, has_rights, is_open_to_others, link, set_rights, terminal, terminal_folder, with_slashes,
};

/// What came of waiting for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "no keys are read one by one there"))]
pub(crate) enum KeyInput {
    /// No key was pressed.
    Nothing,
    /// These bytes came of what was pressed.
    Bytes(Vec<u8>),
    /// The terminal is gone.
    Closed,
}

/// Who may do what with a file that omo copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Everybody may run it.
    Run,
    /// Everybody may read it.
    Read,
}
