//! Runs of plans in steps from outside: what is typed and what it means, what a dry run tells, what keeps a run from
//! being opened, how one goes on, how its steps are done where their user is, and what is told of them.

mod arguments;
mod briefs_and_report;
mod commit_guard;
mod dry_run;
mod foreground;
mod opening;
mod preflight;
mod resuming;
mod taken_back;
mod workers;
