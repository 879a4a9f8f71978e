//! Runs of plans from outside, with bad input, faults and rivals: what `omo` says, how it ends, and
//! that every file is as it was.

mod dispatch;
mod edited_plan;
mod opening;
mod projections;
mod pull_request;
mod refusals;
mod run_ownership;
mod said_once;
mod screens;
mod task_verification;
mod typed;
