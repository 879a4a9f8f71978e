//! The pages of task sessions, their tasks and what their explorers found.

pub(crate) const SESSION: &str = "\
Examples:
  omo session list                  every session, and how much of it is done
  omo session get --field phase     one value of this shell's session
  omo session clean --completed     remove those that are over

A session is a goal and its tasks, in files below ~/.claude/ultrawork/sessions.
While a run of it is open, `omo next` says what to do, and the run alone writes.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const CREATE: &str = "\
Example:
  omo session create --max-iterations 3 add a login page

What an earlier session of this id has left is kept beside the new one's files,
under names that end with `.before-1`.";

pub(crate) const GET: &str = "\
Examples:
  omo session get                           all of it, as JSON
  omo session get --field options.max_iterations
  omo session get --dir                     the folder that it is in";

pub(crate) const UPDATE: &str = "\
Examples:
  omo session update --phase EXECUTION --iteration 2
  omo session update --phase COMPLETE

COMPLETE needs every task but `verify` to be resolved, and one to be there.";

pub(crate) const DESIGN: &str = "\
Example:
  omo session design < design.md

It is kept as design.md in the folder of the session.";

pub(crate) const LIST: &str = "\
Example:
  omo session list";

pub(crate) const CLEAN: &str = "\
Examples:
  omo session clean --session 4f1c9a   this one, whatever its phase
  omo session clean --older-than 30    those that were over 30 days ago

A session whose run is open is never removed; `omo run cancel` ends a run.";

pub(crate) const TASK: &str = "\
Examples:
  omo task list --format json
  omo task update --id 2 --status in_progress

A task is a whole number, or `verify`: the one that verifies the others.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const TASK_CREATE: &str = "\
Example:
  omo task create --subject \"Add the form\" --criteria \"cmd: npm test|it is blue\"";

pub(crate) const TASK_LIST: &str = "\
Examples:
  omo task list --status open
  omo task list --format json --field id

A file that is no task is named on stderr, and the others are listed.";

pub(crate) const TASK_GET: &str = "\
Example:
  omo task get --id 2 --field criteria[0]";

pub(crate) const TASK_UPDATE: &str = "\
Example:
  omo task update --id 2 --status resolved --add-evidence \"npm test: exit 0\"

A task is resolved with evidence, after every task that it waits for.";

pub(crate) const TASK_SUMMARY: &str = "\
Examples:
  omo task summary
  omo task summary --id 2";

pub(crate) const CONTEXT: &str = "\
Example:
  omo context get --summary

It is for explorers: each says once what it found, and the planner reads it.
The exit status is 1 for anything that goes wrong, and 2 for an unknown option.";

pub(crate) const CONTEXT_INIT: &str = "\
Example:
  omo context init --expected overview,tests";

pub(crate) const CONTEXT_ADD: &str = "\
Example:
  omo context add --explorer-id tests --summary \"npm test runs all of them\"";

pub(crate) const CONTEXT_GET: &str = "\
Examples:
  omo context get --summary
  omo context get --field key_files";
