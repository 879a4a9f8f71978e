# What stands for the client where `omo worker` runs: it does the steps of the prompt with the script of that name each,
# and commits each of them as the prompt says.
exec 3>&1 1>&2
here="$(dirname "$0")"
prompt="$(cat)"
printf '%s\n' '{"type":"system","subtype":"init","session_id":"s"}' >&3
# What `omo doctor --launcher` asks for.
case "$prompt" in *omo-doctor.txt*) echo ok >omo-doctor.txt ;; esac
for step in $(steps); do
  git log --format=%B | grep -qx "Omo-Task: $step" && continue
  . "$here/steps/$step.sh"
  git add -A
  git commit -q -m "$(message "$step")"
done
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"num_turns":3,"total_cost_usd":0.25,"result":"done","session_id":"s"}' >&3
