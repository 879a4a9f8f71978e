# What each launcher in bin/ does; it reads this file with `.`, with its own path in $0.
# It becomes the binary of its own name: the one that npm installed, the clone's own, or until that is
# built the one of the previous version. In the client's copy of the plugin it also has the next session start
# that binary directly, without a shell.
# shellcheck shell=sh

version=0.1.0
name=${0##*/}
scripts=${0%/*}/../scripts
# If no folder is named, /dev/null stands in for it: no file can be found or written below it.
case ${CLAUDE_PLUGIN_DATA:-} in /*) data=$CLAUDE_PLUGIN_DATA ;; *) data=/dev/null ;; esac

# The platform of this machine by npm's name.
platform() {
    case $(uname -sm) in
    "Linux x86_64") echo linux-x64 ;;
    "Linux aarch64" | "Linux arm64") echo linux-arm64 ;;
    "Darwin x86_64") echo darwin-x64 ;;
    "Darwin arm64") echo darwin-arm64 ;;
    *) uname -sm | tr ' ' - ;;
    esac
}

# Sets $folder to the binaries of this version.
find_current() {
    folder=${0%/bin/*}/node_modules/@omo-cc
    if [ -d "$folder" ]; then
        folder=$folder/$(platform)/bin
        [ -x "$folder/omo-hook" ] && return
    fi
    folder=$data/bin/$version
    [ -x "$folder/omo-hook" ]
}

# Sets $folder to the binaries of the previous version: those of the last finished build.
find_last() {
    last=$(readlink "$data/bin/omo") || return
    folder=${last%/omo}
    case $folder in /*) ;; *) folder=$data/bin/$folder ;; esac
    [ -x "$folder/omo-hook" ]
}

# Whether this launcher lies in the client's own copy, and not behind a link: a user's clone is never
# changed.
is_in_cache() {
    plugins=${data%/data/*}
    case $0 in */../* | */./*) return 1 ;; "$plugins"/cache/*/bin/"$name") ;; *) return 1 ;; esac
    [ ! -e "${0%/bin/*}/.git" ] || return 1
    part=$0
    while [ "$part" != "$plugins/cache" ]; do
        [ ! -L "$part" ] || return 1
        part=${part%/*}
    done
}

# Puts the binary under the names of all hooks into run/, then has hooks.json name these, by one rename: from
# the next session on the client starts them itself. A launcher cannot be replaced in place: a shell that was
# started for it reads it by its name, and would read a program. Each is a copy: a write to the client's files
# must not change the binary. A binary that this machine cannot run fails here.
start_directly() {
    root=${0%/bin/*}
    [ -w "$root" ] && [ -f "$root/hooks.json" ] && [ ! -L "$root/run" ] && ! grep -q /run/omo- "$root/hooks.json" &&
        "$folder/omo-hook" </dev/null || return
    new=$root/.run.$$
    rm -rf "$new"
    mkdir "$new" && cp "$folder/omo-hook" "$new/hook" && mkdir -p "$root/run" && lay_hooks &&
        sed 's|/bin/omo-|/run/omo-|' "$root/hooks.json" >"$new/hooks.json" && mv -f "$new/hooks.json" "$root/hooks.json" &&
        link_package
    rm -rf "$new"
} >/dev/null 2>&1

lay_hooks() {
    for hook in "$root"/bin/omo-*; do
        ln "$new/hook" "$new/link" || cp "$new/hook" "$new/link" || return
        mv -f "$new/link" "$root/run/${hook##*/}" || return
    done
}

# Links `omo` of a package, so that terminals and later versions find it. A build does this itself.
link_package() {
    case $folder in */node_modules/*) ;; *) return ;; esac
    mkdir -p "$data/bin" && ln -s "$folder/omo" "$new/omo" && mv -f "$new/omo" "$data/bin/omo" || return
    CLAUDE_PLUGIN_DATA=$data "$folder/omo" setup --link </dev/null &
}

# Has the clone built without a message, unless it is built already.
build_quietly() {
    /bin/sh "$scripts/not-built-yet.sh" "$version" quietly &
} </dev/null >/dev/null 2>&1

# Whether the environment tells the hook to stay silent.
is_silent() {
    [ "${OMO_DISABLE:-}" = 1 ] || [ "${OMO_CHECK:-}" = 1 ] || [ -n "${OMO_RUN:-}" ]
}

launch_hook() {
    # Only this launcher sets it.
    unset OMO_READY
    case $name in omo-session-start | omo-user-prompt-submit) is_asked=1 ;; *) is_asked= ;; esac
    if find_current; then
        [ -z "$is_asked" ] || [ -x "$folder/omo" ] || build_quietly
        # A user was told that nothing is held yet: the first prompt says that omo is ready.
        if [ ! -e "$data/told" ]; then
            [ ! -x "$folder/omo" ] || ! is_in_cache || start_directly
        elif [ "$name" = omo-user-prompt-submit ] && ! is_silent && rm "$data/told" 2>/dev/null; then
            export OMO_READY="$version"
        fi
    elif find_last 2>/dev/null; then
        [ -z "$is_asked" ] || build_quietly
    elif [ -n "$is_asked" ] && [ -f "$scripts/not-built-yet.sh" ]; then
        exec /bin/sh "$scripts/not-built-yet.sh" "$version" "$name"
    else
        exit 0
    fi
    exec "$folder/omo-hook" "$name" "$@"
}

# The Bash tool names no data folder.
launch_omo() {
    own=$data
    for find in find_current find_last; do
        for data in "$own" "${CLAUDE_CONFIG_DIR:-${HOME:-}/.claude}/plugins/data/omo-"*; do
            "$find" 2>/dev/null || continue
            [ -x "$folder/omo" ] && exec "$folder/omo" "$@"
            # Its hooks are built: an older omo would not understand what they write.
            break 2
        done
    done
    for data in "$own" "${CLAUDE_CONFIG_DIR:-${HOME:-}/.claude}/plugins/data/omo-"*; do
        # shellcheck source=scripts/last-build.sh
        . "$scripts/last-build.sh"
        is_building || continue
        echo "error: omo $version is still being built$(progress)" >&2
        echo "hint: try again when it is done; $log says how far it is" >&2
        exit 5
    done
    echo "error: omo $version is not built yet" >&2
    echo "hint: start a new session of Claude Code: it says why, and what to do" >&2
    exit 5
}

case $name in omo) launch_omo "$@" ;; *) launch_hook "$@" ;; esac
