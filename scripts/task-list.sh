#!/bin/sh
# Lists the tasks of a task list, for the command files that name this script.
exec "$(dirname "$0")/../bin/omo" agent task list --words scripts "$@"
