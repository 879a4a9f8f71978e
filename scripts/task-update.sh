#!/bin/sh
# Changes where a task stands, for the command files that name this script.
exec "$(dirname "$0")/../bin/omo" agent task update --json "$@"
