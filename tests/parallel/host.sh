#!/usr/bin/env bash
# What a session is started with on the other host, which has no omo: it does the steps of the prompt with the script
# of that name each, commits each of them as the prompt says, and pushes.
set -eu
branch=$1 group=$2
prompt="$(cat)"
folder="$HOME/clones/$branch"
git clone -q "$(cat "$HOME/hub")" "$folder"
cd "$folder"
git checkout -q "$branch"
printf '%s\n' "$group" >>"$HOME/launched"
message() {
  awk -v start="--- Step $1/" '
    index($0, start) == 1 { here = 1 }
    here && /^- Commit it with this message/ { told = 1; next }
    told && NF && !/^      / { exit }
    told { sub(/^      /, ""); print }' <<<"$prompt"
}
for step in $(sed -n 's/^--- Step \([0-9][0-9]*\)\/.*/\1/p' <<<"$prompt"); do
  . "$HOME/steps/$step.sh"
  git add -A
  git commit -q -m "$(message "$step")"
  git push -q origin "HEAD:$branch"
done
