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

# A link is made with what it says or not at all, so no other builder ever finds half a lock.
take_lock() {
    for _ in 1 2 3; do
        [ ! -d "$lock" ] && ln -s $$ "$lock" && return
        # Where it was given back in this moment, it is free.
        holder=$(readlink "$lock") && break
    done
    is_builder "$holder" && return 1
    # Who had it was killed. Where another took it over in this moment, it is given back.
    mv "$lock" "$lock.$$" || return 1
    now=$(readlink "$lock.$$")
    rm -rf "$lock.$$"
    [ "$now" = "$holder" ] || { ln -s "$now" "$lock"; return 1; }
    ln -s $$ "$lock"
} 2>/dev/null

# Has cargo build a package, and puts its program in place at once by a rename: no session ever runs half
# of one.
make() {
    [ ! -x "$built/$version/$2" ] || return 0
    # Its bar is how others know how far it is.
    CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=80 CARGO_TERM_COLOR=never \
        cargo build --locked --release -p "$1" --bin "$2" --target-dir "$target" ||
        { end "failed: cargo build ended with $?"; return 1; }
    # Where the plugin was uninstalled meanwhile, nothing is brought back.
    [ -d "$built" ] || { rm -rf "$target"; rmdir "$data"; return 1; }
    # Cargo may be set up to build for a named target, which has a folder of its own.
    for release in "$target/release" "$target"/*/release; do
        [ -x "$release/$2" ] && break
    done
    { [ -d "$built/$version" ] || mkdir "$built/$version"; } && mv -f "$release/$2" "$built/$version/$2" ||
        { end "failed: $2 could not be put into $built/$version"; return 1; }
}

# How it ended stands on a line of its own: cargo's bar has no end of its line.
end() {
    printf '\n%s\n' "$1"
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

# The hooks first: they are what a session waits for.
build() {
    make omo-hooks omo-hook && make omo-cli omo || return 0
    link_and_clear
    # A clone that is only tried out is none of its user's programs.
    case $data in *-inline) ;; *) CLAUDE_PLUGIN_DATA=$data "$built/$version/omo" setup --link ;; esac
    rm -rf "$target"
    end "built $version"
}

take_lock || exit 0
trap 'rm -f "$lock"' EXIT
trap 'exit 1' HUP INT TERM
# Another one may have come before, and has ended by now.
[ -x "$built/$version/omo-hook" ] && [ -x "$built/$version/omo" ] && exit 0
has_failed_before && exit 0
# No other user has to read what cargo says. What it downloads is shared as it always is.
(umask 077 && echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) building $what" >"$log") && build >>"$log" 2>&1
