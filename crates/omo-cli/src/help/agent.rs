//! The pages of what agents and the client call.

pub(crate) const AGENT: &str = "\
Examples:
  omo agent next                   what to do now, as one block
  omo agent done --ticket 4f1c9a   a task is finished: omo runs its checks

People need none of these: `/omo:execute` and its like tell the agents what
to call. No command says that a task has passed; omo finds that out.";

pub(crate) const OPEN: &str = "\
Example:
  omo agent open --command execute-plan

What was typed behind the command is read as the hook has kept it.";

pub(crate) const NEXT: &str = "\
Examples:
  omo agent next                 what to do now, as one block
  omo agent next --wait 540      wait for the worker that is at it first

The block begins with a word, DO, SPAWN, ASK, WAIT, STOP or DONE, and ends with
the command to run next. The exit status is 7 when a person is needed, and 1
when the run has ended with failures.";

pub(crate) const START: &str = "\
Example:
  omo agent start 3

A task is begun once, and after everything that it depends on has passed.";

pub(crate) const BRIEF: &str = "\
Example:
  omo agent brief 3";

pub(crate) const DONE: &str = "\
Examples:
  omo agent done --ticket 4f1c9a --note \"the parser is in src/parse.rs\"
  omo agent done --ticket 4f1c9a --evidence e1,e2

The exit status is 0 only when each of the task's checks did what the plan
expects, and 1 when not.";

pub(crate) const FAIL: &str = "\
Examples:
  omo agent fail --ticket 4f1c9a --why \"the API it needs is gone\"
  omo agent fail --lost 3

What depends on a failed task is not begun; the rest goes on.";

pub(crate) const EVIDENCE: &str = "\
Examples:
  omo agent evidence run --ticket 4f1c9a -- npm test
  omo agent evidence list

It is for what a task of a session is judged by where its criteria are no
commands: what was run stays, with all that it printed.";

pub(crate) const EVIDENCE_RUN: &str = "\
Example:
  omo agent evidence run --ticket 4f1c9a -- npm test

It prints the id that `done --evidence` and `verdict` take. The exit status is 1
where the command failed; that is kept too, and shows nothing.";

pub(crate) const EVIDENCE_LIST: &str = "\
Example:
  omo agent evidence list --task 2";

pub(crate) const EVIDENCE_SHOW: &str = "\
Example:
  omo agent evidence show e1";

pub(crate) const VERDICT: &str = "\
Examples:
  omo agent verdict PASS --ticket 4f1c9a --evidence e4,e5
  omo agent verdict FAIL --ticket 4f1c9a --reopen \"2: empty files untested\"

A PASS counts when every task is done, the evidence is the verifier's own and
green, and every check of the tasks is green once more. Where it does not count
the exit status is 1, and the ticket stays.";

pub(crate) const FENCE: &str = "\
Example:
  omo agent fence --rules fence.json < asked.json

It prints why a session that works on one group of a plan may not do that, and
nothing where it may. Only the sessions that omo starts have it asked.";

pub(crate) const WORKERS: &str = "\
Example:
  omo agent workers start

For a run with parallel workers: each is a client of its own, in a work tree and
on a branch of its own, a wave at a time. The checkout is not touched before all
of it is done and checked; the branch then moves once. What cannot be merged is
kept, and named. Ending the terminal ends nothing; `omo run cancel` does.";

pub(crate) const WORKERS_START: &str = "\
Example:
  omo agent workers start

The supervisor runs behind the terminal until the run is over or a question
waits. `omo agent next` and `omo run watch` start it, too, where it is gone.";

pub(crate) const WORKERS_MERGE: &str = "\
Example:
  omo agent workers merge

For a run without a supervisor: it merges what is done, checks the whole, and
moves your branch where all is green.";

pub(crate) const SUPERVISE: &str = "\
Example:
  omo agent supervise --run 20261122-101500-abcd

`omo agent workers start` starts it. It ends when the run is over, or a question
waits.";
