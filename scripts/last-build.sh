# What the scripts here know about the build of omo $version in the data folder $data; they read this file with `.`.
# shellcheck shell=sh disable=SC2034,SC2154

# What was built, by version.
built=$data/bin
# When and with what the last build began, what cargo said, and on the last line how it ended.
log=$data/build.log
# A link to the number of the process that builds.
lock=$data/build.lock

# Whether a process builds. Only its number is known, and numbers come around again.
is_builder() {
    { tr '\0' ' ' <"/proc/$1/cmdline" || ps -o args= -p "$1"; } 2>/dev/null | grep -q build-in-background
}

# Whether a build is at work.
is_building() {
    holder=$(readlink "$lock") && is_builder "$holder"
}

# Whether the last build failed; $outcome is then how.
has_failed() {
    [ -f "$log" ] || return 1
    outcome=$(tail -n 1 "$log")
    case $outcome in failed:*) return 0 ;; *) return 1 ;; esac
}

# Whether a build of this very version with this very cargo failed: another one would fail as well.
# Without the log it is tried again.
has_failed_before() {
    has_failed && IFS= read -r began <"$log" && [ "${began#* building }" = "$what" ]
}

# How far cargo is, as ` (crate 12 of 57)`: the last of the bars that it draws over one another.
progress() {
    tail -c 4096 "$log" 2>/dev/null | LC_ALL=C tr '\r' '\n' |
        LC_ALL=C sed -n 's/^ *Building \[[^]]*\] \([0-9][0-9]*\)\/\([0-9][0-9]*\).*/ (crate \1 of \2)/p' | tail -n 1
}
