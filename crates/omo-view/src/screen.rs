//! A run on a terminal that is drawn on: lines that fit its size.

pub mod line;
pub mod lines;
mod lists;
