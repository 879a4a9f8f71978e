//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod answer;
pub(crate) mod blocked;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod log;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod stop;
pub(crate) mod tasks;
pub(crate) mod ulw;
pub(crate) mod verify;
