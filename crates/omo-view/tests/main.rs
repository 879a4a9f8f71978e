//! The page of a run.

mod page;
mod project;
mod tone;
