//! Runs of plans in steps from outside: what is typed and what it means, what a dry run tells, what keeps a run from
//! being opened, how one goes on, how its steps are done where their user is, and what is told of them.

mod arguments;
mod dry_run;
mod foreground;
mod going_on;
mod in_the_way;
mod opening;
mod sessions;
mod told;
