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

# A link is created with its target or not at all, so that no other builder finds half a lock.
take_lock() {
    for _ in 1 2 3; do
        [ ! -d "$lock" ] && ln -s $$ "$lock" && return
        # If it was released at this moment, it is free.
        holder=$(readlink "$lock") && break
    done
    is_builder "$holder" && return 1
    # The builder that held it was killed. If another builder took it over at this moment, return it.
    mv "$lock" "$lock.$$" || return 1
    now=$(readlink "$lock.$$")
    rm -rf "$lock.$$"
    [ "$now" = "$holder" ] || { ln -s "$now" "$lock"; return 1; }
    ln -s $$ "$lock"
} 2>/dev/null

# Has cargo build a package, and puts its program in place by a rename, so that no session runs half of a
# program.
make() {
    [ ! -x "$built/$version/$2" ] || return 0
    # Other processes read the progress from its bar.
    CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=80 CARGO_TERM_COLOR=never \
        cargo build --locked --release -p "$1" --bin "$2" --target-dir "$target" ||
        { end "failed: cargo build ended with $?"; return 1; }
    # If the plugin was uninstalled meanwhile, restore nothing.
    [ -d "$built" ] || { rm -rf "$target"; rmdir "$data"; return 1; }
    # Cargo may be configured to build for a named target, which has its own folder.
    for release in "$target/release" "$target"/*/release; do
        [ -x "$release/$2" ] && break
    done
    { [ -d "$built/$version" ] || mkdir "$built/$version"; } && mv -f "$release/$2" "$built/$version/$2" ||
        { end "failed: $2 could not be put into $built/$version"; return 1; }
}

# Prints the result on a line of its own: cargo's bar does not end its line.
end() {
    printf '\n%s\n' "$1"
}

# The link stays when versions change, so that a status line can name it. The previous version stays for
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
    # A clone that is only tried out is not linked into the user's programs.
    case $data in *-inline) ;; *) CLAUDE_PLUGIN_DATA=$data "$built/$version/omo" setup --link ;; esac
    rm -rf "$target"
    end "built $version"
}

take_lock || exit 0
trap 'rm -f "$lock"' EXIT
trap 'exit 1' HUP INT TERM
# Another builder may have finished meanwhile.
[ -x "$built/$version/omo-hook" ] && [ -x "$built/$version/omo" ] && exit 0
has_failed_before && exit 0
# No other user needs to read cargo's output. What cargo downloads is shared as usual.
(umask 077 && echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) building $what" >"$log") && build >>"$log" 2>&1
