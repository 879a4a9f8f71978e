#!/usr/bin/env bash
# The Stop hook in bash and jq, for comparison, as a careful author would write it: jq is started
# once, since that is most of what such a hook costs; the state is changed under a lock and put in
# place by a rename; what was decided is logged. The time needs no process of its own either.
set -euo pipefail
folder="$CLAUDE_PROJECT_DIR/.sisyphus/cc-omo"
state="$folder/runtime.local.json"
[ -f "$state" ] || exit 0
exec 9>>"$folder/runtime.lock"
flock -w 0.25 9 || exit 0
# Nothing, or three lines: the new state, the line of the log, the answer.
result=$(jq -c --slurpfile state "$state" '
  $state[0] as $all | .session_id as $id | $all.sessions[$id].ulw as $ulw | (now | todate) as $now
  | select($ulw.enabled and $ulw.stopBlocks < 8)
  | select((.last_assistant_message // "") | endswith("<promise>DONE</promise>") | not)
  | ($ulw.stopBlocks + 1) as $block
  | ($all | .sessions[$id] |= (.ulw.stopBlocks = $block | .ulw.lastStopAt = $now | .updatedAt = $now)),
    {time: $now, session: $id, event: "Stop", block: $block},
    {decision: "block", reason: "block \($block) of 8: go on with the next unfinished change"}')
[ -n "$result" ] || exit 0
{ IFS= read -r new; IFS= read -r line; IFS= read -r answer; } <<<"$result"
printf '%s\n' "$new" >"$state.new"
mv "$state.new" "$state"
printf '%s\n' "$line" >>"$folder/decisions.jsonl"
printf '%s\n' "$answer"
