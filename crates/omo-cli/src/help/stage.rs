//! The pages of sessions that are worked on apart.

pub(crate) const STAGE: &str = "\
Example:
  omo stage wait

For a run that `omo run open --for local PLAN` has opened. Every session of it is
worked on by a client of its own, in a work tree and on a branch of its own, a
wave at a time. Your checkout is not touched before all of it is done and checked;
your branch then moves once. What cannot be merged is kept, and named. Ending the
terminal ends nothing; `omo run cancel` does.";

pub(crate) const SUPERVISE: &str = "\
Example:
  omo stage supervise --run 20261122-101500-abcd

What `omo stage start` starts. It ends when the run is over, or a question waits.";

pub(crate) const START: &str = "\
Example:
  omo stage start

The supervisor runs behind the terminal until the run is over or a question waits
for you. `omo next` and `omo stage wait` start it, too, where it is gone.";

pub(crate) const WAIT: &str = "\
Examples:
  omo stage wait
  omo stage wait --seconds 60

On a terminal a line for each session is kept up to date; elsewhere a line is
printed for each thing that happens. The exit status is 7 where a question waits
for you, and 1 where the run ended otherwise than complete.";

pub(crate) const MERGE: &str = "\
Example:
  omo stage merge

For a run that nobody works on: it merges what is done, checks the whole, and
moves your branch where all is green.";
