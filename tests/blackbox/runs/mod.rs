//! Runs of plans from outside, with bad input, faults and rivals: what `omo` says, how it ends, and
//! that every file is as it was.

mod edited;
mod handed;
mod holders;
mod judged;
mod opening;
mod projections;
mod refused;
mod sequences;
mod typed;
