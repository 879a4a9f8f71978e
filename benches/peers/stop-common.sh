#!/usr/bin/env bash
# The Stop hook in bash and jq, for comparison, as such hooks are commonly written: each field is
# had by a jq of its own. Otherwise it does what stop.sh does.
set -euo pipefail
input=$(cat)
session=$(jq -r '.session_id' <<<"$input")
cwd=$(jq -r '.cwd' <<<"$input")
folder="$cwd/.sisyphus/cc-omo"
state="$folder/runtime.local.json"
[ -f "$state" ] || exit 0
enabled=$(jq -r --arg s "$session" '.sessions[$s].ulw.enabled // false' "$state")
[ "$enabled" = true ] || exit 0
message=$(jq -r '.last_assistant_message // ""' <<<"$input")
case "$message" in *'<promise>DONE</promise>') exit 0 ;; esac
exec 9>>"$folder/runtime.lock"
flock -w 0.25 9 || exit 0
blocks=$(jq -r --arg s "$session" '.sessions[$s].ulw.stopBlocks // 0' "$state")
[ "$blocks" -lt 8 ] || exit 0
block=$((blocks + 1))
now=$(date -u +%FT%TZ)
jq -c --arg s "$session" --arg now "$now" --argjson block "$block" \
  '.sessions[$s] |= (.ulw.stopBlocks = $block | .ulw.lastStopAt = $now | .updatedAt = $now)' "$state" >"$state.new"
mv "$state.new" "$state"
jq -cn --arg s "$session" --arg now "$now" --argjson block "$block" \
  '{time: $now, session: $s, event: "Stop", block: $block}' >>"$folder/decisions.jsonl"
jq -cn --arg r "block $block of 8: go on with the next unfinished change" '{decision: "block", reason: $r}'
