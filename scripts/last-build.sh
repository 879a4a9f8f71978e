# The state of the build of omo $version in the data folder $data, for the scripts here, which read this file with `.`.
# shellcheck shell=sh disable=SC2034,SC2154

# What was built, by version.
built=$data/bin
# When and with which cargo the last build began, cargo's output, and on the last line the result.
log=$data/build.log
# A link to the process id of the builder.
lock=$data/build.lock

# Whether a process is a builder. Only its process id is known, and ids are reused.
is_builder() {
    { tr '\0' ' ' <"/proc/$1/cmdline" || ps -o args= -p "$1"; } 2>/dev/null | grep -q build-in-background
}

# Whether a build is running.
is_building() {
    holder=$(readlink "$lock") && is_builder "$holder"
}

# Whether the last build failed; $outcome then says how.
has_failed() {
    [ -f "$log" ] || return 1
    outcome=$(tail -n 1 "$log")
    case $outcome in failed:*) return 0 ;; *) return 1 ;; esac
}

# Whether a build of exactly this version with exactly this cargo failed: another build would fail as well.
# Without the log omo tries again.
has_failed_before() {
    has_failed && IFS= read -r began <"$log" && [ "${began#* building }" = "$what" ]
}

# The progress of cargo, as ` (crate 12 of 57)`: the last of the bars that it draws over each other.
progress() {
    tail -c 4096 "$log" 2>/dev/null | LC_ALL=C tr '\r' '\n' |
        LC_ALL=C sed -n 's/^ *Building \[[^]]*\] \([0-9][0-9]*\)\/\([0-9][0-9]*\).*/ (crate \1 of \2)/p' | tail -n 1
}
