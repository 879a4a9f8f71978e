#!/bin/sh
# If omo is not built yet: has cargo build it in the background, and tells the user: once at the start of a
# session, and with each prompt that omo would have answered.
# usage: not-built-yet.sh VERSION LAUNCHER, with the input of that launcher's hook on stdin
#        not-built-yet.sh VERSION quietly
set -u
version=$1
launcher=$2
[ "${OMO_DISABLE:-}" != 1 ] && [ "${OMO_CHECK:-}" != 1 ] || exit 0
# If no folder is named, /dev/null stands in for it: no file can be found or written below it.
case ${CLAUDE_PLUGIN_DATA:-} in /*) data=$CLAUDE_PLUGIN_DATA ;; *) data=/dev/null ;; esac

# Runs a command for at most so many seconds, with file descriptor 3 as its input.
bounded() {
    seconds=$1
    shift
    "$@" <&3 3<&- &
    bounded=$!
    { sleep "$seconds"; kill "$bounded"; } >/dev/null 2>&1 3<&- &
    watch=$!
    wait "$bounded"
    status=$?
    kill "$watch" 2>/dev/null
    return "$status"
}

# One line, and no more of it than people type; the input of a session start has all that matters at its beginning.
case $launcher in omo-session-start) most=20000 ;; *) most=1000000 ;; esac
input=$({ bounded 2 cat | head -c "$most" | head -n 1 | tr -d '\000'; } 3<&0 2>/dev/null)
# Leave the project, so that neither a toolchain file nor a cargo configuration there applies.
CDPATH='' cd -- "${0%/*}/.." || exit 0
# shellcheck source=scripts/last-build.sh
. scripts/last-build.sh

# A path for people, without characters that break a line.
for_people() {
    path=$1
    case $path in "${HOME:-/}"/*) path="~${path#"$HOME"}" ;; esac
    printf %s "$path" | LC_ALL=C tr '\001-\037\177' '?'
}

# A path as a word of a command line.
for_shell() {
    case $1 in *[!A-Za-z0-9/._-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;; *) printf %s "$1" ;; esac
}

# The prompt in the input, and nothing else of it: the name of a path means nothing. An escaped backslash
# is part of a word, any other escape is not.
prompt() {
    printf '%s\n' "$input" | LC_ALL=C sed -n \
        's/\\\\/_/g; s/\\"/'\''/g; s/\\u..../ /g; s/\\./ /g; s/.*[{,] *"prompt" *: *"\([^"]*\).*/\1/p'
}

# Whether omo would have answered the prompt: it has a keyword as a word, or it is a command. Quoted or only
# mentioned keywords count too: one message too many is better than one too few. Prompts that the client
# itself writes get no message.
is_for_omo() {
    prompt | LC_ALL=C grep -Eiv '^ *<(task|cross-session|teammate|agent|bash|command|local-command|mcp)-' |
        LC_ALL=C grep -Eiq -e '^ */(omo:|ulw( |$))' \
            -e '(^|[^A-Za-z0-9_./\@#$=&:-])(ulw|ultrawork)(/(ulw|ultrawork))*[.:]*([^A-Za-z0-9_./\@#$=&:-]|$)'
}

# Whether this was said in this session. A session that continues one that was told gets no message, and if
# nothing can be recorded only a new session gets one.
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

# Whether a build can write its files there.
can_be_written() {
    mkdir -p "$built" 2>/dev/null && [ -w "$data" ] && [ -w "$built" ] || return 1
    [ ! -e "$log" ] || [ -w "$log" ]
}

# Prints a message of a kind to the user. Because of the file `told` the first prompt says that omo is ready.
say() {
    case $says in
    once) ! was_said "$1" || return 0 ;;
    always) touch "$data/told" ;;
    *) return ;;
    esac 2>/dev/null
    text=$(printf %s "$before$2" | LC_ALL=C tr '\001-\037\177' '?' | LC_ALL=C sed 's/[\\"]/\\&/g')
    printf '{"systemMessage":"[omo] %s"}\n' "$text"
}

# Prints a message of a kind, and builds nothing.
refuse() {
    say "$@"
    exit 0
}

before=
retry="start a new session"
says=nothing
case $launcher in
omo-session-start) says=once ;;
omo-user-prompt-submit) is_for_omo && says=always before="this prompt is not held: " retry="send it again" ;;
esac

[ "$data" != /dev/null ] || refuse client \
    "this client names no folder for the data of plugins; omo needs Claude Code 2.1.163 or later: run claude update"
# The package of npm: it leaves out the part for a platform without a word.
[ -f Cargo.toml ] || refuse platform \
    "npm has installed omo $version without its programs for this platform ($(uname -sm)). Install it again: /plugin uninstall omo@omo, then /plugin install omo@omo. Where that changes nothing there are none for this platform: build it from a clone, with Rust (https://rustup.rs): /plugin marketplace remove omo, /plugin marketplace add omo-cc/omo, /plugin install omo@omo."
can_be_written || refuse folder \
    "omo $version cannot be built, for $(for_people "$data") cannot be written. Make it writable, then $retry."

say_building() {
    say building \
        "omo $version is being built, once, in the background$(progress). Your first prompt after that says that it is ready; type \`ulw\` then. Progress: $(for_people "$log")"
}
if is_building; then
    say_building
    exit 0
fi
# Other prompts need not wait for cargo to fail again.
[ "$says" != nothing ] || ! has_failed || exit 0

ways_out="install Rust (https://rustup.rs), then $retry, or install the ready package: /plugin marketplace remove omo, /plugin marketplace add omo-cc/omo@release, /plugin install omo@omo"
command -v npm >/dev/null || ways_out="$ways_out (that needs npm, which comes with Node.js: https://nodejs.org)"
command -v cargo >/dev/null || refuse cargo \
    "omo $version is not built yet, and there is no cargo on PATH to build it: $ways_out. Until then omo does nothing."
# Through a file: a process that cargo has started, a download of its toolchain for example, may outlive it and hold a pipe.
bounded 2 cargo --version 3</dev/null >"$data/cargo.$$" 2>/dev/null
status=$?
cargo=$(cat "$data/cargo.$$")
rm -f "$data/cargo.$$"
[ "$status" = 0 ] || refuse cargo \
    "omo $version is not built yet, and \`cargo --version\` fails or does not answer. Fix that, then $retry. Until then omo does nothing."
what="omo $version with $cargo"

# What a build says of a cargo that is too old for omo; nothing of any other.
say_too_old() {
    least=$(sed -n 's/^rust-version = "\([0-9.]*\)"$/\1/p' Cargo.toml | head -n 1)
    found=${cargo#cargo }
    found=${found%% *}
    older=$(printf '%s\n' "$least" "$found" | sort -t . -k 1,1n -k 2,2n -k 3,3n | head -n 1)
    [ "$older" = "$least" ] ||
        printf ' (omo needs Rust %s or later, and this cargo is %s: run rustup update)' "$least" "$found"
}
has_failed_before && refuse failed \
    "building omo $version ${outcome}$(say_too_old). $(for_people "$log") says why. To try again: rm $(for_shell "$log"), then $retry. Until then omo does nothing."

# The log of an earlier build says nothing about this one.
progress() { :; }
say_building
# The build gets neither the secrets nor the open files of the session, and is detached from it: the session
# does not wait for the build, and the build does not end with the session.
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
    case $name in ANTHROPIC_* | CLAUDE* | OMO_*) unset "$name" ;; esac
done
apart=$(command -v setsid)
${apart:+setsid} nohup /bin/sh scripts/build-in-background.sh "$version" "$cargo" "$data" \
    </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
