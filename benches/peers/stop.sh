#!/usr/bin/env bash
# A Stop hook as they are commonly written, in bash and jq, for comparison: it reads its input,
# looks the session up in a JSON file under a lock, counts the block, writes the file, answers.
set -eu
input=$(cat)
session=$(jq -r '.session_id' <<<"$input")
cwd=$(jq -r '.cwd' <<<"$input")
message=$(jq -r '.last_assistant_message // ""' <<<"$input")
state="$cwd/.sisyphus/cc-omo/runtime.local.json"
[ -f "$state" ] || exit 0
exec 9>>"$state.lock"
flock -w 1 9 || exit 0
enabled=$(jq -r --arg s "$session" '.sessions[$s].ulw.enabled // false' "$state")
[ "$enabled" = true ] || exit 0
case "$message" in *'<promise>DONE</promise>') exit 0 ;; esac
blocks=$(jq -r --arg s "$session" '.sessions[$s].ulw.stopBlocks // 0' "$state")
[ "$blocks" -lt 8 ] || exit 0
jq --arg s "$session" --arg now "$(date -u +%FT%TZ)" \
  '.sessions[$s].ulw.stopBlocks += 1 | .sessions[$s].ulw.lastStopAt = $now' "$state" >"$state.new"
mv "$state.new" "$state"
jq -cn --arg r "block $((blocks + 1)) of 8" '{decision: "block", reason: $r}'
