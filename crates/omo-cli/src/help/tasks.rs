//! The pages of task lists, their tasks and what their explorers found.

pub(crate) const TASKS: &str = "\
Examples:
  omo tasks list                   every task list, and how much of it is done
  omo tasks show --field phase     one value of this shell's task list
  omo tasks clean --completed      remove those that are over

A task list is a goal and its tasks, one for each session that made one, in
files below ~/.claude/ultrawork/sessions. `/omo:ulw-plan` begins one, and
`/omo:ulw-exec` executes it.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const EDIT: &str = "\
Example:
  omo agent tasks update --phase PLANNING_COMPLETE

While a run of a task list is open, the run alone writes its files.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const CREATE: &str = "\
Example:
  omo agent tasks create --max-iterations 3 add a login page

What an earlier session of this id has left is kept beside the new one's files,
under names that end with `.before-1`.";

pub(crate) const SHOW: &str = "\
Examples:
  omo tasks show                           all of it, as JSON
  omo tasks show --field options.max_iterations
  omo tasks show --dir                     the folder that it is in";

pub(crate) const UPDATE: &str = "\
Examples:
  omo agent tasks update --phase EXECUTION --iteration 2
  omo agent tasks update --phase COMPLETE

COMPLETE needs every task but `verify` to be resolved, and one to be there.";

pub(crate) const DESIGN: &str = "\
Example:
  omo agent tasks design < design.md

It is kept as design.md in the folder of the session.";

pub(crate) const LIST: &str = "\
Example:
  omo tasks list";

pub(crate) const CLEAN: &str = "\
Examples:
  omo tasks clean --session 4f1c9a   this one, whatever its phase
  omo tasks clean --older-than 30    those that were over 30 days ago

A session whose run is open is never removed; `omo run cancel` ends a run.";

pub(crate) const TASK: &str = "\
Examples:
  omo agent task list --format json
  omo agent task update --id 2 --status in_progress

A task is a whole number, or `verify`: the one that verifies the others.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const TASK_CREATE: &str = "\
Example:
  omo agent task create --subject \"Add a form\" --criteria \"cmd: npm test\"";

pub(crate) const TASK_LIST: &str = "\
Examples:
  omo agent task list --status open
  omo agent task list --format json --field id

A file that is no task is named on stderr, and the others are listed.";

pub(crate) const TASK_GET: &str = "\
Example:
  omo agent task get --id 2 --field criteria[0]";

pub(crate) const TASK_UPDATE: &str = "\
Example:
  omo agent task update --id 2 --status resolved --add-evidence \"exit 0\"

A task is resolved with evidence, after every task that it waits for.";

pub(crate) const TASK_SUMMARY: &str = "\
Examples:
  omo agent task summary
  omo agent task summary --id 2";

pub(crate) const CONTEXT: &str = "\
Example:
  omo agent context get --summary

It is for explorers: each says once what it found, and the planner reads it.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const CONTEXT_INIT: &str = "\
Example:
  omo agent context init --expected overview,tests";

pub(crate) const CONTEXT_ADD: &str = "\
Example:
  omo agent context add --explorer-id tests --summary \"npm test\"";

pub(crate) const CONTEXT_GET: &str = "\
Examples:
  omo agent context get --summary
  omo agent context get --field key_files";
