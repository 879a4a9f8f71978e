#!/bin/sh
# Prints a task list, or one value of it, for the command files that name this script.
exec "$(dirname "$0")/../bin/omo" tasks show "$@"
