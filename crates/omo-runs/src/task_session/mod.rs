//! Runs of task sessions: the files that such a session has, made from the ledger, and what people and
//! workers read.

pub mod files;
pub mod render;
pub mod report;
