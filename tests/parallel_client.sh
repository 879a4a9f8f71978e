#!/usr/bin/env bash
# A stand-in for the client: it does what `omo agent next` says, and works on a step with the script of that name.
# What such a script prints on descriptor 3 is printed as the client prints about itself.
set -u
scripts="$(dirname "$(readlink -f "$0")")/steps"
exec 3>&1 1>&2
prompt="$(cat)"
printf '{"type":"system","subtype":"init","session_id":"s-%s"}\n' "$$" >&3
printf '%s %s\n' "$OMO_WORKER" "$*" >>"$scripts/started"
end() {
  printf '{"type":"result","subtype":"success","is_error":false,"num_turns":3,"total_cost_usd":0.25,"result":"done","session_id":"s-%s"}\n' "$$" >&3
  exit 0
}
for _ in $(seq 40); do
  block="$(omo agent next)" || end
  case "$block" in
  TASK*) ;;
  DO*)
    omo agent fail --lost "$(sed -n 's/.*omo agent fail --lost \([0-9][0-9]*\).*/\1/p' <<<"$block")"
    continue
    ;;
  *) end ;;
  esac
  step="$(sed -n 's/^Step \([0-9][0-9]*\) of .* is yours.*/\1/p' <<<"$block" | head -n 1)"
  ticket="$(sed -n 's/.*omo agent done .*--ticket \([^ ]*\).*/\1/p' <<<"$block" | head -n 1)"
  [ -f "$scripts/$step.sh" ] && . "$scripts/$step.sh"
  omo agent done --ticket "$ticket"
done
end
