# What a session is started with on the other host, which has no omo: it does the steps of the prompt with the script
# of that name each, commits each of them as the prompt says, and pushes.
branch=$1 group=$2
prompt="$(cat)"
folder="$HOME/clones/$branch"
git clone -q "$(cat "$HOME/hub")" "$folder"
cd "$folder"
git checkout -q "$branch"
printf '%s\n' "$group" >>"$HOME/launched"
for step in $(steps); do
  . "$HOME/steps/$step.sh"
  git add -A
  git commit -q -m "$(message "$step")"
  git push -q origin "HEAD:$branch"
done
