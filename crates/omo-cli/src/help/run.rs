//! The pages of plans and their runs.

pub(crate) const PLAN: &str = "\
Examples:
  omo plan show docs/plan.md
  omo plan lint docs/plan.md
  omo plan segments docs/plan.md > batches.json

It reads one file and changes nothing; `-` in its place is stdin. Three dialects
are known: `### Task N:` with dependencies, `### Step N:` below an Implementation
Plan, and one session of the latter. `omo run open --for plan FILE` runs a plan.";

pub(crate) const PLAN_SHOW: &str = "\
Example:
  omo plan show docs/plan.md

It ends with every command that a run of the plan executes, and the digest that
stands for exactly these in this project: what you approve is what you see.";

pub(crate) const PLAN_LINT: &str = "\
Examples:
  omo plan lint docs/plan.md
  omo plan lint --json docs/plan.md   a list with one object for each finding

The exit status is 4 when something is an error: nothing of such a plan is run.
With warnings and notes alone it is 0.";

pub(crate) const PLAN_PARSE: &str = "\
Example:
  omo plan parse docs/plan.md

The JSON is printed, with what was found, also when the plan is not valid; the
exit status is 4 then.";

pub(crate) const PLAN_SEGMENTS: &str = "\
Example:
  omo plan segments docs/plan.md --k 3 --batch-size 5

A pair `N-tests` and `N-impl` stays together, and what is needed comes first.
You are asked behind the first batch, one with a hub, and one with a task that
has a line `<!-- checkpoint -->`. Where tasks need each other, or have the same
id, there are no batches; stderr says why, and the exit status is 4.";

pub(crate) const CKPT: &str = "\
Example:
  omo ckpt compute docs/plan.md

Only for what calls it by this name: it is `omo plan segments`.";

pub(crate) const CKPT_COMPUTE: &str = "\
Example:
  omo ckpt compute docs/plan.md --k 3 --batch-size 5";

pub(crate) const RUN: &str = "\
Example:
  omo run open --for plan docs/plan.md

In a session `/omo:execute-plan FILE` does it all. Whoever works on a run calls
`omo next`, which says what to do, `omo unit` for each task, and `omo check`. A
task has passed when omo has seen its checks green; no verb says so by itself.";

pub(crate) const OPEN: &str = "\
Examples:
  omo run open --for plan docs/plan.md
  omo run open --for local docs/plan.md

`omo run open --for local` alone shows the options that only it has.";

pub(crate) const LIST: &str = "\
Example:
  omo run list";

pub(crate) const SHOW: &str = "\
Examples:
  omo run show             the run that is open here, else the last one
  omo run show --json      the same for a script";

pub(crate) const RESUME: &str = "\
Example:
  omo run resume

While the session that holds a run lives, the exit status is 6. What the plan
says by now is taken in: tasks that were edited are done again.";

pub(crate) const CANCEL: &str = "\
Example:
  omo run cancel --reason \"the plan was replaced\"

What was done stays, in your files and in the record.";

pub(crate) const GC: &str = "\
Example:
  omo run gc --days 7

A run that is open is never removed.";

pub(crate) const IMPORT: &str = "\
Example:
  omo run import .claude/execute-plan-checkpoint.json

What it says is done counts as a claim: no check was seen to be green.";

pub(crate) const NEXT: &str = "\
Examples:
  omo next                 what to do now, as one block
  omo next --wait 540      wait for whoever is at work first

The block begins with a word, DO, SPAWN, ASK, WAIT, STOP or DONE, and ends with
the command to run next. The exit status is 7 when a person is needed, and 1
when the run has ended with failures.";

pub(crate) const UNIT: &str = "\
Examples:
  omo unit start 3
  omo unit done --ticket 4f1c9a
  omo unit fail --ticket 4f1c9a --why \"the API it needs is gone\"

It is for whoever works on a task. The ticket that `start` prints is for that
worker alone.";

pub(crate) const UNIT_START: &str = "\
Example:
  omo unit start 3

A task is begun once, and after everything that it depends on has passed.";

pub(crate) const UNIT_BRIEF: &str = "\
Example:
  omo unit brief 3";

pub(crate) const UNIT_DONE: &str = "\
Examples:
  omo unit done --ticket 4f1c9a --note \"the parser is in src/parse.rs\"
  omo unit done --ticket 4f1c9a --evidence e1,e2

The exit status is 0 only when each of the task's checks did what the plan
expects, and 1 when not.";

pub(crate) const EVIDENCE: &str = "\
Examples:
  omo evidence run --ticket 4f1c9a -- npm test
  omo evidence list

It is for what a task of a session is judged by where its criteria are no
commands: what was run stays, with all that it printed.";

pub(crate) const EVIDENCE_RUN: &str = "\
Example:
  omo evidence run --ticket 4f1c9a -- npm test

It prints the id that `omo unit done --evidence` and `omo verdict` take. The exit
status is 1 where the command failed; that is kept too, and shows nothing.";

pub(crate) const EVIDENCE_LIST: &str = "\
Example:
  omo evidence list --task 2";

pub(crate) const EVIDENCE_SHOW: &str = "\
Example:
  omo evidence show e1";

pub(crate) const VERDICT: &str = "\
Examples:
  omo verdict PASS --ticket 4f1c9a --evidence e4,e5
  omo verdict FAIL --ticket 4f1c9a --reopen \"2: no test for an empty file\"

A PASS counts when every task is done, the evidence is the verifier's own and
green, and every check of the tasks is green once more. Where it does not count
the exit status is 1, and the ticket stays.";

pub(crate) const UNIT_FAIL: &str = "\
Examples:
  omo unit fail --ticket 4f1c9a --why \"the API it needs is gone\"
  omo unit fail --lost 3

What depends on a failed task is not begun; the rest goes on.";

pub(crate) const UNIT_SKIP: &str = "\
Example:
  omo unit skip 3 --why \"not needed any more\"

From a session it needs a prompt of its user since the task failed.";

pub(crate) const UNIT_RETRY: &str = "\
Example:
  omo unit retry 3

From a session it needs a prompt of its user since the task failed.";

pub(crate) const CHECK: &str = "\
Example:
  omo check 3

The exit status is 1 when one of its checks does not do what the plan expects.";

pub(crate) const FENCE: &str = "\
Example:
  omo fence --rules fence.json < asked.json

It prints why a session that works on one group of a plan may not do that, and
nothing where it may. Only the sessions that omo starts have it asked.";

pub(crate) const REPORT: &str = "\
Examples:
  omo report               what passed, what did not, and what was not checked
  omo report --as 000      as a task session ends
  omo report --as 002      as a plan of steps ends; the usual one for its runs
  omo report --as 004      as a section of execution-report.md
  omo report --as json     the same for a script";

pub(crate) const ANSWER: &str = "\
Example:
  omo gate answer g2 continue

`omo next` and `omo run show` name the gate and its options. From a session it
needs a prompt that its user typed after the question.";
