//! A run on a live terminal screen: lines that fit the size of the terminal.

pub mod line;
pub mod lines;
mod lists;
