//! Workers on other machines: launchers that start them as jobs of a scheduler, the exchange of
//! work with a run by git, and the worker at the other end.

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
