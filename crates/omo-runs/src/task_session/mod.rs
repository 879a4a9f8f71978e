//! Runs of task sessions: what people and workers read of them.

pub mod report;
