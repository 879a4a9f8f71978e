# What the scripts here know about the build of omo $version in the data folder $data; they read this file with `.`.
# shellcheck shell=sh disable=SC2034,SC2154

# What was built, by version.
built=$data/bin
# When and with what the last build began, what cargo said, and on the last line how it ended.
log=$data/build.log
# A link to the number of the process that builds.
lock=$data/build.lock

# Whether a build of this very version with this very cargo failed: another one would fail as well.
# Without the log it is tried again.
has_failed_before() {
    [ -f "$log" ] && IFS= read -r began <"$log" || return 1
    [ "${began#* building }" = "$what" ] || return 1
    outcome=$(tail -n 1 "$log")
    case $outcome in failed:*) return 0 ;; *) return 1 ;; esac
}
