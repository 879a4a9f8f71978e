#!/bin/sh
# Builds this clone of omo into the plugin's data folder, with cargo alone, and for all sessions once.
# usage: build-in-background.sh VERSION "$(cargo --version)" DATA-FOLDER, in the top folder of the clone
set -u
version=$1
what="omo $version with $2"
data=$3
# shellcheck source=scripts/last-build.sh
. scripts/last-build.sh
target=$data/build
new=$built/.new

# Whether a process builds. Only its number is known, and numbers come around again.
is_builder() {
    { tr '\0' ' ' <"/proc/$1/cmdline" || ps -o args= -p "$1"; } 2>/dev/null | grep -q build-in-background
}

# A link is made with what it says or not at all, so nobody ever finds half a lock.
take_lock() {
    ln -s $$ "$lock" && return
    holder=$(readlink "$lock")
    is_builder "$holder" && return 1
    # Who had it was killed. Where another took it over in this moment, it is given back.
    mv "$lock" "$lock.$$" || return 1
    now=$(readlink "$lock.$$")
    rm -rf "$lock.$$"
    [ "$now" = "$holder" ] || { ln -s "$now" "$lock"; return 1; }
    ln -s $$ "$lock"
} 2>/dev/null

# The names of the binaries are those of the launchers. A folder is renamed whole: no session ever
# runs half of a binary, or binaries of two builds.
put_in_place() {
    # Cargo may be set up to build for a named target, which has a folder of its own.
    for release in "$target/release" "$target"/*/release; do
        [ -x "$release/omo-stop" ] && break
    done
    rm -rf "$new"
    mkdir "$new" || return
    for launcher in bin/*; do
        mv "$release/${launcher##*/}" "$new" || return
    done
    rm -rf "${built:?}/$version"
    mv "$new" "$built/$version"
}

# The link stays where versions come and go: a status line can name it. The version before stays for
# the sessions that are still open with it.
link_and_clear() {
    before=$(readlink "$built/omo")
    before=${before%/omo}
    ln -s "$version/omo" "$built/.omo" && mv "$built/.omo" "$built/omo"
    case $before in "" | "$version") return ;; esac
    for old in "$built"/[0-9]*.[0-9]*.[0-9]*; do
        case ${old##*/} in "$version" | "$before") ;; *) rm -rf "$old" ;; esac
    done
}

build() {
    cargo build --locked --release -p omo-hooks -p omo-cli --bins --target-dir "$target" ||
        { echo "failed: cargo build ended with $?"; return; }
    # Where the plugin was uninstalled meanwhile, nothing is brought back.
    [ -d "$built" ] || { rm -rf "$target"; rmdir "$data"; return; }
    put_in_place || { echo "failed: the binaries could not be put into $built/$version"; return; }
    link_and_clear
    rm -rf "$target" "$data/told"
    echo "built $version"
}

take_lock || exit 0
trap 'rm -f "$lock"' EXIT
trap 'exit 1' HUP INT TERM
# Another one may have come before, and has ended by now.
[ -x "$built/$version/omo-session-start" ] && exit 0
has_failed_before && exit 0
# Nobody else has to read what cargo says. What it downloads is shared as it always is.
(umask 077 && echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) building $what" >"$log") && build >>"$log" 2>&1
