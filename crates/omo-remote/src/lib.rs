//! Workers elsewhere: the launchers that start them, their jobs, and the worker at the other end.

pub mod branches;
mod cancellation;
pub mod contact;
pub mod decision;
pub mod exchange;
pub mod follow;
pub mod job;
pub mod launcher;
pub mod outcome;
pub mod peer;
pub mod profile;
pub mod starts;
pub mod template;
pub mod trial;
pub mod worker;
