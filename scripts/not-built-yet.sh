#!/bin/sh
# Where omo is not built yet: tells the person so, once a session, and has cargo build it in the background.
# usage: not-built-yet.sh VERSION, with the input of a SessionStart hook on stdin
set -u
version=$1
# Nothing can be found or written below the stand-in for a folder that is not named.
data=${CLAUDE_PLUGIN_DATA:-/dev/null}
IFS= read -r input || :
# Away from the project: neither a toolchain file nor a cargo configuration there has a say.
cd "${0%/*}/.." || exit 0
# shellcheck source=scripts/last-build.sh
. scripts/last-build.sh

# A path as people know it, without what would break a line.
for_people() {
    path=$1
    case $path in "${HOME:-/}"/*) path="~${path#"$HOME"}" ;; esac
    printf %s "$path" | LC_ALL=C tr '\001-\037\177' '?'
}

# A path as a word of a command line.
for_shell() {
    case $1 in *[!A-Za-z0-9/._-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;; *) printf %s "$1" ;; esac
}

# Whether this was said in this session. What goes on from a session that was told needs no word, and
# where nothing can be noted only a new session gets one.
was_said() {
    case $input in *'"source":"clear"'* | *'"source":"compact"'* | *'"source":"fork"'*) return 0 ;; esac
    session=${input#*\"session_id\":\"}
    session=${session%%\"*}
    case $session in *[!A-Za-z0-9_-]*) session=unknown ;; esac
    grep -qxF "$session $1" "$data/told" 2>/dev/null && return 0
    { tail -n 99 "$data/told"; echo "$session $1"; } 2>/dev/null >"$data/told.$$" && mv "$data/told.$$" "$data/told" && return 1
    case $input in *'"source":"resume"'*) return 0 ;; esac
    return 1
} 2>/dev/null

# Whether a build could leave there what it has to.
can_be_written() {
    mkdir -p "$built" 2>/dev/null && [ -w "$data" ] && [ -w "$built" ] || return 1
    [ ! -e "$log" ] || [ -w "$log" ]
}

# Says a line of a kind to the person.
say() {
    was_said "$1" && return
    text=$(printf %s "$2" | LC_ALL=C tr '\001-\037\177' '?' | sed 's/[\\"]/\\&/g')
    printf '{"systemMessage":"[omo] %s"}\n' "$text"
}

# Says a line of a kind, and builds nothing.
refuse() {
    say "$@"
    exit 0
}

[ "$data" != /dev/null ] || refuse client \
    "this client names no folder for the data of plugins; omo needs Claude Code 2.1.163 or later: run claude update"
can_be_written || refuse folder \
    "omo $version cannot be built, for $(for_people "$data") cannot be written. Make it writable, then start a new session."
command -v cargo >/dev/null || refuse cargo \
    "omo $version is not built yet, and there is no cargo on PATH to build it: install Rust (https://rustup.rs), then start a new session. Until then omo does nothing."
cargo=$(cargo --version 2>/dev/null </dev/null) || refuse cargo \
    "omo $version is not built yet, and \`cargo --version\` fails. Mend that, then start a new session. Until then omo does nothing."
what="omo $version with $cargo"
has_failed_before && refuse failed \
    "building omo $version ${outcome}. $(for_people "$log") says why. To try again: rm $(for_shell "$log"), then start a new session. Until then omo does nothing."

say building \
    "omo $version is being built, once, in the background; your first prompt after that finds it. Progress: $(for_people "$log")"
# Not with the secrets of the session, not with its files, and not as a part of it: neither does the
# session wait for the build, nor does the build end with the session.
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
    case $name in ANTHROPIC_* | CLAUDE* | OMO_*) unset "$name" ;; esac
done
apart=$(command -v setsid)
${apart:+setsid} nohup /bin/sh scripts/build-in-background.sh "$version" "$cargo" "$data" \
    </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
