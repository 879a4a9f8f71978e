#!/usr/bin/env bash
# How what stands for a session on another host reads its prompt, which is in `prompt`.
set -eu
steps() { sed -n 's/^--- Step \([0-9][0-9]*\)\/.*/\1/p' <<<"$prompt"; }
message() {
  awk -v start="--- Step $1/" '
    index($0, start) == 1 { here = 1 }
    here && /^- Commit it with this message/ { told = 1; next }
    told && NF && !/^      / { exit }
    told { sub(/^      /, ""); print }' <<<"$prompt"
}
