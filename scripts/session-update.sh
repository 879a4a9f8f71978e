#!/bin/sh
# Changes where a task list stands, for the command files that name this script.
exec "$(dirname "$0")/../bin/omo" agent tasks update --json "$@"
