//! Parsers for fields of a task that dialects share: files, commands and their expected results.

pub mod named_files;
pub(crate) mod programs;
pub(crate) mod prose;
pub(crate) mod shell_commands;
pub mod stated_checks;
pub(crate) mod unused_commands;
pub(crate) mod verification_section;
