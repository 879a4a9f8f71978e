//! The rules of omo, and nothing else: what a prompt means, what a Stop becomes, and the words
//! that are said about it.
//!
//! Nothing here opens a file, reads a clock or the environment, or starts a process: plain data
//! goes in, plain data comes out, so that every decision can be written down as a table.

pub mod keyword;
pub mod promise;
