//! The pages of plans and their runs.

pub(crate) const PLAN: &str = "\
Examples:
  omo plan show docs/plan.md
  omo plan lint docs/plan.md
  omo plan batches docs/plan.md > batches.json

It reads one file and changes nothing; `-` in its place is stdin. Three dialects
are known: `### Task N:` with dependencies, `### Step N:` below an Implementation
Plan, and one session of the latter. `omo run start FILE` runs a plan.";

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

pub(crate) const PLAN_BATCHES: &str = "\
Example:
  omo plan batches docs/plan.md --k 3 --batch-size 5

A pair `N-tests` and `N-impl` stays together, and what is needed comes first.
You are asked behind the first batch, one with a hub, and one with a task that
has a line `<!-- checkpoint -->`. Where tasks need each other, or have the same
id, there are no batches; stderr says why, and the exit status is 4.";

pub(crate) const RUN: &str = "\
Example:
  omo run start docs/plan.md

In a session `/omo:execute FILE` starts a run and works on it.";

pub(crate) const START: &str = "\
Examples:
  omo run start docs/plan.md           in the way that the plan asks for
  omo run start --tasks --session ID

Each way takes the options of its own slash command as well: docs/plans.md.";

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

pub(crate) const SKIP: &str = "\
Example:
  omo run skip 3 --why \"no longer needed\"

From a session it needs a prompt of its user since the task failed.";

pub(crate) const RETRY: &str = "\
Example:
  omo run retry 3

From a session it needs a prompt of its user since the task failed.";

pub(crate) const REPORT: &str = "\
Examples:
  omo report                      what passed, what did not
  omo report --format progress    where each task stands
  omo report --format summary     the report that ends a run of such a plan
  omo report --format json        the same for a script";

pub(crate) const ANSWER: &str = "\
Example:
  omo answer q2 continue

`omo run show` names the open question and its options. From a session it needs
a prompt that its user typed after the question.";

pub(crate) const WATCH: &str = "\
Examples:
  omo run watch
  omo run watch --seconds 60

On a terminal a line for each worker is kept up to date; elsewhere a line is
printed for each thing that happens. The exit status is 7 where a question waits
for you, and 1 where the run ended otherwise than complete.";
